"""Effects whose p is too small, since a slope that the design allows could not be estimated; what stands beside them."""

import pandas as pd

from ...fitting.aggregate_tests import MIN_F
from ...model_results import COEFFICIENT
from ...row_dicts import list_rows
from .factors import describe_model, with_names
from .labels import listed
from .numbers import Row, minus, p_value
from .sources import Sentence, read_off
from .terms import terms

HOW = (
    "Where the variance of such a slope could not be estimated, p of the effect is called optimistic and has no star, and the "
    "effect is tested by participants and by items too, on empirical log odds (Clark, 1973; Barr, 2008)."
)


def describe_optimistic_effects(
    results: pd.DataFrame, aggregate_tests: pd.DataFrame, random_effects: pd.DataFrame
) -> list[Sentence]:
    """Return a sentence for each effect of a headline whose p is optimistic, with its tests by participants and by items.

    `results` are effects as `join_results` returns them.
    """
    first = with_names(results[results["headline"] & (results["kind"] == COEFFICIENT)])
    sentences = []
    concerned = first["model_id"].isin(first.loc[first["optimistic"].fillna(False).astype(bool), "model_id"])
    for _, part in first[concerned].groupby("model_id", sort=False):
        rows = list_rows(part)
        for row, name in zip(rows, terms(rows), strict=True):
            if row["optimistic"]:
                tests = aggregate_tests[(aggregate_tests["model_id"] == row["model_id"]) & (aggregate_tests["term"] == row["term"])]
                sentences.append(_describe(row, name, tests, random_effects))
    return sentences


def _describe(row: Row, name: str, tests: pd.DataFrame, random_effects: pd.DataFrame) -> Sentence:
    lacking = random_effects[
        (random_effects["model_id"] == row["model_id"])
        & (random_effects["term"] == row["term"])
        & (random_effects["status"] == "not estimated")
    ]
    of = f" by {listed(sorted({*lacking['grouping']}))}" if len(lacking) else ""
    text = f"{describe_model(row)}: p of {name} is optimistic (p {p_value(row['p'])})"
    text += f", since the variance of its slopes{of} could not be estimated"
    told = [_tell(one) for one in list_rows(tests.dropna(subset="statistic"))]
    beside = listed(told) if told else "too few participants and items have all conditions for tests by participants and by items"
    sentence = read_off(f"{text}; {beside}.", "effects", row)
    sentence = read_off(sentence, "aggregate_tests", tests)
    return read_off(sentence, "random_effects", lacking)


def _tell(test: Row) -> str:
    """Return a test in APA style.

    >>> _tell({"grouping": "participant", "statistic": -2.1, "df": 23.0, "p": 0.047})
    'by participants t(23) = \u22122.10, p = .047'
    """
    p = f"p {p_value(test['p'])}"
    if test["grouping"] == MIN_F:
        return f"min F'(1, {test['df']:.1f}) = {test['statistic']:.2f}, {p}"
    return minus(f"by {test['grouping']}s t({test['df']:.0f}) = {test['statistic']:.2f}, {p}")
