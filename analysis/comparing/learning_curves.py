"""Accuracy against the size of the training data: what a doubling brings, and how much would make a model as good as people."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..measuring.ratings_and_times import cap_faults
from . import logistic_curve
from .pair_accuracy import ALL_PHENOMENA, MEAN_OVER_PARADIGMS, POOLED_OVER_PAIRS
from .regression import least_squares

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FAMILY_COLUMN = "family"


def compute_learning_curves(
    accuracy: pd.DataFrame, runs: pd.DataFrame, human_accuracies: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Return, for each phenomenon and over all, how accuracy (0 to 1) rises with the logarithm of the training tokens.

    `accuracy` is the table of that name; `runs` has the columns model and tokens, and where there are several `family` (each has
    its own lines) and `sample` (which draw of the corpus). `slope` is a doubling's gain in an ordinary regression on log2(tokens);
    where samples are named, its standard error takes those of one sample together (CR1, t with one degree of freedom less than
    samples). Beside it stands the logistic curve .5 + (upper - .5) / (1 + exp(-rate (log2 tokens - midpoint))) by least squares,
    from four sizes on. With `human_accuracies`, accuracies by phenomenon, `extrapolate_tokens_needed` says where the line meets
    theirs.

    A model of `runs` that has no accuracy, or tokens that are no positive number, are a `DataError`.

    >>> runs = pd.DataFrame({"model": ["a", "b", "c"], "tokens": [1e6, 2e6, 4e6]})
    >>> rows = [(m, "p", "lp", "npi", "pooled", 0.5 + k / 10) for k, m in enumerate("abc")]
    >>> accuracy = pd.DataFrame(rows, columns=["model", "protocol", "measure", "phenomenon", "paradigm", "accuracy"])
    >>> found = compute_learning_curves(accuracy, runs, {"npi": 0.9})
    >>> found[["slope", "max_training_tokens", "tokens_needed"]].round(3).values.tolist()
    [[0.1, 4000000.0, 16000000.0]]
    """
    known = runs.assign(tokens=pd.to_numeric(runs["tokens"], errors="coerce"))
    _require_known_models(known, accuracy)
    over = accuracy[
        (accuracy["paradigm"] == POOLED_OVER_PAIRS) & (accuracy["phenomenon"] != ALL_PHENOMENA)
        | (accuracy["paradigm"] == MEAN_OVER_PARADIGMS) & (accuracy["phenomenon"] == ALL_PHENOMENA)
    ]
    known = known.assign(**{name: known.get(name, "") for name in (FAMILY_COLUMN, "sample")})
    both = over.merge(known[["model", "tokens", FAMILY_COLUMN, "sample"]], on="model")
    rows = []
    for (family, protocol, measure, phenomenon), points in both.groupby(
        [FAMILY_COLUMN, "protocol", "measure", "phenomenon"], sort=False
    ):
        row_key = {"family": family, "protocol": protocol, "measure": measure, "phenomenon": phenomenon}
        rows.append(row_key | _fit_curves(points, (human_accuracies or {}).get(str(phenomenon))))
    return check(pd.DataFrame(rows, columns=TABLES["learning_curves"].column_names), "learning_curves")


def extrapolate_tokens_needed(largest: float, reached: float, slope: float, human_accuracy: float) -> float | None:
    """Return the tokens at which a line that gains `slope` a doubling goes from `reached` to `human_accuracy`: an extrapolation.

    As in Warstadt et al. 2020 (doi 10.1162/tacl_a_00321), section 6.3; nothing where the line does not rise, is there
    already, or would need more than can be written.

    >>> f"{extrapolate_tokens_needed(83e6, 0.466, 0.0036, 0.849):.1e}"
    '8.8e+39'
    """
    doublings = (human_accuracy - reached) / slope if slope > 0 else 0.0
    return largest * 2.0**doublings if 0 < doublings < 900 else None


def _require_known_models(runs: pd.DataFrame, accuracy: pd.DataFrame) -> None:
    known = accuracy["model"].unique()
    double = runs.loc[runs.duplicated("model"), "model"].unique()
    unsized = runs.loc[~(runs["tokens"] > 0), "model"]
    unknown = runs.loc[~runs["model"].isin(known), "model"]
    faults = [
        *(f"model {name!r} stands twice in the runs; expected each once" for name in double),
        *(f"the tokens of model {name!r} are no positive number; expected how many it was trained on" for name in unsized),
        *(f"model {name!r} of the runs has no accuracy; expected one of {', '.join(known)}" for name in unknown),
    ]
    if faults:
        raise DataError(cap_faults(faults))


def _fit_curves(points: pd.DataFrame, human_accuracy: float | None) -> dict[str, object]:
    doublings = _log2_tokens(points["tokens"])
    shares = points["accuracy"].to_numpy(dtype="float64")
    largest = float(points["tokens"].max())
    reached = float(points.loc[points["tokens"] == largest, "accuracy"].mean())
    row: dict[str, object] = {
        "n_models": len(points),
        "n_sizes": points["tokens"].nunique(),
        "n_samples": points["sample"].nunique() if points["sample"].ne("").any() else None,
        "max_training_tokens": largest,
        "accuracy_at_max": reached,
        "human_accuracy": human_accuracy,
    }
    if points["tokens"].nunique() < 2:
        return row | {"note": "No slope: all models were trained on as many tokens."}
    line = _fit_line(doublings, shares, points["sample"])
    row |= line
    if human_accuracy is not None:
        row["tokens_needed"] = extrapolate_tokens_needed(largest, reached, line["slope"], human_accuracy)
    curve = logistic_curve.fit_curve(doublings, shares)
    return row | (dict(zip(("upper_asymptote", "rate", "midpoint"), curve, strict=True)) if curve else {})


def _log2_tokens(tokens: "pd.Series[float]") -> "Array":
    import numpy as np

    return np.asarray(np.log2(tokens.to_numpy(dtype="float64")))


def _fit_line(x: "Array", y: "Array", samples: pd.Series) -> dict[str, Any]:
    """Return the slope with its standard error: by sample where they are named, else that of independent runs."""
    import numpy as np

    named = samples.to_numpy() if len(samples.unique()) > 1 else None
    found = least_squares(np.column_stack([np.ones_like(x), x]), y, named)
    slope = {"slope": float(found.estimates[1])}
    if np.isnan(found.se[1]):
        return {**slope, "note": "No interval: there are two runs."}
    return {**slope, "se": found.se[1], "df": found.df, "ci_low": found.ci_low[1], "ci_high": found.ci_high[1]}
