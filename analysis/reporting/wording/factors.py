"""What a study's own factors do to ratings, reading times and answers."""

from collections.abc import Mapping, Sequence

import pandas as pd

from ...measuring.ratings_and_times import SENTENCE_WIDE
from ...modelling.grammaticality import SLOPES
from ...prompts import named_prompts
from ...row_dicts import records
from .effects import in_ms
from .labels import asked, label, response
from .numbers import Row, apa, significance

KEY = ("model", "measure", "region", "prompt", "term")


def factorial_effects(models: pd.DataFrame) -> list[str]:
    """Return a sentence for each model: every contrast in APA style, and what the model with slopes says of it."""
    models = models.assign(named=named_prompts(models))
    first = models[models["random"] != SLOPES]
    slopes = records(models[models["random"] == SLOPES])
    beside: dict[tuple[str, ...], Row] = {tuple(str(row[key]) for key in KEY): row for row in slopes}
    return [
        _sentence(records(rows), beside)
        for _, rows in first.groupby(["model", "measure", "region", "prompt"], sort=False, dropna=False)
    ]


def _sentence(rows: Sequence[Row], beside: Mapping[tuple[str, ...], Row]) -> str:
    region = rows[0]["region"]
    where = "" if region == SENTENCE_WIDE else f" of region {region}"
    measure = response(rows[0]["measure"]) if rows[0]["family"] == "binomial" else rows[0]["measure"]
    head = f"{label(rows[0]['model'])}, {measure}{where}{asked(rows[0]['named'])}"
    contrasts: list[str] = []
    for row in rows:
        if pd.isna(row["estimate"]):
            return f"{head}: {row['note']}"
        if not pd.isna(row["contrast"]):
            slopes = beside.get(tuple(str(row[key]) for key in KEY))
            again = "" if slopes is None or pd.isna(slopes["p"]) else f"; with slopes: {significance(slopes)}"
            contrasts.append(f"{label(row['contrast'])}, {apa(row)}{in_ms(row)}{again}")
    return f"{head}: {'; '.join(contrasts)}." if contrasts else f"{head}: {rows[0]['n']} trials."


def level_differences(table: pd.DataFrame) -> list[str]:
    """Return each difference between levels of a factor."""
    return [
        f"{label(row['factor'])}, {label(row['contrast']).replace(' - ', ' − ')}"
        f"{'' if row['at'] == 'all' else ' at ' + str(row['at'])}: {apa(row)} (p adjusted: {row['adjustment']})."
        for row in records(table)
    ]
