"""Numbers in words: statistics in APA style, and a sentence for each result, all from the declared tables."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from .contrasts import TERM
from .evaluation import MEAN, POOLED

Row = Mapping[str, Any]
ALPHA = 0.05


def apa(row: Row) -> str:
    """Return a coefficient in APA style: estimate, 95 % interval, t with its df, p, and p adjusted where there is one.

    Estimates have as many decimals as show two digits of their standard error.

    >>> row = {"estimate": 0.124, "se": 0.0294, "df": 614.0, "t": 4.22, "p": 2.8e-5, "ci_low": 0.066, "ci_high": 0.182}
    >>> apa(row)
    'b = 0.124, 95% CI [0.066, 0.182], t(614.0) = 4.22, p < .001'
    """
    places = decimals(row["se"])
    df: str = "" if pd.isna(row["df"]) else f"({row['df']:.1f})"
    low, high = (_signed(row[end], places) for end in ("ci_low", "ci_high"))
    parts = [f"b = {_signed(row['estimate'], places)}", f"95% CI [{low}, {high}]"]
    parts += [f"{'t' if df else 'z'}{df} = {_signed(row['t'], 2)}", f"p {p_value(row['p'])}"]
    adjusted = row.get("p_bh")
    return ", ".join(parts if adjusted is None or pd.isna(adjusted) else [*parts, f"p_BH {p_value(adjusted)}"])


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries.

    >>> records(pd.DataFrame({"n": [1]}))
    [{'n': 1}]
    """
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def decimals(se: float) -> int:
    """Return how many decimals show two digits of a standard error, two at least.

    >>> decimals(0.12), decimals(0.0294), decimals(0.00092)
    (2, 3, 5)
    """
    if pd.isna(se) or se <= 0:
        return 2
    return min(6, max(2, 1 - math.floor(math.log10(se))))


def p_value(p: float) -> str:
    """Return p with its relation, in APA style.

    >>> p_value(0.0414), p_value(0.00001), p_value(1.0)
    ('= .041', '< .001', '= 1.000')
    """
    if pd.isna(p):
        return "not available"
    if p < 0.001:
        return "< .001"
    return f"= {p:.3f}".replace("0.", ".")


def percent(share: float) -> str:
    """Return a share as a percentage with one decimal.

    >>> percent(0.8751)
    '87.5%'
    """
    return f"{100 * share:.1f}%"


def _signed(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    text = text[1:] if float(text) == 0 and text.startswith("-") else text
    return text.replace("-", "−")


def label(name: object) -> str:
    """Return a name as people write it.

    >>> label("anaphor_agreement")
    'anaphor agreement'
    """
    return str(name).replace("_", " ")


def effect(row: Row) -> str:
    """Return what a grammaticality coefficient means for ratings (measure z) or reading times (measure log_rt)."""
    name = label(row["phenomenon"])
    if pd.isna(row["estimate"]):
        return f"{name}: {row['note']}"
    what = "rated" if row["measure"] == "z" else "read"
    p = row["p_bh"] if not pd.isna(row["p_bh"]) else row["p"]
    if pd.isna(p) or p >= ALPHA:
        return f"{name}: the data do not show that grammaticality changes how sentences were {what} ({apa(row)})."
    if what == "rated":
        higher = "higher" if row["estimate"] > 0 else "lower"
        size = f"{abs(row['estimate']):.2f} standard deviations {higher}"
        return f"{name}: grammatical sentences were rated {size} than ungrammatical ones ({apa(row)})."
    change = math.expm1(row["estimate"])
    size = f"{percent(abs(change))} {'more' if change > 0 else 'less'} time"
    return f"{name}: the critical region took {size} in grammatical than in ungrammatical sentences ({apa(row)})."


def effects(models: pd.DataFrame, measure: str) -> list[str]:
    """Return how many phenomena of a measure differ after correction, then a sentence for each."""
    rows = models[(models["measure"] == measure) & (models["term"] == TERM)]
    if rows.empty:
        return []
    found = int((rows["p_bh"] < ALPHA).sum())
    what = "Ratings" if measure == "z" else "Reading times of the critical region"
    total = f"{len(rows)} phenomen{'on' if len(rows) == 1 else 'a'}"
    first = f"{what} differ between grammatical and ungrammatical sentences in {found} of {total} (p_BH < .05)."
    return [first, *(effect(row) for row in records(rows))]


def accuracies(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each model, protocol and measure: pairs won, mean over paradigms, weakest paradigm."""
    sentences = []
    for (model, protocol, measure), rows in table.groupby(["model", "protocol", "measure"], sort=False):
        overall = {row["paradigm"]: row for row in records(rows[rows["phenomenon"] == "all"])}
        pooled, mean = overall["pooled"], overall["mean"]
        paradigms = rows[~rows["paradigm"].isin([MEAN, POOLED])]
        weakest = records(paradigms.nsmallest(1, "accuracy"))[0]
        low, high = percent(pooled["wilson_low"]), percent(pooled["wilson_high"])
        sentences.append(
            f"{model} ({protocol}, {measure}) gives the grammatical sentence the higher score in "
            f"{percent(pooled['accuracy'])} of {pooled['n']} pairs (95% Wilson interval {low} to {high}); the mean "
            f"over {len(paradigms)} paradigms is {percent(mean['accuracy'])}, the lowest "
            f"{percent(weakest['accuracy'])} ({weakest['paradigm']})."
        )
    return sentences


def slopes(models: pd.DataFrame) -> list[str]:
    """Return, for each language model, what a bit of surprisal does to reading time: on the word, then on the next."""
    sentences = []
    for row in records(models[models["term"].isin(["surprisal", "surprisal_previous"])]):
        whose = "its surprisal" if row["term"] == "surprisal" else "the surprisal of the word before"
        name = f"{row['model']} ({row['protocol']})"
        if pd.isna(row["estimate"]):
            sentences.append(f"{name}: {row['note']}")
        elif pd.isna(row["p"]) or row["p"] >= ALPHA:
            sentences.append(
                f"{name}: the data give no evidence for an effect of {whose} on a word's reading time ({apa(row)})."
            )
        else:
            change = math.expm1(row["estimate"])
            longer = "longer" if change > 0 else "shorter"
            size = f"{100 * abs(change):.2g}% {longer}"
            sentences.append(f"{name}: a word is read {size} for each bit of {whose} ({apa(row)}).")
    return sentences


def notes(models: pd.DataFrame, by: str) -> list[str]:
    """Return the notes of fitted models, each once, after the models (values of column `by`) that it holds for."""
    noted = models[models["note"].notna() & models["estimate"].notna()]
    grouped: dict[str, list[str]] = {}
    for name, note in zip(noted[by], noted["note"], strict=True):
        names = grouped.setdefault(str(note), [])
        if label(name) not in names:
            names.append(label(name))
    return [f"{', '.join(names)}: {note}" for note, names in grouped.items()]
