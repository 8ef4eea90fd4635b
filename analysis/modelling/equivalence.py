"""Two one-sided tests: whether an effect is smaller than the smallest one of interest."""

import pandas as pd

from gardenpath.study.config import Sesoi, find_sesoi

COLUMNS = ("smallest", "low_90", "high_90", "p_equivalence")


def equivalence(tested: pd.DataFrame, smallest: Sesoi, terms: "pd.Series[str]") -> pd.DataFrame:
    """Return for each coefficient the smallest effect of interest, the 90 % interval, and p of equivalence.

    `tested` has the columns measure, estimate, se and df, of models in which the effect varies over participants or items:
    without slopes intervals are too narrow. `terms` names each row's term as `smallest` does, by its factors. p is the larger one
    of two one-sided tests, that the effect is above -smallest and that it is below smallest; it is under .05 where the 90 %
    interval lies between the two (doi 10.1007/BF01068419).

    >>> table = pd.DataFrame([{"measure": "z", "estimate": 0.1, "se": 0.1, "df": 20.0}])
    >>> equivalence(table, {"z": 0.3}, pd.Series(["number"])).round(3).to_dict("records")
    [{'smallest': 0.3, 'low_90': -0.072, 'high_90': 0.272, 'p_equivalence': 0.03}]
    """
    import numpy as np
    from scipy.special import stdtr, stdtrit

    stated = [find_sesoi(smallest, str(measure), str(term)) for measure, term in zip(tested["measure"], terms, strict=True)]
    bound = pd.Series(stated, index=tested.index, dtype="float64")
    estimate, se, df = (tested[name].astype("float64").where(bound.notna()) for name in ("estimate", "se", "df"))
    df = df.where(df.notna() | estimate.isna(), np.inf)  # without degrees of freedom, z
    half = se * stdtrit(df, 0.95)
    above, below = stdtr(df, -(estimate + bound) / se), stdtr(df, (estimate - bound) / se)
    return pd.DataFrame(
        dict(zip(COLUMNS, (bound, estimate - half, estimate + half, np.maximum(above, below)), strict=True)), index=tested.index
    )
