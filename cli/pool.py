"""gardenpath pool: the effects of replications, one by one, together, and against one another."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gardenpath.cli import options

if TYPE_CHECKING:
    import pandas as pd

POOLED_TABLE, TEXT_FILE = "pooled_effects", "pooled.md"


@click.command("pool")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--name", "names", multiple=True, metavar="NAME", help="Names of the experiments, in their order.  [default: folders]"
)
@click.option("--model", "models", multiple=True, metavar="NAME", help="Only the models of this name; repeatable.")
@click.option("--response", "responses", multiple=True, metavar="NAME", help="Only the models of this response; repeatable.")
@click.option("--engine", default="glmm", show_default=True, help="Program that fits the models of all trials.")
@options.output_path
@options.parquet
@options.force
def command(
    results: tuple[Path, ...],
    names: tuple[str, ...],
    models: tuple[str, ...],
    responses: tuple[str, ...],
    engine: str,
    out: Path,
    parquet: bool,
    force: bool,
) -> None:
    """Compare and pool the effects of experiments, such as a study and its replications.

    RESULTS are folders that `analyse` wrote, or studies whose folder results/ they are in. Effects of the same model, response,
    region, prompt and contrast are pooled by random-effects meta-analysis; all trials together are fitted with the experiment as
    a factor, which says whether the effect differs. Writes the table pooled_effects, a forest plot of each response, and
    pooled.md. Another contrast, coding or scale in one of them is an error that says what differs.

    Several experiments in one folder of tables, as `collect` makes them of several DATA, are compared by `analyse` itself.
    """
    from gardenpath import analysis
    from gardenpath.analysis.fitting import pooled_effects
    from gardenpath.analysis.reporting.figures import figure_style, pooled_figures
    from gardenpath.analysis.reporting.wording import pooling
    from gardenpath.study import DataError, read, write
    from gardenpath.study.files import refuse_overwrite, write_sidecar, write_text
    from gardenpath.study.table_files import find_table_file

    refuse_overwrite([find_table_file(out, POOLED_TABLE), out / TEXT_FILE] if out.is_dir() else [], force)
    folders = [path / "results" if (path / "results").is_dir() else path for path in results]
    labels = _name_experiments(results, names)
    experiments: dict[str, dict[str, pd.DataFrame]] = {}
    inputs: list[Path] = []
    for label, folder in zip(labels, folders, strict=True):
        files = {name: find_table_file(folder, name) for name in (*pooled_effects.REQUIRED_TABLES, *pooled_effects.OPTIONAL_TABLES)}
        if missing := [name for name in pooled_effects.REQUIRED_TABLES if not files[name].exists()]:
            raise DataError(
                f"{folder}: no table {', '.join(missing)}; expected a folder of results, as  gardenpath analyse  writes it"
            )
        files = {name: path for name, path in files.items() if path.exists()}
        experiments[label] = {name: read(path, name) for name, path in files.items()}
        effects = experiments[label]["effects"]
        for column, wanted in (("model", models), ("response", responses)):
            if absent := [name for name in wanted if not (effects[column] == name).any()]:
                raise DataError(f"{folder}: no {column} {absent[0]!r}; expected one of {', '.join(effects[column].unique())}")
            effects = effects[effects[column].isin(wanted)] if wanted else effects
        experiments[label]["effects"] = effects
        inputs += files.values()
    table = analysis.pool_effects(experiments, engine=engine)
    for line in pooled_effects.describe_unshared(experiments):
        options.print_notice(line)
    path = write(table, POOLED_TABLE, out, command=options.format_command_line(), inputs=inputs, parquet=parquet)
    options.print_notice(f"{path}: {len(table)} rows")
    sentences = pooling.pooled_effects(table)
    parts = [("How experiments were pooled", pooling.methods(table)), ("Effects over experiments", sentences)]
    text = "\n\n".join(f"## {title}\n\n" + "\n\n".join(lines) for title, lines in parts if lines)
    write_text(out / TEXT_FILE, f"{text}\n")
    write_sidecar(out / TEXT_FILE, command=options.format_command_line(), inputs=inputs)
    for name, figure in pooled_figures.forest_figures(table):
        figure_style.save(figure, name, out)
        options.print_notice(f"{out / name}.svg: forest plot, as SVG and PNG")
    for sentence in sentences:
        click.echo(sentence)


def _name_experiments(results: tuple[Path, ...], names: tuple[str, ...]) -> list[str]:
    """Return a name for each folder: as given, or the folder's own; of folders results/, that of the study they are in."""
    from gardenpath.study import DataError

    if len(results) < 2:
        raise DataError(f"{results[0]}: one folder of results; expected two or more")
    if names and len(names) != len(results):
        raise click.UsageError(f"--name: {len(names)} names for {len(results)} folders; expected one for each, in their order")
    found = [path.resolve() for path in results]
    labels = list(names) or [path.parent.name if path.name == "results" else path.name for path in found]
    if len({*found}) < len(found) or len({*labels}) < len(labels):
        twice = next(label for n, label in enumerate(labels) if label in labels[:n] or found[n] in found[:n])
        raise DataError(
            f"experiment {twice!r} is there twice; expected different folders, and names by --name where these are alike"
        )
    return labels
