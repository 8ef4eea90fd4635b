"""The lab without a window: steps, tasks, keys and events, the journal on disk, and the places of a lab machine."""

import json
import logging
import multiprocessing
import shlex
import shutil
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
from gardenpath.experiment.players.lab import layout, reservations, session_launch, typesetting
from gardenpath.experiment.players.lab.displays import AnswerDisplay, Blank, Display, Key, Lines, Page, Pair, TypedCharacter, Word
from gardenpath.experiment.players.lab.journal import Journal
from gardenpath.experiment.scripts.script import TimelineStep, build_timeline
from gardenpath.experiment.sessions import sessions
from gardenpath.experiment.sessions.records import build_record
from gardenpath.experiment.tasks.answer_options import build_answers, build_scale_points
from gardenpath.experiment.texts.standard_texts import LAB_SECTION, Texts, list_languages
from gardenpath.study import screens
from gardenpath.study.events import Record, Visit
from gardenpath.study.screens import SKIP_STEP, After, Answers, Entry, Exit, Pace, Passage, Slider, Step, Whole, WordPairs

from .conftest import needs_font
from .lab_screens import FRAME, Reader
from .pages import DESIGN, ITEMS, RATING, stated

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
VISIT = {
    **dict.fromkeys(Visit.__annotations__),
    "time_origin": 1.7e12,
    "device": "a test",
    "refresh_hz": 60.0,
    "keyboard": True,
    "software": {"gardenpath": "0"},
}
SLIDER = RATING + 'scale = "slider"\n'
ENGLISH = Texts("en")["session"]


def made(folder: Path, text: str, items: str = ITEMS) -> list[experiment.ListFile]:
    (folder / "items.csv").write_text(items)
    (folder / "study.toml").write_text(text)
    return experiment.build_list_files(study.load(folder / "study.toml"))


class Machine(Reader):
    """A reader at a machine that says what it is."""

    def describe_machine(self) -> dict[str, Any]:
        return VISIT

    def close(self) -> None:
        pass


def take(folder: Path, files: list[experiment.ListFile], reader: Machine, participant: str = "P01") -> session_launch.VisitOutcome:
    """Begin a session, or go on with one."""
    place = session_launch.find_unfinished_reservation(folder, participant)
    if place is None:
        return session_launch.begin_session(folder, files, participant, lambda file: reader)
    return session_launch.resume_session(folder, place, lambda file: reader)


def events(folder: Path, session: str) -> list[sessions.Event]:
    lines = (folder / session / "events.jsonl").read_text().splitlines()
    return sessions.check_events([json.loads(line) for line in lines])


def placed(folder: Path, outcome: session_launch.VisitOutcome) -> tuple[TimelineStep, ...]:
    file = next(
        record for record in reservations.read_stored_list_files(folder).values() if record.sha256 == outcome.session.list_sha256
    )
    return build_timeline(file.script, outcome.session.order)


def outcomes(folder: Path, outcome: session_launch.VisitOutcome, kind: str = "") -> list[Any]:
    """The values of a session's outcomes, of screens of a kind in its trials where one is given."""
    steps = placed(folder, outcome)
    return [
        event.value
        for event in events(folder, outcome.session.id)
        if event.kind == "outcome"
        and event.step is not None
        and event.screen is not None
        and (not kind or steps[event.step].step.screens[event.screen].kind == kind)
    ]


def nth(reader: Machine, kind: type[Any], n: int = 0) -> int:
    """The number of the n-th display of a kind."""
    return [k for k, one in enumerate(reader.displays) if isinstance(one, kind)][n]


# ------------------------------------------------------------------------------------------------- a session


def test_a_session_gives_the_events_of_the_schema_and_the_same_tables_as_a_robot(tmp_path: Path) -> None:
    files = made(tmp_path, stated())
    reader = Machine()
    outcome = take(tmp_path / "data", files, reader)
    assert outcome.ending == "finished"
    ours = events(tmp_path / "data", outcome.session.id)
    assert [event.seq for event in ours] == list(range(len(ours)))
    assert [(event.kind, event.step) for event in ours[:4]] == [("visit", None), ("begin", 0), ("outcome", 0), ("done", 0)]
    given = sessions.build_payload(
        outcome.session, files[0], sessions.replay_session_events(outcome.session, files[0]), token="", visit=0, next_seq=0
    )
    theirs = list(experiment.create_robot(files, seed=1).simulate_events(given, "r"))
    assert [(e.kind, e.step, e.screen) for e in ours] == [(e["kind"], e["step"], e["screen"]) for e in theirs]
    for mine, its in zip(ours, theirs, strict=True):
        assert mine.value.get("word") == its["value"].get("word")
        assert mine.value.get("outcome") == its["value"].get("outcome")
    tables = experiment.collect(tmp_path / "data")
    assert tables["sessions"]["complete"].tolist() == [True]
    assert tables["sessions"]["source"].tolist() == ["lab"]
    assert tables["sessions"]["participant"].tolist() == ["P01"]
    assert tables["responses"]["response"].tolist() == ["5"] * 4
    assert reader.words() == tables["readings"]["text"].tolist()
    assert tables["readings"]["rt_onset"].round(3).eq(250).all(), "a press 200 ms after the release of the one before"


def test_a_reading_time_goes_from_press_to_press_and_its_onset_from_the_frame(tmp_path: Path) -> None:
    outcome = take(tmp_path / "data", made(tmp_path, stated()), reader := Machine(pace=300))
    words = [e for e in events(tmp_path / "data", outcome.session.id) if e.kind == "word"]
    for before, after in pairwise(words):
        if after.value["word"] >= 0:
            shown, press = after.value["display"], after.value["press"]
            assert shown["request"] >= before.t
            assert shown["frame"] - shown["request"] <= FRAME + 1e-3
            assert before.t < press["released"] < after.t
            assert press["by"] == "key"
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
    flags = experiment.collect(tmp_path / "data")["readings"]["quality_flags"].str.split().explode().dropna()
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
    words = [e for e in events(tmp_path / "data", outcome.session.id) if e.kind == "word" and e.value["word"] >= 0]
    assert words[2].t - words[1].t > 900, "the next word waited until the key was let go and pressed again"


def test_a_press_that_ends_a_sentence_does_not_rate_it(tmp_path: Path) -> None:
    outcome = take(tmp_path / "data", made(tmp_path, stated(tasks=SLIDER)), Machine())
    rated = outcomes(tmp_path / "data", outcome, "slider")
    assert [value["answer"] for value in rated] == [51] * 4, "the slider was moved before it was left"


def test_a_slider_moves_on_while_its_key_is_held(tmp_path: Path) -> None:
    files = made(tmp_path, stated(tasks=SLIDER))
    take(tmp_path / "plain", files, plain := Machine())

    class Holder(Machine):
        def answer(self, display: Any) -> None:
            if isinstance(display, AnswerDisplay):
                self.down("ArrowLeft")
            else:
                super().answer(display)

        def wait(self, patience: float | None = None) -> Any:
            if patience is not None and self.displays[-1].value == 20:  # type: ignore[union-attr]
                self.up("ArrowLeft", after=1)
                self.press("Space")
            return super().wait(patience)

    outcome = take(tmp_path / "data", files, Holder())
    assert [value["answer"] for value in outcomes(tmp_path / "data", outcome, "slider")] == [20] * 4
    assert len(plain.of(AnswerDisplay)) < 10


def test_leaving_the_window_covers_the_sentence_and_flags_the_word(tmp_path: Path) -> None:
    files = made(tmp_path, stated())
    take(tmp_path / "plain", files, plain := Machine())
    outcome = take(tmp_path / "data", files, reader := Machine(misdeeds={nth(plain, Word, 3): lambda r: r.leave()}))
    recorded = events(tmp_path / "data", outcome.session.id)
    assert [e.value["reason"] for e in recorded if e.kind == "interruption"] == ["blur", "focus"]
    covers = [one for one in reader.of(Page) if one.paragraphs == (ENGLISH["interrupted"],)]
    assert len(covers) == 1
    readings = experiment.collect(tmp_path / "data")["readings"]
    assert readings.loc[readings["quality_flags"].str.contains("interrupted"), "word"].tolist() == [2]
    assert readings["text"].tolist() == plain.words()


def test_who_leaves_again_before_coming_back_presses_the_space_bar_once(tmp_path: Path) -> None:
    files = made(tmp_path, stated())
    take(tmp_path / "plain", files, plain := Machine())
    twice = {nth(plain, Word, 3): lambda r: (r.leave(), r.leave())}
    outcome = take(tmp_path / "data", files, reader := Machine(misdeeds=twice))
    recorded = events(tmp_path / "data", outcome.session.id)
    assert [e.value["reason"] for e in recorded if e.kind == "interruption"] == ["blur", "focus"] * 2
    assert [e.value["code"] for e in recorded if e.kind == "press"] == ["Space"]
    assert sum(one.paragraphs == (ENGLISH["interrupted"],) for one in reader.of(Page)) == 1
    assert len(experiment.collect(tmp_path / "data")["readings"]) == len(plain.words())


def test_escape_asks_first_and_who_goes_on_goes_on(tmp_path: Path) -> None:
    files = made(tmp_path, stated())
    take(tmp_path / "plain", files, plain := Machine())
    outcome = take(tmp_path / "data", files, Machine(misdeeds={nth(plain, Word, 3): lambda r: r.press("Escape")}))
    assert outcome.ending == "finished"
    readings = experiment.collect(tmp_path / "data")["readings"]
    assert readings.loc[readings["quality_flags"] == "interrupted", "word"].tolist() == [2]
    assert readings["text"].tolist() == plain.words()


def test_the_last_page_is_left_by_escape_as_well_and_nothing_follows_the_end(tmp_path: Path) -> None:
    class Leaver(Machine):
        def answer(self, display: Any) -> None:
            if isinstance(display, Page) and ENGLISH[LAB_SECTION]["finished"] in display.paragraphs:
                self.leave()
                self.press("Escape")
            else:
                super().answer(display)

    outcome = take(tmp_path / "data", made(tmp_path, stated()), Leaver())
    assert outcome.ending == "finished"
    assert events(tmp_path / "data", outcome.session.id)[-1].kind == "end"


class Stopper(Machine):
    """Says yes when asked whether to stop."""

    def answer(self, display: Any) -> None:
        asked = isinstance(display, Page) and display.paragraphs == (ENGLISH[LAB_SECTION]["stop_question"],)
        self.press("KeyJ" if asked else "Space") if asked else super().answer(display)


def test_who_stops_by_escape_keeps_the_session_and_may_go_on(tmp_path: Path) -> None:
    files = made(tmp_path, stated())
    take(tmp_path / "plain", files, plain := Machine())
    data = tmp_path / "data"
    at = nth(plain, Word, 14)
    stopped = take(data, files, Stopper(misdeeds={at: lambda r: r.press("Escape")}))
    assert stopped.ending == "stopped"
    rows = experiment.collect(data)["sessions"].iloc[0]
    assert not rows["complete"]
    assert rows["n_trials"] == 3
    resumed = take(data, files, Machine())
    assert resumed.session.id == stopped.session.id
    recorded = events(data, stopped.session.id)
    assert [e.seq for e in recorded] == list(range(len(recorded)))
    assert [e.visit for e in recorded if e.kind == "visit"] == [0, 1]
    done = [e.step for e in recorded if e.kind == "done"]
    assert done == list(range(len(done))), "each step is done once, consent and pages too"
    tables = experiment.collect(data)
    assert tables["sessions"]["complete"].tolist() == [True]
    assert tables["sessions"]["n_aborted_trials"].tolist() == [1]
    again = tables["readings"].loc[tables["readings"]["quality_flags"] == "seen_before", "trial"].unique().tolist()
    assert again == [2], "the half-read sentence was begun again"
    assert len(tables["readings"]) == len(plain.words())


def test_without_consent_nothing_is_kept_and_the_place_is_free(tmp_path: Path) -> None:
    class Refuser(Machine):
        def answer(self, display: Any) -> None:
            self.press("KeyJ") if isinstance(display, Page) and display.answers else super().answer(display)

    files = made(tmp_path, stated())
    outcome = take(tmp_path / "data", files, Refuser())
    assert outcome.ending == "refused"
    assert not list((tmp_path / "data").glob("s-*"))
    assert session_launch.find_unfinished_reservation(tmp_path / "data", "P01") is None
    assert take(tmp_path / "data", files, Machine(), "P02").session.slot == 0


@pytest.mark.parametrize("at", [0, 1])
def test_who_stops_before_there_is_consent_leaves_nothing(tmp_path: Path, at: int) -> None:
    files = made(tmp_path, stated())
    outcome = take(tmp_path / "data", files, Stopper(misdeeds={at: lambda r: r.press("Escape")}))
    assert outcome.ending == "refused"
    assert not list((tmp_path / "data").glob("s-*"))
    assert take(tmp_path / "data", files, Machine(), "P02").session.slot == 0


def test_a_session_that_the_experimenter_interrupts_can_be_gone_on_with(tmp_path: Path) -> None:
    files, data = made(tmp_path, stated()), tmp_path / "data"

    def interrupt(reader: Machine) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take(data, files, Machine(misdeeds={1: interrupt}))
    assert reservations.find_reservations(data, "P01") == [], "there was no consent yet"
    outcome = take(data, files, Machine(misdeeds={12: interrupt}))
    assert outcome.ending == "interrupted"
    resumed = take(data, files, Machine())
    assert (resumed.ending, resumed.session.id) == ("finished", outcome.session.id)


@pytest.mark.parametrize("label", ["P01", "a b", "it's", "$HOME"])
def test_the_command_to_go_on_is_one_that_a_shell_takes(label: str) -> None:
    said = lab.format_resume_command(Path("my studies/study.toml"), label, Path("data"))
    expected = ["gardenpath", "lab", "my studies/study.toml", "--participant", label, "-o", "data", "--resume"]
    assert shlex.split(said) == expected


def test_a_window_that_cannot_be_opened_takes_no_place(tmp_path: Path) -> None:
    def broken(payload: Any) -> Any:
        raise ValueError("the window is too small")

    files = made(tmp_path, stated())
    with pytest.raises(ValueError, match="too small"):
        session_launch.begin_session(tmp_path / "data", files, "P01", broken)
    assert reservations.find_reservations(tmp_path / "data", "P01") == []


def test_every_task_is_answered_by_key_and_by_mouse(tmp_path: Path) -> None:
    design = DESIGN.replace('practice = ["She slept well."]', 'trial = "pair"')
    choice = '[procedure.tasks.better]\nkind = "choice"\narrangement = "stacked"\n'
    pair = stated(design, tasks=choice, show="with_task", ask=["better"])
    outcome = take(tmp_path / "data", made(tmp_path, pair), Machine())
    chosen = outcomes(tmp_path / "data", outcome, "answers")
    assert {(value["side"], value["press"]["by"]) for value in chosen} == {("upper", "key")}

    class Clicker(Machine):
        def answer(self, display: Any) -> None:
            self.click(1) if isinstance(display, AnswerDisplay) else super().answer(display)

    yes_no = RATING.replace("low =", 'scale = "yes_no"\nlow =')
    outcome = take(tmp_path / "other", made(tmp_path, stated(tasks=yes_no)), Clicker())
    rated = outcomes(tmp_path / "other", outcome, "answers")
    assert {(value["answer"], value["side"], value["press"]["by"]) for value in rated} == {(0, "right", "button")}


def test_a_digit_is_met_by_the_top_row_and_by_the_keypad(tmp_path: Path) -> None:
    class Keypad(Machine):
        def answer(self, display: Any) -> None:
            self.press(f"Numpad{self.digit}") if isinstance(display, AnswerDisplay) else super().answer(display)

    outcome = take(tmp_path / "data", made(tmp_path, stated()), Keypad(digit=3))
    assert [value["answer"] for value in outcomes(tmp_path / "data", outcome, "answers")] == [3] * 4


@pytest.mark.parametrize(
    ("presentation", "kind"),
    [("moving_window", Lines), ("cumulative", Lines), ("whole", Whole), ("with_task", AnswerDisplay), ("centred", Word)],
)
def test_each_presentation_shows_the_sentence(tmp_path: Path, presentation: str, kind: type[Any]) -> None:
    text = stated(show=presentation) + "\n[procedure.display]\nline_width = 20\n"
    outcome = take(tmp_path / "data", made(tmp_path, text), reader := Machine())
    assert outcome.ending == "finished"
    shown = reader.of(kind)
    assert shown
    if kind is Lines:
        assert {one.is_cumulative for one in shown} == {presentation == "cumulative"}
        recorded = [e.value for e in events(tmp_path / "data", outcome.session.id) if e.kind == "word"]
        words = [value for value in recorded if value["word"] >= 0]
        assert {value["line"] for value in words} > {0}
        for before, value in pairwise(words):
            stays = value["word"] > 0 and value["line"] == before["line"]
            assert value["column"] == (before["column"] + 1 if stays else 0)
    if kind is AnswerDisplay:
        assert all(one.screen.above.text for one in shown)


def test_a_practice_question_is_answered_and_the_answer_told(tmp_path: Path) -> None:
    practice = 'practice = [{ sentence = "She slept well.", question = "Who slept?", choices = ["she", "he"], answer = "he" }]\n'
    text = stated(DESIGN.replace('practice = ["She slept well."]\n', practice), ask=["question", "acceptability"])
    outcome = take(tmp_path / "data", made(tmp_path, text), reader := Machine())
    told = ENGLISH["wrong"].replace("{answer}", "he")
    assert any(one.paragraphs == (told,) for one in reader.of(Page))
    assert not any(one.paragraphs == (ENGLISH["right"],) for one in reader.of(Page))
    assert "wrong" in [value["outcome"] for value in outcomes(tmp_path / "data", outcome, "answers")]


def test_the_participant_is_asked_until_the_answer_is_one(tmp_path: Path) -> None:
    fields = """
[[procedure.demographics]]
name = "age"
label = "How old are you?"
kind = "number"
min = 18
max = 99
required = true
[[procedure.demographics]]
name = "hand"
label = "Which hand do you write with?"
kind = "choice"
choices = ["left", "right"]
"""
    files = made(tmp_path, stated(tasks=RATING + fields))

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
    answered = outcomes(tmp_path / "data", outcome)[-1]
    assert (answered["outcome"], answered["answer"]) == ("answered", {"age": 31, "hand": "left"})
    faults = {one.fault for one in reader.of(Blank)}
    assert ENGLISH["not_a_number"].replace("{low}", "18").replace("{high}", "99") in faults


@pytest.mark.parametrize(("key", "expected"), [("Digit2", "right"), ("Digit3", None), ("ShiftLeft", None)])
def test_a_choice_in_the_form_is_made_by_number_without_shift(tmp_path: Path, key: str, expected: str | None) -> None:
    field = '[[procedure.demographics]]\nname = "hand"\nlabel = "Hand?"\nkind = "choice"\nchoices = ["left", "right"]\n'

    class Typist(Machine):
        def answer(self, display: Any) -> None:
            if isinstance(display, Blank):
                self.down(key)
                self.press("Digit2" if key == "ShiftLeft" else "KeyX", after=20)
                self.up(key)
                self.press("Enter")
            else:
                super().answer(display)

    outcome = take(tmp_path / "data", made(tmp_path, stated(tasks=RATING + field)), Typist())
    answered = outcomes(tmp_path / "data", outcome)[-1]
    assert answered["answer"] == ({} if expected is None else {"hand": expected})


def test_a_resumed_session_goes_on_with_the_step_that_was_not_ended(tmp_path: Path) -> None:
    files, data = made(tmp_path, stated()), tmp_path / "data"

    def interrupt(reader: Reader) -> None:
        raise KeyboardInterrupt

    outcome = take(data, files, Machine(misdeeds={3: interrupt}))
    assert outcome.ending == "interrupted"
    take(data, files, reader := Machine())
    first, second = (one.paragraphs for one in reader.of(Page)[:2])
    steps = placed(data, outcome)
    assert [step.step.name for step in steps[:5]] == ["device", "consent", *["instructions"] * 3]
    shown = [screen.paragraphs if screen.lab is None else screen.lab for screen in (steps[n].step.screens[0] for n in (3, 4))]
    assert [first, second] == shown, "the first page of instructions was read"
    recorded = events(data, outcome.session.id)
    assert [e.step for e in recorded if e.kind == "done"] == list(range(len(steps)))
    assert [e.visit for e in recorded if e.kind == "visit"] == [0, 1]


# ------------------------------------------------------------------------------------------- kinds that no task has here


def changed(folder: Path, change: Callable[[Any], Any], language: str = "en") -> list[experiment.ListFile]:
    """Lists with another screen for each one of the trials."""

    def of(step: Step) -> Step:
        return replace(step, screens=tuple(map(change, step.screens)))

    files = made(folder, stated(procedure="", language=language))
    return [replace(file, script=replace(file.script, trials=tuple(map(of, file.script.trials)))) for file in files]


def in_trials(folder: Path, outcome: session_launch.VisitOutcome, kind: str) -> list[list[sessions.Event]]:
    """The events of a kind of each trial, in the order in which they were presented."""
    steps = placed(folder, outcome)
    recorded = [event for event in events(folder, outcome.session.id) if event.kind == kind]
    trials = [step.number for step in steps if step.position is not None]
    return [[event for event in recorded if event.step == number] for number in trials]


def recorded_of(folder: Path, outcome: session_launch.VisitOutcome, kind: str) -> list[Record]:
    """The records of the screens of a kind, trial by trial."""
    recorded = events(folder, outcome.session.id)
    return [
        build_record(screen, [event for event in recorded if (event.step, event.screen) == (step.number, n)])
        for step in placed(folder, outcome)
        for n, screen in enumerate(step.step.screens)
        if screen.kind == kind
    ]


def paced(screen: Any) -> Any:
    """Words that stand 208.3 ms (12.5 frames, which are 13), and nothing for 60 ms (4 frames) after each."""
    timed = {"pace": Pace(208.35, 60), "exits": (Exit("interrupted", SKIP_STEP),)}
    return replace(screen, **timed) if screen.kind == "words" else screen


def test_timed_words_stand_as_many_frames_as_planned(tmp_path: Path) -> None:
    files, data = changed(tmp_path, paced), tmp_path / "data"
    outcome = take(data, files, reader := Machine())
    for words in in_trials(data, outcome, "word"):
        start, *timed = words
        assert start.value["press"]["by"] == "key"
        for n, event in enumerate(timed):
            shown = event.value["display"]
            assert (event.value["word"], event.value["press"]) == (n, None)
            assert event.t - shown["frame"] == pytest.approx(13 * FRAME, abs=0.01)
        for before, after in pairwise(timed):
            assert after.value["display"]["frame"] - before.t == pytest.approx(4 * FRAME, abs=0.01)
    read = [event for events_ in in_trials(data, outcome, "outcome") for event in events_ if event.screen == 0]
    assert [(e.value["outcome"], e.value["display"], e.value["press"]) for e in read] == [("read", None, None)] * 4
    assert [e.t for e in read] == [events_[-1].t for events_ in in_trials(data, outcome, "word")]
    timed_words = [word for record in recorded_of(data, outcome, "words") for word in record.words]
    assert [word.duration for word in timed_words] == pytest.approx([13 * FRAME] * len(timed_words), abs=0.01)
    assert {word.rt for word in timed_words} == {None}
    assert reader.words() == experiment.collect(data)["readings"]["text"].tolist()


@pytest.mark.parametrize("show", ["centred", "moving_window", "cumulative"])
def test_between_timed_words_nothing_stands_and_without_a_pause_only_after_the_last(tmp_path: Path, show: str) -> None:
    def change(screen: Any) -> Any:
        return replace(paced(screen), arrangement=show, pace=Pace(100)) if screen.kind == "words" else screen

    outcome = take(tmp_path / "data", changed(tmp_path, change), reader := Machine())
    first = next(n for n, one in enumerate(reader.displays) if isinstance(one, (Word, Lines)))
    words = reader.displays[first + 1 : first + 5]  # She slept well.
    if show == "centred":
        assert [one.text for one in words if isinstance(one, Word)] == ["She", "slept", "well.", ""]
    else:
        assert [one.visible_word for one in words if isinstance(one, Lines)] == [0, 1, 2, -1]
    for events_ in in_trials(tmp_path / "data", outcome, "word"):
        for before, after in pairwise(events_[1:]):
            assert after.value["display"]["frame"] == before.t, "one follows the other on the next frame"


def test_presses_do_not_hasten_timed_words(tmp_path: Path) -> None:
    files, data = changed(tmp_path, paced), tmp_path / "data"
    take(tmp_path / "plain", files, plain := Machine())
    at = nth(plain, Word, 3)
    outcome = take(data, files, Machine(misdeeds={at: lambda r: r.press("Space", after=20)}))
    assert [e.value for e in in_trials(data, outcome, "press")[0]] == [{"reason": "other", "code": "Space"}]
    words = in_trials(data, outcome, "word")[0]
    assert [e.t - e.value["display"]["frame"] for e in words[1:]] == pytest.approx([13 * FRAME] * 3, abs=0.01)


@pytest.mark.parametrize("how", ["left", "escape"])
def test_who_leaves_while_words_run_does_not_see_them_again(tmp_path: Path, how: str) -> None:
    files, data = changed(tmp_path, paced), tmp_path / "data"
    take(tmp_path / "plain", files, plain := Machine())
    second = [n for n, one in enumerate(plain.displays) if isinstance(one, Word) and one.is_mark][1]
    leave = {"left": lambda r: r.leave(), "escape": lambda r: r.press("Escape", after=50)}[how]
    outcome = take(data, files, reader := Machine(misdeeds={second + 3: leave}))
    assert outcome.ending == "finished"
    ends = [[e.value["outcome"] for e in events_] for events_ in in_trials(data, outcome, "outcome")]
    assert ends == [["read", "answered"], ["interrupted"], ["read", "answered"], ["read", "answered"]]
    assert [e.value["word"] for e in in_trials(data, outcome, "word")[1]] == [-1, 0]
    reasons = [e.value["reason"] for e in in_trials(data, outcome, "interruption")[1]]
    assert reasons == (["blur", "focus"] if how == "left" else ["escape"])
    assert len(reader.words()) < len(plain.words())
    assert len(in_trials(data, outcome, "done")[1]) == 1, "the trial is over"


@pytest.mark.parametrize("where", ["among them", "at the question"])
def test_timed_words_of_a_session_that_was_broken_off_are_not_shown_again(tmp_path: Path, where: str) -> None:
    def interrupt(reader: Machine) -> None:
        raise KeyboardInterrupt

    files, data = changed(tmp_path, paced), tmp_path / "data"
    take(tmp_path / "plain", files, plain := Machine())
    start = [n for n, one in enumerate(plain.displays) if isinstance(one, Word) and one.is_mark][1]
    at = start + 3 if where == "among them" else nth(plain, AnswerDisplay, 1)
    broken = take(data, files, Machine(misdeeds={at: interrupt}))
    outcome = take(data, files, reader := Machine())
    assert (broken.ending, outcome.ending) == ("interrupted", "finished")
    ends = [[e.value["outcome"] for e in events_] for events_ in in_trials(data, outcome, "outcome")]
    assert ends[1] == ["read", "interrupted"][where == "among them" :]
    assert ends[:1] + ends[2:] == [["read", "answered"]] * 3
    assert [len(begun) for begun in in_trials(data, outcome, "begin")] == [1] * 4
    assert {e.visit for e in in_trials(data, outcome, "word")[1]} == {0}
    assert len(reader.of(AnswerDisplay)) == 2, "nothing is asked of them"
    readings = experiment.collect(data)["readings"]
    assert ((readings["quality_flags"] == "interrupted") == (readings["trial"] == 1)).all()


def maze(*, redo: bool) -> Callable[[Any], Any]:
    """Word pairs for each sentence, the words in turn at the left and at the right."""

    def change(screen: Any) -> Any:
        if screen.kind != "words":
            return screen
        sides = ("left", "right")
        return WordPairs(
            name="maze",
            task="centred",  # its rows are those of words
            pairs=tuple(screens.Pair(word, f"~{word}", sides[n % 2]) for n, word in enumerate(screen.words)),  # type: ignore[arg-type]
            hint="Choose",
            redo=redo,
            delay=600 if redo else 0,
            error="That was not the next word.",
            again="Now the other one.",
            exits=() if redo else (Exit("wrong", SKIP_STEP),),
        )

    return change


def test_a_maze_is_read_by_the_keys_of_both_sides(tmp_path: Path) -> None:
    files, data = changed(tmp_path, maze(redo=False)), tmp_path / "data"
    both = {"left": ("KeyF", "ArrowLeft", "KeyE"), "right": ("KeyJ", "ArrowRight", "KeyI")}

    class Varied(Machine):
        def answer(self, display: Any) -> None:
            if isinstance(display, Pair):
                self.press(both["right" if display.left.startswith("~") else "left"][len(self.displays) % 3])
            else:
                super().answer(display)

    outcome = take(data, files, reader := Varied())
    for words in in_trials(data, outcome, "word"):
        assert [e.value["word"] for e in words] == list(range(-1, len(words) - 1))
        assert {(e.value["correct"], e.value["first"] == e.t) for e in words[1:]} == {(True, True)}
        assert (words[0].value["correct"], words[0].value["first"]) == (None, None)
    assert {key.code for key in reader.presses} >= {key for keys in both.values() for key in keys}
    assert {value["outcome"] for value in outcomes(data, outcome, "word_pairs")} == {"right"}
    assert {word.correct for record in recorded_of(data, outcome, "word_pairs") for word in record.words} == {True}
    starts = [one for one in reader.of(Word) if one.hint == "Choose"]
    assert len(starts) == 4, "a start mark before each"


def test_a_wrong_word_is_corrected_once_the_keys_are_alive_again(tmp_path: Path) -> None:
    files, data = changed(tmp_path, maze(redo=True)), tmp_path / "data"
    take(tmp_path / "plain", files, plain := Machine())
    at = nth(plain, Pair, 3 + 1)  # the second word of the second trial stands at the right
    wrong = {at: lambda r: r.press("KeyF", after=300)}
    outcome = take(data, files, reader := Machine(misdeeds=wrong))
    said = [one.hint for one in reader.displays[at : at + 3] if isinstance(one, Pair)]
    assert said == ["", "That was not the next word.", "Now the other one."]
    words, presses = in_trials(data, outcome, "word")[1], in_trials(data, outcome, "press")[1]
    assert [e.value["correct"] for e in words] == [None, True, False, *[True] * (len(words) - 3)]
    taken = words[2].value
    [first] = [key.t for key in reader.presses if key.code == "KeyF" and taken["display"]["frame"] < key.t < words[2].t]
    assert taken["first"] == pytest.approx(first, abs=0.01)
    assert words[2].t > taken["first"] + 600
    assert [e.value for e in presses] == [{"reason": "early", "code": "KeyJ"}], "while the keys were dead"
    assert [e.value["outcome"] for e in in_trials(data, outcome, "outcome")[1]] == ["wrong", "answered"]


def test_a_wrong_word_ends_the_sentence_where_it_is_not_to_be_corrected(tmp_path: Path) -> None:
    files, data = changed(tmp_path, maze(redo=False)), tmp_path / "data"
    take(tmp_path / "plain", files, plain := Machine())
    wrong = {nth(plain, Pair, 3 + 1): lambda r: r.press("KeyE", after=300)}
    outcome = take(data, files, Machine(misdeeds=wrong))
    ends = [[e.value["outcome"] for e in events_] for events_ in in_trials(data, outcome, "outcome")]
    assert ends == [["right", "answered"], ["wrong"], ["right", "answered"], ["right", "answered"]]
    assert [e.value["correct"] for e in in_trials(data, outcome, "word")[1]] == [None, True, False]


def completion(screen: Any) -> Any:
    if screen.kind != "answers":
        return screen
    ask = {"prompt": "How does it go on?", "button": "Continue", "missing": "Please type a few words.", "longest": 12}
    return Entry(name="end", task="rating", above=Passage("The key to the"), **ask)


def test_a_typed_answer_is_what_was_typed_and_when_it_began(tmp_path: Path) -> None:
    began: list[float] = []

    class Typist(Machine):
        def show(self, display: Any) -> Any:
            painted = super().show(display)
            if isinstance(display, Blank) and display.fault:
                self.write("a door")
                self.press("Enter", after=500)
            return painted

        def answer(self, display: Any) -> None:
            if not isinstance(display, Blank):
                return super().answer(display)
            if len(self.of(AnswerDisplay)) + len([one for one in self.of(Blank) if one.fault]) == 0:
                return self.press("Enter")  # nothing was typed: asked again
            self.write("é" * 20)
            began.append(next(one.t for one in self.queue if isinstance(one, TypedCharacter)))
            return self.press("Enter", after=300)

    files, data = changed(tmp_path, completion), tmp_path / "data"
    outcome = take(data, files, reader := Typist())
    typed = outcomes(data, outcome, "entry")
    assert [value["answer"] for value in typed] == ["a door", *["é" * 12] * 3]
    assert [(value["outcome"], value["pasted"], value["press"]["by"]) for value in typed] == [("answered", 0, "key")] * 4
    assert {one.fault for one in reader.of(Blank)} == {"", "Please type a few words."}
    assert {one.text_above for one in reader.of(Blank)} == {"The key to the"}
    assert not [e for events_ in in_trials(data, outcome, "press") for e in events_], "what is typed is no stray press"
    assert experiment.collect(data)["responses"]["response"].tolist() == ["a door", *["é" * 12] * 3]
    records = recorded_of(data, outcome, "entry")
    assert [value["first"] for value in typed[1:]] == pytest.approx(began, abs=0.01)
    assert all((record.rt or 0) > (record.rt_first or 0) for record in records)


def test_the_first_key_of_a_typed_answer_has_the_time_of_its_hardware(tmp_path: Path) -> None:
    sent: list[float] = []

    class Typist(Machine):
        def answer(self, display: Any) -> None:
            if not isinstance(display, Blank):
                return super().answer(display)
            self.press("ShiftLeft", held=20)
            t = self._next(100)
            sent.append(t)
            self.queue.append(Key("KeyA", t, t + 0.5, character="A"))
            self.queue.append(TypedCharacter("A", t + 12))  # the system says so at the next frame
            self.up("KeyA")
            return self.press("Enter", after=300)

    outcome = take(tmp_path / "data", changed(tmp_path, completion), Typist())
    typed = outcomes(tmp_path / "data", outcome, "entry")
    assert {value["answer"] for value in typed} == {"A"}
    assert [value["first"] for value in typed] == pytest.approx(sent, abs=0.01)


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_what_the_window_cannot_compose_is_refused_before_a_place_is_taken(tmp_path: Path, language: str) -> None:
    file = changed(tmp_path, completion, language)[0]
    path = file.write(tmp_path / "lists")
    expected = rf"E1-L1\.json: end asks for typed text in '{language}'.*\n?.*gardenpath serve --kiosk"
    with pytest.raises(study.DataError, match=expected):
        session_launch.read_list_files(path)
    assert session_launch.read_list_files(changed(tmp_path, completion, "tr")[0].write(tmp_path / "other"))
    assert session_launch.read_list_files(made(tmp_path, stated(language=language))[0].write(tmp_path / "plain")), (
        "nothing is typed"
    )


@pytest.mark.parametrize(("ms", "ended"), [(400.0, "answered"), (700.0, "timeout")])
@pytest.mark.parametrize("kind", ["answers", "slider", "entry"])
def test_an_answer_after_the_deadline_is_none(tmp_path: Path, ms: float, ended: str, kind: str) -> None:
    ask: dict[str, Any] = {"name": "asked", "task": "rating", "prompt": "How good?", "deadline": 500.0}
    of = {
        "answers": Answers(**ask, answers=build_scale_points(7), arrangement="points"),
        "slider": Slider(**ask, low="bad", high="good"),
        "entry": Entry(**ask, button="Continue", missing="Please type."),
    }[kind]

    class Slow(Machine):
        def answer(self, display: Any) -> None:
            if isinstance(display, (AnswerDisplay, Blank)):
                {"answers": lambda: None, "slider": lambda: self.press("End", after=90), "entry": lambda: self.write("x")}[kind]()
                key = {"answers": "Digit4", "slider": "Space", "entry": "Enter"}[kind]
                self.press(key, after=(self.painted.frame if self.painted else 0) + ms - self._next(0))
            else:
                super().answer(display)

    files, data = changed(tmp_path, lambda screen: of if screen.kind == "answers" else screen), tmp_path / "data"
    outcome = take(data, files, Slow())
    given = [event for events_ in in_trials(data, outcome, "outcome") for event in events_ if event.screen == 1]
    answer = {"answers": 4, "slider": 100, "entry": "x"}[kind] if ended == "answered" else None
    assert [(e.value["outcome"], e.value["answer"]) for e in given] == [(ended, answer)] * 4
    assert {(e.value["press"] is None, e.value["side"]) for e in given} == {(ended == "timeout", None)}
    waited = [e.t - e.value["display"]["frame"] for e in given]
    assert waited == pytest.approx([min(ms, 500.0)] * 4, abs=0.01)


def test_feedback_and_what_is_skipped_follow_the_outcome(tmp_path: Path) -> None:
    told = screens.Text(name="feedback", when=After(1, ("timeout", "wrong")), paragraphs=("Faster, please.",))

    def with_feedback(step: Step) -> Step:
        asked_ = replace(step.screens[1], deadline=500.0, right=(5,), is_judged_by_player=True)
        return replace(step, screens=(step.screens[0], asked_, told))

    class Varied(Machine):
        def answer(self, display: Any) -> None:
            if isinstance(display, AnswerDisplay):
                n = len(self.of(AnswerDisplay)) % 4
                self.press("Digit4" if n == 1 else "Digit5", after=900 if n == 2 else 200)
            else:
                super().answer(display)

    file = made(tmp_path, stated(procedure=""))[0]
    file = replace(file, script=replace(file.script, trials=tuple(map(with_feedback, file.script.trials))))
    outcome = take(tmp_path / "data", [file], reader := Varied())
    ends = [[e.value["outcome"] for e in events_] for events_ in in_trials(tmp_path / "data", outcome, "outcome")]
    assert ends == [["read", "wrong", "continued"], ["read", "timeout", "continued"], ["read", "right"], ["read", "right"]]
    assert sum(one.paragraphs == ("Faster, please.",) for one in reader.of(Page)) == 2
    assert next(one for one in reader.of(Page) if one.paragraphs == ("Faster, please.",)).hint == ENGLISH["continue"]


SCREENER = Answers(
    name="screener",
    prompt="Did you learn English before you were five?",
    answers=build_answers(["yes", "no"], ["yes", "no"], "ltr"),
    right=("yes",),
    is_judged_by_player=True,
    exits=(Exit("wrong", "screened_out"),),
)


def screened(folder: Path, at: int) -> list[experiment.ListFile]:
    """Lists with a question before everybody, as the step of this number."""
    file = made(folder, stated())[0]
    front = (*file.script.front[:at], Step("screener", (SCREENER,)), *file.script.front[at:])
    consent = next(n for n, step in enumerate(front) if step.name == "consent")
    return [replace(file, script=replace(file.script, front=front, consent=consent))]


@pytest.mark.parametrize("at", [1, 2])
def test_who_is_screened_out_leaves_with_that_ending_and_without_data(tmp_path: Path, at: int) -> None:
    class Other(Machine):
        def answer(self, display: Any) -> None:
            self.press("KeyJ") if isinstance(display, AnswerDisplay) else super().answer(display)

    files, data = screened(tmp_path, at), tmp_path / "data"
    outcome = take(data, files, reader := Other())
    assert outcome.ending == "screened_out"
    assert reader.of(Page)[-1].paragraphs == (ENGLISH[LAB_SECTION]["screened_out"],)
    assert not list(data.glob("s-*"))
    assert reservations.find_reservations(data, "P01") == []


SCREENED = """[[procedure.screener]]
name = "native"
question = "Is English your first language?"
choices = ["yes", "no"]
accepted = ["%s"]
"""


@pytest.mark.parametrize("accepted", ["yes", "no"])
def test_a_screener_decides_in_the_lab_who_goes_on(tmp_path: Path, accepted: str) -> None:
    files, data = made(tmp_path, stated(procedure=SCREENED % accepted)), tmp_path / "data"
    outcome = take(data, files, reader := Machine())  # takes the first choice
    if accepted == "no":
        assert (outcome.ending, list(data.glob("s-*"))) == ("screened_out", [])
        assert reader.of(Page)[-1].paragraphs == (ENGLISH[LAB_SECTION]["screened_out"],)
    else:
        assert outcome.ending == "finished"
        about = experiment.collect(data)["demographics"]
        assert about[["question", "response"]].to_numpy().tolist() == [["native", "yes"]]


def test_what_is_asked_before_consent_is_told_after_it_at_its_time(tmp_path: Path) -> None:
    outcome = take(tmp_path / "data", screened(tmp_path, at=1), Machine())
    recorded = events(tmp_path / "data", outcome.session.id)
    assert [(e.kind, e.step) for e in recorded[:10]] == [
        ("visit", None),
        *((kind, number) for number in (0, 1, 2) for kind in ("begin", "outcome", "done")),
    ]
    times = [e.t for e in recorded[:10]]
    assert times == sorted(times)
    assert recorded[5].value["outcome"] == "right"


def test_frames_that_come_late_while_a_sentence_is_read_are_counted_and_others_not(tmp_path: Path) -> None:
    class Busy(Machine):
        def count_dropped_frames(self) -> int | None:
            late, self.late = self.late, 0
            return late

        def show(self, display: Any) -> Any:
            self.late += 100 if isinstance(display, (Page, AnswerDisplay)) else 1
            return super().show(display)

        late = 0

    files = changed(tmp_path, lambda screen: screen)
    outcome = take(tmp_path / "data", files, Busy())
    done = [e for e in events(tmp_path / "data", outcome.session.id) if e.kind == "done"]
    words = in_trials(tmp_path / "data", outcome, "word")
    counted = [e.value["dropped_frames"] for e in done if e.value["dropped_frames"] is not None]
    assert counted == [len(words_) for words_ in words]
    assert len(done) > len(counted), "of pages nothing is said"


# ------------------------------------------------------------------------------------------------- the journal


def test_a_process_killed_at_a_key_has_lost_nothing_that_was_recorded(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom gardenpath.experiment.players.lab.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for n in range(500):\n    journal.append_event('press', 1.0 * n, 5, 0, {'reason': 'other', 'code': 'KeyX'})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "events.jsonl"
    killed = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert killed.returncode == -9
    journal = Journal(path)
    assert [event.seq for event in journal.earlier_events] == list(range(500))
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
        journal.append_event("press", float(n), 5, 0, {"reason": "other", "code": "\u2028"})
    journal.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: -cut - 1])
    caplog.set_level(logging.WARNING, "gardenpath")
    journal = Journal(path)
    assert [event.seq for event in journal.earlier_events] == [0, 1]
    journal.append_event("press", 9.0, 5, 0, {"reason": "other", "code": "KeyX"})
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


def test_lists_stay_balanced_with_dropouts_and_slots_count_up(tmp_path: Path, list_files: list[experiment.ListFile]) -> None:
    now, files = NOW, list_files[:3]
    given = []
    for n in range(12):
        session = reservations.reserve_slot(tmp_path, files, f"P{n:02}", now=now)
        given.append((session.list_name, session.slot))
        if n % 4 != 3:  # every fourth leaves and does not come back
            reservations.finish_session(tmp_path, session, now=now)
        now += timedelta(minutes=90)
    finished = [place for place in reservations._read_reservations(tmp_path) if place.finished]
    counts = [sum(place.list_name == file.name for place in finished) for file in files]
    assert counts == [3, 3, 3]
    for file in files:
        slots = [slot for list_name, slot in given if list_name == file.name]
        assert slots == list(range(len(slots))), "each place of a list has its own order"


def test_an_unfinished_session_holds_its_place_for_an_hour(tmp_path: Path, list_files: list[experiment.ListFile]) -> None:
    files = list_files[:2]
    first = reservations.reserve_slot(tmp_path, files, "P01", now=NOW)
    second = reservations.reserve_slot(tmp_path, files, "P02", now=NOW + timedelta(minutes=5))
    assert first.list_name != second.list_name
    reservations.finish_session(tmp_path, second)
    assert reservations.reserve_slot(tmp_path, files, "P03", now=NOW + timedelta(minutes=50)).list_name == first.list_name
    # Now P01 and P03 hold two places of the first list, until they have run out.
    assert reservations.reserve_slot(tmp_path, files, "P04", now=NOW + timedelta(minutes=200)).list_name == first.list_name


def test_two_windows_that_open_at_once_get_different_places(tmp_path: Path) -> None:
    files, folder = made(tmp_path, stated()), tmp_path / "data"
    fork = multiprocessing.get_context("fork")
    gate, given = fork.Barrier(4), fork.Queue()

    def open_windows(machine: int) -> None:
        gate.wait()
        for n in range(5):
            session = reservations.reserve_slot(folder, files, f"{machine}-{n}")
            given.put(f"{session.list_name} {session.slot}")

    running = [fork.Process(target=open_windows, args=(n,)) for n in range(4)]
    for one in running:
        one.start()
    said = [given.get(timeout=60) for _ in range(20)]
    for one in running:
        one.join()
    assert len(set(said)) == 20, "no place is given twice"
    counts = [sum(line.startswith(f"{file.name} ") for line in said) for file in files]
    assert max(counts) - min(counts) <= 1
    assert len(reservations._read_reservations(folder)) == 20


def test_a_label_that_was_used_is_refused_unless_it_is_meant(tmp_path: Path, list_files: list[experiment.ListFile]) -> None:
    session = reservations.reserve_slot(tmp_path, list_files[:3], "P01", now=NOW)
    unfinished = session_launch.find_unfinished_reservation(tmp_path, "P01")
    assert unfinished is not None
    assert unfinished.session == session.id
    reservations.finish_session(tmp_path, session, now=NOW)
    with pytest.raises(ValueError, match=r"P01 has finished E1-L1 at 2026-03-01 09:00 UTC.*--new"):
        session_launch.find_unfinished_reservation(tmp_path, "P01")
    another = reservations.reserve_slot(tmp_path, list_files[:3], "P01", now=NOW)
    assert another.list_name != session.list_name, "a further session shows another list"


def test_a_session_that_is_begun_anew_leaves_the_old_place(tmp_path: Path, list_files: list[experiment.ListFile]) -> None:
    first = reservations.reserve_slot(tmp_path, list_files[:1], "P01", now=NOW)
    second = reservations.reserve_slot(tmp_path, list_files[:1], "P01", now=NOW)
    left = {place.session: place.left for place in reservations._read_reservations(tmp_path)}
    assert left == {first.id: True, second.id: False}


def test_a_list_of_places_that_a_crash_left_behind_is_mended(tmp_path: Path, list_files: list[experiment.ListFile]) -> None:
    reservations.reserve_slot(tmp_path, list_files[:2], "P01", now=NOW)
    before = (tmp_path / "reservations.json").read_text()
    second = reservations.reserve_slot(tmp_path, list_files[:2], "P02", now=NOW)
    reservations.finish_session(tmp_path, second, now=NOW)
    (tmp_path / "reservations.json").write_text(before)
    found = {place.participant: place.finished is not None for place in reservations._read_reservations(tmp_path)}
    assert found == {"P01": False, "P02": True}


def test_a_session_runs_in_one_window(tmp_path: Path, list_files: list[experiment.ListFile]) -> None:
    session = reservations.reserve_slot(tmp_path, list_files[:1], "P01", now=NOW)
    again = reservations.lock_session(tmp_path, session.id)
    with reservations.lock_session(tmp_path, session.id), pytest.raises(ValueError, match="runs in another window"), again:
        pass
    with reservations.lock_session(tmp_path, session.id):
        pass


def test_a_changed_list_has_a_new_revision(tmp_path: Path, list_files: list[experiment.ListFile]) -> None:
    changed = replace(list_files[0], title="Another title")
    first = reservations.reserve_slot(tmp_path, list_files[:1], "P01", now=NOW)
    second = reservations.reserve_slot(tmp_path, [changed], "P02", now=NOW)
    third = reservations.reserve_slot(tmp_path, list_files[:1], "P03", now=NOW)
    assert [session.revision for session in (first, second, third)] == [1, 2, 1]


@pytest.mark.parametrize("label", ["", " ", "P01 ", "a\nb", "x" * 201])
def test_a_label_that_no_file_should_hold_is_refused(tmp_path: Path, label: str, list_files: list[experiment.ListFile]) -> None:
    with pytest.raises(ValueError, match="expected a label"):
        reservations.reserve_slot(tmp_path, list_files[:1], label)
    with pytest.raises(ValueError, match="expected a label"):
        reservations.find_reservations(tmp_path / "data", label)


@pytest.mark.parametrize("label", ["../x", "a b", "الطالبة", "学生1"])
def test_a_label_is_no_path_and_may_be_of_any_script(tmp_path: Path, label: str, list_files: list[experiment.ListFile]) -> None:
    session = reservations.reserve_slot(tmp_path / "data", list_files[:1], label)
    assert [place.participant for place in reservations.find_reservations(tmp_path / "data", label)] == [label]
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert (tmp_path / "data" / session.id / "session.json").exists()


def test_a_folder_of_another_study_or_of_robots_is_refused(tmp_path: Path, list_files: list[experiment.ListFile]) -> None:
    reservations.check_folder(tmp_path / "data", list_files)
    assert not (tmp_path / "data").exists(), "looking leaves nothing behind"
    reservations.reserve_slot(tmp_path / "data", list_files[:1], "P01")
    reservations.check_folder(tmp_path / "data", [replace(list_files[0], title="A changed title")])
    with pytest.raises(study.DataError, match=r"has sessions of the study 'minimal-pairs', not 'another'; give another folder"):
        reservations.check_folder(tmp_path / "data", [replace(list_files[0], study="another")])
    experiment.simulate(list_files, tmp_path / "robots", participants=2, seed=1)
    with pytest.raises(study.DataError, match=r"robots has 2 simulated sessions"):
        reservations.check_folder(tmp_path / "robots", list_files)
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match=r"file is a file; expected a folder"):
        reservations.check_folder(tmp_path / "file", list_files)


def test_a_list_that_is_gone_from_the_folder_is_named(tmp_path: Path, list_files: list[experiment.ListFile]) -> None:
    reservations.reserve_slot(tmp_path, list_files[:1], "P01")
    (tmp_path / "lists" / f"{list_files[0].sha256}.json").unlink()
    with pytest.raises(study.DataError, match=rf"{list_files[0].sha256}\.json, which participant P01 ran, is missing"):
        reservations.check_folder(tmp_path, list_files)


def test_machines_with_first_slots_of_their_own_show_different_orders(
    tmp_path: Path, list_files: list[experiment.ListFile]
) -> None:
    here = [reservations.reserve_slot(tmp_path / "a", list_files[:1], f"P{n}", now=NOW) for n in range(2)]
    there = [reservations.reserve_slot(tmp_path / "b", list_files[:1], f"P{n}", now=NOW, first_slot=1000) for n in range(2)]
    assert [session.slot for session in (*here, *there)] == [0, 1, 1000, 1001]
    assert len({session.order for session in (*here, *there)}) == 4


# ------------------------------------------------------------------------------------------------- what is shown


@pytest.mark.parametrize("language", list_languages())
def test_every_language_has_the_texts_of_the_lab(language: str) -> None:
    english, texts = (Texts(one)["session"][LAB_SECTION] for one in ("en", language))
    assert texts.keys() == english.keys()
    assert len(texts["consent"]) == len(english["consent"])
    assert "Esc" in texts["consent"][2]


@pytest.mark.parametrize("language", list_languages())
def test_nobody_in_the_lab_is_told_of_a_page_or_to_have_a_computer(tmp_path: Path, language: str) -> None:
    files = made(tmp_path, stated(language=language))
    take(tmp_path / "data", files, reader := Machine())
    page = Texts(language)["session"]
    read = ["\n\n".join(one.paragraphs) for one in reader.of(Page)]
    assert read[0] == page[LAB_SECTION]["device"] != page["device"]
    assert read[1] == "\n\n".join(page[LAB_SECTION]["consent"])
    ready = [text for text in read if page[LAB_SECTION]["ready"] in text]
    assert len(ready) == 1
    assert page["practice"] in ready[0]
    assert not [text for text in read if page["ready"] in text]
    assert not [text for text in read if page["no_keyboard"] in text]


def test_a_consent_of_the_study_is_shown_as_it_stands(tmp_path: Path) -> None:
    files = made(tmp_path, stated(procedure='consent = "Our own.\\n\\nAnd more."\n'))
    take(tmp_path / "data", files, reader := Machine())
    assert any(one.paragraphs == ("Our own.", "And more.") and one.heading == "Reading sentences" for one in reader.of(Page))


def room(direction: str = "ltr", width: float = 1000, height: float = 700) -> layout.Rect:
    return layout.fit_rect(width, height, direction, ["word"], lambda text, size: 0.6 * size * len(text), ["a" * 25])


def asked(prompt: str, given: tuple[screens.Answer, ...], arrangement: Any = "pair", above: str = "") -> AnswerDisplay:
    of = screens.Nothing() if not above else Passage(above)
    ends = {"low": "very bad " * 9, "high": "very good " * 9} if arrangement == "points" else {}
    return AnswerDisplay(Answers(name="a", prompt=prompt, answers=given, arrangement=arrangement, above=of, **ends), 0.5)


def test_what_is_shown_stays_on_the_screen() -> None:
    shown = [
        Page(tuple(ENGLISH[LAB_SECTION]["consent"]), "A title", build_answers(["yes " * 20, "no"], [1, 0], "ltr")),
        Page(("word " * 600,)),
        asked("Which?", build_answers(["long sentence " * 12, "short"], ["a", "b"], "ltr")),
        asked("How good?", build_scale_points(9), "points", above="word " * 80),
        Blank("", "", "How does it go on? " * 5, "typed " * 40, "hint", text_above="The key to the " * 10, progress=0.5),
        Pair("a" * 25, "b" * 3, "That was not the next word. " * 6),
        Blank("About you", "", "Where?", "", "hint", tuple(f"country {n}" for n in range(25))),
    ]
    for display in shown:
        for here in (room(), room("rtl"), room(width=1900, height=1060)):
            for mark in layout.build_marks(display, here):
                height = mark.height if isinstance(mark, layout.BoxMark) else mark.size
                assert abs(mark.y) + height / 2 <= here.height / 2
                assert abs(mark.x) <= here.width / 2


def test_the_longest_word_fits_and_sets_one_size_for_all() -> None:
    narrow = layout.fit_rect(800, 600, "ltr", ["a", "x" * 100], lambda text, size: 0.6 * size * len(text))
    assert narrow.measure("x" * 100, narrow.word_size) == pytest.approx(0.92 * 800)
    sizes = {mark.size for word in ("a", "x" * 100) for mark in layout.build_marks(Word(word), narrow)}
    assert sizes == {narrow.word_size}


def test_two_words_stand_apart_on_their_halves_of_the_screen_always_in_the_same_places() -> None:
    paired = ["a", "x" * 50]
    narrow = layout.fit_rect(800, 600, "rtl", ["word"], lambda text, size: 0.6 * size * len(text), paired)
    middles = set()
    for left, right in (("x" * 50, "x" * 50), ("a", "x" * 50)):
        texts = [mark for mark in layout.build_marks(Pair(left, right), narrow) if isinstance(mark, layout.TextMark)]
        assert [mark.text for mark in texts] == [left, right], "sides are those of the keyboard in every language"
        for mark, sign in zip(texts, (-1, 1), strict=True):
            ends = sorted(sign * mark.x + half * narrow.measure(mark.text, mark.size) / 2 for half in (-1, 1))
            assert 0 < ends[0] < ends[1] < 400
        middles.add(tuple(mark.x for mark in texts))
    assert len(middles) == 1


def test_a_word_that_would_make_all_words_illegible_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'x{30}\.\.\.' has 200 characters: .* 6\.1 px high"):
        layout.fit_rect(800, 600, "ltr", ["a", "x" * 200], lambda text, size: 0.6 * size * len(text))


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_no_text_reaches_beyond_the_box_or_the_screen_that_holds_it(direction: str) -> None:
    here, word = room(direction), "x" * 300
    shown: list[Display] = [
        Whole(name="whole", text=f"A {word} sentence"),
        Page((word,), word, build_answers([word, "no"], [1, 0], direction)),
        asked(word, build_answers([f"A {word}", "short"], ["a", "b"], direction), above=word),
        Blank("About you", "", "Where?", "somewhere " * 20, "hint"),
        Blank("About you", "", "Where?", "", "hint", tuple(f"a long choice {n} " * 5 for n in range(12))),
    ]
    for display in shown:
        drawn = layout.build_marks(display, here)
        boxes = [mark for mark in drawn if isinstance(mark, layout.BoxMark) and mark.width < here.width]
        for text in (mark for mark in drawn if isinstance(mark, layout.TextMark)):
            width = here.measure(text.text, text.size)
            middle = text.x + width * {"left": 0.5, "center": 0.0, "right": -0.5}[text.align]
            assert abs(middle) + width / 2 <= here.width / 2
            for box in (box for box in boxes if abs(box.y - text.y) < box.height / 2):
                if abs(box.x - middle) < box.width / 2:
                    assert abs(middle - box.x) + width / 2 <= box.width / 2
                    assert abs(text.y - box.y) + text.size / 2 <= box.height / 2


def on_lines(words: tuple[str, ...], breaks: tuple[int, ...], direction: str = "ltr", **stated: Any) -> layout.Rect:
    lines = [layout.join_lines(words, (" ",) * (len(words) - 1), breaks)]
    section = study.config.DisplaySection(**stated)
    return layout.fit_rect(800, 600, direction, [], lambda text, size: 0.6 * size * len(text), [], lines, section)


def test_a_sentence_of_many_lines_ends_above_what_is_said_below_it() -> None:
    words, breaks = ("words",) * 200, tuple(range(14, 200, 14))
    here = on_lines(words, breaks, min_font_size=10)
    drawn = layout.build_marks(Lines(words, (" ",) * 199, breaks, hint="Press the space bar to start reading"), here)
    hint = next(mark for mark in drawn if isinstance(mark, layout.TextMark))
    lowest = min(mark.y for mark in drawn if isinstance(mark, layout.BoxMark))
    assert hint.y + hint.size / 2 < lowest
    assert max(mark.y for mark in drawn) < here.height / 2
    assert len({mark.y for mark in drawn if isinstance(mark, layout.BoxMark)}) == 15


def test_the_longest_line_of_a_study_sets_the_size_and_where_all_sentences_begin() -> None:
    words = ("words",) * 12
    here = on_lines(words, ())
    assert 0.9 * 800 < here.line_width <= 0.92 * 800
    assert here.line_size == pytest.approx(0.92 * 800 / (0.6 * 71))
    first = [layout.build_marks(Lines(words[:n], (" ",) * (n - 1)), here)[0] for n in (3, 12)]
    assert first[0].x == pytest.approx(first[1].x)
    assert on_lines(("word",), (), font_size=30).line_size == 30
    with pytest.raises(ValueError, match=r"17\.3 px high; expected at least 20 \(procedure\.display\.min_font_size\)"):
        on_lines(words, (), min_font_size=20)


def test_a_mark_is_not_parted_from_its_letter_where_a_word_is_broken() -> None:
    assert typesetting.break_lines("e\u0301" * 4, 3, len) == ["e\u0301"] * 4


@pytest.mark.parametrize(("direction", "sign"), [("ltr", 1), ("rtl", -1)])
def test_a_moving_window_uncovers_one_word_in_its_place(direction: str, sign: int) -> None:
    words, breaks = tuple(f"word{n}" for n in range(30)), (11, 20)
    display = Lines(words, (" ",) * 29, breaks)
    here = on_lines(words, breaks, direction)
    covered = layout.build_marks(display, here)
    assert all(isinstance(mark, layout.BoxMark) for mark in covered)
    places_ = layout.locate_words(30, breaks)
    assert (places_[0], places_[10], places_[11], places_[29]) == ((0, 0), (0, 10), (1, 0), (2, 9))
    for n, (line, _) in enumerate(places_):
        seen = [mark for mark in layout.build_marks(replace(display, visible_word=n), here) if isinstance(mark, layout.TextMark)]
        assert [mark.text for mark in seen] == [words[n]]
        assert seen[0].x == pytest.approx(covered[n].x)
        if n and line == places_[n - 1][0]:
            assert sign * (covered[n].x - covered[n - 1].x) > 0
    all_seen = layout.build_marks(replace(display, visible_word=29, is_cumulative=True), here)
    assert [mark.text for mark in all_seen if isinstance(mark, layout.TextMark)] == list(words)


def ink(face: typesetting.Typeface, text: str, size: float = 60) -> Any:
    """The picture of a text, and the smallest box that holds its ink."""
    from PIL import Image, ImageChops

    image, _ = layout.draw_picture([layout.TextMark(text, 0, 0, size)], face)
    return image, ImageChops.difference(image, Image.new("RGB", image.size, layout.BACKGROUND_COLOR)).getbbox()


def test_words_stand_on_one_line_in_the_middle_whatever_their_letters() -> None:
    needs_font("en", "nÁgx")
    face = typesetting.choose_typeface(["nÁgx"], "en", "ltr")
    base = []
    for text in ("nnn", "nÁn", "ngn"):
        image, (left, _, right, _) = ink(face, text)
        assert abs((left + right) - image.width) <= 4
        first = image.crop((left, 0, left + 20, image.height))
        base.append(max(y for y in range(first.height) if first.getpixel((5, y)) != first.getpixel((0, 0))) - image.height / 2)
    assert len(set(base)) == 1, "accents and descenders do not move the line"


def test_vowel_marks_are_drawn_and_letters_joined() -> None:
    from PIL import features

    if not features.check("raqm"):
        pytest.skip("FriBiDi is not installed")
    for language, plain, marked in (("ar", "كتبت", "كُتِبَتْ"), ("he", "שלום", "שָׁלוֹם")):
        needs_font(language, plain + marked)
        face = typesetting.choose_typeface([plain, marked], language, "rtl")
        assert face.has_shaping
        assert face.measure_width(plain, 60) == pytest.approx(face.measure_width(marked, 60), abs=1)
        boxes = [ink(face, text)[1] for text in (plain, marked)]
        heights = [bottom - top for _, top, _, bottom in boxes]
        assert heights[1] > heights[0] + 5, "the marks stand above and below"
    face = typesetting.choose_typeface(["كتبت"], "ar", "rtl")
    assert face.measure_width("كتب", 60) < sum(face.measure_width(one, 60) for one in "كتب"), (
        "joined letters are narrower than lone ones"
    )


def test_without_fribidi_plain_arabic_and_hebrew_are_drawn_and_marks_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("arabic_reshaper")
    # The isolated, initial, medial and final forms of Unicode's Arabic Presentation Forms-B; from right to left.
    assert typesetting.order_visually("بيت", "rtl") == "\ufe96\ufef4\ufe91"
    assert typesetting.order_visually("הספר.", "rtl") == ".רפסה"
    assert typesetting.order_visually("הספר 12 abc", "rtl") == "abc 12 רפסה"
    monkeypatch.setattr("PIL.features.check", lambda name: False)
    needs_font("he", "בית הספר")
    face = typesetting.choose_typeface(["בית הספר"], "he", "rtl")
    assert not face.has_shaping
    assert face.measure_width("בית", 40) > 0
    with pytest.raises(ValueError, match="marks that cannot be set without FriBiDi; install it"):
        typesetting.choose_typeface(["שָׁלוֹם"], "he", "rtl")


def test_lines_are_broken_before_they_are_turned_round() -> None:
    assert typesetting.break_lines("אחת שתיים שלוש", 9, len) == ["אחת שתיים", "שלוש"]
    assert typesetting.break_lines("one\ntwo  three", 9, len) == ["one two", "three"], "spaces of every kind are one space"
    assert typesetting.break_lines("彼は「本」を読んだ。", 4, len) == ["彼は", "「本」を", "読んだ。"]


def test_a_font_without_the_characters_is_refused() -> None:
    needs_font("en", "a")
    assert typesetting.choose_font(["a"], "en") in typesetting._list_fonts()
    with pytest.raises(ValueError, match="there is no such font"):
        typesetting.choose_font(["a"], "en", "No Such Font")
    with pytest.raises(ValueError, match="lacks characters of the study"):
        typesetting.choose_font(["\U0001323e"], "en")


@pytest.mark.parametrize(("language", "text"), [("en", "word"), ("ar", "كتبت"), ("he", "שלום"), ("zh", "我们")])
def test_a_font_is_found_where_fontconfig_knows_one(language: str, text: str) -> None:
    """What `needs_font` skips for is a font that is not there, never one that is not found."""
    if shutil.which("fc-list") is None:
        pytest.skip("fontconfig is not installed (no fc-list)")

    def listed(pattern: str) -> set[str]:
        return set(subprocess.run(["fc-list", pattern, "file"], capture_output=True, text=True, check=True).stdout.splitlines())

    upright = f":lang={language}:slant=0:weight=80"  # of usual weight
    if not listed(upright) - listed(":variable=true"):
        pytest.skip(f"no font for language {language} (fc-list {upright})")
    assert typesetting.choose_font([text], language)
