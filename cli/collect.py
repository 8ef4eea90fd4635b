"""gardenpath collect: tables from collected data."""

from itertools import chain
from pathlib import Path

import click

from . import options, simulation_parameters


def list_import_platforms() -> list[str]:
    """Return the platforms whose data can be read."""
    from gardenpath.experiment.platforms import platform_import

    return [platform.NAME for platform in platform_import.PLATFORMS]


@click.command("collect")
@click.argument("data", nargs=-1, required=True)
@click.option("--platform", type=options.LazyChoice(list_import_platforms), help="Where the data come from [default: gardenpath].")
@click.option("--mapping", type=click.Path(path_type=Path), help="What the columns of the files are (TOML).")
@click.option(
    "--materials",
    type=click.Path(path_type=Path),
    help="What was shown: STUDY.toml, a folder of list files, or a file of materials.",
)
@click.option(
    "--prolific",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Prolific's export of demographics, to be joined; one for all DATA, or one for each.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="Key that hashes participants' ids, made on first use [default: participant.key beside the data].",
)
@click.option("--keep-ids", is_flag=True, help="Write participants' ids as they are: for labels of your own only.")
@click.option(
    "--excluded-participants",
    multiple=True,
    metavar="DATA",
    type=click.Path(path_type=Path),
    help="Data of an earlier study (folder with participant.key): who took part does not count here. Repeatable.",
)
@click.option("--previews", is_flag=True, help="With what was done through preview links, to look at the tables early.")
@options.output_path
@options.parquet
@options.force
def command(
    data: tuple[str, ...],
    platform: str | None,
    mapping: Path | None,
    materials: Path | None,
    prolific: tuple[Path, ...],
    key: Path | None,
    keep_ids: bool,
    excluded_participants: tuple[Path, ...],
    previews: bool,
    out: Path,
    parquet: bool,
    force: bool,
) -> None:
    """Make tables of DATA: a study's data folder, its database (file or URL), or what another platform gave to download.

    Several DATA become one set of tables: items that they share have to agree, participants are apart. All are of one platform;
    --prolific is given once, or once for each DATA in their order.
    """
    from gardenpath import study
    from gardenpath.experiment.collection.data_collection import CollectOptions, collect_table_parts
    from gardenpath.experiment.platforms import platform_collection, platform_import
    from gardenpath.experiment.sessions import pseudonyms
    from gardenpath.study.judgment_coverage import describe_judgment_counts

    if platform == "table" and mapping is None:
        raise click.UsageError("--platform table needs --mapping FILE.toml: the mapping names the table's columns")
    if platform is None and (mapping or materials or keep_ids):
        raise click.UsageError("--mapping, --materials and --keep-ids belong to data of another platform: give --platform")
    if platform is not None and previews:
        raise click.UsageError("--previews applies to gardenpath's own data; those of another platform have no previews")
    keys = {file for one in data if platform and (file := platform_collection.find_key_file(one, platform, key, keep_ids))}
    earlier_sidecars = [study.files.read_sidecar(out / f"sessions.{suffix}") for suffix in ("csv", "parquet")]
    if any("key_sha256" in sidecar for sidecar in earlier_sidecars):
        for file in keys:
            pseudonyms.load_existing_key(file, f"the tables of {out}")
    origin = CollectOptions(
        previews=previews,
        platform=platform,
        mapping=mapping,
        materials=materials,
        prolific=prolific or None,
        key=key,
        keep_ids=keep_ids,
        excluded_participants=excluded_participants,
    )
    parts = collect_table_parts(data, origin)
    sources = (*(map(Path, data) if platform else ()), mapping, materials, *prolific)
    inputs = [path for path in sources if path is not None and path.is_file()]
    # Files of a folder are not named: their names may be participants' ids.
    notes = (
        {"data_sha256": _unwrap_single([platform_import.compute_fingerprint(one) for one in data])}
        if platform
        else simulation_parameters.read_shared_parameters(data)
    )
    first = next(parts)  # by which the key of ids is there, where there is none yet
    if key_hashes := [study.files.hash_file(file) for file in sorted(keys) if file.exists()]:
        notes["key_sha256"] = _unwrap_single(key_hashes)
    written = study.table_files.write_parts(
        chain([first], parts),
        out,
        command=options.format_command_line(),
        inputs=inputs,
        notes=notes,
        parquet=parquet,
        force=force,
        dictionary=True,
    )
    for path, rows in written.items():
        click.echo(f"{path}: {rows} rows")
    if excluded_participants:
        is_previous = study.read(out, "sessions")["exclusion_reason"].fillna("").str.startswith("took part in ")
        options.print_notice(
            f"{options.format_count(int(is_previous.sum()), 'session')} of previous participants marked as not counting"
        )
    if any(path.stem == "judgment_counts" for path in written):
        options.print_notice(describe_judgment_counts(study.read(out, "judgment_counts")))


def _unwrap_single(values: list[str]) -> str | list[str]:
    """Return the one value of a collection, or those of several."""
    return values[0] if len(values) == 1 else values
