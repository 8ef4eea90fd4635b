"""Sentences about the models of a study's own factors, from the declared table."""

from collections.abc import Mapping, Sequence

import pandas as pd

from ...contrasts import SLOPES
from ...measures import SENTENCE_WIDE
from ...prompts import told
from ...rows import records
from .effects import Row, apa, asked, in_ms, label, p_value

KEY = ("model", "measure", "region", "prompt", "term")


def factorial_effects(models: pd.DataFrame) -> list[str]:
    """Return a sentence for each model: every contrast in APA style, and what the model with slopes says of it."""
    first = models[models["random"] != SLOPES]
    several = len(told(models)) > 1
    slopes = records(models[models["random"] == SLOPES])
    beside: dict[tuple[str, ...], Row] = {tuple(str(row[key]) for key in KEY): row for row in slopes}
    return [
        _sentence(records(rows), beside, several)
        for _, rows in first.groupby(["model", "measure", "region", "prompt"], sort=False, dropna=False)
    ]


def factorial_methods(models: pd.DataFrame) -> str:
    """Return how the models of the study's own factors were made, nothing where there are none."""
    fitted = models.dropna(subset=["estimate"])
    if fitted.empty:
        return ""
    declared = fitted[fitted["random"] != SLOPES]
    formulas = " and ".join(f"`{formula}`" for formula in dict.fromkeys(declared["formula"]))
    text = (
        f"Of the study's own factors we fitted {formulas}, by REML, with degrees of freedom after Satterthwaite (Kuznetsova et "
        "al., 2017), other predictors centred, and these contrasts (Schad et al., 2020): "
        f"{'; '.join(dict.fromkeys(c for c in declared['contrast'].dropna() if ' x ' not in c))}."
    )
    if (fitted["random"] == SLOPES).any():
        text += (
            " Beside them stand models with all slopes that the design allows, reduced until the fit was not singular or no slope "
            "without variance was left (Barr et al., 2013)."
        )
    if fitted["measure"].eq("log_rt").any() and fitted["ms"].notna().any():
        text += " Differences in ms are those of exponentiated predictions at the mean, with delta-method intervals."
    return f"{text} Their p-values are not adjusted for one another."


def _sentence(rows: Sequence[Row], beside: Mapping[tuple[str, ...], Row], several: bool) -> str:
    region = rows[0]["region"]
    where = "" if region == SENTENCE_WIDE else f" of region {region}"
    head = f"{label(rows[0]['model'])}, {rows[0]['measure']}{where}{asked(rows[0]['prompt'] if several else None)}"
    told: list[str] = []
    for row in rows:
        if pd.isna(row["estimate"]):
            return f"{head}: {row['note']}"
        if not pd.isna(row["contrast"]):
            slopes = beside.get(tuple(str(row[key]) for key in KEY))
            again = "" if slopes is None or pd.isna(slopes["p"]) else f"; with slopes p {p_value(slopes['p'])}"
            told.append(f"{label(row['contrast'])}, {apa(row)}{in_ms(row)}{again}")
    return f"{head}: {'; '.join(told)}." if told else f"{head}: {rows[0]['n']} trials."
