"""A sweep is run: its units go to workers, class of resources by class, and what fails for memory to the next larger one."""

import contextlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from gardenpath.study import engines

from .plan import Plan, Unit
from .stores import Store
from .worker import DONE, FAILED, LOAD, MEMORY, Report, Task, work

STALE = 600  # seconds after which a unit that somebody took and did not finish is taken by others

log = logging.getLogger("gardenpath")
Engines = Callable[[float], engines.Engine | None]


@dataclass
class Ran:
    """What a run did: units by state, how often models were loaded, workers that were there, what failed and why."""

    done: int = 0
    already: int = 0
    elsewhere: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    loads: int = 0
    workers: set[tuple[float, int]] = field(default_factory=set)
    models: set[str] = field(default_factory=set)


def shard(units: Sequence[Unit], number: int, of: int) -> list[Unit]:
    """Return one of several shares of the units, of about as many positions each, models together.

    >>> shard([], 0, 2)
    []
    """
    if not 0 <= number < of:
        raise ValueError(f"shard {number}/{of}: expected 0/{of} to {of - 1}/{of}")
    total = sum(unit.part.positions for unit in units)
    chosen, before = [], 0
    for unit in units:
        middle = before + unit.part.positions / 2
        if int(middle * of / total) == number:
            chosen.append(unit)
        before += unit.part.positions
    return chosen


def finished(store: Store) -> set[str]:
    """Return the ids of the units that are done."""
    return {name.split("/")[-1].partition(".")[0] for name in store.names("results")}


def run(
    plan: Plan,
    store: Store,
    engine: Engines,
    *,
    units: Sequence[Unit] | None = None,
    most_cards: float = 0,
    each: Callable[[Unit, Report], None] | None = None,
) -> Ran:
    """Compute what is missing of a plan, and return what was done.

    `engine` gives what workers with so many cards run on. Units that another run holds a fresh lease of are left for last, and
    are then computed only if they are still missing. Units that do not fit a worker's memory go to one of twice the cards, up to
    `most_cards`. A model that cannot be loaded fails all of its units. Raises `StoreError` where nothing can be kept.
    """
    wanted = plan.units if units is None else units
    there = finished(store)
    ran = Ran(already=sum(unit.id in there for unit in wanted))
    todo: dict[float, list[Unit]] = {}
    for unit in wanted:
        if unit.id not in there:
            todo.setdefault(unit.model.cards, []).append(unit)
    while todo:
        cards = min(todo)
        some = todo.pop(cards)
        larger = max(1.0, 2 * cards) if cards else 0.0
        for unit, report in _of_class(plan, store, engine(cards), some, cards, ran):
            ran.loads += report.loaded
            if report.state == DONE:
                ran.done += 1
                ran.failed.pop(unit.id, None)
            elif report.kind == MEMORY and cards and larger <= most_cards:
                log.warning(
                    "%s, %s: does not fit %g cards; goes to %g", unit.model.label, unit.part.language, cards, larger
                )
                todo.setdefault(larger, []).append(unit)
                continue
            else:
                if report.kind != LOAD or not any(f.startswith(unit.model.label) for f in ran.failed.values()):
                    of = "all its units" if report.kind == LOAD else f"{unit.part.language}, {unit.part.kind}"
                    log.warning("failed: %s, %s: %s", unit.model.label, of, report.reason)
                ran.failed[unit.id] = f"{unit.model.label}: {report.reason}"
            if each:
                each(unit, report)
    return ran


def _of_class(
    plan: Plan, store: Store, engine: engines.Engine | None, units: Sequence[Unit], cards: float, ran: Ran
) -> Iterator[tuple[Unit, Report]]:
    """Yield what comes of units that need as many cards, last those that another run seems to be at."""
    held = taken(store, units)
    later = [unit for unit in units if unit.id in held]
    for some in ([unit for unit in units if unit.id not in held], later):
        if some is later and later:
            there = finished(store)
            ran.elsewhere += sum(unit.id in there for unit in later)
            some = [unit for unit in later if unit.id not in there]
        tasks = [Task(unit, dict(plan.how), store.address, cards) for unit in some]
        for outcome in engines.map(work, tasks, engine, groups=[unit.model for unit in some]):
            unit = some[outcome.place]
            ran.workers.add((cards, outcome.worker))
            ran.models.add(unit.model.label)
            if isinstance(outcome.error, engines.Lost):
                reason = str(outcome.error)
                failed = {"unit": unit.id, "reason": reason, "kind": "lost", "finished": time.time()}
                store.write(f"failed/{unit.id}.json", json.dumps(failed).encode())
                yield unit, Report(unit.id, FAILED, 0, False, reason, "lost")
                continue
            yield unit, outcome.result()


def taken(store: Store, units: Sequence[Unit]) -> set[str]:
    """Return which of the units somebody took a short while ago; a lease is advice, no lock."""
    now, leases, fresh = time.time(), {*store.names("leases")}, set()
    for unit in units:
        if (name := f"leases/{unit.id}.json") in leases:
            with contextlib.suppress(FileNotFoundError, ValueError, KeyError):
                if now - float(json.loads(store.read(name))["started"]) < STALE:
                    fresh.add(unit.id)
    return fresh
