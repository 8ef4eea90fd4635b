"""gardenpath analyse: ratings and reading times become means and mixed models."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gardenpath.cli import options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.study import AnalysisSection
    from gardenpath.study.config import FiguresSection
    from gardenpath.study.engines import Local, Ray

NEEDED = ("readings", "responses", "sessions", "items")
OPTIONAL = ("demographics", "conditions", "words", "replacements")  # read where they are there
DATA = ("readings", "responses")  # one of them is empty where people were only asked, or only read
FILLED = (*DATA, "sessions", "items", "conditions", "words", "surprisal", "sentence_scores")  # tables that have rows
TEXT = "results.md"
FIGURES = "figures"
MODELS = ("phenomenon_models", "factorial_models")

study = click.option(
    "--study", "study_file", type=click.Path(path_type=Path), help="STUDY.toml whose [analysis] holds the settings."
)
min_rt = click.option("--min-rt", type=float, help="Shortest reading time kept, ms.  [default: 100]")
max_rt = click.option("--max-rt", type=float, help="Longest reading time kept, ms.  [default: 3000]")
engine = click.option("--engine", help="Program that fits the mixed models.  [default: glmm]")


@click.command("analyse")
@click.argument("tables", type=click.Path(path_type=Path))
@study
@min_rt
@max_rt
@engine
@click.option("--figures/--no-figures", default=True, show_default=True, help="Draw the figures, as SVG and PNG.")
@options.seed
@options.workers
@options.out
@options.parquet
@options.force
def command(
    tables: Path,
    study_file: Path | None,
    min_rt: float | None,
    max_rt: float | None,
    engine: str | None,
    figures: bool,
    seed: int | None,
    workers: "Local | Ray | None",
    out: Path,
    parquet: bool,
    force: bool,
) -> None:
    """Exclude as declared, standardise ratings, sum reading times, and fit mixed models of grammaticality.

    TABLES is a folder with readings, responses, sessions and items, and demographics where the study asked for them. Writes
    to the folder given with -o: exclusions with their counts, participants, scores, means, agreement among raters,
    models of each phenomenon and paradigm, the same under other choices; figures/; and results.md, methods and results as
    text to paste. --workers fit the models under other choices.
    """
    from gardenpath import analysis
    from gardenpath.analysis.reporting import manuscript
    from gardenpath.study import AnalysisSection, load
    from gardenpath.study.files import refuse_overwrite, versions, write_sidecar, write_text
    from gardenpath.study.table_files import refuse_tables

    refuse_tables(out, "analyse", force)
    refuse_overwrite([out / TEXT, *([out / FIGURES] if figures else [])], force)
    study = load(study_file) if study_file else None
    if seed is None:
        seed = study.seed if study else 1
        options.talk(f"--seed {seed}")
    settings = overridden(study.analysis if study else AnalysisSection(), min_rt=min_rt, max_rt=max_rt, engine=engine)
    inputs, places = read_tables(dict.fromkeys(NEEDED, tables), dict.fromkeys(OPTIONAL, tables))
    results = analysis.analyse(inputs, settings, seed=seed, workers=workers)
    notes = noted(settings)
    write_all(results, out, places, notes, parquet, seed)
    write_text(
        out / TEXT,
        manuscript.ready_to_paste({**results, "sessions": inputs["sessions"]}, versions(), settings.smallest),
    )
    write_sidecar(out / TEXT, command=options.typed(), inputs=places, seed=seed, notes=notes)
    options.talk(f"{out / TEXT}: methods and results to paste")
    if figures:
        draw(results, out / FIGURES, settings.figures)
    _print(results)


def _print(results: Mapping[str, "pd.DataFrame"]) -> None:
    """Print how many participants are excluded, where some are, and the effects, and say of which measure there are none."""
    from gardenpath.analysis.prompts import rated_prompts
    from gardenpath.analysis.reporting.wording import effects as words
    from gardenpath.analysis.reporting.wording import factors, participation

    if results["participants"]["excluded"].notna().any():
        click.echo(participation.participants_excluded(results["participants"]))
    effects = results["phenomenon_models"]
    for measure, rows, what in (
        ("z", results["rating_scores"], "ratings"),
        ("log_rt", results["region_times"], "critical regions read"),
    ):
        if not len(rows):
            options.talk(f"the tables have no {what} of target trials, so there are no models of them")
        elif not any((results[name]["measure"] == measure).any() for name in MODELS if name in results):
            options.talk(
                f"no models of {what}: no paradigm has the two conditions grammatical and ungrammatical, or factors stated in "
                "the table conditions"
            )
    for measure, prompts in (("z", rated_prompts(results)), ("log_rt", ())):
        for sentence in words.effects(effects, measure, prompts):
            click.echo(sentence)
    if "factorial_models" in results:
        for sentence in factors.factorial_effects(results["factorial_models"]):
            click.echo(sentence)


def draw(results: Mapping[str, "pd.DataFrame"], folder: Path, figures: "FiguresSection") -> None:
    """Write each figure as SVG and as PNG."""
    from gardenpath.analysis.reporting.figures import catalogue, figure_style

    count = 0
    for name, figure in catalogue.result_figures(results, figures):
        figure_style.save(figure, name, folder)
        count += 1
    options.talk(f"{folder}: {count} figures, as SVG and PNG")


def overridden(settings: "AnalysisSection", **options: object) -> "AnalysisSection":
    """Return a study's settings with those that were given on the command line."""
    return replace(settings, **{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]


def noted(settings: "AnalysisSection") -> dict[str, object]:
    """Return what sidecars say of the settings: all but how figures look."""
    return {name: value for name, value in asdict(settings).items() if name != "figures"}


def read_tables(
    needed: Mapping[str, Path], optional: Mapping[str, Path]
) -> tuple[dict[str, "pd.DataFrame"], list[Path]]:
    """Return tables by name, each from its folder, with their files; of those that need not be there, those that are."""
    from gardenpath.study import TABLES, DataError, read
    from gardenpath.study.table_files import table_file

    files = {name: table_file(folder, name) for name, folder in needed.items()}
    files |= {
        name: path
        for name, folder in optional.items()
        if folder.is_dir() and (path := table_file(folder, name)).exists()
    }
    read_ones = {name: read(path, name) for name, path in files.items()}
    empty = [name for name, table in read_ones.items() if table.empty]
    lacking = FILLED if {*DATA} <= {*empty} else tuple(name for name in FILLED if name not in DATA)
    if faults := [
        f"{files[name]}: no rows; expected at least one ({TABLES[name].row})" for name in empty if name in lacking
    ]:
        raise DataError(faults)
    return read_ones, list(files.values())


def write_all(
    results: Mapping[str, "pd.DataFrame"],
    out: Path,
    inputs: list[Path],
    notes: Mapping[str, object],
    parquet: bool,
    seed: int | None = None,
) -> None:
    """Write each table with its sidecar, and say where on stderr."""
    from gardenpath.study import write

    for name, frame in results.items():
        path = write(frame, name, out, command=options.typed(), inputs=inputs, seed=seed, notes=notes, parquet=parquet)
        options.talk(f"{path}: {len(frame)} rows")
