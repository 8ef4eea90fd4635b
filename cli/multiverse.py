"""gardenpath multiverse: the effects of a study under other choices of exclusion, scale, random effects and covariates."""

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from . import options
from .analyse import OPTIONAL_TABLES, REQUIRED_TABLES, describe_settings, read_measures, read_tables, study_option

if TYPE_CHECKING:
    from gardenpath.analysis.fitting.multiverse import PreparedMultiverse, Record
    from gardenpath.study import AnalysisSection, Study
    from gardenpath.study.executors import LocalExecutor, RayExecutor
    from gardenpath.study.plans import Plan

FITS_FILE = "multiverse-fits.jsonl"  # fits that are finished, until the table is written
TEXT_FILE = "multiverse.md"
FIGURES_FOLDER = "multiverse-figures"


@click.command("multiverse")
@click.argument("tables", type=click.Path(path_type=Path))
@study_option
@click.option("--dry-run", is_flag=True, help="Print the specifications and what they cost, and stop.")
@click.option(
    "--figures/--no-figures", default=False, show_default=True, help="Draw the curve of every effect; `report` draws some too."
)
@options.add_executor_options
@options.output_path
@options.parquet
@options.force
def command(
    tables: Path,
    study_file: Path | None,
    dry_run: bool,
    figures: bool,
    workers: "LocalExecutor | RayExecutor | None",
    out: Path,
    parquet: bool,
    force: bool,
) -> None:
    """Estimate the effects of a study under other defensible choices: exclusions, scale, random effects, covariates, regions.

    TABLES is the folder that `analyse` takes. The choices are those of the plan ([analysis.multiverse] in STUDY.toml, or defaults
    that follow from the study). What it costs is printed first. Interrupted, it goes on where it stopped: run it again. Writes the
    table multiverse, a row for each specification of an effect, and multiverse.md, text to paste: a sentence for each effect, which
    describes and does not test.
    """
    from gardenpath.analysis.fitting.multiverse import fit_multiverse, prepare_multiverse
    from gardenpath.analysis.reporting import manuscript
    from gardenpath.analysis.reporting.wording.multiverse import describe_effects
    from gardenpath.study import AnalysisSection, DataError, load, write
    from gardenpath.study.files import refuse_overwrite, write_sidecar, write_text
    from gardenpath.study.table_files import refuse_existing_tables

    if not dry_run:
        refuse_existing_tables(out, "multiverse", force)
        refuse_overwrite([out / TEXT_FILE, *([out / FIGURES_FOLDER] if figures else [])], force)
    config = load(study_file) if study_file else None
    settings = config.analysis if config else AnalysisSection()
    inputs, input_files = read_tables(dict.fromkeys(REQUIRED_TABLES, tables), dict.fromkeys(OPTIONAL_TABLES, tables))
    if config is not None:
        measures, files = read_measures(config, inputs)
        inputs, input_files = inputs | measures, input_files + files
    plan = _find_plan(config, inputs, settings)
    if not plan.multiverse:
        raise DataError("the plan varies no effect: no model is reported first, or only_hypotheses is true and none is stated")
    options.print_notice(_describe_size(plan))
    prepared = prepare_multiverse(inputs, settings, plan)
    known = _read_fits(out / FITS_FILE)
    number = _count_workers(workers)
    with contextlib.nullcontext(None) if dry_run else _open_fits(out / FITS_FILE) as kept:
        for line in _time_fits(prepared, known, kept, number):
            options.print_notice(line)
        if dry_run:
            return
        total = len(prepared.fits)
        with options.show_progress("fits", total) as move:
            table = fit_multiverse(
                prepared, known=known, executor=workers, keep=lambda record: _keep_fit(kept, record), progress=move
            )
    notes = describe_settings(settings)
    path = write(table, "multiverse", out, command=options.format_command_line(), inputs=input_files, notes=notes, parquet=parquet)
    options.print_notice(f"{path}: {len(table)} rows")
    write_text(out / TEXT_FILE, manuscript.paste_multiverse({"multiverse": table, "sessions": inputs["sessions"]}))
    write_sidecar(out / TEXT_FILE, command=options.format_command_line(), inputs=input_files, notes=notes)
    (out / FITS_FILE).unlink(missing_ok=True)
    if figures:
        _draw_figures(table, out / FIGURES_FOLDER)
    for sentence in describe_effects(table):
        click.echo(sentence)


def _find_plan(config: "Study | None", inputs: "Mapping[str, Any]", settings: "AnalysisSection") -> "Plan":
    """Return the plan of a study, from its design where there is one, else from the trials."""
    from gardenpath.analysis.measured_studies import measure_study
    from gardenpath.analysis.plan import resolve_plan

    from .plan import find_study_plan

    plan, reason = find_study_plan(config) if config else (None, "")
    if plan is not None:
        return plan
    if reason:
        options.print_notice(f"the plan of models is taken from the data, since the design gives none: {reason}")
    return resolve_plan(settings, measure_study(inputs, settings).trials, config.hypotheses if config else ())


def _describe_size(plan: "Plan") -> str:
    """Return how many specifications there are, of how many models."""
    total = sum(len(one.list_specifications()) for one in plan.multiverse)
    most = max(len(one.list_specifications()) for one in plan.multiverse)
    return (
        f"{options.format_count(total, 'specification')} of {options.format_count(len(plan.multiverse), 'model')}, {most} a model "
        "at most; the choices:  gardenpath plan"
    )


def _time_fits(prepared: "PreparedMultiverse", known: "dict[str, Record]", kept: "IO[str] | None", workers: int) -> Iterator[str]:
    """Yield what the fits cost: how many there are, and how long they take, by one of each kind, which is done then."""
    from gardenpath.analysis.fitting.multiverse import fit_wanted

    fits = prepared.fits
    done = sum(key in known for key in fits)
    before = f", {done} of them done before" if done else ""
    yield f"{options.format_count(len(fits), 'fit')}{before}: specifications with the same trials and model share one"
    kinds: dict[object, list[str]] = {}
    for key, wanted in fits.items():
        if key not in known:
            kinds.setdefault(wanted.kind, []).append(key)
    seconds = 0.0
    for keys in kinds.values():
        started = time.perf_counter()
        record = fit_wanted(fits[keys[0]])
        seconds += (time.perf_counter() - started) * (len(keys) - 1)
        known[keys[0]] = record
        if kept is not None:
            _keep_fit(kept, record)
    if kinds:
        rest = sum(map(len, kinds.values())) - len(kinds)
        time_left = f"{options.format_duration(seconds / workers)} on {options.format_count(workers, 'worker')}"
        by = f"the first of each of {options.format_count(len(kinds), 'kind')}"
        yield f"about {time_left} for the {rest} that are left, by {by}"


def _count_workers(executor: "LocalExecutor | RayExecutor | None") -> int:
    return 1 if executor is None else executor.workers or 1


# ------------------------------------------------------------------------------------------------ fits that are finished


@contextlib.contextmanager
def _open_fits(path: Path) -> Iterator[IO[str]]:
    """Give the file to which fits are added as they are finished."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        yield file


def _keep_fit(file: "IO[str] | None", record: "Record") -> None:
    if file is not None:
        file.write(json.dumps({"by": _list_programs(), **record}, ensure_ascii=False) + "\n")
        file.flush()


def _read_fits(path: Path) -> "dict[str, Record]":
    """Return the fits of an interrupted run by key; those of other versions, and a line that was cut off, are not taken."""
    found: dict[str, Any] = {}
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record.pop("by", None) == _list_programs():
            found[record["key"]] = record
    return found


def _list_programs() -> dict[str, str]:
    """Return the versions that can change a number."""
    from gardenpath.study.files import list_software_versions

    return dict(list_software_versions())


def _draw_figures(table: Any, folder: Path) -> None:
    """Write the specification curve of each effect as SVG and as PNG."""
    from gardenpath.analysis.reporting.figures import figure_style
    from gardenpath.analysis.reporting.figures.multiverse_figures import specification_figures

    count = 0
    for name, figure in specification_figures(table):
        figure_style.save(figure, name, folder)
        count += 1
    options.print_notice(f"{folder}: {options.format_count(count, 'figure')}, as SVG and PNG")
