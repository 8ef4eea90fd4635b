"""A planned model is fitted to its trials: its coefficients, the fits on the way, and its factors as columns."""

from dataclasses import dataclass, field, replace

import pandas as pd

from gardenpath.study import DataError
from gardenpath.study.config import COVARIATES
from gardenpath.study.plans import PlannedModel
from gardenpath.study.responses import BINARY_TABLE, RATINGS_TABLE, RESPONSES, TIMES_TABLE, is_standardised
from gardenpath.study.table_files import list_factors

from ..engines.estimates import ModelEstimate
from ..engines.formulas import parse_formula
from ..engines.r_code import quote_text
from ..exclusion_log import ALL_CONDITIONS
from ..measuring.participant_measures import find_participant_factors
from ..modelling.coding import Coded
from ..modelling.mixed_models import Fit, failed, fit_coded
from ..modelling.ordinal import ENGINE as ORDINAL_ENGINE
from ..modelling.ordinal import fit_categories, require_categories
from ..modelling.policies import NotFitted, Steps
from ..modelling.separation import binary
from ..plan.trials import StudyTrials, code_trials


@dataclass(frozen=True)
class PlannedFit:
    """What there is of a planned model: one row a fixed effect (one without numbers where it could not be fitted), the fits on the
    way, the trials with the factors as columns, and the estimate that was kept.
    """

    model: PlannedModel
    coefficients: pd.DataFrame
    steps: Steps
    trials: pd.DataFrame
    design: Coded | None = None
    estimated: ModelEstimate | None = field(default=None, repr=False)

    @property
    def is_fitted(self) -> bool:
        """Whether there are estimates."""
        return self.estimated is not None


def fit_planned(model: PlannedModel, trials: StudyTrials, engine: str) -> PlannedFit:
    """Return a planned model as it was fitted; where the data do not allow it, the reason is its note."""
    rows = trials.select(model)
    used = ORDINAL_ENGINE if model.family == "cumulative" else engine
    design = None
    try:
        if rows.empty:
            raise DataError(RESPONSES[model.response].absence)
        design = code_trials(model, rows)
        code = format_rows_code(model, design.frame, trials) if engine == "lme4" else ""
        fit = fit_design(model, design, engine, code)
    except DataError as error:
        formula = parse_formula(model.formula)
        term = next((name for name in formula.fixed if name != "1"), "intercept")
        reason = str(error).replace("\n", "; ")
        lacking = failed(model.formula, term, reason, rows, engine=used)
        steps = error.steps if isinstance(error, NotFitted) else Steps(used)
        return PlannedFit(model, lacking, steps, rows, design)
    return PlannedFit(model, fit.coefficients, fit.steps, rows, design, fit.steps.kept)


def fit_design(model: PlannedModel, design: Coded, engine: str, rows_code: str = "") -> Fit:
    """Return the fit of a planned model to its coded trials, from `first_fit` on; `rows_code` is the R code that reads them.

    Raises `DataError` where the data do not allow it.
    """
    start = parse_formula(model.first_fit)
    response = start.response
    if model.family == "cumulative":
        require_categories(design.frame[response])
        return fit_categories(design, start, link=model.link, policy=model.policy)
    if model.family == "binomial":
        design = replace(design, frame=design.frame.assign(**binary(design.frame, response)))
    return fit_coded(
        design,
        start,
        declared_formula=parse_formula(model.formula),
        family=model.family,
        engine=engine,
        policy=model.policy,
        crosscheck=model.crosscheck,
        rows=rows_code,
    )


def refit(model: PlannedModel, rows: pd.DataFrame, response: str, engine: str) -> pd.DataFrame:
    """Return the coefficients of a planned model of pairs with another column as its response."""
    formula = f"{response} ~ {model.formula.partition(' ~ ')[2]}"
    varied = replace(model, formula=formula)
    parsed = parse_formula(formula)
    try:
        design = code_trials(varied, rows)
        fit = fit_coded(design, parsed, declared_formula=parsed, family="gaussian", engine=engine, policy="declared")
    except DataError as error:
        return failed(formula, next(iter(model.coding)), str(error).replace("\n", "; "), rows, engine=engine)
    return fit.coefficients


def format_rows_code(model: PlannedModel, rows: pd.DataFrame, trials: StudyTrials) -> str:
    """Return the R code that reads a model's rows from the table of results they stand in."""
    response = model.response
    table = RESPONSES[response].table
    paradigms = model.paradigms if model.is_of_pairs else sorted(set(rows["paradigm"]))
    where = [f"paradigm %in% c({', '.join(map(quote_text, paradigms))})"]
    where += {
        RATINGS_TABLE: ['role == "target"', "!is.na(z)", f"task == {quote_text(RESPONSES[response].task)}"],
        TIMES_TABLE: [f"region == {quote_text(model.region)}"],
        BINARY_TABLE: [f"measure == {quote_text(response)}"],
    }[table]
    where += [] if model.prompt in (None, ALL_CONDITIONS) else [f"prompt == {quote_text(model.prompt)}"]
    lines = [
        f'rows <- read.csv("{table}.csv", stringsAsFactors = FALSE, encoding = "UTF-8")',
        f"rows <- subset(rows, {' & '.join(where)})",
        *([f"rows${response} <- rows$response"] if table == BINARY_TABLE else []),
        *([f"rows${response} <- rows$z"] if is_standardised(response) and response != "z" else []),
    ]
    numbers = trials.list_numeric_predictors(model, rows)
    measures = [name for name in (*find_participant_factors(rows, model.coding), *numbers) if name in list_factors(rows, table)]
    lines += [f"rows <- subset(rows, !is.na({name}))" for name in measures if name not in COVARIATES]
    for factor in (name for name in model.coding if name not in measures):
        if model.is_of_pairs:
            lines.append(f"rows${factor} <- rows$condition")
            continue
        levels = rows.drop_duplicates(["paradigm", "condition"])
        pairs = [
            f"{quote_text(f'{p}/{c}')} = {quote_text(level)}"
            for p, c, level in levels[["paradigm", "condition", factor]].itertuples(index=False)
        ]
        lines.append(f'rows${factor} <- unname(c({", ".join(pairs)})[paste(rows$paradigm, rows$condition, sep = "/")])')
    source = {"log_trial": "log1p(rows$trial)", "position": "rows$word"}
    for name in numbers:
        value = source.get(name, f"rows${name}")
        lines.append(f"rows${name} <- {value} - mean({value})")
    return "\n".join(lines)
