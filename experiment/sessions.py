"""Sessions and events: who runs which version in which order, and what happened."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from gardenpath import study
from gardenpath.stimuli import Sentence, Trial
from gardenpath.stimuli.trials import PRACTICE, QUESTION

from .procedures import direction
from .versions import VersionFile

Json = dict[str, Any]


@dataclass(frozen=True)
class Session:
    """One sitting of one participant with one version; `order` holds positions in the version's trials.

    `revision` numbers what the study showed then; a `late` one went on after its place had been given away; `excluded` is why
    it does not count.
    """

    id: str
    participant: str
    version: str
    slot: int
    order: tuple[int, ...]
    version_sha256: str
    procedure_sha256: str
    started: str
    finished: str | None
    source: str
    revision: int = 1
    late: bool = False
    excluded: str | None = None


@dataclass(frozen=True)
class Event:
    """One thing that happened: numbered over the session, timed in ms on the clock of one visit."""

    seq: int
    visit: int
    t: float
    kind: str
    trial: int | None
    value: Json


@dataclass(frozen=True)
class Record:
    """A session with all its events, in order of seq."""

    session: Session
    events: tuple[Event, ...]


def open_session(file: VersionFile, slot: int, *, id: str, participant: str, started: str, source: str) -> Session:
    """Return a new session of a version: its order is drawn from the version's seed and the slot, never from who comes."""
    order = tuple(file.version.order(slot))
    return Session(id, participant, file.name, slot, order, file.sha256, file.procedure_sha256, started, None, source)


def payload(session: Session, file: VersionFile, *, token: str, visit: int, next_seq: int, done: Iterable[int]) -> Json:
    """Return what the page or a robot needs to run a session (docs/api.md)."""
    import hashlib

    procedure = file.procedure
    consent = "\n\n".join(procedure.texts["consent"])
    return {
        "session": session.id,
        "token": token,
        "visit": visit,
        "next_seq": next_seq,
        "done": sorted(done),
        "study": {
            "name": file.study,
            "title": file.title,
            "language": procedure.language,
            "direction": direction(procedure.language),
        },
        "procedure": {
            "rating": vars(procedure.rating) if procedure.rating else None,
            "choice": vars(procedure.choice),
            "demographics": [vars(asked) for asked in procedure.demographics],
            "device": vars(procedure.device),
        },
        "texts": dict(procedure.texts),
        "consent_sha256": hashlib.sha256(consent.encode()).hexdigest(),
        "trials": list(trials_json(session, file)),
    }


def trials_json(session: Session, file: VersionFile) -> Iterator[Json]:
    """Yield the trials as presented."""
    pauses = file.version.pauses()
    for n, position in enumerate(session.order):
        trial = file.version.trials[position]
        yield {
            "trial": n,
            "role": trial.role,
            "item": trial.item.id,
            "condition": trial.condition,
            "presentation": file.procedure.presentation[trial.role],
            "context": trial.item.context,
            "sentences": [{"condition": name, **_words(sentence)} for name, sentence in trial.shown],
            "tasks": list(trial.prompts),
            "question": _question(trial),
            "break_before": n in pauses,
        }


def _words(sentence: Sentence) -> Json:
    """Return a sentence's words as shown, and what stands between them: a space, or nothing where the text has none."""
    words = sentence.words()
    between = [sentence.text[a.end : b.start] for a, b in pairwise(words)]
    return {"words": sentence.shown(), "gaps": [" " if gap.strip() != gap else "" for gap in between]}


def _question(trial: Trial) -> Json | None:
    """Return the question of a trial that asks it; the right answer leaves the server for practice alone."""
    question = trial.item.question
    if question is None or QUESTION not in trial.prompts:
        return None
    answer = trial.answer() if trial.role == PRACTICE else None
    return {"text": question.text, "choices": list(question.choices), "answer": answer}


@cache
def event_schema() -> Mapping[str, Any]:
    """Return the JSON schema of an event (experiment/events.schema.json)."""
    text = (files("gardenpath.experiment") / "events.schema.json").read_text("utf-8")
    schema: Mapping[str, Any] = json.loads(text)
    return schema


@cache
def _validator(kind: str) -> Any:
    """The schema as far as it speaks of one kind of event: asking of each event which kind it is takes most of the time."""
    validator, schema = study.require("jsonschema", "online").Draft202012Validator, event_schema()
    holds = [rule["then"] for rule in schema["allOf"] if validator(rule["if"]).is_valid({"kind": kind})]
    return validator({**schema, "allOf": holds})


def _kind(event: object) -> str:
    kind = event.get("kind") if isinstance(event, dict) else None
    return kind if isinstance(kind, str) and kind in event_schema()["properties"]["kind"]["enum"] else ""


def check_events(events: object) -> list[Event]:
    """Return events checked against the schema; raises `ValueError` naming the first fault and its place."""
    if not isinstance(events, list):
        raise ValueError(f"events is {type(events).__name__}, expected a list")
    for n, event in enumerate(events):
        fault = next(_validator(_kind(event)).iter_errors(event), None)
        if fault is not None:
            place = "/".join(str(part) for part in ("events", n, *fault.absolute_path))
            raise ValueError(f"{place}: {fault.message[:200]}")
    return [Event(**event) for event in events]
