"""Ratings as ordered categories: the cumulative-link mixed model of R's package ordinal."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from gardenpath.study import TABLES, DataError, ModelSection, check

from ..engines import ordinal_engine
from ..engines.estimates import Columns, describe_singularity
from ..engines.formulas import Formula, parse_formula
from .coding import Coded, Coding, coded
from .factorial import contrast_codes, rating_models
from .grammaticality import TERM
from .mixed_models import columns_of, numeric_slopes
from .policies import NotFitted, Search, Steps, declared, maximal, parsimonious, steps_table, widest

LINKS = ("probit", "logit", "cloglog")
CATEGORIES = range(3, 12)  # what counts as points of a scale; two are no order, a slider has no points
FORMULA = f"rating ~ {TERM} + (1 + {TERM}|participant) + (1 + {TERM}|item)"
CHOICES = {"declared": declared, "maximal": maximal, "parsimonious": parsimonious}
KEPT = {"declared": "the model is kept as declared"}  # of a singular fit, by policy
LEFT = "no slope without variance is left to leave out"


@dataclass(frozen=True)
class _Fitted:
    """A fitted model: its rows of ordinal_models, the fits on the way, and its factors as columns of contrasts."""

    effects: pd.DataFrame
    steps: Steps
    design: Coded


def ordinal_models(rows: pd.DataFrame, *, policy: str = "declared") -> dict[str, pd.DataFrame]:
    """Return ordinal_models and model_steps, by name: the rating by grammaticality, for each prompt, phenomenon and paradigm.

    `rating ~ grammaticality + (1 + grammaticality|participant) + (1 + grammaticality|item)` with a probit link, since
    participants' use of the scale is not standardised away; half a minute a model. Where the `policy` says so, correlations and
    slopes are left out. A paradigm that is all of its phenomenon has none of its own. `rows` are trials with rating,
    prompt, participant, item, phenomenon, paradigm and grammaticality (+1/2, -1/2). A model that cannot be fitted keeps a row
    that says why.
    """
    fits = []
    for (prompt, rated), unit in itertools.product(rows.groupby("prompt", sort=True), ("phenomenon", "paradigm")):
        for name, part in rated.groupby(unit, sort=True):
            phenomenon = part["phenomenon"].iloc[0]
            if unit == "paradigm" and (rated["phenomenon"] == phenomenon).sum() == len(part):
                continue
            place = {"prompt": str(prompt), "phenomenon": str(phenomenon), "paradigm": str(name) if unit == "paradigm" else None}
            fits.append(_noted(part, FORMULA, {}, policy, place, f"rating ordinal {name} ({prompt})", suggested=True))
    return _tables(fits)


def ordinal_factorial_models(
    scores: pd.DataFrame, conditions: pd.DataFrame, *, models: Sequence[ModelSection] = (), policy: str = "declared"
) -> dict[str, pd.DataFrame]:
    """Return ordinal_models, model_steps and contrast_codes, by name: the rating by the study's own factors, under each prompt.

    Of the models that are declared those whose response is `rating`, with their own random effects; where there are none, all
    factors of each paradigm with their interactions, and uncorrelated slopes of all of them by participant and item:
    with correlations, which a policy would leave out first, clmm takes minutes. Ratings on a scale of two points have binomial
    models instead.
    """
    fits, codes = [], [pd.DataFrame(columns=TABLES["contrast_codes"].column_names)]
    for model in rating_models(scores, conditions, models):
        place = {"model": model.name, "prompt": model.prompt}
        name = f"{model.name} rating ordinal ({model.prompt})"
        formula = model.formula.format_expanded()
        fits.append(_noted(model.rows, formula, model.contrasts, policy, place, name, suggested=not models))
        if fits[-1][0]["estimate"].notna().any():
            codes.append(contrast_codes(model.name, "rating", coded(model.rows, model.formula, model.contrasts)))
    of_conditions = pd.concat(codes, ignore_index=True).drop_duplicates()[TABLES["contrast_codes"].column_names]
    return _tables(fits) | {"contrast_codes": check(of_conditions, "contrast_codes")}


def _tables(fits: Sequence[tuple[pd.DataFrame, pd.DataFrame]]) -> dict[str, pd.DataFrame]:
    names = TABLES["ordinal_models"].column_names
    effects = pd.concat([pd.DataFrame(columns=names), *(effects.reindex(columns=names) for effects, _ in fits)])
    steps = steps_table([steps for _, steps in fits])
    return {"ordinal_models": check(effects.reset_index(drop=True), "ordinal_models"), "model_steps": steps}


def _noted(
    rows: pd.DataFrame,
    formula: str,
    contrasts: Mapping[str, Coding],
    policy: str,
    place: Mapping[str, str | None],
    name: str,
    suggested: bool,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of a model, or one that says why it was not fitted, and the steps that led to it."""
    try:
        _check_categories(rows["rating"])
        fitted = _fitted(rows, formula, LINKS[0], contrasts, policy, suggested)
    except DataError as error:
        reason = str(error).replace("\n", "; ")
        tried = error.steps.of(name) if isinstance(error, NotFitted) else pd.DataFrame()
        return _failed(formula, reason, rows).assign(**place), tried
    effects = fitted.effects
    contrast = effects["term"].map(fitted.design.named)
    return effects.assign(contrast=contrast, **place), fitted.steps.of(name)


def _check_categories(ratings: pd.Series) -> None:
    points = len(ratings.unique())
    if points not in CATEGORIES:
        raise DataError(f"{points} different ratings; expected {CATEGORIES[0]} to {CATEGORIES[-1]} points of a scale")


def _failed(formula: str, reason: str, rows: pd.DataFrame) -> pd.DataFrame:
    term = next((name for name in parse_formula(formula).fixed if name != "1"), "1")
    facts = {"formula": formula, "link": LINKS[0], "term": term, "thresholds": 0, "n": len(rows)}
    facts |= {"converged": False, "singular": False, "reduced": False, "note": f"Not fitted: {reason}"}
    return pd.DataFrame([dict.fromkeys(TABLES["ordinal_models"].column_names) | facts])


def cumulative(
    frame: pd.DataFrame, formula: str, *, link: str = "probit", contrasts: Mapping[str, Coding] | None = None
) -> pd.DataFrame:
    """Return the table ordinal_models: the fixed effects of `ordinal::clmm` on the latent scale, whose s.d. is 1 by probit.

    The response's numbers are categories in their order, so no distance between them is assumed (Liddell & Kruschke 2018,
    doi 10.1016/j.jesp.2018.08.009). Tests and intervals are Wald's. Random effects may be uncorrelated (`||`). An
    unknown link, or a formula without random effects, is a `ValueError`; data that allow no fit are a `DataError`. Needs R with
    the package ordinal, else `MissingExtra` says what to install.

    >>> ratings = pd.DataFrame({"rating": [1, 2, 3], "grammaticality": [-0.5, 0.5, 0.5], "participant": ["P1", "P1", "P2"]})
    >>> cumulative(ratings, "rating ~ grammaticality + (1|participant)", link="log")
    Traceback (most recent call last):
    ...
    ValueError: link 'log' is not known; expected one of probit, logit, cloglog
    """
    if link not in LINKS:
        raise ValueError(f"link {link!r} is not known; expected one of {', '.join(LINKS)}")
    effects = _fitted(frame, formula, link, contrasts or {}).effects
    return check(effects.reindex(columns=TABLES["ordinal_models"].column_names), "ordinal_models")


def _fitted(
    frame: pd.DataFrame, formula: str, link: str, contrasts: Mapping[str, Coding], policy: str = "declared", suggested: bool = False
) -> _Fitted:
    """Return the model whose random effects the policy chooses; of a suggested one, those of the formula do not count."""
    design = coded(frame, parse_formula(formula), contrasts)
    steps = Steps("ordinal")
    try:
        columns = columns_of(design.frame, design.formula)
        numeric_slopes(design.formula, columns)
        search = Search(
            lambda wanted: ordinal_engine.estimate_model(columns, wanted, link), ordinal_engine.describe_unsupported, steps
        )
        begun = design.formula if policy == "declared" and not suggested else find_widest_start(design, columns)
        fitted, estimated = CHOICES[policy](begun, search)
    except DataError as error:
        raise NotFitted(error, steps) from error
    notes = [describe_singularity(estimated, fitted, KEPT.get(policy, LEFT))] if estimated.singular else []
    effects = estimated.coefficients.rename(columns={"t": "z"}).assign(
        formula=ordinal_engine.split_uncorrelated_effects(fitted).format_expanded(),
        link=link,
        thresholds=len({*columns[fitted.response]}) - 1,
        n=len(frame),
        criterion=estimated.criterion,
        converged=estimated.converged,
        singular=estimated.singular,
        reduced=steps.reduced,
        sd=estimated.describe_variances(),
        note=" ".join([*notes, *estimated.notes]) or None,
    )
    return _Fitted(effects, steps, design)


def find_widest_start(design: Coded, columns: Columns) -> Formula:
    """Return all slopes of the contrasts that the design allows; correlated where there is one, since more take many minutes."""
    start = widest(design.formula, columns, list(design.codes) or None)
    return start.replace_random(replace(random, correlated=len(random.slopes) < 2) for random in start.random)
