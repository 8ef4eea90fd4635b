"""Coverage and false positives of each policy, with and without slope variance; and speed at BLiMP-NL's size.

    python benchmarks/simulation.py --studies 2000                     glmm: declared and maximal
    python benchmarks/simulation.py --studies 1000 --engine lme4       the R ladder, all three policies; half an hour, so
                                    --keep FILE [--minutes 40]         kept in a file, from which the next call goes on
    python benchmarks/simulation.py --speed [--engine lme4]            22 models of ratings, 66 of reading times
    python benchmarks/simulation.py --million                          a million rows, crossed intercepts

A study is one phenomenon: 30 participants, 24 sentences, two conditions in a Latin square, no effect. Shifting y by
b * x shifts the estimate by b and nothing else, so one minus the share of false positives is the coverage of any effect.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from gardenpath.analysis import fit
from gardenpath.analysis.engines.estimates import Columns, ModelEstimate
from gardenpath.analysis.engines.formulas import Formula
from gardenpath.analysis.modelling import mixed_models

PARTICIPANT_COUNT, ITEM_COUNT = 30, 24
SLOPE_SDS = {"no slope variance": (0.0, 0.0), "slopes (.25 by participant, .4 by item)": (0.25, 0.4)}
FORMULA = "y ~ x + (1|participant) + (1|item)"


@dataclass(frozen=True)
class Cell:
    """A policy on studies of one kind: how many null effects were found at .05, of how many studies."""

    slopes: str
    policy: str
    significant_count: int
    study_count: int

    @property
    def limits(self) -> tuple[float, float]:
        """The exact central 99 % of the share that a nominal test finds."""
        from scipy.stats import binom

        low, high = binom.ppf([0.005, 0.995], self.study_count, 0.05)
        return low / self.study_count, high / self.study_count

    @property
    def verdict(self) -> str:
        """nominal, conservative or anticonservative."""
        share, (low, high) = self.significant_count / self.study_count, self.limits
        return "nominal" if low <= share <= high else "conservative" if share < low else "anticonservative"


def simulate_study(seed: int, by_participant: float, by_item: float) -> pd.DataFrame:
    """Return a study without an effect; residual s.d. 1, intercepts .6 by participant and .4 by item."""
    rng = np.random.default_rng(seed)
    p, i = (a.ravel() for a in np.meshgrid(np.arange(PARTICIPANT_COUNT), np.arange(ITEM_COUNT), indexing="ij"))
    x = np.where((p + i) % 2, 0.5, -0.5)
    participant_effects, item_effects = (
        rng.normal(0, [0.6, by_participant], (PARTICIPANT_COUNT, 2)),
        rng.normal(0, [0.4, by_item], (ITEM_COUNT, 2)),
    )
    y = (
        participant_effects[p, 0]
        + item_effects[i, 0]
        + (participant_effects[p, 1] + item_effects[i, 1]) * x
        + rng.normal(0, 1, len(p))
    )
    return pd.DataFrame({"participant": [f"P{k}" for k in p], "item": [f"i{k}" for k in i], "x": x, "y": y})


def compute_cells(
    studies: int, engine: str, policies: Sequence[str], seed: int = 1, kept_file: Path | None = None, minutes: float = math.inf
) -> Iterator[Cell]:
    """Fit every study by every policy; all policies see the same studies, and share the fits of a study.

    With `kept_file`, each p is a line of that file, and those that stand there are not computed again. After so many `minutes`
    the cells hold the studies that all of them have.
    """
    deadline = time.monotonic() + 60 * minutes
    p_values = read_kept_p_values(kept_file)
    values: dict[tuple[str, str], list[float]] = {(slopes, policy): [] for slopes in SLOPE_SDS for policy in policies}
    with share_fits(engine) as fits:
        for k in range(studies):
            if time.monotonic() > deadline:
                break
            for slopes, policy in values:
                if policy == policies[0]:
                    fits.clear()
                key = (engine, policy, slopes, seed * 1_000_000 + k)
                if key not in p_values:
                    table = fit(simulate_study(key[-1], *SLOPE_SDS[slopes]), FORMULA, engine=engine, policy=policy)
                    p_values[key] = table.loc[table["term"] == "x", "p"].item()
                    if kept_file:
                        with kept_file.open("a", encoding="utf-8") as stream:
                            stream.write(json.dumps([*key, p_values[key]]) + "\n")
                values[slopes, policy].append(p_values[key])
    for (slopes, policy), ps in values.items():
        yield Cell(slopes, policy, sum(p < 0.05 for p in ps), len(ps))


@contextmanager
def share_fits(engine: str) -> Iterator[dict[Formula, ModelEstimate]]:
    """Let policies, which try the same models, look up what the engine has fitted since the last clearing."""
    engines = mixed_models.ENGINES
    fits: dict[Formula, ModelEstimate] = {}

    def estimate(columns: Columns, formula: Formula, optimizer: str = "", family: str = "gaussian") -> ModelEstimate:
        if formula not in fits:
            fits[formula] = engines[engine].estimate(columns, formula, optimizer, family)
        return fits[formula]

    mixed_models.ENGINES = {**engines, engine: mixed_models.Engine(estimate, engines[engine].describe_unsupported)}
    try:
        yield fits
    finally:
        mixed_models.ENGINES = engines


def read_kept_p_values(file: Path | None) -> dict[tuple[str, str, str, int], float]:
    """Return p by engine, policy, slopes and seed as an earlier call kept them; a line cut short is taken away."""
    if file is None or not file.exists():
        return {}
    text = file.read_text(encoding="utf-8")
    complete_lines = text[: text.rfind("\n") + 1]
    file.write_text(complete_lines, encoding="utf-8")
    rows = [json.loads(line) for line in complete_lines.splitlines()]
    return {(engine, policy, slopes, seed): p for engine, policy, slopes, seed, p in rows}


# 84 paradigms in 22 phenomena; each is read by the 30 participants of one of seven experiments, in 9 sentences.
PARADIGM_COUNTS = (1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 6, 6, 7, 8)


def simulate_phenomenon(rng: np.random.Generator, paradigms: int) -> pd.DataFrame:
    """Return the ratings of a phenomenon, 270 for each of its paradigms."""
    q, p, i = (a.ravel() for a in np.meshgrid(np.arange(paradigms), np.arange(30), np.arange(9), indexing="ij"))
    participant, item = (q + paradigms) % 7 * 30 + p, q * 9 + i
    x = np.where((p + i) % 3 == 0, -0.5, 0.5)
    y = 0.3 * x + rng.normal(0, 0.6, 210)[participant] + rng.normal(0, 0.4, 9 * paradigms)[item] + rng.normal(0, 1, len(p))
    return pd.DataFrame({"participant": [f"P{k}" for k in participant], "item": [f"i{k}" for k in item], "x": x, "y": y})


def time_blimp_nl_models(engine: str) -> Iterator[tuple[str, float]]:
    """Time 22 models of ratings and 66 of reading times (three regions), all with degrees of freedom."""
    rng = np.random.default_rng(1)
    start = time.perf_counter()
    fit(simulate_phenomenon(rng, 1), FORMULA, engine=engine)
    yield "the first model, with what is imported and started once", time.perf_counter() - start
    for name, repetitions in (("22 models of ratings", 1), ("66 models of reading times", 3)):
        tables = [simulate_phenomenon(rng, paradigms) for _ in range(repetitions) for paradigms in PARADIGM_COUNTS]
        start = time.perf_counter()
        for table in tables:
            fit(table, FORMULA, engine=engine)
        yield f"{name}, {sum(map(len, tables))} rows", time.perf_counter() - start


def time_million_rows() -> float:
    """Return the seconds of a model of a million rows with crossed intercepts, without R."""
    rng = np.random.default_rng(1)
    n = 1_000_000
    p, i, x = rng.integers(0, 500, n), rng.integers(0, 2000, n), rng.normal(0, 1, n)
    y = 0.05 * x + rng.normal(0, 0.3, 500)[p] + rng.normal(0, 0.2, 2000)[i] + rng.normal(0, 1, n)
    frame = pd.DataFrame({"participant": np.char.add("P", p.astype(str)), "item": np.char.add("i", i.astype(str)), "x": x, "y": y})
    start = time.perf_counter()
    fit(frame, FORMULA)
    return time.perf_counter() - start


def main() -> None:
    """Print the cells, or the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=0)
    parser.add_argument("--engine", default="glmm", choices=["glmm", "lme4"])
    parser.add_argument("--policies", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--million", action="store_true")
    arguments = parser.parse_args()
    policies = arguments.policies or ["declared", "maximal", *(["parsimonious"] if arguments.engine == "lme4" else [])]
    if arguments.studies:
        for cell in compute_cells(arguments.studies, arguments.engine, policies, arguments.seed, arguments.keep, arguments.minutes):
            low, high = cell.limits
            share = cell.significant_count / cell.study_count
            print(
                f"{arguments.engine}, {cell.policy}, {cell.slopes}: false positives {share:.1%}, coverage {1 - share:.1%}; "
                f"99 % limits of .05 with {cell.study_count} studies {low:.1%} to {high:.1%}: {cell.verdict}",
                flush=True,
            )
    if arguments.speed:
        for name, seconds in time_blimp_nl_models(arguments.engine):
            print(f"{arguments.engine}, {name}: {seconds:.1f} s")
    if arguments.million:
        print(f"a million rows, crossed intercepts, with degrees of freedom: {time_million_rows():.1f} s")


if __name__ == "__main__":
    main()
