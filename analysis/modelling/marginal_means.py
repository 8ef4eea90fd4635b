"""Contrasts between the levels of a factor at the means of everything else, by R's emmeans."""

from collections.abc import Sequence

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..engines import r_session
from ..engines.formulas import parse
from ..engines.lme4_engine import DEFAULT
from .mixed_models import columns_of

ADJUSTMENTS = ("none", "holm", "bonferroni", "tukey", "sidak", "fdr")


def marginal_contrasts(
    frame: pd.DataFrame,
    formula: str,
    of: str,
    *,
    by: Sequence[str] = (),
    method: str = "pairwise",
    adjust: str = "holm",
) -> pd.DataFrame:
    """Return the table marginal_contrasts: differences between levels of the factor `of`, at each level of `by`.

    The model is lme4's; degrees of freedom after Satterthwaite however many rows there are, where emmeans itself passes
    to z tests above 3000. `p` is adjusted over the contrasts of one level of `by`, the interval is not. `method` is one of
    emmeans' names, such as pairwise, consec or trt.vs.ctrl. Differences are in units of the response. A numeric
    column in place of a factor is a `DataError`, an unknown adjustment a `ValueError`. Needs R, else
    `MissingExtra` says what to install.

    >>> times = pd.DataFrame({"log_rt": [5.9, 6.1, 6.0, 6.3], "size": [1.0, 2, 1, 2], "participant": ["P1", "P1", "P2", "P2"]})
    >>> marginal_contrasts(times, "log_rt ~ size + (1|participant)", "size")
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: formula 'log_rt ~ size + (1|participant)': size is no factor among ...
    """
    from scipy import stats

    if adjust not in ADJUSTMENTS:
        raise ValueError(f"adjust {adjust!r} is not known; expected one of {', '.join(ADJUSTMENTS)}")
    parsed = parse(formula)
    columns = columns_of(frame, parsed)
    fixed = {name for term in parsed.fixed for name in term.split(":")}
    numeric = [name for name in (of, *by) if name not in fixed or not isinstance(columns[name][0], str)]
    if numeric:
        raise DataError(
            f"formula {formula!r}: {', '.join(numeric)} is no factor among its fixed effects; expected text"
        )
    answer = r_session.ask(
        "marginal", columns, formula, optimizer=DEFAULT, of=of, by=list(by), method=method, adjust=adjust
    )
    contrasts = pd.DataFrame(answer["value"]).rename(columns={"SE": "se", "t_ratio": "t", "p_value": "p"})
    width = stats.t.ppf(0.975, contrasts["df"]) * contrasts["se"]
    at = ["; ".join(f"{name} {row[name]}" for name in by) or "all" for row in contrasts.to_dict("records")]
    table = contrasts.assign(
        formula=formula,
        factor=of,
        within=at,
        ci_low=contrasts["estimate"] - width,
        ci_high=contrasts["estimate"] + width,
        adjustment=adjust,
    )
    return check(table[TABLES["marginal_contrasts"].names], "marginal_contrasts")
