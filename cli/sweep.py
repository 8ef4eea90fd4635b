"""gardenpath sweep: many models on many languages, cut into units, computed by workers on one machine or many, merged."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.lmscore.sweeps.costs import Calibration
    from gardenpath.lmscore.sweeps.execution import RunSummary
    from gardenpath.lmscore.sweeps.manifest import SweepManifest
    from gardenpath.lmscore.sweeps.merged_results import MergedSweep, ModelProgress
    from gardenpath.lmscore.sweeps.settings import Sweep
    from gardenpath.lmscore.sweeps.stores import Store
    from gardenpath.study.executors import Executor

sweep_file = click.argument("sweep_file", metavar="SWEEP.toml", type=click.Path(path_type=Path))
SCRIPTS_FOLDER = "slurm"


@click.group("sweep")
def command() -> None:
    """Score minimal pairs of many languages by many models: prepare, run, status, merge."""


@command.command("prepare")
@sweep_file
@click.option(
    "--calibrate",
    type=click.FloatRange(min=0),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="Score for so long by the smallest model, to tell hours and costs; 0: tell none.",
)
def prepare_command(sweep_file: Path, calibrate: float) -> None:
    """Cut the sweep into units and store its manifest; print what it will cost, and what fits which card.

    The manifest follows from SWEEP.toml and the materials alone. What is done of an earlier one, and part of this one, stays done.
    Array scripts for Slurm are written to the folder slurm beside SWEEP.toml, one for each number of cards.
    """
    from gardenpath import study
    from gardenpath.lmscore.sweeps import costs

    sweep, manifest, store = _load_manifest(sweep_file, recreate=True)
    for name, text in costs.build_slurm_scripts(manifest, sweep).items():
        study.files.write_text(sweep.folder / SCRIPTS_FOLDER / name, text)
    calibration = None
    if calibrate:
        try:
            calibration = costs.calibrate(manifest, store, calibrate)
        except (ValueError, MemoryError) as error:
            options.print_notice(f"not calibrated: {error}")
    _print_manifest(manifest, sweep, calibration)


@command.command("run")
@sweep_file
@options.add_worker_options("Processes, or actors, each with a model.  [default: one a card, or one without cards]")
@click.option("--shard", metavar="I/N", help="Compute only one of N shares of the units, I from 0 on, as in a Slurm array.")
@click.option("--gpus", type=float, metavar="N", help="Compute only the models whose workers have so many GPUs.")
def run_command(
    sweep_file: Path, workers: int | None, shard: str | None, gpus: float | None, ray: bool, address: str | None
) -> None:
    """Compute what is missing; interrupted, it goes on where it stopped. Exits 1 where a unit failed.

    Several runs may work at once, on one machine or many that share the store: none does harm to another.
    """
    from gardenpath import study
    from gardenpath.lmscore.sweeps import execution
    from gardenpath.study import executors

    sweep, manifest, store = _load_manifest(sweep_file)
    units = [unit for unit in manifest.units if gpus is None or unit.model.gpus == gpus]
    if not units:
        available = ", ".join(f"{number:g}" for number in sorted({model.gpus for model in manifest.models}))
        raise click.UsageError(f"--gpus {gpus:g}: no model has workers with as many; expected one of {available}")
    if shard:
        units = execution.select_shard(units, *_parse_shard(shard))

    def build_executor(cards: float) -> "Executor":
        if ray:
            return executors.RayExecutor(workers or 1, sweep.threads, cards, address)
        return executors.LocalExecutor(workers, sweep.threads, cards)

    needs_cards = any(unit.model.gpus for unit in units)
    max_cards = (
        (executors.RayExecutor(address=address).find_max_gpus() if ray else len(executors.list_visible_gpus()))
        if needs_cards
        else 0
    )
    total = len(units)
    with options.show_progress("units", total) as move:
        finished = [0]

        def report_unit(unit: Any, report: Any) -> None:
            finished[0] += 1
            move(finished[0], total)

        run_result = execution.run_sweep(manifest, store, build_executor, units=units, most_cards=max_cards, on_report=report_unit)
    _print_run(run_result)
    if run_result.failures:
        raise study.DataError([f"{len(run_result.failures)} of {total} units failed", *dict.fromkeys(run_result.failures.values())])


@command.command("status")
@sweep_file
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status_command(sweep_file: Path, as_json: bool) -> None:
    """Print how far each model is, how fast, and how long it will take; from any machine, while others run."""
    from gardenpath.lmscore.sweeps import merged_results
    from gardenpath.lmscore.sweeps.manifest import read_manifest

    _, store = _open_store(sweep_file)
    progress = merged_results.compute_progress(read_manifest(store), store)
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(one) for one in progress], ensure_ascii=False, indent=1))
    else:
        click.echo(_format_progress(progress))


@command.command("merge")
@sweep_file
@options.output_path
@click.option("--mixed", is_flag=True, help="Take units of a model that were computed under different identities too.")
@click.option(
    "--languages",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="CSV of language, its frequency, and lists of languages in further columns, as of evaluate.",
)
@options.parquet
@options.force
def merge_command(sweep_file: Path, out: Path, mixed: bool, languages: Path | None, parquet: bool, force: bool) -> None:
    """Write the tables of evaluate and judge, the table sweep_coverage and leaderboard.html; exits 1 where anything is missing.

    matrix.csv has the state of each model (row) in each language (column).
    """
    from gardenpath import study
    from gardenpath.lmscore.sweeps import merged_results
    from gardenpath.lmscore.sweeps.manifest import read_manifest
    from gardenpath.study.table_files import refuse_existing_tables

    refuse_existing_tables(out, "sweep", force)
    _, store = _open_store(sweep_file)
    manifest = read_manifest(store)
    merged = merged_results.merge(manifest, store, mixed=mixed)
    tables = _build_comparison_tables(merged, manifest, store, languages)
    notes: dict[str, object] = {"models": list(merged.models.values()), "missing": merged.faults}
    inputs = [Path(sweep_file), *filter(None, [languages])]
    for name, frame in {**tables, "sweep_coverage": merged.coverage}.items():
        path = study.write(
            frame,
            name,
            out,
            command=options.format_command_line(),
            inputs=inputs,
            seed=manifest.scoring_settings["seed"],
            notes=notes,
            parquet=parquet,
        )
        options.print_notice(f"{path}: {options.format_count(len(frame), 'row')}")
    matrix = merged_results.build_state_matrix(merged.coverage)
    extra_tables = {"matrix.csv": matrix}
    if "accuracy" in tables:
        from gardenpath import analysis
        from gardenpath.analysis.reporting.leaderboard import leaderboard

        extra_tables["accuracy_by_model.csv"] = analysis.build_model_table(tables["accuracy"])
        study.files.write_text(out / "leaderboard.html", leaderboard(tables, merged.coverage))
        options.print_notice(f"{out / 'leaderboard.html'}: a page for a browser, no server needed")
    for name, frame in extra_tables.items():
        study.files.write_text(out / name, study.table_files.escape_formulas(frame).to_csv(index=False, lineterminator="\n"))
    click.echo(_format_state_counts(merged.coverage))
    if merged.faults:
        raise study.DataError(merged.faults)


def _open_store(sweep_file: Path) -> "tuple[Sweep, Store]":
    from gardenpath.lmscore.sweeps.settings import read_sweep
    from gardenpath.lmscore.sweeps.stores import Store

    sweep = read_sweep(sweep_file)
    return sweep, Store(sweep.resolve_path(sweep.store))


def _load_manifest(sweep_file: Path, *, recreate: bool = False) -> "tuple[Sweep, SweepManifest, Store]":
    """Return the manifest of a sweep, which is stored if none is; one that is stored has to be this sweep's."""
    from gardenpath import study
    from gardenpath.lmscore.sweeps import manifest as manifests

    sweep, store = _open_store(sweep_file)
    manifest, files = manifests.make_manifest(sweep)
    if not recreate:
        try:
            stored_manifest = manifests.read_manifest(store)
        except FileNotFoundError:
            recreate = True
        else:
            if stored_manifest.settings_hash != manifest.settings_hash:
                raise study.DataError(
                    f"{sweep_file}: it or its materials changed since its manifest was made; prepare it again "
                    f"(gardenpath sweep prepare {sweep_file}): what is done and still part of it stays done"
                )
    if recreate:
        manifests.write_manifest(manifest, files, store)
    return sweep, manifest, store


def _parse_shard(text: str) -> tuple[int, int]:
    number, _, total = text.partition("/")
    if not number.isdecimal() or not total.isdecimal() or int(number) >= int(total):
        raise click.UsageError(f"--shard {text}; expected I/N with I from 0 to N - 1, such as 0/4")
    return int(number), int(total)


def _build_comparison_tables(
    merged: "MergedSweep", manifest: "SweepManifest", store: "Store", languages: Path | None
) -> "dict[str, pd.DataFrame]":
    """Return the tables of the merge with those that `evaluate` and `judge` make of them."""
    from gardenpath import analysis, stimuli
    from gardenpath.analysis.comparing import all_comparisons
    from gardenpath.lmscore.sweeps import manifest as manifests

    from .evaluate import read_languages

    tables = dict(merged.tables)
    items = manifests.join_materials([manifests.read_part(store, part) for part in manifest.parts if part.kind == manifests.PAIRS])
    comparison_data = all_comparisons.ComparisonData(
        covariates=stimuli.extract_pair_covariates(items) if items.items else None,
        languages=read_languages(languages) if languages else None,
    )
    if "pairs" in tables:
        tables["accuracy"] = analysis.compute_accuracy(tables["pairs"])
        tables |= all_comparisons.compute_comparisons(tables["pairs"], comparison_data, seed=manifest.scoring_settings["seed"])
    if "judgments" in tables:
        tables |= all_comparisons.compute_method_tables(
            tables["judgments"], comparison_data, seed=manifest.scoring_settings["seed"]
        )
    return tables


def _print_manifest(manifest: "SweepManifest", sweep: "Sweep", calibration: "Calibration | None") -> None:
    from gardenpath.lmscore.sweeps import costs

    languages = len({part.language for part in manifest.parts})
    click.echo(
        f"{options.format_count(len(manifest.models), 'model')} on {options.format_count(languages, 'language')}: "
        f"{options.format_count(len(manifest.units), 'unit')}, "
        f"{sum(p.positions for p in manifest.parts) * len(manifest.models):,} positions at most"
    )
    if calibration is not None:
        click.echo(f"calibrated by {calibration.model.label}: {calibration.rate:,.0f} positions a second of one worker")
    rows = [["model", "cards", "weights", *(f"{size} GB" for size in costs.CARD_SIZES), "time", "card hours", sweep.cost.currency]]
    estimates = costs.estimate_costs(manifest, sweep, calibration)
    for one in estimates:
        cards_needed = costs.count_cards_needed(one.model)
        rows.append(
            [
                one.model.label,
                f"{one.model.gpus:g}",
                "?" if one.gigabytes is None else f"{one.gigabytes:.1f} GB",
                *("?" if cards_needed is None else str(cards_needed[size]) for size in costs.CARD_SIZES),
                "?" if one.hours is None else options.format_duration(one.hours * 3600),
                "?" if one.card_hours is None else f"{one.card_hours:.2f}",
                "?" if one.cost is None else f"{one.cost:.2f}",
            ]
        )
    click.echo(options.format_columns(rows, numbers=True))
    click.echo("(under a card's size: how many such cards hold the model)")
    timed_estimates = [one for one in estimates if one.hours is not None]
    if timed_estimates:
        scope_text = "" if len(timed_estimates) == len(estimates) else f" of {len(timed_estimates)} of {len(estimates)} models"
        card_hours, cost = (sum(getattr(one, name) or 0 for one in timed_estimates) for name in ("card_hours", "cost"))
        hours = sum(one.hours or 0 for one in timed_estimates)
        click.echo(
            f"in all{scope_text}: {options.format_duration(hours * 3600)} of a worker, {card_hours:.2f} card hours, "
            f"{cost:.2f} {sweep.cost.currency}"
        )


def _print_run(run_result: "RunSummary") -> None:
    max_loads = len(run_result.workers) * len(run_result.models)
    options.print_notice(
        f"{options.format_count(run_result.computed_count, 'unit')} done, "
        f"{run_result.already_count + run_result.elsewhere_count} done before, {len(run_result.failures)} failed; models were "
        f"loaded {run_result.load_count} times by {options.format_count(len(run_result.workers), 'worker')} (at most {max_loads})"
    )


def _format_progress(progress: "Sequence[ModelProgress]") -> str:

    rows = [["model", "units", "done", "failed", "running", "share", "positions/s", "time left"]]
    for one in progress:
        rows.append(
            [
                one.model,
                str(one.n_units),
                str(one.n_done),
                str(one.n_failed),
                str(one.n_running),
                f"{one.share:.0%}",
                "" if one.rate is None else f"{one.rate:,.0f}",
                "" if one.seconds_left is None else options.format_duration(one.seconds_left),
            ]
        )
    return options.format_columns(rows, numbers=True)


def _format_state_counts(coverage: "pd.DataFrame") -> str:
    """Return how many models and languages are in which state."""
    states = coverage["state"].value_counts()
    return ", ".join(f"{count} {state}" for state, count in states.items()) + " (models x languages)"
