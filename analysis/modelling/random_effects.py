"""The models of grammaticality with random effects chosen by a policy, step by step, with R code for each."""

from collections.abc import Mapping

import pandas as pd

from gardenpath.study import TABLES, check

from ..engines.formulas import parse_formula
from ..engines.r_code import quote_text
from ..prompts import format_prompt_suffix, list_prompts
from .grammaticality import PLAIN, RANDOM, SLOPES, TERM, Measured, covariates
from .mixed_models import engine_named, failed, fit_stepwise
from .policies import NotFitted, steps_table


def chosen_models(
    measured: Mapping[Measured, pd.DataFrame], *, engine: str = "glmm", policy: str = "maximal", crosscheck: bool = False
) -> dict[str, pd.DataFrame]:
    """Return chosen_models and model_steps, by name: a model of each phenomenon, measure, region and prompt as `entering` has them.

    Slopes are of grammaticality alone, not of covariates; z has no intercepts by participant where the engine can do
    without. `declared` keeps the form with slopes.
    """
    fits, steps = [], []
    several = len({prompt for _, _, prompt in measured if prompt is not None}) > 1
    for (measure, region, prompt), frame in measured.items():
        for name, rows in frame.groupby("phenomenon", sort=True):
            names = covariates(rows) if measure == "log_rt" else []
            formula = build_formula(measure, names, engine)
            try:
                model, tried = fit_stepwise(
                    rows.assign(**{other: rows[other] - rows[other].mean() for other in names}),
                    formula,
                    engine=engine,
                    policy=policy,
                    slopes=[TERM],
                    crosscheck=crosscheck,
                    rows=rows_code(rows, (measure, region, prompt), str(name), names),
                )
            except NotFitted as error:
                model = failed(formula, TERM, str(error).replace("\n", "; "), rows, engine=engine)
                tried = error.steps
            steps.append(tried.of(f"{measure} {region} {name}{format_prompt_suffix(prompt if several else None)}"))
            fits.append(model.assign(phenomenon=str(name), measure=measure, region=region, prompt=prompt, policy=policy))
    columns = TABLES["chosen_models"].column_names
    models = pd.concat(fits, ignore_index=True) if fits else pd.DataFrame(columns=columns)
    return {"chosen_models": check(models[columns], "chosen_models"), "model_steps": steps_table(steps)}


def build_formula(measure: str, names: list[str], engine: str) -> str:
    fixed = " + ".join([measure + " ~ " + TERM, *names])
    forms = [f"{fixed} + {form}" for form in (*RANDOM[measure][SLOPES], PLAIN)]
    return next(form for form in forms if not engine_named(engine).describe_unsupported(parse_formula(form)))


def steps_named(models: pd.DataFrame) -> pd.Series:
    """Return how each row of chosen_models is named in model_steps."""
    several = list_prompts(models) != [None]
    prompts = models["prompt"].map(lambda prompt: format_prompt_suffix(prompt if several and not pd.isna(prompt) else None))
    return models["measure"] + " " + models["region"] + " " + models["phenomenon"] + prompts.astype("string")


def rows_code(rows: pd.DataFrame, measured: Measured, phenomenon: str, names: list[str]) -> str:
    """Return the R code that reads a model's rows from the table of results they stand in."""
    measure, region, prompt = measured
    table = "rating_scores" if measure == "z" else "region_times"
    paradigms = ", ".join(quote_text(name) for name in sorted(set(rows["paradigm"])))
    where = [f"phenomenon == {quote_text(phenomenon)}", f"paradigm %in% c({paradigms})"]
    where += (
        [f"region == {quote_text(region)}"]
        if prompt is None
        else [f"prompt == {quote_text(prompt)}", 'role == "target"', "!is.na(z)"]
    )
    lines = [
        f'rows <- read.csv("{table}.csv", stringsAsFactors = FALSE, encoding = "UTF-8")',
        f"rows <- subset(rows, {' & '.join(where)})",
        f'rows${TERM} <- ifelse(rows$condition == "grammatical", 0.5, -0.5)',
    ]
    source = {"log_trial": "log1p(rows$trial)", "position": "rows$word"}
    lines += [f"rows${name} <- {source[name]} - mean({source[name]})" for name in names]
    return "\n".join(lines)
