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
from .score import ScoringOptions

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.experiment import ListFile
    from gardenpath.experiment.simulation.transcripts import ModelSession

LOW_ANSWER_PROBABILITY = 0.5


@dataclass(frozen=True)
class ParticipationOptions:
    """How models take part: how many participants a model, the seed of their answers, with or without the trials before."""

    participants: int
    seed: int
    independent: bool
    expected: bool


# What `judge` takes with a study, and with sessions; the rest of its options is about minimal pairs.
SESSION_OPTIONS = {
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
SESSION_OPTIONS |= {
    "quantization",
    "trust_remote_code",
    "revisions",
    "prefix_token",
    "adapter",
    "device_map",
    "endpoint",
    "tokenizer",
}
STUDY_OPTIONS = {"participants", "seed", "independent", "most_probable"}


def add_participation_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a study in which models take part."""
    for one in (
        click.option(
            "--expected",
            "most_probable",
            is_flag=True,
            help="With STUDY.toml: give the most probable answer, not one drawn; the table has the mean of a scale.",
        ),
        click.option("--independent", is_flag=True, help="With STUDY.toml: each trial by itself, without those before it."),
        click.option(
            "--participants",
            type=click.IntRange(min=1),
            help="With STUDY.toml: how many participants each model is.  [default: one a list]",
        ),
    ):
        command = one(command)
    return command


def judge_study_or_sessions(scoring: ScoringOptions, models: Sequence[str], participation: ParticipationOptions) -> bool:
    """Do what is asked of a study or of sessions; return False where the materials are neither.

    Raises a `UsageError` for options that have nothing to do with what is given.
    """
    context = click.get_current_context()
    typed_options = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    is_study, is_sessions = _is_study(scoring.materials), _is_sessions(scoring.materials)
    if not is_study and (unusable_options := sorted(typed_options & (STUDY_OPTIONS - {"seed"}))):
        unusable_options[0] = "expected" if unusable_options[0] == "most_probable" else unusable_options[0]
        raise click.UsageError(
            f"--{unusable_options[0]} belongs to a study: give its STUDY.toml in place of {scoring.materials[0]}"
        )
    if not is_study and not is_sessions:
        return False
    if unusable_options := sorted(typed_options - SESSION_OPTIONS - (STUDY_OPTIONS if is_study else set())):
        flag = next(one.opts[0] for one in context.command.params if one.name == unusable_options[0])
        raise click.UsageError(f"{flag} is about minimal pairs, and {scoring.materials[0]} holds none")
    if is_study:
        run_model_participants(scoring, models, participation)
    else:
        compute_session_likelihoods(scoring, models)
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


def run_model_participants(scoring: ScoringOptions, models: Sequence[str], participation: ParticipationOptions) -> None:
    """Let models take part in a study: their sessions, these as text, and the table model_responses go to the folder -o."""
    import pandas as pd

    from gardenpath import experiment, lmscore, study
    from gardenpath.experiment.simulation.model_participants import write_model_sessions
    from gardenpath.study.table_files import refuse_existing_tables

    config = study.load(scoring.materials[0])
    list_files = experiment.build_list_files(config)
    scoring = replace(scoring, materials=(config.path, *config.list_material_paths()))
    participation = replace(participation, participants=participation.participants or len(list_files))
    refuse_existing_tables(scoring.out, "judge", scoring.force)
    study.files.refuse_overwrite([scoring.out / "sessions", scoring.out / "sessions.jsonl"], scoring.force)
    number = itertools.count(1)

    def run_model(name: str, revision: str | None) -> "tuple[list[ModelSession], pd.DataFrame, dict[str, object]]":
        prefix, loaded = f"m{next(number)}", scoring.load_model(name, revision)
        conversation_state = None if participation.independent else lmscore.create_conversation_state(loaded)
        ask = functools.partial(
            lmscore.answer_questions,
            loaded,
            independent=participation.independent,
            batch_tokens=scoring.batch_tokens,
            state=conversation_state,
        )
        arguments: dict[str, Any] = {"seed": participation.seed, "most_probable": participation.expected, "prefix": prefix}
        arguments["batch_size"] = 1 if conversation_state else None
        with options.show_progress("sessions", participation.participants) as move:
            model_sessions, responses = experiment.run_model_sessions(
                list_files, ask, model=loaded.name, participants=participation.participants, progress=move, **arguments
            )
        return model_sessions, responses, loaded.describe()

    done, failed = scoring.apply_to_models(models, run_model)
    responses = pd.concat([one for _, one, _ in done], ignore_index=True)
    write_model_sessions([one for model_sessions, _, _ in done for one in model_sessions], scoring.out)
    notes = {"models": [facts for *_, facts in done], "failed": failed, **vars(participation)}
    scoring.write_table(responses, "model_responses", notes, participation.seed)
    _print_participation(responses, list_files)
    options.print_notice(f"next:  gardenpath collect {scoring.out / 'sessions'} -o {scoring.out / 'tables'}")
    _print_json(scoring, "model_responses", responses, notes)
    scoring.raise_failures(failed, len(done))


def _print_json(scoring: ScoringOptions, name: str, frame: "pd.DataFrame", notes: dict[str, object]) -> None:
    """Print a table as JSON where that is asked for."""
    if scoring.as_json:
        click.echo(json.dumps({name: json.loads(frame.to_json(orient="records")), **notes}, ensure_ascii=False, indent=1))


def _print_participation(rows: Any, list_files: "Sequence[ListFile]") -> None:
    for model, part in rows.groupby("model", sort=False):
        answer_probability, cut_count = part["answer_probability"].mean(), int((part["n_trials_cut"] > 0).sum())
        count_text = f"{options.format_count(part['session'].nunique(), 'session')}, {options.format_count(len(part), 'answer')}"
        options.print_notice(f"{model}: {count_text}; what can be answered has {answer_probability:.2g} of its probability")
        if answer_probability < LOW_ANSWER_PROBABILITY:
            options.print_notice(
                f"{model}: mostly it would have said something else; its answers are weak evidence of how it judges"
            )
        if cut_count:
            options.print_notice(
                f"{model}: before {options.format_count(cut_count, 'answer')} the first trials did not fit its window and were cut"
            )
    if any(screen.kind == "words" for file in list_files for step in file.script.trials for screen in step.screens):
        options.print_notice("readings are not simulated: a model takes no time")


def compute_session_likelihoods(scoring: ScoringOptions, models: Sequence[str]) -> None:
    """Write the table session_likelihoods: how probable people's answers are to models."""
    import pandas as pd

    from gardenpath import lmscore, study
    from gardenpath.study.table_files import refuse_existing_tables

    refuse_existing_tables(scoring.out, "judge", scoring.force)
    [data] = scoring.materials
    sessions = list(_read_transcripts(data))
    if data.is_dir():
        scoring = replace(scoring, materials=tuple(sorted([*data.glob("study.sqlite"), *data.glob("*/events.jsonl")])))
    left_out: list[str] = []

    def score_sessions(name: str, revision: str | None) -> "pd.DataFrame":
        loaded = scoring.load_model(name, revision)
        rows = []
        with options.show_progress("sessions", len(sessions)) as move:
            for n, one in enumerate(sessions, start=1):
                session = str(one.get("session", one["participant"]))
                try:
                    [likelihood] = lmscore.compute_response_likelihood(loaded, [one["text"]], batch_tokens=scoring.batch_tokens)
                except ValueError as error:
                    left_out.append(f"{loaded.name}: session {session}: {error}")
                    options.print_notice(f"left out: {left_out[-1]}")
                    continue
                participant_columns = {"experiment": str(one.get("experiment", "")), "participant": str(one["participant"])}
                row = {"model": loaded.name, **participant_columns, "session": session, **likelihood._asdict()}
                rows.append({**row, "mean_lp": likelihood.lp / likelihood.n_responses})
                move(n, len(sessions))
        if not rows:
            raise study.DataError(f"no session of {data} can be read by {loaded.name}")
        return pd.DataFrame(rows)

    parts, failed = scoring.apply_to_models(models, score_sessions)
    frame = pd.concat(parts, ignore_index=True)[study.TABLES["session_likelihoods"].column_names]
    notes: dict[str, object] = {"failed": failed, "left_out": left_out}
    scoring.write_table(frame, "session_likelihoods", notes)
    _print_json(scoring, "session_likelihoods", frame, notes)
    for label, part in frame.groupby("model", sort=False):
        mean_answer_lp = float(part["lp"].sum()) / int(part["n_responses"].sum())
        response_count = int(part["n_responses"].sum())
        count_text = f"{options.format_count(len(part), 'session')}, {options.format_count(response_count, 'answer')}"
        options.print_notice(f"{label}: {count_text}; {mean_answer_lp:.3f} nats an answer")
    scoring.raise_failures(failed, len(parts))


def _read_transcripts(path: Path) -> "list[dict[str, Any]]":
    """Return sessions as text: of a collection, or of a file of JSON lines."""
    from gardenpath import study
    from gardenpath.experiment.collection.recorded_sessions import open_session_source
    from gardenpath.experiment.simulation.transcripts import build_transcript

    if path.suffix != ".jsonl":
        data = open_session_source(path, previews=False)
        transcripts = [
            build_transcript(record, data.list_files[record.session.list_sha256]) for record in data.read_recorded_sessions()
        ]
        answered = [one for one in transcripts if "<<" in one["text"]]
        if len(answered) < len(transcripts):
            options.print_notice(f"{options.format_count(len(transcripts) - len(answered), 'session')} without an answer left out")
        if not answered:
            raise study.DataError(f"{path}: no session has an answer; expected sessions of people")
        return answered
    transcripts = []
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
        transcripts.append({**one, "text": one["text"].replace("\r\n", "\n")})
    return transcripts
