"""What became of a sweep: tables, a matrix of models and languages, and how far it is."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gardenpath import study

from ..judging.judgments import sort_judgments
from .execution import list_leased_units
from .manifest import JUDGMENTS, PAIRS, SweepManifest, Unit
from .stores import Store

if TYPE_CHECKING:
    import pandas as pd

MAX_NAMES_SHOWN = 5


@dataclass(frozen=True)
class MergedSweep:
    """The tables `pairs` and `judgments` by name, `sweep_coverage`, what sidecars say of each model, and what is wrong."""

    tables: "dict[str, pd.DataFrame]"
    coverage: "pd.DataFrame"
    models: dict[str, dict[str, Any]]
    faults: list[str]


@dataclass(frozen=True)
class ModelProgress:
    """How far a model is: its units, positions that are done of all, positions a second, seconds left."""

    model: str
    n_units: int
    n_done: int
    n_failed: int
    n_running: int
    share: float
    rate: float | None
    seconds_left: float | None


def merge(manifest: SweepManifest, store: Store, *, mixed: bool = False) -> MergedSweep:
    """Return the tables of all units that are done, in the order in which `evaluate` and `judge` write them, and what is missing.

    Units of one model that were computed under another identity (versions of torch, a commit, threads, a kind of processor) than
    its others are a fault unless `mixed`, and none of the model's are merged then.
    """
    import pandas as pd

    results = _read_results(manifest, store)
    failed = _read_failures(manifest, store, results)
    faults: list[str] = []
    refused: dict[str, str] = {}
    models: dict[str, dict[str, Any]] = {}
    for model, units in manifest.iterate_models():
        of_model = [results[unit.id] for unit in units if unit.id in results]
        identities = {result["identity"]: result for result in reversed(of_model)}
        warnings = [*dict.fromkeys(line for result in of_model for line in result["warnings"])]
        facts = of_model[0]["facts"] if of_model else {}
        models[model.label] = {"name": model.label, **facts, **({"warnings": warnings} if warnings else {})}
        if len(identities) > 1 and not mixed:
            one, other, *_ = identities.values()
            refused[model.label] = (
                f"{model.label}: units were computed under {len(identities)} identities, "
                f"{_format_differences(one['facts'], other['facts'])} "
                f"({one['who']} and {other['who']}); expected one: remove the results of one of them, or merge with --mixed"
            )
    faults += refused.values()
    tables: dict[str, pd.DataFrame] = {}
    for kind in (PAIRS, JUDGMENTS):
        parts = []
        for model, units in manifest.iterate_models():
            frames = [
                pd.DataFrame(results[unit.id]["columns"])
                for unit in units
                if unit.part.kind == kind and unit.id in results and model.label not in refused
            ]
            frames = [frame for frame in frames if len(frame)]
            if frames:
                parts.append(_sort_rows(kind, pd.concat(frames, ignore_index=True), manifest))
        if parts:
            tables[kind] = study.check(pd.concat(parts, ignore_index=True), kind)
    rows = []
    for model, units in manifest.iterate_models():
        cells: dict[tuple[str, str], list[Unit]] = {}
        for unit in units:
            cells.setdefault((unit.part.kind, unit.part.language), []).append(unit)
        for (kind, language), of in cells.items():
            done = [unit for unit in of if unit.id in results]
            lost = [unit for unit in of if unit.id in failed]
            out = {item: why for unit in done for item, why in results[unit.id]["left_out"].items()}
            missing = len(of) - len(done) - len(lost)
            reasons = [*dict.fromkeys(failed[unit.id] for unit in lost), *dict.fromkeys(out.values())]
            state = "failed" if lost else "missing" if missing else "done"
            rows.append(
                {
                    "model": model.label,
                    "language": language,
                    "kind": kind,
                    "state": "refused" if model.label in refused and done else state,
                    "n_units": len(of),
                    "n_done": len(done),
                    "n_failed": len(lost),
                    "n_missing": missing,
                    "n_items": sum(unit.part.items for unit in of),
                    "n_left_out": len(out),
                    "reason": "; ".join(reasons[:MAX_NAMES_SHOWN]) or None,
                }
            )
    coverage = study.check(pd.DataFrame(rows), "sweep_coverage")
    faults += _list_faults(coverage, manifest.skip_bad)
    return MergedSweep(tables, coverage, models, faults)


def build_state_matrix(coverage: "pd.DataFrame") -> "pd.DataFrame":
    """Return the states of models (rows) in languages (columns); of several kinds of results the worst."""
    rank = ["done", "missing", "failed", "refused"]
    worst = coverage.assign(rank=coverage["state"].map(rank.index))
    table = worst.pivot_table(index="model", columns="language", values="rank", aggfunc="max", sort=False)
    return table.map(lambda value: rank[int(value)]).rename_axis(columns=None).reset_index()


def compute_progress(manifest: SweepManifest, store: Store) -> list[ModelProgress]:
    """Return how far each model is, by what is in the store."""
    results = _read_results(manifest, store)
    failed = _read_failures(manifest, store, results)
    running = list_leased_units(store, [unit for unit in manifest.units if unit.id not in results and unit.id not in failed])
    found = []
    for model, of in manifest.iterate_models():
        done = [unit for unit in of if unit.id in results]
        total, computed = (sum(unit.part.positions for unit in some) for some in (of, done))
        rate = seconds_left = None
        if done:
            rate = computed / max(
                _count_busy_seconds([(results[unit.id]["started"], results[unit.id]["finished"]) for unit in done]), 1e-3
            )
            seconds_left = (total - computed) / rate
        found.append(
            ModelProgress(
                model.label,
                len(of),
                len(done),
                sum(unit.id in failed for unit in of),
                sum(unit.id in running for unit in of),
                computed / total,
                rate,
                seconds_left,
            )
        )
    return found


def _count_busy_seconds(times: Sequence[tuple[float, float]]) -> float:
    """Return the seconds in which something was computed: workers beside each other count once, breaks between runs do not.

    >>> _count_busy_seconds([(0, 2), (1, 3), (10, 11)])
    4.0
    """
    total = until = 0.0
    for begun, ended in sorted(times):
        total += max(0, ended - max(begun, until))
        until = max(until, ended)
    return total


def _read_results(manifest: SweepManifest, store: Store) -> dict[str, dict[str, Any]]:
    """Return the record of each unit that is done; one that is damaged counts as missing."""
    known = {unit.id for unit in manifest.units}
    found = {}
    for name in store.list_files("results"):
        unit = name.split("/")[-1].partition(".")[0]
        if unit in known:
            try:
                found[unit] = json.loads(gzip.decompress(store.read(name)))
            except (OSError, EOFError, ValueError):
                continue
    return found


def _read_failures(manifest: SweepManifest, store: Store, results: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return why units failed that are not done."""
    known = {unit.id for unit in manifest.units} - results.keys()
    names = {name.split("/")[-1].partition(".")[0]: name for name in store.list_files("failed")}
    return {unit: json.loads(store.read(names[unit]))["reason"] for unit in names if unit in known}


def _sort_rows(kind: str, table: "pd.DataFrame", manifest: SweepManifest) -> "pd.DataFrame":
    if kind == JUDGMENTS:
        return sort_judgments(table)
    ranks = {name: rank for rank, name in enumerate(manifest.scoring_settings["measures"])}
    order = table["measure"].map(ranks).sort_values(kind="stable").index
    return table.loc[order].reset_index(drop=True)


def _format_differences(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Return in what two identities differ."""
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return "; ".join(
        f"{name} {_format_value(one.get(name))} and {_format_value(other.get(name))}" for name in names[:MAX_NAMES_SHOWN]
    )


def _format_value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 80 else text[:77] + "..."


def _list_faults(coverage: "pd.DataFrame", skip_bad: bool) -> list[str]:
    """Return a line for each model that lacks something."""
    lines = []
    for label, rows in coverage.groupby("model", sort=False):
        incomplete = rows[rows["state"].isin(["failed", "missing"])]
        if len(incomplete):
            counts = ", ".join(
                f"{int(incomplete[f'n_{name}'].sum())} {name}" for name in ("failed", "missing") if incomplete[f"n_{name}"].sum()
            )
            languages = ", ".join(_limit_names(incomplete["language"].drop_duplicates().tolist()))
            why = next(iter(incomplete["reason"].dropna()), None)
            lines.append(f"{label}: {counts} of {int(rows['n_units'].sum())} units ({languages})" + (f": {why}" if why else ""))
        out = rows[rows["n_left_out"] > 0]
        if len(out) and not skip_bad:
            why = next(iter(out["reason"].dropna()))
            lines.append(f"{label}: {int(out['n_left_out'].sum())} items could not be scored (skip_bad = true takes that): {why}")
    return lines


def _limit_names(names: Sequence[str]) -> list[str]:
    return [*names[:MAX_NAMES_SHOWN], *([f"and {len(names) - MAX_NAMES_SHOWN} more"] if len(names) > MAX_NAMES_SHOWN else [])]
