"""One visit to a session, on any screen: a method for each kind of screen (study/screens.py)."""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, Unpack

from gardenpath import study
from gardenpath.study import events, screens

from ...scripts.script import TimelineStep, Walk
from ...sessions.records import has_accepted_answers, judge_outcome
from ...tasks.answer_options import KEYS_BY_SIDE, build_answers
from . import layout
from .displays import (
    AnswerDisplay,
    Blank,
    Click,
    Display,
    Focus,
    FrameTimes,
    Input,
    Key,
    Lines,
    Page,
    Pair,
    Screen,
    TypedCharacter,
    Word,
)
from .form_answers import build_stored_answers, fill_blank, find_entry_fault, find_field_fault, standardise_digits
from .key_presses import KeyState, Press

SPACE_KEYS = ("Space",)
ENTER_KEYS = ("Enter", "NumpadEnter")
FIXATION_MARK = "+"
SLIDER_STEPS = {"ArrowLeft": -1, "ArrowDown": -1, "ArrowRight": 1, "ArrowUp": 1, "PageDown": -10, "PageUp": 10}
# A held arrow moves the slider on: after so many ms, then every so many.
REPEAT_DELAY_MS, REPEAT_INTERVAL_MS = 400.0, 40.0
# The keys of the two words of a pair; E and I are those of Ibex.
PAIR_KEYS = {"left": (*KEYS_BY_SIDE["left"], "KeyE"), "right": (*KEYS_BY_SIDE["right"], "KeyI")}
DEFAULT_REFRESH_HZ = 60.0  # where the refresh rate is not known
NO_LINE_POSITION: tuple[int | None, int | None] = (None, None)  # line and column of a word that stands on no lines


class EventRecorder(Protocol):
    """Takes down what happens: kind, t in ms, step, screen, value."""

    def __call__(self, kind: str, t: float, step: int | None, screen: int | None, value: events.EventValue) -> None: ...


class ParticipantLeft(Exception):
    """The participant does not go on; `reason` is the ending that a screen led to, or "stopped"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class VisitRunner:
    """One opening of the window: shows on `screen` what follows from where the session stands, and gives `record_event` every
    event.

    `machine` is what the event `visit` says of the machine. Nothing is recorded before there is consent; what happened until then
    follows it.
    """

    def __init__(
        self, script: screens.Script, walk: Walk, screen: Screen, record_event: EventRecorder, machine: events.Visit
    ) -> None:
        self.script, self.walk, self.screen, self.record_event, self.machine = (script, walk, screen, record_event, machine)
        self.keys = KeyState()
        self.step: TimelineStep | None = None
        self.screen_number = 0  # the screen of the step
        self._late_frames: int | None = None
        self._is_covered = False
        self._pending_events: list[tuple[str, float, int | None, int | None, events.EventValue]] | None = []
        self._deferred_writes: list[Callable[[], None]] = []
        self._unread_inputs: list[Input] = []

    def run(self) -> None:
        """Run what is left of the session; raises `ParticipantLeft` where the participant does not go on."""
        consent = self.script.consent
        if consent is None or consent in self.walk.done_steps:
            self._release_events()
        while self.walk.location is not None:
            number, self.screen_number = self.walk.location
            self.step = self.walk.steps[number]
            if self.walk.is_interrupted:
                outcome = self._end_screen("interrupted", self.screen.now())
            else:
                if self.screen_number == 0:
                    self._add_event("begin", self.screen.now(), number, None, events.Began())
                    late = self.screen.count_dropped_frames()
                    self._late_frames = None if late is None or not self._is_in_trial else 0
                outcome = self._run_screen(self.step.step.screens[self.screen_number])
            if self.walk.end_screen(outcome):
                self._add_event("done", self.screen.now(), number, None, events.Done(dropped_frames=self._late_frames))
                if number == consent:
                    self._release_events()
        if self.walk.ending is not None:
            raise ParticipantLeft(self.walk.ending)
        self._add_event("end", self.screen.now(), None, None, events.Over())

    def show_debriefing(self) -> None:
        """Show the last page until it is left."""
        paragraphs = self.script.texts["debriefing"].split("\n\n")
        self._show_last_page(*(text.strip() for text in paragraphs if text.strip()), self.script.lab["finished"])

    def show_early_end(self, why: str) -> None:
        """Show the last page of somebody who does not reach the end, until it is left."""
        self._show_last_page(self.script.lab[why if why in self.script.lab else "stopped_here"])

    def _show_last_page(self, *paragraphs: str) -> None:
        self.step, self._pending_events = None, []  # nothing more is told
        self._show_until_press(Page(paragraphs, hint=self.script.texts["continue"]), ("Space", "Escape"))

    # ------------------------------------------------------------------------------------------------- recording

    @property
    def _is_in_trial(self) -> bool:
        return self.step is not None and self.step.position is not None

    def _release_events(self) -> None:
        """Record who is there, what has happened so far, and from now on everything at once."""
        pending, self._pending_events = self._pending_events or [], None
        self.record_event("visit", 0.0, None, None, self.machine)
        for event in pending:
            self.record_event(*event)

    def _add_event(self, kind: str, t: float, step: int | None, screen: int | None, value: events.EventValue) -> None:
        self._run_deferred_writes()
        event = kind, t, step, screen, value
        if self._pending_events is None:
            self.record_event(*event)
        else:
            self._pending_events.append(event)

    def _add_screen_event(self, kind: str, t: float, value: events.EventValue) -> None:
        """Record what happened on the screen at hand."""
        location = NO_LINE_POSITION if self.step is None else (self.step.number, self.screen_number)
        self._add_event(kind, t, *location, value)

    def _defer_word_event(
        self,
        n: int,
        t: float,
        painted: FrameTimes,
        press: Press | None = None,
        line_position: tuple[int | None, int | None] = NO_LINE_POSITION,
        correct: bool | None = None,
        first: float | None = None,
    ) -> None:
        """Record how a word ended: what a press ended is written once its successor stands on the screen."""

        def write() -> None:
            self._add_screen_event(
                "word",
                t,
                events.build_word_ended(n, _build_display_times(painted), _build_press_event(press), line_position, correct, first),
            )

        self._deferred_writes.append(write)

    def _run_deferred_writes(self) -> None:
        deferred, self._deferred_writes = self._deferred_writes, []
        for write in deferred:
            write()

    def _end_screen(
        self,
        outcome: screens.Outcome,
        t: float,
        painted: FrameTimes | None = None,
        press: Press | None = None,
        **answer_fields: Unpack[events.AnswerFields],
    ) -> screens.Outcome:
        """Record how the screen at hand ended, and return that."""
        shown = None if painted is None else _build_display_times(painted)
        ended = events.build_ended(outcome, display=shown, press=_build_press_event(press), **answer_fields)
        self._add_screen_event("outcome", t, ended)
        return outcome

    def _end_with_response(
        self, screen: screens.AskingScreen, painted: FrameTimes, press: Press | None, **answer_fields: Unpack[events.AnswerFields]
    ) -> screens.Outcome:
        """Record the answer to a screen that asks; without a press its time was up."""
        if press is None:
            assert screen.deadline is not None
            answer_fields |= {"answer": None, "side": None}
            return self._end_screen("timeout", painted.frame + screen.deadline, painted, **answer_fields)
        outcome = judge_outcome(screen, "answered", answer_fields["answer"]) if screen.is_judged_by_player else "answered"
        return self._end_screen(outcome, press.t, painted, press, **answer_fields)

    # ------------------------------------------------------------------------------------------------- kinds of screens

    def _run_screen(self, screen: screens.Screen) -> screens.Outcome:
        """Run a screen to its end and return its outcome; frames that come late count while a sentence is read."""
        self.screen.count_dropped_frames()
        outcome: screens.Outcome = getattr(self, f"_run_{screen.kind}")(screen)
        if screen.kind in ("words", "whole", "word_pairs") and self._late_frames is not None:
            self._late_frames += self.screen.count_dropped_frames() or 0
        return outcome

    def _run_text(self, screen: screens.Text) -> screens.Outcome:
        """A page; the button that leads out is Escape here."""
        paragraphs = screen.paragraphs if screen.lab is None else screen.lab
        buttons = screen.buttons or (screens.Button(self.script.texts["continue"], "continued"),)
        if screen.space and len(buttons) == 1:
            choices: tuple[screens.Answer, ...] = (screens.Answer("", buttons[0].outcome, SPACE_KEYS),)
            page = Page(paragraphs, screen.heading, hint=buttons[0].label)
        else:
            labels, outcomes = [one.label for one in buttons], [one.outcome for one in buttons]
            first, *others = build_answers(labels, outcomes, self.script.direction)
            choices = (replace(first, keys=(*first.keys, *(SPACE_KEYS if screen.space else ()))), *others)
            page = Page(paragraphs, screen.heading, choices)
        painted, press = self._show_until_press(page, _list_answer_keys(choices))
        chosen = _find_chosen_answer(choices, press).value
        outcome = next(one.outcome for one in buttons if one.outcome == chosen)
        return self._end_screen(outcome, press.t, painted, press)

    def _run_whole(self, screen: screens.Whole) -> screens.Outcome:
        painted, press = self._show_until_press(screen, SPACE_KEYS)
        return self._end_screen("read", press.t, painted, press)

    def _run_words(self, screen: screens.Words) -> screens.Outcome:
        """One word at a time: the space bar shows the first, and each next one too where time does not."""
        line_positions: Sequence[tuple[int | None, int | None]] = [NO_LINE_POSITION] * len(screen.words)
        words: list[Display]
        if screen.arrangement == "centred":
            start: Display = Word(screen.fixation, screen.hint, is_mark=True)
            empty: Display = Word("")
            words = [Word(word) for word in screen.words]
        else:
            empty = Lines(screen.words, screen.gaps, screen.breaks, is_cumulative=screen.arrangement == "cumulative")
            start = replace(empty, hint=screen.hint)
            words = [replace(empty, visible_word=n) for n in range(len(screen.words))]
            line_positions = layout.locate_words(len(screen.words), screen.breaks)
        self.screen.prepare([start, *words, empty])
        painted, press = self._show_until_press(start, SPACE_KEYS, reminder=screen.reminder)
        self._defer_word_event(-1, press.t, painted, press)
        if screen.pace is not None:
            return self._show_word_stream(screen, words, empty, line_positions)
        for n, (display, line_position) in enumerate(zip(words, line_positions, strict=True)):
            painted, press = self._show_until_press(display, SPACE_KEYS, reminder=screen.reminder)
            self._defer_word_event(n, press.t, painted, press, line_position)
        return self._end_screen("read", press.t)

    def _show_word_stream(
        self, screen: screens.Words, words: Sequence[Display], empty: Display, line_positions: Sequence[Any]
    ) -> screens.Outcome:
        """Words by the clock of the screen; one that is left is not begun again."""
        assert screen.pace is not None
        word_frames, pause_frames = max(1, self._count_frames(screen.pace.word)), self._count_frames(screen.pace.pause)
        before: FrameTimes | None = None
        ended = 0.0
        for n, (display, line_position) in enumerate(zip(words, line_positions, strict=True)):
            painted = self._show_display(display)
            if before is not None:
                self._defer_word_event(n - 1, painted.frame, before, None, line_positions[n - 1])
            if self._hold_until_interrupted(word_frames):
                return "interrupted"
            before = painted
            if pause_frames or n == len(words) - 1:
                ended, before = self._show_display(empty).frame, None
                self._defer_word_event(n, ended, painted, None, line_position)
                if pause_frames and self._hold_until_interrupted(pause_frames):
                    return "interrupted"
        return self._end_screen("read", ended)

    def _count_frames(self, ms: float) -> int:
        return math.floor(ms * (self.screen.refresh or DEFAULT_REFRESH_HZ) / 1000 + 0.5)

    def _hold_until_interrupted(self, frames: int) -> bool:
        """Let a display stand for so many frames; where it is left, end the screen and return that it was."""
        while (action := self._unread_inputs.pop(0) if self._unread_inputs else self.screen.hold_display(frames)) is not None:
            if isinstance(action, Focus) and action.reason == "blur":
                self._end_screen("interrupted", action.t)
                self._handle_focus(action)
                return True
            if isinstance(action, Key) and not action.is_down:
                self.keys.release_key(action)
            elif isinstance(action, Key):
                reason = self.keys.judge_press(action, (), -math.inf)
                if action.code == "Escape":
                    self._end_screen("interrupted", action.t)
                    self._confirm_stopping()
                    return True
                self._record_ignored_press(action, reason or "other")
        return False

    def _run_word_pairs(self, screen: screens.WordPairs) -> screens.Outcome:
        """Two words at a time, of which one goes on with the sentence."""
        words = [(one.word, one.alternative) for one in screen.pairs]
        pairs = [Pair(*(two if one.side == "left" else two[::-1])) for one, two in zip(screen.pairs, words, strict=True)]
        start, error_hints = (Word(FIXATION_MARK, screen.hint, is_mark=True), (screen.error, screen.again) if screen.redo else ())
        self.screen.prepare([start, *pairs, *(replace(pair, hint=text) for pair in pairs for text in error_hints)])
        painted, press = self._show_until_press(start, SPACE_KEYS)
        self._defer_word_event(-1, press.t, painted, press)
        outcome: screens.Outcome = "right"
        for n, (one, pair) in enumerate(zip(screen.pairs, pairs, strict=True)):
            painted, press = self._show_until_press(pair, (*PAIR_KEYS["left"], *PAIR_KEYS["right"]))
            first, correct = press.t, not press.key_names.isdisjoint(PAIR_KEYS[one.side])
            if screen.redo and not correct:
                press = self._wait_for_correction(screen, pair, PAIR_KEYS[one.side])
            self._defer_word_event(n, press.t, painted, press, correct=correct, first=first)
            if not correct:
                outcome = "wrong"
                if not screen.redo:
                    break
        return self._end_screen(outcome, press.t)

    def _wait_for_correction(self, screen: screens.WordPairs, pair: Pair, right_keys: Collection[str]) -> Press:
        """Say that a choice was wrong, while the keys are dead; then wait for the right one."""
        if screen.delay:
            wrong = replace(pair, hint=screen.error)
            end_time = self._show_display(wrong).frame + screen.delay
            self._await_press(wrong, math.inf, (*PAIR_KEYS["left"], *PAIR_KEYS["right"]), until=end_time)
        return self._show_until_press(replace(pair, hint=screen.again or screen.error), right_keys)[1]

    def _run_answers(self, screen: screens.Answers) -> screens.Outcome:
        display = AnswerDisplay(screen, self._progress)
        painted = self._show_display(display)
        press = self._await_press(
            display, painted.frame, _list_answer_keys(screen.answers), until=_compute_deadline(screen, painted)
        )
        chosen = None if press is None else _find_chosen_answer(screen.answers, press)
        return self._end_with_response(
            screen, painted, press, answer=None if chosen is None else chosen.value, side=None if chosen is None else chosen.side
        )

    def _run_slider(self, screen: screens.Slider) -> screens.Outcome:
        display = AnswerDisplay(screen, self._progress)
        painted, ends = self._show_display(display), {"Home": screen.least, "End": screen.most}
        while True:
            wanted = (*(SPACE_KEYS if display.value is not None else ()), *SLIDER_STEPS, *ends)
            press = self._await_press(display, painted.frame, wanted, until=_compute_deadline(screen, painted))
            if press is None or press.code == "Space":
                return self._end_with_response(screen, painted, press, answer=display.value)
            for value in [ends[press.code]] if press.code in ends else self._move_slider(screen, display.value, press):
                display = replace(display, value=value)
                self._show_display(display)

    def _move_slider(self, screen: screens.Slider, value: int | None, press: Press) -> Iterator[int]:
        """Yield where a press moves the slider, again and again while its key is held."""
        length = screen.most - screen.least
        if press.answer is not None:
            yield screen.least + round(length * press.slider_share)
            return
        step, position = SLIDER_STEPS[press.code], screen.least + length // 2 if value is None else value
        patience = REPEAT_DELAY_MS
        while True:
            position = min(screen.most, max(screen.least, position + step))
            yield position
            action = self.screen.wait(patience)
            while isinstance(action, (TypedCharacter, Click)):
                action = self.screen.wait(patience)
            if action is not None:
                self._unread_inputs.append(action)
                return
            patience = REPEAT_INTERVAL_MS

    def _run_entry(self, screen: screens.Entry) -> screens.Outcome:
        above = getattr(screen.above, "text", "")
        blank = Blank("", "", screen.prompt, "", self.script.lab["enter"], text_above=above, max_length=screen.longest)
        blank = replace(blank, progress=self._progress)
        convert = standardise_digits if screen.not_positive else str
        text, painted, press, first = self._fill_in(blank, lambda text: find_entry_fault(convert(text), screen), screen.deadline)
        text = convert(text)
        return self._end_with_response(screen, painted, press, answer=text, first=first, pasted=0)

    def _run_form(self, screen: screens.Form) -> screens.Outcome:
        """One question after another; they are written together, after the last."""
        typed: dict[str, str] = {}
        ends: list[tuple[FrameTimes, Press]] = []
        for field in screen.fields:
            typed[field.name], painted, press = self._ask_field(screen, field)
            ends.append((painted, press))
        painted, press = ends[0][0], ends[-1][1]
        answer = build_stored_answers(screen.fields, typed)
        outcome: screens.Outcome = "answered"
        if screen.accepted:
            outcome = "accepted" if has_accepted_answers(screen, answer) else "screened_out"
        return self._end_screen(outcome, press.t, painted, press, answer=answer)

    def _ask_field(self, screen: screens.Form, field: study.config.FieldSection) -> tuple[str, FrameTimes, Press]:
        choices, convert = tuple(field.choices), standardise_digits if field.kind == "number" else str
        hint = self.script.lab["choose_and_enter" if choices else "enter"]
        blank = Blank(screen.heading, "" if field.required else screen.note, field.label, "", hint, choices)
        text, painted, press, _ = self._fill_in(blank, lambda text: find_field_fault(field, convert(text), screen))
        assert press is not None, "a form has no deadline"
        return convert(text), painted, press

    def _fill_in(
        self, blank: Blank, find_fault: Callable[[str], str], deadline: float | None = None
    ) -> tuple[str, FrameTimes, Press | None, float | None]:
        """Return what is filled in, the display, what ended it (None: the time was up), and when its first key was pressed."""
        painted = self._show_display(blank)
        until = None if deadline is None else painted.frame + deadline
        first: float | None = None
        while (action := self._get_next_input(until)) is not None:
            if isinstance(action, Key) and not action.is_down:
                self.keys.release_key(action)
                continue
            # An answer is given by Enter; judged is every key, so that it is known which are down.
            reason = self.keys.judge_press(action, ENTER_KEYS, painted.frame) if isinstance(action, Key) else "other"
            # Of the key that ended the screen before, held or late, nothing is typed into this one.
            if action.t < painted.frame or (isinstance(action, TypedCharacter) and self.keys.has_held_key):
                continue
            if first is None and (isinstance(action, TypedCharacter) or (isinstance(action, Key) and action.character)):
                first = action.t
            if isinstance(action, Focus):
                self._handle_focus(action)
            elif isinstance(action, Key) and action.code == "Escape":
                self._confirm_stopping()
            elif isinstance(action, Key) and reason is None and not self.keys.has_held_key:
                if not (fault := find_fault(blank.text.strip())):
                    return blank.text.strip(), painted, self.keys.accept_press(action), first
                blank = replace(blank, fault=fault)
            else:
                blank = fill_blank(blank, action, self.keys.find_digit(action) if isinstance(action, Key) else None)
            self._show_display(blank)
        return "", painted, None, first

    @property
    def _progress(self) -> float:
        """The share of the trials that lie behind the reader after this one."""
        if self.step is None or self.step.position is None:
            return 0.0
        return (self.step.position + 1) / sum(timeline_step.position is not None for timeline_step in self.walk.steps)

    # ------------------------------------------------------------------------------------------------- waiting

    def _show_display(self, display: Display) -> FrameTimes:
        painted = self.screen.show(display)
        self._run_deferred_writes()
        return painted

    def _show_until_press(self, display: Display, wanted: Collection[str], *, reminder: str = "") -> tuple[FrameTimes, Press]:
        painted = self._show_display(display)
        press = self._await_press(display, painted.frame, wanted, reminder=reminder)
        assert press is not None, "without a limit a screen waits until something happens"
        return painted, press

    def _await_press(
        self, display: Display, frame: float, wanted: Collection[str], *, reminder: str = "", until: float | None = None
    ) -> Press | None:
        """Return the press that ends a display, from `frame` on; None when `until` comes first.

        Others are recorded where a trial runs, and none is lost.
        """
        while (action := self._get_next_input(until)) is not None:
            if isinstance(action, Focus):
                if self._handle_focus(action):
                    self._show_display(display)
            elif isinstance(action, Click):
                if action.t >= frame:
                    return Press("", action.t, self.screen.now(), self.keys.release_time, action.answer, action.slider_share)
            elif isinstance(action, Key) and not action.is_down:
                self.keys.release_key(action)
            elif isinstance(action, Key) and action.code == "Escape" and "Escape" not in wanted:
                self.keys.judge_press(action, ("Escape",), frame)
                self._confirm_stopping()
                self._show_display(display)
            elif isinstance(action, Key):
                reason = self.keys.judge_press(action, wanted, frame)
                if reason is None:
                    return self.keys.accept_press(action)
                self._record_ignored_press(action, reason)
                if reminder and reason in ("other", "held") and isinstance(display, (Word, Lines)):
                    self._show_display(replace(display, hint=reminder))
        return None

    def _get_next_input(self, until: float | None = None) -> Input | None:
        """Return what happens next; None when nothing did until then. What comes later is for the next screen."""
        if self._unread_inputs:
            action: Input | None = self._unread_inputs.pop(0)
        else:
            action = self.screen.wait(None if until is None else max(0.0, until - self.screen.now()))
        if action is not None and until is not None and action.t > until:
            self._unread_inputs.insert(0, action)
            return None
        assert action is not None or until is not None, "without a limit a screen waits until something happens"
        return action

    def _record_ignored_press(self, key: Key, reason: events.IgnoredReason) -> None:
        if self._is_in_trial and reason != "repeat":
            self._add_screen_event("press", key.t, events.Ignored(reason=reason, code=key.code))

    def _handle_focus(self, focus: Focus) -> bool:
        """Record that the window was left or came back; cover a trial until the reader is back. Whether it was covered."""
        self._add_screen_event("interruption", focus.t, events.Interruption(reason=focus.reason))
        if focus.reason == "blur":
            self.keys.release_all()
        if focus.reason != "blur" or not self._is_in_trial or self._is_covered:
            return False
        self._is_covered = True
        _, press = self._show_until_press(Page((self.script.texts["interrupted"],)), SPACE_KEYS)
        self._is_covered = False
        self._add_screen_event("press", press.t, events.Ignored(reason="other", code=press.code))
        return True

    def _confirm_stopping(self) -> None:
        """Ask whether to stop; raises `ParticipantLeft` where that is meant."""
        if self._is_in_trial:
            self._add_screen_event("interruption", self.screen.now(), events.Interruption(reason="escape"))
        labels = [self.script.texts["withdraw_no"], self.script.lab["stop_yes"]]
        choices = build_answers(labels, [0, 1], self.script.direction)
        page = Page((self.script.lab["stop_question"],), answers=choices)
        _, press = self._show_until_press(page, (*_list_answer_keys(choices), "Escape"))
        if press.code != "Escape" and _find_chosen_answer(choices, press).value:
            raise ParticipantLeft("stopped")


def _list_answer_keys(choices: Sequence[screens.Answer]) -> list[str]:
    return [key for answer in choices for key in answer.keys]


def _find_chosen_answer(choices: Sequence[screens.Answer], press: Press) -> screens.Answer:
    if press.answer is not None:
        return choices[press.answer]
    return next(answer for answer in choices if not press.key_names.isdisjoint(answer.keys))


def _compute_deadline(screen: screens.Answers | screens.Slider, painted: FrameTimes) -> float | None:
    return None if screen.deadline is None else painted.frame + screen.deadline


def _build_display_times(painted: FrameTimes) -> events.Display:
    return events.build_display(painted.request, painted.frame, painted.next_frame)


def _build_press_event(press: Press | None) -> events.Press | None:
    """Return a press as events hold it; how often a key repeats itself, and whose hand it was, is not known here."""
    return (
        None
        if press is None
        else events.Press(by=press.input_device, handler=press.handler, repeats=None, released=press.release_time, trusted=None)
    )
