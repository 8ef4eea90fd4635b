"""Models of a study's own factors: as study.toml declares them, else all factors of each paradigm and their interactions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, ModelSection, check
from gardenpath.study.config import COVARIATES, Sesoi, parse_region_name
from gardenpath.study.responses import BINARY_TABLE, RATINGS_TABLE, RESPONSES, TIMES_TABLE

from ..engines.estimates import ModelEstimate
from ..engines.formulas import Formula, parse_formula
from ..engines.r_code import quote_text
from ..exclusion_log import ALL_CONDITIONS
from ..factor_levels import tabulate_levels
from ..grammatical_status import GRAMMATICALITY_CODES
from ..intervals import adjust_by_family, holm
from ..measuring.binary_responses import BINARY_MEASURES, CHOICE_MEASURE, YES_MEASURE, find_pair_levels
from ..measuring.cell_means import compute_cell_means
from ..measuring.ratings_and_times import SENTENCE_REGION
from ..prompts import filter_prompt, format_prompt_suffix, label_prompts
from ..row_dicts import list_rows
from .coding import Coded, Coding, coded, hypotheses
from .equivalence import equivalence
from .grammaticality import INTERCEPTS, SLOPES, detectable
from .headline import headline
from .marginal_means import simple_effects
from .mixed_models import engine_named, failed, fit_stepwise
from .policies import NotFitted, steps_table
from .probabilities import probabilities

DECLARED = "declared"  # in the column random
Levels = Mapping[str, pd.DataFrame]  # of a paradigm: the level of each factor by condition
POPULATION, POPULATIONS = "population", ["people", "model"]  # who answered: a column where both did


@dataclass(frozen=True)
class ModelDraft:
    """One model before it is fitted: its rows are those of `paradigms` that are measured at `region`, or answered to `prompt`."""

    name: str
    formula: Formula
    region: str
    paradigms: tuple[str, ...]
    contrasts: Mapping[str, tuple[str, Sequence[str]]]
    random: str
    policy: str
    prompt: str | None = None

    @property
    def family(self) -> str:
        return RESPONSES[self.formula.response].family

    @property
    def row_key(self) -> dict[str, str | None]:
        """The columns that say which model a row is of."""
        place = {"model": self.name, "measure": self.formula.response, "region": self.region, "prompt": self.prompt}
        return {**place, "random": self.random}


@dataclass(frozen=True)
class _Fitted:
    """What there is of one model: its fixed effects, the steps that led to it, its simple effects, its contrasts, of a binomial
    one the probabilities of its cells, and the codes of its contrasts.
    """

    effects: pd.DataFrame
    steps: pd.DataFrame = field(default_factory=pd.DataFrame)
    simple: pd.DataFrame = field(default_factory=pd.DataFrame)
    contrasts: pd.DataFrame = field(default_factory=pd.DataFrame)
    cells: pd.DataFrame = field(default_factory=pd.DataFrame)
    codes: pd.DataFrame = field(default_factory=pd.DataFrame)


def factorial_models(
    scores: pd.DataFrame,
    times: pd.DataFrame,
    conditions: pd.DataFrame,
    *,
    answers: pd.DataFrame | None = None,
    models: Sequence[ModelSection] = (),
    engine: str = "glmm",
    policy: str = "declared",
    crosscheck: bool = False,
    smallest: Sesoi | None = None,
    covariates: Sequence[str] = COVARIATES,
) -> dict[str, pd.DataFrame]:
    """Return factorial_models, factorial_means, model_steps, simple_effects, contrast_matrices and contrast_codes, by name: the
    fixed effects of the models that `models` declares; where there are none, of those that a design suggests.

    The suggested ones: for each paradigm whose conditions are levels of factors other than grammatical and ungrammatical, and
    each of z and log reading time in every region measured, all factors with their interactions, log trial number beside them
    for reading times where it is among the `covariates`, with `(1|participant) + (1|item)`; and again with the slopes of the
    factors that the design allows for participants and items, correlations and slopes without variance taken out until the fit
    is not singular (Barr et al. 2013, doi 10.1016/j.jml.2012.11.001). Of ratings and answers, suggested or declared, there is a
    model for each prompt, unless the formula has `prompt` itself among its predictors.

    `answers` is the table binary_responses, of which there are binomial models, in log odds: whether answers were right (`correct`)
    and, in place of z, whether sentences were accepted on a scale of two points (`yes`), by the same factors, the minimal pairs
    of a phenomenon together, slopes of interactions left out; and which of a pair was chosen (`chosen`), by the factors whose
    levels both members share, or an intercept alone, whose test is against one half.

    Where people and language models took part, `population` is a factor for declared models, the one that varies between
    participants.

    A factor's contrasts are `repeated` unless declared (Schad et al. 2020, doi 10.1016/j.jml.2019.104038): a coefficient is a
    level minus the level before it, in the order in which the materials state the levels; of a two-level factor the difference
    of its means over the other factors. A declared model's formula may name any column of rating_scores or region_times, the
    factors, log_trial and position; numeric columns are centred. A model that cannot be fitted keeps a row that says why, as where
    the answers of a condition are all the same.

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
    >>> tabulate_levels = [("ever", "a", "npi", "any"), ("ever", "b", "npi", "ever")]
    >>> conditions = pd.DataFrame(tabulate_levels, columns=["paradigm", "condition", "factor", "level"])
    >>> times = pd.DataFrame(columns=["region", "paradigm"])
    >>> table = factorial_models(scores, times, conditions)["factorial_models"]
    >>> table[["random", "term", "contrast", "n"]].to_numpy().tolist()[1]
    ['intercepts', 'npi_ever_any', 'npi: ever minus any', 36]
    """
    smallest = smallest or {}
    study = MeasuredStudy.of(scores, times, conditions, answers)
    planned = draft_models(study, models, policy, covariates)
    require_supported(planned, engine)
    named_by = label_prompts(pd.DataFrame([plan.row_key for plan in planned], columns=["measure", "prompt"]))
    fits = [
        _fitted(plan, build_model_rows(plan, study), engine, crosscheck, prompt)
        for plan, prompt in zip(planned, named_by, strict=True)
    ]
    effects = _together("factorial_models", [fitted.effects for fitted in fits], extra=["hypothesis"])
    tested = effects[effects["term"] != "intercept"]
    varying = tested[pd.Series([_varies(row) for row in list_rows(tested)], index=tested.index, dtype="bool")]
    effects = effects.assign(
        reduced=effects["reduced"].eq(True),
        p_holm=_over_regions(tested),
        mde=detectable(tested),
        **equivalence(varying, smallest, varying["factors"].astype("object").fillna(varying["term"])),
    )
    named = {plan.name: fitted.contrasts for plan, fitted in zip(planned, fits, strict=True) if len(fitted.contrasts)}
    matrices = [contrasts.assign(model=name) for name, contrasts in named.items()]
    return {
        "factorial_models": check(effects.drop(columns="hypothesis"), "factorial_models"),
        "factorial_means": _cells(effects, planned, study, [fitted.cells for fitted in fits]),
        "model_steps": steps_table([fitted.steps for fitted in fits]),
        "simple_effects": check(_together("simple_effects", [fitted.simple for fitted in fits]), "simple_effects"),
        "contrast_matrices": check(_together("contrast_matrices", matrices), "contrast_matrices"),
        "contrast_codes": check(_together("contrast_codes", [fitted.codes for fitted in fits]).drop_duplicates(), "contrast_codes"),
    }


def require_supported(planned: Sequence[ModelDraft], engine: str) -> None:
    """Raise `DataError` for the declared models whose random effects the engine does not support."""
    lacking = {plan.name: engine_named(engine).describe_unsupported(plan.formula) for plan in planned if plan.random == DECLARED}
    faults = [
        f"analysis.models, {name!r}: engine {engine!r} does not support {lack}"
        + ("; engine 'lme4' does" if engine != "lme4" else "")
        for name, lack in lacking.items()
        if lack
    ]
    if faults:
        raise DataError(faults)


def _together(name: str, parts: Sequence[pd.DataFrame], extra: Sequence[str] = ()) -> pd.DataFrame:
    """Return the parts of a table as one, in the order of its columns."""
    rows = [part for part in parts if len(part)]
    table = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()
    return table.reindex(columns=[*TABLES[name].column_names, *extra])


def _varies(row: Mapping[str, Any]) -> bool:
    """Whether a coefficient, no covariate's, is of a model with slopes; of a declared one, whether this effect has some."""
    if row["term"] in COVARIATES:
        return False
    random = parse_formula(row["formula"]).random
    return row["random"] == SLOPES or (row["random"] == DECLARED and any(row["term"] in r.terms for r in random))


def _over_regions(tested: pd.DataFrame) -> "pd.Series[float]":
    """Return p adjusted over the regions of a coefficient, after Holm; empty where it is tested in one region alone."""
    tests = tested[~tested["term"].isin(COVARIATES) & tested["p"].notna()]
    regions = tests.groupby(["hypothesis", "term"])["region"].transform("nunique")
    return adjust_by_family(tests[regions > 1], ["hypothesis", "term"], holm)


@dataclass(frozen=True)
class MeasuredStudy:
    """What is measured, and the level of every factor by condition in each paradigm."""

    scores: pd.DataFrame
    times: pd.DataFrame
    answers: pd.DataFrame
    levels: Levels

    @classmethod
    def of(
        cls, scores: pd.DataFrame, times: pd.DataFrame, conditions: pd.DataFrame, answers: pd.DataFrame | None
    ) -> "MeasuredStudy":
        """Return what there is of these tables; without `answers`, none."""
        none = pd.DataFrame(columns=TABLES["binary_responses"].column_names)
        return cls(scores, times, none if answers is None else answers, tabulate_levels(conditions))

    def rows(self, response: str) -> pd.DataFrame:
        """Return the target trials that have a response, under its name."""
        if RESPONSES[response].table == TIMES_TABLE:
            return self.times
        if RESPONSES[response].table == RATINGS_TABLE:
            return self.scores[self.scores["role"] == "target"].dropna(subset="z")
        return self.answers[self.answers["measure"] == response].rename(columns={"response": response})

    def levels_of(self, response: str) -> Levels:
        """Return the levels that vary between the rows of a response: of choices, those of whole pairs."""
        return find_pair_levels(self.answers, self.levels) if response == CHOICE_MEASURE else self.levels


def _cells(
    effects: pd.DataFrame, planned: Sequence[ModelDraft], study: MeasuredStudy, cells: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Return factorial_means: of binomial models the probabilities by the headline."""
    parts = _means(planned, study)
    for of_model in (part for part in cells if len(part)):
        place = ["model", "measure", "region", "prompt", "random"]
        rows = effects[headline(effects)].drop_duplicates(place)[place]
        parts.append(of_model.merge(rows, on=place))
    return check(_together("factorial_means", parts), "factorial_means")


def factorial_means(
    scores: pd.DataFrame, times: pd.DataFrame, conditions: pd.DataFrame, *, models: Sequence[ModelSection] = ()
) -> pd.DataFrame:
    """Return factorial_means: for each linear model of `factorial_models` that has factors, the means of its response in their
    cells.

    Factors and levels stand in the order of the materials; means and intervals are those of
    `gardenpath.analysis.measuring.cell_means`, over the trials that the model is fitted to.
    """
    study = MeasuredStudy.of(scores, times, conditions, None)
    return check(_together("factorial_means", _means(draft_models(study, models, "declared"), study)), "factorial_means")


def _means(planned: Sequence[ModelDraft], study: MeasuredStudy) -> list[pd.DataFrame]:
    import numpy as np

    parts = []
    for plan in planned:
        if plan.random == SLOPES or not plan.contrasts or plan.family == "binomial":
            continue
        rows, response = build_model_rows(plan, study), plan.formula.response
        if rows.empty:
            continue
        orders = {
            factor: POPULATIONS if factor == POPULATION else _order(factor, plan.paradigms, study.levels)
            for factor in plan.contrasts
        }
        means = compute_cell_means(rows, response, orders)
        exponents = np.exp(means[["mean_value", "ci_low", "ci_high"]]) if response == "log_rt" else np.nan
        means[["ms", "ms_low", "ms_high"]] = exponents
        parts.append(means.assign(**{**plan.row_key, "random": None}))
    return parts


def draft_models(
    study: MeasuredStudy, models: Sequence[ModelSection], policy: str, covariates: Sequence[str] = COVARIATES
) -> list[ModelDraft]:
    """Return the models that are declared, else those that the design suggests."""
    plans = _declared(models, study, policy) if models else _suggested(study, covariates)
    return [each for plan in plans for each in _by_prompt(plan, study)]


@dataclass(frozen=True)
class Rated:
    """A model of ratings by the study's own factors: its trials under a prompt, its formula and its factors' contrasts."""

    name: str
    prompt: str
    formula: Formula
    contrasts: Mapping[str, Coding]
    rows: pd.DataFrame


def rating_models(scores: pd.DataFrame, conditions: pd.DataFrame, models: Sequence[ModelSection] = ()) -> Iterator[Rated]:
    """Yield the models of `rating` that are declared; where nothing is, one of all factors for each paradigm and prompt."""
    study = MeasuredStudy.of(scores, pd.DataFrame(columns=TABLES["region_times"].column_names), conditions, None)
    for plan in draft_models(study, models, "declared"):
        rated = plan.formula.response == "rating" if models else plan.random == INTERCEPTS
        rows = build_model_rows(plan, study) if rated else pd.DataFrame()
        if len(rows):
            yield Rated(plan.name, str(plan.prompt), replace(plan.formula, response="rating"), plan.contrasts, rows)


def regions_named(models: Sequence[ModelSection]) -> list[str]:
    """Return the regions beside the critical one, and those after it, that declared models are about."""
    named = dict.fromkeys(parse_region_name(model.region)[0] for model in models if _has_regions(_response(model)))
    return [name for name in named if name != "critical"]


def _response(model: ModelSection) -> str:
    return parse_formula(model.formula).response


def _has_regions(response: str) -> bool:
    return response in RESPONSES and RESPONSES[response].has_regions


def _declared(models: Sequence[ModelSection], study: MeasuredStudy, policy: str) -> Iterator[ModelDraft]:
    faults = []
    plans = []
    for model in models:
        formula = parse_formula(model.formula)
        levels = study.levels_of(formula.response)
        if formula.response not in RESPONSES:
            faults.append(f"analysis.models, {model.name!r}: the response is {formula.response!r}; expected {', '.join(RESPONSES)}")
        if unknown := [name for name in model.paradigms if name not in study.levels]:
            there = ", ".join(study.levels)
            faults.append(f"analysis.models, {model.name!r}: no paradigm {unknown[0]!r}; there are {there}")
            continue
        factors = dict.fromkeys(str(name) for by in levels.values() for name in by if name in formula.column_names)
        having = [p for p in (model.paradigms or levels) if p in levels and {*factors} <= {*levels[p]}]
        of_people = [POPULATION] if POPULATION in formula.column_names and POPULATION in study.rows(formula.response) else []
        if stated := sorted({*model.contrasts, *model.reference_levels} - {*factors, *of_people}):
            there = ", ".join(sorted(factors)) or "none"
            faults.append(
                f"analysis.models, {model.name!r}: contrasts of {stated[0]!r}, no factor of its formula; there are {there}"
            )
            continue
        contrasts = {name: _coding(name, model.contrasts, having, levels) for name in factors}
        contrasts |= {name: (model.contrasts.get(name, "repeated"), POPULATIONS) for name in of_people}
        for name, reference in model.reference_levels.items():
            coding, order = contrasts[name]
            if reference in order:
                contrasts[name] = (coding, [reference, *(level for level in order if level != reference)])
            else:
                faults.append(
                    f"analysis.models, {model.name!r}: reference.{name} is {reference!r}; expected one of {', '.join(order)}"
                )
        region = model.region if _has_regions(formula.response) else SENTENCE_REGION
        plans.append(ModelDraft(model.name, formula, region, tuple(having), contrasts, DECLARED, policy))
    if faults:
        raise DataError(faults)
    yield from plans


def _suggested(study: MeasuredStudy, covariates: Sequence[str]) -> Iterator[ModelDraft]:
    rated, read = {*study.rows("z")["paradigm"]}, {*study.times["paradigm"]}
    regions = sorted(study.times["region"].unique())
    beside = [name for name in ("log_trial",) if name in covariates]
    for paradigm, by in study.levels.items():
        if {*by.index} != {*GRAMMATICALITY_CODES} and len(by) > 1:
            measured = [("z", SENTENCE_REGION)] * (paradigm in rated)
            measured += [("log_rt", str(region)) for region in regions if paradigm in read]
            for measure, region in measured:
                yield from _two_forms(paradigm, measure, region, {paradigm: by}, beside if _has_regions(measure) else [])
    for measure in BINARY_MEASURES:
        for name, having in _binary_units(study.rows(measure), study.levels_of(measure), measure):
            yield from _two_forms(name, measure, SENTENCE_REGION, having)


def _binary_units(rows: pd.DataFrame, levels: Levels, measure: str) -> Iterator[tuple[str, Levels]]:
    """Yield the name and the levels of what has a model of its own: a paradigm, or all minimal pairs of a phenomenon."""
    pairs: dict[str, dict[str, pd.DataFrame]] = {}
    for paradigm, part in rows.groupby("paradigm", sort=True):
        by = levels.get(str(paradigm))
        if by is None or not {*part["condition"]} <= {*by.index}:
            continue  # answers about both members of a pair
        if {*by.index} == {*GRAMMATICALITY_CODES}:
            # Grammatical minus ungrammatical, as in the other models of grammaticality.
            pairs.setdefault(str(part["phenomenon"].iloc[0]), {})[str(paradigm)] = by.loc[[*reversed(GRAMMATICALITY_CODES)]]
        elif len(by) > 1 or measure == CHOICE_MEASURE:
            yield str(paradigm), {str(paradigm): by}
    for phenomenon, having in pairs.items():
        taken = phenomenon in levels and phenomenon not in having
        yield f"{phenomenon} (minimal pairs)" if taken else phenomenon, having


def _two_forms(name: str, measure: str, region: str, having: Levels, others: Sequence[str] = ()) -> Iterator[ModelDraft]:
    """Yield a model of all factors that vary and their interactions: with intercepts, and with slopes."""
    first = next(iter(having.values()))
    factors = [str(factor) for factor in first if len({*first[factor]}) > 1]
    crossed = "*".join(factors) or "1"
    contrasts = {factor: _coding(factor, {}, list(having), having) for factor in factors}
    fixed = " + ".join([f"{measure} ~ {crossed}", *others])
    forms = [(INTERCEPTS, "declared", "1"), (SLOPES, "maximal", f"1 + {crossed}")]
    for random, policy, group in forms if factors else forms[:1]:
        formula = parse_formula(f"{fixed} + ({group}|participant) + ({group}|item)")
        yield ModelDraft(name, formula, region, tuple(having), contrasts, random, policy)


def _by_prompt(plan: ModelDraft, study: MeasuredStudy) -> list[ModelDraft]:
    """Return a model of answers once for each prompt, or once for all where the prompt is among its predictors.

    Of ratings on a scale of two points nobody is suggested a model of z.
    """
    if plan.region != SENTENCE_REGION:
        return [plan]
    if "prompt" in plan.formula.column_names:
        return [replace(plan, prompt=ALL_CONDITIONS)]
    rows = study.rows(plan.formula.response)
    prompts = {*rows.loc[rows["paradigm"].isin(plan.paradigms), "prompt"]}
    if plan.random != DECLARED and plan.formula.response == "z":
        prompts -= {*study.rows(YES_MEASURE)["prompt"]}
    elif not prompts:
        return [plan]
    return [replace(plan, prompt=str(prompt)) for prompt in sorted(prompts)]


def _coding(factor: str, contrasts: Mapping[str, str], paradigms: Sequence[str], levels: Levels) -> tuple[str, Sequence[str]]:
    return contrasts.get(factor, "repeated"), _order(factor, paradigms, levels)


def _order(factor: str, paradigms: Sequence[str], levels: Levels) -> list[str]:
    """Return the levels of a factor in the order in which the materials state them."""
    return list(dict.fromkeys(str(level) for paradigm in paradigms for level in levels[paradigm][factor]))


def build_model_rows(plan: ModelDraft, study: MeasuredStudy) -> pd.DataFrame:
    """Return the trials of a model with the factors' levels and the covariates, numeric columns centred."""
    import numpy as np

    levels = study.levels_of(plan.formula.response)
    frame = study.rows(plan.formula.response)
    frame = frame if plan.region == SENTENCE_REGION else frame[frame["region"] == plan.region]
    frame = filter_prompt(frame[frame["paradigm"].isin(plan.paradigms)], None if plan.prompt == ALL_CONDITIONS else plan.prompt)
    # A paradigm of one condition may have a factor of that name, which is the column itself.
    by_paradigm = [levels[p].drop(columns="condition", errors="ignore").reset_index().assign(paradigm=p) for p in plan.paradigms]
    factors = pd.concat(by_paradigm or [frame.head(0)])
    new = factors[["paradigm", "condition", *(n for n in factors if n not in frame)]]
    rows = frame.astype({"participant": object, "item": object}).merge(
        new, on=["paradigm", "condition"], how="left", validate="m:1"
    )
    rows = rows.assign(
        log_trial=np.log1p(rows["trial"].to_numpy(dtype="float64")),
        position=rows["word"].astype("float64") if "word" in rows else 0.0,
    )
    if absent := [name for name in plan.formula.column_names if name not in rows]:
        raise DataError(
            f"analysis.models, {plan.name!r}: {', '.join(map(repr, absent))} is no column; expected some of "
            f"{', '.join(sorted(rows.columns))}"
        )
    return rows.assign(**{name: rows[name].astype("float64") - rows[name].mean() for name in _numbers(plan, rows)})


def _numbers(plan: ModelDraft, rows: pd.DataFrame) -> list[str]:
    """Return the numeric predictors of a model."""
    return [n for n in plan.formula.column_names[1:] if n not in plan.contrasts and pd.api.types.is_numeric_dtype(rows[n])]


def steps_named(models: pd.DataFrame) -> list[str]:
    """Return how each row of factorial_models is named in model_steps."""
    places = models[["model", "measure", "region", "random"]].itertuples(index=False)
    return [
        " ".join(map(str, place)) + format_prompt_suffix(prompt)
        for place, prompt in zip(places, label_prompts(models), strict=True)
    ]


def _fitted(plan: ModelDraft, rows: pd.DataFrame, engine: str, crosscheck: bool, prompt: str | None) -> "_Fitted":
    """Return a model's fixed effects, the steps that led to it, which name `prompt`, and what follows from it."""
    response, place = plan.formula.response, plan.row_key
    name = f"{plan.name} {response} {plan.region} {plan.random}{format_prompt_suffix(prompt)}"
    hypothesis = str((str(plan.formula), plan.contrasts, plan.paradigms, plan.prompt))  # one, in several regions
    text, term = str(plan.formula), next((name for name in plan.formula.fixed if name != "1"), "intercept")
    if rows.empty:
        reason = RESPONSES[response].absence
        lacking = failed(text, term, reason, rows, engine=engine)
        return _Fitted(lacking.assign(**place, family=plan.family))
    try:
        design = coded(rows, plan.formula, plan.contrasts)
        model, steps = fit_stepwise(
            rows,
            text,
            family=plan.family,
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
        cells = _probabilities(plan, rows, None, None)
        return _Fitted(lacking.assign(**place, family=plan.family), tried, cells=cells)
    if response == "log_rt" and steps.kept:
        model = model.assign(**_in_ms(steps.kept, design))
    contrast, factors = (model["term"].map(name) for name in (design.named, design.factors))
    if response == CHOICE_MEASURE:
        contrast = contrast.mask(model["term"] == "intercept", f"preference: {rows['event'].iloc[0]}")
    model = model.assign(contrast=contrast, factors=factors, reduced=steps.reduced, hypothesis=hypothesis)
    model = model.assign(**place, family=plan.family)
    simple = simple_effects(steps.kept, design) if steps.kept else pd.DataFrame()
    cells = _probabilities(plan, rows, steps.kept, design)
    codes = contrast_codes(plan.name, response, design)
    return _Fitted(model, steps.of(name), simple.assign(**place), hypotheses(design), cells, codes)


def contrast_codes(model: str, measure: str, design: Coded) -> pd.DataFrame:
    """Return the rows of contrast_codes of a model: the columns of its contrasts in each condition that enters it."""
    place = ["paradigm", "condition"]
    cells = design.frame[[*place, *design.codes]].drop_duplicates(place).sort_values(place)
    if not design.codes:
        return cells.assign(model=model, measure=measure, column=None, code=float("nan"))
    return cells.melt(place, var_name="column", value_name="code").assign(model=model, measure=measure)


def _probabilities(plan: ModelDraft, rows: pd.DataFrame, estimated: ModelEstimate | None, design: Coded | None) -> pd.DataFrame:
    """Return the rows of factorial_means of a binomial model, none of another one."""
    if plan.family != "binomial":
        return pd.DataFrame()
    orders = {factor: [str(level) for level in order] for factor, (_, order) in plan.contrasts.items()}
    return probabilities(rows, plan.formula.response, orders, estimated, design).assign(**plan.row_key)


def _in_ms(estimated: ModelEstimate, design: Coded) -> dict[str, list[float]]:
    """Return the columns ms, ms_low and ms_high: of the contrasts that are differences of two levels, -1/2 and +1/2."""
    terms = estimated.coefficients["term"].to_list()
    differences = {term: (float("nan"),) * 3 for term in terms}
    for column, (_, by) in design.codes.items():
        if column in terms and "intercept" in terms and sorted(by.values()) == [-0.5, 0.5]:
            upper, lower = ({"intercept": 1.0, column: code} for code in (0.5, -0.5))
            differences[column] = estimated.compute_exp_difference(upper, lower)
    return {name: [differences[term][n] for term in terms] for n, name in enumerate(("ms", "ms_low", "ms_high"))}


def _rows_code(plan: ModelDraft, rows: pd.DataFrame) -> str:
    """Return the R code that reads a model's rows from the table of results they stand in."""
    response = plan.formula.response
    table = RESPONSES[response].table
    paradigms = ", ".join(map(quote_text, sorted(set(rows["paradigm"]))))
    where = [f"paradigm %in% c({paradigms})"]
    where += {
        "rating_scores": ['role == "target"', "!is.na(z)"],
        "region_times": [f"region == {quote_text(plan.region)}"],
        "binary_responses": [f"measure == {quote_text(response)}"],
    }[table]
    where += [] if plan.prompt in (None, ALL_CONDITIONS) else [f"prompt == {quote_text(plan.prompt)}"]
    lines = [
        f'rows <- read.csv("{table}.csv", stringsAsFactors = FALSE, encoding = "UTF-8")',
        f"rows <- subset(rows, {' & '.join(where)})",
        *([f"rows${response} <- rows$response"] if table == BINARY_TABLE else []),
    ]
    for factor in plan.contrasts:
        levels = rows.drop_duplicates(["paradigm", "condition"])
        pairs = [
            f"{quote_text(f'{p}/{c}')} = {quote_text(level)}"
            for p, c, level in levels[["paradigm", "condition", factor]].itertuples(index=False)
        ]
        lines.append(f'rows${factor} <- unname(c({", ".join(pairs)})[paste(rows$paradigm, rows$condition, sep = "/")])')
    source = {"log_trial": "log1p(rows$trial)", "position": "rows$word"}
    for name in _numbers(plan, rows):
        value = source.get(name, f"rows${name}")
        lines.append(f"rows${name} <- {value} - mean({value})")
    return "\n".join(lines)
