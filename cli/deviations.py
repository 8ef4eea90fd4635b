"""gardenpath deviations: what a study departs from in its preregistration."""

from pathlib import Path

import click

from . import options

SAID = ("registered", "found", "reason")


@click.command("deviations")
@options.study_file
@click.argument("preregistration", metavar="PREREGISTRATION.md", type=click.Path(path_type=Path))
@options.out
@options.parquet
@options.force
def command(study_file: Path, preregistration: Path, out: Path, parquet: bool, force: bool) -> None:
    """List every deviation of STUDY.toml, its materials, data and results from a page of `gardenpath preregister`.

    Writes the table deviations: what was registered, what there is, where, and the reason that archive.deviations in STUDY.toml
    gives. Reads tables/ and results/ beside STUDY.toml as far as they are there.
    """
    from gardenpath import study
    from gardenpath.experiment import preregistration as pages
    from gardenpath.study.table_files import find_tables, refuse_tables

    refuse_tables(out, "deviations", force)
    plan = study.load(study_file)
    registered = pages.read(study.files.read_text(preregistration), str(preregistration))
    files = {name: path for name, path in find_tables(plan.folder).items() if name in pages.TABLES_READ}
    tables = {name: study.read(path, name) for name, path in files.items()}
    settings = study.files.read_sidecar(files["exclusions"]) if "exclusions" in files else None
    table = pages.deviations(registered, plan, tables, settings)
    inputs = [study_file, preregistration, *files.values()]
    study.write(table, "deviations", out, command=options.typed(), inputs=inputs, seed=plan.seed, parquet=parquet)
    for row in table.to_dict("records"):
        was, now, why = (row[name] if isinstance(row[name], str) else "none" for name in SAID)
        click.echo(f"{row['kind']}: {row['key']} ({row['place']}): registered {was}, found {now}; reason: {why}")
    missing = int(table["reason"].isna().sum())
    click.echo(
        f"{options.count(len(table), 'deviation')} from {preregistration}"
        + (f"; {missing} without a reason (archive.deviations)" if missing else "")
    )
