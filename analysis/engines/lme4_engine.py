"""The engine `lme4`: R's lmer with lmerTest's degrees of freedom, through pymer4, and glmer; every form of random effects."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from . import r_session
from .estimates import (
    CORRELATION_KEYS,
    Columns,
    ModelEstimate,
    RandomEffectCorrelation,
    RandomEffectSd,
    build_wald_table,
    describe_aliased_terms,
    return_no_df,
)
from .formulas import Formula
from .r_session import get_single_value

DEFAULT_OPTIMIZER = "nloptwrap"
OPTIMIZERS = (DEFAULT_OPTIMIZER, "bobyqa", "Nelder_Mead", "nloptwrap:NLOPT_LN_NELDERMEAD")
FIRST_OPTIMIZERS = {"gaussian": DEFAULT_OPTIMIZER, "binomial": "bobyqa"}  # lmer's own, and the first of glmer's two
# lme4's allFit: when optimizers agree to so much deviance and so many SE, a convergence warning is a false alarm.
CRITERION_TOLERANCE, ESTIMATE_TOLERANCE = 1e-3, 1e-3


def describe_unsupported(formula: Formula) -> str:
    """Return in words which part of the formula lme4 does not support: only models without random effects."""
    return "" if formula.random else "models without random effects"


def estimate_model(columns: Columns, formula: Formula, optimizer: str = "", family: str = "gaussian") -> ModelEstimate:
    """Return the model as lme4 fits it; other optimizers are tried when it does not converge, not when it is singular.

    With an `optimizer`, that one alone is used.
    """
    if describe_unsupported(formula):
        raise ValueError(f"formula {str(formula)!r}: engine 'lme4' does not support {describe_unsupported(formula)}")
    usual = FIRST_OPTIMIZERS[family]
    default = _fit_once(columns, formula, optimizer or usual, family)
    if optimizer or default.converged or default.singular:
        return default
    tried = [default, *(_fit_once(columns, formula, other, family) for other in OPTIMIZERS if other != usual)]
    good = next((fit for fit in tried if fit.converged), None)
    if good is not None:
        return replace(good, notes=(*good.notes, f"{usual} did not converge; {good.optimizer} did."))
    best = min(tried, key=lambda fit: fit.criterion)
    if _is_same_optimum(tried, best):
        note = f"{len(tried)} optimizers warn of convergence, yet agree to {CRITERION_TOLERANCE:g} in deviance and estimates."
        return replace(best, converged=True, notes=(*best.notes, note))
    return replace(best, notes=(*best.notes, f"None of {len(tried)} optimizers converged, and they do not agree."))


def _is_same_optimum(tried: list[ModelEstimate], best: ModelEstimate) -> bool:
    reference = best.coefficients
    for fit in tried:
        distances = (fit.coefficients["estimate"] - reference["estimate"]).abs() / reference["se"]
        if fit.criterion - best.criterion > CRITERION_TOLERANCE or (distances > ESTIMATE_TOLERANCE).any():
            return False
    return True


def _fit_once(columns: Columns, formula: Formula, optimizer: str, family: str) -> ModelEstimate:
    reply = r_session.ask_r("model", columns, str(formula), optimizer=optimizer, family=family)
    value = reply["value"]
    singular = bool(get_single_value(value["singular"]))
    warned = [text for text in value["messages"] if "singular" not in text]
    known = ("singular", "rank deficient", *warned)
    notes = [text for text in reply["console"] if not any(part in text for part in known)]
    dropped = [_get_term_name(name) for name in value["dropped"]]
    # R puts the columns of an interaction in the order in which it meets them: b:a may come back as a:b.
    spelled = {frozenset(term.split(":")): term for random in formula.random for term in random.terms}

    def name(effect: str) -> str:
        return "1" if effect == "(Intercept)" else spelled.get(frozenset(effect.split(":")), effect)

    return ModelEstimate(
        _build_coefficients(value, dropped),
        tuple(
            RandomEffectSd(_get_group_name(group), name(effect), sd)
            for group, effect, sd in zip(value["group"], value["effect"], value["sd"], strict=True)
        ),
        correlations=tuple(
            RandomEffectCorrelation(_get_group_name(group), name(first), name(second), correlation)
            for group, first, second, correlation in zip(*(value[key] for key in CORRELATION_KEYS), strict=True)
        ),
        residual=get_single_value(value["residual"]),
        parameters=get_single_value(value["parameters"]),
        criterion=get_single_value(value["criterion"]),
        converged=get_single_value(value["code"]) == 0 and not warned,
        singular=singular,
        optimizer=optimizer,
        family=family,
        notes=tuple([describe_aliased_terms(dropped)] * bool(dropped) + warned + notes),
        covariance=_build_covariance(value, dropped),
        compute_df=partial(_compute_df, value) if value["df"] else return_no_df,
    )


def _build_covariance(value: dict[str, Any], dropped: list[str]) -> pd.DataFrame:
    """Return the covariance of the fixed effects, empty for those that were dropped."""
    terms = [_get_term_name(name) for name in value["term"]]
    kept = pd.DataFrame(_build_square_matrix(value["covariance"]), index=terms, columns=terms)
    return kept.reindex(index=[*terms, *dropped], columns=[*terms, *dropped])


def _compute_df(value: dict[str, Any], weights: Any) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of coefficients, as lmerTest's contest1D computes them."""
    import numpy as np

    kept = np.asarray(weights)[: len(value["term"])]
    variance = kept @ _build_square_matrix(value["covariance"]) @ kept
    gradient = np.array([kept @ _build_square_matrix(slope) @ kept for slope in value["gradients"].values()])
    return float(2 * variance**2 / (gradient @ _build_square_matrix(value["parameter_covariance"]) @ gradient))


def _build_square_matrix(values: list[float]) -> Any:
    """Return a square matrix of R's values, column by column."""
    import numpy as np

    size = math.isqrt(len(values))
    return np.reshape(values, (size, size), order="F")


def _build_coefficients(value: dict[str, Any], dropped: list[str]) -> pd.DataFrame:
    from scipy import stats

    table = build_wald_table([_get_term_name(name) for name in value["term"]], value["estimate"], value["se"])
    if value["df"]:
        width = stats.t.ppf(0.975, value["df"]) * table["se"]
        tested = {name: value[name] for name in ("df", "t", "p")}
        table = table.assign(**tested, ci_low=table["estimate"] - width, ci_high=table["estimate"] + width)
    return pd.concat([table, pd.DataFrame({"term": dropped})], ignore_index=True) if dropped else table


def _get_term_name(name: str) -> str:
    return "intercept" if name == "(Intercept)" else name


def _get_group_name(name: str) -> str:
    """Return the group without the number that lme4 adds where `||` gave it several sets of effects."""
    base, _, number = name.rpartition(".")
    return base if base and number.isdigit() else name
