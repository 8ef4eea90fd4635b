"""Accuracy against the size of the training data: what a doubling brings, and how much would make a model as good as people."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..measuring.ratings_and_times import capped
from . import logistic_curve
from .pair_accuracy import MEAN, OVERALL, POOLED
from .regression import least_squares

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FAMILY = "family"


def learning_curves(
    accuracy: pd.DataFrame, runs: pd.DataFrame, people: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Return, for each phenomenon and over all, how accuracy (0 to 1) rises with the logarithm of the training tokens.

    `accuracy` is the table of that name; `runs` has the columns model and tokens, and where there are several `family` (each has
    its own lines) and `sample` (which draw of the corpus). `slope` is a doubling's gain in an ordinary regression on log2(tokens);
    where samples are named, its standard error takes those of one sample together (CR1, t with one degree of freedom less than
    samples). Beside it stands the logistic curve .5 + (upper - .5) / (1 + exp(-rate (log2 tokens - midpoint))) by least squares,
    from four sizes on. With `people`, accuracies by phenomenon, `tokens_needed` says where the line meets theirs.

    A model of `runs` that has no accuracy, or tokens that are no positive number, are a `DataError`.

    >>> runs = pd.DataFrame({"model": ["a", "b", "c"], "tokens": [1e6, 2e6, 4e6]})
    >>> rows = [(m, "p", "lp", "npi", "pooled", 0.5 + k / 10) for k, m in enumerate("abc")]
    >>> accuracy = pd.DataFrame(rows, columns=["model", "protocol", "measure", "phenomenon", "paradigm", "accuracy"])
    >>> learning_curves(accuracy, runs, {"npi": 0.9})[["slope", "largest", "tokens_needed"]].round(3).values.tolist()
    [[0.1, 4000000.0, 16000000.0]]
    """
    known = runs.assign(tokens=pd.to_numeric(runs["tokens"], errors="coerce"))
    _refuse(known, accuracy)
    over = accuracy[
        (accuracy["paradigm"] == POOLED) & (accuracy["phenomenon"] != OVERALL)
        | (accuracy["paradigm"] == MEAN) & (accuracy["phenomenon"] == OVERALL)
    ]
    known = known.assign(**{name: known.get(name, "") for name in (FAMILY, "sample")})
    both = over.merge(known[["model", "tokens", FAMILY, "sample"]], on="model")
    rows = []
    for (family, protocol, measure, phenomenon), points in both.groupby(
        [FAMILY, "protocol", "measure", "phenomenon"], sort=False
    ):
        place = {"family": family, "protocol": protocol, "measure": measure, "phenomenon": phenomenon}
        rows.append(place | _curve(points, (people or {}).get(str(phenomenon))))
    return check(pd.DataFrame(rows, columns=TABLES["learning_curves"].names), "learning_curves")


def tokens_needed(largest: float, reached: float, slope: float, people: float) -> float | None:
    """Return the tokens at which a line that gains `slope` a doubling goes from `reached` to `people`: an extrapolation.

    As in Warstadt et al. 2020 (doi 10.1162/tacl_a_00321), section 6.3; nothing where the line does not rise, is there
    already, or would need more than can be written.

    >>> f"{tokens_needed(83e6, 0.466, 0.0036, 0.849):.1e}"
    '8.8e+39'
    """
    doublings = (people - reached) / slope if slope > 0 else 0.0
    return largest * 2.0**doublings if 0 < doublings < 900 else None


def _refuse(runs: pd.DataFrame, accuracy: pd.DataFrame) -> None:
    known = accuracy["model"].unique()
    double = runs.loc[runs.duplicated("model"), "model"].unique()
    unsized = runs.loc[~(runs["tokens"] > 0), "model"]
    unknown = runs.loc[~runs["model"].isin(known), "model"]
    faults = [
        *(f"model {name!r} stands twice in the runs; expected each once" for name in double),
        *(
            f"the tokens of model {name!r} are no positive number; expected how many it was trained on"
            for name in unsized
        ),
        *(f"model {name!r} of the runs has no accuracy; expected one of {', '.join(known)}" for name in unknown),
    ]
    if faults:
        raise DataError(capped(faults))


def _curve(points: pd.DataFrame, people: float | None) -> dict[str, object]:
    doublings = _log2(points["tokens"])
    shares = points["accuracy"].to_numpy(dtype="float64")
    largest = float(points["tokens"].max())
    reached = float(points.loc[points["tokens"] == largest, "accuracy"].mean())
    row: dict[str, object] = {
        "runs": len(points),
        "sizes": points["tokens"].nunique(),
        "samples": points["sample"].nunique() if points["sample"].ne("").any() else None,
        "largest": largest,
        "reached": reached,
        "people": people,
    }
    if points["tokens"].nunique() < 2:
        return row | {"note": "No slope: all models were trained on as many tokens."}
    line = _line(doublings, shares, points["sample"])
    row |= line
    if people is not None:
        row["tokens_needed"] = tokens_needed(largest, reached, line["slope"], people)
    curve = logistic_curve.fitted(doublings, shares)
    return row | (dict(zip(("upper", "rate", "midpoint"), curve, strict=True)) if curve else {})


def _log2(tokens: "pd.Series[float]") -> "Array":
    import numpy as np

    return np.asarray(np.log2(tokens.to_numpy(dtype="float64")))


def _line(x: "Array", y: "Array", samples: pd.Series) -> dict[str, Any]:
    """Return the slope with its standard error: by sample where they are named, else that of independent runs."""
    import numpy as np

    named = samples.to_numpy() if len(samples.unique()) > 1 else None
    found = least_squares(np.column_stack([np.ones_like(x), x]), y, named)
    slope = {"slope": float(found.estimates[1])}
    if np.isnan(found.se[1]):
        return {**slope, "note": "No interval: there are two runs."}
    return {**slope, "se": found.se[1], "df": found.df, "low": found.low[1], "high": found.high[1]}
