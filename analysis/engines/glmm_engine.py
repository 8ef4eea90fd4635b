"""The engine `glmm`: no R needed; crossed and nested groups, intercepts and correlated slopes."""

import hashlib
import itertools
import math
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pandas as pd

from gardenpath.study import DataError, MissingExtra

from .estimates import (
    Cells,
    Columns,
    ModelEstimate,
    RandomEffectCorrelation,
    RandomEffectSd,
    build_wald_table,
    describe_aliased_terms,
)
from .formulas import Formula, RandomEffects
from .likelihood_peaks import encode_groups, find_other_peaks


def describe_unsupported(formula: Formula) -> str:
    """Return in words which part of the formula glmm does not support, or nothing.

    >>> from .formulas import parse_formula
    >>> describe_unsupported(parse_formula("y ~ x + (0 + x|participant)"))
    'slopes without intercepts, (0 + x|participant)'
    """
    groups = [random.group for random in formula.random]
    fixed = [{*term.split(":")} for term in formula.fixed]
    for random in formula.random:
        if not random.correlated and len(random.terms) > 1:
            return f"uncorrelated random effects, {random}"
        if "1" not in random.terms:
            return f"slopes without intercepts, {random}"
        if unfixed := [term for term in random.slopes if {*term.split(":")} not in fixed]:
            return f"slopes of what is no fixed effect, {', '.join(unfixed)} in {random}"
        if groups.count(random.group) > 1:
            return f"two sets of random effects of one group, {random.group}"
    return "" if formula.random else "models without random effects"


def import_glmm() -> Any:
    """Return glmm; where it cannot be imported, `MissingExtra` says in a line what to do."""
    try:
        import glmm
    except ImportError as error:
        raise MissingExtra(
            f"glmm, which fits the models, cannot be imported ({error}); expected  pip install 'glmm==0.6.2' , or R and "
            'engine = "lme4" under [analysis], which fits all but held-out reading times'
        ) from None
    return glmm


def estimate_model(columns: Columns, formula: Formula, optimizer: str = "", family: str = "gaussian") -> ModelEstimate:
    """Return the model as glmm fits it, at the highest peak of its likelihood; its one optimizer is its own."""
    import numpy as np

    unsupported = describe_unsupported(formula)
    if unsupported:
        raise ValueError(f"formula {str(formula)!r}: engine 'glmm' does not support {unsupported}; engine 'lme4' does")
    data, plain = _add_product_columns(dict(columns), formula)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            fit, peaks = fit_highest_peak(data, plain, family=family)
        except ValueError as error:
            raise ValueError(f"formula {str(formula)!r}: {error}") from None
    out = np.asarray(fit.diagnostics["aliased"], dtype=bool)
    if not (np.isfinite(fit.beta) & (np.isfinite(fit.se) | (family == "gaussian")))[~out].all():
        raise DataError(f"{str(formula)!r} has no estimate: {' '.join(w['message'] for w in fit.warnings)}")
    terms = ["intercept" if name == "(Intercept)" else name.replace(PRODUCT_MARK, ":") for name in fit.names]
    if family == "gaussian":
        low, high = fit.confint().T
        with np.errstate(divide="ignore", invalid="ignore"):
            t = fit.beta / fit.se
        tests = {"df": fit.coef_df, "t": t, "p": fit.coef_p, "ci_low": low, "ci_high": high}
        coefficients = pd.DataFrame({"term": terms, "estimate": fit.beta, "se": fit.se} | tests)
    else:
        coefficients = build_wald_table(terms, fit.beta, fit.se)
    variances, correlations = _extract_random_effects(fit)
    return ModelEstimate(
        coefficients,
        variances,
        residual=float(fit.dispersion) ** 0.5,
        parameters=sum(len(names) * (len(names) + 1) // 2 for _, names in fit.re_groups),
        criterion=-2 * float(fit.loglik),
        converged=bool(fit.converged),
        singular=bool(fit.singular),
        optimizer="glmm",
        family=family,
        notes=(*_collect_notes(fit, [t for t, dropped in zip(terms, out, strict=True) if dropped], raised), *[PEAKS_NOTE] * peaks),
        covariance=pd.DataFrame(np.where(out | out[:, None], np.nan, fit.vcov), index=terms, columns=terms),
        compute_df=lambda weights: _compute_df(fit, weights),
        correlations=correlations,
    )


def _compute_df(fit: Any, weights: Any) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of coefficients; NaN for models whose tests are z tests."""
    if fit.df_method != "satterthwaite":
        return math.nan
    return float(fit.contrast_test(weights)["DenDF"][0])


PEAK_TOLERANCE = 1e-3  # log likelihood by which two peaks differ; optimizers stop within a thousandth of that
LARGE_START_SD, SMALL_START_SD = (2.0, 0.1)  # standard deviations of random effects at which a search starts, over the residual's
COARSE_SEARCH_ROWS = 5_000  # rows from which three groups take a tenth of a second for each start
PEAKS_NOTE = "The likelihood has more than one peak: these data fit different shares of variance; the highest is given."


def fit_highest_peak(columns: Columns, formula: Formula, **options: Any) -> tuple[Any, bool]:
    """Return glmm's fit with the highest likelihood over several starts, and whether some start ended on a lower peak.

    Where readers of one list share its few items, what differs between lists can be the readers' variance or the items',
    and the likelihood may have a peak for each. So, beside glmm's own start, each group in turn starts with large random
    effects and the others with small ones; a model with slopes starts from the highest peak of the one without. Where a
    fit takes long, the model is fitted only from starts from which a coarse search does not come back to the first fit.
    """
    glmm = import_glmm()
    formula = _order_random_effects(columns, formula)
    best = glmm.fit(columns, formula.format_expanded(), **options)
    if len(best.re_groups) < 2:
        return best, False
    quick = {**options, "satterthwaite": False, "anova_test": "Wald"}
    start, peaks = None, [float(best.loglik)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is wrong with the model was said of the first fit
        for theta in _list_starts(columns, formula, best, quick):
            other, theta = fit_from_start(theta, columns, formula, quick)
            if other is not None and other.converged:
                start = theta if other.loglik > max(peaks) + PEAK_TOLERANCE else start
                peaks.append(float(other.loglik))
    if start is not None:
        best = glmm.fit(columns, formula.format_expanded(), warm_start={"theta": start}, **options)
    if not any(random.slopes for random in formula.random):
        _RECENT_PEAKS.append((_build_fit_key(columns, formula, options), _compute_relative_sds(best)))
    return best, max(peaks) - min(peaks) > PEAK_TOLERANCE


def _build_fit_key(columns: Columns, formula: Formula, options: Mapping[str, Any]) -> tuple[object, ...]:
    """Return all that the highest peak of a model follows from, of its cells a digest: those of long tables are not kept."""
    cells = [_digest(columns[name]) for name in formula.column_names if name in columns]
    return cells, formula.fixed, {*formula.random}, options.get("family"), options.get("reml")


def _digest(cells: Cells) -> bytes:
    import numpy as np

    is_text = isinstance(cells[0], str)
    return hashlib.blake2b("\0".join(map(str, cells)).encode() if is_text else np.asarray(cells).tobytes()).digest()


# The last models with intercepts alone, and their peaks: the same with slopes is often fitted next, and starts from there.
_RECENT_PEAKS: deque[tuple[tuple[object, ...], dict[str, float]]] = deque(maxlen=2)


def fit_from_start(theta: list[float], columns: Columns, formula: Formula, options: Mapping[str, Any]) -> tuple[Any, list[float]]:
    """Return the fit from a start, and the start: glmm 0.6.2 sometimes fails after a search (index out of range in its last step)
    and does not from a start close by; None where it fails from there too.
    """
    for factor in (1.0, 1.05):
        moved = [factor * value for value in theta]
        with suppress(ValueError):
            return import_glmm().fit(columns, formula.format_expanded(), warm_start={"theta": moved}, **options), moved
    return None, theta


def _list_starts(columns: Columns, formula: Formula, fit: Any, options: Mapping[str, Any]) -> Iterator[list[float]]:
    """Yield the starts beside glmm's own: lower triangles, column by column, of each group's relative Cholesky factor."""
    groups = [group for group, _ in fit.re_groups]
    if not any(random.slopes for random in formula.random):
        far = [[LARGE_START_SD if group == large else SMALL_START_SD for group in groups] for large in groups]
        coarse = len(groups) > 2 and fit.nobs >= COARSE_SEARCH_ROWS and fit.family == "gaussian"
        ends = (
            find_other_peaks(columns, formula, [_compute_relative_sds(fit)[group] for group in groups], far, reml=fit.reml)
            if coarse
            else None
        )
        yield from far if ends is None else ends
        return
    intercepts_only = formula.replace_random(replace(random, terms=("1",)) for random in formula.random)
    fit_key = _build_fit_key(columns, intercepts_only, options)
    spread = next((known for question, known in _RECENT_PEAKS if question == fit_key), None)
    spread = spread or _compute_relative_sds(fit_highest_peak(columns, intercepts_only, **options)[0])
    if set(spread) != set(groups):
        return
    yield [
        value
        for group, names in fit.re_groups
        for row, name in enumerate(names)
        for value in (
            float(spread[group]) if row == 0 else 2 * SMALL_START_SD / _compute_scale(columns.get(name)),
            *[0.0] * (len(names) - row - 1),
        )
    ]


def _compute_relative_sds(fit: Any) -> dict[str, float]:
    """Return the standard deviations of random intercepts over the residual's, by group."""
    return {group: fit.stddev_corr(k)[0][0] / fit.dispersion**0.5 for k, (group, _) in enumerate(fit.re_groups)}


def _compute_scale(cells: Cells | None) -> float:
    """Return the standard deviation of a slope's predictor, 1 for a level of a factor."""
    import numpy as np

    return float(np.std(cells)) or 1.0 if cells is not None and not isinstance(cells[0], str) else 1.0


def _order_random_effects(columns: Columns, formula: Formula) -> Formula:
    """Return the formula with its random effects in the order in which glmm is fastest.

    The first group is solved for apart from the others. With slopes it is best the one with the most effects, at a tenth of the
    time where it has thousands of levels. Of intercepts glmm takes the group with the most levels by itself; the others
    take half the time on the demo where one in which that group is nested, as tokens in items, comes before those that cross
    it; with many more items than participants a third more.
    """

    if any(random.slopes for random in formula.random):
        return formula.replace_random(sorted(formula.random, key=lambda r: -len(r.terms) * _count_levels(columns, r.group)))
    if len(formula.random) < 3:
        return formula
    counts = {random.group: _count_levels(columns, random.group) for random in formula.random}
    most = max(counts, key=lambda group: counts[group])
    others = [random.group for random in formula.random if random.group != most]
    first = {group for group in others if _count_levels(columns, f"{most}:{group}") == counts[most]}
    return formula.replace_random(sorted(formula.random, key=lambda random: random.group not in first))


def _count_levels(columns: Columns, group: str) -> int:
    return int(encode_groups(columns, group).max()) + 1


PRODUCT_MARK = "__times__"


def _add_product_columns(columns: dict[str, Any], formula: Formula) -> tuple[dict[str, Any], Formula]:
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
        columns[product.replace(":", PRODUCT_MARK)] = [math.prod(row) for row in zip(*factors, strict=True)]
    random = [RandomEffects(tuple(t.replace(":", PRODUCT_MARK) for t in r.terms), r.group, r.correlated) for r in formula.random]
    fixed = tuple(term.replace(":", PRODUCT_MARK) for term in formula.fixed)
    return columns, replace(formula, fixed=fixed, random=tuple(random), text="")


def _extract_random_effects(fit: Any) -> tuple[tuple[RandomEffectSd, ...], tuple[RandomEffectCorrelation, ...]]:
    import numpy as np

    variances, correlations = [], []
    for group_index, (group, names) in enumerate(fit.re_groups):
        terms = ["1" if name == "(Intercept)" else name.replace(PRODUCT_MARK, ":") for name in names]
        with np.errstate(invalid="ignore", divide="ignore"):  # correlations with a variance of zero
            deviations, matrix = fit.stddev_corr(group_index)
        variances += [RandomEffectSd(group, term, float(sd)) for term, sd in zip(terms, deviations, strict=True)]
        pairs = itertools.combinations(range(len(terms)), 2)
        correlations += [RandomEffectCorrelation(group, terms[a], terms[b], float(matrix[a, b])) for a, b in pairs]
    return tuple(variances), tuple(correlations)


def _collect_notes(fit: Any, dropped: Sequence[str], raised: Sequence[warnings.WarningMessage]) -> tuple[str, ...]:
    notes = [describe_aliased_terms(dropped)] if dropped else []
    by_kind = {w["kind"]: f"{w['title']}: {w['message']}" for w in fit.warnings}
    notes += [text for kind, text in by_kind.items() if kind not in ("singular", "aliased")]
    # The engine's structured warnings are raised a second time as Python's; what is left is from elsewhere.
    return (*notes, *(str(w.message) for w in raised if not issubclass(w.category, import_glmm().DiagnosticWarning)))
