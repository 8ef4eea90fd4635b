"""Which of the models fitted to the same data is the headline of a result, and which stands beside it."""

import pandas as pd

from .grammaticality import SLOPES

# What tells the models of one table apart, beside their random effects.
MODEL_KEY = ("phenomenon", "paradigm", "model", "measure", "region", "prompt")


def headline(models: pd.DataFrame) -> "pd.Series[bool]":
    """Return for each row of a table of models whether it is the headline: of two models of the same data the one with slopes.

    Without slopes, an effect that varies over participants or items is found too easily (Barr et al. 2013, doi
    10.1016/j.jml.2012.11.001). A singular or reduced model with slopes stays the headline. Where the one with slopes has no
    estimate, no test, or did not converge, it is the other one; a model that stands alone is its own headline.

    >>> two = pd.DataFrame({"phenomenon": ["npi"] * 2, "random": ["intercepts", "slopes"], "estimate": [0.2, 0.2]})
    >>> headline(two.assign(p=[0.01, 0.04], converged=True)).to_list()
    [False, True]
    >>> headline(two.assign(p=[0.01, None], converged=[True, False])).to_list()
    [True, False]
    """
    place = [name for name in MODEL_KEY if name in models]
    slopes = models["random"] == SLOPES
    tested = slopes & models["estimate"].notna() & models["p"].notna() & models["converged"].astype("bool")
    keys = [models[name].astype("object") for name in place]
    with_slopes = tested.groupby(keys, dropna=False).transform("any")
    alone = ~(~slopes).groupby(keys, dropna=False).transform("any")
    return (slopes == with_slopes) | alone


def is_intercepts_form(models: pd.DataFrame) -> "pd.Series[bool]":
    """Return for each row whether it is the published form, with intercepts alone, of a model whose headline has slopes."""
    return ~headline(models) & (models["random"] != SLOPES)
