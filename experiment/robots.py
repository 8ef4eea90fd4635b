"""Robots: participants with known effects, who take sessions over HTTP or within this process."""

import contextlib
import dataclasses
import math
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from gardenpath import study
from gardenpath.stimuli import CRITICAL, UNGRAMMATICAL, Sentence, Trial
from gardenpath.stimuli.item_tables import word_length, zipf
from gardenpath.study import engines
from gardenpath.study.engines import Engine
from gardenpath.study.screens import (
    Display,
    Ended,
    Entry,
    Event,
    Form,
    Json,
    Press,
    Text,
    Visit,
    WordEnded,
    WordPairs,
    Words,
)

from .factor_effects import Shift, at_words, by_condition
from .records import judged
from .script import Placed, Walk, sequence
from .session_folders import write_record
from .sessions import SessionRecord, open_session, payload, walked
from .surprisal_effects import slowing
from .tasks import Act, task_of
from .versions import VersionFile

if TYPE_CHECKING:
    import pandas as pd

FRAME = 1000 / 60  # ms; a robot's display
AT_ONCE = 10  # sessions that a worker is given together


@dataclass(frozen=True)
class Effects:
    """What is true of robots: effects on log reading time (ms) and on a latent rating scale in units of its residual s.d.

    An ungrammatical sentence is read slower by `critical` at the words of the critical region and by `spillover` at the
    word after it, and rated lower by `rating`, each times the phenomenon's `scale` (1 where none is given). Of two sentences
    the one higher on the scale is chosen, each with a residual of its own. `comprehension` and `attention` are the
    probabilities of the right answer to a question and of an expected response to an attention item; `slips` is that of
    taking the wrong one of two words first.

    `terms` are effects of factors and interactions, as [simulate] in study.toml states them; in paradigms that have one of
    them they take the place of `critical`, `spillover` and `rating`.

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
    comprehension: float = 0.9
    attention: float = 0.95
    slips: float = 0.03
    scale: Mapping[str, float] = field(default_factory=dict)
    terms: Mapping[str, study.EffectSection] = field(default_factory=dict)
    ms_per_bit: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if any(ms < 0 for ms in self.ms_per_bit):
            raise ValueError(f"ms_per_bit is {self.ms_per_bit}; expected 0 or more: nobody reads in less than no time")


@dataclass(frozen=True)
class Robot:
    """Runs a session from its payload with events drawn from `effects`; the same seed and name give the same events.

    `files` holds the versions that it may meet, by SHA-256: what they show, which answers are right, where the critical words are;
    `stated` the effects of a study's own factors, by paradigm and condition; `slowed` the ms that surprisal adds to each word,
    by item and condition.

    >>> from importlib.resources import files
    >>> from gardenpath import experiment
    >>> versions = experiment.version_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> machine = robot(versions, seed=1)
    >>> machine.files[versions[0].sha256].name
    'E1-V1'
    """

    effects: Effects
    seed: int
    files: Mapping[str, VersionFile]
    stated: Mapping[tuple[str, str], Shift] = field(default_factory=dict)
    slowed: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)

    def events(self, session: Json, name: str) -> Iterator[Json]:
        """Yield the events of a whole session in order, as the page would send them."""
        clock = _Clock(session["visit"], session["next_seq"])
        waiting: list[Json] = []  # nothing is told before there is consent
        for did in self.acts(session, name):
            if did.first:
                waiting.append(clock.event("begin", did.placed.number, None, {}))
            waiting += _events_of(did, clock)
            if did.last:
                waiting.append(clock.event("done", did.placed.number, None, {"dropped_frames": None}))
            if did.consented:
                if did.visits:
                    yield {**clock.event("visit", None, None, _VISIT), "seq": session["next_seq"], "t": 0.0}
                    waiting = [{**event, "seq": event["seq"] + 1} for event in waiting]
                yield from waiting
                waiting = []
        yield clock.event("end", None, None, {})

    def acts(self, session: Json, name: str) -> Iterator["Did"]:
        """Yield what the robot does on each screen that the session shows, in order."""
        file = self.files[session["version_sha256"]]
        random = Random(f"{self.seed}-robot-{name}")
        me = random.gauss(0, self.effects.participant_sd), random.gauss(0, self.effects.rating_participant_sd)
        order = [session["script"]["trials"][n]["trial"] for n in session["order"]]
        if file.version.lists:  # each of a reader's lists is another one, and the reader the same
            random = Random(f"{self.seed}-robot-{name}-{order}")
        steps = sequence(file.script, order)
        stand = Walk(steps, session["done"], {block: (n, of) for block, (n, of) in session["tallies"].items()})
        consent = file.script.consent
        consented = consent is None or consent in stand.done
        visits = True
        while stand.at is not None:
            number, n = stand.at
            placed = steps[number]
            screen = placed.step.screens[n]
            act = self._act(screen, placed, file, me, random)
            last = stand.end_screen(_outcome(screen, act))
            consented = consented or (number == consent and last)
            yield Did(placed, n, screen, act, n == 0, last, consented, consented and visits)
            visits = visits and not consented

    def _act(self, screen: Any, placed: Placed, file: VersionFile, me: tuple[float, float], random: Random) -> Act:
        if screen.task == "page":
            return _on_page(screen, random)
        assert placed.step.trial is not None
        reader = _Reader(self, file, file.version.trials[placed.step.trial], placed.position or 0, me, random)
        return task_of(screen.task).act(screen, reader)


@dataclass(frozen=True)
class Did:
    """What a robot did on a screen: the first or the last one shown of its step; whether consent was given by then, and
    whether the visit's device is sent with it (`visits`).
    """

    placed: Placed
    n: int
    screen: Any
    act: Act
    first: bool
    last: bool
    consented: bool
    visits: bool


def _on_page(screen: Any, random: Random) -> Act:
    """Leave a page of the study: read it and go on, or fill it in."""
    if isinstance(screen, Form):
        return Act(
            (20_000 * random.random(),), {one.name: _about(one, screen.accepted, random) for one in screen.fields}
        )
    return Act((2000 + 1000 * random.random(),))


def _outcome(screen: Any, act: Act) -> str:
    """Return how a screen ends by what a robot does on it."""
    if isinstance(screen, Text):
        return screen.buttons[0].outcome if screen.buttons else "continued"
    if isinstance(screen, WordPairs):
        return "wrong" if act.wrong else "right"
    if screen.kind in ("words", "whole"):
        return "read"
    if isinstance(screen, Form):
        return "accepted" if screen.accepted else "answered"
    if screen.deadline is not None and act.ms[0] > screen.deadline:
        return "timeout"
    if screen.tell and screen.right:
        return judged(screen, {"outcome": "answered", "answer": act.answer})
    return "answered"


def _events_of(did: Did, clock: "_Clock") -> list[Json]:
    """Return the events of a screen, as a player would make them."""
    screen, act, place = did.screen, did.act, (did.placed.number, did.n)
    outcome = _outcome(screen, act)
    if isinstance(screen, (Words, WordPairs)):
        words = clock.pairs(screen, act, place) if isinstance(screen, WordPairs) else clock.words(screen, act, place)
        ended = Ended(outcome, None, None, None, None, None, None)  # type: ignore[arg-type]
        return [*words, clock.event("outcome", *place, _plain(ended))]
    late = outcome == "timeout"
    shown, press = clock.shown(screen.deadline if late else act.ms[0])
    side = next((one.side for one in getattr(screen, "answers", ()) if one.value == act.answer), None)
    first = None if act.first is None else min(shown.request + act.first, clock.now)
    answer = None if late else act.answer
    pasted = 0 if isinstance(screen, Entry) else None
    ended = Ended(outcome, answer, None if late else side, shown, None if late else press, first, pasted)  # type: ignore[arg-type]
    return [clock.event("outcome", *place, _plain(ended))]


@dataclass(frozen=True)
class _Reader:
    """A robot in the middle of a trial."""

    robot: Robot
    file: VersionFile
    trial: Trial
    position: int
    me: tuple[float, float]
    random: Random

    @property
    def knows(self) -> float:
        p = self.robot.effects.comprehension
        stated = self._stated(self.trial.condition)
        if stated is None or not stated.accuracy or p in (0, 1):
            return p
        return 1 / (1 + math.exp(-math.log(p / (1 - p)) - stated.accuracy))

    @property
    def attends(self) -> float:
        return self.robot.effects.attention

    @property
    def slips(self) -> float:
        return self.robot.effects.slips

    def reading_times(self, sentence: int) -> list[float]:
        """Draw the reading time of each word of one of the trial's sentences, ms."""
        sd = self.robot.effects.residual_sd
        condition, of = self.trial.shown[sentence]
        added, words = self._at_words(condition, of), of.shown()
        slowed = self.robot.slowed.get((self.trial.item.id, condition), (0.0,) * len(words))
        return [
            math.exp(self.random.gauss(self._log_rt(word, text, added) + self.me[0], sd)) + slowed[word]
            for word, text in enumerate(words)
        ]

    def at_once(self, text: str) -> float:
        """Draw the time of a text that is read at once, ms: that of its words."""
        effects = self.robot.effects
        return sum(math.exp(self.random.gauss(effects.log_rt + self.me[0], effects.residual_sd)) for _ in text.split())

    def latent(self, condition: str) -> float:
        """Draw where a sentence lies on the latent scale, on which the mean of grammatical ones is 0.7."""
        effects, rater = self.robot.effects, 0.0 if len(self.trial.shown) > 1 else self.me[1]
        stated = self._stated(condition)
        mean = 0.7 + (stated.rating if stated else -effects.rating * self._violation(condition))
        latent = mean + rater + self.random.gauss(0, 1)
        return latent + self._item("rating") * effects.rating_item_sd

    def _log_rt(self, word: int, text: str, added: Mapping[int, float]) -> float:
        """Expected log reading time of a word for the average robot."""
        effects = self.robot.effects
        mean = effects.log_rt + self._item("rt") * effects.item_sd + effects.trial * math.log(self.position + 1)
        mean += effects.length * word_length(text) + effects.zipf * (zipf(text, self.file.language) or 0)
        return mean + added.get(word, 0.0)

    def _at_words(self, condition: str, sentence: Sentence) -> Mapping[int, float]:
        """What the condition adds to the log reading time of words, by their index."""
        stated = self._stated(condition)
        if stated is None:
            effects, violation = self.robot.effects, self._violation(condition)
            regions = {CRITICAL: effects.critical * violation, f"{CRITICAL}+1": effects.spillover * violation}
            stated = Shift(regions)
        return at_words(stated, sentence)

    def _stated(self, condition: str) -> Shift | None:
        """What the study's factors do in a condition; None where nothing is stated of the paradigm."""
        return self.robot.stated.get((self.trial.item.paradigm, condition))

    def _violation(self, condition: str) -> float:
        """0 for a grammatical sentence, the phenomenon's scale for an ungrammatical one."""
        if condition != UNGRAMMATICAL:
            return 0.0
        of = {paradigm.id: paradigm.phenomenon for paradigm in self.file.paradigms}
        return self.robot.effects.scale.get(of.get(self.trial.item.paradigm, ""), 1.0)

    def _item(self, what: str) -> float:
        """An item's standard-normal deviation, the same for every robot of this seed."""
        return Random(f"{self.robot.seed}-item-{self.trial.item.id}-{what}").gauss(0, 1)


def _about(asked: study.config.FieldSection, accepted: Mapping[str, Sequence[str]], random: Random) -> str | int:
    """Draw an answer to a question about the participant, an accepted one where it decides who takes part."""
    if asked.kind == "choice":
        return str(random.choice(accepted.get(asked.name, asked.choices)))
    if asked.kind == "text":
        return "robot"
    low, high = asked.low or 0, 99 if asked.high is None else asked.high
    return random.randint(low, high)


def robot(
    versions: Iterable[VersionFile],
    *,
    seed: int,
    effects: Effects | None = None,
    surprisal: "pd.DataFrame | None" = None,
) -> Robot:
    """Return a robot that knows what these versions show and expect, with the stated or the standard effects.

    `effects.ms_per_bit` are of the bits of `surprisal`, the table of one language model. Raises `study.DataError` where
    `effects.terms` name a factor or a region that the versions do not have, and where `surprisal` is of other sentences.

    >>> from importlib.resources import files
    >>> from gardenpath import experiment
    >>> versions = experiment.version_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> robot(versions, seed=1).effects.rating
    1.5
    """
    effects, files = effects or Effects(), {file.sha256: file for file in versions}
    if bool(effects.ms_per_bit) != (surprisal is not None):
        raise ValueError("effects.ms_per_bit and surprisal belong together; expected both or neither")
    trials = [trial for file in files.values() for trial in file.version.trials]
    paradigms = {paradigm.id: paradigm for file in files.values() for paradigm in file.paradigms}
    stated = by_condition(effects.terms, paradigms.values(), trials)
    return Robot(
        effects, seed, files, stated, {} if surprisal is None else slowing(effects.ms_per_bit, surprisal, trials)
    )


_VISIT: Json = dataclasses.asdict(
    Visit(
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
)


def _plain(ended: WordEnded | Ended) -> Json:
    """Return a value as its event holds it; `dataclasses.asdict` would copy every part, which took half of a simulation."""
    made = dict(vars(ended))
    for name in ("display", "press"):
        made[name] = None if made[name] is None else dict(vars(made[name]))
    return made


class _Clock:
    """Numbers events and lets simulated time pass."""

    def __init__(self, visit: int, seq: int) -> None:
        self.visit, self.seq, self.now = visit, seq, 1000.0

    def event(self, kind: str, step: int | None, screen: int | None, value: Json) -> Json:
        made = {"seq": self.seq, "visit": self.visit, "t": self.now, "kind": kind}
        self.seq += 1
        return {**made, "step": step, "screen": screen, "value": value}

    def shown(self, ms: float) -> tuple[Display, Press]:
        """A display painted on the frame after the last press, and ended `ms` after that press."""
        request = self.now
        frame = (request // FRAME + 1) * FRAME
        self.now += max(ms, frame - request + 1)
        return Display(request, frame, frame + FRAME), Press("key", self.now, 0, None, True)

    def words(self, screen: Words, act: Act, place: tuple[int, int]) -> Iterator[Json]:
        """The displays of a sentence, each ended by a press, or by time where there is a pace."""
        for n, ms in enumerate(act.ms, start=-1):
            timed = screen.pace is not None and n >= 0
            if screen.pace is not None and timed:
                request = self.now
                frame = (request // FRAME + 1) * FRAME
                self.now = frame + max(1, round(screen.pace.word / FRAME)) * FRAME
                shown, press = Display(request, frame, frame + FRAME), None
            else:
                shown, press = self.shown(ms)
            ended = WordEnded(n, None, None, shown, press, None, None)
            yield self.event("word", *place, _plain(ended))
            if screen.pace is not None and timed:
                self.now += round(screen.pace.pause / FRAME) * FRAME

    def pairs(self, screen: WordPairs, act: Act, place: tuple[int, int]) -> Iterator[Json]:
        """The pairs of a maze; a wrong choice ends it, or is followed by the right one."""
        for n, ms in enumerate(act.ms, start=-1):
            before = self.now
            shown, press = self.shown(ms)
            if n < 0:
                yield self.event("word", *place, _plain(WordEnded(n, None, None, shown, press, None, None)))
                continue
            wrong, first = n in act.wrong, self.now
            if wrong and screen.redo:
                self.now += screen.delay + 300
                press = dataclasses.replace(press, handler=self.now)
            assert first > before
            ended = WordEnded(n, None, None, shown, press, not wrong, first)
            yield self.event("word", *place, _plain(ended))
            if wrong and not screen.redo:
                return


class Transport(Protocol):
    """How a robot reaches a study."""

    def begin(self, name: str) -> Json:
        """Open a session and return its payload."""

    def send(self, session: Json, events: Sequence[Json]) -> None:
        """Store events."""

    def screen(self, session: Json, answers: Json) -> bool:
        """Return whether these answers to the screener let one take part."""

    def finish(self, session: Json, events: int) -> str:
        """Complete the session of so many events and return the completion code."""


def take(machine: Robot, transport: Transport, name: str) -> str:
    """Let a robot take a whole session, sending after each step as the page does; return the completion code, "" for one that
    is screened out.

    >>> from importlib.resources import files
    >>> from gardenpath import experiment
    >>> versions = experiment.version_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> with tempfile.TemporaryDirectory() as folder:  # where no server gives a code
    ...     take(robot(versions, seed=1), FolderTransport(Path(folder), versions), "robot 1")
    ''
    """
    return _take(machine, transport, transport.begin(name), name)


def _take(machine: Robot, transport: Transport, session: Json, name: str) -> str:
    """Let a robot take a session that is open."""
    unsent: list[Json] = []
    count = session["next_seq"]
    for event in machine.events(session, name):
        unsent.append(event)
        count += 1
        answer = event["value"].get("answer")
        if event["value"].get("outcome") == "accepted" and answer and not transport.screen(session, answer):
            return ""
        if event["kind"] in ("done", "end"):
            transport.send(session, unsent)
            unsent = []
    return transport.finish(session, count)


class HttpTransport:
    """Reaches a running server, whose address this is, by the calls of docs/api.md; its sessions are marked as a robot's.

    `key` is the experimenter's, which stands in the preview links.
    """

    def __init__(self, address: str, key: str) -> None:
        self.key = key
        self.client = study.errors.require("httpx2", "online").Client(base_url=address, timeout=30)

    def begin(self, name: str) -> Json:
        return self._answer("POST", "api/sessions", {"participant": name, "source": "robot", "key": self.key}, {})

    def send(self, session: Json, events: Sequence[Json]) -> None:
        self._answer("PUT", f"api/sessions/{session['session']}/events", {"events": list(events)}, _bearer(session))

    def screen(self, session: Json, answers: Json) -> bool:
        path = f"api/sessions/{session['session']}/screener"
        judged: Json = self._answer("POST", path, {"answers": answers}, _bearer(session))
        return bool(judged["outcome"] == "accepted")

    def finish(self, session: Json, events: int) -> str:
        path = f"api/sessions/{session['session']}/complete"
        code: str = self._answer("POST", path, {"events": events}, _bearer(session))["code"]
        return code

    def _answer(self, method: str, path: str, body: Json, headers: dict[str, str]) -> Json:
        response = self.client.request(method, path, json=body, headers=headers)
        answer: Json = response.json()
        if response.is_error:
            raise ValueError(f"{method} {path}: the server answered {response.status_code}: {answer}")
        return answer


def _bearer(session: Json) -> dict[str, str]:
    return {"Authorization": f"Bearer {session['token']}"}


@dataclass(frozen=True)
class Dealt:
    """A session before it begins: its number, who takes it, the hash of the version, and the order in it."""

    number: int
    name: str
    version: str
    slot: int


class FolderTransport:
    """Reaches no server: deals versions in turn, or to each reader the next list, and writes each session to a folder."""

    def __init__(self, folder: Path, versions: Sequence[VersionFile]) -> None:
        self.folder, self.versions = folder, versions
        self.opened = 0
        self.events: list[Event] = []
        self._used: dict[str, set[int]] = {file.name: set() for file in versions}
        self._had: dict[str, frozenset[str]] = {}  # what of lists each reader was shown

    def _place(self, name: str) -> tuple[VersionFile, int]:
        slot, turn = divmod(self.opened, len(self.versions))
        if not self.versions[turn].version.lists:
            return self.versions[turn], slot
        for file in (*self.versions[turn:], *self.versions[:turn]):
            used, had = self._used[file.name], self._had.get(name, frozenset())
            if (open_one := file.version.open_slot(used, used, had)) is not None:
                used.add(open_one)
                self._had[name] = had | file.version.shown_of(file.version.order(open_one))
                return file, open_one
        raise LookupError(f"no list is left that shows nothing of what {name} has judged")

    def deal(self, name: str) -> Dealt:
        """Return which session comes next; `LookupError` where no list is left for a reader."""
        file, slot = self._place(name)
        self.opened += 1
        return Dealt(self.opened - 1, name, file.sha256, slot)

    def begin(self, name: str) -> Json:
        return self.open(self.deal(name))

    def open(self, dealt: Dealt) -> Json:
        """Begin the session that was dealt, here or by a transport of another process."""
        self.file = next(file for file in self.versions if file.sha256 == dealt.version)
        # A simulation has no time of day; counting minutes keeps the sessions in order and the bytes the same.
        day = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(minutes=dealt.number)
        self.session = open_session(
            self.file,
            dealt.slot,
            id=f"s-{dealt.number:05}",
            participant=dealt.name,
            started=day.isoformat(timespec="milliseconds"),
            source="simulation",
        )
        self.events = []
        stand = walked(self.session, self.file)
        return payload(self.session, self.file, stand, token="", visit=0, next_seq=0)

    def send(self, session: Json, events: Sequence[Json]) -> None:
        self.events += [Event(**event) for event in events]

    def screen(self, session: Json, answers: Json) -> bool:
        return True  # robots give accepted answers, and quotas are the server's

    def finish(self, session: Json, events: int) -> str:
        finished = dataclasses.replace(self.session, finished=self.session.started)
        write_record(self.folder, SessionRecord(finished, tuple(self.events)), self.file)
        return ""


def simulate(
    versions: Sequence[VersionFile],
    folder: str | Path,
    *,
    participants: int,
    seed: int,
    sessions: int = 1,
    effects: Effects | None = None,
    surprisal: "pd.DataFrame | None" = None,
    replace: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    workers: Engine | None = None,
) -> int:
    """Write the sessions of simulated participants with known effects to `folder`, versions dealt in turn; return how many.

    Of small lists each participant takes up to `sessions`, while there are some that show nothing twice.

    With `effects.ms_per_bit`, `surprisal` is the table of a language model that scored these sentences. The folder appears when
    all sessions are written. One that is there raises `FileExistsError`, unless `replace`, which takes the place of an earlier
    simulation and of nothing else. With `workers`, such as `study.engines.Local(2)`, sessions are spread over processes that
    reach the folder, and have the same bytes.

    >>> from importlib.resources import files
    >>> from gardenpath import experiment
    >>> versions = experiment.version_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     simulate(versions, f"{folder}/data", participants=2, seed=1)
    2
    """
    if participants < 1:
        raise ValueError(f"participants is {participants}; expected at least 1")
    folder = Path(folder)
    if folder.exists() and not replace:
        raise FileExistsError(
            f"{folder}: exists already; give --force to replace an earlier simulation, or write elsewhere"
        )
    if folder.exists() and not _is_simulation(folder):
        raise FileExistsError(
            f"{folder}: holds something other than an earlier simulation, so it is not replaced; write elsewhere"
        )
    machine = robot(versions, seed=seed, effects=effects, surprisal=surprisal)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as place:
        transport = FolderTransport(Path(place) / "sessions", versions)
        lists = any(file.version.lists for file in versions)
        dealt = []
        for n in range(participants * (sessions if lists else 1)):
            with contextlib.suppress(LookupError):
                dealt.append(transport.deal(f"sim-{n % participants + 1:04}"))
        batches = [_Batch(machine, transport.folder, dealt[n : n + AT_ONCE]) for n in range(0, len(dealt), AT_ONCE)]
        done = 0
        for outcome in engines.map(_write, batches, workers):
            done += outcome.result()
            progress(done, len(dealt))
        if folder.exists():
            shutil.rmtree(folder)
        transport.folder.rename(folder)
    return transport.opened


@dataclass(frozen=True)
class _Batch:
    """Sessions that one process writes."""

    machine: Robot
    folder: Path
    dealt: Sequence[Dealt]


def _write(batch: _Batch) -> int:
    """Write the sessions of a batch; return how many."""
    transport = FolderTransport(batch.folder, [*batch.machine.files.values()])
    for dealt in batch.dealt:
        _take(batch.machine, transport, transport.open(dealt), dealt.name)
    return len(batch.dealt)


def _is_simulation(folder: Path) -> bool:
    """Whether all that a folder holds are simulated sessions, their versions and a sidecar."""
    for path in folder.iterdir():
        session = path / "session.json"
        simulated = session.is_file() and '"source": "simulation"' in session.read_text("utf-8")
        if not (simulated or path.name in ("versions", "sessions.meta.json")):
            return False
    return True
