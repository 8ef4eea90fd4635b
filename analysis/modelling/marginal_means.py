"""Contrasts between the levels of a factor: simple effects of any fitted model, and at the means of everything else by emmeans."""

import itertools
from collections.abc import Sequence

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..engines import r_session
from ..engines.estimates import ModelEstimate
from ..engines.formulas import parse_formula
from ..engines.lme4_engine import DEFAULT_OPTIMIZER
from ..intervals import holm
from .coding import Coded
from .mixed_models import columns_of

ADJUSTMENTS = ("none", "holm", "bonferroni", "tukey", "sidak", "fdr")


def marginal_contrasts(
    frame: pd.DataFrame, formula: str, of: str, *, by: Sequence[str] = (), method: str = "pairwise", adjust: str = "holm"
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
    parsed = parse_formula(formula)
    columns = columns_of(frame, parsed)
    fixed = {name for term in parsed.fixed for name in term.split(":")}
    numeric = [name for name in (of, *by) if name not in fixed or not isinstance(columns[name][0], str)]
    if numeric:
        raise DataError(f"formula {formula!r}: {', '.join(numeric)} is no factor among its fixed effects; expected text")
    answer = r_session.ask_r(
        "marginal", columns, formula, optimizer=DEFAULT_OPTIMIZER, of=of, by=list(by), method=method, adjust=adjust
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
    return check(table[TABLES["marginal_contrasts"].column_names], "marginal_contrasts")


METHOD = "contrast of the fitted model"  # no refit to a part of the data


def simple_effects(estimated: ModelEstimate, design: Coded) -> pd.DataFrame:
    """Return the differences between the levels of each factor at each combination of levels of those it interacts with.

    A level minus the one before it, in units of the linear predictor; factors that it does not interact with are averaged over,
    numeric predictors at zero. They are contrasts of the fitted model, tested by its own covariance and degrees of freedom, as
    emmeans does; `p_holm` is adjusted over the simple effects of one factor. Of log reading times, `ms` is the difference of
    exponentiated predictions. None for a factor that interacts with nothing, or with text that has no contrasts.
    """
    terms = estimated.coefficients["term"].to_list()
    levels = {factor: list(by) for factor, by in design.codes.values()}
    in_ms = design.formula.response == "log_rt"
    rows: list[pd.DataFrame] = []
    for factor in levels:
        others = _interacting(factor, terms, design)
        effects = []
        for combined in itertools.product(*(levels[other] for other in others)):
            at = dict(zip(others, combined, strict=True))
            for before, after in itertools.pairwise(levels[factor]):
                upper, lower = (design.cell(terms, {**at, factor: level}) for level in (after, before))
                row = estimated.combine_effects({term: upper[term] - lower[term] for term in terms})
                ends = estimated.compute_exp_difference(upper, lower) if in_ms else [float("nan")] * 3
                row |= dict(zip(("ms", "ms_low", "ms_high"), ends, strict=True))
                where = ", ".join(f"{other} {level}" for other, level in at.items())
                effects.append({"factor": factor, "within": where, "contrast": f"{after} minus {before}", **row})
        if others:
            part = pd.DataFrame(effects)
            rows.append(part.assign(p_holm=holm(part["p"]), adjustment=f"Holm over {len(part)} simple effects of {factor}"))
    if not rows:
        return pd.DataFrame()
    table = pd.concat(rows, ignore_index=True)
    tests = table["df"].notna().map({True: "Satterthwaite", False: "z test"})
    return table.assign(method=f"{METHOD}, " + tests)


def _interacting(factor: str, terms: Sequence[str], design: Coded) -> list[str]:
    """Return the factors with which a factor interacts; none where one of them has no contrasts of ours."""
    found: dict[str, None] = {}
    for parts in (term.split(":") for term in terms):
        of = [design.codes[part][0] if part in design.codes else None for part in parts]
        if factor not in of:
            continue
        if any(part not in design.codes and part not in design.frame for part in parts):
            return []
        found |= dict.fromkeys(name for name in of if name is not None and name != factor)
    return list(found)
