"""How the terms of models are called: contrasts by their levels, interactions by their factors."""

import re
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from ...row_dicts import list_rows
from .labels import label
from .numbers import Row

COVARIATES = {"intercept": "intercept", "log_trial": "log trial number"}
CROSSED = re.compile(r" x (?=\w+(?:: | x |$))")  # between the parts of an interaction in the column contrast


def term(row: Row, levels: bool = False) -> str:
    """Return a term as people write it; an interaction by its factors alone, or with `levels` by what it compares too.

    >>> term({"term": "noun_name", "contrast": "noun_phrase: name minus description"})
    'noun phrase (name − description)'
    >>> term({"term": "a:b", "contrast": "extraction: object minus subject x noun: name minus description"})
    'extraction × noun'
    >>> term({"term": "log_trial", "contrast": None})
    'log trial number'
    """
    if pd.isna(row["contrast"]):
        return COVARIATES.get(row["term"], label(row["term"]).replace(":", " × "))
    parts = CROSSED.split(str(row["contrast"]))
    return " × ".join(compared(part) if levels or len(parts) == 1 else factor(part) for part in parts)


def compared(part: str) -> str:
    """Return a factor with the levels that a contrast compares.

    >>> compared("extraction: object minus subject")
    'extraction (object − subject)'
    """
    name, colon, levels = part.partition(": ")
    return f"{label(name)} ({label(levels.replace(' minus ', ' − '))})" if colon else label(name)


def factor(part: str) -> str:
    """Return the factor of a contrast alone.

    >>> factor("noun_phrase: name minus description")
    'noun phrase'
    """
    return label(part.partition(": ")[0])


def terms(rows: pd.DataFrame | Sequence[Row]) -> list[str]:
    """Return the terms of one model; interactions of the same factors with their levels, which tell them apart.

    >>> several = [{"term": f"a:b{n}", "contrast": f"a: y minus x x b: {n} minus 0"} for n in (1, 2)]
    >>> terms(several)
    ['a (y − x) × b (1 − 0)', 'a (y − x) × b (2 − 0)']
    """
    listed = list_rows(rows) if isinstance(rows, pd.DataFrame) else list(rows)
    short = Counter(term(row) for row in listed)
    return [term(row, levels=short[term(row)] > 1) for row in listed]


def short(rows: Sequence[Row]) -> list[str]:
    """Return the terms of one model by their factors alone where these tell them apart.

    >>> short([{"term": "a_y_x", "contrast": "a: y minus x"}, {"term": "b_1_0", "contrast": "b: 1 minus 0"}])
    ['a', 'b']
    """
    names = [" × ".join(map(factor, CROSSED.split(str(row["contrast"])))) for row in rows]
    return names if len({*names}) == len(names) else terms(rows)


def terms_by_model(models: pd.DataFrame) -> "pd.Series[str]":
    """Return the term of each effect of a study's factors as people write it."""
    groups = models.groupby(["model", "response", "region", "prompt", "random"], dropna=False, sort=False)
    parts = [pd.Series(terms(rows), index=rows.index, dtype="object") for _, rows in groups]
    return pd.concat(parts).reindex(models.index) if parts else pd.Series(dtype="object")
