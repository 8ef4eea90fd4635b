"""What a binomial model in log odds says of each condition, as probabilities."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..engines.estimates import Estimated
from ..ledger import ALL

Codes = Mapping[str, tuple[str, Mapping[str, float]]]  # of a column: its factor, and the code of each level


def probabilities(
    rows: pd.DataFrame, response: str, factors: Sequence[str], codes: Codes, estimated: Estimated | None
) -> pd.DataFrame:
    """Return the cells of the factors in `rows`: the share of ones, and the model's log odds and probability with its interval.

    The probability is that of a participant and an item whose random effects are zero, at the mean of numeric predictors; the
    mean over participants lies nearer to one half. Without `estimated`, or where it has predictors that are neither coded nor
    numeric, there are shares alone.
    """
    orders = [list(next(by for factor, by in codes.values() if factor == name)) for name in factors] if codes else []
    cells = []
    for levels, part in rows.groupby(list(factors), sort=False) if factors else [((), rows)]:
        level_of = dict(zip(factors, map(str, levels), strict=True))
        cell: dict[str, Any] = {
            "condition": ".".join(level_of.values()) or ALL,
            "participants": part["participant"].nunique(),
            "n": len(part),
            "share": float(part[response].mean()),
            "place": [order.index(level) for order, level in zip(orders, level_of.values(), strict=False)],
        }
        cells.append(cell | (_predicted(estimated, level_of, codes, rows) if estimated else {}))
    names = ["condition", "participants", "n", "share", "log_odds", "se", "probability", "ci_low", "ci_high"]
    return pd.DataFrame(sorted(cells, key=lambda cell: cell["place"])).reindex(columns=names)


def _predicted(estimated: Estimated, level_of: Mapping[str, str], codes: Codes, rows: pd.DataFrame) -> dict[str, float]:
    """Return the log odds of a cell with their standard error, and the probability with its interval."""
    import numpy as np
    from scipy.special import expit
    from scipy.stats import norm

    coefficients = estimated.coefficients.dropna(subset="estimate").set_index("term")["estimate"]
    values = {"intercept": 1.0} | {column: by[level_of[factor]] for column, (factor, by) in codes.items()}
    predictors = {name for term in coefficients.index for name in term.split(":")} - {*values}
    if not all(name in rows and pd.api.types.is_numeric_dtype(rows[name]) for name in predictors):
        return {}
    values |= dict.fromkeys(predictors, 0.0)  # centred
    weights = np.array([np.prod([values[name] for name in term.split(":")]) for term in coefficients.index])
    covariance = estimated.covariance.loc[coefficients.index, coefficients.index].to_numpy(dtype="float64")
    log_odds = float(weights @ coefficients.to_numpy(dtype="float64"))
    se = float(np.sqrt(weights @ covariance @ weights))
    low, high = (float(expit(log_odds + end * norm.ppf(0.975) * se)) for end in (-1, 1))
    return {"log_odds": log_odds, "se": se, "probability": float(expit(log_odds)), "ci_low": low, "ci_high": high}
