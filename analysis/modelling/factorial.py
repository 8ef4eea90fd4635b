"""Models of a study's own factors: as study.toml declares them, else all factors of each paradigm and their interactions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, ModelSection, check
from gardenpath.study.config import Smallest

from ..engines.estimates import Estimated
from ..engines.formulas import Formula, parse
from ..engines.r_code import quoted
from ..grammatical_status import CODES
from ..intervals import corrected, holm
from ..ledger import ALL
from ..measuring.cell_means import cell_means
from ..measuring.ratings_and_times import SENTENCE_WIDE
from ..prompts import prompt_suffix, prompts_of, rows_of_prompt
from ..row_dicts import records
from .coding import Coded, Coding, coded, hypotheses
from .equivalence import equivalence
from .grammaticality import COVARIATES, INTERCEPTS, SLOPES, detectable
from .marginal_means import simple_effects
from .mixed_models import failed, fit_stepwise
from .policies import NotFitted, steps_table

RATINGS = ("z", "rating")
TIMES = ("log_rt", "rt")
RESPONSES = (*RATINGS, *TIMES)
DECLARED = "declared"  # in the column random


@dataclass(frozen=True)
class _Planned:
    """One model before it is fitted: its rows are those of `paradigms` that are measured at `region`, of ratings under `prompt`."""

    name: str
    formula: Formula
    region: str
    paradigms: tuple[str, ...]
    contrasts: Mapping[str, Coding]
    random: str
    policy: str
    prompt: str | None = None


@dataclass(frozen=True)
class _Fitted:
    """What there is of a model: its fixed effects, the steps that led to it, its simple effects, its contrasts and their codes."""

    effects: pd.DataFrame
    steps: pd.DataFrame = field(default_factory=pd.DataFrame)
    simple: pd.DataFrame = field(default_factory=pd.DataFrame)
    contrasts: pd.DataFrame = field(default_factory=pd.DataFrame)
    codes: pd.DataFrame = field(default_factory=pd.DataFrame)


def factorial_models(
    scores: pd.DataFrame,
    times: pd.DataFrame,
    conditions: pd.DataFrame,
    *,
    models: Sequence[ModelSection] = (),
    engine: str = "glmm",
    policy: str = "declared",
    crosscheck: bool = False,
    smallest: Smallest | None = None,
) -> dict[str, pd.DataFrame]:
    """Return factorial_models, model_steps, simple_effects, contrast_matrices and contrast_codes, by name: the fixed effects of
    the models that `models` declares; where there are none, of those that a design suggests.

    The suggested ones: for each paradigm whose conditions are levels of factors other than grammatical and ungrammatical, and
    each of z and log reading time in every region measured, all factors with their interactions, log trial number beside them
    for reading times, with `(1|participant) + (1|item)`; and again with the slopes of the factors that the design allows
    for participants and items, correlations and slopes without variance taken out until the fit is not singular (Barr et al.
    2013, doi 10.1016/j.jml.2012.11.001). Of ratings, suggested or declared, there is a model for each prompt, unless the formula
    has `prompt` itself among its predictors.

    A factor's contrasts are `repeated` unless declared (Schad et al. 2020, doi 10.1016/j.jml.2019.104038): a coefficient is a
    level minus the level before it, in the order in which the materials state the levels; of a two-level factor the difference
    of its means over the other factors. A declared model's formula may name any column of rating_scores or region_times, the
    factors, log_trial and position; numeric columns are centred. A model that cannot be fitted keeps a row that says why.

    In a formula a/b is the effect of a, and that of b within each level of a. simple_effects has the differences between the
    levels of each factor within those of the factors it interacts with, contrast_matrices the codes and what they test.

    `p_holm`: one hypothesis, the same formula and contrasts, may be tested in several regions; each coefficient's p is adjusted
    over them (Holm). `p_equivalence` is that of two one-sided tests against `smallest`, the smallest effects of interest by
    response or term, of models with slopes (doi 10.1007/BF01068419).

    `ms`: for two-level factors and log reading time, the difference of exponentiated predictions at the mean of everything
    else, exp(b0 + b1/2) - exp(b0 - b1/2), with the delta-method interval.

    A declared formula that names an unknown response, paradigm or column is a `DataError`.

    >>> rows = [(f"P{p}", f"i{i}", "ab"[(p + i) % 2], i, (p + i) % 2 + (p * i) % 3 / 9) for p in range(6) for i in range(6)]
    >>> scores = pd.DataFrame(rows, columns=["participant", "item", "condition", "trial", "z"])
    >>> scores = scores.assign(role="target", paradigm="ever", prompt="rating")
    >>> levels = [("ever", "a", "npi", "any"), ("ever", "b", "npi", "ever")]
    >>> conditions = pd.DataFrame(levels, columns=["paradigm", "condition", "factor", "level"])
    >>> times = pd.DataFrame(columns=["region", "paradigm"])
    >>> table = factorial_models(scores, times, conditions)["factorial_models"]
    >>> table[["random", "term", "contrast", "n"]].to_numpy().tolist()[1]
    ['intercepts', 'npi_ever_any', 'npi: ever minus any', 36]
    """
    smallest = smallest or {}
    levels = _levels(conditions)
    planned = _models(scores, times, levels, models, policy)
    several = len({plan.prompt for plan in planned} - {None}) > 1
    fits = [_fitted(plan, _rows(plan, scores, times, levels), engine, crosscheck, several) for plan in planned]
    effects = _together("factorial_models", [fitted.effects for fitted in fits], extra=["family"])
    tested = effects[effects["term"] != "intercept"]
    varying = tested[[_varies(row) for row in records(tested)]]
    effects = effects.assign(
        reduced=effects["reduced"].eq(True),
        p_holm=_over_regions(tested),
        mde=detectable(tested),
        **equivalence(varying, smallest, varying["factors"].fillna(varying["term"])),
    )
    named = {plan.name: fitted.contrasts for plan, fitted in zip(planned, fits, strict=True) if len(fitted.contrasts)}
    matrices = [contrasts.assign(model=name) for name, contrasts in named.items()]
    return {
        "factorial_models": check(effects.drop(columns="family"), "factorial_models"),
        "model_steps": steps_table([fitted.steps for fitted in fits]),
        "simple_effects": check(_together("simple_effects", [fitted.simple for fitted in fits]), "simple_effects"),
        "contrast_matrices": check(_together("contrast_matrices", matrices), "contrast_matrices"),
        "contrast_codes": check(
            _together("contrast_codes", [fitted.codes for fitted in fits]).drop_duplicates(), "contrast_codes"
        ),
    }


def _together(name: str, parts: Sequence[pd.DataFrame], extra: Sequence[str] = ()) -> pd.DataFrame:
    """Return the parts of a table as one, in the order of its columns."""
    rows = [part for part in parts if len(part)]
    table = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()
    return table.reindex(columns=[*TABLES[name].names, *extra])


def _varies(row: Mapping[str, Any]) -> bool:
    """Whether a coefficient, no covariate's, is of a model with slopes; of a declared one, whether this effect has some."""
    if row["term"] in COVARIATES:
        return False
    random = parse(row["formula"]).random
    return row["random"] == SLOPES or (row["random"] == DECLARED and any(row["term"] in r.terms for r in random))


def _over_regions(tested: pd.DataFrame) -> "pd.Series[float]":
    """Return p adjusted over the regions of a coefficient, after Holm; empty where it is tested in one region alone."""
    tests = tested[~tested["term"].isin(COVARIATES) & tested["p"].notna()]
    regions = tests.groupby(["family", "term"])["region"].transform("nunique")
    return corrected(tests[regions > 1], ["family", "term"], holm)


def factorial_means(
    scores: pd.DataFrame, times: pd.DataFrame, conditions: pd.DataFrame, *, models: Sequence[ModelSection] = ()
) -> pd.DataFrame:
    """Return factorial_means: for each model of `factorial_models` that has factors, the means of its response in their cells.

    Factors and levels stand in the order of the materials; means and intervals are those of
    `gardenpath.analysis.measuring.cell_means`, over the trials that the model is fitted to.
    """
    import numpy as np

    levels = _levels(conditions)
    parts = []
    for plan in _models(scores, times, levels, models, "declared"):
        rows = _rows(plan, scores, times, levels)
        if plan.random == SLOPES or not plan.contrasts or rows.empty:
            continue
        response = plan.formula.response
        orders = {factor: _order(factor, plan.paradigms, levels) for factor in plan.contrasts}
        means = cell_means(rows, response, orders)
        exponents = np.exp(means[["mean", "ci_low", "ci_high"]]) if response == "log_rt" else np.nan
        means[["ms", "ms_low", "ms_high"]] = exponents
        parts.append(means.assign(model=plan.name, measure=response, region=plan.region, prompt=plan.prompt))
    columns = TABLES["factorial_means"].names
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    return check(table[columns], "factorial_means")


def _models(
    scores: pd.DataFrame,
    times: pd.DataFrame,
    levels: Mapping[str, pd.DataFrame],
    models: Sequence[ModelSection],
    policy: str,
) -> list[_Planned]:
    """Return the models that are declared, else those that the design suggests."""
    plans = _declared(models, levels, policy) if models else _suggested(scores, times, levels)
    targets = scores[scores["role"] == "target"]
    return [each for plan in plans for each in _by_prompt(plan, targets)]


def regions_named(models: Sequence[ModelSection]) -> list[str]:
    """Return the regions beside the critical one, and those after it, that declared models are about."""
    named = dict.fromkeys(model.region.partition("+")[0] for model in models if _response(model) in TIMES)
    return [name for name in named if name != "critical"]


def _response(model: ModelSection) -> str:
    return parse(model.formula).response


def _levels(conditions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return for each paradigm the level of every factor by condition, in the order in which they are stated."""
    levels = {}
    for paradigm, rows in conditions.groupby("paradigm", sort=True):
        levels[str(paradigm)] = rows.pivot_table(
            index="condition", columns="factor", values="level", aggfunc="first", sort=False
        )
    return levels


def _declared(models: Sequence[ModelSection], levels: Mapping[str, pd.DataFrame], policy: str) -> Iterator[_Planned]:
    faults = []
    plans = []
    for model in models:
        formula = parse(model.formula)
        if formula.response not in RESPONSES:
            faults.append(
                f"analysis.models, {model.name!r}: the response is {formula.response!r}; expected {', '.join(RESPONSES)}"
            )
        if unknown := [name for name in model.paradigms if name not in levels]:
            faults.append(f"analysis.models, {model.name!r}: no paradigm {unknown[0]!r}; there are {', '.join(levels)}")
            continue
        factors = {str(name) for by in levels.values() for name in by} & {*formula.names}
        having = [p for p in (model.paradigms or levels) if factors <= {*levels[p]}] if factors else list(levels)
        wide = formula.response in RATINGS
        if stated := sorted({*model.contrasts, *model.reference} - factors):
            there = ", ".join(sorted(factors)) or "none"
            faults.append(
                f"analysis.models, {model.name!r}: contrasts of {stated[0]!r}, no factor of its formula; there are {there}"
            )
            continue
        contrasts = {name: _coding(name, model.contrasts, having, levels) for name in sorted(factors)}
        for name, reference in model.reference.items():
            coding, order = contrasts[name]
            if reference in order:
                contrasts[name] = (coding, [reference, *(level for level in order if level != reference)])
            else:
                faults.append(
                    f"analysis.models, {model.name!r}: reference.{name} is {reference!r}; expected one of {', '.join(order)}"
                )
        region = SENTENCE_WIDE if wide else model.region
        plans.append(_Planned(model.name, formula, region, tuple(having), contrasts, DECLARED, policy))
    if faults:
        raise DataError(faults)
    yield from plans


def _suggested(scores: pd.DataFrame, times: pd.DataFrame, levels: Mapping[str, pd.DataFrame]) -> Iterator[_Planned]:
    measured = [("z", SENTENCE_WIDE), *(("log_rt", str(region)) for region in sorted(times["region"].unique()))]
    measured_paradigms = {*scores.loc[scores["role"] == "target", "paradigm"], *times["paradigm"]}
    for paradigm, by in levels.items():
        if paradigm not in measured_paradigms or {*by.index} == {*CODES} or len(by) < 2:
            continue
        factors = [str(name) for name in by if len({*by[name]}) > 1]
        for measure, region in measured:
            others = ["log_trial"] if measure in TIMES else []
            crossed = "*".join(factors)
            fixed = " + ".join([f"{measure} ~ {crossed}", *others])
            contrasts = {name: _coding(name, {}, [paradigm], levels) for name in factors}
            for random, policy, group in ((INTERCEPTS, "declared", "1"), (SLOPES, "maximal", f"1 + {crossed}")):
                formula = parse(f"{fixed} + ({group}|participant) + ({group}|item)")
                yield _Planned(paradigm, formula, region, (paradigm,), contrasts, random, policy)


def _by_prompt(plan: _Planned, targets: pd.DataFrame) -> list[_Planned]:
    """Return a model of ratings once for each prompt, or once for all where the prompt is among its predictors."""
    if plan.region != SENTENCE_WIDE:
        return [plan]
    if "prompt" in plan.formula.names:
        return [replace(plan, prompt=ALL)]
    prompts = sorted(targets.loc[targets["paradigm"].isin(plan.paradigms), "prompt"].unique())
    return [replace(plan, prompt=str(prompt)) for prompt in prompts] or [plan]


def _coding(
    factor: str, contrasts: Mapping[str, str], paradigms: Sequence[str], levels: Mapping[str, pd.DataFrame]
) -> tuple[str, Sequence[str]]:
    return contrasts.get(factor, "repeated"), _order(factor, paradigms, levels)


def _order(factor: str, paradigms: Sequence[str], levels: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return the levels of a factor in the order in which the materials state them."""
    return list(dict.fromkeys(str(level) for paradigm in paradigms for level in levels[paradigm][factor]))


def _rows(
    plan: _Planned, scores: pd.DataFrame, times: pd.DataFrame, levels: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Return the trials of a model with the factors' levels and the covariates, numeric columns centred."""
    import numpy as np

    wide = plan.region == SENTENCE_WIDE
    frame = scores[scores["role"] == "target"].dropna(subset="z") if wide else times[times["region"] == plan.region]
    frame = rows_of_prompt(frame[frame["paradigm"].isin(plan.paradigms)], None if plan.prompt == ALL else plan.prompt)
    factors = pd.concat([levels[p].reset_index().assign(paradigm=p) for p in plan.paradigms], ignore_index=True)
    new = factors[["paradigm", "condition", *(n for n in factors if n not in frame)]]
    rows = frame.astype({"participant": object, "item": object}).merge(
        new, on=["paradigm", "condition"], how="left", validate="m:1"
    )
    rows = rows.assign(
        log_trial=np.log1p(rows["trial"].to_numpy(dtype="float64")),
        position=rows["word"].astype("float64") if "word" in rows else 0.0,
    )
    if absent := [name for name in plan.formula.names if name not in rows]:
        raise DataError(
            f"analysis.models, {plan.name!r}: {', '.join(map(repr, absent))} is no column; expected some of "
            f"{', '.join(sorted(rows.columns))}"
        )
    return rows.assign(**{name: rows[name].astype("float64") - rows[name].mean() for name in _numbers(plan, rows)})


def _numbers(plan: _Planned, rows: pd.DataFrame) -> list[str]:
    """Return the numeric predictors of a model."""
    return [n for n in plan.formula.names[1:] if n not in plan.contrasts and pd.api.types.is_numeric_dtype(rows[n])]


def steps_named(models: pd.DataFrame) -> list[str]:
    """Return how each row of factorial_models is named in model_steps."""
    places = models[["model", "measure", "region", "random"]].itertuples(index=False)
    prompts = models["prompt"] if prompts_of(models) != [None] else pd.Series(None, index=models.index, dtype="object")
    return [
        " ".join(map(str, place)) + prompt_suffix(None if pd.isna(prompt) else prompt)
        for place, prompt in zip(places, prompts, strict=True)
    ]


def _fitted(plan: _Planned, rows: pd.DataFrame, engine: str, crosscheck: bool, several: bool) -> "_Fitted":
    """Return a model's fixed effects, the steps that led to it, and what follows from it."""
    place = {"model": plan.name, "measure": plan.formula.response, "region": plan.region, "random": plan.random}
    name = " ".join(place.values()) + prompt_suffix(plan.prompt if several else None)
    family = str((str(plan.formula), plan.contrasts, plan.paradigms, plan.prompt))  # one hypothesis, in several regions
    text, term = str(plan.formula), next((name for name in plan.formula.fixed if name != "1"), "intercept")
    if rows.empty:
        lacking = failed(text, term, "no trial of these paradigms was measured there", rows, engine=engine)
        return _Fitted(lacking.assign(**place, prompt=plan.prompt))
    try:
        design = coded(rows, plan.formula, plan.contrasts)
        model, steps = fit_stepwise(
            rows,
            text,
            engine=engine,
            policy=plan.policy,
            slopes=list(design.codes) or None,
            contrasts=plan.contrasts,
            crosscheck=crosscheck,
            rows=_rows_code(plan, rows),
        )
    except DataError as error:
        lacking = failed(text, term, str(error).replace("\n", "; "), rows, engine=engine)
        tried = error.steps.of(name) if isinstance(error, NotFitted) else pd.DataFrame()
        return _Fitted(lacking.assign(**place, prompt=plan.prompt), tried)
    if plan.formula.response == "log_rt" and steps.kept:
        model = model.assign(**_in_ms(steps.kept, design))
    contrast, factors = (model["term"].map(name) for name in (design.named, design.factors))
    model = model.assign(contrast=contrast, factors=factors, reduced=steps.reduced, family=family)
    model = model.assign(**place, prompt=plan.prompt)
    simple = simple_effects(steps.kept, design) if steps.kept else pd.DataFrame()
    simple = simple.assign(**place, prompt=plan.prompt)
    return _Fitted(model, steps.of(name), simple, hypotheses(design), _contrast_codes(plan, design))


def _contrast_codes(plan: _Planned, design: Coded) -> pd.DataFrame:
    """Return the columns of a model's contrasts in each condition that enters it."""
    place = ["paradigm", "condition"]
    cells = design.frame[[*place, *design.codes]].drop_duplicates(place).sort_values(place)
    if not design.codes:
        return cells.assign(model=plan.name, measure=plan.formula.response, column=None, code=float("nan"))
    codes = cells.melt(place, var_name="column", value_name="code")
    return codes.assign(model=plan.name, measure=plan.formula.response)


def _in_ms(estimated: Estimated, design: Coded) -> dict[str, list[float]]:
    """Return the columns ms, ms_low and ms_high: of the contrasts that are differences of two levels, -1/2 and +1/2."""
    terms = estimated.coefficients["term"].to_list()
    differences = {term: (float("nan"),) * 3 for term in terms}
    for column, (_, by) in design.codes.items():
        if column in terms and "intercept" in terms and sorted(by.values()) == [-0.5, 0.5]:
            upper, lower = ({"intercept": 1.0, column: code} for code in (0.5, -0.5))
            differences[column] = estimated.exp_difference(upper, lower)
    return {name: [differences[term][n] for term in terms] for n, name in enumerate(("ms", "ms_low", "ms_high"))}


def _rows_code(plan: _Planned, rows: pd.DataFrame) -> str:
    """Return the R code that reads a model's rows from the table of results they stand in."""
    wide = plan.region == SENTENCE_WIDE
    table = "rating_scores" if wide else "region_times"
    paradigms = ", ".join(map(quoted, sorted(set(rows["paradigm"]))))
    where = [f"paradigm %in% c({paradigms})"]
    where += ['role == "target"', "!is.na(z)"] if wide else [f"region == {quoted(plan.region)}"]
    where += [] if plan.prompt in (None, ALL) else [f"prompt == {quoted(plan.prompt)}"]
    lines = [
        f'rows <- read.csv("{table}.csv", stringsAsFactors = FALSE, encoding = "UTF-8")',
        f"rows <- subset(rows, {' & '.join(where)})",
    ]
    for factor in plan.contrasts:
        levels = rows.drop_duplicates(["paradigm", "condition"])
        pairs = [
            f"{quoted(f'{p}/{c}')} = {quoted(level)}"
            for p, c, level in levels[["paradigm", "condition", factor]].itertuples(index=False)
        ]
        lines.append(f'rows${factor} <- unname(c({", ".join(pairs)})[paste(rows$paradigm, rows$condition, sep = "/")])')
    source = {"log_trial": "log1p(rows$trial)", "position": "rows$word"}
    for name in _numbers(plan, rows):
        value = source.get(name, f"rows${name}")
        lines.append(f"rows${name} <- {value} - mean({value})")
    return "\n".join(lines)
