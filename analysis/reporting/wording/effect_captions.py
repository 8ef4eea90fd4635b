"""Tables and captions of effects: what is shown of cells, contrasts and grammaticality, and how to read it."""

import pandas as pd

from gardenpath.study.responses import RESPONSES

from ...measuring.binary_responses import BINARY_MEASURES
from ...measuring.cell_means import CELL_SEPARATOR
from ...measuring.region_spans import SENTENCE_REGION
from ...model_results import is_intercepts_form
from ...prompts import label_prompts
from ...row_dicts import list_rows
from .coefficients import ABSENT, Coefficients, coefficients, once
from .labels import asked, label, listed, region_name, response
from .numbers import Row, counted, minus, percent
from .sources import Sentence, read_off
from .terms import compared, terms_by_model

NONE = Coefficients((), (), 0)
SIMPLE = (
    "Simple effects: differences between the levels of a factor at each level of those it interacts with. They are contrasts of "
    "the model in the table above, with degrees of freedom after Satterthwaite; p_Holm is adjusted over the simple effects of a "
    "factor in one model (Holm, 1979)."
)
CELLS = "Means by condition with 95% Cousineau-Morey intervals: of reading times the geometric mean in ms, of ratings the mean z."
BINARY_RESPONSES_CAPTION = (
    "Of answers, the probability by the binomial model where random effects are zero, with Wald's 95% interval."
)
CHOICES = (
    "Forced choices: how often the member of a pair that the materials list first was chosen, by the binomial model where random "
    "effects are zero, with Wald's 95% interval. An interval that leaves out the dashed line shows a preference."
)
PREFERENCES = "Forced choices: the share observed, and the probability by the binomial model with Wald's 95% interval."
HEADLINE = (
    "Left: the model with as many slopes by participant and item as the design and the data support (Barr et al., 2013), on which "
    "conclusions rest; right: the model with intercepts alone, the form most often published."
)
FILLED = "Filled: the headline, with slopes wherever the data allow them; hollow: intercepts alone, the form most often published."
UNADJUSTED = "They hold for differences within participants, and are not adjusted for covariates."


def interaction(means: pd.DataFrame) -> str:
    """Return the caption of an interaction plot: what the dots are, their intervals, and who was left out.

    >>> means = pd.DataFrame({"response": ["z"], "n_participants": [38], "n_excluded_participants": [2], "model": ["m"]})
    >>> interaction(means.assign(factors="a x b", region="sentence", prompt=None)).rpartition("covariates. ")[2]
    'Of 40 participants, 2 were left out for having no trial in one of the conditions (rating (z)).'
    """
    text = (
        f"Means of {' × '.join(map(label, str(means['factors'].iloc[0]).split(CELL_SEPARATOR)))}: means of "
        "participants' condition means"
        ", with 95% Cousineau-Morey intervals (Morey, 2008)."
    )
    if (means["response"] == "log_rt").any():
        text += " Reading times are averaged as logarithms and labelled in ms; their panels span the same ratio."
    text = f"{text} {UNADJUSTED}" if linear(means).any() else ""
    answers = [] if linear(means).all() else [BINARY_RESPONSES_CAPTION, "Their axis is in log odds."]
    return " ".join(filter(None, [text, *answers, *_left_out(means)]))


def linear(means: pd.DataFrame) -> "pd.Series[bool]":
    """Return for each row of factorial_means whether it is of a linear model."""
    return ~means["response"].isin(BINARY_MEASURES)


def cells_caption(means: pd.DataFrame) -> Sentence:
    """Return the caption of the table of a design's cells."""
    of = linear(means)
    text = " ".join(text for text, there in ((CELLS, of.any()), (BINARY_RESPONSES_CAPTION, not of.all())) if there)
    return read_off(text, "factorial_means", means)


def _left_out(means: pd.DataFrame) -> list[str]:
    once = means[means["n_excluded_participants"] > 0].drop_duplicates(["model", "response", "region", "prompt"])
    places: dict[tuple[int, int], list[str]] = {}
    for place, row in zip(_places(once), list_rows(once), strict=True):
        places.setdefault((row["n_excluded_participants"], row["n_participants"] + row["n_excluded_participants"]), []).append(
            place
        )
    return [
        f"Of {counted(of, 'participant')}, {dropped} {'was' if dropped == 1 else 'were'} left out for having no trial in one of "
        f"the conditions ({listed(dict.fromkeys(named))})."
        for (dropped, of), named in places.items()
    ]


def _places(rows: pd.DataFrame) -> list[str]:
    """Return the response of each row with its region, or of reading times the region alone."""
    return [_name_place(measure, region) for measure, region in zip(rows["response"], rows["region"], strict=True)]


def _name_place(measure: str, region: str) -> str:
    name = response(measure).removesuffix(" (log odds)")
    if region == SENTENCE_REGION:
        return name
    return f"{name}, {region_name(region)}" if measure in BINARY_MEASURES else region_name(region)


def cells(means: pd.DataFrame) -> Coefficients:
    """Return the table of a design's cells: a row a cell, a column a response, each mean with its interval."""
    first = means.drop_duplicates("levels")
    factors = str(means["factors"].iloc[0]).split(CELL_SEPARATOR)
    levels = [text.split(CELL_SEPARATOR) for text in first["levels"]]
    if any(len(parts) != len(factors) for parts in levels):
        factors, levels = [" × ".join(factors)], [[text] for text in first["levels"]]
    columns, several = [label(name) for name in factors], len(means["model"].unique()) > 1
    shown: list[dict[str, str]] = []
    for (model, *_), rows in means.groupby(["model", "response", "region", "prompt"], dropna=False, sort=False):
        [place] = _places(rows.head(1))
        columns.append(f"{label(model)}: {place}" if several else place)
        shown.append(dict(zip(rows["levels"], map(_mean, list_rows(rows)), strict=True)))
    names = once([tuple(map(label, parts)) for parts in levels])
    rows_ = [(*cell, *(of.get(text, ABSENT) for of in shown)) for cell, text in zip(names, first["levels"], strict=True)]
    return Coefficients(tuple(columns), tuple(rows_), len(factors))


def preferences(means: pd.DataFrame) -> Coefficients:
    """Return the table of choices without factors: a row a model."""
    rows = [(label(row["model"]), str(row["n_trials"]), percent(row["share"]), _mean(row)) for row in list_rows(means)]
    return Coefficients(("pairs of", "choices", "observed", "by the model"), tuple(rows), 1)


def _mean(row: Row) -> str:
    """Return a cell's mean with its interval: in ms of log reading times, of answers the probability."""
    if row["response"] in BINARY_MEASURES:
        mean, low, high = (row[name] for name in ("probability", "probability_low", "probability_high"))
        return f"{percent(row['share'])} observed" if pd.isna(mean) else f"{percent(mean)} [{percent(low)}, {percent(high)}]"
    in_ms = not pd.isna(row["ms"])
    mean, low, high = (row[name] for name in (("ms", "ms_low", "ms_high") if in_ms else ("mean_value", "ci_low", "ci_high")))
    form = ".0f" if in_ms or row["response"] == "rt" else ".2f"
    return ABSENT if pd.isna(mean) else minus(f"{mean:{form}} [{low:{form}}, {high:{form}}]").replace(" [nan, nan]", "")


def contrasts(models: pd.DataFrame) -> Coefficients:
    """Return the table of every contrast: the headline of each, and beside it the published form."""
    rows = models[models["contrast"].notna() | models["estimate"].isna()]
    if rows.empty:
        return NONE
    effects, headings = ("effect", terms_by_model(rows).to_list()), _headings(rows)
    chosen = rows["headline"]
    if len({*headings}) > 1 and len({*headings}) == chosen.sum():  # one effect each: a row is enough
        return coefficients(rows, [("model", headings), effects])
    return coefficients(rows, [effects], headings)


def _headings(rows: pd.DataFrame) -> list[str]:
    """Return of what model each row is: response and region, with the prompt and the model where there are several."""
    several = len(rows["model"].unique()) > 1
    return [
        (f"{label(row['model'])}: " if several else "")
        + response(row["response"])
        + asked(prompt)
        + ("" if row["region"] == SENTENCE_REGION else f", {region_name(row['region'])}")
        for row, prompt in zip(list_rows(rows), label_prompts(rows), strict=True)
    ]


def simple(effects: pd.DataFrame) -> Coefficients:
    """Return the table of simple effects under the headline of each model."""
    rows = effects[effects["headline"]].reset_index(drop=True)
    names = [
        f"{compared(f'{factor}: {levels}')} at {label(at)}"
        for factor, levels, at in zip(rows["factors"], rows["contrast"], rows["within"], strict=True)
    ]
    return coefficients(rows, [("simple effect", names)], _headings(rows)) if len(rows) else NONE


def contrasts_caption(models: pd.DataFrame) -> Sentence:
    """Return the caption of the table of contrasts."""
    text = "Effects of the study's factors, in units of the response."
    if "family" in models and (models["family"] == "binomial").any():
        text += " Answers that are one of two are modelled in log odds."
    if is_intercepts_form(models).any():
        text += f" {HEADLINE}"
    if models["p_adjusted"].notna().any():
        text += " p_Holm is adjusted over the regions in which the same effect is tested (Holm, 1979)."
    if models.loc[models["headline"], "ms"].notna().any():
        text += " ms: the difference at the mean, back-transformed."
    if models["term"].str.contains(":", regex=False).any():
        text += " An effect that is a product of factors is an interaction, a difference of differences."
    return read_off(text, "effects", models)


def grammaticality(models: pd.DataFrame) -> Coefficients:
    """Return the table of the effect of grammaticality in each phenomenon."""
    names = [("phenomenon", [label(name) for name in models["model"]])]
    if len(models["prompt"].dropna().unique()) > 1:
        names.append(("prompt", [label(prompt) for prompt in models["prompt"]]))
    regions = [region_name(region) for region in models["region"]] if len(models["region"].unique()) > 1 else []
    return coefficients(models, names, regions) if len(models) else NONE


def grammaticality_caption(models: pd.DataFrame, adjusted: str) -> str:
    """Return the caption of the table of grammaticality; `adjusted` says over what p_BH is."""
    unit = RESPONSES[models["response"].iloc[0]].effect_unit if len(models) else ""
    text = f"Effect of grammaticality, grammatical minus ungrammatical, in {unit}."
    text += f" {HEADLINE}" if is_intercepts_form(models).any() else ""
    return f"{text} p_BH is {adjusted}."
