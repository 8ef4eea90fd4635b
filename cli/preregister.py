"""gardenpath preregister: what a study fixes before its data, as a page to be deposited."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.experiment.preregistration import Json
    from gardenpath.study import Study


@click.command("preregister")
@options.study_file
@click.option(
    "--participants",
    type=click.IntRange(min=1),
    help="How many take part, where study.toml states no places (online.quota).",
)
@click.option(
    "--after-data", is_flag=True, help="Write the page though people have taken part already, and say so in it."
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, help="Page to write, such as preregistration.md."
)
@options.force
def command(study_file: Path, participants: int | None, after_data: bool, out: Path, force: bool) -> None:
    """Draft a preregistration of STUDY.toml: design, sample, items, exclusions, models, smallest effects; what is fixed, what open.

    The page holds every statement with a hash of them all. Fill in what is open, deposit it (OSF, Zenodo, AsPredicted), and keep
    it beside STUDY.toml; `gardenpath deviations` lists what departs from it.
    """
    from gardenpath import study
    from gardenpath.experiment import preregistration

    study.files.refuse_overwrite([out], force)
    plan = study.load(study_file)
    there = _taken_part(plan.folder)
    if there and not after_data:
        raise study.DataError(
            f"{plan.folder}: {options.count(there, 'session')} of people are there already, so this would not be before the data; "
            "--after-data writes the page and says so in it"
        )
    stated = preregistration.statements(plan, participants)
    after = (
        f"**Drafted after data were collected**: {options.count(there, 'session')} of people were there."
        if there
        else ""
    )
    study.files.write_text(
        out, preregistration.page(plan, stated, models=list(standard_models(plan, stated)), after=after)
    )
    inputs = [study_file, *plan.paths()]
    study.files.write_sidecar(out, command=options.typed(), inputs=inputs, seed=plan.seed)
    click.echo(f"{out}: {len(preregistration.flat(stated))} statements; SHA-256 of the page {study.files.sha256(out)}")


def _taken_part(folder: Path) -> int:
    """Return how many sessions of people there are, in the tables or in data of our own."""
    from gardenpath import study
    from gardenpath.experiment import collect_data

    nobody = ("simulation", "robot", "preview", "model")
    path = study.table_files.table_file(folder / "tables", "sessions")
    if path.is_file():
        return int((~study.read(path, "sessions")["source"].isin(nobody)).sum())
    try:
        return sum(one.source not in nobody for one in collect_data.recorded(folder / "data", previews=False).sessions)
    except (FileNotFoundError, study.DataError):
        return 0


def standard_models(plan: "Study", stated: "Json") -> Iterator[str]:
    """Yield the formulas of the models that `analyse` fits where none are declared, and how their factors are coded."""
    from gardenpath.analysis.engines.formulas import parse
    from gardenpath.analysis.grammatical_status import CODES
    from gardenpath.analysis.modelling.grammaticality import RANDOM, TERM
    from gardenpath.analysis.modelling.mixed_models import engine_named
    from gardenpath.analysis.modelling.simulated_trials import LOG_RT, RATING

    from .power import responses_of

    measures = ["z" if response == RATING else response for response in responses_of(plan)]
    if plan.design.trial != "sentence":
        measures = [measure for measure in measures if measure != LOG_RT]
    aside = (*plan.design.fillers, *plan.design.catch)
    paradigms = [by for name, by in stated["conditions"].items() if name not in aside]
    pairs = any({*by} == {*CODES} for by in paradigms)
    crossed = dict.fromkeys("*".join(next(iter(by.values()))) for by in paradigms if {*by} != {*CODES})
    for measure in measures:
        beside = [name for name in plan.analysis.covariates if measure == LOG_RT]
        for forms in RANDOM.get(measure, {}).values() if pairs else ():
            formulas = [f"{' + '.join([f'{measure} ~ {TERM}', *beside])} + {form}" for form in forms]
            yield f"- `{next(each for each in formulas if not engine_named(plan.analysis.engine).lacks(parse(each)))}`"
        of_factors = [*crossed, *([TERM] if pairs and measure not in RANDOM else [])]
        for terms in of_factors if plan.design.trial == "sentence" else ["1"]:
            fixed = " + ".join([f"{measure} ~ {terms}", *(name for name in beside if name == "log_trial")])
            for group in dict.fromkeys(["1", f"1 + {terms}" if terms != "1" else "1"]):
                yield f"- `{fixed} + ({group}|participant) + ({group}|item)`"
    if pairs:
        yield f"\n{TERM.capitalize()} of minimal pairs is +0.5 grammatical, -0.5 ungrammatical."
    if crossed:
        yield "\nContrasts of factors are repeated: a level minus the one before it, in the order of levels above."
