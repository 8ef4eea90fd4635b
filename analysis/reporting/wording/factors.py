"""What a study's own factors do to ratings and reading times."""

from collections.abc import Mapping, Sequence

import pandas as pd

from ...ledger import ALL
from ...measuring.ratings_and_times import SENTENCE_WIDE
from ...modelling.grammaticality import SLOPES
from ...prompts import named_prompts
from ...row_dicts import records
from .effects import in_ms
from .labels import asked, label
from .numbers import Row, apa, percent, significance

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


ANSWERS = {  # what the log odds of a binomial model are of
    "correct": "log odds of a right answer",
    "yes": "log odds of yes",
    "chosen": "log odds of the choice",
}


def measured(measure: str) -> str:
    """Return a response as sentences and axes name it.

    >>> measured("correct"), measured("z")
    ('log odds of a right answer', 'z')
    """
    return ANSWERS.get(measure, measure)


def condition_shares(probabilities: pd.DataFrame) -> list[str]:
    """Return, for each binomial model with intercepts or as declared, the probability in each condition with its interval; where
    there is no estimate, the share of answers.
    """
    rows = probabilities.assign(named=named_prompts(probabilities))
    rows = rows[rows["random"] != SLOPES]
    return [
        f"{label(cells[0]['model'])}, {EVENTS.get(measure, label(cells[0]['event']) + ' chosen')}{asked(cells[0]['named'])}: "
        f"{'; '.join(_share(cell) for cell in cells)}."
        for (_, measure, _, _), part in rows.groupby(["model", "measure", "prompt", "random"], sort=False, dropna=False)
        for cells in [records(part)]
    ]


EVENTS = {"correct": "right answers", "yes": "yes"}


def _share(cell: Row) -> str:
    where = "" if cell["condition"] == ALL else f"{label(cell['condition'])} "
    if pd.isna(cell["probability"]):
        return f"{where}{percent(cell['share'])} of {cell['n']}"
    ends = f"95% CI [{percent(cell['ci_low'])}, {percent(cell['ci_high'])}]"
    return f"{where}{percent(cell['probability'])}, {ends}"


def _sentence(rows: Sequence[Row], beside: Mapping[tuple[str, ...], Row]) -> str:
    region = rows[0]["region"]
    where = "" if region == SENTENCE_WIDE else f" of region {region}"
    head = f"{label(rows[0]['model'])}, {measured(rows[0]['measure'])}{where}{asked(rows[0]['named'])}"
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
