"""A sweep is run: its units go to workers, class of resources by class, and what fails for memory to the next larger one."""

import contextlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from gardenpath.study import executors

from .manifest import SweepManifest, Unit
from .stores import Store
from .worker import FAILURE_LOAD, FAILURE_MEMORY, STATE_DONE, STATE_ELSEWHERE, STATE_FAILED, UnitReport, UnitTask, compute_unit

LEASE_SECONDS = 600  # seconds after which a unit that somebody took and did not finish is taken by others

log = logging.getLogger("gardenpath")
ExecutorFactory = Callable[[float], executors.Executor | None]


@dataclass
class RunSummary:
    """What a run did: units by state, how often models were loaded, workers that were there, what failed and why."""

    computed_count: int = 0
    already_count: int = 0
    elsewhere_count: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    load_count: int = 0
    workers: set[tuple[float, int]] = field(default_factory=set)
    models: set[str] = field(default_factory=set)


def select_shard(units: Sequence[Unit], number: int, shard_count: int) -> list[Unit]:
    """Return one of several shares of the units, of about as many positions each, models together.

    >>> select_shard([], 0, 2)
    []
    """
    if not 0 <= number < shard_count:
        raise ValueError(f"shard {number}/{shard_count}: expected 0/{shard_count} to {shard_count - 1}/{shard_count}")
    total = sum(unit.part.positions for unit in units)
    chosen, before = [], 0
    for unit in units:
        middle = before + unit.part.positions / 2
        if int(middle * shard_count / total) == number:
            chosen.append(unit)
        before += unit.part.positions
    return chosen


def list_finished_units(store: Store) -> set[str]:
    """Return the ids of the units that are done."""
    return {name.split("/")[-1].partition(".")[0] for name in store.list_files("results")}


def run_sweep(
    manifest: SweepManifest,
    store: Store,
    make_executor: ExecutorFactory,
    *,
    units: Sequence[Unit] | None = None,
    most_cards: float = 0,
    on_report: Callable[[Unit, UnitReport], None] | None = None,
) -> RunSummary:
    """Compute what is missing of a sweep, and return what was done.

    `make_executor` gives what workers with so many cards run on. Units that another run holds a fresh lease of are left for
    last; each is computed only if it is still missing. Units that do not fit a worker's memory go to one of twice the cards, up to
    `most_cards`. A model that cannot be loaded fails all of its units. Raises `StoreError` where nothing can be kept.
    """
    wanted = manifest.units if units is None else units
    finished_ids = list_finished_units(store)
    summary = RunSummary(already_count=sum(unit.id in finished_ids for unit in wanted))
    todo: dict[float, list[Unit]] = {}
    for unit in wanted:
        if unit.id not in finished_ids:
            todo.setdefault(unit.model.gpus, []).append(unit)
    while todo:
        cards = min(todo)
        some = todo.pop(cards)
        larger = max(1.0, 2 * cards) if cards else 0.0
        for unit, report in _run_class(manifest, store, make_executor(cards), some, cards, summary):
            summary.load_count += report.has_loaded_model
            if report.state == STATE_DONE:
                summary.computed_count += 1
                summary.failures.pop(unit.id, None)
            elif report.state == STATE_ELSEWHERE:
                summary.elsewhere_count += 1
            elif report.kind == FAILURE_MEMORY and cards and larger <= most_cards:
                log.warning("%s, %s: does not fit %g cards; goes to %g", unit.model.label, unit.part.language, cards, larger)
                todo.setdefault(larger, []).append(unit)
                continue
            else:
                if report.kind != FAILURE_LOAD or not any(f.startswith(unit.model.label) for f in summary.failures.values()):
                    of = "all its units" if report.kind == FAILURE_LOAD else f"{unit.part.language}, {unit.part.kind}"
                    log.warning("failed: %s, %s: %s", unit.model.label, of, report.reason)
                summary.failures[unit.id] = f"{unit.model.label}: {report.reason}"
            if on_report:
                on_report(unit, report)
    return summary


def _run_class(
    manifest: SweepManifest,
    store: Store,
    executor: executors.Executor | None,
    units: Sequence[Unit],
    cards: float,
    summary: RunSummary,
) -> Iterator[tuple[Unit, UnitReport]]:
    """Yield what comes of units that need as many cards, last those that another run seems to be at."""
    held = list_leased_units(store, units)
    units = sorted(units, key=lambda unit: unit.id in held)
    tasks = [UnitTask(unit, dict(manifest.scoring_settings), store.address, cards) for unit in units]
    for outcome in executors.map_in_parallel(compute_unit, tasks, executor, groups=[unit.model for unit in units]):
        unit = units[outcome.index]
        summary.workers.add((cards, outcome.worker))
        summary.models.add(unit.model.label)
        if isinstance(outcome.error, executors.WorkerDied):
            reason = str(outcome.error)
            failed = {"unit": unit.id, "reason": reason, "kind": "lost", "finished": time.time()}
            store.write(f"failed/{unit.id}.json", json.dumps(failed).encode())
            yield unit, UnitReport(unit.id, STATE_FAILED, 0, False, reason, "lost")
            continue
        yield unit, outcome.get_value()


def list_leased_units(store: Store, units: Sequence[Unit]) -> set[str]:
    """Return which of the units somebody took a short while ago; a lease is advice, no lock."""
    now, leases, fresh = time.time(), {*store.list_files("leases")}, set()
    for unit in units:
        if (name := f"leases/{unit.id}.json") in leases:
            with contextlib.suppress(FileNotFoundError, ValueError, KeyError):
                if now - float(json.loads(store.read(name))["started"]) < LEASE_SECONDS:
                    fresh.add(unit.id)
    return fresh
