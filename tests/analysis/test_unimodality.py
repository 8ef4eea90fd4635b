"""Whether ratings have one mode: against a search over all distributions with one mode, and by how often it errs."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from gardenpath.analysis import compute_unimodality

POINTS = 7


def counted(samples: np.ndarray) -> pd.DataFrame:
    rows = [
        ("rating", f"f{k:03}", "p", "grammatical", float(point + 1), int(n))
        for k, sample in enumerate(samples)
        for point, n in enumerate(sample)
        if n
    ]
    return pd.DataFrame(rows, columns=["prompt", "phenomenon", "paradigm", "condition", "rating", "n_ratings"])


def test_the_distance_is_that_of_the_likeliest_distribution_with_one_mode() -> None:
    """Found by a general optimizer, mode by mode, under the inequalities that say it."""
    rng = np.random.default_rng(1)
    samples = rng.multinomial(80, [0.2, 0.1, 0.15, 0.1, 0.2, 0.1, 0.15], size=4)
    found = compute_unimodality(counted(samples), draws=1)["distance"].to_numpy()
    for sample, distance in zip(samples, found, strict=True):
        best = -np.inf
        for mode in range(POINTS):
            signs = [1 if k < mode else -1 for k in range(POINTS - 1)]
            rises = [{"type": "ineq", "fun": lambda q, k=k, s=s: s * (q[k + 1] - q[k])} for k, s in enumerate(signs)]
            whole = {"type": "eq", "fun": lambda q: q.sum() - 1}
            one = minimize(
                lambda q, n=sample: -(n * np.log(q)).sum(), np.full(POINTS, 1 / POINTS), method="SLSQP",
                bounds=[(1e-9, 1)] * POINTS, constraints=[*rises, whole], options={"maxiter": 500, "ftol": 1e-12},
            )  # fmt: skip
            best = max(best, -one.fun)
        assert distance == pytest.approx(2 * ((sample * np.log(sample / 80)).sum() - best), abs=1e-4)


@pytest.mark.parametrize(
    ("shares", "low", "high"),
    [
        ([0.02, 0.05, 0.1, 0.2, 0.3, 0.2, 0.13], 0, 0.05),
        ([0.03, 0.04, 0.06, 0.09, 0.13, 0.22, 0.43], 0, 0.05),
        ([0.08, 0.08, 0.08, 0.16, 0.2, 0.2, 0.2], 0, 0.1),  # level stretches: hardest to tell from two modes, as the docstring says
        ([0.25, 0.1, 0.1, 0.1, 0.1, 0.1, 0.25], 0.95, 1),
    ],
    ids=["hill", "slope", "levels", "two modes"],
)
def test_ratings_with_one_mode_are_rejected_at_most_as_often_as_stated(shares: list[float], low: float, high: float) -> None:
    samples = np.random.default_rng(7).multinomial(400, shares, size=200)
    rejected = (compute_unimodality(counted(samples), draws=199)["p"] <= 0.05).mean()
    assert low <= rejected <= high


def test_a_point_that_nobody_chose_is_a_point_of_the_scale() -> None:
    table = compute_unimodality(counted(np.array([[30, 0, 0, 0, 0, 0, 30], [0, 5, 20, 9, 0, 0, 0]])))
    assert table["n_points"].tolist() == [7, 7]
    assert table["p"].tolist() == [0.001, 1.0]
    assert table["distance"].iloc[1] == 0


def test_a_slider_has_no_rows_and_takes_no_time() -> None:
    rows = [("slider", "npi", "p", "grammatical", point, 1 + point % 3) for point in range(101)]
    rows += [("scale", "npi", "p", "grammatical", point, 4) for point in range(1, 8)]
    counts = pd.DataFrame(rows, columns=["prompt", "phenomenon", "paradigm", "condition", "rating", "n_ratings"])
    assert compute_unimodality(counts)["prompt"].to_list() == ["scale"]
