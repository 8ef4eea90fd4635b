"""The lab without a window: steps, tasks, keys and events, the journal on disk, and the places of a lab machine."""

import json
import logging
import multiprocessing
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.cli import lab
from gardenpath.experiment import sessions
from gardenpath.experiment.lab import layout, places, sittings, writing
from gardenpath.experiment.lab.displays import Blank, Lines, Page, Slider, Task, Whole, Word, answers
from gardenpath.experiment.lab.forms import digits, field_fault
from gardenpath.experiment.lab.journal import Journal
from gardenpath.experiment.lab.steps import steps
from gardenpath.experiment.lab.texts import lab_texts
from gardenpath.experiment.procedures import languages, standard_texts

from .lab_screens import Reader
from .pages import DESIGN, ITEMS, RATING, stated

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
VISIT = {"time_origin": 1.7e12, "device": "a test", "refresh_hz": 60.0}


def made(folder: Path, text: str, items: str = ITEMS) -> list[experiment.VersionFile]:
    (folder / "items.csv").write_text(items)
    (folder / "study.toml").write_text(text)
    return experiment.version_files(study.load(folder / "study.toml"))


class Machine(Reader):
    """A reader at a machine that says what it is."""

    def visit(self) -> dict[str, Any]:
        return VISIT

    def close(self) -> None:
        pass


def take(
    folder: Path, files: list[experiment.VersionFile], reader: Machine, participant: str = "P01"
) -> sittings.Outcome:
    """Begin a session, or go on with one."""
    place = sittings.unfinished(folder, participant)
    if place is None:
        return sittings.begin(folder, files, participant, lambda payload: reader)
    return sittings.go_on(folder, place, lambda payload: reader)


def events(folder: Path, session: str) -> list[sessions.Event]:
    lines = (folder / session / "events.jsonl").read_text().splitlines()
    return sessions.check_events([json.loads(line) for line in lines])


def nth(reader: Machine, kind: type[Any], n: int = 0) -> int:
    """The number of the n-th display of a kind."""
    return [k for k, one in enumerate(reader.displays) if isinstance(one, kind)][n]


# ------------------------------------------------------------------------------------------------- a session


def test_a_session_gives_the_events_of_the_schema_and_the_same_tables_as_a_robot(tmp_path: Path) -> None:
    files = made(tmp_path, stated())
    reader = Machine()
    outcome = take(tmp_path / "data", files, reader)
    assert outcome.how == "finished"
    ours = events(tmp_path / "data", outcome.session.id)
    assert [event.seq for event in ours] == list(range(len(ours)))
    assert [event.kind for event in ours[:2]] == ["visit", "consent"]
    given = sessions.payload(outcome.session, files[0], token="", visit=0, next_seq=0, done=())
    theirs = list(experiment.robot(files, seed=1).events(given, "r"))
    alike = [event for event in ours if event.value.get("page") != "practice_over"]  # a page that robots do not read
    assert [(e.kind, e.trial) for e in alike] == [(e["kind"], e["trial"]) for e in theirs]
    for mine, its in zip(alike, theirs, strict=True):
        if mine.kind in ("word", "start"):
            assert set(mine.value) >= {"request", "frame", "frame2", "handler"}
            assert mine.value.get("word") == its["value"].get("word")
    tables = experiment.collect(tmp_path / "data")
    assert tables["sessions"]["complete"].tolist() == [True]
    assert tables["sessions"]["source"].tolist() == ["lab"]
    assert tables["sessions"]["participant"].tolist() == ["P01"]
    assert tables["responses"]["response"].tolist() == ["5"] * 4
    assert reader.words() == tables["readings"]["text"].tolist()
    assert tables["readings"]["rt_onset"].round(3).eq(250).all(), "a press 200 ms after the release of the one before"


def test_a_reading_time_goes_from_press_to_press_and_its_onset_from_the_frame(tmp_path: Path) -> None:
    outcome = take(tmp_path / "data", made(tmp_path, stated()), reader := Machine(pace=300))
    words = [e for e in events(tmp_path / "data", outcome.session.id) if e.kind in ("start", "word")]
    for before, after in pairwise(words):
        if after.kind == "word":
            assert after.value["request"] >= before.t
            assert after.value["frame"] - after.value["request"] <= 1000 / 60 + 1e-3
            assert after.value["released"] is not None
            assert before.t < after.value["released"] < after.t
    assert len(words) == sum(isinstance(one, Word) for one in reader.displays)


MISDEEDS: dict[str, tuple[Callable[[Machine], None], list[str]]] = {
    "another key": (lambda r: r.press("KeyX", after=20), ["other"]),
    "before the frame": (lambda r: r.press("Space", after=-60, held=5), ["early"]),
    "Control and space": (lambda r: (r.down("ControlLeft", after=20), r.press("Space", after=5), r.up("ControlLeft")), ["other", "modifier"]),
    "Shift and space": (lambda r: (r.down("ShiftLeft", after=20), r.press("Space", after=5), r.up("ShiftLeft")), ["other", "modifier"]),
    "a repeat of the device": (lambda r: (r.down("KeyX", after=20), r.down("KeyX", after=20), r.up("KeyX")), ["other"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MISDEEDS)
def test_a_key_that_does_not_count_is_recorded_and_ends_no_word(tmp_path: Path, name: str) -> None:
    files = made(tmp_path, stated())
    take(tmp_path / "plain", files, plain := Machine())
    misdeed, reasons = MISDEEDS[name]
    outcome = take(tmp_path / "data", files, reader := Machine(misdeeds={nth(plain, Word, 2): misdeed}))
    recorded = events(tmp_path / "data", outcome.session.id)
    assert [event.value["reason"] for event in recorded if event.kind == "press"] == reasons
    assert reader.words() == plain.words(), "every word was shown, once"
    flags = experiment.collect(tmp_path / "data")["readings"]["flags"].str.split().explode().dropna()
    assert set(flags) == set(reasons)


def test_a_key_held_through_the_sentence_ends_one_word(tmp_path: Path) -> None:
    files = made(tmp_path, stated())
    take(tmp_path / "plain", files, plain := Machine())
    at = nth(plain, Word, 2)

    def hold(reader: Machine) -> None:
        reader.down("Space")  # ends this word and is not let go; the device reports it once
        reader.down("Space", after=400)
        reader.down("Space", after=30)
        reader.up("Space", after=500)

    outcome = take(tmp_path / "data", files, reader := Machine(misdeeds={at: hold}))
    assert reader.words() == plain.words()
    words = [e for e in events(tmp_path / "data", outcome.session.id) if e.kind == "word"]
    assert words[2].t - words[1].t > 900, "the next word waited until the key was let go and pressed again"


def test_a_press_that_ends_a_sentence_does_not_rate_it(tmp_path: Path) -> None:
    text = stated(rating=RATING.replace('low = "very bad"', 'kind = "slider"\nlow = "very bad"'))
    outcome = take(tmp_path / "data", made(tmp_path, text), Machine())
    rated = [e for e in events(tmp_path / "data", outcome.session.id) if e.kind == "response"]
    assert [e.value["response"] for e in rated] == [51] * 4, "the slider was moved before it was left"


def test_a_slider_moves_on_while_its_key_is_held(tmp_path: Path) -> None:
    text = stated(rating=RATING.replace('low = "very bad"', 'kind = "slider"\nlow = "very bad"'))
    files = made(tmp_path, text)
    take(tmp_path / "plain", files, plain := Machine())

    class Holder(Machine):
        def answer(self, display: Any) -> None:
            if isinstance(display, Slider):
                self.down("ArrowLeft")
            else:
                super().answer(display)

        def wait(self, patience: float | None = None) -> Any:
            if patience is not None and self.displays[-1].value == 20:  # type: ignore[union-attr]
                self.up("ArrowLeft", after=1)
                self.press("Space")
            return super().wait(patience)

    outcome = take(tmp_path / "data", files, Holder())
    rated = [e for e in events(tmp_path / "data", outcome.session.id) if e.kind == "response"]
    assert [e.value["response"] for e in rated] == [20] * 4
    assert len(plain.of(Slider)) < 10


def test_leaving_the_window_covers_the_sentence_and_flags_the_word(tmp_path: Path) -> None:
    files = made(tmp_path, stated())
    take(tmp_path / "plain", files, plain := Machine())
    outcome = take(tmp_path / "data", files, reader := Machine(misdeeds={nth(plain, Word, 3): lambda r: r.leave()}))
    recorded = events(tmp_path / "data", outcome.session.id)
    assert [e.value["reason"] for e in recorded if e.kind == "interruption"] == ["blur", "focus"]
    covers = [one for one in reader.of(Page) if one.paragraphs == (standard_texts("en")["interrupted"],)]
    assert len(covers) == 1
    readings = experiment.collect(tmp_path / "data")["readings"]
    assert readings.loc[readings["flags"].str.contains("interrupted"), "word"].tolist() == [2]
    assert readings["text"].tolist() == plain.words()


def test_escape_asks_first_and_who_goes_on_goes_on(tmp_path: Path) -> None:
    files = made(tmp_path, stated())
    take(tmp_path / "plain", files, plain := Machine())
    outcome = take(tmp_path / "data", files, Machine(misdeeds={nth(plain, Word, 3): lambda r: r.press("Escape")}))
    assert outcome.how == "finished"
    readings = experiment.collect(tmp_path / "data")["readings"]
    assert readings.loc[readings["flags"] == "interrupted", "word"].tolist() == [2]
    assert readings["text"].tolist() == plain.words()


def test_the_last_page_is_left_by_escape_as_well_and_nothing_follows_the_end(tmp_path: Path) -> None:
    class Leaver(Machine):
        def answer(self, display: Any) -> None:
            if isinstance(display, Page) and lab_texts("en", standard_texts("en"))["finished"] in display.paragraphs:
                self.leave()
                self.press("Escape")
            else:
                super().answer(display)

    outcome = take(tmp_path / "data", made(tmp_path, stated()), Leaver())
    assert outcome.how == "finished"
    assert events(tmp_path / "data", outcome.session.id)[-1].kind == "end"


class Stopper(Machine):
    """Says yes when asked whether to stop."""

    def answer(self, display: Any) -> None:
        asked = isinstance(display, Page) and display.paragraphs == (
            lab_texts("en", standard_texts("en"))["stop_question"],
        )
        self.press("KeyJ" if asked else "Space") if asked else super().answer(display)


def test_who_stops_by_escape_keeps_the_session_and_may_go_on(tmp_path: Path) -> None:
    files = made(tmp_path, stated())
    take(tmp_path / "plain", files, plain := Machine())
    data = tmp_path / "data"
    at = nth(plain, Word, 14)
    stopped = take(data, files, Stopper(misdeeds={at: lambda r: r.press("Escape")}))
    assert stopped.how == "stopped"
    rows = experiment.collect(data)["sessions"].iloc[0]
    assert not rows["complete"]
    assert rows["trials"] == 3
    resumed = take(data, files, Machine())
    assert resumed.session.id == stopped.session.id
    recorded = events(data, stopped.session.id)
    assert [e.seq for e in recorded] == list(range(len(recorded)))
    assert [e.visit for e in recorded if e.kind == "visit"] == [0, 1]
    assert sum(e.kind == "consent" for e in recorded) == 1, "consent is asked once"
    tables = experiment.collect(data)
    assert tables["sessions"]["complete"].tolist() == [True]
    assert tables["sessions"]["aborted"].tolist() == [1]
    again = tables["readings"].loc[tables["readings"]["flags"] == "seen_before", "trial"].unique().tolist()
    assert again == [2], "the half-read sentence was begun again"
    assert len(tables["readings"]) == len(plain.words())


def test_without_consent_nothing_is_kept_and_the_place_is_free(tmp_path: Path) -> None:
    class Refuser(Machine):
        def answer(self, display: Any) -> None:
            self.press("KeyJ") if isinstance(display, Page) and display.answers else super().answer(display)

    files = made(tmp_path, stated())
    outcome = take(tmp_path / "data", files, Refuser())
    assert outcome.how == "refused"
    assert not list((tmp_path / "data").glob("s-*"))
    assert sittings.unfinished(tmp_path / "data", "P01") is None
    assert take(tmp_path / "data", files, Machine(), "P02").session.slot == 0


@pytest.mark.parametrize("at", [0, 1])
def test_who_stops_before_there_is_consent_leaves_nothing(tmp_path: Path, at: int) -> None:
    files = made(tmp_path, stated())
    outcome = take(tmp_path / "data", files, Stopper(misdeeds={at: lambda r: r.press("Escape")}))
    assert outcome.how == "refused"
    assert not list((tmp_path / "data").glob("s-*"))
    assert take(tmp_path / "data", files, Machine(), "P02").session.slot == 0


def test_a_session_that_the_experimenter_interrupts_can_be_gone_on_with(tmp_path: Path) -> None:
    files, data = made(tmp_path, stated()), tmp_path / "data"

    def interrupt(reader: Machine) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take(data, files, Machine(misdeeds={1: interrupt}))
    assert places.of_participant(data, "P01") == [], "there was no consent yet"
    outcome = take(data, files, Machine(misdeeds={12: interrupt}))
    assert outcome.how == "interrupted"
    resumed = take(data, files, Machine())
    assert (resumed.how, resumed.session.id) == ("finished", outcome.session.id)


@pytest.mark.parametrize("label", ["P01", "a b", "it's", "$HOME"])
def test_the_command_to_go_on_is_one_that_a_shell_takes(label: str) -> None:
    said = lab.again(Path("my studies/study.toml"), label, Path("data"))
    expected = ["gardenpath", "lab", "my studies/study.toml", "--participant", label, "-o", "data", "--resume"]
    assert shlex.split(said) == expected


def test_a_window_that_cannot_be_opened_takes_no_place(tmp_path: Path) -> None:
    def broken(payload: Any) -> Any:
        raise ValueError("the window is too small")

    files = made(tmp_path, stated())
    with pytest.raises(ValueError, match="too small"):
        sittings.begin(tmp_path / "data", files, "P01", broken)
    assert places.of_participant(tmp_path / "data", "P01") == []


def test_every_task_is_answered_by_key_and_by_mouse(tmp_path: Path) -> None:
    design = DESIGN.replace('practice = ["She slept well."]', 'trial = "pair"')
    pair = stated(design, rating="", procedure="[procedure.choice]\narrangement = 'stacked'\n")
    outcome = take(tmp_path / "data", made(tmp_path, pair), Machine())
    chosen = [e.value for e in events(tmp_path / "data", outcome.session.id) if e.kind == "response"]
    assert {(value["side"], value["by"]) for value in chosen if value["task"] == "choice"} == {("upper", "key")}

    class Clicker(Machine):
        def answer(self, display: Any) -> None:
            self.click(1) if isinstance(display, Task) else super().answer(display)

    yes_no = stated(rating='[procedure.rating]\nkind = "yes_no"\nprompt = "Good?"\n')
    outcome = take(tmp_path / "other", made(tmp_path, yes_no), Clicker())
    rated = [e.value for e in events(tmp_path / "other", outcome.session.id) if e.kind == "response"]
    assert {(value["response"], value["by"]) for value in rated} == {(0, "button")}


@pytest.mark.parametrize(
    ("presentation", "kind"),
    [("moving_window", Lines), ("cumulative", Lines), ("whole", Whole), ("with_task", Task), ("centred", Word)],
)
def test_each_presentation_shows_the_sentence(tmp_path: Path, presentation: str, kind: type[Any]) -> None:
    text = stated(procedure=f'presentation = "{presentation}"\n')
    outcome = take(tmp_path / "data", made(tmp_path, text), reader := Machine())
    assert outcome.how == "finished"
    shown = reader.of(kind)
    assert shown
    if kind is Lines:
        assert {one.cumulative for one in shown} == {presentation == "cumulative"}
        words = [e.value for e in events(tmp_path / "data", outcome.session.id) if e.kind == "word"]
        assert all(value["line"] == value["word"] // 3 and value["column"] == value["word"] % 3 for value in words)
    if kind is Task:
        assert all(one.sentence for one in shown)


def test_a_practice_question_is_answered_and_the_answer_told(tmp_path: Path) -> None:
    practice = 'practice = [{ sentence = "She slept well.", question = "Who slept?", choices = ["she", "he"], answer = "he" }]\n'
    text = stated(DESIGN.replace('practice = ["She slept well."]\n', practice))
    take(tmp_path / "data", made(tmp_path, text), reader := Machine())
    told = standard_texts("en")["wrong"].replace("{answer}", "he")
    assert any(one.paragraphs == (told,) for one in reader.of(Page))


def test_the_participant_is_asked_until_the_answer_is_one(tmp_path: Path) -> None:
    fields = """
[[procedure.demographics]]
name = "age"
label = "How old are you?"
kind = "number"
low = 18
high = 99
needed = true
[[procedure.demographics]]
name = "hand"
label = "Which hand do you write with?"
kind = "choice"
choices = ["left", "right"]
"""
    files = made(tmp_path, stated(rating=RATING + fields))

    class Young(Machine):
        def show(self, display: Any) -> Any:
            painted = super().show(display)
            if isinstance(display, Blank) and display.fault:
                self.press("Backspace")
                self.press("Backspace")
                self.write("٣١")
                self.press("Enter")
            return painted

    outcome = take(tmp_path / "data", files, reader := Young(typed="12"))
    answered = next(e for e in events(tmp_path / "data", outcome.session.id) if e.kind == "demographics")
    assert answered.value == {"answers": {"age": 31, "hand": "left"}}
    faults = {one.fault for one in reader.of(Blank)}
    assert standard_texts("en")["not_a_number"].replace("{low}", "18").replace("{high}", "99") in faults


def test_digits_of_every_script_are_numbers_and_faults_are_named() -> None:
    assert digits("۲۵ 2５") == "25 25"
    field = {"needed": True, "kind": "number", "low": None, "high": None}
    texts = {"needed": "needed", "not_a_number": "{low}-{high}"}
    assert [field_fault(field, given, texts) for given in ("", "12", "1000", "x")] == ["needed", "", "0-999", "0-999"]


def test_steps_of_a_resumed_session_leave_out_what_is_done(tmp_path: Path) -> None:
    file = made(tmp_path, stated())[0]
    session = sessions.open_session(file, 0, id="s", participant="P", started="", source="lab")
    first = sessions.payload(session, file, token="", visit=0, next_seq=0, done=())
    assert [step.kind for step in steps(first)][:3] == ["device", "consent", "instructions"]
    resumed = sessions.payload(session, file, token="", visit=1, next_seq=9, done=(0, 1))
    assert [(s.kind, s.trial and s.trial["trial"]) for s in steps(resumed) if s.kind != "break"] == [
        ("trial", 2),
        ("trial", 3),
    ]
    again = sessions.payload(session, file, token="", visit=1, next_seq=9, done=())
    assert [step.kind for step in steps(again)] == [step.kind for step in steps(first)], "nothing was read yet"


# ------------------------------------------------------------------------------------------------- the journal


def test_a_process_killed_at_a_key_has_lost_nothing_that_was_recorded(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom gardenpath.experiment.lab.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for n in range(500):\n    journal.record('press', 1.0 * n, 0, {'reason': 'other', 'code': 'KeyX'})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "events.jsonl"
    killed = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert killed.returncode == -9
    journal = Journal(path)
    assert [event.seq for event in journal.left] == list(range(500))
    assert (journal.next_seq, journal.visit) == (500, 1)
    journal.close()


@pytest.mark.parametrize("cut", [1, 20])
def test_half_a_line_is_cut_off_and_said_when_going_on_and_when_collecting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, cut: int
) -> None:
    path = tmp_path / "s-1" / "events.jsonl"
    path.parent.mkdir()
    journal = Journal(path)
    for n in range(3):
        journal.record("press", float(n), 0, {"reason": "other", "code": "\u2028"})
    journal.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: -cut - 1])
    caplog.set_level(logging.WARNING, "gardenpath")
    journal = Journal(path)
    assert [event.seq for event in journal.left] == [0, 1]
    journal.record("press", 9.0, 0, {"reason": "other", "code": "KeyX"})
    journal.close()
    assert [json.loads(line)["seq"] for line in path.read_text().split("\n")[:-1]] == [0, 1, 2]
    assert "cut short" in caplog.text


def test_a_torn_session_is_collected_without_its_half_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = made(tmp_path, stated())
    outcome = take(tmp_path / "data", files, Machine())
    path = tmp_path / "data" / outcome.session.id / "events.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    caplog.set_level(logging.WARNING, "gardenpath")
    tables = experiment.collect(tmp_path / "data")
    assert "its last line was cut short by a crash" in caplog.text
    assert tables["sessions"]["complete"].tolist() == [False]
    assert len(tables["responses"]) == 4


def test_a_line_broken_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"seq": 0,\n{"seq": 1}\n')
    with pytest.raises(study.DataError, match="line 1: not an event"):
        Journal(path)


# ------------------------------------------------------------------------------------------------- places


def test_versions_stay_balanced_with_dropouts_and_slots_count_up(
    tmp_path: Path, versions: list[experiment.VersionFile]
) -> None:
    now, files = NOW, versions[:3]
    given = []
    for n in range(12):
        session = places.reserve(tmp_path, files, f"P{n:02}", now=now)
        given.append((session.version, session.slot))
        if n % 4 != 3:  # every fourth leaves and does not come back
            places.finish(tmp_path, session, now=now)
        now += timedelta(minutes=90)
    finished = [place for place in places._read(tmp_path) if place.finished]
    counts = [sum(place.version == file.name for place in finished) for file in files]
    assert counts == [3, 3, 3]
    for file in files:
        slots = [slot for version, slot in given if version == file.name]
        assert slots == list(range(len(slots))), "each place of a version has its own order"


def test_an_unfinished_session_holds_its_place_for_an_hour(
    tmp_path: Path, versions: list[experiment.VersionFile]
) -> None:
    files = versions[:2]
    first = places.reserve(tmp_path, files, "P01", now=NOW)
    second = places.reserve(tmp_path, files, "P02", now=NOW + timedelta(minutes=5))
    assert first.version != second.version
    places.finish(tmp_path, second)
    assert places.reserve(tmp_path, files, "P03", now=NOW + timedelta(minutes=50)).version == first.version
    # Now P01 and P03 hold two places of the first version, until they have run out.
    assert places.reserve(tmp_path, files, "P04", now=NOW + timedelta(minutes=200)).version == first.version


def test_two_windows_that_open_at_once_get_different_places(tmp_path: Path) -> None:
    files, folder = made(tmp_path, stated()), tmp_path / "data"
    fork = multiprocessing.get_context("fork")
    gate, given = fork.Barrier(4), fork.Queue()

    def open_windows(machine: int) -> None:
        gate.wait()
        for n in range(5):
            session = places.reserve(folder, files, f"{machine}-{n}")
            given.put(f"{session.version} {session.slot}")

    running = [fork.Process(target=open_windows, args=(n,)) for n in range(4)]
    for one in running:
        one.start()
    said = [given.get(timeout=60) for _ in range(20)]
    for one in running:
        one.join()
    assert len(set(said)) == 20, "no place is given twice"
    counts = [sum(line.startswith(f"{file.name} ") for line in said) for file in files]
    assert max(counts) - min(counts) <= 1
    assert len(places._read(folder)) == 20


def test_a_label_that_was_used_is_refused_unless_it_is_meant(
    tmp_path: Path, versions: list[experiment.VersionFile]
) -> None:
    session = places.reserve(tmp_path, versions[:3], "P01", now=NOW)
    unfinished = sittings.unfinished(tmp_path, "P01")
    assert unfinished is not None
    assert unfinished.session == session.id
    places.finish(tmp_path, session, now=NOW)
    with pytest.raises(ValueError, match=r"P01 has finished E1-V1 at 2026-03-01 09:00 UTC.*--new"):
        sittings.unfinished(tmp_path, "P01")
    another = places.reserve(tmp_path, versions[:3], "P01", now=NOW)
    assert another.version != session.version, "a further session shows another version"


def test_a_session_that_is_begun_anew_leaves_the_old_place(
    tmp_path: Path, versions: list[experiment.VersionFile]
) -> None:
    first = places.reserve(tmp_path, versions[:1], "P01", now=NOW)
    second = places.reserve(tmp_path, versions[:1], "P01", now=NOW)
    left = {place.session: place.left for place in places._read(tmp_path)}
    assert left == {first.id: True, second.id: False}


def test_a_list_of_places_that_a_crash_left_behind_is_mended(
    tmp_path: Path, versions: list[experiment.VersionFile]
) -> None:
    places.reserve(tmp_path, versions[:2], "P01", now=NOW)
    before = (tmp_path / "places.json").read_text()
    second = places.reserve(tmp_path, versions[:2], "P02", now=NOW)
    places.finish(tmp_path, second, now=NOW)
    (tmp_path / "places.json").write_text(before)
    found = {place.participant: place.finished is not None for place in places._read(tmp_path)}
    assert found == {"P01": False, "P02": True}


def test_a_session_runs_in_one_window(tmp_path: Path, versions: list[experiment.VersionFile]) -> None:
    session = places.reserve(tmp_path, versions[:1], "P01", now=NOW)
    again = places.running(tmp_path, session.id)
    with places.running(tmp_path, session.id), pytest.raises(ValueError, match="runs in another window"), again:
        pass
    with places.running(tmp_path, session.id):
        pass


def test_a_changed_version_has_a_new_revision(tmp_path: Path, versions: list[experiment.VersionFile]) -> None:
    changed = replace(versions[0], title="Another title")
    first = places.reserve(tmp_path, versions[:1], "P01", now=NOW)
    second = places.reserve(tmp_path, [changed], "P02", now=NOW)
    third = places.reserve(tmp_path, versions[:1], "P03", now=NOW)
    assert [session.revision for session in (first, second, third)] == [1, 2, 1]


@pytest.mark.parametrize("label", ["", " ", "P01 ", "a\nb", "x" * 201])
def test_a_label_that_no_file_should_hold_is_refused(
    tmp_path: Path, label: str, versions: list[experiment.VersionFile]
) -> None:
    with pytest.raises(ValueError, match="expected a label"):
        places.reserve(tmp_path, versions[:1], label)
    with pytest.raises(ValueError, match="expected a label"):
        places.of_participant(tmp_path / "data", label)


@pytest.mark.parametrize("label", ["../x", "a b", "الطالبة", "学生1"])
def test_a_label_is_no_path_and_may_be_of_any_script(
    tmp_path: Path, label: str, versions: list[experiment.VersionFile]
) -> None:
    session = places.reserve(tmp_path / "data", versions[:1], label)
    assert [place.participant for place in places.of_participant(tmp_path / "data", label)] == [label]
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert (tmp_path / "data" / session.id / "session.json").exists()


def test_a_folder_of_another_study_or_of_robots_is_refused(
    tmp_path: Path, versions: list[experiment.VersionFile]
) -> None:
    places.check_folder(tmp_path / "data", versions)
    assert not (tmp_path / "data").exists(), "looking leaves nothing behind"
    places.reserve(tmp_path / "data", versions[:1], "P01")
    places.check_folder(tmp_path / "data", [replace(versions[0], title="A changed title")])
    with pytest.raises(
        study.DataError, match=r"has sessions of the study 'minimal-pairs', not 'another'; give another folder"
    ):
        places.check_folder(tmp_path / "data", [replace(versions[0], study="another")])
    experiment.simulate(versions, tmp_path / "robots", participants=2, seed=1)
    with pytest.raises(study.DataError, match=r"robots has 2 simulated sessions"):
        places.check_folder(tmp_path / "robots", versions)
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match=r"file is a file; expected a folder"):
        places.check_folder(tmp_path / "file", versions)


def test_a_version_that_is_gone_from_the_folder_is_named(
    tmp_path: Path, versions: list[experiment.VersionFile]
) -> None:
    places.reserve(tmp_path, versions[:1], "P01")
    (tmp_path / "versions" / f"{versions[0].sha256}.json").unlink()
    with pytest.raises(study.DataError, match=rf"{versions[0].sha256}\.json is gone, which participant P01 ran"):
        places.check_folder(tmp_path, versions)


def test_machines_with_first_slots_of_their_own_show_different_orders(
    tmp_path: Path, versions: list[experiment.VersionFile]
) -> None:
    here = [places.reserve(tmp_path / "a", versions[:1], f"P{n}", now=NOW) for n in range(2)]
    there = [places.reserve(tmp_path / "b", versions[:1], f"P{n}", now=NOW, first_slot=1000) for n in range(2)]
    assert [session.slot for session in (*here, *there)] == [0, 1, 1000, 1001]
    assert len({session.order for session in (*here, *there)}) == 4


# ------------------------------------------------------------------------------------------------- what is shown


@pytest.mark.parametrize("language", languages())
def test_every_language_has_the_texts_of_the_lab(language: str) -> None:
    english = lab_texts("en", standard_texts("en"))
    texts = lab_texts(language, standard_texts(language))
    assert texts.keys() == english.keys()
    assert len(texts["consent"]) == len(english["consent"])
    assert "Esc" in texts["consent"][2]


@pytest.mark.parametrize("language", languages())
def test_nobody_in_the_lab_is_told_of_a_page_or_to_have_a_computer(tmp_path: Path, language: str) -> None:
    files = made(tmp_path, stated(language=language))
    take(tmp_path / "data", files, reader := Machine())
    page, lab_ = standard_texts(language), lab_texts(language, standard_texts(language))
    read = ["\n\n".join(one.paragraphs) for one in reader.of(Page)]
    assert read[0] == lab_["device"] != page["device"]
    ready = [text for text in read if lab_["ready"] in text]
    assert len(ready) == 1
    assert page["instructions"]["practice"] in ready[0]
    assert not [text for text in read if page["instructions"]["ready"] in text]


def test_a_consent_of_the_study_is_shown_as_it_stands(tmp_path: Path) -> None:
    files = made(tmp_path, stated(procedure='consent = "Our own.\\n\\nAnd more."\n'))
    outcome = take(tmp_path / "data", files, reader := Machine())
    assert any(
        one.paragraphs == ("Our own.", "And more.") and one.heading == "Reading sentences" for one in reader.of(Page)
    )
    consent = next(e for e in events(tmp_path / "data", outcome.session.id) if e.kind == "consent")
    given = sessions.payload(outcome.session, files[0], token="", visit=0, next_seq=0, done=())
    assert consent.value["sha256"] == given["consent_sha256"]


def room(direction: str = "ltr", width: float = 1000, height: float = 700) -> layout.Room:
    return layout.room(width, height, direction, ["word"], lambda text, size: 0.6 * size * len(text))


def test_what_is_shown_stays_on_the_screen() -> None:
    texts = lab_texts("en", standard_texts("en"))
    shown = [
        Page(tuple(texts["consent"]), "A title", answers(["yes " * 20, "no"], [1, 0], ("left", "right"))),
        Page(("word " * 600,)),
        Task("Which?", answers(["long sentence " * 12, "short"], ["a", "b"], ("left", "right"))),
        Blank("About you", "", "Where?", "", "hint", tuple(f"country {n}" for n in range(25))),
    ]
    for display in shown:
        for here in (room(), room("rtl"), room(width=1900, height=1060)):
            for mark in layout.marks(display, here):
                height = mark.height if isinstance(mark, layout.Box) else mark.size
                assert abs(mark.y) + height / 2 <= here.height / 2
                assert abs(mark.x) <= here.width / 2


def test_the_longest_word_fits_and_sets_one_size_for_all() -> None:
    narrow = layout.room(800, 600, "ltr", ["a", "x" * 100], lambda text, size: 0.6 * size * len(text))
    assert narrow.measure("x" * 100, narrow.word_size) == pytest.approx(0.92 * 800)
    sizes = {mark.size for word in ("a", "x" * 100) for mark in layout.marks(Word(word), narrow)}
    assert sizes == {narrow.word_size}


def test_a_word_that_would_make_all_words_illegible_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'x{30}\.\.\.' has 200 characters: .* 6\.1 px high"):
        layout.room(800, 600, "ltr", ["a", "x" * 200], lambda text, size: 0.6 * size * len(text))


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_no_text_reaches_beyond_the_box_or_the_screen_that_holds_it(direction: str) -> None:
    here, word = room(direction), "x" * 300
    shown = [
        Whole(f"A {word} sentence"),
        Page((word,), word, answers([word, "no"], [1, 0], ("left", "right"))),
        Task(word, answers([f"A {word}", "short"], ["a", "b"], ("left", "right")), sentence=word),
        Blank("About you", "", "Where?", "somewhere " * 20, "hint"),
        Blank("About you", "", "Where?", "", "hint", tuple(f"a long choice {n} " * 5 for n in range(12))),
    ]
    for display in shown:
        drawn = layout.marks(display, here)
        boxes = [mark for mark in drawn if isinstance(mark, layout.Box) and mark.width < here.width]
        for text in (mark for mark in drawn if isinstance(mark, layout.Text)):
            width = here.measure(text.text, text.size)
            middle = text.x + width * {"left": 0.5, "center": 0.0, "right": -0.5}[text.align]
            assert abs(middle) + width / 2 <= here.width / 2
            for box in (box for box in boxes if abs(box.y - text.y) < box.height / 2):
                if abs(box.x - middle) < box.width / 2:
                    assert abs(middle - box.x) + width / 2 <= box.width / 2
                    assert abs(text.y - box.y) + text.size / 2 <= box.height / 2


def test_a_sentence_of_many_lines_ends_above_what_is_said_below_it() -> None:
    words, here = ("words",) * 200, room()
    drawn = layout.marks(Lines(words, (" ",) * 199, hint="Press the space bar to start reading"), here)
    hint = next(mark for mark in drawn if isinstance(mark, layout.Text))
    lowest = min(mark.y for mark in drawn if isinstance(mark, layout.Box))
    assert hint.y + hint.size / 2 < lowest
    assert max(mark.y for mark in drawn) < here.height / 2
    assert len({line for line, _ in layout.places(words, (" ",) * 199, here)}) == len(
        {mark.y for mark in drawn if isinstance(mark, layout.Box)}
    )


def test_a_mark_is_not_parted_from_its_letter_where_a_word_is_broken() -> None:
    assert writing.broken("e\u0301" * 4, 3, len) == ["e\u0301"] * 4


@pytest.mark.parametrize(("direction", "sign"), [("ltr", 1), ("rtl", -1)])
def test_a_moving_window_uncovers_one_word_in_its_place(direction: str, sign: int) -> None:
    words = tuple(f"word{n}" for n in range(30))
    display = Lines(words, (" ",) * 29)
    here = room(direction)
    covered = layout.marks(display, here)
    assert all(isinstance(mark, layout.Box) for mark in covered)
    places_ = layout.places(words, display.gaps, here)
    assert places_[0] == (0, 0)
    assert max(line for line, _ in places_) > 0
    for n, (line, _) in enumerate(places_):
        seen = [mark for mark in layout.marks(replace(display, shown=n), here) if isinstance(mark, layout.Text)]
        assert [mark.text for mark in seen] == [words[n]]
        assert seen[0].x == pytest.approx(covered[n].x)
        if n and line == places_[n - 1][0]:
            assert sign * (covered[n].x - covered[n - 1].x) > 0
    all_seen = layout.marks(replace(display, shown=29, cumulative=True), here)
    assert [mark.text for mark in all_seen if isinstance(mark, layout.Text)] == list(words)


def ink(face: writing.Typeface, text: str, size: float = 60) -> Any:
    """The picture of a text, and the smallest box that holds its ink."""
    from PIL import Image, ImageChops

    image, _ = layout.picture([layout.Text(text, 0, 0, size)], face)
    return image, ImageChops.difference(image, Image.new("RGB", image.size, layout.PAPER)).getbbox()


def test_words_stand_on_one_line_in_the_middle_whatever_their_letters() -> None:
    face = writing.typeface(["nÁgx"], "en", "ltr")
    base = []
    for text in ("nnn", "nÁn", "ngn"):
        image, (left, _, right, _) = ink(face, text)
        assert abs((left + right) - image.width) <= 4
        first = image.crop((left, 0, left + 20, image.height))
        base.append(
            max(y for y in range(first.height) if first.getpixel((5, y)) != first.getpixel((0, 0))) - image.height / 2
        )
    assert len(set(base)) == 1, "accents and descenders do not move the line"


def test_vowel_marks_are_drawn_and_letters_joined() -> None:
    from PIL import features

    if not features.check("raqm"):
        pytest.skip("FriBiDi is not installed")
    for language, plain, marked in (("ar", "كتبت", "كُتِبَتْ"), ("he", "שלום", "שָׁלוֹם")):
        face = writing.typeface([plain, marked], language, "rtl")
        assert face.shaped
        assert face.width(plain, 60) == pytest.approx(face.width(marked, 60), abs=1)
        boxes = [ink(face, text)[1] for text in (plain, marked)]
        heights = [bottom - top for _, top, _, bottom in boxes]
        assert heights[1] > heights[0] + 5, "the marks stand above and below"
    face = writing.typeface(["كتبت"], "ar", "rtl")
    assert face.width("كتب", 60) < sum(face.width(one, 60) for one in "كتب"), (
        "joined letters are narrower than lone ones"
    )


def test_without_fribidi_plain_arabic_and_hebrew_are_drawn_and_marks_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("arabic_reshaper")
    # The isolated, initial, medial and final forms of Unicode's Arabic Presentation Forms-B; from right to left.
    assert writing.visual("بيت", "rtl") == "\ufe96\ufef4\ufe91"
    assert writing.visual("הספר.", "rtl") == ".רפסה"
    assert writing.visual("הספר 12 abc", "rtl") == "abc 12 רפסה"
    monkeypatch.setattr("PIL.features.check", lambda name: False)
    face = writing.typeface(["בית הספר"], "he", "rtl")
    assert not face.shaped
    assert face.width("בית", 40) > 0
    with pytest.raises(ValueError, match="marks that cannot be set without FriBiDi; install it"):
        writing.typeface(["שָׁלוֹם"], "he", "rtl")


def test_lines_are_broken_before_they_are_turned_round() -> None:
    assert writing.broken("אחת שתיים שלוש", 9, len) == ["אחת שתיים", "שלוש"]
    assert writing.broken("one\ntwo  three", 9, len) == ["one two", "three"], "spaces of every kind are one space"
    assert writing.broken("彼は「本」を読んだ。", 4, len) == ["彼は", "「本」を", "読んだ。"]


def test_a_font_without_the_characters_is_refused() -> None:
    assert writing.font_for(["a"], "en") in writing._fonts()
    with pytest.raises(ValueError, match="there is no such font"):
        writing.font_for(["a"], "en", "No Such Font")
    with pytest.raises(ValueError, match="lacks characters of the study"):
        writing.font_for(["\U0001323e"], "en")
