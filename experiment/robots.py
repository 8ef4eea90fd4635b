"""Robots: participants with known effects, who take sessions over HTTP or within this process."""

import dataclasses
import math
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Protocol

from gardenpath import study
from gardenpath.stimuli import CRITICAL, UNGRAMMATICAL, word_length, zipf

from .folders import write_record
from .procedures import sides
from .sessions import Event, Json, Record, open_session, payload
from .versions import VersionFile

FRAME = 1000 / 60  # ms; a robot's display


@dataclass(frozen=True)
class Effects:
    """What is true of robots: effects on log reading time (ms) and on a latent rating scale in units of its residual s.d.

    An ungrammatical sentence is read slower by `critical` at the words of the critical region and by `spillover` at the
    word after it, and rated lower by `rating`, each times the phenomenon's `scale` (1 where none is given). Of two sentences
    the one higher on the scale is chosen, each with a residual of its own. `comprehension` and `attention` are the
    probabilities of the right answer to a question and of an expected response to an attention item.
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
    scale: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Robot:
    """Answers a session payload with events drawn from `effects`; the same seed and name give the same events.

    `critical` holds the positions of the critical words of each (item, condition), `phenomena` each item's phenomenon,
    `answers` the right answer to the question about each (item, condition), `expected` what attention items expect.
    """

    effects: Effects
    seed: int
    language: str
    critical: Mapping[tuple[str, str], frozenset[int]]
    phenomena: Mapping[str, str]
    answers: Mapping[tuple[str, str], str] = field(default_factory=dict)
    expected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def events(self, session: Json, name: str) -> Iterator[Json]:
        """Yield the events of a whole session in order, as the page would send them."""
        random = Random(f"{self.seed}-robot-{name}")
        clock = _Clock(session["visit"], session["next_seq"])
        me = random.gauss(0, self.effects.participant_sd), random.gauss(0, self.effects.rating_participant_sd)
        visit = {"time_origin": 0, "device": "robot", "refresh_hz": 60.0, "timer_ms": 0.005, "keyboard": True}
        yield clock.event("visit", None, visit)
        yield clock.event("consent", None, {"accepted": True, "sha256": session["consent_sha256"]})
        for page in range(len(session["texts"]["instructions"])):
            clock.pass_time(2000 + 1000 * random.random())
            yield clock.event("instructions", None, {"page": page})
        for trial in session["trials"]:
            if trial["trial"] in session["done"]:
                continue
            if trial["break_before"]:
                clock.pass_time(5000 * random.random())
                yield clock.event("break", None, {})
            yield from self._trial(trial, session["procedure"], me, clock, random)
        if asked := session["procedure"]["demographics"]:
            clock.pass_time(20_000 * random.random())
            yield clock.event("demographics", None, {"answers": {one["name"]: _about(one, random) for one in asked}})
        yield clock.event("end", None, {})

    def _trial(
        self, trial: Json, procedure: Json, me: tuple[float, float], clock: "_Clock", random: Random
    ) -> Iterator[Json]:
        n = trial["trial"]
        yield clock.event("trial", n, {key: trial[key] for key in ("role", "item", "condition")})
        if trial["context"]:
            yield clock.press("reading", n, self._at_once(trial["context"].split(), me[0], random), {"what": "context"})
        for i, sentence in enumerate(trial["sentences"]):
            yield from self._reading(trial, sentence, {"sentence": i} if i else {}, me[0], clock, random)
        for task in trial["tasks"]:
            answer = {"task": task, **self._answer(task, trial, procedure, me[1], random), "by": "key"}
            yield clock.press("response", n, 700 + 800 * random.random(), answer)
        yield clock.event("trial_end", n, {})

    def _reading(
        self, trial: Json, sentence: Json, which: Json, me: float, clock: "_Clock", random: Random
    ) -> Iterator[Json]:
        """Yield the presses that read a sentence in its presentation."""
        n, words = trial["trial"], sentence["words"]
        if trial["presentation"] == "with_task":
            return
        if trial["presentation"] == "whole":
            yield clock.press("reading", n, self._at_once(words, me, random), {"what": "sentence", **which})
            return
        yield clock.press("start", n, 300 + 400 * random.random(), which)
        for word in range(len(words)):
            mean = self._log_rt(trial, sentence, word) + me
            rt = math.exp(random.gauss(mean, self.effects.residual_sd))
            yield clock.press("word", n, rt, {"word": word, **which})

    def _at_once(self, words: Sequence[str], me: float, random: Random) -> float:
        """Draw the time of a text that is read at once: that of its words."""
        return sum(math.exp(random.gauss(self.effects.log_rt + me, self.effects.residual_sd)) for _ in words)

    def _answer(self, task: str, trial: Json, procedure: Json, me: float, random: Random) -> Json:
        """Draw the answer to a task, with the prompt under which it is recorded."""
        if task == "question":
            return {"prompt": "question", "response": self._comprehended(trial, random)}
        expected = self._expected(trial, random)
        if task == "choice":
            conditions = [sentence["condition"] for sentence in trial["sentences"]]
            latent = {condition: self._latent(trial, condition, random.gauss(0, 1)) for condition in conditions}
            response = max(conditions, key=lambda one: (one == expected, latent[one]))
            side = sides(self.language, procedure["choice"]["arrangement"])[conditions.index(response)]
            return {"prompt": procedure["choice"]["name"], "response": response, "side": side}
        rating = procedure["rating"]
        drawn = _on_scale(rating, self._latent(trial, trial["condition"], me + random.gauss(0, 1)))
        return {"prompt": rating["name"], "response": drawn if expected is None else _number(expected)}

    def _comprehended(self, trial: Json, random: Random) -> str:
        right = self.answers.get((trial["item"], trial["condition"]))
        wrong = [choice for choice in trial["question"]["choices"] if choice != right]
        if right is not None and random.random() < self.effects.comprehension:
            return right
        return str(random.choice(wrong))

    def _expected(self, trial: Json, random: Random) -> str | None:
        """Draw an expected response to an attention item; None where nothing is expected, or the robot does not attend."""
        expected = self.expected.get(trial["item"])
        return random.choice(expected) if expected and random.random() < self.effects.attention else None

    def _log_rt(self, trial: Json, sentence: Json, word: int) -> float:
        """Expected log reading time of a word for the average robot."""
        effects, text = self.effects, sentence["words"][word]
        violation = self._violation(trial, sentence["condition"])
        mean = effects.log_rt + self._item(trial, "rt") * effects.item_sd + effects.trial * math.log(trial["trial"] + 1)
        mean += effects.length * word_length(text) + effects.zipf * (zipf(text, self.language) or 0)
        region = self.critical.get((trial["item"], sentence["condition"]), frozenset())
        if word in region:
            mean += effects.critical * violation
        elif region and word == max(region) + 1:
            mean += effects.spillover * violation
        return mean

    def _latent(self, trial: Json, condition: str, noise: float) -> float:
        """Where a sentence lies on the latent scale, on which the mean of grammatical ones is 0.7."""
        latent = 0.7 - self.effects.rating * self._violation(trial, condition) + noise
        return latent + self._item(trial, "rating") * self.effects.rating_item_sd

    def _violation(self, trial: Json, condition: str) -> float:
        """0 for a grammatical sentence, the phenomenon's scale for an ungrammatical one."""
        if condition != UNGRAMMATICAL:
            return 0.0
        return self.effects.scale.get(self.phenomena.get(trial["item"], ""), 1.0)

    def _item(self, trial: Json, what: str) -> float:
        """An item's standard-normal deviation, the same for every robot of this seed."""
        return Random(f"{self.seed}-item-{trial['item']}-{what}").gauss(0, 1)


def _on_scale(rating: Json, latent: float) -> int:
    """The latent rating on a scale whose points are equal steps over -2 to 2; yes is above 0."""
    if rating["kind"] == "yes_no":
        return int(latent > 0)
    if rating["kind"] == "slider":
        return min(100, max(0, round((latent + 2) / 4 * 100)))
    points = rating["points"]
    return min(points, max(1, math.ceil((latent + 2) / 4 * points)))


def _number(expected: str) -> int:
    """The number of an expected response: yes is 1, no is 0, of a range the first."""
    return int({"yes": "1", "no": "0"}.get(expected, expected).partition("-")[0])


def _about(asked: Json, random: Random) -> str | int:
    """Draw an answer to a question about the participant."""
    if asked["kind"] == "choice":
        return str(random.choice(asked["choices"]))
    if asked["kind"] == "text":
        return "robot"
    low, high = asked["low"] or 0, 99 if asked["high"] is None else asked["high"]
    return random.randint(low, high)


def robot(versions: Iterable[VersionFile], *, seed: int, effects: Effects | None = None) -> Robot:
    """Return a robot that knows what these versions show and expect, with the stated or the standard effects."""
    versions = list(versions)
    trials = [trial for file in versions for trial in file.version.trials]
    critical = {
        (trial.item.id, condition): frozenset(word.index for word in sentence.words_of(CRITICAL))
        for trial in trials
        for condition, sentence in trial.shown
    }
    of_paradigm = {paradigm.id: paradigm.phenomenon for file in versions for paradigm in file.paradigms}
    phenomena = {trial.item.id: of_paradigm.get(trial.item.paradigm, "") for trial in trials}
    answers = {(trial.item.id, trial.condition): answer for trial in trials if (answer := trial.answer()) is not None}
    expected = {trial.item.id: trial.expected for trial in trials if trial.expected}
    language = versions[0].procedure.language
    return Robot(effects or Effects(), seed, language, critical, phenomena, answers, expected)


class _Clock:
    """Numbers events and lets simulated time pass."""

    def __init__(self, visit: int, seq: int) -> None:
        self.visit, self.seq, self.now = visit, seq, 1000.0

    def pass_time(self, ms: float) -> None:
        self.now += ms

    def event(self, kind: str, trial: int | None, value: Json) -> Json:
        event = {"seq": self.seq, "visit": self.visit, "t": self.now, "kind": kind, "trial": trial, "value": value}
        self.seq += 1
        return event

    def press(self, kind: str, trial: int, rt: float, value: Json) -> Json:
        """A press `rt` ms after the last one, of a display painted on the frame after that one."""
        request = self.now
        frame = (request // FRAME + 1) * FRAME
        self.pass_time(max(rt, frame - request + 1))
        times = {"request": request, "frame": frame, "frame2": frame + FRAME, "handler": self.now, "repeats": 0}
        return self.event(kind, trial, {**times, **value})


class Transport(Protocol):
    """How a robot reaches a study."""

    def begin(self, name: str) -> Json:
        """Open a session and return its payload."""

    def send(self, session: Json, events: Sequence[Json]) -> None:
        """Store events."""

    def finish(self, session: Json, events: int) -> str:
        """Complete the session of so many events and return the completion code."""


def take(machine: Robot, transport: Transport, name: str) -> str:
    """Let a robot take a whole session, sending after each trial as the page does; return the completion code."""
    session = transport.begin(name)
    unsent: list[Json] = []
    count = session["next_seq"]
    for event in machine.events(session, name):
        unsent.append(event)
        count += 1
        if event["kind"] in ("trial_end", "end"):
            transport.send(session, unsent)
            unsent = []
    return transport.finish(session, count)


class HttpTransport:
    """Reaches a running server by the calls of docs/api.md."""

    def __init__(self, address: str) -> None:
        self.client = study.require("httpx2", "online").Client(base_url=address, timeout=30)

    def begin(self, name: str) -> Json:
        return self._answer("POST", "api/sessions", {"participant": name, "source": "robot"}, {})

    def send(self, session: Json, events: Sequence[Json]) -> None:
        self._answer("PUT", f"api/sessions/{session['session']}/events", {"events": list(events)}, _bearer(session))

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


class FolderTransport:
    """Reaches no server: deals versions in turn and writes each session to a folder."""

    def __init__(self, folder: Path, versions: Sequence[VersionFile]) -> None:
        self.folder, self.versions = folder, versions
        self.opened = 0
        self.events: list[Event] = []

    def begin(self, name: str) -> Json:
        slot, turn = divmod(self.opened, len(self.versions))
        self.file = self.versions[turn]
        # A simulation has no time of day; counting minutes keeps the sessions in order and the bytes the same.
        started = (datetime(2000, 1, 1, tzinfo=UTC) + timedelta(minutes=self.opened)).isoformat(timespec="milliseconds")
        self.session = open_session(
            self.file, slot, id=f"s-{self.opened:05}", participant=name, started=started, source="simulation"
        )
        self.opened += 1
        self.events = []
        return payload(self.session, self.file, token="", visit=0, next_seq=0, done=())

    def send(self, session: Json, events: Sequence[Json]) -> None:
        self.events += [Event(**event) for event in events]

    def finish(self, session: Json, events: int) -> str:
        finished = dataclasses.replace(self.session, finished=self.session.started)
        write_record(self.folder, Record(finished, tuple(self.events)), self.file)
        return ""


def simulate(
    versions: Sequence[VersionFile],
    folder: str | Path,
    *,
    participants: int,
    seed: int,
    effects: Effects | None = None,
    replace: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write the sessions of simulated participants with known effects to `folder`, versions dealt in turn.

    The folder appears when all sessions are written. One that is there raises `FileExistsError`, unless `replace`, which
    takes the place of an earlier simulation and of nothing else.
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
            f"{folder}: holds something else than an earlier simulation, so it is not replaced; write elsewhere"
        )
    machine = robot(versions, seed=seed, effects=effects)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as place:
        transport = FolderTransport(Path(place) / "sessions", versions)
        for n in range(participants):
            take(machine, transport, f"sim-{n + 1:04}")
            progress(n + 1, participants)
        if folder.exists():
            shutil.rmtree(folder)
        transport.folder.rename(folder)


def _is_simulation(folder: Path) -> bool:
    """Whether all that a folder holds are simulated sessions, their versions and a sidecar."""
    for path in folder.iterdir():
        session = path / "session.json"
        simulated = session.is_file() and '"source": "simulation"' in session.read_text("utf-8")
        if not (simulated or path.name in ("versions", "sessions.meta.json")):
            return False
    return True
