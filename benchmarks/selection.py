"""48 of 400 items alike in the means and second moments of six covariates, in four cells: python benchmarks/selection.py [.05 ...]

Cells are the four conditions of each item, or four levels of twelve items each, which is harder: means of fewer items.
"""

import sys
import time

import numpy as np

from gardenpath import stimuli
from gardenpath.stimuli import CovariateSection, Item, Materials, Paradigm, Selection, Sentence

COVARIATE_NAMES = ("words", "letters", "zipf", "bigram", "surprisal", "before")
ITEM_COUNT, CHOSEN_COUNT, CELL_COUNT = 400, 48, 4


def draw_covariates(seed: int) -> np.ndarray:
    """Six covariates correlated at .3, a fifth of an s.d. apart between cells; surprisal is skewed."""
    random = np.random.default_rng(seed)
    root = np.linalg.cholesky(0.3 * np.ones((6, 6)) + 0.7 * np.eye(6))
    values = random.normal(size=(ITEM_COUNT, 6)) @ root.T
    values[:, 4] = np.exp(values[:, 4] / 2)
    return values + 0.2 * random.normal(size=(CELL_COUNT, 6))[np.arange(ITEM_COUNT) % CELL_COUNT]


def build_between_items(seed: int) -> Materials:
    values = draw_covariates(seed)
    items = tuple(
        Item(
            f"i{n}",
            "p",
            {"a": Sentence(f"Sentence {n}.")},
            extra={"cell": f"c{n % CELL_COUNT}"} | dict(zip(COVARIATE_NAMES, map(str, values[n]), strict=True)),
        )
        for n in range(ITEM_COUNT)
    )
    return Materials((Paradigm("p", "p", {"f": ("a",)}),), items)


def build_within_items(seed: int) -> tuple[Materials, np.ndarray]:
    """Items of four conditions, whose values correlate at .5."""
    random = np.random.default_rng(seed)
    root = np.linalg.cholesky(0.3 * np.ones((6, 6)) + 0.7 * np.eye(6))
    own = random.normal(size=(ITEM_COUNT, 1, 6)) + random.normal(size=(ITEM_COUNT, CELL_COUNT, 6))
    values = own @ root.T / np.sqrt(2) + 0.1 * random.normal(size=(CELL_COUNT, 6))
    conditions = tuple(f"c{c}" for c in range(CELL_COUNT))
    items = tuple(Item(f"i{n}", "p", {c: Sentence(f"Sentence {n} {c}.") for c in conditions}) for n in range(ITEM_COUNT))
    return Materials((Paradigm("p", "p", {"f": conditions}),), items), values


def measure_selection(layout: str, seed: int, tolerance: float) -> None:
    from unittest import mock

    settings = Selection(
        items=CHOSEN_COUNT,
        covariates={
            name: CovariateSection() for name in (COVARIATE_NAMES if layout == "levels" else [f"own {k}" for k in range(6)])
        },
        between_items=("cell",) if layout == "levels" else (),
        tolerance=tolerance,
        spread_tolerance=tolerance,
    )
    start = time.process_time()
    if layout == "levels":
        selection = stimuli.select(build_between_items(seed), settings)
    else:
        materials, values = build_within_items(seed)
        item_indices = {item.id: n for n, item in enumerate(materials.items)}

        def get_value(name: str, *_: object) -> object:
            return lambda item, condition: float(values[item_indices[item.id], int(condition[1:]), int(name.split()[1])])

        # No column of items differs between conditions; in a study these would be length, frequency and surprisal.
        with mock.patch("gardenpath.stimuli.selection.covariates._build_measure", get_value):
            selection = stimuli.select(materials, settings)
    seconds = time.process_time() - start
    verdict = selection.certificate.verdict
    details = f", widest {selection.certificate.largest:.4f}" if selection.certificate.largest is not None else ""
    details += f", {len(selection.certificate.conflict)} demands conflict" if selection.certificate.conflict else ""
    print(f"  four {layout:10} pool {seed}  tolerance {tolerance:<5g} {verdict:10} {seconds:6.1f} CPU-s{details}", flush=True)


if __name__ == "__main__":
    for tolerance in map(float, sys.argv[1:] or ("0.05", "0.02")):
        for what in ("conditions", "levels"):
            for seed in (1, 2, 3):
                measure_selection(what, seed, tolerance)
