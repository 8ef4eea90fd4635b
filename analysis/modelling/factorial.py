"""Models of a study's own factors: as study.toml declares them, else all factors of each paradigm and their interactions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from gardenpath.study import TABLES, DataError, ModelSection, check

from ..engines.estimates import Estimated
from ..engines.formulas import Formula, Random, parse
from ..engines.r_code import quoted
from ..factor_levels import levels
from ..grammatical_status import CODES
from ..ledger import ALL
from ..measuring.binary_answers import BINARY, CHOSEN, CORRECT, YES, pair_levels
from ..measuring.ratings_and_times import SENTENCE_WIDE
from ..prompts import named_prompts, prompt_suffix, rows_of_prompt
from .coding import Coded, Coding, coded
from .grammaticality import INTERCEPTS, SLOPES, detectable, exp_difference
from .mixed_models import failed, fit, fit_stepwise
from .policies import NotFitted, steps_table
from .probabilities import probabilities

RATINGS = ("z", "rating")
TIMES = ("log_rt", "rt")
RESPONSES = (*RATINGS, *TIMES, *BINARY)
DECLARED = "declared"  # in the column random
TABLES_OF = dict.fromkeys(RATINGS, "rating_scores") | dict.fromkeys(TIMES, "region_times")  # else binary_answers
ABSENT = {  # what has no rows, of a response
    CORRECT: "no answer of these paradigms was right or wrong",
    YES: "no sentence of these paradigms was rated on a scale of two points",
    CHOSEN: "no sentence of these paradigms was chosen from a pair",
}
Levels = Mapping[str, pd.DataFrame]  # of a paradigm: the level of each factor by condition


@dataclass(frozen=True)
class _Planned:
    """One model before it is fitted: its rows are those of `paradigms` that are measured at `region`, or answered to `prompt`."""

    name: str
    formula: Formula
    region: str
    paradigms: tuple[str, ...]
    contrasts: Mapping[str, Coding]
    random: str
    policy: str
    prompt: str | None = None

    @property
    def family(self) -> str:
        return "binomial" if self.formula.response in BINARY else "gaussian"


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
) -> dict[str, pd.DataFrame]:
    """Return factorial_models, condition_probabilities and model_steps, by name: the fixed effects of the models that `models`
    declares; where there are none, of those that a design suggests.

    The suggested ones: for each paradigm whose conditions are levels of factors other than grammatical and ungrammatical, and
    each of z and log reading time in every region measured, all factors with their interactions, log trial number beside them
    for reading times, with `(1|participant) + (1|item)`; and again with the slopes of the factors that the design allows
    for participants and items, correlations and slopes without variance taken out until the fit is not singular (Barr et al.
    2013, doi 10.1016/j.jml.2012.11.001). Of ratings and answers, suggested or declared, there is a model for each prompt, unless
    the formula has `prompt` itself among its predictors.

    `answers` is the table binary_answers, of which there are binomial models, in log odds: whether answers were right (`correct`)
    and, in place of z, whether sentences were accepted on a scale of two points (`yes`), by the same factors, minimal pairs of a
    phenomenon together; and which of a pair was chosen (`chosen`), by the factors whose levels its members share, or an
    intercept alone. condition_probabilities has what they come to in each condition.

    A factor's contrasts are `repeated` unless declared (Schad et al. 2020, doi 10.1016/j.jml.2019.104038): a coefficient is a
    level minus the level before it, in the order in which the materials state the levels; of a two-level factor the difference
    of its means over the other factors. A declared model's formula may name any column of rating_scores or region_times, the
    factors, log_trial and position; numeric columns are centred. A model that cannot be fitted keeps a row that says why, as where
    answers of a condition are all the same.

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
    answers = pd.DataFrame(columns=TABLES["binary_answers"].names) if answers is None else answers
    study = _Study(scores, times, answers, levels(conditions))
    plans = _declared(models, study, policy) if models else _suggested(study)
    planned = [each for plan in plans for each in _by_prompt(plan, study)]
    named = named_prompts(pd.DataFrame([_place(plan) for plan in planned], columns=["measure", "prompt"]))
    fits = [
        _fitted(plan, _rows(plan, study), engine, crosscheck, prompt)
        for plan, prompt in zip(planned, named, strict=True)
    ]
    table, shares = (
        pd.concat([pd.DataFrame(columns=TABLES[name].names), *(fitted[n] for fitted in fits)], ignore_index=True)
        for n, name in enumerate(("factorial_models", "condition_probabilities"))
    )
    if fits:
        table = table.assign(mde=detectable(table[table["term"] != "intercept"]))
    return {
        "factorial_models": check(table[TABLES["factorial_models"].names], "factorial_models"),
        "condition_probabilities": check(shares[TABLES["condition_probabilities"].names], "condition_probabilities"),
        "model_steps": steps_table([steps for *_, steps in fits]),
    }


@dataclass(frozen=True)
class _Study:
    """What is measured, and the level of every factor by condition in each paradigm."""

    scores: pd.DataFrame
    times: pd.DataFrame
    answers: pd.DataFrame
    levels: Levels

    def rows(self, response: str) -> pd.DataFrame:
        """Return the target trials of a response, under its name."""
        if response in TIMES:
            return self.times
        if response in RATINGS:
            return self.scores[self.scores["role"] == "target"].dropna(subset="z")
        return self.answers[self.answers["measure"] == response].rename(columns={"value": response})

    def levels_of(self, response: str) -> Levels:
        """Return the levels that vary between the rows of a response: of choices, those of whole pairs."""
        return pair_levels(self.answers, self.levels) if response == CHOSEN else self.levels


def regions_named(models: Sequence[ModelSection]) -> list[str]:
    """Return the regions beside the critical one, and those after it, that declared models are about."""
    named = dict.fromkeys(model.region.partition("+")[0] for model in models if _response(model) in TIMES)
    return [name for name in named if name != "critical"]


def _response(model: ModelSection) -> str:
    return parse(model.formula).response


def _declared(models: Sequence[ModelSection], study: _Study, policy: str) -> Iterator[_Planned]:
    faults = []
    plans = []
    for model in models:
        formula = parse(model.formula)
        levels = study.levels_of(formula.response)
        if formula.response not in RESPONSES:
            faults.append(
                f"analysis.models, {model.name!r}: the response is {formula.response!r}; expected {', '.join(RESPONSES)}"
            )
        if unknown := [name for name in model.paradigms if name not in study.levels]:
            there = ", ".join(study.levels)
            faults.append(f"analysis.models, {model.name!r}: no paradigm {unknown[0]!r}; there are {there}")
            continue
        factors = {str(name) for by in levels.values() for name in by} & {*formula.names}
        known = [p for p in (model.paradigms or levels) if p in levels]
        having = [p for p in known if factors <= {*levels[p]}] if factors else list(levels)
        contrasts = {name: _coding(name, model.contrasts, having, levels) for name in sorted(factors)}
        region = model.region if formula.response in TIMES else SENTENCE_WIDE
        plans.append(_Planned(model.name, formula, region, tuple(having), contrasts, DECLARED, policy))
    if faults:
        raise DataError(faults)
    yield from plans


def _suggested(study: _Study) -> Iterator[_Planned]:
    measured = [("z", SENTENCE_WIDE), *(("log_rt", str(region)) for region in sorted(study.times["region"].unique()))]
    measured_paradigms = {*study.rows("z")["paradigm"], *study.times["paradigm"]}
    for paradigm, by in study.levels.items():
        if paradigm in measured_paradigms and {*by.index} != {*CODES} and len(by) > 1:
            for measure, region in measured:
                yield from _two_forms(paradigm, measure, region, {paradigm: by}, ["log_trial"] * (measure in TIMES))
    for measure in BINARY:
        for name, having in _binary_units(study.rows(measure), study.levels_of(measure), measure):
            yield from _two_forms(name, measure, SENTENCE_WIDE, having)


def _binary_units(rows: pd.DataFrame, levels: Levels, measure: str) -> Iterator[tuple[str, Levels]]:
    """Yield the name and the levels of what has a model of its own: a paradigm, or all minimal pairs of a phenomenon."""
    pairs: dict[str, dict[str, pd.DataFrame]] = {}
    for paradigm, part in rows.groupby("paradigm", sort=True):
        by = levels.get(str(paradigm))
        if by is None or not {*part["condition"]} <= {*by.index}:
            continue  # answers about both members of a pair
        if {*by.index} == {*CODES}:
            # Grammatical minus ungrammatical, as in the other models of grammaticality.
            pairs.setdefault(str(part["phenomenon"].iloc[0]), {})[str(paradigm)] = by.loc[[*reversed(CODES)]]
        elif len(by) > 1 or measure == CHOSEN:
            yield str(paradigm), {str(paradigm): by}
    for phenomenon, having in pairs.items():
        taken = phenomenon in levels and phenomenon not in having
        yield f"{phenomenon} (minimal pairs)" if taken else phenomenon, having


def _two_forms(name: str, measure: str, region: str, having: Levels, others: Sequence[str] = ()) -> Iterator[_Planned]:
    """Yield a model of all factors that vary and their interactions: with intercepts, and with slopes."""
    first = next(iter(having.values()))
    factors = [str(factor) for factor in first if len({*first[factor]}) > 1]
    crossed = "*".join(factors) or "1"
    contrasts = {factor: _coding(factor, {}, list(having), having) for factor in factors}
    fixed = " + ".join([f"{measure} ~ {crossed}", *others])
    forms = [(INTERCEPTS, "declared", "1"), (SLOPES, "maximal", f"1 + {crossed}")]
    for random, policy, group in forms if factors else forms[:1]:
        formula = parse(f"{fixed} + ({group}|participant) + ({group}|item)")
        yield _Planned(name, formula, region, tuple(having), contrasts, random, policy)


def _by_prompt(plan: _Planned, study: _Study) -> list[_Planned]:
    """Return a model of answers once for each prompt, or once for all where the prompt is among its predictors.

    Of ratings on a scale of two points nobody is suggested a model of z.
    """
    if plan.region != SENTENCE_WIDE:
        return [plan]
    if "prompt" in plan.formula.names:
        return [replace(plan, prompt=ALL)]
    rows = study.rows(plan.formula.response)
    prompts = {*rows.loc[rows["paradigm"].isin(plan.paradigms), "prompt"]}
    if plan.random != DECLARED and plan.formula.response == "z":
        prompts -= {*study.rows(YES)["prompt"]}
    elif not prompts:
        return [plan]
    return [replace(plan, prompt=str(prompt)) for prompt in sorted(prompts)]


def _coding(factor: str, contrasts: Mapping[str, str], paradigms: Sequence[str], levels: Levels) -> Coding:
    order = dict.fromkeys(level for paradigm in paradigms for level in levels[paradigm][factor])
    return contrasts.get(factor, "repeated"), list(order)


def _rows(plan: _Planned, study: _Study) -> pd.DataFrame:
    """Return the trials of a model with the factors' levels and the covariates, numeric columns centred."""
    import numpy as np

    levels = study.levels_of(plan.formula.response)
    frame = study.rows(plan.formula.response)
    frame = frame if plan.region == SENTENCE_WIDE else frame[frame["region"] == plan.region]
    frame = rows_of_prompt(frame[frame["paradigm"].isin(plan.paradigms)], None if plan.prompt == ALL else plan.prompt)
    factors = pd.concat([levels[p].reset_index().assign(paradigm=p) for p in plan.paradigms] or [frame.head(0)])
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
    return [
        " ".join(map(str, place)) + prompt_suffix(prompt)
        for place, prompt in zip(places, named_prompts(models), strict=True)
    ]


def _place(plan: _Planned) -> dict[str, str | None]:
    """Return the columns that say which model a row is of."""
    place = {"model": plan.name, "measure": plan.formula.response, "region": plan.region, "prompt": plan.prompt}
    return {**place, "random": plan.random, "family": plan.family}


def _fitted(
    plan: _Planned, rows: pd.DataFrame, engine: str, crosscheck: bool, prompt: str | None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return a model's fixed effects, its probabilities by condition, and the steps that led to it, which name `prompt`."""
    place = _place(plan)
    name = f"{plan.name} {plan.formula.response} {plan.region} {plan.random}{prompt_suffix(prompt)}"
    text, term = str(plan.formula), next((name for name in plan.formula.fixed if name != "1"), "intercept")
    if rows.empty:
        reason = ABSENT.get(plan.formula.response, "no trial of these paradigms was measured there")
        lacking = failed(text, term, reason, rows, engine=engine)
        return lacking.assign(**place), pd.DataFrame(), pd.DataFrame()
    design = None
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
        observed = _probabilities(plan, rows, None, design.codes if design else {})
        return lacking.assign(**place), observed, tried
    if plan.formula.response == "log_rt":
        model = model.assign(**_in_ms(model, design, engine))
    compared = {term: _contrast(str(term), plan, design) for term in model["term"]}
    if plan.formula.response == CHOSEN:
        compared["intercept"] = f"{rows['event'].iloc[0]} chosen"
    shares = _probabilities(plan, rows, steps.fitted, design.codes)
    return model.assign(**place, contrast=model["term"].map(compared)), shares, steps.of(name)


def _probabilities(
    plan: _Planned,
    rows: pd.DataFrame,
    estimated: Estimated | None,
    codes: Mapping[str, tuple[str, Mapping[str, float]]],
) -> pd.DataFrame:
    """Return the rows of condition_probabilities of a binomial model, none of another one."""
    if plan.family != "binomial":
        return pd.DataFrame()
    cells = probabilities(rows, plan.formula.response, list(plan.contrasts), codes, estimated)
    return cells.assign(**_place(plan), event=rows["event"].iloc[0])


def _contrast(term: str, plan: _Planned, design: Coded) -> str | None:
    """Return what a coefficient compares, such as "extraction: object minus subject"; None where no factor is in it."""
    parts = [_compared(name, plan, design) for name in term.split(":")]
    return " x ".join(parts) if any(name in design.codes for name in term.split(":")) else None


def _compared(column: str, plan: _Planned, design: Coded) -> str:
    if column not in design.codes:
        return column
    factor, by = design.codes[column]
    contrast = plan.contrasts[factor]
    coding = contrast if isinstance(contrast, str) else contrast[0]
    levels = list(by)
    nth = [name for name, (of, _) in design.codes.items() if of == factor].index(column)
    match coding:
        case "repeated":
            after, before = levels[nth + 1], levels[nth]
        case "treatment":
            after, before = levels[nth + 1], levels[0]
        case "helmert":
            after, before = levels[nth + 1], f"the mean of {' and '.join(levels[: nth + 1])}, divided by {nth + 2}"
        case _:
            after, before = levels[nth], "the mean of all"
    return f"{factor}: {after} minus {before}"


def _in_ms(model: pd.DataFrame, design: Coded, engine: str) -> dict[str, list[float]]:
    """Return the columns ms, ms_low and ms_high: of the contrasts that are differences of two levels, -1/2 and +1/2."""
    table = model.set_index("term")
    differences = {term: (float("nan"),) * 3 for term in table.index}
    for column, (_, by) in design.codes.items():
        if column in table.index and "intercept" in table.index and sorted(by.values()) == [-0.5, 0.5]:
            differences[column] = _milliseconds(table, column, design.frame, engine)
    return {name: [differences[term][n] for term in table.index] for n, name in enumerate(("ms", "ms_low", "ms_high"))}


def _milliseconds(table: pd.DataFrame, column: str, frame: pd.DataFrame, engine: str) -> tuple[float, float, float]:
    """Return a difference of predictions in ms; no interval where the random effects change with the codes' origin."""
    formula = parse(str(table["formula"].iloc[0]))
    (b0, se0), (b1, se1) = table.loc[["intercept", column], ["estimate", "se"]].to_numpy(dtype="float64")
    if not all(_shifts(random, column) for random in formula.random):
        return exp_difference(b0, b1, se0, se1, float("nan"), float("nan"))
    # The same model with this column's origin at its lower level: its intercept is b0 - b1/2.
    again = fit(frame.assign(**{column: frame[column] + 0.5}), formula.plain(), engine=engine).set_index("term")
    lower = float(again["se"]["intercept"])
    return exp_difference(b0, b1, se0, se1, lower, float(table["df"][column]))


def _shifts(random: Random, column: str) -> bool:
    """Whether these random effects are the same when a constant is added to a column: marginal terms in, correlated."""
    parts = [frozenset(term.split(":")) - {"1"} for term in random.terms]
    having = [part for part in parts if column in part]
    return not having or (random.correlated and all(part - {column} in parts for part in having))


def _rows_code(plan: _Planned, rows: pd.DataFrame) -> str:
    """Return the R code that reads a model's rows from the table of results they stand in."""
    response = plan.formula.response
    table = TABLES_OF.get(response, "binary_answers")
    paradigms = ", ".join(map(quoted, sorted(set(rows["paradigm"]))))
    where = [f"paradigm %in% c({paradigms})"]
    where += {
        "rating_scores": ['role == "target"', "!is.na(z)"],
        "region_times": [f"region == {quoted(plan.region)}"],
        "binary_answers": [f"measure == {quoted(response)}"],
    }[table]
    where += [] if plan.prompt in (None, ALL) else [f"prompt == {quoted(plan.prompt)}"]
    lines = [
        f'rows <- read.csv("{table}.csv", stringsAsFactors = FALSE, encoding = "UTF-8")',
        f"rows <- subset(rows, {' & '.join(where)})",
        *([f"rows${response} <- rows$value"] if response in BINARY else []),
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
