"""How far the residuals of successive trials of a session hang together."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..plan.trials import StudyTrials


def compute_autocorrelations(trials: StudyTrials, covariates: Sequence[str]) -> dict[tuple[object, ...], float]:
    """Return the lag-1 autocorrelation of the residuals of minimal pairs by response, region and prompt."""
    return {
        measure: autocorrelation(rows if "log_trial" in covariates else rows.drop(columns="log_trial"), measure[0])
        for measure, rows in trials.pair_measures.items()
    }


def autocorrelation(rows: pd.DataFrame, response: str) -> float:
    """Return the correlation of a trial's residual with that of the same session's trial before it, in `rows`.

    Residuals are those of least squares on participants, items, conditions within phenomena, and log trial number where it
    is a covariate: over all phenomena together, since a session is one sequence of them.
    """
    import numpy as np

    ordered = rows.sort_values(["session", "trial"])
    cells = ordered["phenomenon"].astype("string") + "/" + ordered["condition"].astype("string")
    factors = [pd.factorize(column)[0] for column in (ordered["participant"], ordered["item"], cells)]
    y = ordered[response].to_numpy(dtype="float64")
    x = ordered.get("log_trial", pd.Series(0.0, index=ordered.index)).to_numpy(dtype="float64")
    y, x = _swept(y, factors), _swept(x, factors)
    spread = float(x @ x)
    residual = y - x * (float(x @ y) / spread) if spread > 1e-9 * len(x) else y
    session = ordered["session"].to_numpy()
    same = session[1:] == session[:-1]
    before, after = residual[:-1][same], residual[1:][same]
    if len(before) < 3 or np.ptp(before) < 1e-9 or np.ptp(after) < 1e-9:
        return float("nan")
    return float(np.corrcoef(before, after)[0, 1])


def _swept(values: Any, factors: Sequence[Any], rounds: int = 200) -> Any:
    """Return what is left of `values` when the levels of all factors are fitted by least squares."""
    import numpy as np

    left = values - values.mean()
    for _ in range(rounds):
        before = left
        for codes in factors:
            sizes = np.bincount(codes)
            left = left - (np.bincount(codes, weights=left) / np.maximum(sizes, 1))[codes]
        if np.abs(left - before).max() < 1e-10:
            break
    return left
