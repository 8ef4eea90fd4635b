"""No row of another platform's files is misassigned in silence: what they leave open is asked, what is odd is named."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.platforms.importing import platform_named
from gardenpath.experiment.platforms.mapping import AnswerRule, ColumnMapping
from gardenpath.experiment.platforms.sources import Source

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

QUESTION = AnswerRule(
    {"response": "Answer", "correct": "ok"}, "question", "comprehension", {"Controller name": "Question"}
)
TAKEN = {
    "what Ibex asks": ("ibex.txt", QUESTION, ["comprehension", "acceptability", "judgment", "acceptability"]),
    "an element of PennController": (
        "penn_2024.txt",
        AnswerRule({"response": "Value"}, "rating", "naturalness", {"PennElementName": "nat", "Parameter": "Select"}),
        ["naturalness"],
    ),
}


@pytest.mark.parametrize(("name", "rule", "prompts"), TAKEN.values(), ids=TAKEN)
def test_an_answer_that_the_mapping_takes_is_taken_once(name: str, rule: AnswerRule, prompts: list[str]) -> None:
    columns = {"item": "ItemNo", "condition": "Cond"} if "penn" in name else {}
    mapping = ColumnMapping(columns, answers=(rule,))
    sessions = platform_named("pcibex").read(Source.of(FIXTURES / "pcibex" / name), mapping)
    answers = [r.name for s in sessions for t in s.trials for r in t.records if r.answer is not None]
    assert answers == prompts


@pytest.mark.data
def test_the_questions_of_a_real_ibex_file_are_not_doubled_by_a_mapping(real_data: Path) -> None:
    source = Source.of(real_data / "ibex-tr-short" / "results")
    asked = source.text.count("basınız)")
    rule = AnswerRule({"response": "Answer", "rt": "Time taken to answer"}, "question", "judgment")
    for mapping in (ColumnMapping(), ColumnMapping(answers=(rule,))):
        sessions = platform_named("pcibex").read(source, mapping)
        answers = [r for s in sessions for t in s.trials for r in t.records if r.answer is not None]
        assert len(answers) == asked == 10_365


def test_a_column_that_two_rules_take_is_refused(table: Callable[..., Tables], tmp_path: Path) -> None:
    rules = AnswerRule({"response": "score"}, "rating"), AnswerRule({"response": "score"}, "question")
    lines = "subj,item,cond,score\n1,1,a,5\n"
    for mapping in (
        ColumnMapping({**WHO, "response": "score"}, answers=rules[:1]),
        ColumnMapping(WHO, answers=rules),
    ):
        with pytest.raises(
            study.DataError, match="column 'score' is the response of two answers; one column gives one"
        ):
            table(lines, mapping)
    native = FIXTURES / "psychopy" / "native.csv"
    mapping = ColumnMapping(
        {"item": "item_nr", "condition": "cond"},
        answers=tuple(AnswerRule({"response": "rate.keys"}, task) for task in ("rating", "question")),
    )
    with pytest.raises(study.DataError, match=r"rating and question take column 'rate\.keys' of the same row"):
        collected(native, "psychopy", mapping)


def test_what_stands_for_no_value_stands_for_no_answer() -> None:
    for platform, name, missing in (("gorilla", "task_builder_1.csv", "6"), ("jspsych", "lines.json", "1234")):
        rule = AnswerRule({"response": "Response" if platform == "gorilla" else "rt"}, "rating")
        columns = {"item": "item", "condition": "cond"} if platform == "gorilla" else {}
        read = platform_named(platform).read
        answers = [
            [
                r.answer
                for s in read(
                    Source.of(FIXTURES / platform / name), ColumnMapping(columns, answers=(rule,), missing=words)
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
    names = [
        "Results reception time",
        "MD5 hash of participant's IP address",
        "Controller name",
        "Order number of item",
    ]
    names += ["Inner element number", "Label", "Latin Square Group", "participant", "Question (NULL if none)", "Answer"]
    names += ["Whether or not answer was correct (NULL if N/A)", "Time taken to answer"]
    heads = "".join(f"# {n}. {name}.\n" for n, name in enumerate(names, start=1))
    rows = (f"{at},x,AcceptabilityJudgment,{n},0,a,{n},{who},How?,5,NULL,800\n" for n in range(items))
    return heads + "".join(rows)


RATED = AnswerRule({"response": "rate.keys", "rt": "rate.rt"})
MADE = {
    "psychopy": (lambda who, n, at: psychopy(who, n, f"2026-03-{at:02}"), ColumnMapping(answers=(RATED,))),
    "pcibex": (lambda who, n, at: ibex(who, n, 1_600_000_000 + at), ColumnMapping()),
}


@pytest.mark.parametrize("platform", MADE)
def test_a_session_that_broke_off_is_not_complete(
    platform: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
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
    sessions = collected(tmp_path / "p1.csv", "psychopy", ColumnMapping(answers=(RATED,)), **given)["sessions"]
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
    sessions = collected(tmp_path / "all.csv", "psychopy", ColumnMapping(answers=(RATED,)))["sessions"]
    assert len(sessions) == 3
    assert "1 of 3 sessions have other than the 8 trials that most sessions have (16; first session p1" in caplog.text
    assert "1 of 3 participants had an item more than once, as if two people shared an id" in caplog.text
