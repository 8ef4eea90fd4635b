"""gardenpath collect: tables from collected data."""

from itertools import chain
from pathlib import Path

import click

from . import options, truth


def platforms() -> list[str]:
    """Return the platforms whose data can be read."""
    from gardenpath.experiment.platforms import importing

    return [platform.NAME for platform in importing.PLATFORMS]


@click.command("collect")
@click.argument("data", nargs=-1, required=True)
@click.option(
    "--from", "platform", type=options.OneOf(platforms), help="Where the data come from [default: gardenpath]."
)
@click.option("--mapping", type=click.Path(path_type=Path), help="What the columns of the files are (TOML).")
@click.option(
    "--materials",
    type=click.Path(path_type=Path),
    help="What was shown: STUDY.toml, a folder of version files, or a file of materials.",
)
@click.option("--prolific", type=click.Path(path_type=Path), help="Prolific's export of demographics, to be joined.")
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="Key that hashes participants' ids, made on first use [default: participant.key beside the data].",
)
@click.option("--keep-ids", is_flag=True, help="Write participants' ids as they are: for labels of your own only.")
@click.option("--previews", is_flag=True, help="With what was done through preview links, to look at the tables early.")
@options.out
@options.parquet
@options.force
def command(
    data: tuple[str, ...],
    platform: str | None,
    mapping: Path | None,
    materials: Path | None,
    prolific: Path | None,
    key: Path | None,
    keep_ids: bool,
    previews: bool,
    out: Path,
    parquet: bool,
    force: bool,
) -> None:
    """Make tables of DATA: a study's data folder, its database (file or URL), or what another platform gave to download.

    Several DATA of gardenpath's own become one set of tables: items that they share have to agree, participants are apart.
    """
    from gardenpath import study
    from gardenpath.experiment import pseudonyms
    from gardenpath.experiment.collect_data import collect_parts
    from gardenpath.experiment.platforms import collecting, importing
    from gardenpath.study.list_coverage import covered

    if platform == "table" and mapping is None:
        raise click.UsageError("--from table needs --mapping FILE.toml: the mapping names the table's columns")
    if platform is None and (mapping or materials or keep_ids):
        raise click.UsageError("--mapping, --materials and --keep-ids belong to data of another platform: give --from")
    if platform is not None and previews:
        raise click.UsageError(
            "--previews applies to gardenpath's own data; those of another platform have no previews"
        )
    if len(data) > 1 and (platform is not None or prolific is not None):
        raise click.UsageError(
            f"{len(data)} DATA with --from or --prolific; expected one: several are joined where they are gardenpath's own"
        )
    hashed_with = collecting.key_file(data[0], platform, key, keep_ids) if platform else None
    earlier = [study.files.read_sidecar(out / f"sessions.{suffix}") for suffix in ("csv", "parquet")]
    if hashed_with is not None and any("key_sha256" in sidecar for sidecar in earlier):
        pseudonyms.known_key(hashed_with, f"the tables of {out}")
    parts = collect_parts(
        data[0] if len(data) == 1 else data,
        previews=previews,
        platform=platform,
        mapping=mapping,
        materials=materials,
        prolific=prolific,
        key=key,
        keep_ids=keep_ids,
    )
    sources = (Path(data[0]) if platform else None, mapping, materials, prolific)
    inputs = [path for path in sources if path is not None and path.is_file()]
    # Files of a folder are not named: their names may be participants' ids.
    notes = {"data_sha256": importing.fingerprint(data[0])} if platform else truth.of_sessions(data)
    first = next(parts)  # by which the key of ids is there, where there is none yet
    if hashed_with is not None and hashed_with.exists():
        notes["key_sha256"] = study.files.sha256(hashed_with)
    written = study.table_files.write_parts(
        chain([first], parts),
        out,
        command=options.typed(),
        inputs=inputs,
        notes=notes,
        parquet=parquet,
        force=force,
        dictionary=True,
    )
    for path, rows in written.items():
        click.echo(f"{path}: {rows} rows")
    if any(path.stem == "coverage" for path in written):
        options.talk(covered(study.read(out, "coverage")))
