"""The engine `lme4`: R's lmer with lmerTest's degrees of freedom, through pymer4, and glmer; every form of random effects."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from . import r_session
from .estimates import Columns, Estimated, Variance, aliased, wald, without_freedom
from .formulas import Formula
from .r_session import first

DEFAULT = "nloptwrap"
OPTIMIZERS = (DEFAULT, "bobyqa", "Nelder_Mead", "nloptwrap:NLOPT_LN_NELDERMEAD")
FIRST = {"gaussian": DEFAULT, "binomial": "bobyqa"}  # lmer's own, and the first of glmer's two
# lme4's allFit: when optimizers agree to so much deviance and so many SE, a convergence warning is a false alarm.
SAME_CRITERION, SAME_ESTIMATE = 1e-3, 1e-3


def lacks(formula: Formula) -> str:
    """Return in words which part of the formula lme4 does not support: only models without random effects."""
    return "" if formula.random else "models without random effects"


def estimate(columns: Columns, formula: Formula, optimizer: str = "", family: str = "gaussian") -> Estimated:
    """Return the model as lme4 fits it; other optimizers are tried when it does not converge, not when it is singular.

    With an `optimizer`, that one alone is used.
    """
    if lacks(formula):
        raise ValueError(f"formula {str(formula)!r}: engine 'lme4' does not support {lacks(formula)}")
    usual = FIRST[family]
    default = _once(columns, formula, optimizer or usual, family)
    if optimizer or default.converged or default.singular:
        return default
    tried = [default, *(_once(columns, formula, other, family) for other in OPTIMIZERS if other != usual)]
    good = next((fit for fit in tried if fit.converged), None)
    if good is not None:
        return replace(good, notes=(*good.notes, f"{usual} did not converge; {good.optimizer} did."))
    best = min(tried, key=lambda fit: fit.criterion)
    if _agree(tried, best):
        note = (
            f"{len(tried)} optimizers warn of convergence, yet agree to {SAME_CRITERION:g} in deviance and estimates."
        )
        return replace(best, converged=True, notes=(*best.notes, note))
    return replace(best, notes=(*best.notes, f"None of {len(tried)} optimizers converged, and they do not agree."))


def _agree(tried: list[Estimated], best: Estimated) -> bool:
    reference = best.coefficients
    for fit in tried:
        apart = (fit.coefficients["estimate"] - reference["estimate"]).abs() / reference["se"]
        if fit.criterion - best.criterion > SAME_CRITERION or (apart > SAME_ESTIMATE).any():
            return False
    return True


def _once(columns: Columns, formula: Formula, optimizer: str, family: str) -> Estimated:
    answer = r_session.ask("model", columns, str(formula), optimizer=optimizer, family=family)
    value = answer["value"]
    singular = bool(first(value["singular"]))
    warned = [text for text in value["messages"] if "singular" not in text]
    known = ("singular", "rank deficient", *warned)
    notes = [text for text in answer["console"] if not any(part in text for part in known)]
    dropped = [_term(name) for name in value["dropped"]]
    # R puts the columns of an interaction in the order in which it meets them: b:a may come back as a:b.
    spelled = {frozenset(term.split(":")): term for random in formula.random for term in random.terms}
    return Estimated(
        _coefficients(value, dropped),
        tuple(
            Variance(group, "1" if effect == "(Intercept)" else spelled.get(frozenset(effect.split(":")), effect), sd)
            for group, effect, sd in zip(map(_group, value["group"]), value["effect"], value["sd"], strict=True)
        ),
        residual=first(value["residual"]),
        parameters=first(value["parameters"]),
        criterion=first(value["criterion"]),
        converged=first(value["code"]) == 0 and not warned,
        singular=singular,
        optimizer=optimizer,
        family=family,
        notes=tuple([aliased(dropped)] * bool(dropped) + warned + notes),
        covariance=_covariance(value, dropped),
        freedom=partial(_freedom, value) if value["df"] else without_freedom,
    )


def _covariance(value: dict[str, Any], dropped: list[str]) -> pd.DataFrame:
    """Return the covariance of the fixed effects, empty for those that were dropped."""
    terms = [_term(name) for name in value["term"]]
    kept = pd.DataFrame(_square(value["covariance"]), index=terms, columns=terms)
    return kept.reindex(index=[*terms, *dropped], columns=[*terms, *dropped])


def _freedom(value: dict[str, Any], weights: Any) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of coefficients, as lmerTest's contest1D computes them."""
    import numpy as np

    kept = np.asarray(weights)[: len(value["term"])]
    variance = kept @ _square(value["covariance"]) @ kept
    gradient = np.array([kept @ _square(slope) @ kept for slope in value["gradients"].values()])
    return float(2 * variance**2 / (gradient @ _square(value["parameter_covariance"]) @ gradient))


def _square(values: list[float]) -> Any:
    """Return a square matrix of R's values, column by column."""
    import numpy as np

    size = math.isqrt(len(values))
    return np.reshape(values, (size, size), order="F")


def _coefficients(value: dict[str, Any], dropped: list[str]) -> pd.DataFrame:
    from scipy import stats

    table = wald([_term(name) for name in value["term"]], value["estimate"], value["se"])
    if value["df"]:
        width = stats.t.ppf(0.975, value["df"]) * table["se"]
        tested = {name: value[name] for name in ("df", "t", "p")}
        table = table.assign(**tested, ci_low=table["estimate"] - width, ci_high=table["estimate"] + width)
    return pd.concat([table, pd.DataFrame({"term": dropped})], ignore_index=True) if dropped else table


def _term(name: str) -> str:
    return "intercept" if name == "(Intercept)" else name


def _group(name: str) -> str:
    """Return the group without the number that lme4 adds where `||` gave it several sets of effects."""
    base, _, number = name.rpartition(".")
    return base if base and number.isdigit() else name
