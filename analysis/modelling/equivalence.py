"""How small an effect could have been found, and whether it is smaller than the smallest one of interest."""

import pandas as pd

from ..intervals import ALPHA

POWER = 0.80  # of the minimum detectable effect
COLUMNS = ("smallest", "low_90", "high_90", "p_equivalence")


def equivalence(tested: pd.DataFrame, smallest: "pd.Series[float]") -> pd.DataFrame:
    """Return for each coefficient the smallest effect of interest, the 90 % interval, and p of equivalence.

    `tested` has the columns estimate, se and df, of models in which the effect varies over participants or items: without slopes
    intervals are too narrow. p is the larger one of two one-sided tests, that the effect is above -smallest and that it is below
    smallest; it is under .05 where the 90 % interval lies between the two (doi 10.1007/BF01068419).

    >>> table = pd.DataFrame([{"estimate": 0.1, "se": 0.1, "df": 20.0}])
    >>> equivalence(table, pd.Series([0.3])).round(3).to_dict("records")
    [{'smallest': 0.3, 'low_90': -0.072, 'high_90': 0.272, 'p_equivalence': 0.03}]
    """
    import numpy as np
    from scipy.special import stdtr, stdtrit

    bound = pd.Series(smallest, index=tested.index, dtype="float64")
    estimate, se, df = (tested[name].astype("float64").where(bound.notna()) for name in ("estimate", "se", "df"))
    df = df.where(df.notna() | estimate.isna(), np.inf)  # without degrees of freedom, z
    half = se * stdtrit(df, 0.95)
    above, below = stdtr(df, -(estimate + bound) / se), stdtr(df, (estimate - bound) / se)
    return pd.DataFrame(
        dict(zip(COLUMNS, (bound, estimate - half, estimate + half, np.maximum(above, below)), strict=True)), index=tested.index
    )


def compute_minimum_detectable_effects(tested: pd.DataFrame) -> "pd.Series[float]":
    """Return the minimum detectable effect of each coefficient: (t.975 + t.80) times its standard error."""
    from scipy.special import stdtrit

    df = tested["df"].astype("float64").fillna(float("inf")).to_numpy(dtype="float64")  # without degrees of freedom, z
    smallest = (stdtrit(df, 1 - ALPHA / 2) + stdtrit(df, POWER)) * tested["se"].to_numpy(dtype="float64")
    return pd.Series(smallest, index=tested.index)
