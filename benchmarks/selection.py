"""48 of 400 items alike in the means and second moments of six covariates, in four cells: python benchmarks/selection.py [.05 ...]

Cells are the four conditions of each item, or four levels of twelve items each, which is harder: means of fewer items.
"""

import sys
import time

import numpy as np

from gardenpath import stimuli
from gardenpath.stimuli import CovariateSection, Item, Materials, Paradigm, Selection, Sentence

NAMES = ("words", "letters", "zipf", "bigram", "surprisal", "before")
ITEMS, CHOSEN, CELLS = 400, 48, 4


def columns(seed: int) -> np.ndarray:
    """Six covariates correlated at .3, a fifth of an s.d. apart between cells; surprisal is skewed."""
    random = np.random.default_rng(seed)
    root = np.linalg.cholesky(0.3 * np.ones((6, 6)) + 0.7 * np.eye(6))
    values = random.normal(size=(ITEMS, 6)) @ root.T
    values[:, 4] = np.exp(values[:, 4] / 2)
    return values + 0.2 * random.normal(size=(CELLS, 6))[np.arange(ITEMS) % CELLS]


def between_items(seed: int) -> Materials:
    values = columns(seed)
    items = tuple(
        Item(
            f"i{n}",
            "p",
            {"a": Sentence(f"Sentence {n}.")},
            extra={"cell": f"c{n % CELLS}"} | dict(zip(NAMES, map(str, values[n]), strict=True)),
        )
        for n in range(ITEMS)
    )
    return Materials((Paradigm("p", "p", {"f": ("a",)}),), items)


def within_items(seed: int) -> tuple[Materials, np.ndarray]:
    """Items of four conditions, whose values correlate at .5."""
    random = np.random.default_rng(seed)
    root = np.linalg.cholesky(0.3 * np.ones((6, 6)) + 0.7 * np.eye(6))
    own = random.normal(size=(ITEMS, 1, 6)) + random.normal(size=(ITEMS, CELLS, 6))
    values = own @ root.T / np.sqrt(2) + 0.1 * random.normal(size=(CELLS, 6))
    conditions = tuple(f"c{c}" for c in range(CELLS))
    items = tuple(Item(f"i{n}", "p", {c: Sentence(f"Sentence {n} {c}.") for c in conditions}) for n in range(ITEMS))
    return Materials((Paradigm("p", "p", {"f": conditions}),), items), values


def measure(what: str, seed: int, tolerance: float) -> None:
    from unittest import mock

    asked = Selection(
        items=CHOSEN,
        covariates={
            name: CovariateSection() for name in (NAMES if what == "levels" else [f"own {k}" for k in range(6)])
        },
        between=("cell",) if what == "levels" else (),
        tolerance=tolerance,
        spread=tolerance,
    )
    start = time.process_time()
    if what == "levels":
        found = stimuli.select(between_items(seed), asked)
    else:
        materials, values = within_items(seed)
        at = {item.id: n for n, item in enumerate(materials.items)}

        def valued(name: str, *_: object) -> object:
            return lambda item, condition: float(values[at[item.id], int(condition[1:]), int(name.split()[1])])

        # No column of items differs between conditions; in a study these would be length, frequency and surprisal.
        with mock.patch("gardenpath.stimuli.selection.covariates._valued", valued):
            found = stimuli.select(materials, asked)
    spent = time.process_time() - start
    verdict = found.certificate.verdict
    more = f", widest {found.certificate.largest:.4f}" if found.certificate.largest is not None else ""
    more += f", {len(found.certificate.conflict)} demands conflict" if found.certificate.conflict else ""
    print(f"  four {what:10} pool {seed}  tolerance {tolerance:<5g} {verdict:10} {spent:6.1f} CPU-s{more}", flush=True)


if __name__ == "__main__":
    for tolerance in map(float, sys.argv[1:] or ("0.05", "0.02")):
        for what in ("conditions", "levels"):
            for seed in (1, 2, 3):
                measure(what, seed, tolerance)
