"""gardenpath judge of a study, or of people's sessions: models take part as people do, or read what people answered."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from . import options
from .score import Scoring

if TYPE_CHECKING:
    from gardenpath.experiment import VersionFile
    from gardenpath.experiment.transcripts import Sitting
    from gardenpath.lmscore import Model

STARTED = "2000-01-01T00:00:00.000+00:00"  # a model has no time of day
LOW_MASS = 0.5


@dataclass(frozen=True)
class Taking:
    """How models take part: how many participants a model, the seed of their answers, with or without the trials before."""

    participants: int
    seed: int
    independent: bool
    expected: bool


# What `judge` takes with a study, and with sessions; the rest of its options is about minimal pairs.
OF_SESSIONS = {
    "materials",
    "models",
    "out",
    "force",
    "parquet",
    "as_json",
    "batch_tokens",
    "cache",
    "no_cache",
    "device",
    "dtype",
}
OF_SESSIONS |= {
    "quantization",
    "trust_remote_code",
    "revisions",
    "prefix_token",
    "adapter",
    "device_map",
    "endpoint",
    "tokenizer",
}
OF_STUDY = {"participants", "seed", "independent", "most_probable"}


def options_of_sessions(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a study in which models take part."""
    for one in (
        click.option(
            "--expected",
            "most_probable",
            is_flag=True,
            help="With STUDY.toml: give the most probable answer, not one drawn; the table has the mean of a scale.",
        ),
        click.option(
            "--independent", is_flag=True, help="With STUDY.toml: each trial by itself, without those before it."
        ),
        click.option(
            "--participants",
            type=click.IntRange(min=1),
            help="With STUDY.toml: how many participants each model is.  [default: one a version]",
        ),
    ):
        command = one(command)
    return command


def judged(scoring: Scoring, models: Sequence[str], taking: Taking) -> bool:
    """Do what is asked of a study or of sessions; return False where the materials are neither.

    Raises a `UsageError` for options that have nothing to do with what is given.
    """
    context = click.get_current_context()
    typed = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    of_study, of_sessions = _is_study(scoring.materials), _is_sessions(scoring.materials)
    if not of_study and (stray := sorted(typed & (OF_STUDY - {"seed"}))):
        stray[0] = "expected" if stray[0] == "most_probable" else stray[0]
        raise click.UsageError(
            f"--{stray[0]} belongs to a study: give its STUDY.toml in place of {scoring.materials[0]}"
        )
    if not of_study and not of_sessions:
        return False
    if stray := sorted(typed - OF_SESSIONS - (OF_STUDY if of_study else set())):
        flag = next(one.opts[0] for one in context.command.params if one.name == stray[0])
        raise click.UsageError(f"{flag} is about minimal pairs, and {scoring.materials[0]} holds none")
    if of_study:
        take_part(scoring, models, taking)
    else:
        likelihoods(scoring, models)
    return True


def _is_study(paths: Sequence[Path]) -> bool:
    """Whether the path is a study's file, or its folder."""
    return len(paths) == 1 and (paths[0].suffix == ".toml" or (paths[0] / "study.toml").is_file())


def _is_sessions(paths: Sequence[Path]) -> bool:
    """Whether the path is a collection of sessions, or sessions as text, a JSON record a line with a key `text`."""
    if len(paths) != 1:
        return False
    if paths[0].is_dir():
        return (paths[0] / "study.sqlite").is_file() or next(paths[0].glob("*/session.json"), None) is not None
    if paths[0].suffix == ".sqlite":
        return True
    if paths[0].suffix != ".jsonl" or not paths[0].is_file():
        return False
    with paths[0].open(encoding="utf-8") as lines:
        first = lines.readline()
    return '"text"' in first and '"record"' not in first


def take_part(scoring: Scoring, models: Sequence[str], taking: Taking) -> None:
    """Let models take part in a study: their sessions, these as text, and the table model_answers go to the folder -o."""
    import pandas as pd

    from gardenpath import experiment, study
    from gardenpath.experiment.session_folders import write_record
    from gardenpath.experiment.transcripts import transcript, write_transcripts
    from gardenpath.study.table_files import refuse_tables

    plan = study.load(scoring.materials[0])
    versions = experiment.version_files(plan)
    scoring = replace(scoring, materials=(plan.path, *plan.paths()))
    taking = replace(taking, participants=taking.participants or len(versions))
    sessions = scoring.out / "sessions"
    refuse_tables(scoring.out, "judge", scoring.force)
    study.files.refuse_overwrite([sessions, scoring.out / "sessions.jsonl"], scoring.force)
    rows: list[dict[str, object]] = []
    texts: list[dict[str, Any]] = []
    notes: list[dict[str, object]] = []
    for number, name in enumerate(models, start=1):
        for revision in scoring.revisions or (None,):
            loaded = scoring.load(name, revision)
            called = f"{loaded.name}@{revision}" if revision else loaded.name
            label = f"m{number}-{revision}" if revision else f"m{number}"
            sat, answers = _sat(loaded, called, label, versions, taking, scoring.batch_tokens)
            rows += answers
            for one in sat:
                write_record(sessions, one.record(), one.file)
                texts.append(transcript(one.record(), one.file))
            notes.append({**loaded.describe(), "called": called})
    write_transcripts(texts, scoring.out / "sessions.jsonl")
    scoring.write(pd.DataFrame(rows), "model_answers", {"models": notes, **vars(taking)}, taking.seed)
    _tell(pd.DataFrame(rows), versions)
    options.talk(f"next:  gardenpath collect {sessions} -o {scoring.out / 'tables'}")


def _sat(
    model: "Model",
    called: str,
    prefix: str,
    versions: "Sequence[VersionFile]",
    taking: Taking,
    batch_tokens: int | None,
) -> "tuple[list[Sitting], list[dict[str, object]]]":
    """Return the sessions of a model, taken side by side, and a row for each answer."""
    from gardenpath.experiment.sessions import open_session
    from gardenpath.experiment.transcripts import MODEL, OPEN, Sitting
    from gardenpath.lmscore.judging import participants

    sat = []
    for n in range(taking.participants):
        slot, turn = divmod(n, len(versions))
        label = f"{called}-{n + 1:03}"
        session = open_session(
            versions[turn], slot, id=f"{prefix}-{n + 1:05}", participant=label, started=STARTED, source=MODEL
        )
        sat.append(Sitting(session, versions[turn], device=called))
    random = {one.session.id: Random(f"{taking.seed} {called} {one.session.id}") for one in sat}
    rows: list[dict[str, object]] = []
    asked_of: dict[str, int] = {}
    total = len(sat)
    with options.progress("sessions", total) as move:
        while going := [one for one in sat if one.question is not None]:
            asked = [
                participants.Asked(
                    "\n\n".join(one.opening),
                    tuple(one.trials),
                    f"{one.current}{one.question.text}\n{OPEN}" if one.question else "",
                    one.question.written if one.question else (),
                )
                for one in going
            ]
            found = participants.answer_questions(
                model, asked, independent=taking.independent, batch_tokens=batch_tokens
            )
            for one, answered in zip(going, found, strict=True):
                question, number = one.question, asked_of.get(one.session.id, 0)
                assert question is not None
                if taking.expected:
                    chosen = int(answered.probabilities.argmax())
                else:
                    chosen = participants.drawn(answered, random[one.session.id])
                trial = one.file.version.trials[one.trial] if one.trial is not None else None
                mean = participants.expected(answered, question.answers) if question.is_scale else math.nan
                rows.append(
                    {
                        "model": called,
                        "participant": one.session.participant,
                        "session": one.session.id,
                        "question": number,
                        "trial": one.position,
                        "paradigm": trial.item.paradigm if trial else None,
                        "item": trial.item.id if trial else None,
                        "condition": trial.condition if trial else None,
                        "task": question.task,
                        "prompt": question.prompt,
                        "answer": question.written[chosen],
                        "lp": float(answered.lps[chosen]),
                        "expected": mean,
                        "mass": answered.mass,
                        "cut": answered.cut,
                    }
                )
                asked_of[one.session.id] = number + 1
                one.answer(question.written[chosen])
            move(total - sum(one.question is not None for one in sat), total)
    return sat, rows


def _tell(rows: Any, versions: "Sequence[VersionFile]") -> None:
    for called, part in rows.groupby("model", sort=False):
        mass, cut = part["mass"].mean(), int((part["cut"] > 0).sum())
        counted = f"{options.count(part['session'].nunique(), 'session')}, {options.count(len(part), 'answer')}"
        options.talk(f"{called}: {counted}; what can be answered has {mass:.2g} of its probability")
        if mass < LOW_MASS:
            options.talk(
                f"{called}: mostly it would have said something else; its answers are weak evidence of how it judges"
            )
        if cut:
            options.talk(
                f"{called}: before {options.count(cut, 'answer')} the first trials did not fit its window and were cut"
            )
    if any(screen.kind == "words" for file in versions for step in file.script.trials for screen in step.screens):
        options.talk("readings are not simulated: a model takes no time")


def likelihoods(scoring: Scoring, models: Sequence[str]) -> None:
    """Write the table session_likelihoods: how probable people's answers are to models."""
    import pandas as pd

    from gardenpath import lmscore
    from gardenpath.study.table_files import refuse_tables

    refuse_tables(scoring.out, "judge", scoring.force)
    [data] = scoring.materials
    sessions = list(_sessions(data))
    if data.is_dir():
        scoring = replace(scoring, materials=tuple(sorted([*data.glob("study.sqlite"), *data.glob("*/events.jsonl")])))
    rows = []
    for name in models:
        for revision in scoring.revisions or (None,):
            loaded = scoring.load(name, revision)
            called = f"{loaded.name}@{revision}" if revision else loaded.name
            found = lmscore.answers_likelihood(
                loaded, [str(one["text"]) for one in sessions], batch_tokens=scoring.batch_tokens
            )
            for one, likelihood in zip(sessions, found, strict=True):
                rows.append(
                    {
                        "model": called,
                        "experiment": str(one.get("experiment", "")),
                        "participant": str(one["participant"]),
                        "session": str(one.get("session", one["participant"])),
                        "answers": likelihood.answers,
                        "lp": likelihood.lp,
                        "mean_lp": likelihood.lp / likelihood.answers,
                        "passes": likelihood.passes,
                    }
                )
    frame = pd.DataFrame(rows)
    scoring.write(frame, "session_likelihoods", {})
    for label, part in frame.groupby("model", sort=False):
        each = float(part["lp"].sum()) / int(part["answers"].sum())
        counted = f"{options.count(len(part), 'session')}, {options.count(int(part['answers'].sum()), 'answer')}"
        options.talk(f"{label}: {counted}; {each:.3f} nats an answer")


def _sessions(path: Path) -> "list[dict[str, Any]]":
    """Return sessions as text: of a collection, or of a file of JSON lines."""
    from gardenpath import study
    from gardenpath.experiment.collect_data import recorded
    from gardenpath.experiment.transcripts import transcript

    if path.suffix != ".jsonl":
        data = recorded(path, previews=False)
        made = [transcript(record, data.files[record.session.version_sha256]) for record in data.records()]
        kept = [one for one in made if "<<" in one["text"]]
        if len(kept) < len(made):
            options.talk(f"{options.count(len(made) - len(kept), 'session')} without an answer left out")
        if not kept:
            raise study.DataError(f"{path}: no session has an answer; expected sessions of people")
        return kept
    made = []
    for number, line in enumerate(study.files.read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            one = json.loads(line)
        except json.JSONDecodeError as error:
            raise study.DataError(f"{path}:{number}: not valid JSON: {error}") from None
        if not isinstance(one, dict) or not isinstance(one.get("text"), str) or "participant" not in one:
            raise study.DataError(f"{path}:{number}: expected a record with text and participant")
        made.append(one)
    return made
