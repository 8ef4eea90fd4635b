"""A study goes out to PsychoPy Builder and comes back; PsychoPy's and Pavlovia's files are read with all that is odd about them.

No window is opened here: a robot answers, and PsychoPy's own reader of conditions and its own writer of wide CSV make the file
(Pavlovia's file is written as SheetJS writes it).
"""

import csv
import io
import json
import logging
import textwrap
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.platforms.list_slots import ListSlot, enumerate_slots
from gardenpath.experiment.platforms.outline import Outline
from gardenpath.experiment.platforms.platform_import import ImportedSession, Record, read_mapping
from gardenpath.experiment.platforms.psychopy import export as psychopy
from gardenpath.experiment.platforms.psychopy import results
from gardenpath.experiment.platforms.sources import Source
from gardenpath.experiment.scripts.script import TimelineStep
from gardenpath.study.screens import Answers, Entry, Slider, Text, Whole, Words

from .scripted import (
    EXAMPLES,
    RATED,
    ROOT,
    STUDIES,
    answers_in,
    bare,
    changed,
    expected,
    files_of,
    is_late,
    odd,
    rt,
    said,
    shown_in,
    since,
    trials_of,
    typed,
    words_in,
)

FIXTURES = Path(__file__).parent / "fixtures" / "psychopy"
ONLINE = study.config.OnlineSection("CODE")
INFO = {"participant": "p 1", "session": "001", "date": "2026-03-01_12h30.05.123", "expName": "spr", "psychopyVersion": "2026.2.5"}
INFO |= {"frameRate": "59.94", "expStart": "2026-03-01 12h30.05.123456 +0100"}


def exported(folder: Path, out: Path, orders: int = 2, change: Any = None) -> list[ListSlot]:
    files = files_of(folder) if change is None else changed(files_of(folder), change)
    found = enumerate_slots(files, orders)
    psychopy.write(files, found, out, ONLINE)
    return found


def answered(place: ListSlot) -> list[dict[str, Any]]:
    """Return what the routines of the recipe add to each trial, by the names of its components."""
    outline = Outline.from_files([place.file])
    return [_answered(placed, dict(outline.name_screens(placed.step))) for placed in trials_of(place)]


def _answered(placed: TimelineStep, screens: dict[str, Any]) -> dict[str, Any]:
    n, nth, given = placed.position or 0, 0, {}
    seen = list(shown_in(placed))
    for name, screen in screens.items():
        if screen not in seen or isinstance(screen, Text):
            continue
        if isinstance(screen, Words):
            presses = [0.4]
            for word in range(len(screen.words)):
                presses.append(presses[-1] + rt(n, word) / 1000)
            given[f"{name}_key.keys"], given[f"{name}_key.rt"] = ["space"] * len(presses), presses
            continue
        time, nth = since(n, nth) / 1000, nth + 1
        if isinstance(screen, Whole):
            given[f"{name}_key.keys"], given[f"{name}_key.rt"] = "space", time
        elif isinstance(screen, Slider):
            given[f"{name}_slider.response"], given[f"{name}_slider.rt"] = said(n, screen), time
        elif isinstance(screen, Entry):
            given[f"{name}_text.text"] = said(n, screen)
        elif is_late(n, screen):
            given[f"{name}_key.keys"] = "None"
        else:
            given[f"{name}_key.keys"], given[f"{name}_key.rt"] = _key(n, screen), time
    return given


def _key(n: int, screen: Answers) -> str:
    """Return the key of the scripted answer: of two F is the one on the left, or above."""
    value = said(n, screen)
    if screen.arrangement == "points":
        return f"num_{value}"
    values = [one.value for one in sorted(screen.answers, key=lambda one: one.side == "right")]
    return ("fj" if len(values) == 2 else "123")[values.index(value)]


def by_psychopy(conditions: Path, given: list[dict[str, Any]], out: Path) -> str:
    """Return the wide CSV that PsychoPy itself makes of a conditions file and of answers."""
    data = pytest.importorskip("psychopy.data", reason="PsychoPy is not installed")
    handler = data.ExperimentHandler(name="spr", extraInfo=INFO, savePickle=False, saveWideText=False, dataFileName=str(out))
    handler.addData("consent.started", 1.5)
    handler.nextEntry()
    loop = data.TrialHandler2(nReps=1, method="sequential", trialList=data.importConditions(str(conditions)), name="trials")
    handler.addLoop(loop)
    for _, answers in zip(loop, given, strict=True):
        for name, value in answers.items():
            loop.addData(name, value)
        handler.nextEntry()
    written = handler.saveAsWideText(str(out), delim=",", fileCollisionMethod="overwrite")
    return Path(written).read_bytes().decode("utf-8")


def by_pavlovia(conditions: Path, given: list[dict[str, Any]]) -> str:
    """Return the CSV as SheetJS makes it on Pavlovia: quotes doubled, lists as JSON, a byte-order mark."""
    with conditions.open(encoding="utf-8", newline="") as stream:
        rows = [{**row, **answers, **INFO} for row, answers in zip(csv.DictReader(stream), given, strict=True)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([json.dumps(cell) if isinstance(cell := row.get(name, ""), list) else cell for name in names])
    return "\ufeff" + text.getvalue()


def read(text: str, tmp_path: Path, mapping: str = "", name: str = "data.csv") -> list[ImportedSession]:
    if mapping:
        (tmp_path / "map.toml").write_text(mapping, "utf-8")
    stated = read_mapping(tmp_path / "map.toml") if mapping else None
    return results.read(Source(name, text.encode()), stated)


@pytest.mark.parametrize("online", [False, True], ids=["PsychoPy", "Pavlovia"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_comes_back_as_the_script_was(name: str, online: bool, tmp_path: Path) -> None:
    for n, place in list(enumerate(exported(ROOT / "examples" / name, tmp_path)))[2::5]:
        conditions = tmp_path / "conditions" / f"assignment-{n}.csv"
        text = (
            by_pavlovia(conditions, answered(place)) if online else by_psychopy(conditions, answered(place), tmp_path / "data.csv")
        )
        (session,) = read(text, tmp_path)
        assert [bare(t) for t in session.trials] == expected(place)
        assert (session.list_name, session.list_sha256, session.slot) == (place.file.name, place.file.sha256, place.number)
        assert (session.participant, session.complete, session.device) == ("p 1", True, "PsychoPy 2026.2.5")
        assert (session.refresh_hz, session.started) == (59.94, "2026-03-01T11:30:05.123+00:00")


@pytest.mark.parametrize("online", [False, True], ids=["PsychoPy", "Pavlovia"])
@pytest.mark.parametrize("stated", STUDIES.values(), ids=STUDIES)
def test_every_presentation_and_task_comes_back(stated: dict[str, str], online: bool, tmp_path: Path) -> None:
    place = exported(odd(tmp_path / "study", **stated), tmp_path)[1]
    conditions = tmp_path / "conditions" / "assignment-1.csv"
    text = by_pavlovia(conditions, answered(place)) if online else by_psychopy(conditions, answered(place), tmp_path / "data.csv")
    (session,) = read(text, tmp_path)
    assert [bare(t) for t in session.trials] == expected(place)


@pytest.mark.parametrize("online", [False, True], ids=["PsychoPy", "Pavlovia"])
def test_typed_answers_and_what_is_asked_after_wrong_answers_alone_come_back(online: bool, tmp_path: Path) -> None:
    place = exported(odd(tmp_path / "study"), tmp_path, change=typed)[0]
    conditions = tmp_path / "conditions" / "assignment-0.csv"
    given = answered(place)
    text = by_pavlovia(conditions, given) if online else by_psychopy(conditions, given, tmp_path / "data.csv")
    (session,) = read(text, tmp_path)
    untimed = [
        replace(t, records=tuple(replace(r, rt=None) if r.task == "completion" else r for r in t.records)) for t in expected(place)
    ]
    assert [bare(t) for t in session.trials] == untimed


def test_an_export_is_collected_to_the_tables_of_the_study(tmp_path: Path) -> None:
    stated = study.load(ROOT / "examples" / "minimal-pairs")
    experiment.export(stated, "psychopy", tmp_path / "out", 1)
    found = enumerate_slots(experiment.build_list_files(stated), 1)
    (tmp_path / "data").mkdir()
    for n, place in enumerate(found):
        text = by_pavlovia(tmp_path / "out" / "conditions" / f"assignment-{n}.csv", answered(place)).replace("p 1", f"p{n}")
        (tmp_path / "data" / f"{n}.csv").write_text(text, "utf-8")
    tables = experiment.collect(tmp_path / "data", platform="psychopy", materials=tmp_path / "out" / "lists", keep_ids=True)
    assert len(tables["sessions"]) == 9
    assert tables["sessions"]["complete"].all()
    assert len(tables["readings"]) == sum(len(words_in(t)) for place in found for t in expected(place))
    assert tables["readings"]["region"].notna().any()
    with (tmp_path / "out" / "assignments.csv").open() as stream:
        assert [row["list_name"] for row in csv.DictReader(stream)] == [place.file.name for place in found]


def test_the_readme_holds_the_studys_own_texts(tmp_path: Path) -> None:
    place = exported(ROOT / "examples" / "relative-clauses", tmp_path, 3)[0]
    readme = (tmp_path / "README.md").read_text("utf-8")
    assert "12 assignments: each list in\n3 orders" in readme
    assert place.file.script.texts["debriefing"] in readme
    assert "*Num. groups* 12" in readme
    assert "`pause`, `sentence_1`, `ask_1`, `ask_2`, then `thanks`" in readme
    assert "- `ask_1`: text `$ask_1_prompt`; texts `$ask_1_label_1` on the side `ask_1_side_1`" in readme
    assert (
        "- `ask_2`: text `$ask_2_prompt`; keyboard `ask_2_key`, allowed `'1','2','3','4','5','6','7'`; 1 is very hard, 7 is very easy\n"
        in readme
    )


def test_pages_between_trials_and_after_answers_stand_in_the_conditions(tmp_path: Path) -> None:
    exported(odd(tmp_path / "study", "[procedure]\nbreaks = 1\n" + RATED), tmp_path)
    with (tmp_path / "conditions" / "assignment-0.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["has_pause"] for row in rows] == ["0", "1", "0", "1", "0"]
    assert rows[1]["pause_text"].startswith("That was the practice.")
    assert rows[3]["pause_text"].startswith("Time for a short break.")
    assert (rows[0]["page_1_after"], rows[0]["page_1_outcomes"], rows[0]["page_2_outcomes"]) == ("ask_1", "right", "wrong")
    assert rows[0]["ask_1_right_keys"] in ("f", "j")
    assert (rows[1]["has_page_1"], rows[1]["ask_1_right_keys"]) == ("0", " ")


SHOWN = {
    "centred": ["+", "The", "cat", "slept."],
    "moving_window": ["--- --- ------", "The --- ------", "--- cat ------", "--- --- slept."],
    "cumulative": ["--- --- ------", "The --- ------", "The cat ------", "The cat slept."],
    "whole": ["The cat slept."],
}


@pytest.mark.parametrize("presentation", SHOWN)
def test_the_recipes_code_shows_a_word_a_press_and_then_ends_the_routine(presentation: str, tmp_path: Path) -> None:
    """The code component of README.md, frame by frame; translated by PsychoPy to JavaScript it was seen to show the same."""
    exported(ROOT / "examples" / "minimal-pairs", tmp_path, 1)
    lines = (tmp_path / "README.md").read_text("utf-8").split("\n")
    begin, frame = (n for n, line in enumerate(lines) if line.strip() in ("# Begin Routine", "# Each Frame"))
    end = lines.index("", frame)
    key = SimpleNamespace(keys=[])
    names: dict[str, Any] = {
        "sentence_1_words": "The cat slept.",
        "sentence_1_text": "The cat slept.",
        "sentence_1_reading": presentation,
        "sentence_1_key": key,
    }
    exec(textwrap.dedent("\n".join(lines[begin:frame])), names)
    shown = []
    while True:
        names["continueRoutine"] = True
        exec(textwrap.dedent("\n".join(lines[frame:end])), names)
        if not names["continueRoutine"]:
            break
        shown.append(names["shown_text"])
        key.keys.append("space")
    assert shown == SHOWN[presentation]


def test_what_psychopy_would_rewrite_is_said(tmp_path: Path) -> None:
    folder = odd(tmp_path / "study")
    assert "makes numbers" not in " ".join(psychopy.list_losses(files_of(folder)))
    items = (folder / "items.jsonl").read_text("utf-8").replace('"a-1"', '"007"').replace('"no"', '"None"')
    (folder / "items.jsonl").write_text(items, "utf-8")
    lost = " ".join(psychopy.list_losses(files_of(folder)))
    assert "makes numbers of cells that look like them, here of 007" in lost
    assert "reads these cells as empty: None" in lost


def fixture(name: str) -> str:
    return (FIXTURES / name).read_bytes().decode("utf-8")


LISTS = '[columns]\nitem = "item_nr"\ncondition = "cond"\nrt = "spr.rt"\ntext = "sent"\n'
LISTS += '[[responses]]\ntask = "rating"\nprompt = "natural"\ncolumns = { response = "rate.keys", rt = "rate.rt", correct = "rate.corr" }\n'


@pytest.mark.parametrize(("cell", "outcome"), [("1", "right"), ("True", "right"), ("0.0", "wrong"), ("", "answered")])
def test_whether_an_answer_was_right_is_read_as_people_write_it(tmp_path: Path, cell: str, outcome: str) -> None:
    text = "participant,item,condition,rate.keys,rate.rt,rate.corr\n" + f"P1,i1,a,5,0.5,{cell}\n"
    (session,) = read(text, tmp_path, '[columns]\nitem = "item"\n' + LISTS[LISTS.index("[[responses]]") :])
    [record] = [record for trial in session.trials for record in trial.records]
    assert (record.answer, record.outcome) == ("5", outcome)


def test_undoubled_quotes_a_comma_after_each_line_and_lists_are_read(tmp_path: Path) -> None:
    (session,) = read(fixture("native.csv"), tmp_path, LISTS)
    first, second, third = session.trials
    assert (first.position, first.item, first.condition) == (0, "1", "a")
    assert [w.text for w in words_in(first)] == ['"Go,"', "she", "said,", '"now".']
    assert [w.rt for w in words_in(first)] == [250.5, 300.0, 199.5, 410.0]
    assert answers_in(first) == (Record("rating", "natural", "right", "5", rt=812.3),)
    assert [w.rt for w in words_in(second)] == [500.0, 250.0]  # as many presses as words: the first word stood there at once
    assert words_in(third) == ()
    assert session.started is None  # the file does not say in which time zone


def test_a_press_in_each_row_of_an_inner_loop_is_a_word(tmp_path: Path) -> None:
    mapping = '[columns]\nitem = "item"\ncondition = "cond"\nrt = "word_key.rt"\ntext = "word"\ntrial = "trials.thisN"\n'
    (session,) = read(fixture("rows.csv"), tmp_path, mapping)
    assert [(t.position, [(w.text, w.rt) for w in words_in(t)]) for t in session.trials] == [
        (0, [("She", 300.0), ("slept.", 412.5)]),
        (1, [("He", 280.0), ("slept.", None)]),
    ]


def test_a_file_of_several_participants_is_several_sessions(tmp_path: Path) -> None:
    text = fixture("rows.csv").replace("p1,001", "p2,001", 2)
    mapping = '[columns]\nitem = "item"\ncondition = "cond"\nrt = "word_key.rt"\n'
    assert [s.participant for s in read(text, tmp_path, mapping)] == ["p2", "p1"]


def test_blanks_after_commas_are_no_part_of_names_and_cells(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """PsychoPy 3.0 wrote ", participant", and the person was the file's name."""
    mapping = '[columns]\nitem = "item"\ncondition = "cond"\nrt = "word_key.rt"\ntext = "word"\n'
    spaced = fixture("rows.csv").replace(",", ", ").replace("She", '"She, too"')
    with caplog.at_level(logging.INFO, "gardenpath"):
        (session,) = read(spaced, tmp_path, mapping, name="anna.csv")
    (plain,) = read(fixture("rows.csv").replace("She", '"She, too"'), tmp_path, mapping)
    assert session.participant == "p1"
    assert session.trials == tuple(replace(t, where=t.where.replace("data", "anna")) for t in plain.trials)
    assert "the file's name" not in caplog.text
    (nameless,) = read(fixture("rows.csv").replace("participant", "who"), tmp_path, mapping, name="anna.csv")
    assert nameless.participant == "anna"
    assert "no participant is named; the file's name stands for who took part" in caplog.text


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match="column 'participant' occurs more than once"):
        read(fixture("rows.csv").replace("date", " participant"), tmp_path)


FAULTS = {
    "empty": ("", "the file is empty"),
    "another platform": ("# Results on Monday\n1,2\n", "line 1: '# Results on Monday' names no columns"),
    "no items": ("participant,expName,x\np,e,1\n", r"no row has an item; expected a column item.*3 columns and 1 rows"),
    "too few cells": (
        "participant,item,expName\np,1,e\np,2\np,3,e\n",
        r"line 3: cannot be cut into the header's 3 cells \(it has 2",
    ),
    "quotes without an end": ('participant,item,expName\n"p" a,b,c" d,e\n', "line 2: cannot be cut"),
}


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS)
def test_a_damaged_file_is_refused_with_its_line(case: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match=case[1]):
        read(case[0], tmp_path)


def test_a_file_that_is_cut_off_loses_its_last_line_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = exported(ROOT / "examples" / "minimal-pairs", tmp_path, 1)[0]
    text = by_pavlovia(tmp_path / "conditions" / "assignment-0.csv", answered(place))
    (session,) = read(text[: text.rindex("[") - 100], tmp_path)
    assert not session.complete
    assert len(session.trials) == len(expected(place)) - 1
    assert "the line is cut off; left out" in caplog.text


def test_a_key_or_a_time_that_cannot_be_is_left_out_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = exported(ROOT / "examples" / "minimal-pairs", tmp_path, 1)[0]
    given = answered(place)
    given[3]["ask_1_key.keys"] = "escape"
    given[4]["sentence_1_key.rt"] = given[4]["sentence_1_key.rt"][:-1]
    given[5]["ask_1_key.rt"] = "soon"
    (session,) = read(by_pavlovia(tmp_path / "conditions" / "assignment-0.csv", given), tmp_path)
    assert answers_in(session.trials[3]) == ()
    assert words_in(session.trials[4]) == ()
    assert answers_in(session.trials[5])[0].rt is None
    assert "acceptability is answered with the key escape; left out" in caplog.text
    assert "expected one more than words" in caplog.text
    assert "'soon' is not a time" in caplog.text


def test_lists_mixed_within_a_session_are_refused(tmp_path: Path) -> None:
    first, second = exported(ROOT / "examples" / "minimal-pairs", tmp_path, 1)[:2]
    one = by_pavlovia(tmp_path / "conditions" / "assignment-0.csv", answered(first))
    two = by_pavlovia(tmp_path / "conditions" / "assignment-1.csv", answered(second))
    with pytest.raises(study.DataError, match="one session has 2 lists of the study"):
        read(one + two.partition("\n")[2], tmp_path)


def test_what_is_recognised() -> None:
    for name in ("native.csv", "rows.csv"):
        assert results.recognises(Source.from_path(FIXTURES / name)), name
    for other in ('"trial_type","rt"\n', "", "Event Index,UTC Timestamp\n", "# Results on Monday\n"):
        assert not results.recognises(Source("x", other.encode()))


@pytest.mark.data
def test_the_pavlovia_files_are_read_by_a_mapping_with_their_counts(
    real_data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Held against the csv module: in each file 96 rows of the offline test have a judgment and, between 1 and 7, a confidence."""
    (tmp_path / "map.toml").write_text(
        '[columns]\nitem = "test"\ncondition = "group"\n'
        '[[responses]]\ntask = "question"\nprompt = "heard"\ncolumns = { response = "Partz_no_partm.keys", rt = "Partz_no_partm.rt" }\n'
        '[[responses]]\ntask = "rating"\nprompt = "confidence"\ncolumns = { response = "security_1_7.keys", rt = "security_1_7.rt" }\n'
    )
    files = sorted((real_data / "pavlovia").glob("*.csv"))
    assert len(files) == 2
    for file in files:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert (len(rows), len(rows[0])) == (808, 232)
        tested = [row for row in rows if row["test"]]
        with caplog.at_level(logging.INFO, "gardenpath"):
            (session,) = results.read(Source.from_path(file), read_mapping(tmp_path / "map.toml"))
        assert len(session.trials) == len(tested) == 96
        ratings = [r for t in session.trials for r in t.records if r.task == "rating"]
        assert [r.answer for r in ratings] == [row["security_1_7.keys"] for row in tested if row["security_1_7.keys"]]
        assert [r.rt for r in ratings] == pytest.approx(
            [float(row["security_1_7.rt"]) * 1000 for row in tested if row["security_1_7.rt"]]
        )
        assert session.participant == file.name[:2]
        assert session.device == "PsychoPy 2022.2.5 on Win32"
        assert session.refresh_hz == pytest.approx(60, abs=0.1)
