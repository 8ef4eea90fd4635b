"""gardenpath deviations: what a study departs from in its preregistration."""

from pathlib import Path

import click

from . import options

DEVIATION_COLUMNS = ("registered", "found", "reason")


@click.command("deviations")
@options.study_file
@click.argument("preregistration", metavar="PREREGISTRATION.md", type=click.Path(path_type=Path))
@options.output_path
@options.parquet
@options.force
def command(study_file: Path, preregistration: Path, out: Path, parquet: bool, force: bool) -> None:
    """List every deviation of STUDY.toml, its materials, data and results from a page of `gardenpath preregister`.

    Writes the table deviations: what was registered, what there is, where, and the reason that archive.deviations in STUDY.toml
    gives. Reads tables/ and results/ beside STUDY.toml as far as they are there.
    """
    from gardenpath import study
    from gardenpath.experiment.setup import preregistration as pages
    from gardenpath.study.table_files import find_tables, refuse_existing_tables

    from .plan import find_study_plan

    refuse_existing_tables(out, "deviations", force)
    config = study.load(study_file)
    registered = pages.read_statements(study.files.read_text(preregistration), str(preregistration))
    files = {name: path for name, path in find_tables(config.folder).items() if name in pages.DEVIATION_TABLES}
    tables = {name: study.read(path, name) for name, path in files.items()}
    settings = study.files.read_sidecar(files["exclusions"]) if "exclusions" in files else None
    plan, _ = find_study_plan(config)
    table = pages.compute_deviations(registered, config, tables, settings, plan)
    inputs = [study_file, preregistration, *files.values()]
    study.write(table, "deviations", out, command=options.format_command_line(), inputs=inputs, seed=config.seed, parquet=parquet)
    for row in table.to_dict("records"):
        registered_value, found_value, reason = (row[name] if isinstance(row[name], str) else "none" for name in DEVIATION_COLUMNS)
        click.echo(
            f"{row['kind']}: {row['key']} ({row['location']}): registered {registered_value}, found {found_value}; reason: {reason}"
        )
    missing = int(table["reason"].isna().sum())
    click.echo(
        f"{options.format_count(len(table), 'deviation')} from {preregistration}"
        + (f"; {missing} without a reason (archive.deviations)" if missing else "")
    )
