"""Sessions as text: what a participant was shown and answered, for language models that take part, or read what people answered.

Answers stand in << >>, as in Psych-101 (doi 10.1038/s41586-025-09215-4); written from the description of that form.
"""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gardenpath import study
from gardenpath.study.screens import (
    Answers,
    Ended,
    Entry,
    Event,
    Form,
    Json,
    Slider,
    Stimulus,
    Text,
    Value,
    Whole,
    WordPairs,
    Words,
)

from .records import judged, record_of
from .script import Walk
from .sessions import Session, SessionRecord, sifted, steps_of
from .versions import VersionFile

MODEL = "model"  # the source of a session that a language model took
OPEN, CLOSE = "<<", ">>"
APART = "\n\n"  # between trials, and between the pages before them
# Pages that say nothing to who reads a text: of devices, consent, pauses, and about people.
UNTOLD = ("device", "consent", "screener", "demographics", "break")


@dataclass(frozen=True)
class Question:
    """What is asked at one place: what stands before the answer, and the value of each answer as it is written."""

    task: str
    prompt: str
    text: str
    answers: Mapping[str, Value]

    @property
    def written(self) -> tuple[str, ...]:
        """The answers as they are written."""
        return tuple(self.answers)

    @property
    def is_scale(self) -> bool:
        """Whether the answers are numbers of a scale, of which there is a mean."""
        return all(isinstance(value, int) for value in self.answers.values())


@dataclass(frozen=True)
class Asked:
    """A question in a session: the pages before it, the trials that are over, the one at hand up to the answer, and the answers."""

    opening: str
    trials: tuple[str, ...]
    current: str
    answers: tuple[str, ...]


@dataclass
class Sitting:
    """A session that goes on from question to question as answers are given; nothing in it takes time.

    `opening` are the pages before the first trial, `trials` those that are over, `current` what the trial at hand has shown so far,
    `question` what is asked now, None at the end. `events` are those that a player would leave, without displays and presses, so
    that no reading and no answer has a time.

    >>> from importlib.resources import files
    >>> from gardenpath.experiment import version_files
    >>> from gardenpath.experiment.sessions import open_session
    >>> file, *_ = version_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> session = open_session(file, 0, id="s", participant="m", started="2026-01-01T00:00:00Z", source=MODEL)
    >>> sitting = Sitting(session, file)
    >>> print(sitting.question.text.splitlines()[-1])
    1 = very bad, 7 = very good
    >>> sitting.answer("5")
    >>> sitting.trials[0].splitlines()[-1]
    '<<5>>'
    """

    session: Session
    file: VersionFile
    device: str = MODEL
    opening: list[str] = field(default_factory=list)
    trials: list[str] = field(default_factory=list)
    current: str = ""
    question: Question | None = None
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._walk = Walk(steps_of(self.session, self.file))
        self._event("visit", None, None, {**_VISIT, "device": self.device})
        self._go_on()

    @property
    def asked(self) -> Asked:
        """The question at hand with all that precedes it."""
        assert self.question is not None
        current = f"{self.current}{self.question.text}\n{OPEN}"
        return Asked(APART.join(self.opening), tuple(self.trials), current, self.question.written)

    @property
    def place(self) -> tuple[int, int] | None:
        """The step and the screen at hand."""
        return self._walk.at

    @property
    def trial(self) -> int | None:
        """The trial at hand, by its number among the version's."""
        return None if self._walk.at is None else self._walk.steps[self._walk.at[0]].step.trial

    @property
    def position(self) -> int | None:
        """The presented position of the trial at hand, from 0."""
        return None if self._walk.at is None else self._walk.steps[self._walk.at[0]].position

    def answer(self, written: str | None) -> None:
        """Answer the question at hand as it is written, and go on to the next one; None is no answer in time."""
        assert self.question is not None
        screen = self.screen
        value = None if written is None else self.question.answers[written]
        self.current += f"{self.question.text}\n{OPEN}{'' if written is None else written}{CLOSE}\n"
        side = next((one.side for one in getattr(screen, "answers", ()) if one.value == value), None)
        told = "timeout" if written is None else "answered"
        if value is not None and screen.tell and screen.right:
            told = judged(screen, {"outcome": told, "answer": value})
        self._end(told, value, side)
        self._go_on()

    def text(self) -> str:
        """Return the whole session so far, trials apart by an empty line."""
        return APART.join([*self.opening, *self.trials, *([self.current.strip()] if self.current.strip() else [])])

    def record(self) -> SessionRecord:
        """Return the session as it is stored, finished if nothing is left to ask."""
        over = self.session.started if self.question is None else None
        return SessionRecord(dataclasses.replace(self.session, finished=over), tuple(self.events))

    @property
    def screen(self) -> Any:
        """The screen at hand."""
        assert self._walk.at is not None
        number, n = self._walk.at
        return self._walk.steps[number].step.screens[n]

    def _go_on(self) -> None:
        """Go through what asks nothing, up to the next question or the end."""
        self.question = None
        while self._walk.at is not None:
            number, n = self._walk.at
            if n == 0:
                self._event("begin", number, None, {})
            screen = self.screen
            if isinstance(screen, (Entry, WordPairs)):
                what = "a typed answer" if isinstance(screen, Entry) else "Maze"
                raise study.DataError(
                    f"{self.file.name}: {screen.name} is {what}, which models are not asked for here; expected ratings, "
                    "questions, choices or decisions"
                )
            asked = _question(screen)
            if asked is not None:
                _check(asked.text)
                self.question = asked
                return
            step = self._walk.steps[number].step
            said = "" if step.name in UNTOLD else _said(screen)
            _check(said)
            self.current += f"{said}\n" if said else ""
            # Of itself a model says nothing, but what lets it take part.
            about = {name: values[0] for name, values in screen.accepted.items()} if isinstance(screen, Form) else None
            self._end(_outcome(screen), about, None)
        self._event("end", None, None, {})

    def _end(self, outcome: str, answer: Any, side: str | None) -> None:
        assert self._walk.at is not None
        number, n = self._walk.at
        ended = Ended(outcome, answer, side, None, None, None, None)  # type: ignore[arg-type]
        self._event("outcome", number, n, dataclasses.asdict(ended))
        step = self._walk.steps[number].step
        if self._walk.end_screen(outcome):
            self._event("done", number, None, {"dropped_frames": None})
        if self._walk.at is None or self._walk.at[0] != number:
            if text := self.current.strip():
                (self.opening if step.trial is None and not self.trials else self.trials).append(text)
            self.current = ""

    def _event(self, kind: str, step: int | None, screen: int | None, value: Json) -> None:
        self.events.append(Event(len(self.events), 0, float(len(self.events)), kind, step, screen, value))


_VISIT: Json = {
    "time_origin": 0,
    "device": MODEL,
    "refresh_hz": None,
    "timer_ms": None,
    "width": None,
    "height": None,
    "pixel_ratio": None,
    "isolated": None,
    "keyboard": True,
    "monitor": None,
    "full_screen": None,
    "font": None,
    "software": {},
}


def _outcome(screen: Any) -> str:
    """Return how a screen that asks nothing ends for who goes on."""
    if isinstance(screen, Text):
        return screen.buttons[0].outcome if screen.buttons else "continued"
    if isinstance(screen, Form):
        return "accepted" if screen.accepted else "answered"
    return "read"


def _said(screen: Any) -> str:
    """Return what a screen that asks nothing shows."""
    if isinstance(screen, Text):
        return "\n".join(filter(None, [screen.heading, *screen.paragraphs]))
    if isinstance(screen, Words):
        return "".join(word + gap for word, gap in zip(screen.words, (*screen.gaps, ""), strict=True))
    return screen.text if isinstance(screen, Whole) else ""


def _question(screen: Any) -> Question | None:
    """Return what a screen asks, None where it asks nothing."""
    if not isinstance(screen, (Answers, Slider)):
        return None
    above = [screen.above.text] if isinstance(screen.above, Stimulus) else [getattr(screen.above, "text", "")]
    answers: dict[str, Value]
    if isinstance(screen, Slider):
        answers = {str(value): value for value in range(screen.least, screen.most + 1)}
        below = [f"{screen.least} = {screen.low}, {screen.most} = {screen.high}"]
    elif screen.arrangement == "points":
        answers = {one.label: one.value for one in screen.answers}
        below = [f"{screen.answers[0].label} = {screen.low}, {screen.answers[-1].label} = {screen.high}"]
    elif screen.arrangement == "row":
        answers = {one.label: one.value for one in screen.answers}
        below = [" / ".join(answers)]
    else:  # the sentences of a pair, numbered as they stand
        answers = {str(n): one.value for n, one in enumerate(screen.answers, start=1)}
        below = [f"{n}. {one.label}" for n, one in enumerate(screen.answers, start=1)]
    return Question(screen.task, screen.name, "\n".join(filter(None, [*above, screen.prompt, *below])), answers)


def _check(text: str) -> None:
    for mark in (OPEN, CLOSE):
        if mark in text:
            raise study.DataError(f"{text[:60]!r} holds {mark}, between which answers stand; expected a text without")


def _retold(sitting: Sitting, record: SessionRecord) -> Iterator[tuple[str, float | None]]:
    """Answer a sitting as a person did, and yield each answer as it is written with its time, ms; None where it has none.

    It ends where the session was left. An answer that did not come in time is told as an empty one, and not yielded.
    """
    ended: dict[tuple[int, int], list[Event]] = {}
    for event in sifted(record, sitting.file).known:
        if event.kind == "begin":  # of a step begun again the last run counts
            ended = {place: events for place, events in ended.items() if place[0] != event.step}
        elif event.kind == "outcome" and event.step is not None and event.screen is not None:
            ended.setdefault((event.step, event.screen), []).append(event)
    while sitting.question is not None and sitting.place in ended:
        taken = record_of(sitting.screen, ended[sitting.place])
        labels = {value: label for label, value in sitting.question.answers.items()}
        written = labels.get(taken.answer) if taken.outcome != "timeout" else None  # type: ignore[arg-type]
        sitting.answer(written)
        if written is not None:
            yield written, None if taken.rt is None else round(taken.rt, 1)


def transcript(record: SessionRecord, file: VersionFile) -> Json:
    """Return a session as one record of Psych-101's form: `text`, `experiment`, `participant`, and the times of answers, ms.

    Raises `study.DataError` for tasks that have no text (Maze, typed answers).
    """
    sitting = Sitting(record.session, file)
    times = [ms for _, ms in _retold(sitting, record)]
    return {
        "text": sitting.text(),
        "experiment": f"{file.study}/{file.version.experiment}",
        "participant": record.session.participant,
        "session": record.session.id,
        "rt": times,
    }


def write_transcripts(records: Iterable[Mapping[str, Any]], path: str | Path) -> Path:
    """Write sessions as JSON lines, one a session, and return the path."""
    path = Path(path)
    study.files.write_text(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return path
