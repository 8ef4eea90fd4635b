"""gardenpath preregister: what a study fixes before its data, as a page to be deposited."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.experiment.setup.preregistration import Json
    from gardenpath.study import Study


@click.command("preregister")
@options.study_file
@click.option(
    "--participants", type=click.IntRange(min=1), help="How many take part, where study.toml states no places (online.quota)."
)
@click.option("--after-data", is_flag=True, help="Write the page though people have taken part already, and say so in it.")
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Page to write, such as preregistration.md.")
@options.force
def command(study_file: Path, participants: int | None, after_data: bool, out: Path, force: bool) -> None:
    """Draft a preregistration of STUDY.toml: design, sample, items, exclusions, models, smallest effects; what is fixed, what open.

    The page holds every statement with a hash of them all. Fill in what is open, deposit it (OSF, Zenodo, AsPredicted), and keep
    it beside STUDY.toml; `gardenpath deviations` lists what departs from it.
    """
    from gardenpath import study
    from gardenpath.experiment.setup import preregistration

    study.files.refuse_overwrite([out], force)
    config = study.load(study_file)
    session_count = _count_participant_sessions(config.folder)
    if session_count and not after_data:
        raise study.DataError(
            f"{config.folder}: {options.format_count(session_count, 'session')} of people are there already, so this "
            "would not be before the data; "
            "--after-data writes the page and says so in it"
        )
    statements = preregistration.build_statements(config, participants)
    after_data_note = (
        f"**Drafted after data were collected**: {options.format_count(session_count, 'session')} of people were there."
        if session_count
        else ""
    )
    study.files.write_text(
        out,
        preregistration.format_preregistration(
            config, statements, models=list(describe_standard_models(config, statements)), after=after_data_note
        ),
    )
    inputs = [study_file, *config.list_material_paths()]
    study.files.write_sidecar(out, command=options.format_command_line(), inputs=inputs, seed=config.seed)
    click.echo(
        f"{out}: {len(preregistration.flatten_statements(statements))} statements; SHA-256 of the page {study.files.hash_file(out)}"
    )


def _count_participant_sessions(folder: Path) -> int:
    """Return how many sessions of people there are, in the tables or in data of our own."""
    from gardenpath import study
    from gardenpath.experiment.collection.recorded_sessions import open_session_source

    simulated_sources = ("simulation", "robot", "preview", "model")
    path = study.table_files.find_table_file(folder / "tables", "sessions")
    if path.is_file():
        return int((~study.read(path, "sessions")["source"].isin(simulated_sources)).sum())
    try:
        return sum(one.source not in simulated_sources for one in open_session_source(folder / "data", previews=False).sessions)
    except (FileNotFoundError, study.DataError):
        return 0


def describe_standard_models(config: "Study", statements: "Json") -> Iterator[str]:
    """Yield the formulas of the models that `analyse` fits where none are declared, and how their factors are coded."""
    from gardenpath.analysis.engines.formulas import parse_formula
    from gardenpath.analysis.grammatical_status import GRAMMATICALITY_CODES
    from gardenpath.analysis.modelling.grammaticality import RANDOM, TERM
    from gardenpath.analysis.modelling.mixed_models import engine_named
    from gardenpath.analysis.modelling.simulated_trials import LOG_RT, RATING

    from .power_simulation import list_target_responses

    measures = ["z" if response == RATING else response for response in list_target_responses(config)]
    if config.design.trial != "sentence":
        measures = [measure for measure in measures if measure != LOG_RT]
    other_paradigms = (*config.design.fillers, *config.design.catch)
    paradigms = [factors for name, factors in statements["conditions"].items() if name not in other_paradigms]
    pairs = any({*factors} == {*GRAMMATICALITY_CODES} for factors in paradigms)
    factor_terms = dict.fromkeys(
        "*".join(next(iter(factors.values()))) for factors in paradigms if {*factors} != {*GRAMMATICALITY_CODES}
    )
    for measure in measures:
        covariates = [name for name in config.analysis.covariates if measure == LOG_RT]
        for forms in RANDOM.get(measure, {}).values() if pairs else ():
            formulas = [f"{' + '.join([f'{measure} ~ {TERM}', *covariates])} + {form}" for form in forms]
            engine = engine_named(config.analysis.engine)
            yield f"- `{next(each for each in formulas if not engine.describe_unsupported(parse_formula(each)))}`"
        fixed_terms = [*factor_terms, *([TERM] if pairs and measure not in RANDOM else [])]
        for terms in fixed_terms if config.design.trial == "sentence" else ["1"]:
            fixed = " + ".join([f"{measure} ~ {terms}", *(name for name in covariates if name == "log_trial")])
            for group in dict.fromkeys(["1", f"1 + {terms}" if terms != "1" else "1"]):
                yield f"- `{fixed} + ({group}|participant) + ({group}|item)`"
    if pairs:
        yield f"\n{TERM.capitalize()} of minimal pairs is +0.5 grammatical, -0.5 ungrammatical."
    if factor_terms:
        yield "\nContrasts of factors are repeated: a level minus the one before it, in the order of levels above."
