"""gardenpath plan: the models that a study is analysed by, before there are data."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.study import Study
    from gardenpath.study.plans import Plan


@click.command("plan")
@options.study_file
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="FILE.json", help="Write the plan as JSON, to be told by its SHA-256."
)
@options.force
def command(study_file: Path, out: Path | None, force: bool) -> None:
    """Print the models by which `analyse` analyses the study of STUDY.toml, before there are data.

    Who sees which item in which condition is taken from the design. Of each kind of model: its formula, the one that is fitted
    first, with contrasts as columns and random effects as far as the design allows, how they are reduced, what is tested, and
    how p is adjusted.
    """
    from gardenpath import study
    from gardenpath.analysis.reporting.wording.plans import describe_plan

    if out is not None:
        study.files.refuse_overwrite([out], force)
    config = study.load(study_file)
    plan = resolve_design_plan(config)
    for line in describe_plan(plan):
        click.echo(line)
    click.echo(f"\nSHA-256 {plan.sha256}")
    if out is not None:
        study.files.write_text(out, plan.format_json())
        options.print_notice(f"{out}: {options.format_count(len(plan.models), 'model')}")


def find_study_plan(config: "Study") -> "tuple[Plan | None, str]":
    """Return the plan of a study; where its materials are not there any more, or are refused, none, and why."""
    from gardenpath.study import DataError

    try:
        return resolve_design_plan(config), ""
    except (FileNotFoundError, DataError) as error:
        if isinstance(error, FileNotFoundError) and error.filename:
            return None, f"{error.filename}: {error.strerror}"
        return None, str(error).partition("\n")[0]


def resolve_design_plan(config: "Study") -> "Plan":
    """Return the plan of a study, from its design alone."""
    from gardenpath import experiment
    from gardenpath.analysis.plan import resolve_designed_plan
    from gardenpath.experiment.simulation.designed_tables import build_designed_tables

    tables = build_designed_tables(config, experiment.build_list_files(config))
    return resolve_designed_plan(tables, config.analysis, config.hypotheses)
