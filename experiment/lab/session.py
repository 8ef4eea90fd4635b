"""A session from consent to debriefing, on any screen: the steps, tasks and events of the page (experiment/web/src)."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

from ..procedures import sides
from ..sessions import Json
from .displays import (
    Answer,
    Blank,
    Click,
    Display,
    Focus,
    Input,
    Key,
    Lines,
    Page,
    Painted,
    Screen,
    Slider,
    Task,
    Typed,
    Whole,
    Word,
    answers,
    points,
)
from .forms import digits, field_fault, filled
from .keys import Keys, Press
from .steps import Step, is_resumed, steps
from .texts import lab_texts

SPACE = ("Space",)
ENTER = ("Enter", "NumpadEnter")
FIXATION = "+"
SLIDES = {"ArrowLeft": -1, "ArrowDown": -1, "ArrowRight": 1, "ArrowUp": 1, "PageDown": -10, "PageUp": 10}
ENDS = {"Home": 0, "End": 100}
# A held arrow moves the slider on: after so many ms, then every so many.
HELD_AFTER, HELD_EVERY = 400.0, 40.0


class Record(Protocol):
    """Takes down what happens: kind, t in ms, trial, value."""

    def __call__(self, kind: str, t: float, trial: int | None, value: Json) -> None: ...


class Departed(Exception):
    """The participant does not go on; `reason` is "refused" (no consent) or "stopped"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Sitting:
    """One visit to a session: shows what `payload` holds on `screen` and gives `record` every event.

    `visit` is what is known of the machine; it is recorded once there is consent.
    """

    def __init__(self, payload: Json, screen: Screen, record: Record, visit: Json) -> None:
        self.payload, self.screen, self.record, self.visit = payload, screen, record, visit
        self.procedure: Json = payload["procedure"]
        self.language: str = payload["study"]["language"]
        self.texts = lab_texts(self.language, payload["texts"])
        self.keys = Keys()
        self.trial: int | None = None
        self._recording = False
        self._unread: list[Input] = []

    def run(self) -> None:
        """Run what is left of the session; raises `Departed` where the participant does not go on."""
        if is_resumed(self.payload):
            self._begin()
        for step in steps(self.payload):
            self._step(step)
        self.record("end", self.screen.now(), None, {})

    def debrief(self) -> None:
        """Show the last page until it is left."""
        self._read_last(*_paragraphs(self.texts["debriefing"]), self.texts["finished"])

    def part(self) -> None:
        """Show the last page of somebody who stops, until it is left."""
        self._read_last(self.texts["stopped_here"])

    def _read_last(self, *paragraphs: str) -> None:
        self.trial, self._recording = None, False
        self._present(Page(paragraphs, hint=self._go_on), ("Space", "Escape"))

    # ------------------------------------------------------------------------------------------------- steps

    def _step(self, step: Step) -> None:
        match step.kind:
            case "device":
                self._read_page(self._text(self.texts["device"]))
            case "consent":
                self._consent()
            case "instructions":
                self._instructions(self.texts["instructions"][step.page], step.page)
            case "practice_over":
                self._instructions(self.texts["practice_over"], "practice_over")
            case "break":
                painted, press = self._read_page(self._text(self.texts["break"]))
                self.record("break", press.t, None, {"request": painted.request})
            case "trial":
                assert step.trial is not None
                self._trial(step.trial, step.progress)
            case "demographics":
                self._demographics(self.procedure["demographics"])

    def _consent(self) -> None:
        labels = [self.texts["consent_accept"], self.texts["consent_decline"]]
        page = Page(
            tuple(self.texts["consent"]),
            self.payload["study"]["title"],
            answers(labels, [1, 0], sides(self.language, "side_by_side")),
        )
        _, press = self._ask(page, page.answers)
        if not _chosen(page.answers, press).value:
            raise Departed("refused")
        self._begin()
        at = datetime.fromtimestamp((self.visit["time_origin"] + press.t) / 1000, UTC).isoformat(
            timespec="milliseconds"
        )
        sha256 = hashlib.sha256("\n\n".join(self.texts["consent"]).encode()).hexdigest()
        self.record("consent", press.t, None, {"accepted": True, "sha256": sha256, "at": at})

    def _begin(self) -> None:
        """Nothing of who does not consent is recorded, so that the first event comes now."""
        self._recording = True
        self.record("visit", 0.0, None, self.visit)

    def _instructions(self, text: str, page: int | str) -> None:
        _, press = self._read_page(self._text(text))
        self.record("instructions", press.t, None, {"page": page})

    def _text(self, text: str) -> Page:
        return Page(_paragraphs(text), hint=self._go_on)

    @property
    def _go_on(self) -> str:
        return str(self.texts["continue"])

    def _read_page(self, page: Page) -> tuple[Painted, Press]:
        return self._present(page, SPACE)

    # ------------------------------------------------------------------------------------------------- a trial

    def _trial(self, trial: Json, progress: float) -> None:
        self.trial = trial["trial"]
        shown = {key: trial[key] for key in ("role", "item", "condition")}
        self.record("trial", self.screen.now(), self.trial, shown)
        self.screen.dropped()
        if trial["context"]:
            self._whole(trial["context"], {"what": "context"}, self._go_on)
        if trial["presentation"] != "with_task":
            for n, sentence in enumerate(trial["sentences"]):
                self._sentence(trial, sentence, {"sentence": n} if n else {})
        dropped = self.screen.dropped()
        for task in trial["tasks"]:
            self._task(task, trial, progress)
        self.record("trial_end", self.screen.now(), self.trial, {"dropped_frames": dropped})
        self.trial = None

    def _sentence(self, trial: Json, sentence: Json, which: Json) -> None:
        if trial["presentation"] == "whole":
            self._whole(_joined(sentence), {"what": "sentence", **which}, self.texts["done_hint"])
        else:
            self._self_paced(trial, sentence, which)

    def _whole(self, text: str, value: Json, hint: str) -> None:
        painted, press = self._present(Whole(text, hint), SPACE)
        self.record("reading", press.t, self.trial, {**value, **_shown(painted, press)})

    def _self_paced(self, trial: Json, sentence: Json, which: Json) -> None:
        """One word at a time: the space bar shows the first, replaces each by the next, and ends the last."""
        words, gaps = tuple(sentence["words"]), tuple(sentence["gaps"])
        hint, presentation = self.texts["start_hint"], trial["presentation"]
        places: Sequence[tuple[int, int]] = ()
        displays: list[Display]
        if presentation == "centred":
            displays = [Word(FIXATION, hint), *map(Word, words)]
        else:
            places = self.screen.places(words, gaps)
            cumulative = presentation == "cumulative"
            first = Lines(words, gaps, cumulative=cumulative)
            displays = [replace(first, hint=hint), *(replace(first, shown=n) for n in range(len(words)))]
        self.screen.prepare(displays)
        reminder = self.texts["other_key"] if trial["role"] == "practice" else ""
        ended: tuple[str, float, Json] | None = None
        for n, display in enumerate(displays):
            painted = self.screen.show(display)
            # What the last press ended is written once its successor stands on the screen.
            if ended is not None:
                self.record(ended[0], ended[1], self.trial, ended[2])
            press = self._await(display, painted, SPACE, reminder=reminder)
            value = {**which, **_shown(painted, press)}
            if n > 0:
                place = dict(zip(("line", "column"), places[n - 1], strict=True)) if places else {}
                value = {"word": n - 1, **place, **value}
            ended = "word" if n else "start", press.t, value
        assert ended is not None
        self.record(ended[0], ended[1], self.trial, ended[2])

    # ------------------------------------------------------------------------------------------------- tasks

    def _task(self, task: str, trial: Json, progress: float) -> None:
        sentence = _joined(trial["sentences"][0]) if trial["presentation"] == "with_task" else ""
        match task:
            case "question":
                self._question(trial["question"], sentence, progress)
            case "rating" if self.procedure["rating"]["kind"] == "slider":
                self._slider(self.procedure["rating"], sentence, progress)
            case "rating":
                self._rating(self.procedure["rating"], sentence, progress)
            case "choice":
                self._choice(trial["sentences"], progress)

    def _question(self, question: Json, sentence: str, progress: float) -> None:
        choices = question["choices"]
        given = answers(choices, choices, sides(self.language, "side_by_side"))
        display = Task(question["text"], given, sentence=sentence, progress=progress)
        answer = self._respond(display, "question", "question")
        if question["answer"] is None:
            return
        right = answer.value == question["answer"]
        said = self.texts["right"] if right else self.texts["wrong"].replace("{answer}", question["answer"])
        _, press = self._read_page(Page((said,), hint=self._go_on))
        self.record("instructions", press.t, None, {"page": "feedback"})

    def _rating(self, rating: Json, sentence: str, progress: float) -> None:
        if rating["kind"] == "yes_no":
            labels = [rating["high"] or self.texts["yes"], rating["low"] or self.texts["no"]]
            given = answers(labels, [1, 0], sides(self.language, "side_by_side"))
            display = Task(rating["prompt"], given, sentence=sentence, progress=progress)
        else:
            ends = {"low": rating["low"], "high": rating["high"]}
            scale = points(rating["points"])
            display = Task(rating["prompt"], scale, "points", **ends, sentence=sentence, progress=progress)
        self._respond(display, "rating", rating["name"])

    def _choice(self, sentences: Sequence[Json], progress: float) -> None:
        stated = self.procedure["choice"]
        where = sides(self.language, stated["arrangement"])
        pair = answers([_joined(one) for one in sentences], [one["condition"] for one in sentences], where)
        arrangement = "stack" if stated["arrangement"] == "stacked" else "row"
        self._respond(Task(stated["prompt"], pair, arrangement, progress=progress), "choice", stated["name"])

    def _respond(self, display: Task, task: str, prompt: str) -> Answer:
        painted, press = self._ask(display, display.answers)
        answer = _chosen(display.answers, press)
        side = {"side": answer.side} if task == "choice" else {}
        value = {"task": task, "prompt": prompt, "response": answer.value, **side, "by": press.by}
        self.record("response", press.t, self.trial, {**value, **_shown(painted, press)})
        return answer

    def _slider(self, rating: Json, sentence: str, progress: float) -> None:
        hint = self.texts["slider_keys"]
        display = Slider(rating["prompt"], rating["low"], rating["high"], None, hint, sentence, progress)
        painted = self.screen.show(display)
        while True:
            wanted = SPACE if display.value is not None else ()
            press = self._await(display, painted, (*wanted, *SLIDES, *ENDS), clicks=True)
            if press.code == "Space":
                break
            for value in self._slid(display.value, press):
                display = replace(display, value=value)
                self.screen.show(display)
        given = {"task": "rating", "prompt": rating["name"], "response": display.value, "by": press.by}
        self.record("response", press.t, self.trial, {**given, **_shown(painted, press)})

    def _slid(self, value: int | None, press: Press) -> Iterator[int]:
        """Yield where a press moves the slider, again and again while its key is held."""
        if press.answer is not None:
            yield round(100 * press.at)
            return
        if press.code in ENDS:
            yield ENDS[press.code]
            return
        step, at, patience = SLIDES[press.code], 50 if value is None else value, HELD_AFTER
        while True:
            at = min(100, max(0, at + step))
            yield at
            given = self.screen.wait(patience)
            while isinstance(given, (Typed, Click)):
                given = self.screen.wait(patience)
            if given is not None:
                self._unread.append(given)
                return
            patience = HELD_EVERY

    # ------------------------------------------------------------------------------------------------- the form

    def _demographics(self, fields: Sequence[Json]) -> None:
        given: dict[str, str | int] = {}
        t = self.screen.now()
        for field in fields:
            answer, t = self._field(field)
            if answer:
                given[field["name"]] = int(answer) if field["kind"] == "number" else answer
        self.record("demographics", t, None, {"answers": given})

    def _field(self, field: Json) -> tuple[str, float]:
        """Return what is filled in, and when."""
        choices = tuple(field["choices"])
        hint = self.texts["choose_and_enter"] if choices else self.texts["enter"]
        note = "" if field["needed"] else self.texts["may_be_empty"]
        blank = Blank(self.texts["about_you"], note, field["label"], "", hint, choices)
        painted = self.screen.show(blank)
        while True:
            given = self._next()
            if isinstance(given, Key) and not given.down:
                self.keys.up(given)
                continue
            # Of the key that ended the screen before, held or late, nothing is typed into this one.
            if given.t < painted.frame or (isinstance(given, Typed) and self.keys.held):
                continue
            if isinstance(given, Focus):
                self._focus(given)
            elif isinstance(given, Key) and given.code == "Escape":
                self._escape()
            elif isinstance(given, Key) and given.code in ENTER and not self.keys.held:
                answer = digits(blank.given.strip()) if field["kind"] == "number" else blank.given.strip()
                if not (fault := field_fault(field, answer, self.texts)):
                    self.keys.accept(given)
                    return answer, given.t
                blank = replace(blank, fault=fault)
            else:
                blank = filled(blank, given)
            self.screen.show(blank)

    # ------------------------------------------------------------------------------------------------- waiting

    def _present(self, display: Display, wanted: Collection[str]) -> tuple[Painted, Press]:
        painted = self.screen.show(display)
        return painted, self._await(display, painted, wanted)

    def _ask(self, display: Display, given: Sequence[Answer]) -> tuple[Painted, Press]:
        painted = self.screen.show(display)
        wanted = [key for answer in given for key in answer.keys]
        return painted, self._await(display, painted, wanted, clicks=True)

    def _await(
        self,
        display: Display,
        painted: Painted,
        wanted: Collection[str],
        *,
        clicks: bool = False,
        reminder: str = "",
    ) -> Press:
        """Return the press that ends a display; others are recorded where a trial runs, and none is lost."""
        while True:
            given = self._next()
            if isinstance(given, Focus):
                if self._focus(given):
                    self.screen.show(display)
            elif isinstance(given, Click):
                if clicks and given.t >= painted.frame:
                    return Press("", given.t, self.screen.now(), self.keys.released, given.answer, given.at)
            elif isinstance(given, Key) and not given.down:
                self.keys.up(given)
            elif isinstance(given, Key) and given.code == "Escape" and "Escape" not in wanted:
                self.keys.judge(given, True, painted.frame)
                self._escape()
                self.screen.show(display)
            elif isinstance(given, Key):
                reason = self.keys.judge(given, given.code in wanted, painted.frame)
                if reason is None:
                    return self.keys.accept(given)
                self._ignored(given, reason)
                if reminder and reason in ("other", "held") and isinstance(display, (Word, Lines)):
                    self.screen.show(replace(display, hint=reminder))

    def _next(self) -> Input:
        given = self._unread.pop(0) if self._unread else self.screen.wait()
        assert given is not None, "without a limit a screen waits until something happens"
        return given

    def _ignored(self, key: Key, reason: str) -> None:
        if self.trial is not None and reason != "repeat":
            self.record("press", key.t, self.trial, {"reason": reason, "code": key.code})

    def _focus(self, given: Focus) -> bool:
        """Record that the window was left or came back; cover a trial until the reader is back. Whether it was covered."""
        if self._recording:
            self.record("interruption", given.t, self.trial, {"reason": given.reason})
        if given.reason == "blur":
            self.keys.let_go()
        if given.reason != "blur" or self.trial is None:
            return False
        painted = self.screen.show(Page((self.texts["interrupted"],)))
        while True:
            came = self._next()
            if isinstance(came, Focus):
                self.record("interruption", came.t, self.trial, {"reason": came.reason})
            elif isinstance(came, Key) and not came.down:
                self.keys.up(came)
            elif isinstance(came, Key):
                reason = self.keys.judge(came, came.code == "Space", painted.frame)
                self._ignored(came, reason or "other")
                if reason is None:
                    self.keys.accept(came)
                    return True

    def _escape(self) -> None:
        """Ask whether to stop; raises `Departed` where that is meant."""
        if self.trial is not None:
            self.record("interruption", self.screen.now(), self.trial, {"reason": "escape"})
        labels = [self.texts["withdraw_no"], self.texts["stop_yes"]]
        page = Page(
            (self.texts["stop_question"],), answers=answers(labels, [0, 1], sides(self.language, "side_by_side"))
        )
        painted = self.screen.show(page)
        wanted = [key for answer in page.answers for key in answer.keys]
        while True:
            given = self._next()
            if isinstance(given, Click) and given.t >= painted.frame:
                chosen = page.answers[given.answer]
            elif isinstance(given, Key) and given.down:
                wants = given.code in (*wanted, "Escape")
                if self.keys.judge(given, wants, painted.frame) is not None:
                    continue
                press = self.keys.accept(given)
                chosen = page.answers[0] if given.code == "Escape" else _chosen(page.answers, press)
            else:
                if isinstance(given, Key):
                    self.keys.up(given)
                continue
            if chosen.value:
                raise Departed("stopped")
            return


def _chosen(given: Sequence[Answer], press: Press) -> Answer:
    if press.answer is not None:
        return given[press.answer]
    return next(answer for answer in given if press.code in answer.keys)


def _shown(painted: Painted, press: Press) -> Json:
    """Return how a display ended, in the words of events.schema.json; keys that repeat themselves are not reported here."""
    return {
        "request": painted.request,
        "frame": painted.frame,
        "frame2": painted.frame2,
        "handler": press.handler,
        "released": press.released,
    }


def _joined(sentence: Json) -> str:
    return "".join(word + gap for word, gap in zip(sentence["words"], [*sentence["gaps"], ""], strict=True))


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("\n\n") if part.strip())
