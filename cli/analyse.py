"""gardenpath analyse: ratings and reading times become means and mixed models."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gardenpath.cli import options

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("readings", "responses", "sessions", "items")
RESULTS = (
    "exclusions",
    "participants",
    "participant_prompts",
    "rating_scores",
    "region_times",
    "condition_means",
    "rating_counts",
    "reading_curves",
    "reliability",
    "noise_ceilings",
    "choice_agreement",
    "phenomenon_models",
    "paradigm_models",
    "families",
    "sensitivity",
)
# Only with a policy or a cross-check; with factors of the study's own, or declared models; with R.
CHOSEN = ("chosen_models", "model_steps", "factorial_models", "ordinal_models")
ALSO = ("demographics", "conditions", "words")  # read where they are there
TEXT = "results.md"
FIGURES = "figures"

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
    out: Path,
    parquet: bool,
    force: bool,
) -> None:
    """Exclude as declared, standardise ratings, sum reading times, and fit mixed models of grammaticality.

    TABLES is a folder with readings, responses, sessions and items, and demographics where the study asked for them. Writes
    to the folder given with -o: exclusions with their counts, participants, scores, means, agreement among raters,
    models of each phenomenon and paradigm, the same under other choices; figures/; and results.md, methods and results as
    text to paste.
    """
    from gardenpath import analysis
    from gardenpath.analysis.prompts import rated
    from gardenpath.analysis.reporting import manuscript
    from gardenpath.analysis.reporting.wording import effects as words
    from gardenpath.analysis.reporting.wording import factors
    from gardenpath.study import AnalysisSection, load, read, refuse_overwrite, versions, write_sidecar, write_text

    refuse(out, (*RESULTS, *CHOSEN), force)
    refuse_overwrite([out / TEXT, *([out / FIGURES] if figures else [])], force)
    chosen = settings(study_file, min_rt=min_rt, max_rt=max_rt, engine=engine)
    section = load(study_file) if study_file else None
    if seed is None:
        seed = section.seed if section else 1
        options.talk(f"--seed {seed}")
    places = [located(tables, name) for name in TABLES]
    given = {name: read(tables, name) for name in TABLES}
    for name in ALSO:
        if tables.is_dir() and located(tables, name).exists():
            given[name] = read(tables, name)
            places.append(located(tables, name))
    stated = section.analysis if section else AnalysisSection()
    # Ordinal models are R's: where it fits the models anyway, they are there unless the study says no.
    ordinal = chosen["engine"] == "lme4" if stated.ordinal is None else stated.ordinal
    chosen |= {"policy": stated.policy, "crosscheck": stated.crosscheck, "ordinal": ordinal}
    found = analysis.analyse(**given, **chosen, exclude=stated.exclude, models=stated.models, seed=seed)  # type: ignore[arg-type]
    write_all(found, out, places, chosen, parquet, seed)
    write_text(out / TEXT, manuscript.ready_to_paste(found, versions(), stated.smallest))
    write_sidecar(out / TEXT, command=options.typed(), inputs=places, seed=seed, notes=chosen)
    options.talk(f"{out / TEXT}: methods and results to paste")
    if figures:
        draw(found, out / FIGURES)
    effects = found["phenomenon_models"]
    for measure, rows, what in (
        ("z", found["rating_scores"], "ratings"),
        ("log_rt", found["region_times"], "critical regions read"),
    ):
        if not len(rows):
            options.talk(f"no {what} of target trials are in the tables, so there are no models of them")
        elif not (effects["measure"] == measure).any() and "factorial_models" not in found:
            options.talk(
                f"no models of {what}: no paradigm has the two conditions grammatical and ungrammatical, or factors stated in "
                "the table conditions"
            )
    for measure, prompts in (("z", rated(found)), ("log_rt", ())):
        for sentence in words.effects(effects, measure, prompts):
            click.echo(sentence)
    if "factorial_models" in found:
        for sentence in factors.factorial_effects(found["factorial_models"]):
            click.echo(sentence)


def draw(found: Mapping[str, "pd.DataFrame"], folder: Path) -> None:
    """Write each figure as SVG and as PNG."""
    from gardenpath.analysis.reporting.figures import catalogue, figure_style

    count = 0
    for name, figure in catalogue.result_figures(found):
        figure_style.save(figure, name, folder)
        count += 1
    options.talk(f"{folder}: {count} figures, as SVG and PNG")


def settings(study_file: Path | None, **given: float | str | None) -> dict[str, float | str]:
    """Return min_rt, max_rt and engine: as given on the command line, else as in the study, else the defaults."""
    from gardenpath.study import load

    chosen: dict[str, float | str] = {"min_rt": 100.0, "max_rt": 3000.0, "engine": "glmm"}
    if study_file is not None:
        section = load(study_file).analysis
        chosen |= {"min_rt": section.min_rt, "max_rt": section.max_rt, "engine": section.engine}
    return chosen | {name: value for name, value in given.items() if value is not None}


def located(folder: Path, name: str) -> Path:
    """Return the file of a table: itself, or in the folder `<name>.parquet` if there is one, else `<name>.csv`."""
    if not folder.is_dir():
        return folder
    parquet = folder / f"{name}.parquet"
    return parquet if parquet.exists() else folder / f"{name}.csv"


def refuse(out: Path, names: tuple[str, ...], force: bool) -> None:
    """Refuse to overwrite any of the tables `names` in `out`, unless `force`."""
    from gardenpath.study import refuse_overwrite

    refuse_overwrite([out / f"{name}.{form}" for name in names for form in ("csv", "parquet")], force)


def write_all(
    found: Mapping[str, "pd.DataFrame"],
    out: Path,
    inputs: list[Path],
    chosen: Mapping[str, object],
    parquet: bool,
    seed: int | None = None,
) -> None:
    """Write each table with its sidecar, and say where on stderr."""
    from gardenpath.study import write

    for name, frame in found.items():
        path = write(frame, name, out, command=options.typed(), inputs=inputs, seed=seed, notes=chosen, parquet=parquet)
        options.talk(f"{path}: {len(frame)} rows")
