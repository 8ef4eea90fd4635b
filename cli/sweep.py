"""gardenpath sweep: many models on many languages, planned, computed by workers on one machine or many, merged."""

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
    from gardenpath.lmscore.sweeps.merging import Merged, Progress
    from gardenpath.lmscore.sweeps.plan import Plan
    from gardenpath.lmscore.sweeps.running import Ran
    from gardenpath.lmscore.sweeps.settings import Sweep
    from gardenpath.lmscore.sweeps.stores import Store
    from gardenpath.study.engines import Engine

sweep_file = click.argument("sweep_file", metavar="SWEEP.toml", type=click.Path(path_type=Path))
SCRIPTS = "slurm"


@click.group("sweep")
def command() -> None:
    """Score minimal pairs of many languages by many models: plan, run, status, merge."""


@command.command("plan")
@sweep_file
@click.option(
    "--calibrate",
    type=click.FloatRange(min=0),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="Score for so long by the smallest model, to tell hours and costs; 0: tell none.",
)
def plan_command(sweep_file: Path, calibrate: float) -> None:
    """Cut the sweep into units and store the plan; print what it will cost, and what fits which card.

    The plan follows from SWEEP.toml and the materials alone. What is done of an earlier plan, and is part of this one, stays done.
    Array scripts for Slurm are written to the folder slurm beside SWEEP.toml, one for each number of cards.
    """
    from gardenpath import study
    from gardenpath.lmscore.sweeps import costs

    sweep, plan, store = _planned(sweep_file, anew=True)
    for name, text in costs.slurm_scripts(plan, sweep).items():
        study.files.write_text(sweep.folder / SCRIPTS / name, text)
    found = None
    if calibrate:
        try:
            found = costs.calibrate(plan, store, calibrate)
        except (ValueError, MemoryError) as error:
            options.talk(f"not calibrated: {error}")
    _print_plan(plan, sweep, found)


@command.command("run")
@sweep_file
@options.spread("Processes, or actors, each with a model.  [default: one a card, or one without cards]")
@click.option(
    "--shard", metavar="I/N", help="Compute only one of N shares of the units, I from 0 on, as in a Slurm array."
)
@click.option("--cards", type=float, metavar="N", help="Compute only the models whose workers have so many cards.")
def run_command(
    sweep_file: Path, workers: int | None, shard: str | None, cards: float | None, ray: bool, address: str | None
) -> None:
    """Compute what is missing; interrupted, it goes on where it stopped. Exits 1 where a unit failed.

    Several runs may work at once, on one machine or many that share the store: none does harm to another.
    """
    from gardenpath import study
    from gardenpath.lmscore.sweeps import running
    from gardenpath.study import engines

    sweep, plan, store = _planned(sweep_file)
    units = [unit for unit in plan.units if cards is None or unit.model.cards == cards]
    if not units:
        known = ", ".join(f"{number:g}" for number in sorted({model.cards for model in plan.models}))
        raise click.UsageError(f"--cards {cards:g}: no model has workers with as many; expected one of {known}")
    if shard:
        units = running.shard(units, *_shard(shard))

    def engine(cards: float) -> "Engine":
        if ray:
            return engines.Ray(workers or 1, sweep.threads, cards, address)
        return engines.Local(workers, sweep.threads, cards)

    needs_cards = any(unit.model.cards for unit in units)
    most = (engines.Ray(address=address).most_cards() if ray else len(engines.visible_cards())) if needs_cards else 0
    total = len(units)
    with options.progress("units", total) as move:
        finished = [0]

        def each(unit: Any, report: Any) -> None:
            finished[0] += 1
            move(finished[0], total)

        ran = running.run(plan, store, engine, units=units, most_cards=most, each=each)
    _say_ran(ran)
    if ran.failed:
        raise study.DataError([f"{len(ran.failed)} of {total} units failed", *dict.fromkeys(ran.failed.values())])


@command.command("status")
@sweep_file
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status_command(sweep_file: Path, as_json: bool) -> None:
    """Print how far each model is, how fast, and how long it will take; from any machine, while others run."""
    from gardenpath.lmscore.sweeps import merging
    from gardenpath.lmscore.sweeps.plan import read_plan

    _, store = _stored(sweep_file)
    found = merging.progress(read_plan(store), store)
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(one) for one in found], ensure_ascii=False, indent=1))
    else:
        click.echo(_table(found))


@command.command("merge")
@sweep_file
@options.out
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
    from gardenpath.lmscore.sweeps import merging
    from gardenpath.lmscore.sweeps.plan import read_plan
    from gardenpath.study.table_files import refuse_tables

    refuse_tables(out, "sweep", force)
    _, store = _stored(sweep_file)
    plan = read_plan(store)
    merged = merging.merge(plan, store, mixed=mixed)
    tables = _compared(merged, plan, store, languages)
    notes: dict[str, object] = {"models": list(merged.models.values()), "missing": merged.faults}
    inputs = [Path(sweep_file), *filter(None, [languages])]
    for name, frame in {**tables, "sweep_coverage": merged.coverage}.items():
        path = study.write(
            frame,
            name,
            out,
            command=options.typed(),
            inputs=inputs,
            seed=plan.how["seed"],
            notes=notes,
            parquet=parquet,
        )
        options.talk(f"{path}: {options.count(len(frame), 'row')}")
    matrix = merging.matrix(merged.coverage)
    extra = {"matrix.csv": matrix}
    if "accuracy" in tables:
        from gardenpath import analysis
        from gardenpath.analysis.reporting.leaderboard import leaderboard

        extra["accuracy_by_model.csv"] = analysis.model_table(tables["accuracy"])
        study.files.write_text(out / "leaderboard.html", leaderboard(tables, merged.coverage))
        options.talk(f"{out / 'leaderboard.html'}: a page for a browser, no server needed")
    for name, frame in extra.items():
        study.files.write_text(out / name, study.table_files.safe_cells(frame).to_csv(index=False, lineterminator="\n"))
    click.echo(_counts(merged.coverage))
    if merged.faults:
        raise study.DataError(merged.faults)


def _stored(sweep_file: Path) -> "tuple[Sweep, Store]":
    from gardenpath.lmscore.sweeps.settings import read_sweep
    from gardenpath.lmscore.sweeps.stores import Store

    sweep = read_sweep(sweep_file)
    return sweep, Store(sweep.at(sweep.store))


def _planned(sweep_file: Path, *, anew: bool = False) -> "tuple[Sweep, Plan, Store]":
    """Return the plan of a sweep, which is stored if none is; one that is stored has to be this sweep's."""
    from gardenpath import study
    from gardenpath.lmscore.sweeps import plan as plans

    sweep, store = _stored(sweep_file)
    plan, files = plans.make_plan(sweep)
    if not anew:
        try:
            stored = plans.read_plan(store)
        except FileNotFoundError:
            anew = True
        else:
            if stored.made_of != plan.made_of:
                raise study.DataError(
                    f"{sweep_file}: it or its materials changed since the plan was made; plan again (gardenpath sweep plan "
                    f"{sweep_file}): what is done and still part of it stays done"
                )
    if anew:
        plans.keep_plan(plan, files, store)
    return sweep, plan, store


def _shard(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not number.isdecimal() or not of.isdecimal() or int(number) >= int(of):
        raise click.UsageError(f"--shard {text}; expected I/N with I from 0 to N - 1, such as 0/4")
    return int(number), int(of)


def _compared(merged: "Merged", plan: "Plan", store: "Store", languages: Path | None) -> "dict[str, pd.DataFrame]":
    """Return the tables of the merge with those that `evaluate` and `judge` make of them."""
    from gardenpath import analysis, stimuli
    from gardenpath.analysis.comparing import all_comparisons
    from gardenpath.lmscore.sweeps import plan as plans

    from .evaluate import _languages

    tables = dict(merged.tables)
    items = plans.joined([plans.read_part(store, part) for part in plan.parts if part.kind == plans.PAIRS])
    known = all_comparisons.Beside(
        covariates=stimuli.covariates_of(items) if items.items else None,
        languages=_languages(languages) if languages else None,
    )
    if "pairs" in tables:
        tables["accuracy"] = analysis.accuracy(tables["pairs"])
        tables |= all_comparisons.compared(tables["pairs"], known, seed=plan.how["seed"])
    if "judgments" in tables:
        tables |= all_comparisons.judged(tables["judgments"], known, seed=plan.how["seed"])
    return tables


def _print_plan(plan: "Plan", sweep: "Sweep", calibration: "Calibration | None") -> None:
    from gardenpath.lmscore.sweeps import costs

    languages = len({part.language for part in plan.parts})
    click.echo(
        f"{options.count(len(plan.models), 'model')} on {options.count(languages, 'language')}: "
        f"{options.count(len(plan.units), 'unit')}, {sum(p.positions for p in plan.parts) * len(plan.models):,} positions at most"
    )
    if calibration is not None:
        click.echo(f"calibrated by {calibration.model.label}: {calibration.rate:,.0f} positions a second of one worker")
    rows = [
        [
            "model",
            "cards",
            "weights",
            *(f"{size} GB" for size in costs.CARDS),
            "time",
            "card hours",
            sweep.cost.currency,
        ]
    ]
    found = costs.estimates(plan, sweep, calibration)
    for one in found:
        held = costs.fits(one.model)
        rows.append(
            [
                one.model.label,
                f"{one.model.cards:g}",
                "?" if one.gigabytes is None else f"{one.gigabytes:.1f} GB",
                *("?" if held is None else str(held[size]) for size in costs.CARDS),
                "?" if one.hours is None else options.lasting(one.hours * 3600),
                "?" if one.card_hours is None else f"{one.card_hours:.2f}",
                "?" if one.cost is None else f"{one.cost:.2f}",
            ]
        )
    click.echo(options.aligned(rows, numbers=True))
    click.echo("(under a card's size: how many such cards hold the model)")
    known = [one for one in found if one.hours is not None]
    if known:
        of = "" if len(known) == len(found) else f" of {len(known)} of {len(found)} models"
        card_hours, cost = (sum(getattr(one, name) or 0 for one in known) for name in ("card_hours", "cost"))
        hours = sum(one.hours or 0 for one in known)
        click.echo(
            f"in all{of}: {options.lasting(hours * 3600)} of a worker, {card_hours:.2f} card hours, "
            f"{cost:.2f} {sweep.cost.currency}"
        )


def _say_ran(ran: "Ran") -> None:
    most = len(ran.workers) * len(ran.models)
    options.talk(
        f"{options.count(ran.done, 'unit')} done, {ran.already + ran.elsewhere} done before, {len(ran.failed)} failed; models were "
        f"loaded {ran.loads} times by {options.count(len(ran.workers), 'worker')} (at most {most})"
    )


def _table(found: "Sequence[Progress]") -> str:

    rows = [["model", "units", "done", "failed", "running", "share", "positions/s", "time left"]]
    for one in found:
        rows.append(
            [
                one.model,
                str(one.units),
                str(one.done),
                str(one.failed),
                str(one.running),
                f"{one.share:.0%}",
                "" if one.rate is None else f"{one.rate:,.0f}",
                "" if one.left is None else options.lasting(one.left),
            ]
        )
    return options.aligned(rows, numbers=True)


def _counts(coverage: "pd.DataFrame") -> str:
    """Return how many models and languages are in which state."""
    states = coverage["state"].value_counts()
    return ", ".join(f"{count} {state}" for state, count in states.items()) + " (models x languages)"
