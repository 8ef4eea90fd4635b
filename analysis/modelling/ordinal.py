"""Ratings as ordered categories: the cumulative-link mixed model of R's package ordinal."""

import itertools
from collections.abc import Mapping
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..engines import r_session
from ..engines.estimates import named_term
from ..engines.formulas import parse
from ..engines.r_session import first
from .coding import Coding, coded
from .grammaticality import TERM
from .mixed_models import columns_of

LINKS = ("probit", "logit", "cloglog")
CATEGORIES = range(3, 12)  # what counts as points of a scale; two are no order, a slider has no points
RANDOM = f"(1 + {TERM}|participant) + (1|item)"


def ordinal_models(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the table ordinal_models: the rating by grammaticality, for each prompt, phenomenon and paradigm.

    `rating ~ grammaticality + (1 + grammaticality|participant) + (1|item)` with a probit link, since participants' use of
    the scale is not standardised away; seconds a model. A paradigm that is all of its phenomenon has none of its own.
    `rows` are trials with rating, prompt, participant, item, phenomenon, paradigm and grammaticality (+1/2, -1/2). A model that
    cannot be fitted keeps a row that says why.
    """
    formula = f"rating ~ {TERM} + {RANDOM}"
    tables = []
    for (prompt, rated), unit in itertools.product(rows.groupby("prompt", sort=True), ("phenomenon", "paradigm")):
        for name, part in rated.groupby(unit, sort=True):
            phenomenon = part["phenomenon"].iloc[0]
            if unit == "paradigm" and (rated["phenomenon"] == phenomenon).sum() == len(part):
                continue
            place = {"prompt": prompt, "phenomenon": phenomenon, "paradigm": name if unit == "paradigm" else None}
            try:
                _check_categories(part["rating"])
                effects = cumulative(part, formula)
            except DataError as error:
                effects = _failed(formula, str(error).replace("\n", "; "), part)
            tables.append(effects.assign(**place))
    names = TABLES["ordinal_models"].names
    return check(
        pd.concat(tables)[names].reset_index(drop=True) if tables else pd.DataFrame(columns=names), "ordinal_models"
    )


def _check_categories(ratings: pd.Series) -> None:
    points = len(ratings.unique())
    if points not in CATEGORIES:
        raise DataError(f"{points} different ratings; expected {CATEGORIES[0]} to {CATEGORIES[-1]} points of a scale")


def _failed(formula: str, reason: str, rows: pd.DataFrame) -> pd.DataFrame:
    facts = {"formula": formula, "link": LINKS[0], "term": TERM, "thresholds": 0, "n": len(rows), "converged": False}
    row = dict.fromkeys(TABLES["ordinal_models"].names) | facts | {"note": f"Not fitted: {reason}"}
    return pd.DataFrame([row])


def cumulative(
    frame: pd.DataFrame, formula: str, *, link: str = "probit", contrasts: Mapping[str, Coding] | None = None
) -> pd.DataFrame:
    """Return the table ordinal_models: the fixed effects of `ordinal::clmm` on the latent scale, whose s.d. is 1 by probit.

    The response's numbers are categories in their order, so no distance between them is assumed (Liddell & Kruschke 2018,
    doi 10.1016/j.jesp.2018.08.009). Tests and intervals are Wald's. An unknown link, or a formula without
    random effects, is a `ValueError`; data that allow no fit are a `DataError`. Needs R with the package ordinal, else
    `MissingExtra` says what to install.

    >>> ratings = pd.DataFrame({"rating": [1, 2, 3], "grammaticality": [-0.5, 0.5, 0.5], "participant": ["P1", "P1", "P2"]})
    >>> cumulative(ratings, "rating ~ grammaticality + (1|participant)", link="log")
    Traceback (most recent call last):
    ...
    ValueError: link 'log' is not known; expected one of probit, logit, cloglog
    """
    if link not in LINKS:
        raise ValueError(f"link {link!r} is not known; expected one of {', '.join(LINKS)}")
    design = coded(frame, parse(formula), contrasts or {})
    parted = [random for random in design.formula.random if not random.correlated and len(random.terms) > 1]
    if parted or not design.formula.random:
        what = (
            f"does not support uncorrelated random effects, {parted[0]}"
            if parted
            else "needs random effects, such as (1|participant)"
        )
        raise ValueError(f"formula {str(design.formula)!r}: ordinal::clmm {what}")
    columns = columns_of(design.frame, design.formula)
    answer = r_session.ask(
        "cumulative", columns, str(design.formula), needs=("ordinal",), response=design.formula.response, link=link
    )
    return _tabled(answer, frame, str(design.formula), link)


def _tabled(answer: Mapping[str, dict[str, Any]], frame: pd.DataFrame, formula: str, link: str) -> pd.DataFrame:
    from scipy import stats

    value = answer["value"]
    columns = ("term", "estimate", "se", "z", "p")
    table = pd.DataFrame({name: value[name] for name in columns}).iloc[first(value["thresholds"]) :]
    width = stats.norm.ppf(0.975) * table["se"]
    terms = ["1" if effect == "(Intercept)" else effect for effect in value["effect"]]
    spread = [
        f"{named_term(term)} by {group} {sd:.4g}"
        for term, group, sd in zip(terms, value["group"], value["sd"], strict=True)
    ]
    table = table.assign(
        formula=formula,
        link=link,
        ci_low=table["estimate"] - width,
        ci_high=table["estimate"] + width,
        thresholds=first(value["thresholds"]),
        n=len(frame),
        criterion=first(value["criterion"]),
        converged=first(value["converged"]),
        sd="; ".join(spread),
        note=" ".join(value["warnings"]) or None,
    )
    table = table.reset_index(drop=True).assign(prompt=None, phenomenon=None, paradigm=None)
    return check(table[TABLES["ordinal_models"].names], "ordinal_models")
