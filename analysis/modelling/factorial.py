"""Models of a study's own factors: as study.toml declares them, else all factors of each paradigm and their interactions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from gardenpath.study import TABLES, DataError, ModelSection, check

from ..engines.formulas import Formula, Random, parse
from ..engines.r_code import quoted
from ..grammatical_status import CODES
from ..ledger import ALL
from ..measuring.ratings_and_times import SENTENCE_WIDE
from ..prompts import prompt_suffix, prompts_of, rows_of_prompt
from .coding import Coded, Coding, coded
from .grammaticality import INTERCEPTS, SLOPES, detectable, exp_difference
from .mixed_models import failed, fit, fit_stepwise
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


def factorial_models(
    scores: pd.DataFrame,
    times: pd.DataFrame,
    conditions: pd.DataFrame,
    *,
    models: Sequence[ModelSection] = (),
    engine: str = "glmm",
    policy: str = "declared",
    crosscheck: bool = False,
) -> dict[str, pd.DataFrame]:
    """Return factorial_models, contrast_codes and model_steps, by name: the fixed effects of the models that `models` declares;
    where there are none, of those that a design suggests.

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
    levels = _levels(conditions)
    plans = _declared(models, levels, policy) if models else _suggested(scores, times, levels)
    targets = scores[scores["role"] == "target"]
    planned = [each for plan in plans for each in _by_prompt(plan, targets)]
    several = len({plan.prompt for plan in planned} - {None}) > 1
    entering = [_rows(plan, scores, times, levels) for plan in planned]
    fits = [_fitted(plan, rows, engine, crosscheck, several) for plan, rows in zip(planned, entering, strict=True)]
    columns = TABLES["factorial_models"].names
    table = pd.DataFrame(columns=columns)
    if fits:
        table = pd.concat([model for model, _ in fits], ignore_index=True)
        table = table.assign(mde=detectable(table[table["term"] != "intercept"])).reindex(columns=columns)
    return {
        "factorial_models": check(table, "factorial_models"),
        "contrast_codes": _contrast_codes(planned, entering),
        "model_steps": steps_table([steps for _, steps in fits]),
    }


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
        contrasts = {name: _coding(name, model.contrasts, having, levels) for name in sorted(factors)}
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
) -> Coding:
    order = dict.fromkeys(level for paradigm in paradigms for level in levels[paradigm][factor])
    return contrasts.get(factor, "repeated"), list(order)


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


def _fitted(
    plan: _Planned, rows: pd.DataFrame, engine: str, crosscheck: bool, several: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a model's fixed effects and the steps that led to it."""
    place = {"model": plan.name, "measure": plan.formula.response, "region": plan.region, "random": plan.random}
    name = " ".join(place.values()) + prompt_suffix(plan.prompt if several else None)
    text, term = str(plan.formula), next((name for name in plan.formula.fixed if name != "1"), "intercept")
    if rows.empty:
        lacking = failed(text, term, "no trial of these paradigms was measured there", rows, engine=engine)
        return lacking.assign(**place, prompt=plan.prompt), pd.DataFrame()
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
        return lacking.assign(**place, prompt=plan.prompt), tried
    if plan.formula.response == "log_rt":
        model = model.assign(**_in_ms(model, design, engine))
    compared = {term: _contrast(str(term), plan, design) for term in model["term"]}
    return model.assign(**place, prompt=plan.prompt, contrast=model["term"].map(compared)), steps.of(name)


def _contrast_codes(plans: Sequence[_Planned], entering: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the columns of each model's contrasts, in each condition that enters it."""
    names = TABLES["contrast_codes"].names
    tables = [pd.DataFrame(columns=names)]
    for plan, rows in zip(plans, entering, strict=True):
        try:
            design = coded(rows, plan.formula, plan.contrasts)
        except DataError:  # which its row in factorial_models tells
            continue
        place = ["paradigm", "condition"]
        cells = design.frame[[*place, *design.codes]].drop_duplicates(place).sort_values(place)
        cells = cells if design.codes else cells.assign(**{"": float("nan")})
        codes = cells.melt(place, var_name="column", value_name="code")
        tables.append(codes.assign(model=plan.name, measure=plan.formula.response)[names])
    table = pd.concat(tables, ignore_index=True).drop_duplicates(names[:-1])
    return check(table.assign(column=table["column"].mask(table["column"] == "", None)), "contrast_codes")


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
