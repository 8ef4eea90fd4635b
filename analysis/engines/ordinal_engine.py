"""Cumulative-link mixed models by R's ordinal::clmm: crossed groups, correlated or uncorrelated slopes."""

from dataclasses import replace

import pandas as pd

from . import r_session
from .estimates import CORRELATION_KEYS, Columns, ModelEstimate, RandomEffectCorrelation, RandomEffectSd, build_wald_table
from .formulas import Formula, RandomEffects
from .r_session import get_single_value

INTERCEPT = "(Intercept)"


def describe_unsupported(formula: Formula) -> str:
    """Return in words which part of the formula clmm does not support: only models without random effects.

    >>> from .formulas import parse_formula
    >>> describe_unsupported(parse_formula("rating ~ x")), describe_unsupported(parse_formula("rating ~ x + (1 + x||participant)"))
    ('models without random effects, such as (1|participant)', '')
    """
    return "" if formula.random else "models without random effects, such as (1|participant)"


def estimate_model(columns: Columns, formula: Formula, link: str) -> ModelEstimate:
    """Return the model as clmm fits it, without the thresholds; their noise has s.d. 1 by probit.

    Maximum likelihood by Laplace's approximation, tests after Wald. A random effect whose s.d. is nothing, or that another one
    tells, makes the fit singular.
    """
    if describe_unsupported(formula):
        raise ValueError(f"formula {str(formula)!r}: ordinal::clmm does not support {describe_unsupported(formula)}")
    reply = r_session.ask_r(
        "cumulative",
        columns,
        split_uncorrelated_effects(formula).format_expanded(),
        needs=("ordinal",),
        response=formula.response,
        link=link,
    )
    value = reply["value"]
    thresholds = get_single_value(value["thresholds"])
    terms = value["term"][thresholds:]
    fixed = build_wald_table(terms, value["estimate"][thresholds:], value["se"][thresholds:])
    covariance = pd.Series(value["covariance"]).to_numpy().reshape(len(terms), len(terms))
    return ModelEstimate(
        fixed,
        tuple(
            RandomEffectSd(group, "1" if effect == INTERCEPT else effect, sd)
            for group, effect, sd in zip(value["group"], value["effect"], value["sd"], strict=True)
        ),
        correlations=tuple(
            RandomEffectCorrelation(group, first.replace(INTERCEPT, "1"), second.replace(INTERCEPT, "1"), correlation)
            for group, first, second, correlation in zip(*(value[key] for key in CORRELATION_KEYS), strict=True)
        ),
        residual=1.0,
        parameters=get_single_value(value["parameters"]),
        criterion=get_single_value(value["criterion"]),
        converged=get_single_value(value["converged"]) and bool(fixed["se"].notna().all()),
        singular=get_single_value(value["singular"]),
        optimizer="ucminf",
        notes=tuple(value["warnings"]),
        covariance=pd.DataFrame(covariance, index=terms, columns=terms),
        family="ordinal",
    )


def split_uncorrelated_effects(formula: Formula) -> Formula:
    """Return the formula with uncorrelated random effects as sets of their own, since clmm does not know ||.

    >>> from .formulas import parse_formula
    >>> split_uncorrelated_effects(parse_formula("rating ~ x + (1 + x||participant) + (1|item)")).format_expanded()
    'rating ~ x + (1|participant) + (0 + x|participant) + (1|item)'
    """

    def split_terms(random: RandomEffects) -> list[RandomEffects]:
        alone = random.correlated or len(random.terms) == 1
        return [random] if alone else [replace(random, terms=(term,), correlated=True) for term in random.terms]

    return formula.replace_random(part for random in formula.random for part in split_terms(random))
