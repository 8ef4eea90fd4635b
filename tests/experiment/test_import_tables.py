"""What files say is held against the materials: words, lists, and what is not there."""

import json
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.platforms.imported_sessions import build_response_record
from gardenpath.experiment.platforms.imported_tables import build_tables
from gardenpath.experiment.platforms.list_slots import ListSlot
from gardenpath.experiment.platforms.platform_import import ImportedSession, ImportedTrial, Record, WordRecord
from gardenpath.experiment.platforms.shown_materials import ShownMaterials, read_shown_materials
from gardenpath.experiment.sessions.event_tables import build_session_tables, collect_materials
from gardenpath.experiment.sessions.sessions import RecordedSession, open_session
from gardenpath.study.events import Event
from gardenpath.study.mapping import ColumnMapping, ResponseRule
from gardenpath.study.screens import Text, Whole, Words

from . import test_gorilla as gorilla
from .made_events import display, done, event, outcome, word
from .scripted import PAIRS, STUDIES, asks, is_late, odd, rt, said, shown_in, since, trials_of

FIXTURES = Path(__file__).parent / "fixtures"
ITEMS = FIXTURES / "qualtrics" / "items.csv"
GOOD = "Nobody has ever come, you know."


def session(*trials: ImportedTrial, **given: object) -> ImportedSession:
    return ImportedSession("s1", "p1", "jspsych", trials, True, "data.json", **given)  # type: ignore[arg-type]


def read_as(text: str, condition: str = "grammatical", item: str = "1", trial: int = 0) -> ImportedTrial:
    words = tuple(WordRecord(n, 300.0, text=word) for n, word in enumerate(text.split()))
    records = (Record("reading", "sentence", "read", words=words, sentence=0), Record("rating", "r", "answered", 5))
    return ImportedTrial(trial, item, condition, f"data.json, row {trial}", records=records)


@pytest.fixture
def items() -> ShownMaterials:
    return read_shown_materials(ITEMS)


def test_words_regions_and_paradigms_are_the_items(items: ShownMaterials) -> None:
    tables = build_tables([session(read_as(GOOD))], items, str)
    readings = tables["readings"]
    assert readings["text"].tolist() == GOOD.split()
    assert readings["region"].fillna("").tolist() == ["", "", "critical", "", "", ""]
    assert readings["paradigm"].unique().tolist() == ["npi"]
    assert {"items", "conditions", "words"} <= tables.keys()


def test_words_without_texts_are_named_by_their_number(items: ShownMaterials) -> None:
    read = Record("reading", "sentence", "read", words=tuple(WordRecord(n, 1.0) for n in range(6)), sentence=0)
    bare = ImportedTrial(0, "1", "grammatical", "data.json, row 0", records=(read,))
    assert build_tables([session(bare)], items, str)["readings"]["text"].tolist() == GOOD.split()


@pytest.mark.parametrize("time", ["02/03/2026 12:30", "02-Jan"])
def test_a_time_that_no_analysis_can_read_is_refused(items: ShownMaterials, time: str) -> None:
    with pytest.raises(study.DataError, match=f"data.json: started is '{time}', expected an ISO 8601 time"):
        build_tables([session(read_as(GOOD), started=time)], items, str)


MISMATCHES = {
    "a word too few": (read_as("Nobody has ever come, you"), "the file has 5 words .*, expected 6: Nobody has ever come, you know"),
    "another word": (read_as("Nobody has never come, you know."), "word 2 is 'never', expected 'ever': Nobody has ever come"),
    "an unknown item": (read_as(GOOD, item="9"), "item '9' is not in the materials"),
    "an unknown condition": (
        read_as(GOOD, condition="gram"),
        "item 1 has no condition 'gram'; expected grammatical, ungrammatical",
    ),
}


@pytest.mark.parametrize(("wrong", "message"), MISMATCHES.values(), ids=MISMATCHES.keys())
def test_a_trial_that_disagrees_is_left_out_and_named_and_the_rest_goes_on(
    wrong: ImportedTrial, message: str, items: ShownMaterials, caplog: pytest.LogCaptureFixture
) -> None:
    right = read_as("Somebody has ever come.", "ungrammatical", trial=1)
    tables = build_tables([session(wrong, right)], items, str)
    assert tables["readings"]["trial"].unique().tolist() == [1]
    assert tables["responses"]["trial"].tolist() == [1]
    (said,) = [said for record in caplog.records if (said := record.getMessage()).endswith("; left out")]
    assert said.startswith("data.json, row 0: ")
    assert pd.Series([said]).str.contains(message).all()


def pair(first: str, second: str, trial: int) -> ImportedTrial:
    """Both sentences of an item, read word by word, and the choice between them."""
    texts = [tuple(WordRecord(n, 300.0, text=word) for n, word in enumerate(text.split())) for text in (first, second)]
    read = [Record("reading", "sentence", "read", words=words, sentence=n) for n, words in enumerate(texts)]
    records = (*read, Record("choice", "choice", "answered", "grammatical"))
    return ImportedTrial(trial, "1", "grammatical+ungrammatical", f"data.json, row {trial}", records=records)


def test_each_sentence_of_a_pair_is_held_against_its_own(items: ShownMaterials, caplog: pytest.LogCaptureFixture) -> None:
    trials = pair(GOOD, "Somebody has ever come.", 0), pair(GOOD, "Somebody had ever come.", 1)
    tables = build_tables([session(*trials)], items, str)
    conditions = tables["readings"]["condition"].tolist()
    assert conditions == ["grammatical"] * 6 + ["ungrammatical"] * 4
    assert tables["responses"][["trial", "condition"]].values.tolist() == [[0, "grammatical+ungrammatical"]]
    assert "item 1, ungrammatical: word 1 is 'had', expected 'has'" in caplog.text


def test_an_answer_of_a_task_that_is_none_of_ours_or_is_called_as_a_way_of_reading_is_a_response() -> None:
    given = tuple(build_response_record(task, "which", "left", True) for task in ("recall", "maze", "whole"))
    responses = build_tables([session(ImportedTrial(0, "1", "a", "f", records=given))], None, str)["responses"]
    assert responses[["task", "response", "outcome"]].values.tolist() == [
        [task, "left", "right"] for task in ("recall", "maze", "whole")
    ]


def test_materials_that_nothing_agrees_with_are_an_error(items: ShownMaterials) -> None:
    with pytest.raises(study.DataError, match="none of 1 trials agrees with the materials; are they this study's"):
        build_tables([session(read_as("Something else."))], items, str)


def test_the_lists_hash_names_roles_and_right_answers(list_files: list[experiment.ListFile]) -> None:
    file = list_files[0]
    shown = ShownMaterials("lists", collect_materials([file]), {file.sha256: file})
    trial = next(t for t in file.trial_list.trials if t.role == "practice")
    condition, sentence = trial.shown_sentences[0]
    ran = read_as(sentence.text, condition, trial.item.id)
    made = build_tables([session(ran, list_name=file.name, list_sha256=file.sha256, slot=3)], shown, str)
    assert made["readings"]["role"].unique().tolist() == ["practice"]
    assert made["sessions"][["experiment", "list", "slot"]].values.tolist() == [["E1", "L1", 3]]


def test_an_unknown_list_is_refused_and_named(list_files: list[experiment.ListFile]) -> None:
    shown = ShownMaterials("lists", collect_materials(list_files), {f.sha256: f for f in list_files})
    with pytest.raises(study.DataError, match=r"data.json: ran E1-L1 0{12}; lists has E1-L1 [0-9a-f]{12}.*give the lists"):
        build_tables([session(read_as(GOOD), list_name="E1-L1", list_sha256="0" * 64)], shown, str)


def test_mixed_lists_are_refused_even_when_none_is_known() -> None:
    ran = [session(read_as(GOOD), list_name="E1-L1", list_sha256=digit * 64) for digit in "01"]
    with pytest.raises(study.DataError, match=r"sessions ran 2 different texts of E1-L1 \(000000000000, 111111111111\)"):
        build_tables(ran, None, str)


def test_a_study_its_lists_and_its_items_are_the_same_materials(study_folder: Path, tmp_path: Path) -> None:
    for file in experiment.build_list_files(study.load(study_folder)):
        file.write(tmp_path / "lists")
    by_study, by_lists = (read_shown_materials(path) for path in (study_folder / "study.toml", tmp_path / "lists"))
    assert by_study.files == by_lists.files
    assert by_study.materials == by_lists.materials


def test_a_folder_is_read_file_by_file_and_what_does_not_belong_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lines = (FIXTURES / "jspsych" / "lines.json").read_text().splitlines()
    for name, text in {"a.json": lines[0], "b.json": lines[1], "empty.json": "", "notes.txt": "not data"}.items():
        (tmp_path / name).write_text(text)
    assert len(experiment.collect(tmp_path, platform="jspsych")["sessions"]) == 2
    assert "empty.json: the file is empty; expected data of jspsych; left out" in caplog.text
    assert "notes.txt: does not look like data of jspsych; it has the format of no platform known here; left out" in caplog.text


def test_the_same_download_twice_is_an_error(tmp_path: Path) -> None:
    line = (FIXTURES / "jspsych" / "lines.json").read_text().splitlines()[0]
    for name in ("a.json", "a (1).json"):
        (tmp_path / name).write_text(line)
    with pytest.raises(study.DataError, match=r"a\.json: one of its sessions is also in .*a \(1\)\.json; give each download once"):
        experiment.collect(tmp_path, platform="jspsych")


def test_two_sessions_of_one_person_in_two_files_are_two_sessions(tmp_path: Path) -> None:
    line = (FIXTURES / "jspsych" / "lines.json").read_text().splitlines()[0]
    (tmp_path / "part1.json").write_text(line)
    (tmp_path / "part2.json").write_text(line.replace('"rt":1234', '"rt":2345'))
    sessions = experiment.collect(tmp_path, platform="jspsych")["sessions"]
    assert sessions["session"].nunique() == 2
    assert len(set(sessions["participant"])) == 1


def test_a_file_without_a_platform_is_told_what_it_looks_like(tmp_path: Path) -> None:
    path = FIXTURES / "magpie" / "results.csv"
    with pytest.raises(study.DataError, match=r"not a database of gardenpath; it looks like magpie \(--platform magpie\)"):
        experiment.collect(path)


def test_data_that_cannot_be_read_leave_no_key(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such file or folder"):
        experiment.collect(tmp_path / "nowhere" / "data.json", platform="jspsych")
    assert not list(tmp_path.iterdir())


def test_a_mapped_column_that_no_row_has_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "map.toml").write_text('[columns]\nparticipant = "who"\n')
    given = {"platform": "jspsych", "mapping": tmp_path / "map.toml", "key": tmp_path / "key"}
    experiment.collect(FIXTURES / "jspsych" / "lines.json", **given)
    assert "lines.json: has no column 'who', which the mapping names" in caplog.text


def test_a_session_without_anything_is_a_session_without_trials() -> None:
    tables = build_tables([session()], None, str)
    assert json.loads(tables["sessions"].to_json(orient="records"))[0]["n_trials"] == 0


def test_a_native_run_written_as_a_long_table_comes_back_as_it_was(study_folder: Path, tmp_path: Path) -> None:
    """Readings, ratings, words and regions: what another lab would have of the same sessions."""
    files = experiment.build_list_files(study.load(study_folder))
    experiment.simulate(files, tmp_path / "data", participants=9, seed=2)
    native = experiment.collect(tmp_path / "data")
    place = ["session", "trial"]
    ratings = native["responses"].query("task == 'rating'").set_index(place)["response"].rename("judged")
    long = native["readings"].drop(columns=["text", "region", "paradigm"]).join(ratings, on=place)
    long.to_csv(tmp_path / "long.csv", index=False)
    same = ("participant", "session", "experiment", "list", "trial", "role", "item", "condition", "word")
    columns = {name: name for name in (*same, "rt", "rt_onset", "quality_flags")}
    rule = ResponseRule({"response": "judged"}, "rating", native["responses"]["prompt"].iloc[0])
    tables = experiment.collect(
        tmp_path / "long.csv",
        platform="table",
        mapping=ColumnMapping(columns, responses=(rule,)),
        materials=study_folder / "study.toml",
    )
    order = ["session", "trial", "word"]
    for table in ("items", "conditions", "words"):
        pd.testing.assert_frame_equal(tables[table], native[table])
    found, expected = (t["readings"].sort_values(order, ignore_index=True) for t in (tables, native))
    pd.testing.assert_frame_equal(found, expected.assign(task=found["task"]))
    assert {*found["task"]} == {"reading"}, "nothing says how the words were shown"
    rated = native["responses"].query("task == 'rating' and session in @found.session and trial in @found.trial")
    pairs = [t.set_index(place)["response"].sort_index() for t in (tables["responses"], rated)]
    pd.testing.assert_series_equal(*pairs)


AS_AT_HOME = {**STUDIES, "pairs read at once": {"procedure": asks("choice", show="whole"), "design": PAIRS}}


def _at_home(place: ListSlot) -> RecordedSession:
    """What our own players would record of the scripted participant, by a clock that starts anew with each screen."""
    given = {"id": "s", "participant": "p", "started": "2026-03-01T11:30:05.000Z", "source": "lab"}
    session, unpainted = open_session(place.file, place.number, **given), display(frame=None)
    events: list[Event] = []
    for placed in trials_of(place):
        n, nth, at = placed.position or 0, 0, placed.number
        events.append(event(len(events), 0.0, "begin", at))
        for screen in shown_in(placed):
            number, time = placed.step.screens.index(screen), since(placed.position or 0, nth)
            if isinstance(screen, Words):
                ends = accumulate(rt(n, word) for word in range(len(screen.words)))
                for i, t in enumerate((0.0, *ends), start=-1):
                    events.append(replace(word(len(events), t, at, i, unpainted), screen=number))
                events.append(outcome(len(events), 0.0, at, number, "read", display=None, press=None))
            elif isinstance(screen, Text):
                events.append(outcome(len(events), 0.0, at, number, "continued"))
            else:
                nth += 1
                late = hasattr(screen, "deadline") and is_late(n, screen)
                answer = None if late or isinstance(screen, Whole) else said(n, screen)
                side = next((one.side for one in getattr(screen, "answers", ()) if one.value == answer), None)
                how = "read" if isinstance(screen, Whole) else "timeout" if late else "answered"
                if how == "answered" and getattr(screen, "is_judged_by_player", False):  # the player judges
                    how = "right" if answer in screen.right else "wrong"
                events.append(outcome(len(events), time, at, number, how, answer, side=side, display=unpainted))
        events.append(done(len(events), at))
    return RecordedSession(session, tuple(events))


@pytest.mark.parametrize("stated", AS_AT_HOME.values(), ids=AS_AT_HOME)
def test_trials_that_ran_elsewhere_make_the_rows_that_they_make_at_home(stated: dict[str, str], tmp_path: Path) -> None:
    place = gorilla.exported(odd(tmp_path / "study", **stated), tmp_path)[1]
    shown = ShownMaterials("lists", collect_materials([place.file]), {place.file.sha256: place.file})
    (session,) = gorilla.read(gorilla.written(place, tmp_path), tmp_path)
    elsewhere = build_tables([replace(session, id="s", participant="p")], shown, str)
    at_home = build_session_tables([_at_home(place)], shown.files)
    assert len(elsewhere["readings"]) + len(elsewhere["responses"]) > 0
    assert {*elsewhere["readings"]["task"]} <= {"reading"}, "a file of another platform does not say how words were shown"
    elsewhere["readings"] = elsewhere["readings"].assign(task=at_home["readings"]["task"])
    for name in ("readings", "responses"):
        pd.testing.assert_frame_equal(elsewhere[name], at_home[name])


MAZE = """\
who,trial,item,cond,pos,word,line,ms,first,right,asked,answer,ended,key,took
1,0,1,a,0,The,0,812,812,1,,,,,
1,0,1,a,1,cat,0,2250,640,0,,,,,
1,0,1,a,2,slept.,1,700,,1,,,,,
1,0,1,a,,,,,,,ending,on the mat,answered,930,4100
1,0,1,a,,,,,,,sense,,timeout,,
1,0,1,a,,,,,,,again,,,,
"""


def test_columns_of_other_tasks_come_from_a_plain_table_and_an_answer_out_of_time_is_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "maze.csv").write_text(MAZE)
    words = {"participant": "who", "trial": "trial", "item": "item", "condition": "cond", "word": "pos", "text": "word"}
    words |= {"line": "line", "rt": "ms", "rt_first": "first", "correct": "right"}
    answers = {"prompt": "asked", "response": "answer", "outcome": "ended", "rt": "took", "rt_first": "key"}
    rules = [ResponseRule(answers, task, where={"asked": asked}) for task, asked in
             (("completion", "ending"), ("rating", "sense"), ("rating", "again"))]  # fmt: skip
    stated = ColumnMapping(words, units={"rt_first": "s"}, responses=tuple(rules))
    tables = experiment.collect(tmp_path / "maze.csv", platform="table", mapping=stated)
    readings = tables["readings"]
    assert readings["line"].tolist() == [0, 0, 1]
    assert readings["correct"].tolist() == [True, False, True]
    assert readings["rt"].tolist() == [812, 2250, 700]
    assert readings["rt_first"].fillna(0).tolist() == [812_000, 640_000, 0], "in seconds, as the mapping says"
    typed, late = (row for _, row in tables["responses"].iterrows())
    assert (typed["task"], typed["prompt"], typed["response"], typed["outcome"]) == (
        "completion", "ending", "on the mat", "answered",
    )  # fmt: skip
    assert (typed["rt"], typed["rt_first"]) == (4100, 930_000)
    assert (late["prompt"], late["outcome"]) == ("sense", "timeout")
    assert pd.isna(late["response"])


def test_a_word_that_was_neither_right_nor_wrong_is_named(tmp_path: Path) -> None:
    (tmp_path / "maze.csv").write_text(MAZE.replace("2250,640,0", "2250,640,x"))
    words = {"participant": "who", "item": "item", "condition": "cond", "word": "pos", "rt": "ms", "correct": "right"}
    stated = ColumnMapping(words, responses=(ResponseRule({"response": "answer"}, where={"pos": ""}),))
    with pytest.raises(study.DataError, match=r"maze.csv, line 3: correct is 'x'; expected true or false, yes or no"):
        experiment.collect(tmp_path / "maze.csv", platform="table", mapping=stated)


def test_an_answer_that_is_right_or_wrong_says_how_its_screen_ended() -> None:
    said = [build_response_record("question", "q", "yes", True), build_response_record("question", "r", "no", False)]
    said += [build_response_record("rating", "s", 5), build_response_record("reading", "sentence", "read")]
    found = build_tables([session(ImportedTrial(0, "1", "a", "f", records=tuple(said)))], None, str)["responses"]
    assert found["outcome"].fillna("").tolist() == ["right", "wrong", "answered", ""]
    assert found["correct"].astype(object).where(found["correct"].notna(), None).tolist() == [True, False, None, None]


def test_a_fault_of_every_line_is_told_three_times_with_how_many_more(tmp_path: Path) -> None:
    (tmp_path / "rt.csv").write_text("who,item,cond,pos,rt\n" + "1,1,a,?,300\n" * 20)
    stated = ColumnMapping({"participant": "who", "item": "item", "condition": "cond", "word": "pos", "rt": "rt"})
    with pytest.raises(study.DataError) as caught:
        experiment.collect(tmp_path / "rt.csv", platform="table", mapping=stated)
    assert len(caught.value.faults) == 3
    assert caught.value.faults[0].endswith("line 2: the word's position is '?', expected a number")
    assert caught.value.faults[2].endswith("line 4: the word's position is '?', expected a number (and 17 more lines)")


FILES = {
    "jspsych": '[{"trial_type": "html-keyboard-response", "trial_index": 0, "time_elapsed": 5, "rt": 1}]',
    "gorilla": "Event Index,Experiment ID,Participant Private ID,Screen\n1,2,3,sentence\nEND OF FILE\n",
    "psychopy": "item,condition,participant,date,expName,psychopyVersion\n1,a,p,2024-01-01,e,2024.1.4\n",
    "pcibex": "# Results on Tuesday\n# 1. Results reception time.\n# 2. MD5 hash of participant's IP address.\n1700000000,a\n",
}


@pytest.mark.parametrize("platform", FILES)
def test_a_file_in_utf_16_is_named_as_one_with_what_to_do(platform: str, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(FILES[platform], "utf-16")
    with pytest.raises(study.DataError, match="the file is UTF-16, expected UTF-8; save it again"):
        experiment.collect(tmp_path / "data.csv", platform=platform, materials=ITEMS)


def test_a_header_without_rows_is_no_empty_study(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(FILES["gorilla"].split("\n")[0] + "\n")
    with pytest.raises(study.DataError, match="contains no session; expected rows of participants"):
        experiment.collect(tmp_path / "data.csv", platform="gorilla", materials=ITEMS)


def test_a_byte_order_mark_is_read_without_a_word_for_each_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("plain", "marked"):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" * (name == "marked") + b"who,item,cond,pos,rt\n1,1,a,1,300\n")
    stated = ColumnMapping({"participant": "who", "item": "item", "condition": "cond", "word": "pos", "rt": "rt"})
    with caplog.at_level("INFO", "gardenpath"):
        made = [experiment.collect(tmp_path / n, platform="table", mapping=stated) for n in ("plain", "marked")]
    pd.testing.assert_frame_equal(made[0]["readings"], made[1]["readings"])
    assert "byte-order" not in caplog.text


def test_a_csv_of_jspsych_with_a_header_alone_has_no_row_of_data(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("rt,trial_type,trial_index,time_elapsed\n")
    with pytest.raises(study.DataError, match="contains no row of data"):
        experiment.collect(tmp_path / "data.csv", platform="jspsych")


def test_a_mapping_that_finds_no_time_and_no_answer_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(FILES["psychopy"].replace("item,", "n,"))
    stated = ColumnMapping({"item": "n", "condition": "condition"})
    with pytest.raises(study.DataError, match=r"contains no reading time and no answer; name their columns"):
        experiment.collect(tmp_path / "data.csv", platform="psychopy", mapping=stated)
