"""A study goes out to Gorilla and comes back; Gorilla's exports of both builders are read with all that is odd about them.

Gorilla cannot be had here: a robot writes events by Gorilla's published columns. What the Reading component writes for each press is not
published; the robot writes a response for each.
"""

import csv
import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.platforms.features import refuse_unsupported
from gardenpath.experiment.platforms.gorilla import export as gorilla
from gardenpath.experiment.platforms.gorilla import results
from gardenpath.experiment.platforms.imported_tables import build_tables
from gardenpath.experiment.platforms.list_slots import ListSlot, enumerate_slots
from gardenpath.experiment.platforms.outline import Outline
from gardenpath.experiment.platforms.platform_import import ImportedSession, Record, read_mapping
from gardenpath.experiment.platforms.sources import Source
from gardenpath.study.screens import Slider, Whole, Words

from .scripted import (
    EXAMPLES,
    ROOT,
    STUDIES,
    answers_in,
    asks,
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

FIXTURES = Path(__file__).parent / "fixtures" / "gorilla"
ONLINE = study.config.OnlineSection("CODE")
LEADING = {
    "Event Index": "", "UTC Timestamp": "", "UTC Date and Time": "01/03/2026 11:30:05", "Local Timezone": "1",
    "Experiment ID": "7001", "Experiment Version": "3", "Tree Node Key": "task-ab12", "Repeat Key": "",
    "Participant Public ID": "5f0c", "Participant Private ID": "4711", "Participant Status": "complete",
    "Participant OS": "Windows 10", "Participant Browser": "Firefox 119.0", "Task Name": "spr", "Task Version": "2",
}  # fmt: skip


def exported(folder: Path, out: Path, orders: int = 2, change: Any = None) -> list[ListSlot]:
    files = files_of(folder) if change is None else changed(files_of(folder), change)
    found = enumerate_slots(files, orders)
    gorilla.write(files, found, out, ONLINE)
    return found


def sheet(place: ListSlot, out: Path) -> list[dict[str, str]]:
    with (out / "spreadsheets" / f"{place.file.name}-{place.number}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def written(place: ListSlot, out: Path, *, first_at_once: bool = False, **leading: str) -> str:
    """Return Gorilla's data of one participant who does what the script says."""
    events = []
    for number, row in enumerate(sheet(place, out), start=1):
        shown = {f"Spreadsheet: {name}": cell for name, cell in row.items() if not name.startswith("randomise")}
        own = {"Spreadsheet Row": number, "Trial Number": number, "Display": row["display"]}
        events += [{**own, **event, **shown} for event in _events(row, place, first_at_once)]
    for n, event in enumerate(events, start=1):
        event |= {**LEADING, **leading} | {"Event Index": n, "UTC Timestamp": 1_772_364_605_000 + 100 * n}
    return as_csv(events)


def as_csv(events: list[dict[str, Any]]) -> str:
    stream = io.StringIO()
    names = list(dict.fromkeys(name for event in events for name in event))
    writer = csv.DictWriter(stream, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(events)
    return stream.getvalue() + "END OF FILE" + "," * (len(names) - 1) + "\n"


def _events(row: dict[str, str], place: ListSlot, first_at_once: bool) -> Iterator[dict[str, Any]]:
    if row["display"] == "text":
        yield {"Screen": "text", "Response Type": "action", "Response": "advance"}
        return
    placed = next(placed for placed in trials_of(place) if placed.position == int(row["position"]))
    screens = dict(Outline.from_files([place.file]).name_screens(placed.step))
    n, nth = int(row["position"]), 0
    # A display is named by its screens, and where words are read by how these are shown.
    for name in (part.partition("-")[0] for part in row["display"].split()):
        screen = screens[name]
        assert screen in list(shown_in(placed))
        yield {"Screen": name, "Response Type": "info", "Response": "screen shown"}
        if isinstance(screen, Words):
            clock, times = 400.0, [rt(n, word) for word in range(len(row[f"{name}_words"].split("|")))]
            press = {"Screen": name, "Response Type": "response", "Response": " "}
            if not first_at_once:
                yield {**press, "Clock Time": clock, "Reaction Time": clock}
            for time in times:
                clock += time
                yield {**press, "Clock Time": clock, "Reaction Time": time}
            continue
        time = {"Reaction Time": since(n, nth), "Clock Time": since(n, nth)}
        nth += 1
        if isinstance(screen, Whole):
            yield {"Screen": name, "Response Type": "continue", "Response": "", **time}
        elif is_late(n, screen):
            yield {"Screen": name, "Response Type": "timelimit_screen", "Response": "", "Clock Time": screen.deadline}
        else:
            if isinstance(screen, Slider):  # changed before going on
                yield {"Screen": name, "Response Type": "response", "Response": "1", "Reaction Time": 1, "Clock Time": 1}
            yield {"Screen": name, "Response Type": "response", "Response": said(n, screen), **time}


def read(text: str, tmp_path: Path, mapping: str = "", name: str = "data.csv") -> list[ImportedSession]:
    if mapping:
        (tmp_path / "map.toml").write_text(mapping, "utf-8")
    stated = read_mapping(tmp_path / "map.toml") if mapping else None
    return results.read(Source(name, text.encode()), stated)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_comes_back_as_the_script_was(name: str, tmp_path: Path) -> None:
    for place in exported(ROOT / "examples" / name, tmp_path)[2::5]:
        (session,) = read(written(place, tmp_path), tmp_path)
        assert [bare(t) for t in session.trials] == expected(place)
        assert (session.list_name, session.list_sha256, session.slot) == (place.file.name, place.file.sha256, place.number)
        assert (session.participant, session.complete, session.device) == ("5f0c", True, "Firefox on Windows")
        assert session.started == "2026-03-01T11:30:05.100+00:00"


@pytest.mark.parametrize("stated", STUDIES.values(), ids=STUDIES)
def test_every_presentation_and_task_comes_back(stated: dict[str, str], tmp_path: Path) -> None:
    place = exported(odd(tmp_path / "study", **stated), tmp_path)[1]
    (session,) = read(written(place, tmp_path), tmp_path)
    assert [bare(t) for t in session.trials] == expected(place)


def test_typed_answers_come_back(tmp_path: Path) -> None:
    def entry(screens: list[Any]) -> list[Any]:
        return [screen for screen in typed(screens) if screen.name != "why"]

    place = exported(odd(tmp_path / "study"), tmp_path, change=entry)[0]
    (session,) = read(written(place, tmp_path), tmp_path)
    assert [bare(t) for t in session.trials] == expected(place)


def test_what_is_asked_after_some_answers_alone_is_refused(tmp_path: Path) -> None:
    files = changed(files_of(odd(tmp_path / "study")), typed)
    with pytest.raises(study.DataError, match=r"gorilla cannot run screens that are asked after some answers alone: screen why"):
        refuse_unsupported(files, gorilla.FEATURE_SUPPORT, gorilla.NAME)


def test_the_recipe_says_what_stands_on_each_screen(tmp_path: Path) -> None:
    exported(
        odd(tmp_path / "study", asks("question", "good", "sure", show="with_task", good="deadline = 900", sure='scale = "slider"')),
        tmp_path,
    )
    recipe = (tmp_path / "README.md").read_text("utf-8")
    assert "`context_1`: Text, bound to `context_1`; Space To Continue" in recipe
    assert "Text, bound to `ask_1_above`; Text, bound to `ask_1_prompt`; for each of `ask_1_label_1`, `ask_1_label_2`" in recipe
    assert "Rating Scale from 1 to 7, its ends bound to `ask_2_low` and `ask_2_high`" in recipe
    assert "Time Limit (Screen), bound to `ask_2_deadline`" in recipe
    assert "`ask_3`: Text, bound to `ask_3_above`; Text, bound to `ask_3_prompt`; Slider from 0 to 100" in recipe


def test_the_first_word_may_have_stood_there_at_once(tmp_path: Path) -> None:
    place = exported(ROOT / "examples" / "minimal-pairs", tmp_path, 1)[0]
    (session,) = read(written(place, tmp_path, first_at_once=True), tmp_path)
    assert [words_in(t)[1:] for t in session.trials] == [words_in(t)[1:] for t in expected(place)]
    assert [words_in(t)[0].rt for t in session.trials] == [words_in(t)[0].rt for t in expected(place)]


def test_spreadsheets_keep_the_order_and_the_recipe_names_what_they_name(tmp_path: Path) -> None:
    found = exported(odd(tmp_path / "study"), tmp_path, 3)
    assert len(list((tmp_path / "spreadsheets").glob("*.csv"))) == len(found) == 6
    recipe = (tmp_path / "README.md").read_text("utf-8")
    for place in found:
        rows = sheet(place, tmp_path)
        assert {row["randomise_blocks"] + row["randomise_trials"] for row in rows} == {""}
        assert [row["item"] for row in rows if row["item"]] == [place.file.trial_list.trials[n].item.id for n in place.order]
        for row in rows:
            assert f"   - `{row['display']}`\n" in recipe
    assert "6 spreadsheets: each list in\n3 orders" in recipe


def test_what_gorilla_cannot_do_is_said(tmp_path: Path) -> None:
    lost = " ".join(gorilla.list_losses(files_of(odd(tmp_path / "study"))))
    assert "built by hand" in lost
    assert "the answer to a question was right is not shown" in lost
    assert "Deadlines are set by hand" not in lost
    assert "Deadlines are set by hand" in " ".join(gorilla.list_losses(files_of(odd(tmp_path / "late", **STUDIES["speeded"]))))
    items = (tmp_path / "study" / "items.jsonl").read_text("utf-8").replace("a@b", "a|b")
    (tmp_path / "study" / "items.jsonl").write_text(items, "utf-8")
    assert "separated by |" in " ".join(gorilla.list_losses(files_of(tmp_path / "study")))


def test_the_nodes_of_one_participant_are_joined_and_collected(tmp_path: Path) -> None:
    stated = study.load(ROOT / "examples" / "minimal-pairs")
    experiment.export(stated, "gorilla", tmp_path / "out", 1)
    found = enumerate_slots(experiment.build_list_files(stated), 1)
    asked = []
    (tmp_path / "data").mkdir()
    for n, place in enumerate(found):
        who = {"Participant Private ID": f"47{n}", "Participant Public ID": f"p{n}"}
        (tmp_path / "data" / f"task-{n}.csv").write_text(written(place, tmp_path / "out", **who), "utf-8")
        about = {**LEADING, **who, "Tree Node Key": "questionnaire-cd34", "UTC Timestamp": 1_772_364_000_000}
        asked += [about | {"Question Key": "BEGIN QUESTIONNAIRE"}, about | {"Question Key": "age", "Response": 20 + n}]
        asked += [about | {"Question Key": "age-quantised", "Response": 1}]
    (tmp_path / "data" / "questionnaire.csv").write_text(as_csv(asked), "utf-8")
    tables = experiment.collect(tmp_path / "data", platform="gorilla", materials=tmp_path / "out" / "lists", keep_ids=True)
    assert len(tables["sessions"]) == 9
    assert tables["sessions"]["complete"].all()
    assert sorted(tables["demographics"]["response"]) == [str(20 + n) for n in range(9)]
    assert len(tables["readings"]) == sum(len(words_in(t)) for place in found for t in expected(place))
    assert len(tables["responses"]) == sum(len(answers_in(t)) for place in found for t in expected(place))


def test_a_download_given_twice_is_found_out(tmp_path: Path) -> None:
    place = exported(ROOT / "examples" / "minimal-pairs", tmp_path, 1)[0]
    (tmp_path / "data").mkdir()
    for name in ("a.csv", "b.csv"):
        (tmp_path / "data" / name).write_text(written(place, tmp_path), "utf-8")
    with pytest.raises(study.DataError, match="give each download once"):
        experiment.collect(tmp_path / "data", platform="gorilla", keep_ids=True)


def test_who_leaves_after_the_first_sentence_of_a_pair_has_read_that_one(tmp_path: Path) -> None:
    place = exported(odd(tmp_path / "study", **STUDIES["pairs read first"]), tmp_path)[0]
    lines = written(place, tmp_path).split("\n")
    second = max(n for n, line in enumerate(lines) if ",sentence_2,info," in line)
    (session,) = read("\n".join([*lines[:second], "END OF FILE"]), tmp_path)
    readings = build_tables([session], None, str)["readings"]
    last = session.trials[-1]
    assert readings[readings["trial"] == last.position]["condition"].unique().tolist() == [last.condition.split("+")[0]]


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text("utf-8")


TB1 = '[columns]\nitem = "item"\ncondition = "cond"\ntext = "word"\n'
TB1 += '[[exclude_rows]]\nwhere = { display = "instructions" }\nreason = "instructions"\n'
TB1 += '[[responses]]\ntask = "rating"\nwhere = { "Zone Type" = "response_rating_scale_active" }\n'
TB1 += 'columns = { response = "Response", rt = "Reaction Time", correct = "Correct" }\n'


def test_task_builder_1_is_read_by_a_mapping_with_its_older_header(tmp_path: Path) -> None:
    first, second = read(fixture("task_builder_1.csv"), tmp_path, TB1)
    assert [(t.item, t.condition, [(w.text, w.rt) for w in words_in(t)]) for t in first.trials] == [
        ("1", "a", [("She", 301.2), ("slept,", 280.0)]),
        ("2", "b", [("He", 250.5), ("sleeps.", None)]),
    ]
    assert answers_in(first.trials[0]) == (Record("rating", "rating", "right", "6", rt=1200.5),)
    assert (first.participant, first.complete, first.started) == ("anna", True, "2021-03-01T09:00:00.000+00:00")
    assert (second.participant, second.complete) == ("4712", False)  # a blinded name, and a participant who left


def test_times_that_a_spreadsheet_rounded_are_missing_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = fixture("task_builder_1.csv").replace("01/03/2021 09:00:00", "44256.375").replace("1614589200000", "1.61E+12")
    first, second = read(text, tmp_path, TB1)
    assert (first.started, first.finished) == (None, None)
    assert words_in(first.trials[0])[0].rt == 301.2
    assert second.started is not None
    assert "the time stamp 1.61E+12 was rewritten by a spreadsheet program" in caplog.text


def test_a_file_without_its_last_line_is_read_and_that_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = fixture("task_builder_1.csv")
    cut = whole[: whole.index("END OF FILE")]
    assert [s.trials for s in read(cut, tmp_path, TB1)] == [s.trials for s in read(whole, tmp_path, TB1)]
    assert "there is no line 'END OF FILE'" in caplog.text
    read(cut[:-40], tmp_path, TB1)
    assert "the line is cut off; left out" in caplog.text


def test_presses_that_do_not_fit_the_words_are_left_out_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = exported(ROOT / "examples" / "minimal-pairs", tmp_path, 1)[0]
    lines = written(place, tmp_path).split("\n")
    presses = [n for n, line in enumerate(lines) if ",sentence_1,response," in line]
    assert len(presses) > 10
    with caplog.at_level(logging.WARNING, "gardenpath"):
        (session,) = read("\n".join(line for n, line in enumerate(lines) if n not in presses[:3]), tmp_path)
    assert words_in(session.trials[0]) == ()
    assert [words_in(t) for t in session.trials[1:]] == [words_in(t) for t in expected(place)[1:]]
    assert "expected as many or one more; the sentence is left out" in caplog.text


FAULTS = {
    "empty": (lambda t: "", "the file is empty"),
    "another platform": (lambda t: "participant,item,rt\n1,2,3\n", "no column 'Participant Private ID'"),
    "too few cells": (lambda t: t.replace(",anna,4711,complete,", ",anna,", 1), "line 2: cannot be cut into the header's"),
    "a spreadsheet's ids": (lambda t: t.replace(",4711,", ",4.7E+11,"), "4.7E\\+11: a long number rounded by a spreadsheet"),
}


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS)
def test_a_damaged_file_is_refused_with_its_line(case: Any, tmp_path: Path) -> None:
    damage, said = case
    with pytest.raises(study.DataError, match=said):
        read(damage(fixture("task_builder_1.csv")), tmp_path, TB1)


def test_lists_mixed_within_a_participant_are_refused(tmp_path: Path) -> None:
    first, second = exported(ROOT / "examples" / "minimal-pairs", tmp_path, 1)[:2]
    one, two = written(first, tmp_path), written(second, tmp_path)
    body = one[: one.index("END OF FILE")] + two.partition("\n")[2]
    with pytest.raises(study.DataError, match="one participant has 2 lists of the study"):
        read(body, tmp_path)


def test_what_is_recognised() -> None:
    assert results.recognises(Source.from_path(FIXTURES / "task_builder_1.csv"))
    for other in ('"trial_type","rt"\n', "", "participant,expName\n", "# Results on Monday\n"):
        assert not results.recognises(Source("x", other.encode()))
