"""The engine `glmm`: no R needed; crossed and nested groups, intercepts and correlated slopes."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from gardenpath.study import DataError

from .estimates import Columns, Estimated, Variance, aliased
from .formulas import Formula, Random


def lacks(formula: Formula) -> str:
    """Return in words what the formula has that glmm has not, or nothing.

    >>> from .formulas import parse
    >>> lacks(parse("y ~ x + (0 + x|participant)"))
    'slopes without intercepts, (0 + x|participant)'
    """
    groups = [random.group for random in formula.random]
    for random in formula.random:
        if not random.correlated and len(random.terms) > 1:
            return f"uncorrelated random effects, {random}"
        if "1" not in random.terms:
            return f"slopes without intercepts, {random}"
        if groups.count(random.group) > 1:
            return f"two sets of random effects of one group, {random.group}"
    return "" if formula.random else "models without random effects"


def estimate(columns: Columns, formula: Formula, optimizer: str = "") -> Estimated:
    """Return the model as glmm fits it; its one optimizer is its own."""
    import glmm
    import numpy as np

    lacking = lacks(formula)
    if lacking:
        raise ValueError(f"formula {str(formula)!r}: engine 'glmm' has no {lacking}; engine 'lme4' has")
    given, plain = _multiplied(dict(columns), formula)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            found = glmm.fit(given, plain.plain())
        except ValueError as error:
            raise ValueError(f"formula {str(formula)!r}: {error}") from None
        interval = found.confint()
    out = np.asarray(found.diagnostics["aliased"], dtype=bool)
    if not np.isfinite(np.asarray(found.beta)[~out]).all():
        raise DataError(f"{str(formula)!r} has no estimate: {' '.join(w['message'] for w in found.warnings)}")
    terms = ["intercept" if name == "(Intercept)" else name.replace(TIMES, ":") for name in found.names]
    coefficients = pd.DataFrame(
        {
            "term": terms,
            "estimate": found.beta,
            "se": found.se,
            "df": found.coef_df,
            "t": np.asarray(found.beta) / np.asarray(found.se),
            "p": found.coef_p,
            "ci_low": interval[:, 0],
            "ci_high": interval[:, 1],
        }
    )
    variances = _variances(found)
    return Estimated(
        coefficients,
        variances,
        residual=float(found.dispersion) ** 0.5,
        parameters=sum(len(names) * (len(names) + 1) // 2 for _, names in found.re_groups),
        criterion=-2 * float(found.loglik),
        converged=bool(found.converged),
        singular=bool(found.singular),
        optimizer="glmm",
        notes=_notes(found, [t for t, dropped in zip(terms, out, strict=True) if dropped], raised),
    )


TIMES = "__times__"


def _multiplied(columns: dict[str, Any], formula: Formula) -> tuple[dict[str, Any], Formula]:
    """Give each interaction a column of its own: glmm takes none among random effects."""
    if not any(":" in term for random in formula.random for term in random.terms):
        return columns, formula
    products = {term for term in (*formula.fixed, *(t for r in formula.random for t in r.terms)) if ":" in term}
    for product in sorted(products):
        factors = [columns[name] for name in product.split(":")]
        text = [name for name, cells in zip(product.split(":"), factors, strict=True) if isinstance(cells[0], str)]
        if text:
            raise ValueError(
                f"formula {str(formula)!r}: {product} has the factor {text[0]}; name its contrasts, as in "
                f"contrasts={{{text[0]!r}: 'sum'}}"
            )
        columns[product.replace(":", TIMES)] = [math.prod(row) for row in zip(*factors, strict=True)]
    random = [Random(tuple(t.replace(":", TIMES) for t in r.terms), r.group, r.correlated) for r in formula.random]
    fixed = tuple(term.replace(":", TIMES) for term in formula.fixed)
    return columns, replace(formula, fixed=fixed, random=tuple(random), text="")


def _variances(found: Any) -> tuple[Variance, ...]:
    import numpy as np

    variances = []
    for place, (group, names) in enumerate(found.re_groups):
        with np.errstate(invalid="ignore", divide="ignore"):  # correlations with a variance of zero
            deviations, _ = found.stddev_corr(place)
        for name, deviation in zip(names, deviations, strict=True):
            variances.append(
                Variance(group, "1" if name == "(Intercept)" else name.replace(TIMES, ":"), float(deviation))
            )
    return tuple(variances)


def _notes(found: Any, dropped: Sequence[str], raised: Sequence[warnings.WarningMessage]) -> tuple[str, ...]:
    notes = [aliased(dropped)] if dropped else []
    own = {w["kind"]: f"{w['title']}: {w['message']}" for w in found.warnings}
    notes += [text for kind, text in own.items() if kind not in ("singular", "aliased")]
    # The engine's structured warnings are raised a second time as Python's; what is left is from elsewhere.
    told = [w["message"] for w in found.warnings]
    return (*notes, *(str(w.message) for w in raised if not any(message in str(w.message) for message in told)))
