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
from gardenpath.study.events import Answered, Event, EventValue, Json, Visit, build_ended, create_event
from gardenpath.study.screens import (
    Answers,
    AskingScreen,
    Entry,
    Form,
    Outcome,
    ResponseValue,
    Screen,
    Side,
    Slider,
    Stimulus,
    Text,
    Whole,
    WordPairs,
    Words,
)

from ..scripts.list_files import ListFile
from ..scripts.script import Walk
from ..sessions.records import build_record, judge_outcome
from ..sessions.sessions import RecordedSession, Session, build_session_timeline, validate_session_events

MODEL_SOURCE = "model"  # the source of a session that a language model took
OPEN_MARK, CLOSE_MARK = "<<", ">>"
TRIAL_SEPARATOR = "\n\n"  # between trials, and between the pages before them
# Pages that say nothing to who reads a text: of devices, consent, pauses, and about people.
OMITTED_PAGES = ("device", "consent", "screener", "demographics", "break")


@dataclass(frozen=True)
class Question:
    """What is asked at one place: what stands before the answer, and the value of each answer as it is written."""

    task: str
    prompt: str
    text: str
    answers: Mapping[str, ResponseValue]

    @property
    def answer_labels(self) -> tuple[str, ...]:
        """The answers as they are written."""
        return tuple(self.answers)

    @property
    def is_scale(self) -> bool:
        """Whether the answers are numbers of a scale, of which there is a mean."""
        return all(isinstance(value, int) for value in self.answers.values())


@dataclass(frozen=True)
class QuestionContext:
    """A question in a session: the pages before it, the trials that are over, the one at hand up to the answer, and the answers."""

    opening: str
    trials: tuple[str, ...]
    current: str
    answers: tuple[str, ...]


@dataclass
class ModelSession:
    """A session that goes on from question to question as answers are given; nothing in it takes time.

    `opening` are the pages before the first trial, `trials` those that are over, `current` what the trial at hand has shown so far,
    `question` what is asked now, None at the end. `events` are those that a player would leave, without displays and presses, so
    that no reading and no answer has a time.

    >>> from importlib.resources import files
    >>> from gardenpath.experiment import build_list_files
    >>> from gardenpath.experiment.sessions.sessions import open_session
    >>> file, *_ = build_list_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> session = open_session(file, 0, id="s", participant="m", started="2026-01-01T00:00:00Z", source=MODEL_SOURCE)
    >>> sitting = ModelSession(session, file)
    >>> print(sitting.question.text.splitlines()[-1])
    1 = very bad, 7 = very good
    >>> sitting.answer_question("5")
    >>> sitting.trials[0].splitlines()[-1]
    '<<5>>'
    """

    session: Session
    file: ListFile
    device: str = MODEL_SOURCE
    opening: list[str] = field(default_factory=list)
    trials: list[str] = field(default_factory=list)
    current: str = ""
    question: Question | None = None
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._walk = Walk(build_session_timeline(self.session, self.file))
        self._add_event("visit", None, None, {**_VISIT_VALUE, "device": self.device})
        self._advance_to_question()

    @property
    def question_context(self) -> QuestionContext:
        """The question at hand with all that precedes it."""
        assert self.question is not None
        current = f"{self.current}{self.question.text}\n{OPEN_MARK}"
        return QuestionContext(TRIAL_SEPARATOR.join(self.opening), tuple(self.trials), current, self.question.answer_labels)

    @property
    def location(self) -> tuple[int, int] | None:
        """The step and the screen at hand."""
        return self._walk.location

    @property
    def trial_number(self) -> int | None:
        """The trial at hand, by its number among the list's."""
        return None if self._walk.location is None else self._walk.steps[self._walk.location[0]].step.trial

    @property
    def position(self) -> int | None:
        """The presented position of the trial at hand, from 0."""
        return None if self._walk.location is None else self._walk.steps[self._walk.location[0]].position

    def answer_question(self, label: str | None) -> None:
        """Answer the question at hand as it is written, and go on to the next one; None is no answer in time."""
        assert self.question is not None
        screen = self.screen
        assert isinstance(screen, AskingScreen)
        value = None if label is None else self.question.answers[label]
        self.current += f"{self.question.text}\n{OPEN_MARK}{'' if label is None else label}{CLOSE_MARK}\n"
        side = screen.find_side(value) if isinstance(screen, Answers) else None
        outcome: Outcome = "timeout" if label is None else "answered"
        if value is not None and screen.is_judged_by_player:
            outcome = judge_outcome(screen, outcome, value)
        self._end_screen(outcome, value, side)
        self._advance_to_question()

    def format_text(self) -> str:
        """Return the whole session so far, trials apart by an empty line."""
        return TRIAL_SEPARATOR.join([*self.opening, *self.trials, *([self.current.strip()] if self.current.strip() else [])])

    def build_recorded_session(self) -> RecordedSession:
        """Return the session as it is stored, finished if nothing is left to ask."""
        finished = self.session.started if self.question is None else None
        return RecordedSession(dataclasses.replace(self.session, finished=finished), tuple(self.events))

    @property
    def screen(self) -> Screen:
        """The screen at hand."""
        assert self._walk.location is not None
        number, n = self._walk.location
        return self._walk.steps[number].step.screens[n]

    def _advance_to_question(self) -> None:
        """Go through what asks nothing, up to the next question or the end."""
        self.question = None
        while self._walk.location is not None:
            number, n = self._walk.location
            if n == 0:
                self._add_event("begin", number, None, {})
            screen = self.screen
            if isinstance(screen, (Entry, WordPairs)):
                task_name = "a typed answer" if isinstance(screen, Entry) else "Maze"
                raise study.DataError(
                    f"{self.file.name}: {screen.name} is {task_name}, which models are not asked for here; expected ratings, "
                    "questions, choices or decisions"
                )
            next_question = _build_question(screen)
            if next_question is not None:
                _check_marks(next_question.text)
                self.question = next_question
                return
            step = self._walk.steps[number].step
            screen_text = "" if step.name in OMITTED_PAGES else _format_screen_text(screen)
            _check_marks(screen_text)
            self.current += f"{screen_text}\n" if screen_text else ""
            # Of itself a model says nothing, but what lets it take part.
            form_answers = {name: values[0] for name, values in screen.accepted.items()} if isinstance(screen, Form) else None
            self._end_screen(_determine_outcome(screen), form_answers, None)
        self._add_event("end", None, None, {})

    def _end_screen(self, outcome: Outcome, answer: Answered, side: Side | None) -> None:
        assert self._walk.location is not None
        number, n = self._walk.location
        self._add_event("outcome", number, n, build_ended(outcome, answer=answer, side=side))
        step = self._walk.steps[number].step
        if self._walk.end_screen(outcome):
            self._add_event("done", number, None, {"dropped_frames": None})
        if self._walk.location is None or self._walk.location[0] != number:
            if text := self.current.strip():
                (self.opening if step.trial is None and not self.trials else self.trials).append(text)
            self.current = ""

    def _add_event(self, kind: str, step: int | None, screen: int | None, value: EventValue) -> None:
        self.events.append(create_event(len(self.events), 0, float(len(self.events)), kind, step, screen, value))


_VISIT_VALUE: Visit = {
    "time_origin": 0,
    "device": MODEL_SOURCE,
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


def _determine_outcome(screen: Screen) -> Outcome:
    """Return how a screen that asks nothing ends for who goes on."""
    if isinstance(screen, Text):
        return screen.buttons[0].outcome if screen.buttons else "continued"
    if isinstance(screen, Form):
        return "accepted" if screen.accepted else "answered"
    return "read"


def _format_screen_text(screen: Screen) -> str:
    """Return what a screen that asks nothing shows."""
    if isinstance(screen, Text):
        return "\n".join(filter(None, [screen.heading, *screen.paragraphs]))
    if isinstance(screen, Words):
        return "".join(word + gap for word, gap in zip(screen.words, (*screen.gaps, ""), strict=True))
    return screen.text if isinstance(screen, Whole) else ""


def _build_question(screen: Screen) -> Question | None:
    """Return what a screen asks, None where it asks nothing."""
    if not isinstance(screen, (Answers, Slider)):
        return None
    above = [screen.above.text] if isinstance(screen.above, Stimulus) else [getattr(screen.above, "text", "")]
    answers: dict[str, ResponseValue]
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


def _check_marks(text: str) -> None:
    for mark in (OPEN_MARK, CLOSE_MARK):
        if mark in text:
            raise study.DataError(f"{text[:60]!r} holds {mark}, between which answers stand; expected a text without")


def _replay_answers(model_session: ModelSession, recorded_session: RecordedSession) -> Iterator[tuple[str, float | None]]:
    """Answer a sitting as a person did, and yield each answer as it is written with its time, ms; None where it has none.

    It ends where the session was left. An answer that did not come in time is told as an empty one, and not yielded.
    """
    outcome_events: dict[tuple[int, int], list[Event]] = {}
    for event in validate_session_events(recorded_session, model_session.file).valid_events:
        if event.kind == "begin":  # of a step begun again the last run counts
            outcome_events = {location: events for location, events in outcome_events.items() if location[0] != event.step}
        elif event.kind == "outcome" and event.step is not None and event.screen is not None:
            outcome_events.setdefault((event.step, event.screen), []).append(event)
    while model_session.question is not None and model_session.location in outcome_events:
        screen_record = build_record(model_session.screen, outcome_events[model_session.location])
        labels = {value: label for label, value in model_session.question.answers.items()}
        response_label = labels.get(screen_record.answer) if screen_record.outcome != "timeout" else None  # type: ignore[arg-type]
        model_session.answer_question(response_label)
        if response_label is not None:
            yield response_label, None if screen_record.rt is None else round(screen_record.rt, 1)


def build_transcript(recorded_session: RecordedSession, file: ListFile) -> Json:
    """Return a session as one record of Psych-101's form: `text`, `experiment`, `participant`, and the times of answers, ms.

    Raises `study.DataError` for tasks that have no text (Maze, typed answers).
    """
    model_session = ModelSession(recorded_session.session, file)
    times = [ms for _, ms in _replay_answers(model_session, recorded_session)]
    return {
        "text": model_session.format_text(),
        "experiment": f"{file.study}/{file.trial_list.experiment}",
        "participant": recorded_session.session.participant,
        "session": recorded_session.session.id,
        "rt": times,
    }


def write_transcripts(transcripts: Iterable[Mapping[str, Any]], path: str | Path) -> Path:
    """Write sessions as JSON lines, one a session, and return the path."""
    path = Path(path)
    study.files.write_text(path, "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in transcripts))
    return path
