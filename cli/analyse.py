"""gardenpath analyse: ratings and reading times become means and mixed models."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gardenpath.cli import options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.study import AnalysisSection, Study
    from gardenpath.study.config import FiguresSection

REQUIRED_TABLES = ("readings", "responses", "sessions", "items")
OPTIONAL_TABLES = ("demographics", "conditions", "words", "replacements")  # read where they are there
OBSERVATION_TABLES = ("readings", "responses")  # one of them is empty where people were only asked, or only read
NONEMPTY_TABLES = (
    *OBSERVATION_TABLES,
    "sessions",
    "items",
    "conditions",
    "words",
    "surprisal",
    "sentence_scores",
)  # tables that have rows
RESULTS_FILE = "results.md"
FIGURES_FOLDER = "figures"

study_option = click.option(
    "--study", "study_file", type=click.Path(path_type=Path), help="STUDY.toml whose [analysis] holds the settings."
)
min_rt_option = click.option("--min-rt", type=float, help="Shortest reading time kept, ms.  [default: 100]")
max_rt_option = click.option("--max-rt", type=float, help="Longest reading time kept, ms.  [default: 3000]")
engine_option = click.option("--engine", help="Program that fits the mixed models.  [default: glmm]")


@click.command("analyse")
@click.argument("tables", type=click.Path(path_type=Path))
@study_option
@min_rt_option
@max_rt_option
@engine_option
@click.option(
    "--figures/--no-figures", default=False, show_default=True, help="Draw the figures, as SVG and PNG; `report` draws them too."
)
@options.seed
@options.output_path
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
    """Exclude as declared, standardise ratings, sum reading times, and fit the models of the study's plan.

    TABLES is a folder with readings, responses, sessions and items, and demographics where the study asked for them. Writes
    to the folder given with -o: exclusions with their counts, participants, scores, means, agreement among raters, the
    planned models, every fit and the effects; and results.md, methods and results as text to paste. With --study the models are
    those of `gardenpath plan`, without it they follow from the tables. `gardenpath multiverse` estimates the effects under other
    choices.
    """
    from gardenpath import analysis
    from gardenpath.analysis.reporting import manuscript
    from gardenpath.study import AnalysisSection, load
    from gardenpath.study.files import list_software_versions, refuse_overwrite, write_sidecar, write_text
    from gardenpath.study.table_files import refuse_existing_tables

    from .plan import find_study_plan

    refuse_existing_tables(out, "analyse", force)
    refuse_overwrite([out / RESULTS_FILE, *([out / FIGURES_FOLDER] if figures else [])], force)
    config = load(study_file) if study_file else None
    if seed is None:
        seed = config.seed if config else 1
        options.print_notice(f"--seed {seed}")
    settings = override_settings(config.analysis if config else AnalysisSection(), min_rt=min_rt, max_rt=max_rt, engine=engine)
    inputs, input_files = read_tables(dict.fromkeys(REQUIRED_TABLES, tables), dict.fromkeys(OPTIONAL_TABLES, tables))
    if config is not None:
        measures, files = read_measures(config, inputs)
        inputs, input_files = inputs | measures, input_files + files
    plan, reason = find_study_plan(replace(config, analysis=settings)) if config else (None, "")
    if reason:
        options.print_notice(f"the plan of models is taken from the data, since the design gives none: {reason}")
    results = analysis.analyse(inputs, settings, plan=plan, seed=seed)
    notes = describe_settings(settings)
    write_tables(results, out, input_files, notes, parquet, seed)
    write_text(
        out / RESULTS_FILE,
        manuscript.ready_to_paste({**results, "sessions": inputs["sessions"]}, list_software_versions(), settings.sesoi),
    )
    write_sidecar(out / RESULTS_FILE, command=options.format_command_line(), inputs=input_files, seed=seed, notes=notes)
    options.print_notice(f"{out / RESULTS_FILE}: methods and results to paste")
    if figures:
        draw_figures(results, out / FIGURES_FOLDER, settings.figures)
    _print_results(results)


def _print_results(results: Mapping[str, "pd.DataFrame"]) -> None:
    """Print how many participants are excluded, where some are, and the effects, and say of which measure there are none."""
    from gardenpath.analysis.model_results import join_results, select_factors, select_pairs
    from gardenpath.analysis.prompts import list_rated_prompts
    from gardenpath.analysis.reporting.wording import effects as words
    from gardenpath.analysis.reporting.wording import factors, participation
    from gardenpath.study.responses import PRIMARY_RESPONSES, RATINGS_TABLE, RESPONSES, TIMES_TABLE

    if results["participants"]["exclusion_rule"].notna().any():
        click.echo(participation.participants_excluded(results["participants"]))
    effects = join_results(results)
    for table, description in ((RATINGS_TABLE, "ratings"), (TIMES_TABLE, "critical regions read")):
        measures = [name for name in PRIMARY_RESPONSES if RESPONSES[name].table == table]
        if not len(results[table]):
            options.print_notice(f"the tables have no {description} of target trials, so there are no models of them")
        elif not effects["response"].isin(measures).any():
            options.print_notice(
                f"no models of {description}: no paradigm has the two conditions grammatical and ungrammatical, or "
                "factors stated in "
                "the table conditions"
            )
    for measure in PRIMARY_RESPONSES:
        for sentence in words.effects(select_pairs(effects), measure, list_rated_prompts(results, measure)):
            click.echo(sentence)
    for sentence in factors.factorial_effects(select_factors(effects)):
        click.echo(sentence)


def draw_figures(results: Mapping[str, "pd.DataFrame"], folder: Path, figures: "FiguresSection") -> None:
    """Write each figure as SVG and as PNG."""
    from gardenpath.analysis.reporting.figures import catalogue, figure_style

    count = 0
    for name, figure in catalogue.result_figures(results, figures):
        figure_style.save(figure, name, folder)
        count += 1
    options.print_notice(f"{folder}: {count} figures, as SVG and PNG")


def override_settings(settings: "AnalysisSection", **options: object) -> "AnalysisSection":
    """Return a study's settings with those that were given on the command line."""
    return replace(settings, **{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]


def describe_settings(settings: "AnalysisSection") -> dict[str, object]:
    """Return what sidecars say of the settings: all but how figures look."""
    return {name: value for name, value in asdict(settings).items() if name != "figures"}


def read_tables(required: Mapping[str, Path], optional: Mapping[str, Path]) -> tuple[dict[str, "pd.DataFrame"], list[Path]]:
    """Return tables by name, each from its folder, with their files; of those that need not be there, those that are."""
    from gardenpath.study import TABLES, DataError, read
    from gardenpath.study.table_files import find_table_file

    files = {name: find_table_file(folder, name) for name, folder in required.items()}
    files |= {
        name: path for name, folder in optional.items() if folder.is_dir() and (path := find_table_file(folder, name)).exists()
    }
    tables = {name: read(path, name) for name, path in files.items()}
    empty = [name for name, table in tables.items() if table.empty]
    nonempty = (
        NONEMPTY_TABLES
        if {*OBSERVATION_TABLES} <= {*empty}
        else tuple(name for name in NONEMPTY_TABLES if name not in OBSERVATION_TABLES)
    )
    if faults := [f"{files[name]}: no rows; expected at least one ({TABLES[name].row})" for name in empty if name in nonempty]:
        raise DataError(faults)
    return tables, list(files.values())


def read_measures(config: "Study", tables: "Mapping[str, pd.DataFrame]") -> "tuple[dict[str, pd.DataFrame], list[Path]]":
    """Return what files say of participants, as a table by name, with their paths; of simulated ones demographics say it."""
    from gardenpath.study.participant_measures import MEASURES_TABLE, read_measure_files

    known = set(tables["demographics"]["question"]) if "demographics" in tables else set()
    measures = {name: one for name, one in config.analysis.participant_measures.items() if name not in known}
    table = read_measure_files(measures, config.folder)
    files = dict.fromkeys(config.folder / one.file for one in measures.values() if one.file is not None)
    return ({} if table is None else {MEASURES_TABLE: table}), list(files)


def write_tables(
    results: Mapping[str, "pd.DataFrame"],
    out: Path,
    inputs: list[Path],
    notes: Mapping[str, object],
    parquet: bool,
    seed: int | None = None,
) -> None:
    """Write each table that has rows with its sidecar, and say where on stderr."""
    from gardenpath.study import write
    from gardenpath.study.table_files import select_filled

    for name, frame in select_filled(results, out, is_whole_run=True).items():
        path = write(
            frame, name, out, command=options.format_command_line(), inputs=inputs, seed=seed, notes=notes, parquet=parquet
        )
        options.print_notice(f"{path}: {len(frame)} rows")
