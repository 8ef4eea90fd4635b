"""Ratings as ordered categories: the cumulative-link mixed model of R's package ordinal."""

from collections.abc import Mapping

import pandas as pd

from gardenpath.study import check

from . import rsession
from .coding import Coding, coded
from .estimates import named_term
from .formulas import parse
from .mixed import columns_of
from .rsession import first

LINKS = ("probit", "logit", "cloglog")


def cumulative(
    frame: pd.DataFrame, formula: str, *, link: str = "probit", contrasts: Mapping[str, Coding] | None = None
) -> pd.DataFrame:
    """Return the table ordinal_models: the fixed effects of `ordinal::clmm` on the latent scale, whose s.d. is 1 by probit.

    The response's numbers are categories in their order, so no distance between them is assumed (Liddell & Kruschke 2018,
    doi 10.1016/j.jesp.2018.08.009). Tests and intervals are Wald's. Needs R with the package ordinal.

    ```
    cumulative(ratings, "rating ~ grammaticality + (1|participant) + (1|item)")
    ```
    """
    if link not in LINKS:
        raise ValueError(f"link {link!r} is not known; expected one of {', '.join(LINKS)}")
    given = coded(frame, parse(formula), contrasts or {})
    parted = [random for random in given.formula.random if not random.correlated and len(random.terms) > 1]
    if parted or not given.formula.random:
        what = (
            f"no uncorrelated random effects, {parted[0]}"
            if parted
            else "need of random effects, such as (1|participant)"
        )
        raise ValueError(f"formula {str(given.formula)!r}: ordinal::clmm has {what}")
    columns = columns_of(given.frame, given.formula)
    answer = rsession.ask(
        "cumulative", columns, str(given.formula), needs=("ordinal",), response=given.formula.response, link=link
    )
    return _tabled(answer, frame, str(given.formula), link)


def _tabled(answer: Mapping[str, dict], frame: pd.DataFrame, formula: str, link: str) -> pd.DataFrame:
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
        note=" ".join(value["told"]) or None,
    )
    return check(table.reset_index(drop=True), "ordinal_models")
