"""Whether ratings have one mode: a test for the few points of a rating scale."""

from typing import Any
from zlib import crc32

import pandas as pd

from gardenpath.study import TABLES, check

SIMULATED_SAMPLES = 999
MAX_SCALE_POINTS = 11  # of a scale; beyond them the distribution is nearly continuous, and the dip test is the better one


def compute_unimodality(rating_counts: pd.DataFrame, *, seed: int = 1, draws: int = SIMULATED_SAMPLES) -> pd.DataFrame:
    """Return whether the ratings of each phenomenon in each condition have one mode, from the table rating_counts.

    The nearest distribution over the scale's points with one mode is that of the highest likelihood; `distance` is the
    likelihood-ratio statistic against the shares observed, and p how often `draws` samples of that nearest distribution lie as far
    or farther, (hits + 1) / (draws + 1). Hartigan's dip test, made for continuous values, rejects every sample on a scale of few
    points. The points are the ratings that occur under a prompt, and those between them where all are whole numbers. Ratings count
    as independent, though people and sentences have several each. In simulations up to 5 % of samples of one mode had p < .05,
    up to 11 % where several points in a row are equally frequent. A prompt of more than 11 points, as of a slider, has no rows.

    >>> rows = [("rating", "npi", "p", "grammatical", point, n) for point, n in ((1, 40), (2, 5), (3, 3), (4, 6), (5, 46))]
    >>> counts = pd.DataFrame(rows, columns=["prompt", "phenomenon", "paradigm", "condition", "rating", "n_ratings"])
    >>> compute_unimodality(counts)[["n_points", "n_ratings", "p"]].to_numpy().tolist()
    [[5.0, 100.0, 0.001]]
    """
    import numpy as np

    rows = []
    for prompt, of_prompt in rating_counts.groupby("prompt", sort=True):
        points = sorted(of_prompt["rating"].unique())
        if all(float(point).is_integer() for point in points):
            points = list(range(int(points[0]), int(points[-1]) + 1))
        if len(points) > MAX_SCALE_POINTS:
            continue
        for (phenomenon, condition), part in of_prompt.groupby(["phenomenon", "condition"], sort=True):
            counts = part.groupby("rating")["n_ratings"].sum().reindex(points, fill_value=0).to_numpy(dtype="float64")
            distance, nearest = _fit_unimodal(counts[None])
            # The same draws whatever else is in the table.
            random = np.random.default_rng([seed, crc32(f"{prompt}-{phenomenon}-{condition}".encode())])
            samples = random.multinomial(int(counts.sum()), nearest[0], size=draws).astype("float64")
            hits = int((_fit_unimodal(samples)[0] >= distance[0] - 1e-9).sum())
            rows.append({
                "prompt": prompt, "phenomenon": phenomenon, "condition": condition, "n_points": len(points),
                "n_ratings": int(counts.sum()), "distance": max(0.0, float(distance[0])), "p": (hits + 1) / (draws + 1),
            })  # fmt: skip
    return check(pd.DataFrame(rows, columns=TABLES["unimodality"].column_names), "unimodality")


def _fit_unimodal(counts: Any) -> tuple[Any, Any]:
    """Return for each line of counts twice the log-likelihood that one mode costs, and the likeliest shares with one mode.

    Shares that rise up to some point and fall after it have one mode, and each of both parts is an isotonic regression.
    """
    import numpy as np
    from scipy.special import xlogy

    rising, falling = _fit_isotonic(counts), _fit_isotonic(counts[:, ::-1])
    best = np.full(len(counts), -np.inf)
    nearest = np.zeros_like(counts)
    for split in range(counts.shape[1] + 1):
        shape = np.concatenate([rising[split], falling[counts.shape[1] - split][:, ::-1]], axis=1)
        with np.errstate(divide="ignore"):
            likelihood = xlogy(counts, shape).sum(axis=1)
        better = likelihood > best
        best, nearest = np.where(better, likelihood, best), np.where(better[:, None], shape, nearest)
    total = counts.sum(axis=1, keepdims=True)
    return 2 * (xlogy(counts, counts).sum(axis=1) - best), nearest / total


def _fit_isotonic(counts: Any) -> list[Any]:
    """Return the nondecreasing regression of each line's first 0, 1, 2 ... cells: at each, the largest of the smallest means."""
    import numpy as np

    sums = np.concatenate([np.zeros((len(counts), 1)), counts.cumsum(axis=1)], axis=1)
    fits = []
    for length in range(counts.shape[1] + 1):
        fit = np.zeros((len(counts), length))
        for point in range(length):
            means = [
                np.min([(sums[:, end] - sums[:, start]) / (end - start) for end in range(point + 1, length + 1)], axis=0)
                for start in range(point + 1)
            ]
            fit[:, point] = np.max(means, axis=0)
        fits.append(fit)
    return fits
