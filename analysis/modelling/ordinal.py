"""Ratings as ordered categories: the cumulative-link mixed model of R's package ordinal."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from gardenpath.study import DataError

from ..engines import ordinal_engine
from ..engines.formulas import Formula, parse_formula
from .coding import Coded, Coding, coded
from .mixed_models import Fit, columns_of, numeric_slopes, tabled
from .policies import REDUCTIONS, NotFitted, Search, Steps, describe_kept

LINKS = ("probit", "logit", "cloglog")
CATEGORIES = range(3, 12)  # what counts as points of a scale; two are no order, a slider has no points
ENGINE = "ordinal"


def cumulative(
    frame: pd.DataFrame, formula: str, *, link: str = "probit", contrasts: Mapping[str, Coding] | None = None
) -> pd.DataFrame:
    """Return one row a fixed effect of `ordinal::clmm`, on the latent scale, whose s.d. is 1 by probit.

    The response's numbers are categories in their order, so no distance between them is assumed (Liddell & Kruschke 2018,
    doi 10.1016/j.jesp.2018.08.009). Tests and intervals are Wald's: `t` is z. Random effects may be uncorrelated (`||`). An
    unknown link, or a formula without random effects, is a `ValueError`; data that allow no fit are a `DataError`. Needs R with
    the package ordinal, else `MissingExtra` says what to install.

    >>> ratings = pd.DataFrame({"rating": [1, 2, 3], "grammaticality": [-0.5, 0.5, 0.5], "participant": ["P1", "P1", "P2"]})
    >>> cumulative(ratings, "rating ~ grammaticality + (1|participant)", link="log")
    Traceback (most recent call last):
    ...
    ValueError: link 'log' is not known; expected one of probit, logit, cloglog
    """
    if link not in LINKS:
        raise ValueError(f"link {link!r} is not known; expected one of {', '.join(LINKS)}")
    design = coded(frame, parse_formula(formula), contrasts or {})
    return fit_categories(design, design.formula, link=link).coefficients


def fit_categories(design: Coded, start: Formula, *, link: str = "probit", policy: str = "declared") -> Fit:
    """Return the fixed effects of a cumulative model and the steps that led to it, from the formula that is fitted first.

    Raises `NotFitted`, which has the steps, where none of them could be fitted.
    """
    steps = Steps(ENGINE)
    try:
        columns = columns_of(design.frame, design.formula)
        numeric_slopes(design.formula, columns)
        search = Search(
            lambda wanted: ordinal_engine.estimate_model(columns, wanted, link), ordinal_engine.describe_unsupported, steps
        )
        fitted, estimated = REDUCTIONS[policy](start, search)
    except DataError as error:
        raise NotFitted(error, steps) from error
    shown = ordinal_engine.split_uncorrelated_effects(fitted)
    return Fit(tabled(estimated, replace(shown, text=""), design.frame, ENGINE, describe_kept(policy)), steps)


def require_categories(ratings: pd.Series) -> None:
    """Raise `DataError` where the ratings are not on a scale with points that have an order."""
    points = len(ratings.unique())
    if points not in CATEGORIES:
        raise DataError(f"{points} different ratings; expected {CATEGORIES[0]} to {CATEGORIES[-1]} points of a scale")
