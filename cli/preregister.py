"""gardenpath preregister: what a study fixes before its data, as a page to be deposited."""

from pathlib import Path

import click

from . import options


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
    it beside STUDY.toml; `gardenpath deviations` lists what departs from it. The page says which data lay beside STUDY.toml, and
    is refused where some are of people: sessions, databases, tables, files of other platforms.
    """
    from gardenpath import study
    from gardenpath.analysis.reporting.wording.plans import list_hypotheses, list_multiverse, list_planned_formulas
    from gardenpath.experiment.setup import preregistration
    from gardenpath.experiment.setup.data_search import search_data

    from .plan import resolve_design_plan

    study.files.refuse_overwrite([out], force)
    config = study.load(study_file)
    searched = search_data(config)
    if searched.of_people and not after_data:
        places = "; ".join(map(str, searched.of_people))
        raise study.DataError(
            f"{config.folder}: data of people are there already, so this would not be before the data: {places}; take away what "
            "is none of this study, or write the page with --after-data, which says so in it"
        )
    plan = resolve_design_plan(config)
    statements = preregistration.build_statements(config, participants, plan)
    page = preregistration.format_preregistration(
        config,
        statements,
        models=list_planned_formulas(plan),
        hypotheses=list_hypotheses(plan),
        multiverse=list_multiverse(plan),
        searched=searched,
        after_data=after_data,
    )
    study.files.write_text(out, page)
    inputs = [study_file, *config.list_material_paths()]
    study.files.write_sidecar(out, command=options.format_command_line(), inputs=inputs, seed=config.seed)
    options.print_notice(searched.describe())
    click.echo(
        f"{out}: {len(preregistration.flatten_statements(statements))} statements; SHA-256 of the page {study.files.hash_file(out)}"
    )
