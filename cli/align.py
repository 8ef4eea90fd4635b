"""gardenpath align: reading times beside surprisal, and the model of one by the other."""

from pathlib import Path

import click

from gardenpath.cli import analyse, options

RESULTS = ("aligned", "alignment_models", "alignment_exclusions")


@click.command("align")
@click.argument("tables", type=click.Path(path_type=Path))
@click.argument("scores", type=click.Path(path_type=Path))
@analyse.study
@analyse.min_rt
@analyse.max_rt
@analyse.engine
@options.out
@options.parquet
@options.force
def command(
    tables: Path,
    scores: Path,
    study_file: Path | None,
    min_rt: float | None,
    max_rt: float | None,
    engine: str | None,
    out: Path,
    parquet: bool,
    force: bool,
) -> None:
    """Put each word's reading time beside its surprisal, and model the one by the other.

    TABLES is a folder with readings, sessions and words; SCORES a folder with surprisal. A word read without a score,
    or in another form than was scored, is an error that names it.
    """
    from gardenpath import analysis
    from gardenpath.analysis import wording
    from gardenpath.study import read

    analyse.refuse(out, RESULTS, force)
    chosen = analyse.settings(study_file, min_rt=min_rt, max_rt=max_rt, engine=engine)
    folders = {"readings": tables, "sessions": tables, "surprisal": scores, "words": tables}
    given = {name: read(folder, name) for name, folder in folders.items()}
    found = analysis.align(**given, **chosen)  # type: ignore[arg-type]
    inputs = [analyse.located(folder, name) for name, folder in folders.items()]
    analyse.write_all(found, out, inputs, chosen, parquet)
    for sentence in wording.slopes(found["alignment_models"]):
        click.echo(sentence)
