"""No row of another platform's files is misassigned in silence: what they leave open is asked, what is odd is named."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.platforms.platform_import import find_platform
from gardenpath.experiment.platforms.sources import Source
from gardenpath.study.mapping import ColumnMapping, ResponseRule

FIXTURES = Path(__file__).parent / "fixtures"
Tables = dict[str, pd.DataFrame]
WHO = {"participant": "subj", "item": "item", "condition": "cond"}


def collected(path: Path, platform: str, mapping: ColumnMapping | None = None, **given: object) -> Tables:
    return experiment.collect(path, platform=platform, mapping=mapping, keep_ids=True, **given)  # type: ignore[arg-type]


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Tables]:
    """Collect a long table of these lines."""

    def of(lines: str, mapping: ColumnMapping, **given: object) -> Tables:
        (tmp_path / "rt.csv").write_text(lines)
        return collected(tmp_path / "rt.csv", "table", mapping, **given)

    return of


# ------------------------------------------------------------------------------------------------ one column, one answer

QUESTION = ResponseRule({"response": "Answer", "correct": "ok"}, "question", "comprehension", {"Controller name": "Question"})
TAKEN = {
    "what Ibex asks": ("ibex.txt", QUESTION, ["comprehension", "acceptability", "judgment", "acceptability"]),
    "an element of PennController": (
        "penn_2024.txt",
        ResponseRule({"response": "Value"}, "rating", "naturalness", {"PennElementName": "nat", "Parameter": "Select"}),
        ["naturalness"],
    ),
}


@pytest.mark.parametrize(("name", "rule", "prompts"), TAKEN.values(), ids=TAKEN)
def test_an_answer_that_the_mapping_takes_is_taken_once(name: str, rule: ResponseRule, prompts: list[str]) -> None:
    columns = {"item": "ItemNo", "condition": "Cond"} if "penn" in name else {}
    mapping = ColumnMapping(columns, responses=(rule,))
    sessions = find_platform("pcibex").read(Source.from_path(FIXTURES / "pcibex" / name), mapping)
    answers = [r.name for s in sessions for t in s.trials for r in t.records if r.answer is not None]
    assert answers == prompts


@pytest.mark.data
def test_the_questions_of_a_real_ibex_file_are_not_doubled_by_a_mapping(real_data: Path) -> None:
    source = Source.from_path(real_data / "ibex-tr-short" / "results")
    asked = source.text.count("basınız)")
    rule = ResponseRule({"response": "Answer", "rt": "Time taken to answer"}, "question", "judgment")
    for mapping in (ColumnMapping(), ColumnMapping(responses=(rule,))):
        sessions = find_platform("pcibex").read(source, mapping)
        answers = [r for s in sessions for t in s.trials for r in t.records if r.answer is not None]
        assert len(answers) == asked == 10_365


def test_a_column_that_two_rules_take_is_refused(table: Callable[..., Tables], tmp_path: Path) -> None:
    rules = ResponseRule({"response": "score"}, "rating"), ResponseRule({"response": "score"}, "question")
    lines = "subj,item,cond,score\n1,1,a,5\n"
    for mapping in (ColumnMapping({**WHO, "response": "score"}, responses=rules[:1]), ColumnMapping(WHO, responses=rules)):
        with pytest.raises(study.DataError, match="column 'score' is the response of two answers; one column gives one"):
            table(lines, mapping)
    native = FIXTURES / "psychopy" / "native.csv"
    mapping = ColumnMapping(
        {"item": "item_nr", "condition": "cond"},
        responses=tuple(ResponseRule({"response": "rate.keys"}, task) for task in ("rating", "question")),
    )
    with pytest.raises(study.DataError, match=r"rating and question take column 'rate\.keys' of the same row"):
        collected(native, "psychopy", mapping)


def test_what_stands_for_no_value_stands_for_no_answer() -> None:
    for platform, name, missing in (("gorilla", "task_builder_1.csv", "6"), ("jspsych", "lines.json", "1234")):
        rule = ResponseRule({"response": "Response" if platform == "gorilla" else "rt"}, "rating")
        columns = {"item": "item", "condition": "cond"} if platform == "gorilla" else {}
        read = find_platform(platform).read
        answers = [
            [
                r.answer
                for s in read(
                    Source.from_path(FIXTURES / platform / name), ColumnMapping(columns, responses=(rule,), missing_values=words)
                )
                for t in s.trials
                for r in t.records
                if r.answer is not None
            ]
            for words in ((), (missing,))
        ]
        assert missing in map(str, answers[0])
        assert missing not in map(str, answers[1])


# ------------------------------------------------------------------------------------------------ sessions that are none


def psychopy(who: str, items: int, date: str = "2026-03-01") -> str:
    header = "item,condition,rate.keys,rate.rt,trials.thisRepN,participant,session,date,expName\n"
    return header + "".join(f"{n},a,5,0.8,0,{who},1,{date},e\n" for n in range(items))


def ibex(who: str, items: int, at: int) -> str:
    names = ["Results reception time", "MD5 hash of participant's IP address", "Controller name", "Order number of item"]
    names += ["Inner element number", "Label", "Latin Square Group", "participant", "Question (NULL if none)", "Answer"]
    names += ["Whether or not answer was correct (NULL if N/A)", "Time taken to answer"]
    heads = "".join(f"# {n}. {name}.\n" for n, name in enumerate(names, start=1))
    rows = (f"{at},x,AcceptabilityJudgment,{n},0,a,{n},{who},How?,5,NULL,800\n" for n in range(items))
    return heads + "".join(rows)


RATED = ResponseRule({"response": "rate.keys", "rt": "rate.rt"})
MADE = {
    "psychopy": (lambda who, n, at: psychopy(who, n, f"2026-03-{at:02}"), ColumnMapping(responses=(RATED,))),
    "pcibex": (lambda who, n, at: ibex(who, n, 1_600_000_000 + at), ColumnMapping()),
}


@pytest.mark.parametrize("platform", MADE)
def test_a_session_that_broke_off_is_not_complete(platform: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make, mapping = MADE[platform]
    for n, items in enumerate((80, 80, 6, 80), start=1):
        (tmp_path / f"p{n}.csv").write_text(make(f"p{n}", items, n))
    sessions = collected(tmp_path, platform, mapping)["sessions"]
    assert sessions.sort_values("participant")["complete"].tolist() == [True, True, False, True]
    assert "1 of 4 sessions have other than the 80 trials that most sessions have (6; first session" in caplog.text
    assert "; 1 that have fewer count as not complete" in caplog.text


def test_a_session_alone_is_held_against_the_materials(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    items = [f"rc,rc,{n},{c},A sentence." for n in range(8) for c in ("grammatical", "ungrammatical")]
    (tmp_path / "items.csv").write_text("\n".join(["paradigm,phenomenon,item,condition,sentence", *items]) + "\n")
    (tmp_path / "p1.csv").write_text(psychopy("p1", 3).replace(",a,", ",grammatical,"))
    given = {"materials": tmp_path / "items.csv"}
    sessions = collected(tmp_path / "p1.csv", "psychopy", ColumnMapping(responses=(RATED,)), **given)["sessions"]
    assert sessions["complete"].tolist() == [False]
    assert "1 of 1 sessions have other than the 8 trials that the materials have (3;" in caplog.text


def test_sessions_of_a_table_stay_complete_and_odd_numbers_of_trials_are_named(
    table: Callable[..., Tables], caplog: pytest.LogCaptureFixture
) -> None:
    rows = [f"{who},{item},a,5" for who, items in {"a": 4, "b": 4, "c": 2, "d": 4}.items() for item in range(items)]
    made = table("\n".join(["subj,item,cond,score", *rows]) + "\n", ColumnMapping({**WHO, "response": "score"}))
    assert made["sessions"]["complete"].all()
    assert "1 of 4 sessions have other than the 4 trials that most sessions have (2; first session c)" in caplog.text
    assert "count as not complete" not in caplog.text


def test_two_people_under_one_id_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lines = [psychopy(who, 8).splitlines() for who in ("p1", "p2", "p3", "p1")]
    (tmp_path / "all.csv").write_text("\n".join([lines[0][0], *(row for of in lines for row in of[1:])]) + "\n")
    sessions = collected(tmp_path / "all.csv", "psychopy", ColumnMapping(responses=(RATED,)))["sessions"]
    assert len(sessions) == 3
    assert "1 of 3 sessions have other than the 8 trials that most sessions have (16; first session p1" in caplog.text
    assert "1 of 3 participants had an item more than once, as if two people shared an id" in caplog.text


# ------------------------------------------------------------------------------------------------ odd rows and cells

READ = {**WHO, "word": "pos", "rt": "rt"}
HEAD = "subj,item,cond,pos,rt"


def rows(who: str, item: str = "1", condition: str = "a", first: float = 300.0, words: int = 3) -> list[str]:
    return [f"{who},{item},{condition},{n},{first + n:g}" for n in range(1, words + 1)]


def lines(*of: list[str], head: str = HEAD) -> str:
    return "\n".join([head, *(row for part in of for row in part)]) + "\n"


ODD = {
    "negative times": (lines(rows("p"), rows("q", first=-302)), "3 times are negative, first -301 ms; they stay empty"),
    "seconds among ms": (
        lines(*(rows(who) for who in "abcd"), rows("e", first=0)),
        "3 of 15 reading times are under 10 ms, and half of all under 302: are they seconds",
    ),
    "conditions that differ by case and a space": (
        lines(rows("p", "1", "Rel A"), rows("q", "1", "rel  a")),
        "2 conditions differ by case or a space alone ('Rel A', 'rel  a'); each is one of its own",
    ),
    "participants that differ by case": (lines(rows("p"), rows("P")), "2 participants differ by case or a space alone;"),
    "an item that has become a date": (lines(rows("p", "02-Jan")), "1 items look like dates, as a spreadsheet makes of 1-2"),
    "two lists of a text": (
        lines(
            *(
                [f"{row},{t}" for row, t in zip(rows(who), text.split(), strict=True)]
                for who, text in (("p", "She has slept"), ("q", "She had slept"))
            ),
            head=f"{HEAD},text",
        ),
        "1 sentences have more than one text, first item 1, a ('had' and 'has')",
    ),
}


@pytest.mark.parametrize(("text", "said"), ODD.values(), ids=ODD)
def test_what_is_odd_in_a_table_is_named_with_its_number(
    text: str, said: str, table: Callable[..., Tables], caplog: pytest.LogCaptureFixture
) -> None:
    columns = READ | ({"text": "text"} if "text" in text else {})
    readings = table(text, ColumnMapping(columns))["readings"]
    assert len(readings) == text.count("\n") - 1
    assert said in caplog.text
    assert not (readings["rt"] < 0).any()


def test_nothing_is_said_of_a_table_without_oddities(table: Callable[..., Tables], caplog: pytest.LogCaptureFixture) -> None:
    table(lines(rows("p"), rows("q")), ColumnMapping(READ))
    assert not [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


REFUSED = {
    "rows with more cells than the heading": (
        lines([f"{row},9" for row in rows("p", words=5)]),
        {},
        r"line 4: 6 cells, expected 5 as in the header; .* \(and 2 more lines\)",
    ),
    "a second participant in a session": (
        lines(rows("p"), rows("q")),
        {"session": "item"},
        "line 2: session 1 has rows of 2 participants; expected one",
    ),
    "an answer given twice in a trial": (
        lines(["p,1,a,1,300", "p,1,a,2,300"]),
        {"response": "rt"},
        r"participant p answers rating \(rating\) of item 1 2 times in one trial; name the column that tells trials",
    ),
    "a row of nobody": (lines(rows("p"), rows("", "2")), {"session": "item"}, "line 5: participant empty; expected its name"),
}


@pytest.mark.parametrize(("text", "more", "message"), REFUSED.values(), ids=REFUSED)
def test_whose_row_it_is_has_to_be_said(text: str, more: dict[str, str], message: str, table: Callable[..., Tables]) -> None:
    columns = {k: v for k, v in READ.items() if "response" not in more or k in WHO} | more
    with pytest.raises(study.DataError, match=message):
        table(text, ColumnMapping(columns))


def test_two_columns_make_one_condition_and_patterns_make_roles(tmp_path: Path) -> None:
    (tmp_path / "rt.csv").write_text("subj,item,rel,anim,pos,rt\n1,3,subject,yes,1,300\n1,F12,filler,no,1,310\n")
    mapping = '[columns]\nparticipant = "subj"\nitem = "item"\ncondition = ["rel", "anim"]\nword = "pos"\nrt = "rt"\n\n[roles]\n'
    (tmp_path / "map.toml").write_text(mapping + "filler = 'F\\d+'\n")
    given = {"platform": "table", "mapping": tmp_path / "map.toml"}
    readings = experiment.collect(tmp_path / "rt.csv", **given)["readings"]
    assert readings[["condition", "role"]].values.tolist() == [["subject.yes", "target"], ["filler.no", "filler"]]
    (tmp_path / "map.toml").write_text(mapping + "stimulus = 'F\\d+'\nfiller = '('\n")
    with pytest.raises(study.DataError) as caught:
        experiment.collect(tmp_path / "rt.csv", **given)
    assert [fault.partition(": ")[2][:40] for fault in caught.value.faults] == [
        "roles: 'stimulus' is no role; expected o", "roles.filler: '(' is not a regular expre"
    ]  # fmt: skip
    (tmp_path / "map.toml").write_text(mapping.replace('"anim"', '"animacy"'))
    with pytest.raises(study.DataError, match="column 'animacy' is missing; the file has subj, item, rel, anim"):
        experiment.collect(tmp_path / "rt.csv", **given)


CONSECUTIVE = {
    "psychopy": ("t.csv", psychopy("p", 1) + psychopy("p", 1).partition("\n")[2], ColumnMapping(responses=(RATED,))),
    "a loop of words in psychopy": (
        "t.csv",
        "item,condition,w,k.rt,words.thisN,participant,session,date,expName\n"
        + 2 * "1,a,She,0.3,0,p,1,d,e\n1,a,slept.,0.4,1,p,1,d,e\n",
        ColumnMapping({"text": "w", "rt": "k.rt"}),
    ),
    "jspsych": (
        "t.csv",
        "trial_type,trial_index,time_elapsed,response,item,condition,subject\n"
        + "".join(f"html-slider-response,{n},{n},5{n},1,a,p\n" for n in range(2)),
        ColumnMapping(),
    ),
    "magpie": (
        "t.csv",
        "submission_id,experiment_start_time,response_time,item,condition,response\n1,1,900,1,a,5\n1,1,901,1,a,6\n",
        ColumnMapping(),
    ),
}


@pytest.mark.parametrize(("name", "text", "mapping"), CONSECUTIVE.values(), ids=CONSECUTIVE)
def test_two_trials_in_a_row_of_one_item_and_condition_stay_apart(
    name: str, text: str, mapping: ColumnMapping, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    platform = request.node.callspec.id.split()[-1]
    (tmp_path / name).write_text(text)
    tables = collected(tmp_path / name, platform, mapping)
    assert tables["sessions"]["n_trials"].tolist() == [2]
    assert len(tables["responses"]) + len(tables["readings"]) == (4 if "words" in text else 2)


def test_a_row_that_names_nobody_in_a_file_of_several_is_asked_about(tmp_path: Path) -> None:
    text = psychopy("p", 2) + psychopy("q", 2).partition("\n")[2]
    (tmp_path / "all.csv").write_text(text.replace(",q,1,2026-03-01,", ",,,,", 1))
    mapping = ColumnMapping(responses=(RATED,))
    with pytest.raises(study.DataError, match=r"line 4: names no participant, session and date \(1 rows\)"):
        collected(tmp_path / "all.csv", "psychopy", mapping)
