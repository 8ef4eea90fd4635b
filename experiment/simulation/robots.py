"""Robots: participants with known effects, who take sessions over HTTP or within this process."""

import contextlib
import csv
import dataclasses
import math
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Protocol

from gardenpath import study
from gardenpath.stimuli import CRITICAL, UNGRAMMATICAL, Paradigm, Sentence, Trial
from gardenpath.stimuli.item_tables import measure_word_length, zipf
from gardenpath.study import executors
from gardenpath.study.config import ParticipantMeasureSection
from gardenpath.study.events import (
    Display,
    Event,
    EventValue,
    Json,
    Press,
    Visit,
    build_display,
    build_ended,
    build_word_ended,
    create_event,
)
from gardenpath.study.executors import Executor
from gardenpath.study.participant_measures import SIMULATED_MEASURES_FILE, code_measure, draw_measure
from gardenpath.study.screens import Answers, AskingScreen, Entry, Form, Outcome, Screen, Text, Whole, WordPairs, Words

from ..scripts.list_files import ListFile
from ..scripts.script import TimelineStep, Walk, build_timeline
from ..sessions.records import judge_outcome
from ..sessions.session_folders import write_recorded_session
from ..sessions.sessions import RecordedSession, build_payload, open_session, replay_session_events
from ..tasks import SimulatedResponse, find_task
from .factor_effects import ConditionEffect, require_known_effects, sum_effects_by_condition, sum_effects_by_word
from .surprisal_effects import compute_word_slowing

if TYPE_CHECKING:
    import pandas as pd

FRAME_MS = 1000 / 60  # ms; a robot's display
CENTRE = 0.7  # mean of grammatical sentences on the latent scale of ratings
SESSIONS_PER_BATCH = 10  # sessions that a worker is given together


@dataclass(frozen=True)
class Effects:
    """What is true of robots: effects on log reading time (ms) and on a latent rating scale in units of its usual residual s.d.

    An ungrammatical sentence is read slower by `critical` at the words of the critical region and by `spillover` at the
    word after it, and rated lower by `rating`, each times the phenomenon's `scale` (1 where none is given). Of two sentences
    one is chosen with log odds of their distance on the scale. `comprehension` and `attention` are the probabilities of the right
    answer to a question and of an expected response to an attention item; `slips` is that of taking the wrong one of two words
    first.

    `terms` are effects of factors and interactions, as [simulate] in study.toml states them; in paradigms that have one of
    them they take the place of `critical`, `spillover` and `rating`. They may name `measures` of participants, which are drawn for
    each robot, are its answers to the questions that ask for them, and count from the middle of their distribution.

    `ms_per_bit` is added to the reading time for each bit of a language model's surprisal: of the word read, then of the word
    before it (spillover), and so on.

    >>> Effects(scale={"npi": 0.5}).rating
    1.5
    """

    rating: float = 1.5
    critical: float = 0.12
    spillover: float = 0.06
    length: float = 0.012
    zipf: float = -0.015
    trial: float = -0.04
    log_rt: float = 5.75
    participant_sd: float = 0.20
    item_sd: float = 0.05
    residual_sd: float = 0.22
    rating_participant_sd: float = 0.5
    rating_item_sd: float = 0.3
    rating_residual_sd: float = 1.0
    comprehension: float = 0.9
    attention: float = 0.95
    slips: float = 0.03
    scale: Mapping[str, float] = field(default_factory=dict)
    terms: Mapping[str, study.EffectSection] = field(default_factory=dict)
    measures: Mapping[str, ParticipantMeasureSection] = field(default_factory=dict)
    ms_per_bit: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if any(ms < 0 for ms in self.ms_per_bit):
            raise ValueError(f"ms_per_bit is {self.ms_per_bit}; expected 0 or more: nobody reads in less than no time")


@dataclass(frozen=True)
class Robot:
    """Runs a session from its payload with events drawn from `effects`; the same seed and name give the same events.

    `files` holds the lists that it may meet, by SHA-256: what they show, which answers are right, where the critical words are;
    `condition_effects` the effects of a study's own factors, by paradigm and condition, of `paradigms`; `added_word_times` the ms
    that surprisal adds to each word, by item and condition. `whole_number_questions` are answered by whole numbers.

    >>> from importlib.resources import files
    >>> from gardenpath import experiment
    >>> list_files = experiment.build_list_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> machine = create_robot(list_files, seed=1)
    >>> machine.files[list_files[0].sha256].name
    'E1-L1'
    """

    effects: Effects
    seed: int
    files: Mapping[str, ListFile]
    condition_effects: Mapping[tuple[str, str], ConditionEffect] = field(default_factory=dict)
    paradigms: Mapping[str, Paradigm] = field(default_factory=dict)
    added_word_times: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)
    whole_number_questions: frozenset[str] = frozenset()

    def simulate_events(self, session: Json, name: str) -> Iterator[Json]:
        """Yield the events of a whole session in order, as the page would send them."""
        clock = _EventClock(session["visit"], session["next_seq"])
        waiting: list[Json] = []  # nothing is told before there is consent
        for simulated_screen in self.simulate_screens(session, name):
            if simulated_screen.is_first:
                waiting.append(clock.build_event("begin", simulated_screen.timeline_step.number, None, {}))
            waiting += _build_screen_events(simulated_screen, clock)
            if simulated_screen.is_last:
                waiting.append(clock.build_event("done", simulated_screen.timeline_step.number, None, {"dropped_frames": None}))
            if simulated_screen.has_consented:
                if simulated_screen.has_visit:
                    yield {**clock.build_event("visit", None, None, _VISIT_VALUE), "seq": session["next_seq"], "t": 0.0}
                    waiting = [{**event, "seq": event["seq"] + 1} for event in waiting]
                yield from waiting
                waiting = []
        yield clock.build_event("end", None, None, {})

    def simulate_screens(self, session: Json, name: str) -> Iterator["SimulatedScreen"]:
        """Yield what the robot does on each screen that the session shows, in order."""
        file = self.files[session["list_sha256"]]
        participant = self.draw_participant(name)
        random = Random(f"{self.seed}-robot-{name}")
        participant_effects = (random.gauss(0, self.effects.participant_sd), random.gauss(0, self.effects.rating_participant_sd))
        order = [session["script"]["trials"][n]["trial"] for n in session["order"]]
        if file.trial_list.short_lists:  # each of a reader's short lists is another one, and the reader the same
            random = Random(f"{self.seed}-robot-{name}-{order}")
        steps = build_timeline(file.script, order)
        walk = Walk(steps, session["done"], {block: (n, total) for block, (n, total) in session["tallies"].items()})
        consent = file.script.consent
        has_consented = consent is None or consent in walk.done_steps
        needs_visit = True
        while walk.location is not None:
            number, n = walk.location
            timeline_step = steps[number]
            screen = timeline_step.step.screens[n]
            response = self._simulate_response(screen, timeline_step, file, participant_effects, random, participant)
            last = walk.end_screen(_determine_outcome(screen, response))
            has_consented = has_consented or (number == consent and last)
            yield SimulatedScreen(timeline_step, n, screen, response, n == 0, last, has_consented, has_consented and needs_visit)
            needs_visit = needs_visit and not has_consented

    def draw_participant(self, name: str) -> "SimulatedParticipant":
        """Return the measures of a robot of this name, and what its conditions do to it."""
        values: dict[str, str | float] = {}
        for key, measure in self.effects.measures.items():
            value = draw_measure(key, measure, Random(f"{self.seed}-robot-{name}-{key}"))
            decimals = 0 if measure.file is None and (measure.question or key) in self.whole_number_questions else 2
            values[key] = value if isinstance(value, str) else round(value, decimals)
        effects = self.condition_effects
        if any(key in term.split(":") for term in self.effects.terms for key in values):
            codes = {key: code_measure(self.effects.measures[key], value) for key, value in values.items()}
            effects = sum_effects_by_condition(self.effects.terms, self.paradigms.values(), codes)
        return SimulatedParticipant(values, effects)

    def _list_answers(self, participant: "SimulatedParticipant") -> dict[str, str | float]:
        """Return the measures that answer a question, by question."""
        asked = {key: one.question or key for key, one in self.effects.measures.items() if one.file is None}
        return {question: participant.measures[key] for key, question in asked.items()}

    def _simulate_response(
        self,
        screen: Screen,
        timeline_step: TimelineStep,
        file: ListFile,
        participant_effects: tuple[float, float],
        random: Random,
        participant: "SimulatedParticipant",
    ) -> SimulatedResponse:
        if screen.task == "page":
            return _respond_to_page(screen, random, self._list_answers(participant))
        assert timeline_step.step.trial is not None
        simulated_reader = _TrialReader(
            self,
            file,
            file.trial_list.trials[timeline_step.step.trial],
            timeline_step.position or 0,
            participant_effects,
            random,
            participant.condition_effects,
        )
        return find_task(screen.task).simulate_response(screen, simulated_reader)


@dataclass(frozen=True)
class SimulatedScreen:
    """What a robot did on a screen: the first or the last one shown of its step; whether consent was given by then, and
    whether the visit's device is sent with it (`has_visit`).
    """

    timeline_step: TimelineStep
    screen_number: int
    screen: Screen
    response: SimulatedResponse
    is_first: bool
    is_last: bool
    has_consented: bool
    has_visit: bool


@dataclass(frozen=True)
class SimulatedParticipant:
    """Who a robot is: its measures, and what its conditions do to it."""

    measures: Mapping[str, str | float]
    condition_effects: Mapping[tuple[str, str], ConditionEffect]


def _respond_to_page(screen: Screen, random: Random, answers: Mapping[str, str | float]) -> SimulatedResponse:
    """Leave a page of the study: read it and go on, or fill it in."""
    if isinstance(screen, Form):
        time = 20_000 * random.random()
        filled = {
            one.name: _format_answer(one, answers[one.name])
            if one.name in answers
            else _draw_form_answer(one, screen.accepted, random)
            for one in screen.fields
        }
        return SimulatedResponse((time,), filled)
    return SimulatedResponse((2000 + 1000 * random.random(),))


def _determine_outcome(screen: Screen, response: SimulatedResponse) -> Outcome:
    """Return how a screen ends by what a robot does on it."""
    if isinstance(screen, Text):
        return screen.buttons[0].outcome if screen.buttons else "continued"
    if isinstance(screen, WordPairs):
        return "wrong" if response.wrong_pairs else "right"
    if isinstance(screen, (Words, Whole)):
        return "read"
    if isinstance(screen, Form):
        return "accepted" if screen.accepted else "answered"
    if screen.deadline is not None and response.times_ms[0] > screen.deadline:
        return "timeout"
    if screen.is_judged_by_player:
        return judge_outcome(screen, "answered", response.answer)
    return "answered"


def _build_screen_events(simulated_screen: SimulatedScreen, clock: "_EventClock") -> list[Json]:
    """Return the events of a screen, as a player would make them."""
    screen, response, location = (
        simulated_screen.screen,
        simulated_screen.response,
        (simulated_screen.timeline_step.number, simulated_screen.screen_number),
    )
    outcome = _determine_outcome(screen, response)
    if isinstance(screen, (Words, WordPairs)):
        words = (
            clock.show_pairs(screen, response, location)
            if isinstance(screen, WordPairs)
            else clock.show_words(screen, response, location)
        )
        return [*words, clock.build_event("outcome", *location, build_ended(outcome))]
    is_late = outcome == "timeout"
    deadline = screen.deadline if isinstance(screen, AskingScreen) else None
    display, press = clock.show_display(response.times_ms[0] if deadline is None or not is_late else deadline)
    side = screen.find_side(response.answer) if isinstance(screen, Answers) else None
    first = None if response.first_key_ms is None else min(display["request"] + response.first_key_ms, clock.now)
    answer = None if is_late else response.answer
    pasted = 0 if isinstance(screen, Entry) else None
    ended = build_ended(
        outcome,
        answer=answer,
        side=None if is_late else side,
        display=display,
        press=None if is_late else press,
        first=first,
        pasted=pasted,
    )
    return [clock.build_event("outcome", *location, ended)]


@dataclass(frozen=True)
class _TrialReader:
    """A robot in the middle of a trial."""

    robot: Robot
    file: ListFile
    trial: Trial
    position: int
    participant_effects: tuple[float, float]
    random: Random
    condition_effects: Mapping[tuple[str, str], ConditionEffect]

    @property
    def p_correct(self) -> float:
        p = self.robot.effects.comprehension
        condition_effect = self._find_condition_effect(self.trial.condition)
        if condition_effect is None or not condition_effect.accuracy or p in (0, 1):
            return p
        return _shift_probability(p, condition_effect.accuracy)

    @property
    def p_attentive(self) -> float:
        return self.robot.effects.attention

    def compute_slip_probabilities(self, sentence: int) -> list[float]:
        condition, sentence_shown = self.trial.shown_sentences[sentence]
        words, p = sentence_shown.list_displayed_words(), self.robot.effects.slips
        condition_effect = self._find_condition_effect(condition)
        added = sum_effects_by_word(condition_effect.first_choice, sentence_shown) if condition_effect else {}
        return [p if p in (0, 1) else _shift_probability(p, -added.get(word, 0.0)) for word in range(len(words))]

    def draw_reading_times(self, sentence: int) -> list[float]:
        """Draw the reading time of each word of one of the trial's sentences, ms."""
        sd = self.robot.effects.residual_sd
        condition, sentence_shown = self.trial.shown_sentences[sentence]
        word_effects, words = (self._compute_word_effects(condition, sentence_shown), sentence_shown.list_displayed_words())
        added_times = self.robot.added_word_times.get((self.trial.item.id, condition), (0.0,) * len(words))
        return [
            math.exp(self.random.gauss(self._compute_log_rt(word, text, word_effects) + self.participant_effects[0], sd))
            + added_times[word]
            for word, text in enumerate(words)
        ]

    def draw_text_time(self, text: str) -> float:
        """Draw the time of a text that is read at once, ms: that of its words."""
        effects = self.robot.effects
        return sum(
            math.exp(self.random.gauss(effects.log_rt + self.participant_effects[0], effects.residual_sd)) for _ in text.split()
        )

    def draw_latent_rating(self, condition: str) -> float:
        """Draw where a sentence lies on the latent scale."""
        effects, rater = self.robot.effects, 0.0 if len(self.trial.shown_sentences) > 1 else self.participant_effects[1]
        latent = self._compute_mean_rating(condition) + rater + self.random.gauss(0, effects.rating_residual_sd)
        return latent + self._draw_item_effect("rating") * effects.rating_item_sd

    def compute_preference(self, condition: str, other: str) -> float:
        """Return the probability that of two sentences of an item the first one is chosen: its log odds are their distance on the
        latent scale, in s.d. of a single rating.
        """
        distance = self._compute_mean_rating(condition) - self._compute_mean_rating(other)
        sd = self.robot.effects.rating_residual_sd
        if not sd:
            return 0.5 if not distance else float(distance > 0)
        return _shift_probability(0.5, distance / sd)

    def _compute_mean_rating(self, condition: str) -> float:
        condition_effect = self._find_condition_effect(condition)
        violation = self.robot.effects.rating * self._compute_violation(condition)
        return CENTRE + (condition_effect.rating if condition_effect else -violation)

    def _compute_log_rt(self, word: int, text: str, word_effects: Mapping[int, float]) -> float:
        """Expected log reading time of a word for the average robot."""
        effects = self.robot.effects
        mean = effects.log_rt + self._draw_item_effect("rt") * effects.item_sd + effects.trial * math.log(self.position + 1)
        mean += effects.length * measure_word_length(text) + effects.zipf * (zipf(text, self.file.language) or 0)
        return mean + word_effects.get(word, 0.0)

    def _compute_word_effects(self, condition: str, sentence: Sentence) -> Mapping[int, float]:
        """What the condition adds to the log reading time of words, by their index."""
        condition_effect = self._find_condition_effect(condition)
        if condition_effect is None:
            effects, violation = self.robot.effects, self._compute_violation(condition)
            regions = {CRITICAL: effects.critical * violation, f"{CRITICAL}+1": effects.spillover * violation}
            condition_effect = ConditionEffect(regions)
        return sum_effects_by_word(condition_effect.log_rt, sentence)

    def _find_condition_effect(self, condition: str) -> ConditionEffect | None:
        """What the study's factors do in a condition; None where nothing is stated of the paradigm."""
        return self.condition_effects.get((self.trial.item.paradigm, condition))

    def _compute_violation(self, condition: str) -> float:
        """0 for a grammatical sentence, the phenomenon's scale for an ungrammatical one."""
        if condition != UNGRAMMATICAL:
            return 0.0
        phenomena = {paradigm.id: paradigm.phenomenon for paradigm in self.file.paradigms}
        return self.robot.effects.scale.get(phenomena.get(self.trial.item.paradigm, ""), 1.0)

    def _draw_item_effect(self, measure: str) -> float:
        """An item's standard-normal deviation, the same for every robot of this seed."""
        return Random(f"{self.robot.seed}-item-{self.trial.item.id}-{measure}").gauss(0, 1)


def _shift_probability(p: float, log_odds: float) -> float:
    """Return the probability whose log odds are greater by so much."""
    return 1 / (1 + math.exp(-math.log(p / (1 - p)) - log_odds))


def _format_answer(form_field: study.config.FieldSection, value: str | float) -> str | int:
    """Return a measure as the answer to a question: chosen, a whole number, or typed."""
    if isinstance(value, str):
        return value
    return int(value) if form_field.kind == "number" else f"{value:g}"


def _draw_form_answer(form_field: study.config.FieldSection, accepted: Mapping[str, Sequence[str]], random: Random) -> str | int:
    """Draw an answer to a question about the participant, an accepted one where it decides who takes part."""
    if form_field.kind == "choice":
        return str(random.choice(accepted.get(form_field.name, form_field.choices)))
    if form_field.kind == "text":
        return "robot"
    low, high = form_field.min or 0, 99 if form_field.max is None else form_field.max
    return random.randint(low, high)


def create_robot(
    list_files: Iterable[ListFile], *, seed: int, effects: Effects | None = None, surprisal: "pd.DataFrame | None" = None
) -> Robot:
    """Return a robot that knows what these lists show and expect, with the stated or the standard effects.

    `effects.ms_per_bit` are of the bits of `surprisal`, the table of one language model. Raises `study.DataError` where
    `effects.terms` name a factor or a region that the lists do not have, and where `surprisal` is of other sentences.

    >>> from importlib.resources import files
    >>> from gardenpath import experiment
    >>> list_files = experiment.build_list_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> create_robot(list_files, seed=1).effects.rating
    1.5
    """
    effects, files = effects or Effects(), {file.sha256: file for file in list_files}
    if bool(effects.ms_per_bit) != (surprisal is not None):
        raise ValueError("effects.ms_per_bit and surprisal belong together; expected both or neither")
    trials = [trial for file in files.values() for trial in file.trial_list.trials]
    paradigms = {paradigm.id: paradigm for file in files.values() for paradigm in file.paradigms}
    require_known_effects(effects.terms, paradigms.values(), trials, effects.measures)
    own_terms = {term: one for term, one in effects.terms.items() if not {*term.split(":")} & {*effects.measures}}
    return Robot(
        effects,
        seed,
        files,
        sum_effects_by_condition(own_terms, paradigms.values()),
        paradigms,
        {} if surprisal is None else compute_word_slowing(effects.ms_per_bit, surprisal, trials),
        frozenset(one.name for file in files.values() for one in _list_form_fields(file) if one.kind == "number"),
    )


def _list_form_fields(file: ListFile) -> list[study.config.FieldSection]:
    """Return the questions about the participant that a list asks."""
    forms = (screen for step in (*file.script.front, *file.script.end) for screen in step.screens if isinstance(screen, Form))
    return [one for form in forms for one in form.fields]


_VISIT_VALUE = Visit(
    time_origin=0,
    device="robot",
    refresh_hz=60.0,
    timer_ms=0.005,
    width=None,
    height=None,
    pixel_ratio=None,
    isolated=None,
    keyboard=True,
    monitor=None,
    full_screen=None,
    font=None,
    software={},
)


class _EventClock:
    """Numbers events and lets simulated time pass."""

    def __init__(self, visit: int, seq: int) -> None:
        self.visit, self.seq, self.now = visit, seq, 1000.0

    def build_event(self, kind: str, step: int | None, screen: int | None, value: EventValue) -> Json:
        event = {"seq": self.seq, "visit": self.visit, "t": self.now, "kind": kind}
        self.seq += 1
        return {**event, "step": step, "screen": screen, "value": value}

    def show_display(self, ms: float) -> tuple[Display, Press]:
        """A display painted on the frame after the last press, and ended `ms` after that press."""
        request = self.now
        frame = (request // FRAME_MS + 1) * FRAME_MS
        self.now += max(ms, frame - request + 1)
        press: Press = {"by": "key", "handler": self.now, "repeats": 0, "released": None, "trusted": True}
        return build_display(request, frame, frame + FRAME_MS), press

    def show_words(self, screen: Words, response: SimulatedResponse, location: tuple[int, int]) -> Iterator[Json]:
        """The displays of a sentence, each ended by a press, or by time where there is a pace."""
        for n, ms in enumerate(response.times_ms, start=-1):
            is_timed = screen.pace is not None and n >= 0
            if screen.pace is not None and is_timed:
                request = self.now
                frame = (request // FRAME_MS + 1) * FRAME_MS
                self.now = frame + max(1, round(screen.pace.word / FRAME_MS)) * FRAME_MS
                ended = build_word_ended(n, build_display(request, frame, frame + FRAME_MS))
            else:
                ended = build_word_ended(n, *self.show_display(ms))
            yield self.build_event("word", *location, ended)
            if screen.pace is not None and is_timed:
                self.now += round(screen.pace.pause / FRAME_MS) * FRAME_MS

    def show_pairs(self, screen: WordPairs, response: SimulatedResponse, location: tuple[int, int]) -> Iterator[Json]:
        """The pairs of a maze; a wrong choice ends it, or is followed by the right one."""
        for n, ms in enumerate(response.times_ms, start=-1):
            before = self.now
            display, press = self.show_display(ms)
            if n < 0:
                yield self.build_event("word", *location, build_word_ended(n, display, press))
                continue
            is_wrong, first = n in response.wrong_pairs, self.now
            if is_wrong and screen.redo:
                self.now += screen.delay + 300
                press = {**press, "handler": self.now}
            assert first > before
            ended = build_word_ended(n, display, press, correct=not is_wrong, first=first)
            yield self.build_event("word", *location, ended)
            if is_wrong and not screen.redo:
                return


class Transport(Protocol):
    """How a robot reaches a study."""

    def begin_session(self, name: str) -> Json:
        """Open a session and return its payload."""

    def send_events(self, session: Json, events: Sequence[Json]) -> None:
        """Store events."""

    def submit_screener(self, session: Json, answers: Json) -> bool:
        """Return whether these answers to the screener let one take part."""

    def finish_session(self, session: Json, events: int) -> str:
        """Complete the session of so many events and return the completion code."""


def run_robot_session(robot: Robot, transport: Transport, name: str) -> str:
    """Let a robot take a whole session, sending after each step as the page does; return the completion code, "" for one that
    is screened out.

    >>> from importlib.resources import files
    >>> from gardenpath import experiment
    >>> list_files = experiment.build_list_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> with tempfile.TemporaryDirectory() as folder:  # where no server gives a code
    ...     run_robot_session(create_robot(list_files, seed=1), FolderTransport(Path(folder), list_files), "robot 1")
    ''
    """
    return _run_open_session(robot, transport, transport.begin_session(name), name)


def _run_open_session(robot: Robot, transport: Transport, session: Json, name: str) -> str:
    """Let a robot take a session that is open."""
    unsent: list[Json] = []
    count = session["next_seq"]
    for event in robot.simulate_events(session, name):
        unsent.append(event)
        count += 1
        answer = event["value"].get("answer")
        if event["value"].get("outcome") == "accepted" and answer and not transport.submit_screener(session, answer):
            return ""
        if event["kind"] in ("done", "end"):
            transport.send_events(session, unsent)
            unsent = []
    return transport.finish_session(session, count)


class HttpTransport:
    """Reaches a running server, whose address this is, by the calls of docs/api.md; its sessions are marked as a robot's.

    `key` is the experimenter's, which stands in the preview links.
    """

    def __init__(self, address: str, key: str) -> None:
        self.key = key
        self.client = study.errors.require("httpx2", "online").Client(base_url=address, timeout=30)

    def begin_session(self, name: str) -> Json:
        return self._send_request("POST", "api/sessions", {"participant": name, "source": "robot", "key": self.key}, {})

    def send_events(self, session: Json, events: Sequence[Json]) -> None:
        self._send_request(
            "PUT", f"api/sessions/{session['session']}/events", {"events": list(events)}, _build_auth_header(session)
        )

    def submit_screener(self, session: Json, answers: Json) -> bool:
        path = f"api/sessions/{session['session']}/screener"
        decision: Json = self._send_request("POST", path, {"answers": answers}, _build_auth_header(session))
        return bool(decision["outcome"] == "accepted")

    def finish_session(self, session: Json, events: int) -> str:
        path = f"api/sessions/{session['session']}/complete"
        code: str = self._send_request("POST", path, {"events": events}, _build_auth_header(session))["code"]
        return code

    def _send_request(self, method: str, path: str, body: Json, headers: dict[str, str]) -> Json:
        response = self.client.request(method, path, json=body, headers=headers)
        answer: Json = response.json()
        if response.is_error:
            raise ValueError(f"{method} {path}: the server answered {response.status_code}: {answer}")
        return answer


def _build_auth_header(session: Json) -> dict[str, str]:
    return {"Authorization": f"Bearer {session['token']}"}


@dataclass(frozen=True)
class AssignedSession:
    """A session before it begins: its number, who takes it, the hash of the list, and the order in it."""

    number: int
    participant: str
    list_sha256: str
    slot: int


class LocalTransport:
    """Reaches no server: deals lists in turn, or to each reader the next short list, and keeps the last session that was taken."""

    def __init__(self, list_files: Sequence[ListFile]) -> None:
        self.list_files = list_files
        self.assigned_count = 0
        self.events: list[Event] = []
        self._used_slots: dict[str, set[int]] = {file.name: set() for file in list_files}
        self._seen_contents: dict[str, frozenset[str]] = {}  # what of lists each reader was shown

    def _find_slot(self, name: str) -> tuple[ListFile, int]:
        slot, turn = divmod(self.assigned_count, len(self.list_files))
        if not self.list_files[turn].trial_list.short_lists:
            return self.list_files[turn], slot
        for file in (*self.list_files[turn:], *self.list_files[:turn]):
            used_slots, seen_contents = self._used_slots[file.name], self._seen_contents.get(name, frozenset())
            if (open_slot := file.trial_list.find_open_slot(used_slots, used_slots, seen_contents)) is not None:
                used_slots.add(open_slot)
                self._seen_contents[name] = seen_contents | file.trial_list.collect_contents(
                    file.trial_list.order_trials(open_slot)
                )
                return file, open_slot
        raise LookupError(f"no list is left that shows nothing of what {name} has judged")

    def assign_session(self, name: str) -> AssignedSession:
        """Return which session comes next; `LookupError` where no list is left for a reader."""
        file, slot = self._find_slot(name)
        self.assigned_count += 1
        return AssignedSession(self.assigned_count - 1, name, file.sha256, slot)

    def begin_session(self, name: str) -> Json:
        return self.begin_assigned_session(self.assign_session(name))

    def begin_assigned_session(self, assigned: AssignedSession) -> Json:
        """Begin the session that was dealt, here or by a transport of another process."""
        self.file = next(file for file in self.list_files if file.sha256 == assigned.list_sha256)
        # A simulation has no time of day; counting minutes keeps the sessions in order and the bytes the same.
        day = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(minutes=assigned.number)
        self.session = open_session(
            self.file,
            assigned.slot,
            id=f"s-{assigned.number:05}",
            participant=assigned.participant,
            started=day.isoformat(timespec="milliseconds"),
            source="simulation",
        )
        self.events = []
        walk = replay_session_events(self.session, self.file)
        return build_payload(self.session, self.file, walk, token="", visit=0, next_seq=0)

    def send_events(self, session: Json, events: Sequence[Json]) -> None:
        self.events += [create_event(**event) for event in events]

    def submit_screener(self, session: Json, answers: Json) -> bool:
        return True  # robots give accepted answers, and quotas are the server's

    def finish_session(self, session: Json, events: int) -> str:
        finished = dataclasses.replace(self.session, finished=self.session.started)
        self.recorded_session = RecordedSession(finished, tuple(self.events))
        return ""


class FolderTransport(LocalTransport):
    """Reaches no server, and writes each session to a folder."""

    def __init__(self, folder: Path, list_files: Sequence[ListFile]) -> None:
        super().__init__(list_files)
        self.folder = folder

    def finish_session(self, session: Json, events: int) -> str:
        super().finish_session(session, events)
        write_recorded_session(self.folder, self.recorded_session, self.file)
        return ""


def simulate_sessions(
    list_files: Sequence[ListFile], *, participants: int, seed: int, effects: Effects | None = None
) -> Iterator[RecordedSession]:
    """Yield one session of each of some robots, as `simulate` writes them.

    >>> from importlib.resources import files
    >>> from gardenpath import experiment
    >>> list_files = experiment.build_list_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> [one.session.list_name for one in simulate_sessions(list_files, participants=2, seed=1)]
    ['E1-L1', 'E1-L2']
    """
    robot, transport = create_robot(list_files, seed=seed, effects=effects), LocalTransport(list_files)
    for number in range(participants):
        name = _name_robot(number)
        with contextlib.suppress(LookupError):
            _run_open_session(robot, transport, transport.begin_session(name), name)
            yield transport.recorded_session


def _name_robot(number: int) -> str:
    return f"sim-{number + 1:04}"


def simulate(
    list_files: Sequence[ListFile],
    folder: str | Path,
    *,
    participants: int,
    seed: int,
    sessions: int = 1,
    effects: Effects | None = None,
    surprisal: "pd.DataFrame | None" = None,
    replace: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    workers: Executor | None = None,
) -> int:
    """Write the sessions of simulated participants with known effects to `folder`, lists dealt in turn; return how many.

    Of short lists each participant takes up to `sessions`, while there are some that show nothing twice.

    Of `effects.measures` those that a file by participant would hold are written beside the sessions, and `collect` gives them back
    as demographics.

    With `effects.ms_per_bit`, `surprisal` is the table of a language model that scored these sentences. The folder appears when
    all sessions are written. One that is there raises `FileExistsError`, unless `replace`, which takes the place of an earlier
    simulation and of nothing else. With `workers`, such as `study.executors.LocalExecutor(2)`, sessions are spread over
    processes that reach the folder, and have the same bytes.

    >>> from importlib.resources import files
    >>> from gardenpath import experiment
    >>> list_files = experiment.build_list_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     simulate(list_files, f"{folder}/data", participants=2, seed=1)
    2
    """
    if participants < 1:
        raise ValueError(f"participants is {participants}; expected at least 1")
    folder = Path(folder)
    if folder.exists() and not replace:
        raise FileExistsError(f"{folder}: exists already; give --force to replace an earlier simulation, or write elsewhere")
    if folder.exists() and not _is_simulation_folder(folder):
        raise FileExistsError(f"{folder}: holds something other than an earlier simulation, so it is not replaced; write elsewhere")
    machine = create_robot(list_files, seed=seed, effects=effects, surprisal=surprisal)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
        transport = FolderTransport(Path(temporary) / "sessions", list_files)
        has_short_lists = any(file.trial_list.short_lists for file in list_files)
        assigned = []
        for n in range(participants * (sessions if has_short_lists else 1)):
            with contextlib.suppress(LookupError):
                assigned.append(transport.assign_session(_name_robot(n % participants)))
        batches = [
            _Batch(machine, transport.folder, assigned[n : n + SESSIONS_PER_BATCH])
            for n in range(0, len(assigned), SESSIONS_PER_BATCH)
        ]
        done = 0
        for outcome in executors.map_in_parallel(_write_batch, batches, workers):
            done += outcome.get_value()
            progress(done, len(assigned))
        _write_measures(machine, dict.fromkeys(one.participant for one in assigned), transport.folder)
        if folder.exists():
            shutil.rmtree(folder)
        transport.folder.rename(folder)
    return transport.assigned_count


def _write_measures(robot: Robot, participants: Iterable[str], folder: Path) -> None:
    """Write what a study's files by participant would say of robots, where it states any."""
    names = [name for name, measure in robot.effects.measures.items() if measure.file is not None]
    if names:
        rows = [[person, *(str(robot.draw_participant(person).measures[name]) for name in names)] for person in participants]
        with (folder / SIMULATED_MEASURES_FILE).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([["participant", *names], *rows])


@dataclass(frozen=True)
class _Batch:
    """Sessions that one process writes."""

    robot: Robot
    folder: Path
    assigned_sessions: Sequence[AssignedSession]


def _write_batch(batch: _Batch) -> int:
    """Write the sessions of a batch; return how many."""
    transport = FolderTransport(batch.folder, [*batch.robot.files.values()])
    for assigned in batch.assigned_sessions:
        _run_open_session(batch.robot, transport, transport.begin_assigned_session(assigned), assigned.participant)
    return len(batch.assigned_sessions)


def _is_simulation_folder(folder: Path) -> bool:
    """Whether all that a folder holds are simulated sessions, their lists and a sidecar."""
    for path in folder.iterdir():
        session = path / "session.json"
        simulated = session.is_file() and '"source": "simulation"' in session.read_text("utf-8")
        if not (simulated or path.name in ("lists", "sessions.meta.json", SIMULATED_MEASURES_FILE)):
            return False
    return True
