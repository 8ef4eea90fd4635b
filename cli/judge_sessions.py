"""gardenpath judge of a study, or of people's sessions: models take part as people do, or read what people answered."""

import functools
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from . import options
from .score import Scoring

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.experiment import VersionFile
    from gardenpath.experiment.transcripts import Sitting

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

    from gardenpath import experiment, lmscore, study
    from gardenpath.experiment.model_participants import write_sessions
    from gardenpath.study.table_files import refuse_tables

    plan = study.load(scoring.materials[0])
    versions = experiment.version_files(plan)
    scoring = replace(scoring, materials=(plan.path, *plan.paths()))
    taking = replace(taking, participants=taking.participants or len(versions))
    refuse_tables(scoring.out, "judge", scoring.force)
    study.files.refuse_overwrite([scoring.out / "sessions", scoring.out / "sessions.jsonl"], scoring.force)
    number = itertools.count(1)

    def sit(name: str, revision: str | None) -> "tuple[list[Sitting], pd.DataFrame, dict[str, object]]":
        prefix, loaded = f"m{next(number)}", scoring.load(name, revision)
        carried = None if taking.independent else lmscore.carried(loaded)
        ask = functools.partial(
            lmscore.answer_questions,
            loaded,
            independent=taking.independent,
            batch_tokens=scoring.batch_tokens,
            carried=carried,
        )
        how: dict[str, Any] = {"seed": taking.seed, "most_probable": taking.expected, "prefix": prefix}
        how["together"] = 1 if carried else None
        with options.progress("sessions", taking.participants) as move:
            sat, answers = experiment.take_part(
                versions, ask, model=loaded.name, participants=taking.participants, progress=move, **how
            )
        return sat, answers, loaded.describe()

    done, failed = scoring.each_model(models, sit)
    answers = pd.concat([one for _, one, _ in done], ignore_index=True)
    write_sessions([one for sat, _, _ in done for one in sat], scoring.out)
    notes = {"models": [facts for *_, facts in done], "failed": failed, **vars(taking)}
    scoring.write(answers, "model_answers", notes, taking.seed)
    _tell(answers, versions)
    options.talk(f"next:  gardenpath collect {scoring.out / 'sessions'} -o {scoring.out / 'tables'}")
    _print(scoring, "model_answers", answers, notes)
    scoring.say_failed(failed, len(done))


def _print(scoring: Scoring, name: str, frame: "pd.DataFrame", notes: dict[str, object]) -> None:
    """Print a table as JSON where that is asked for."""
    if scoring.as_json:
        click.echo(
            json.dumps({name: json.loads(frame.to_json(orient="records")), **notes}, ensure_ascii=False, indent=1)
        )


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

    from gardenpath import lmscore, study
    from gardenpath.study.table_files import refuse_tables

    refuse_tables(scoring.out, "judge", scoring.force)
    [data] = scoring.materials
    sessions = list(_sessions(data))
    if data.is_dir():
        scoring = replace(scoring, materials=tuple(sorted([*data.glob("study.sqlite"), *data.glob("*/events.jsonl")])))
    left_out: list[str] = []

    def read(name: str, revision: str | None) -> "pd.DataFrame":
        loaded = scoring.load(name, revision)
        rows = []
        with options.progress("sessions", len(sessions)) as move:
            for n, one in enumerate(sessions, start=1):
                session = str(one.get("session", one["participant"]))
                try:
                    [found] = lmscore.answers_likelihood(loaded, [one["text"]], batch_tokens=scoring.batch_tokens)
                except ValueError as error:
                    left_out.append(f"{loaded.name}: session {session}: {error}")
                    options.talk(f"left out: {left_out[-1]}")
                    continue
                who = {"experiment": str(one.get("experiment", "")), "participant": str(one["participant"])}
                row = {"model": loaded.name, **who, "session": session, **found._asdict()}
                rows.append({**row, "mean_lp": found.lp / found.answers})
                move(n, len(sessions))
        if not rows:
            raise study.DataError(f"no session of {data} can be read by {loaded.name}")
        return pd.DataFrame(rows)

    parts, failed = scoring.each_model(models, read)
    frame = pd.concat(parts, ignore_index=True)[study.TABLES["session_likelihoods"].names]
    notes: dict[str, object] = {"failed": failed, "left_out": left_out}
    scoring.write(frame, "session_likelihoods", notes)
    _print(scoring, "session_likelihoods", frame, notes)
    for label, part in frame.groupby("model", sort=False):
        each = float(part["lp"].sum()) / int(part["answers"].sum())
        counted = f"{options.count(len(part), 'session')}, {options.count(int(part['answers'].sum()), 'answer')}"
        options.talk(f"{label}: {counted}; {each:.3f} nats an answer")
    scoring.say_failed(failed, len(parts))


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
    # Lines end in \n alone: a text may hold U+2028 and its kin, which splitlines takes for ends too.
    for number, line in enumerate(study.files.read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            one = json.loads(line)
        except json.JSONDecodeError as error:
            raise study.DataError(f"{path}:{number}: not valid JSON: {error}") from None
        if not isinstance(one, dict) or not isinstance(one.get("text"), str) or "participant" not in one:
            raise study.DataError(f"{path}:{number}: expected a record with text and participant")
        made.append({**one, "text": one["text"].replace("\r\n", "\n")})
    return made
