"""Cumulative-link mixed models by R's ordinal::clmm: crossed groups, correlated or uncorrelated slopes."""

from dataclasses import replace

import pandas as pd

from . import r_session
from .estimates import Columns, Estimated, Variance, wald
from .formulas import Formula, Random
from .r_session import first

INTERCEPT = "(Intercept)"


def lacks(formula: Formula) -> str:
    """Return in words which part of the formula clmm does not support: only models without random effects.

    >>> from .formulas import parse
    >>> lacks(parse("rating ~ x")), lacks(parse("rating ~ x + (1 + x||participant)"))
    ('models without random effects, such as (1|participant)', '')
    """
    return "" if formula.random else "models without random effects, such as (1|participant)"


def estimate(columns: Columns, formula: Formula, link: str) -> Estimated:
    """Return the model as clmm fits it, without the thresholds; their noise has s.d. 1 by probit.

    Maximum likelihood by Laplace's approximation, tests after Wald. A random effect whose s.d. is nothing, or that another one
    tells, makes the fit singular.
    """
    if lacks(formula):
        raise ValueError(f"formula {str(formula)!r}: ordinal::clmm does not support {lacks(formula)}")
    answer = r_session.ask(
        "cumulative", columns, apart(formula).plain(), needs=("ordinal",), response=formula.response, link=link
    )
    value = answer["value"]
    thresholds = first(value["thresholds"])
    terms = value["term"][thresholds:]
    fixed = wald(terms, value["estimate"][thresholds:], value["se"][thresholds:])
    covariance = pd.Series(value["covariance"]).to_numpy().reshape(len(terms), len(terms))
    return Estimated(
        fixed,
        tuple(
            Variance(group, "1" if effect == INTERCEPT else effect, sd)
            for group, effect, sd in zip(value["group"], value["effect"], value["sd"], strict=True)
        ),
        residual=1.0,
        parameters=first(value["parameters"]),
        criterion=first(value["criterion"]),
        converged=first(value["converged"]) and bool(fixed["se"].notna().all()),
        singular=first(value["singular"]),
        optimizer="ucminf",
        notes=tuple(value["warnings"]),
        covariance=pd.DataFrame(covariance, index=terms, columns=terms),
        family="ordinal",
    )


def apart(formula: Formula) -> Formula:
    """Return the formula with uncorrelated random effects as sets of their own, since clmm does not know ||.

    >>> from .formulas import parse
    >>> apart(parse("rating ~ x + (1 + x||participant) + (1|item)")).plain()
    'rating ~ x + (1|participant) + (0 + x|participant) + (1|item)'
    """

    def parts(random: Random) -> list[Random]:
        alone = random.correlated or len(random.terms) == 1
        return [random] if alone else [replace(random, terms=(term,), correlated=True) for term in random.terms]

    return formula.with_random(part for random in formula.random for part in parts(random))
