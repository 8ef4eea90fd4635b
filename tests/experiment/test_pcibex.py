"""A study goes out to PCIbex and comes back; Ibex's results are read with all that is odd about them.

PennController cannot be had here: main.js runs against a stand-in for it (fixtures/pcibex/standin.js), and a robot writes
results to its documentation and to the published code of both its layouts.
"""

import csv
import json
import logging
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.platforms.list_slots import ListSlot, enumerate_slots
from gardenpath.experiment.platforms.outline import Outline
from gardenpath.experiment.platforms.pcibex import export as pcibex
from gardenpath.experiment.platforms.pcibex import results
from gardenpath.experiment.platforms.platform_import import ImportedSession, Record, read_mapping
from gardenpath.experiment.platforms.sources import Source

from .scripted import (
    EXAMPLES,
    LED,
    RATED,
    ROOT,
    STUDIES,
    answers_in,
    asks,
    bare,
    changed,
    expected,
    files_of,
    is_late,
    led,
    odd,
    rt,
    said,
    since,
    trials_of,
    typed,
    words_in,
)

FIXTURES = Path(__file__).parent / "fixtures" / "pcibex"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
ONLINE = study.config.OnlineSection("CODE", completion_url="https://app.prolific.com/submissions/complete?cc=CODE")


def exported(folder: Path, out: Path, orders: int = 2, change: Any = None) -> list[ListSlot]:
    files = files_of(folder) if change is None else changed(files_of(folder), change)
    found = enumerate_slots(files, orders)
    pcibex.write(files, found, out, ONLINE)
    return found


def program(out: Path, counter: int, address: str = "PROLIFIC_PID=p1") -> dict[str, Any]:
    """Run main.js against the stand-in and return what it says is shown."""
    call = [str(NODE), str(FIXTURES / "standin.js"), str(out), str(counter), address]
    run = subprocess.run(call, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    told: dict[str, Any] = json.loads(run.stdout)
    return told


def flat(parts: Any) -> list[dict[str, Any]]:
    """Return commands that stand in lists of lists."""
    return [one for part in parts for one in flat(part)] if isinstance(parts, list) else [parts]


def logs(command: dict[str, Any]) -> bool:
    return any(name == "log" for name, *_ in command["calls"])


class Penn:
    """Writes results as PennController's documentation says, of a participant who does what the script says."""

    def __init__(self, place: ListSlot, told: dict[str, Any], *, newer: bool, late_presses: bool = False) -> None:
        self.place, self.told, self.newer, self.late_presses = place, told, newer, late_presses
        self.outline = Outline.from_files([place.file])
        self.now = 1_700_000_000_000.0
        self.columns: list[str] = []

    def text(self, received: int = 1_700_000_600, address: str = "0123456789abcdef") -> str:
        head = [
            "#",
            "# Results on Tuesday November 14 2023 22:23:20 UTC",
            "# USER AGENT: Mozilla/5.0 (Windows NT 10.0) Firefox/119.0",
        ]
        lines = [*head, "# Design number was non-random = 0", "#", "# Columns below this comment are as follows:"]
        for number, trial in enumerate(self.told["trials"]):
            before = [("Results reception time", received), ("MD5 hash of participant's IP address", address)]
            before += [("Controller name", "PennController"), ("Order number of item", number), ("Inner element number", 0)]
            before += [("Label", trial["label"]), ("Latin Square Group", "NULL")]
            for event in self._events(trial):
                lines += self._row([*before, *event])
        return "\n".join(lines) + "\n"

    def _row(self, cells: list[tuple[str, Any]]) -> Iterator[str]:
        names = [name for name, _ in cells]
        same = next(
            (n for n, (a, b) in enumerate(zip(names, self.columns, strict=False)) if a != b), min(len(names), len(self.columns))
        )
        if len(names) != len(self.columns) or same < len(names):
            yield from (f"# {n + 1}. {name}." for n, name in enumerate(names) if n >= same)
            self.columns = names
        yield ",".join(str(value).replace(",", "%2C").replace("\n", "%0A") for _, value in cells)

    def _events(self, trial: dict[str, Any]) -> list[list[tuple[str, Any]]]:
        shown = [self._event("_Trial_" if not self.newer else "trial", trial["label"], "Start")]
        position = dict(trial["log"]).get("trial")
        if position is None:
            shown += [self._event(c["name"], "Html", "age", "31") for c in trial["commands"] if c["element"] == "Html" and logs(c)]
            self.now += 3000
        else:
            shown += self._trial(int(position), trial["commands"])
        self.now += 3
        shown.append(self._event("_Trial_" if not self.newer else "trial", trial["label"], "End"))
        return [self._logged(event, trial["log"]) for event in shown]

    def _trial(self, position: int, commands: list[dict[str, Any]]) -> Iterator[list[tuple[str, Any]]]:
        """Yield the events of a trial: what is shown after some answers alone is shown where these were given."""
        placed = next(placed for placed in trials_of(self.place) if placed.position == position)
        screens = dict(self.outline.name_screens(placed.step))
        self.chosen: dict[str, str] = {}
        typed_in: list[list[tuple[str, Any]]] = []
        nth, waiting = 0, list(commands)
        while waiting:
            command = waiting.pop(0)
            name, calls = command["name"], {call[0]: call[1:] for call in command["calls"]}
            if command["how"] == "get" and any(call.startswith("test.") for call in calls):
                waiting = [*flat(calls.get("success" if self._holds(command) else "failure", [])), *waiting]
            if command["how"] == "get" or not logs(command):
                continue
            screen, element = screens.get(name.removeprefix("done_").removeprefix("read_")), command["element"]
            if element == "Controller":
                yield from self._sentence(position, command)
            elif element == "Key":
                self.now += since(position, nth) if not name.startswith("read_page") else 700
                nth += not name.startswith("read_page")
                yield self._event(name, "Key", "Press" if self.newer else "PressedKey", " ")
            elif element == "Timer":
                yield self._event(name, "Timer", "Start", "Start")
            elif element == "Scale":
                if "slider" in calls:
                    self.now += 200
                elif is_late(position, screen):
                    self.now += screen.deadline + 4
                    yield self._event(f"time_{name}", "Timer", "End", "End")
                    nth += 1
                    if not self.late_presses:
                        continue
                    self.now += 30
                else:
                    self.now += since(position, nth)
                    nth += 1
                self.chosen[name] = self._label(position, screen)
                yield self._event(name, "Scale", "Select" if self.newer else "Choice", self.chosen[name])
            elif element == "TextInput":
                typed_in.append(self._event(name, "TextInput", "Final", said(position, screen)))
            elif element == "Button":
                self.now += since(position, nth) - (200 if name.removeprefix("done_") in self.chosen else 0)
                nth += 1
                yield self._event(name, "Button", "Click" if self.newer else "PressedButton", "Click")
        yield from typed_in

    def _holds(self, command: dict[str, Any]) -> bool:
        """Whether a test of a Scale holds, with what is joined to it."""
        there = self.chosen.get(command["name"])
        calls = {call[0]: call[1:] for call in command["calls"]}
        labels = calls["test.selected"]
        return (there in labels if labels else there is not None) or any(self._holds(one) for one in calls.get("or", []))

    def _label(self, position: int, screen: Any) -> str:
        value = said(position, screen)
        if screen.kind == "slider":
            return str(value - screen.least + self.newer)  # sliders begin at 1 in the newer releases
        nth = [one.value for one in screen.answers].index(value)
        return str(nth + 1) if "pair" in screen.arrangement else str(screen.answers[nth].label)

    def _sentence(self, position: int, command: dict[str, Any]) -> list[list[tuple[str, Any]]]:
        words = command["args"][1]["s"]
        self.now += 300 + sum(rt(position, n) for n in range(len(words)))
        lines = []
        for n, word in enumerate(words):
            # Ibex escapes commas and line breaks, and not percent signs.
            line = [("Word number", n + 1), ("Word", word), ("Reading time", rt(position, n)), ("Newline?", "false")]
            line.append(("Sentence (or sentence MD5)", " ".join(words)))
            if self.newer:
                event = self._event(
                    command["name"],
                    "Controller",
                    "DashedSentence",
                    "See extra columns",
                    "5 extra columns added for this controller",
                )
                lines.append([*event, *line])
            else:
                event = self._event(
                    command["name"],
                    "Controller-DashedSentence",
                    n + 1,
                    word,
                    "Any addtional parameters were appended as additional columns",
                )
                lines.append([*event[:-1], *line[2:], event[-1]])
        return lines

    def _event(self, name: str, kind: str, parameter: object, value: object = "", comment: str = "NULL") -> list[tuple[str, Any]]:
        if name in ("_Trial_", "trial"):
            newer = [
                ("PennElementName", kind),
                ("PennElementType", "__Trial__"),
                ("Parameter", "__Event__"),
                ("Value", f"__{parameter}__"),
            ]
            older = [("PennElementType", "PennController"), ("PennElementName", 1), ("Parameter", "_Trial_"), ("Value", parameter)]
            return [*(newer if self.newer else older), ("EventTime", int(self.now)), ("Comments", comment)]
        both = [("PennElementType", kind), ("PennElementName", name)]
        return [
            *(both[::-1] if self.newer else both),
            ("Parameter", parameter),
            ("Value", value),
            ("EventTime", int(self.now)),
            ("Comments", comment),
        ]

    def _logged(self, event: list[tuple[str, Any]], log: list[list[Any]]) -> list[tuple[str, Any]]:
        time = next(n for n, (name, _) in enumerate(event) if name == "EventTime")
        extra = [(name, value) for name, value in log]
        return [*event[: time + 1], *extra, *event[time + 1 :]]


def read(text: str, tmp_path: Path, mapping: str = "") -> list[ImportedSession]:
    if mapping:
        (tmp_path / "map.toml").write_text(mapping, "utf-8")
    stated = read_mapping(tmp_path / "map.toml") if mapping else None
    return results.read(Source("results.csv", text.encode()), stated)


@needs_node
@pytest.mark.parametrize("newer", [False, True], ids=["2021 layout", "2024 layout"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_comes_back_as_the_script_was(name: str, newer: bool, tmp_path: Path) -> None:
    for counter, place in list(enumerate(exported(ROOT / "examples" / name, tmp_path)))[3::4]:
        robot = Penn(place, program(tmp_path, counter), newer=newer)
        (session,) = read(robot.text(), tmp_path)
        assert [bare(t) for t in session.trials] == expected(place, stacked=True)
        assert (session.list_name, session.list_sha256, session.slot) == (place.file.name, place.file.sha256, place.number)
        assert (session.participant, session.complete, session.device) == ("p1", True, "Firefox on Windows")
        assert session.finished == "2023-11-14T22:23:20.000+00:00"


@needs_node
@pytest.mark.parametrize("newer", [False, True], ids=["2021 layout", "2024 layout"])
@pytest.mark.parametrize("stated", STUDIES.values(), ids=STUDIES)
def test_every_presentation_and_task_comes_back(stated: dict[str, str], newer: bool, tmp_path: Path) -> None:
    found = exported(odd(tmp_path / "study", **stated), tmp_path)
    text = Penn(found[1], program(tmp_path, 1), newer=newer).text()
    (session,) = read(text, tmp_path)
    assert [bare(t) for t in session.trials] == expected(found[1], stacked=True)
    (tmp_path / "results.csv").write_text(text, "utf-8")
    tables = experiment.collect(tmp_path / "results.csv", platform="pcibex", materials=tmp_path / "study/study.toml", keep_ids=True)
    assert len(tables["responses"]) == sum(len(answers_in(t)) for t in expected(found[1]))
    assert len(tables["readings"]) == sum(len(words_in(t)) for t in expected(found[1]))


@needs_node
def test_main_js_is_javascript_that_shows_each_place_in_its_order(tmp_path: Path) -> None:
    found = exported(ROOT / "examples" / "relative-clauses", tmp_path, 3)
    assert len(found) == 12
    subprocess.run([str(NODE), "--check", str(tmp_path / "data_includes" / "main.js")], check=True)
    for counter in (0, 5, 11, 12):
        told = program(tmp_path, counter, "")
        trials = [dict(trial["log"]) for trial in told["trials"] if trial["label"] == "trial" and trial["log"]]
        place = found[counter % 12]
        assert [(t["item"], t["condition"], t["slot"]) for t in trials] == [
            (t.item.id, t.condition, str(place.number)) for t in (place.file.trial_list.trials[n] for n in place.order)
        ]
        assert {t["participant"] for t in trials} == {""}
    assert told["sequence"] == ["counter", "consent", "instructions", "trial", "SendResults", "ending"]
    assert told["counter"] == ["counter", "inc", 1]


@needs_node
def test_questions_about_the_participant_are_asked_and_come_back(tmp_path: Path) -> None:
    asked = '[[procedure.demographics]]\nname = "age"\nlabel = "Age < 99?"\nkind = "number"\nrequired = true\n'
    asked += '[[procedure.demographics]]\nname = "hand"\nlabel = "Hand?"\nkind = "choice"\nchoices = ["left", "right"]\n'
    found = exported(odd(tmp_path / "study", RATED + asked), tmp_path)
    told = program(tmp_path, 0)
    assert "about" in told["sequence"]
    form = (tmp_path / "chunk_includes" / "about.html").read_text("utf-8")
    assert 'name="age" class="obligatory" inputmode="numeric"' in form
    assert "Age &lt; 99?" in form
    assert 'type="radio" name="hand" value="left"' in form
    (session,) = read(Penn(found[0], told, newer=False).text(), tmp_path)
    assert session.demographics == {"age": "31"}


def test_what_pcibex_cannot_do_is_said(tmp_path: Path) -> None:
    def lost(procedure: str, design: str = "") -> str:
        return " ".join(pcibex.list_losses(files_of(odd(tmp_path / "study", procedure, design))))

    assert "no cumulative reading" in lost(asks("good", show="cumulative", good=""))
    assert "no cumulative reading" not in lost(RATED)
    assert "slider starts in the middle" in lost(asks("good", good='scale = "slider"'))
    assert "row of digits" in lost(RATED)
    assert "row of digits" not in lost(asks("good", good='scale = "yes_no"'))
    assert "one below the other" in lost(**STUDIES["pairs with the task"])
    assert "held" in lost(RATED)
    assert "held" not in lost(asks("good", show="whole", good=""))
    assert "kept by a timer" in lost(**STUDIES["speeded"])
    assert "The device is not checked" in lost(RATED)
    unchecked = [
        replace(file, script=replace(file.script, front=file.script.front[1:])) for file in files_of(odd(tmp_path / "study"))
    ]
    assert "The device is not checked" not in " ".join(pcibex.list_losses(unchecked))


def test_reading_from_right_to_left_is_lost(tmp_path: Path) -> None:
    folder = odd(tmp_path / "study", language="he")
    assert "from right to left is not supported" in " ".join(pcibex.list_losses(files_of(folder)))


@needs_node
@pytest.mark.parametrize("newer", [False, True], ids=["2021 layout", "2024 layout"])
def test_typed_answers_and_what_is_asked_after_wrong_answers_alone_come_back(newer: bool, tmp_path: Path) -> None:
    (place, *_) = exported(odd(tmp_path / "study"), tmp_path, change=typed)
    (session,) = read(Penn(place, program(tmp_path, 0), newer=newer).text(), tmp_path)
    assert [bare(t) for t in session.trials] == expected(place)
    asked = [record.name for trial in session.trials for record in trial.records]
    assert asked.count("then") == len(trials_of(place)) > asked.count("why") > 0


@needs_node
@pytest.mark.parametrize(("outcomes", "judged"), LED)
def test_a_screen_is_shown_after_those_ends_of_another_that_it_names(
    outcomes: tuple[str, ...], judged: bool, tmp_path: Path
) -> None:
    folder = odd(tmp_path / "study", **STUDIES["speeded"])
    (place, *_) = exported(folder, tmp_path, change=led(outcomes, judged=judged))
    (session,) = read(Penn(place, program(tmp_path, 0), newer=True).text(), tmp_path)
    assert [bare(t) for t in session.trials] == expected(place)


@needs_node
def test_an_answer_after_the_deadline_counts_as_none(tmp_path: Path) -> None:
    place = exported(odd(tmp_path / "study", **STUDIES["speeded"]), tmp_path)[0]
    (session,) = read(Penn(place, program(tmp_path, 0), newer=True, late_presses=True).text(), tmp_path)
    ends = [[(r.answer is None, r.outcome) for r in t.records if r.name == "good"] for t in session.trials]
    ends_expected = [[(r.answer is None, r.outcome) for r in t.records if r.name == "good"] for t in expected(place)]
    assert ends == ends_expected
    assert [(True, "timeout")] in ends


@needs_node
def test_answers_stand_as_the_language_runs(tmp_path: Path) -> None:
    """The first answer stands on the right in Hebrew: F is the key of the one on the left."""
    place = exported(odd(tmp_path / "study", asks("good", show="whole", good='scale = "yes_no"'), language="he"), tmp_path)[0]
    told = program(tmp_path, 0)
    scale = next(c for t in told["trials"] if t["log"] for c in t["commands"] if c["element"] == "Scale" and c["how"] == "new")
    assert scale["args"] == ["very bad", "very good"]
    assert ["keys", "F", "J"] in scale["calls"]
    (session,) = read(Penn(place, told, newer=False).text(), tmp_path)
    assert [bare(t) for t in session.trials] == expected(place)


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text("utf-8")


def test_columns_change_in_mid_file_and_rows_come_in_groups(tmp_path: Path) -> None:
    first, second = read(fixture("ibex.txt"), tmp_path)
    assert [(t.position, t.item, t.condition, t.role) for t in first.trials] == [
        (0, "practice-4", "practice", "practice"),
        (1, "7", "cond_a", None),
        (2, "8", "cond_b", None),
        (3, "filler-9", "filler", "filler"),
    ]
    assert [(w.text, w.rt) for w in words_in(first.trials[1])] == [("Yes,", 301.5), ("she", 255), ("100%", 280), ("slept.", 420.25)]
    assert answers_in(first.trials[1]) == (Record("question", "question", "right", "Yes, she did", rt=900),)
    assert answers_in(first.trials[2]) == (Record("rating", "acceptability", "answered", "6", rt=1411),)
    assert answers_in(first.trials[3]) == (Record("question", "judgment", "wrong", "odd", rt=700.0),)
    assert first.demographics == {"age": "24", "home": "Ankara, TR"}
    assert answers_in(second.trials[0]) == (Record("rating", "acceptability", "answered", "2", rt=1500),)


def test_sessions_are_told_apart_by_time_and_hash_and_a_hash_is_no_person(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "gardenpath"):
        sessions = read(fixture("ibex.txt"), tmp_path)
    assert len({s.participant for s in sessions}) == len({s.id for s in sessions}) == 2
    assert "2 of 2 sessions do not say who took part (1 different hashes" in caplog.text
    same_second = fixture("ibex.txt").replace("10:26:38", "10:20:06").replace("1545819999", "1545819607")
    assert [s.id for s in read(same_second, tmp_path)] == ["2018-12-26 10:20:06", "2018-12-26 10:20:06-2"]


def test_raw_results_say_the_same_as_results(tmp_path: Path) -> None:
    from_raw, from_text = read(fixture("ibex_raw.txt"), tmp_path), read(fixture("ibex.txt"), tmp_path)
    assert [[bare(t) for t in s.trials] for s in from_raw] == [[bare(t) for t in s.trials] for s in from_text]
    assert [s.demographics for s in from_raw] == [s.demographics for s in from_text]


@pytest.mark.parametrize("layout", ["penn_2021.txt", "penn_2024.txt"])
def test_both_layouts_of_penncontroller_are_read_with_logged_columns_that_a_mapping_names(layout: str, tmp_path: Path) -> None:
    mapping = '[columns]\nparticipant = "ID"\nitem = "ItemNo"\ncondition = "Cond"\n'
    mapping += '[[responses]]\ntask = "rating"\nprompt = "naturalness"\nwhere = { PennElementName = "nat" }\ncolumns = { response = "Value" }\n'
    (session,) = read(fixture(layout), tmp_path, mapping)
    (trial,) = session.trials
    assert (session.participant, trial.item, trial.condition) == ("anna", "12", "b")
    assert [(w.text, w.rt) for w in words_in(trial)] == [("A", 134), ("menina", 98.7), ("comeu,", 150)]
    assert Record("rating", "naturalness", "answered", "5") in trial.records
    assert session.demographics == {"age": "31, turning 32"}


def test_without_a_mapping_the_label_is_the_condition_and_ratings_have_no_time(tmp_path: Path) -> None:
    (session,) = read(fixture("penn_2021.txt"), tmp_path)
    (trial,) = session.trials
    assert (trial.item, trial.condition) == ("experiment-3", "experiment")
    assert answers_in(trial) == ()


# What PennController's Html element and its Form controller write of boxes without a name, boxes left empty, and two alike.
FIELDS = """
1620228872,3133aa,PennController,0,0,intro,NULL,Html,about,undefined,left,1620228868991,text input
1620228872,3133aa,PennController,0,0,intro,NULL,Html,about,home,,1620228868991,text input
1620228872,3133aa,PennController,0,0,intro,NULL,Html,about,speaks,checked,1620228868991,checkbox
1620228872,3133aa,PennController,0,0,intro,NULL,Html,about,speaks,unchecked,1620228868991,checkbox
1620228872,3133aa,PennController,0,0,intro,NULL,Controller-Form,form,language,Farsi,1620228868991,NULL
1620228872,3133aa,PennController,0,0,intro,NULL,Controller-Form,form,_REACTION_TIME_,4200,1620228868991,NULL
1620228872,3133aa,PennController,0,0,intro,NULL,TextInput,inputID,Final,5f1e0c2ab3d4e5f607182930,1620228868991,NULL
"""


def with_fields(layout: str) -> str:
    age, lines = ("TextInput,age", FIELDS) if layout == "penn_2021.txt" else ("age,TextInput", "")
    for line in FIELDS.split("\n") if not lines else ():
        cells = line.split(",")
        lines += ",".join([*cells[:7], *cells[7:9][::-1], *cells[9:]]) + "\n"
    line = next(line for line in fixture(layout).split("\n") if age in line)
    return fixture(layout).replace(line, line.replace("31%2C turning 32", "") + lines.rstrip())


@pytest.mark.parametrize("layout", ["penn_2021.txt", "penn_2024.txt"])
def test_fields_without_a_name_or_an_answer_and_fields_alike_are_kept_apart(layout: str, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(with_fields(layout), "utf-8")
    tables = experiment.collect(tmp_path / "results.csv", platform="pcibex")
    about = dict(tables["demographics"][["question", "response"]].itertuples(index=False))
    hashed = about.pop("inputID")
    assert about == {"about": "left", "speaks": "checked", "speaks 2": "unchecked", "language": "Farsi"}
    assert len(hashed) == 16
    assert not any("5f1e0c2a" in frame.to_csv() for frame in tables.values())


def test_the_participants_id_may_be_a_field_of_a_form(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = with_fields("penn_2021.txt")
    (session,) = read(text, tmp_path, '[columns]\nparticipant = "inputID"\n')
    assert (session.participant, "inputID" in session.demographics) == ("5f1e0c2ab3d4e5f607182930", False)
    (session,) = read(text.replace("inputID", "PROLIFIC_PID"), tmp_path)
    assert session.participant == "5f1e0c2ab3d4e5f607182930"
    assert not caplog.text
    (session,) = read(text, tmp_path)
    assert session.participant == "1620228872 3133aa"


def test_an_answer_that_is_left_empty_has_no_row_and_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rule = '[columns]\nitem = "ItemNo"\n[[responses]]\nwhere = { PennElementName = "nat" }\ncolumns = { response = "Value" }\n'
    text = fixture("penn_2021.txt").replace("Choice,5", "Choice,")
    assert answers_in(read(text, tmp_path, rule)[0].trials[0]) == ()
    assert "nat has no answer; left out" in caplog.text


def test_a_form_in_a_trial_is_answered_there(tmp_path: Path) -> None:
    line = next(line for line in fixture("penn_2021.txt").split("\n") if "Scale,nat" in line)
    text = fixture("penn_2021.txt").replace(line, line.replace("Scale,nat,Choice,5", "Html,why,reason,odd"))
    (session,) = read(text, tmp_path, '[columns]\nitem = "ItemNo"\n')
    assert answers_in(session.trials[0]) == (Record("question", "reason", "answered", "odd"),)
    assert session.demographics == {"age": "31, turning 32"}


FAULTS = {
    "empty": (lambda t: "", "contains no results"),
    "another platform": (lambda t: "participant,item,rt\n1,2,3\n", "a row before any comment that names its columns"),
    "a row too short": (
        lambda t: t.replace("cond_a,7,2,she,255,0,Yes%2C she 100% slept.", "cond_a,7,2,she"),
        r"line \d+: 9 cells; expected 12",
    ),
    "a spreadsheet's semicolons": (
        lambda t: "\n".join(";".join(next(csv.reader([line]), [])) for line in t.split("\n")),
        r"line \d+: the columns are separated by semicolons, expected commas: a spreadsheet program has saved the file",
    ),
    "a spreadsheet's times": (lambda t: t.replace("1545819607", "1.55E+09"), r"reception time is '1.55E\+09'"),
}


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS)
def test_a_damaged_file_is_refused_with_its_line(case: Any, tmp_path: Path) -> None:
    damage, said = case
    with pytest.raises(study.DataError, match=said):
        read(damage(fixture("ibex.txt")), tmp_path)


def test_every_fault_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(study.DataError) as raised:
        read(fixture("ibex.txt").replace(",Yes%2C she 100% slept.", ""), tmp_path)
    assert len(raised.value.faults) == 4


def test_a_spreadsheets_commas_after_comments_and_rows_do_no_harm(tmp_path: Path) -> None:
    padded = "\n".join(line + "," * 5 for line in fixture("ibex.txt").split("\n"))
    assert [s.trials for s in read(padded, tmp_path)] == [s.trials for s in read(fixture("ibex.txt"), tmp_path)]


def test_a_file_that_is_cut_off_loses_its_last_row_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = fixture("ibex.txt")
    first, second = read(whole[: whole.rindex(",1500") - 12], tmp_path)
    assert (first.complete, second.complete) == (None, False)
    assert "the row is cut off; left out" in caplog.text


def test_raw_results_that_are_cut_off_lose_their_last_submission(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = fixture("ibex_raw.txt")
    (session,) = read(whole[:-30], tmp_path)
    assert session.trials == read(whole, tmp_path)[0].trials
    assert "the submission is cut off; left out" in caplog.text
    broken = whole.replace('[false,0,["Controller name"', '[false,0,["Controller name', 1)
    with pytest.raises(study.DataError, match=r"line 6: not a submission in JSON"):
        read(broken, tmp_path)


def test_a_session_without_a_trial_is_not_complete(tmp_path: Path) -> None:
    kinds = ("DashedSentence", "FlashSentence", "Question", "AcceptabilityJudgment")
    parts = [f'[[exclude_rows]]\nwhere = {{ "Controller name" = "{kind}" }}\nreason = "an older version"\n' for kind in kinds]
    sessions = read(fixture("ibex.txt"), tmp_path, "".join(parts))
    assert [(len(s.trials), s.complete) for s in sessions] == [(0, False)] * len(sessions)
    assert all(s.trials and s.complete is None for s in read(fixture("ibex.txt"), tmp_path))


@needs_node
def test_a_session_that_was_not_finished_is_not_complete(tmp_path: Path) -> None:
    found = exported(ROOT / "examples" / "minimal-pairs", tmp_path, 1)
    told = program(tmp_path, 0)
    told["trials"] = told["trials"][:21]  # consent, instructions, and the page that ends practice
    (session,) = read(Penn(found[0], told, newer=True).text(), tmp_path)
    assert not session.complete
    assert len(session.trials) == 18


@needs_node
def test_lists_mixed_within_a_session_are_refused(tmp_path: Path) -> None:
    found = exported(ROOT / "examples" / "minimal-pairs", tmp_path, 1)
    told = program(tmp_path, 0)
    told["trials"][-2]["log"][2][1] = "0" * 64
    with pytest.raises(study.DataError, match="one session has 2 lists of the study"):
        read(Penn(found[0], told, newer=True).text(), tmp_path)


@needs_node
def test_an_export_is_collected_to_the_tables_of_the_study(tmp_path: Path) -> None:
    """From study.toml to tables by the two functions that the commands call, with regions and right answers from the items."""
    stated = study.load(ROOT / "examples" / "relative-clauses")
    experiment.export(stated, "pcibex", tmp_path / "out", 2)
    found = enumerate_slots(experiment.build_list_files(stated), 2)
    lines = [
        Penn(found[n], program(tmp_path / "out", n, f"participant=p{n}"), newer=True).text(1_700_000_600 + n) for n in range(8)
    ]
    (tmp_path / "results.csv").write_text("".join(lines), "utf-8")
    tables = experiment.collect(tmp_path / "results.csv", platform="pcibex", materials=tmp_path / "out" / "lists", keep_ids=True)
    assert len(tables["sessions"]) == 8
    assert tables["sessions"]["complete"].all()
    assert len(tables["readings"]) == sum(len(words_in(t)) for place in found for t in expected(place))
    assert len(tables["responses"]) == sum(len(answers_in(t)) for place in found for t in expected(place))
    asked = tables["responses"][tables["responses"]["task"] == "question"]
    right = {
        (i.id, c): a
        for f in experiment.build_list_files(stated)
        for t in f.trial_list.trials
        for i, c, a in [(t.item, t.condition, t.get_answer())]
    }
    assert [bool(row.correct) for row in asked.itertuples()] == [
        row.response == right[row.item, row.condition] for row in asked.itertuples()
    ]


def test_what_is_recognised(tmp_path: Path) -> None:
    for name in ("ibex.txt", "ibex_raw.txt", "penn_2021.txt", "penn_2024.txt"):
        assert results.recognises(Source.from_path(FIXTURES / name)), name
    for other in ('"item","rt"\n', '[{"trial_type": 1}]', "", "# a comment\na,b\n"):
        assert not results.recognises(Source("x", other.encode()))


@pytest.mark.data
@pytest.mark.parametrize("name", ["results", "raw_results"])
def test_the_turkish_results_are_read_with_their_counts(name: str, real_data: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Counted apart from this with awk: 118 headings, 107 hashes, 10502 rows of 11 cells, 137 of them without an answer (NULL)."""
    with caplog.at_level(logging.INFO, "gardenpath"):
        sessions = results.read(Source.from_path(real_data / "ibex-tr-short" / name), None)
    assert len(sessions) == len({s.id for s in sessions}) == 118
    assert sum(len(s.trials) for s in sessions) == 10502
    assert sum(len(t.records) for s in sessions for t in s.trials) == 10365
    assert "(137 times)" in caplog.text
    assert {t.condition for s in sessions for t in s.trials} == {"practice", "filler", *(f"condition_{x}" for x in "abcd")}
    if name == "results":
        assert "118 of 118 sessions do not say who took part (107 different hashes" in caplog.text
