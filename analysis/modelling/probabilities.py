"""What a binomial model in log odds says of each cell of a design, as probabilities."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..engines.estimates import ModelEstimate
from ..exclusion_log import ALL_CONDITIONS
from ..measuring.cell_means import CELL_SEPARATOR
from .coding import Coded


def probabilities(
    rows: pd.DataFrame,
    response: str,
    factors: Mapping[str, Sequence[str]],
    estimated: ModelEstimate | None = None,
    design: Coded | None = None,
) -> pd.DataFrame:
    """Return each cell of the factors in their order: the share of ones, and the model's log odds and probability of one.

    The log odds are those of a participant and an item whose random effects are zero, at the mean of numeric predictors, with
    Wald's 95 % interval; the mean over participants lies nearer to one half. Without a model, or where it has predictors that are
    neither coded nor numeric, there are shares alone.
    """
    cells: list[dict[str, Any]] = []
    for levels in itertools.product(*factors.values()):
        at = dict(zip(factors, levels, strict=True))
        inside = pd.Series(True, index=rows.index)
        for factor, level in at.items():
            inside &= rows[factor].astype("string") == level
        part = rows[inside]
        if len(part):
            counts = {"n_participants": part["participant"].nunique(), "n_excluded_participants": 0, "n_trials": len(part)}
            names = {
                "factors": CELL_SEPARATOR.join(factors) or ALL_CONDITIONS,
                "levels": CELL_SEPARATOR.join(levels) or ALL_CONDITIONS,
            }
            cells.append({**names, **counts, "share": float(part[response].mean()), **_predicted(estimated, design, at)})
    return pd.DataFrame(cells)


def _predicted(estimated: ModelEstimate | None, design: Coded | None, at: Mapping[str, str]) -> dict[str, float]:
    """Return the log odds of a cell and the probability, each with its interval."""
    from scipy.special import expit

    if estimated is None or design is None:
        return {}
    terms = estimated.coefficients.dropna(subset="estimate")["term"].to_list()
    predictors = {name for term in terms for name in term.split(":")} - {"intercept", *design.codes}
    if not all(name in design.frame and pd.api.types.is_numeric_dtype(design.frame[name]) for name in predictors):
        return {}
    cell = estimated.combine_effects(design.cell(terms, at))
    log_odds = {"mean_value": cell["estimate"], "ci_low": cell["ci_low"], "ci_high": cell["ci_high"]}
    names = {"mean_value": "probability", "ci_low": "probability_low", "ci_high": "probability_high"}
    return log_odds | {names[end]: float(expit(value)) for end, value in log_odds.items()}
