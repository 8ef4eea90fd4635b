"""gardenpath collect: tables from collected data."""

from pathlib import Path

import click

from . import options


@click.command("collect")
@click.argument("data")
@click.option(
    "--from", "platform", type=click.Choice(["table"]), help="Where the data come from [default: gardenpath]."
)
@click.option("--mapping", type=click.Path(path_type=Path), help="How the columns of a table become ours (TOML).")
@click.option("--previews", is_flag=True, help="With what was done through preview links, to look at the tables early.")
@options.out
@options.parquet
@options.force
def command(
    data: str, platform: str | None, mapping: Path | None, previews: bool, out: Path, parquet: bool, force: bool
) -> None:
    """Make tables of DATA: a study's data folder, its database (file or URL), or a long table of reading times."""
    from gardenpath import experiment, study

    if (platform == "table") != (mapping is not None):
        raise click.UsageError(
            "--from table and --mapping FILE.toml go together: the mapping names the table's columns"
        )
    if previews and mapping is not None:
        raise click.UsageError("--previews belongs to data of our own; a table of another lab has no previews")
    inputs: list[str | Path]
    if mapping is not None:
        tables = {"readings": experiment.import_readings(data, experiment.read_mapping(mapping))}
        inputs = [data, mapping]
    else:
        tables = experiment.collect(data, previews=previews)
        inputs = []
    suffix = "parquet" if parquet else "csv"
    study.refuse_overwrite([out / f"{name}.{suffix}" for name in tables], force)
    for name, table in tables.items():
        path = study.write(table, name, out, command=options.typed(), inputs=inputs, parquet=parquet)
        click.echo(f"{path}: {len(table)} rows")
    study.write_dictionary(tables, out)
