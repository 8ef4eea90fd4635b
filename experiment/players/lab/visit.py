"""One visit to a session, on any screen: a method for each kind of screen (study/screens.py)."""

import dataclasses
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from gardenpath import study
from gardenpath.study import screens
from gardenpath.study.screens import Json

from ...answers import KEYS, answers
from ...records import admits, judged
from ...script import Placed, Walk
from . import layout
from .displays import Asked, Blank, Click, Display, Focus, Input, Key, Lines, Page, Painted, Pair, Screen, Typed, Word
from .form import digits, field_fault, filled, stored
from .keys import Keys, Press

SPACE = ("Space",)
ENTER = ("Enter", "NumpadEnter")
FIXATION = "+"
SLIDES = {"ArrowLeft": -1, "ArrowDown": -1, "ArrowRight": 1, "ArrowUp": 1, "PageDown": -10, "PageUp": 10}
# A held arrow moves the slider on: after so many ms, then every so many.
HELD_AFTER, HELD_EVERY = 400.0, 40.0
# The keys of the two words of a pair; E and I are those of Ibex.
PAIRED = {"left": (*KEYS["left"], "KeyE"), "right": (*KEYS["right"], "KeyI")}
HZ = 60.0  # where the refresh rate is not known
NOWHERE: tuple[int | None, int | None] = (None, None)  # line and column of a word that stands on no lines


class Record(Protocol):
    """Takes down what happens: kind, t in ms, step, screen, value."""

    def __call__(self, kind: str, t: float, step: int | None, screen: int | None, value: Json) -> None: ...


class Departed(Exception):
    """The participant does not go on; `reason` is the ending that a screen led to, or "stopped"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Visit:
    """One opening of the window: shows on `screen` what follows from where the session stands, and gives `record` every event.

    `machine` is what the event `visit` says of the machine. Nothing is recorded before there is consent; what happened until then
    follows it.
    """

    def __init__(self, script: screens.Script, stand: Walk, screen: Screen, record: Record, machine: Json) -> None:
        self.script, self.stand, self.screen, self.record, self.machine = script, stand, screen, record, machine
        self.keys = Keys()
        self.step: Placed | None = None
        self.n = 0  # the screen of the step
        self._late: int | None = None
        self._covered = False
        self._untold: list[tuple[str, float, int | None, int | None, Json]] | None = []
        self._unwritten: list[Callable[[], None]] = []
        self._unread: list[Input] = []

    def run(self) -> None:
        """Run what is left of the session; raises `Departed` where the participant does not go on."""
        consent = self.script.consent
        if consent is None or consent in self.stand.done:
            self._tell()
        while self.stand.at is not None:
            number, self.n = self.stand.at
            self.step = self.stand.steps[number]
            if self.stand.interrupted:
                outcome = self._ended("interrupted", self.screen.now())
            else:
                if self.n == 0:
                    self._record("begin", self.screen.now(), number, None, screens.Began())
                    late = self.screen.dropped()
                    self._late = None if late is None or not self._in_trial else 0
                outcome = self._run(self.step.step.screens[self.n])
            if self.stand.end_screen(outcome):
                self._record("done", self.screen.now(), number, None, screens.Done(self._late))
                if number == consent:
                    self._tell()
        if self.stand.ending is not None:
            raise Departed(self.stand.ending)
        self._record("end", self.screen.now(), None, None, screens.Over())

    def debrief(self) -> None:
        """Show the last page until it is left."""
        said = self.script.texts["debriefing"].split("\n\n")
        self._read_last(*(text.strip() for text in said if text.strip()), self.script.lab["finished"])

    def part(self, why: str) -> None:
        """Show the last page of somebody who does not reach the end, until it is left."""
        self._read_last(self.script.lab[why if why in self.script.lab else "stopped_here"])

    def _read_last(self, *paragraphs: str) -> None:
        self.step, self._untold = None, []  # nothing more is told
        self._present(Page(paragraphs, hint=self.script.texts["continue"]), ("Space", "Escape"))

    # ------------------------------------------------------------------------------------------------- recording

    @property
    def _in_trial(self) -> bool:
        return self.step is not None and self.step.position is not None

    def _tell(self) -> None:
        """Record who is there, what has happened so far, and from now on everything at once."""
        untold, self._untold = self._untold or [], None
        self.record("visit", 0.0, None, None, self.machine)
        for event in untold:
            self.record(*event)

    def _record(self, kind: str, t: float, step: int | None, screen: int | None, value: Any) -> None:
        self._write()
        event = kind, t, step, screen, dataclasses.asdict(value)
        if self._untold is None:
            self.record(*event)
        else:
            self._untold.append(event)

    def _note(self, kind: str, t: float, value: Any) -> None:
        """Record what happened on the screen at hand."""
        at = NOWHERE if self.step is None else (self.step.number, self.n)
        self._record(kind, t, *at, value)

    def _word(
        self,
        n: int,
        t: float,
        painted: Painted,
        press: Press | None = None,
        place: tuple[int | None, int | None] = NOWHERE,
        correct: bool | None = None,
        first: float | None = None,
    ) -> None:
        """Record how a word ended: what a press ended is written once its successor stands on the screen."""

        def write() -> None:
            self._note("word", t, screens.WordEnded(n, *place, _shown(painted), _pressed(press), correct, first))

        self._unwritten.append(write)

    def _write(self) -> None:
        unwritten, self._unwritten = self._unwritten, []
        for write in unwritten:
            write()

    def _ended(
        self, outcome: Any, t: float, painted: Painted | None = None, press: Press | None = None, **answer: Any
    ) -> str:
        """Record how the screen at hand ended, and return that."""
        shown = None if painted is None else _shown(painted)
        rest = {"answer": None, "side": None, "first": None, "pasted": None, **answer}
        self._note("outcome", t, screens.Ended(outcome, display=shown, press=_pressed(press), **rest))
        return str(outcome)

    def _answered(self, screen: Any, painted: Painted, press: Press | None, answer: Any, **more: Any) -> str:
        """Record the answer to a screen that asks; without a press its time was up."""
        if press is None:
            return self._ended("timeout", painted.frame + screen.deadline, painted, **{**more, "side": None})
        judges = screen.tell and screen.right
        outcome = judged(screen, {"outcome": "answered", "answer": answer}) if judges else "answered"
        return self._ended(outcome, press.t, painted, press, answer=answer, **more)

    # ------------------------------------------------------------------------------------------------- kinds of screens

    def _run(self, screen: Any) -> str:
        """Run a screen to its end and return its outcome; frames that come late count while a sentence is read."""
        self.screen.dropped()
        outcome: str = getattr(self, f"_run_{screen.kind}")(screen)
        if screen.kind in ("words", "whole", "word_pairs") and self._late is not None:
            self._late += self.screen.dropped() or 0
        return outcome

    def _run_text(self, screen: screens.Text) -> str:
        """A page; the button that leads out is Escape here."""
        paragraphs = screen.paragraphs if screen.lab is None else screen.lab
        buttons = screen.buttons or (screens.Button(self.script.texts["continue"], "continued"),)
        if screen.space and len(buttons) == 1:
            choices: tuple[screens.Answer, ...] = (screens.Answer("", buttons[0].outcome, SPACE),)
            page = Page(paragraphs, screen.heading, hint=buttons[0].label)
        else:
            labels, outcomes = [one.label for one in buttons], [one.outcome for one in buttons]
            first, *others = answers(labels, outcomes, self.script.direction)
            choices = (replace(first, keys=(*first.keys, *(SPACE if screen.space else ()))), *others)
            page = Page(paragraphs, screen.heading, choices)
        painted, press = self._present(page, _keys(choices))
        return self._ended(_chosen(choices, press).value, press.t, painted, press)

    def _run_whole(self, screen: screens.Whole) -> str:
        painted, press = self._present(screen, SPACE)
        return self._ended("read", press.t, painted, press)

    def _run_words(self, screen: screens.Words) -> str:
        """One word at a time: the space bar shows the first, and each next one too where time does not."""
        places: Sequence[tuple[int | None, int | None]] = [NOWHERE] * len(screen.words)
        words: list[Display]
        if screen.arrangement == "centred":
            start: Display = Word(screen.fixation, screen.hint, mark=True)
            nothing: Display = Word("")
            words = [Word(word) for word in screen.words]
        else:
            nothing = Lines(screen.words, screen.gaps, screen.breaks, cumulative=screen.arrangement == "cumulative")
            start = replace(nothing, hint=screen.hint)
            words = [replace(nothing, shown=n) for n in range(len(screen.words))]
            places = layout.places(len(screen.words), screen.breaks)
        self.screen.prepare([start, *words, nothing])
        painted, press = self._present(start, SPACE, reminder=screen.reminder)
        self._word(-1, press.t, painted, press)
        if screen.pace is not None:
            return self._stream(screen, words, nothing, places)
        for n, (display, place) in enumerate(zip(words, places, strict=True)):
            painted, press = self._present(display, SPACE, reminder=screen.reminder)
            self._word(n, press.t, painted, press, place)
        return self._ended("read", press.t)

    def _stream(self, screen: screens.Words, words: Sequence[Display], nothing: Display, places: Sequence[Any]) -> str:
        """Words by the clock of the screen; one that is left is not begun again."""
        assert screen.pace is not None
        stands, pause = max(1, self._frames(screen.pace.word)), self._frames(screen.pace.pause)
        before: Painted | None = None
        ended = 0.0
        for n, (display, place) in enumerate(zip(words, places, strict=True)):
            painted = self._show(display)
            if before is not None:
                self._word(n - 1, painted.frame, before, None, places[n - 1])
            if self._stopped(stands):
                return "interrupted"
            before = painted
            if pause or n == len(words) - 1:
                ended, before = self._show(nothing).frame, None
                self._word(n, ended, painted, None, place)
                if pause and self._stopped(pause):
                    return "interrupted"
        return self._ended("read", ended)

    def _frames(self, ms: float) -> int:
        return math.floor(ms * (self.screen.refresh or HZ) / 1000 + 0.5)

    def _stopped(self, frames: int) -> bool:
        """Let a display stand for so many frames; where it is left, end the screen and return that it was."""
        while (action := self._unread.pop(0) if self._unread else self.screen.stand(frames)) is not None:
            if isinstance(action, Focus) and action.reason == "blur":
                self._ended("interrupted", action.t)
                self._focus(action)
                return True
            if isinstance(action, Key) and not action.down:
                self.keys.up(action)
            elif isinstance(action, Key):
                reason = self.keys.judge(action, (), -math.inf)
                if action.code == "Escape":
                    self._ended("interrupted", action.t)
                    self._escape()
                    return True
                self._ignored(action, reason or "other")
        return False

    def _run_word_pairs(self, screen: screens.WordPairs) -> str:
        """Two words at a time, of which one goes on with the sentence."""
        words = [(one.word, one.alternative) for one in screen.pairs]
        pairs = [
            Pair(*(two if one.side == "left" else two[::-1])) for one, two in zip(screen.pairs, words, strict=True)
        ]
        start, said = Word(FIXATION, screen.hint, mark=True), (screen.error, screen.again) if screen.redo else ()
        self.screen.prepare([start, *pairs, *(replace(pair, hint=text) for pair in pairs for text in said)])
        painted, press = self._present(start, SPACE)
        self._word(-1, press.t, painted, press)
        outcome = "right"
        for n, (one, pair) in enumerate(zip(screen.pairs, pairs, strict=True)):
            painted, press = self._present(pair, (*PAIRED["left"], *PAIRED["right"]))
            first, correct = press.t, not press.names.isdisjoint(PAIRED[one.side])
            if screen.redo and not correct:
                press = self._corrected(screen, pair, PAIRED[one.side])
            self._word(n, press.t, painted, press, correct=correct, first=first)
            if not correct:
                outcome = "wrong"
                if not screen.redo:
                    break
        return self._ended(outcome, press.t)

    def _corrected(self, screen: screens.WordPairs, pair: Pair, right: Collection[str]) -> Press:
        """Say that a choice was wrong, while the keys are dead; then wait for the right one."""
        if screen.delay:
            wrong = replace(pair, hint=screen.error)
            over = self._show(wrong).frame + screen.delay
            self._await(wrong, math.inf, (*PAIRED["left"], *PAIRED["right"]), until=over)
        return self._present(replace(pair, hint=screen.again or screen.error), right)[1]

    def _run_answers(self, screen: screens.Answers) -> str:
        display = Asked(screen, self._progress)
        painted = self._show(display)
        press = self._await(display, painted.frame, _keys(screen.answers), until=_deadline(screen, painted))
        chosen = None if press is None else _chosen(screen.answers, press)
        return self._answered(screen, painted, press, chosen and chosen.value, side=chosen and chosen.side)

    def _run_slider(self, screen: screens.Slider) -> str:
        display = Asked(screen, self._progress)
        painted, ends = self._show(display), {"Home": screen.least, "End": screen.most}
        while True:
            wanted = (*(SPACE if display.value is not None else ()), *SLIDES, *ends)
            press = self._await(display, painted.frame, wanted, until=_deadline(screen, painted))
            if press is None or press.code == "Space":
                return self._answered(screen, painted, press, display.value)
            for value in [ends[press.code]] if press.code in ends else self._slid(screen, display.value, press):
                display = replace(display, value=value)
                self._show(display)

    def _slid(self, screen: screens.Slider, value: int | None, press: Press) -> Iterator[int]:
        """Yield where a press moves the slider, again and again while its key is held."""
        length = screen.most - screen.least
        if press.answer is not None:
            yield screen.least + round(length * press.at)
            return
        step, at = SLIDES[press.code], screen.least + length // 2 if value is None else value
        patience = HELD_AFTER
        while True:
            at = min(screen.most, max(screen.least, at + step))
            yield at
            action = self.screen.wait(patience)
            while isinstance(action, (Typed, Click)):
                action = self.screen.wait(patience)
            if action is not None:
                self._unread.append(action)
                return
            patience = HELD_EVERY

    def _run_entry(self, screen: screens.Entry) -> str:
        above = getattr(screen.above, "text", "")
        blank = Blank("", "", screen.prompt, "", self.script.lab["enter"], above=above, longest=screen.longest)
        blank = replace(blank, progress=self._progress)
        text, painted, press, first = self._fill_in(blank, lambda text: "" if text else screen.missing, screen.deadline)
        return self._answered(screen, painted, press, text, first=first, pasted=0)

    def _run_form(self, screen: screens.Form) -> str:
        """One question after another; they are written together, after the last."""
        typed: dict[str, str] = {}
        ends: list[tuple[Painted, Press]] = []
        for field in screen.fields:
            typed[field.name], painted, press = self._field(screen, field)
            ends.append((painted, press))
        painted, press = ends[0][0], ends[-1][1]
        answer = stored(screen.fields, typed)
        decided = ("accepted" if admits(screen, answer) else "screened_out") if screen.accepted else "answered"
        return self._ended(decided, press.t, painted, press, answer=answer)

    def _field(self, screen: screens.Form, field: study.config.FieldSection) -> tuple[str, Painted, Press]:
        choices, read = tuple(field.choices), digits if field.kind == "number" else str
        hint = self.script.lab["choose_and_enter" if choices else "enter"]
        blank = Blank(screen.heading, "" if field.needed else screen.note, field.label, "", hint, choices)
        text, painted, press, _ = self._fill_in(blank, lambda text: field_fault(field, read(text), screen))
        assert press is not None, "a form has no deadline"
        return read(text), painted, press

    def _fill_in(
        self, blank: Blank, fault_of: Callable[[str], str], deadline: float | None = None
    ) -> tuple[str, Painted, Press | None, float | None]:
        """Return what is filled in, the display, what ended it (None: the time was up), and when its first key was pressed."""
        painted = self._show(blank)
        until = None if deadline is None else painted.frame + deadline
        first: float | None = None
        while (action := self._next(until)) is not None:
            if isinstance(action, Key) and not action.down:
                self.keys.up(action)
                continue
            # An answer is given by Enter; judged is every key, so that it is known which are down.
            reason = self.keys.judge(action, ENTER, painted.frame) if isinstance(action, Key) else "other"
            # Of the key that ended the screen before, held or late, nothing is typed into this one.
            if action.t < painted.frame or (isinstance(action, Typed) and self.keys.held):
                continue
            if first is None and (isinstance(action, Typed) or (isinstance(action, Key) and action.typed)):
                first = action.t
            if isinstance(action, Focus):
                self._focus(action)
            elif isinstance(action, Key) and action.code == "Escape":
                self._escape()
            elif isinstance(action, Key) and reason is None and not self.keys.held:
                if not (fault := fault_of(blank.text.strip())):
                    return blank.text.strip(), painted, self.keys.accept(action), first
                blank = replace(blank, fault=fault)
            else:
                blank = filled(blank, action, self.keys.digit(action) if isinstance(action, Key) else None)
            self._show(blank)
        return "", painted, None, first

    @property
    def _progress(self) -> float:
        """The share of the trials that lie behind the reader after this one."""
        if self.step is None or self.step.position is None:
            return 0.0
        return (self.step.position + 1) / sum(placed.position is not None for placed in self.stand.steps)

    # ------------------------------------------------------------------------------------------------- waiting

    def _show(self, display: Display) -> Painted:
        painted = self.screen.show(display)
        self._write()
        return painted

    def _present(self, display: Display, wanted: Collection[str], *, reminder: str = "") -> tuple[Painted, Press]:
        painted = self._show(display)
        press = self._await(display, painted.frame, wanted, reminder=reminder)
        assert press is not None, "without a limit a screen waits until something happens"
        return painted, press

    def _await(
        self,
        display: Display,
        frame: float,
        wanted: Collection[str],
        *,
        reminder: str = "",
        until: float | None = None,
    ) -> Press | None:
        """Return the press that ends a display, from `frame` on; None when `until` comes first.

        Others are recorded where a trial runs, and none is lost.
        """
        while (action := self._next(until)) is not None:
            if isinstance(action, Focus):
                if self._focus(action):
                    self._show(display)
            elif isinstance(action, Click):
                if action.t >= frame:
                    return Press("", action.t, self.screen.now(), self.keys.released, action.answer, action.at)
            elif isinstance(action, Key) and not action.down:
                self.keys.up(action)
            elif isinstance(action, Key) and action.code == "Escape" and "Escape" not in wanted:
                self.keys.judge(action, ("Escape",), frame)
                self._escape()
                self._show(display)
            elif isinstance(action, Key):
                reason = self.keys.judge(action, wanted, frame)
                if reason is None:
                    return self.keys.accept(action)
                self._ignored(action, reason)
                if reminder and reason in ("other", "held") and isinstance(display, (Word, Lines)):
                    self._show(replace(display, hint=reminder))
        return None

    def _next(self, until: float | None = None) -> Input | None:
        """Return what happens next; None when nothing did until then. What comes later is for the next screen."""
        if self._unread:
            action: Input | None = self._unread.pop(0)
        else:
            action = self.screen.wait(None if until is None else max(0.0, until - self.screen.now()))
        if action is not None and until is not None and action.t > until:
            self._unread.insert(0, action)
            return None
        assert action is not None or until is not None, "without a limit a screen waits until something happens"
        return action

    def _ignored(self, key: Key, reason: Any) -> None:
        if self._in_trial and reason != "repeat":
            self._note("press", key.t, screens.Ignored(reason, key.code))

    def _focus(self, focus: Focus) -> bool:
        """Record that the window was left or came back; cover a trial until the reader is back. Whether it was covered."""
        self._note("interruption", focus.t, screens.Interruption(focus.reason))
        if focus.reason == "blur":
            self.keys.let_go()
        if focus.reason != "blur" or not self._in_trial or self._covered:
            return False
        self._covered = True
        _, press = self._present(Page((self.script.texts["interrupted"],)), SPACE)
        self._covered = False
        self._note("press", press.t, screens.Ignored("other", press.code))
        return True

    def _escape(self) -> None:
        """Ask whether to stop; raises `Departed` where that is meant."""
        if self._in_trial:
            self._note("interruption", self.screen.now(), screens.Interruption("escape"))
        labels = [self.script.texts["withdraw_no"], self.script.lab["stop_yes"]]
        choices = answers(labels, [0, 1], self.script.direction)
        page = Page((self.script.lab["stop_question"],), answers=choices)
        _, press = self._present(page, (*_keys(choices), "Escape"))
        if press.code != "Escape" and _chosen(choices, press).value:
            raise Departed("stopped")


def _keys(choices: Sequence[screens.Answer]) -> list[str]:
    return [key for answer in choices for key in answer.keys]


def _chosen(choices: Sequence[screens.Answer], press: Press) -> screens.Answer:
    if press.answer is not None:
        return choices[press.answer]
    return next(answer for answer in choices if not press.names.isdisjoint(answer.keys))


def _deadline(screen: screens.Answers | screens.Slider, painted: Painted) -> float | None:
    return None if screen.deadline is None else painted.frame + screen.deadline


def _shown(painted: Painted) -> screens.Display:
    return screens.Display(painted.request, painted.frame, painted.frame2)


def _pressed(press: Press | None) -> screens.Press | None:
    """Return a press as events hold it; how often a key repeats itself, and whose hand it was, is not known here."""
    return None if press is None else screens.Press(press.by, press.handler, None, press.released, None)
