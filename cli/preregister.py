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
    it beside STUDY.toml; `gardenpath deviations` lists what departs from it.
    """
    from gardenpath import study
    from gardenpath.analysis.reporting.wording.plans import list_planned_formulas
    from gardenpath.experiment.setup import preregistration

    from .plan import resolve_design_plan

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
            config, statements, models=list_planned_formulas(resolve_design_plan(config)), after=after_data_note
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
