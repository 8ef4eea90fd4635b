"""What a study's own factors do to ratings, reading times and answers."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from ...intervals import ALPHA
from ...measuring.region_spans import SENTENCE_REGION
from ...model_results import SIMPLE_EFFECT, is_intercepts_form, select_factors
from ...prompts import label_prompts
from ...row_dicts import list_rows
from .effects import as_published, in_ms, milliseconds
from .fits import form
from .labels import asked, label, listed, region_name, response
from .numbers import Row, apa, decimals, interval, name_adjusted, p_value, signed
from .sources import Sentence, read_off
from .terms import compared, short, terms

TOLD = "the text tells those whose interaction has p < .05 or is a stated hypothesis"  # of simple effects
MODEL_KEY = ("model", "response", "region", "prompt")


def factorial_effects(models: pd.DataFrame) -> list[str]:
    """Return a sentence for each hypothesis and place: every contrast in APA style, by the model with slopes wherever the data
    allow it, and after it what the model with intercepts alone says.
    """
    models = with_names(models)
    first, second = models[models["headline"]], models[is_intercepts_form(models)]
    published = {_key(row, *MODEL_KEY, "term"): row for row in list_rows(second)}
    return [_sentence(list_rows(rows), published) for _, rows in first.groupby([*MODEL_KEY], sort=False, dropna=False)]


def summarise_effects(models: pd.DataFrame) -> list[str]:
    """Return for each model in a sentence of which terms there is an effect and of which there is no evidence, by the headline.

    After p adjusted over regions where there is one. No evidence never stands alone: the interval says what is left open.
    """
    first = with_names(models)[models["headline"]]
    sentences: list[str] = []
    for _, part in first.groupby([*MODEL_KEY], sort=False, dropna=False):
        rows = [row for row in list_rows(part) if not pd.isna(row["contrast"]) and not pd.isna(row["p"])]
        verdicts: dict[str, list[str]] = {}
        for row, name in zip(rows, short(rows), strict=True):
            what, of = ("a preference", label(row["contrast"].partition(": ")[2])) if _alone(row) else ("an effect", name)
            seen = tested(row)[1] < ALPHA
            verdict = f"{what} {'for' if _alone(row) else 'of'}"
            effect = f"{of} ({_briefly(row, bounded=not seen)})"
            verdicts.setdefault(verdict if seen else f"no evidence for {verdict}", []).append(effect)
        if rows:
            text = "; ".join(f"{verdict} {listed(verdicts[verdict])}" for verdict in sorted(verdicts, key=_negative))
            head = ", ".join(filter(None, [describe_model(rows[0]), form(rows[0])]))
            sentences.append(read_off(f"{head}: {text}.", "effects", rows))
    return sentences


def _alone(row: Row) -> bool:
    """Whether it is the intercept of choices, which says what is preferred."""
    return bool(row["term"] == "intercept")


def _negative(verdict: str) -> bool:
    return verdict.startswith("no evidence")


def tested(row: Row) -> tuple[str, float]:
    """Return the symbol and the value of the p by which a coefficient is judged: adjusted over regions where it is.

    >>> tested({"p": 0.03, "p_adjusted": 0.06, "adjustment": "Holm, over the regions"}), tested({"p": 0.03, "p_adjusted": None})
    (('p_Holm', 0.06), ('p', 0.03))
    """
    adjusted = row["p_adjusted"]
    return ("p", row["p"]) if pd.isna(adjusted) else (name_adjusted(row["adjustment"]), adjusted)


def _p(row: Row) -> str:
    symbol, p = tested(row)
    return f"{symbol} {p_value(p)}"


def _briefly(row: Row, *, bounded: bool) -> str:
    """Return the size of an effect, in ms where it has one, and its p; if `bounded`, with its interval, without which an effect
    that is not seen says nothing, and the smallest effect of interest where one is stated.
    """
    places = decimals(row["se"])
    size = f"b = {signed(row['estimate'], places)}"
    ends = interval(row["ci_low"], row["ci_high"], f".{places}f")
    smallest = row.get("smallest", math.nan)
    of_interest = "" if pd.isna(smallest) or not bounded else f"; the smallest effect of interest is {smallest:g}"
    if (
        not pd.isna(row["ms"]) and not of_interest and not (bounded and pd.isna(row["ms_low"]))
    ):  # what is held against the smallest effect is in its unit
        size, ends = f"{signed(row['ms'], 0)} ms", interval(row["ms_low"], row["ms_high"], ".0f")
    return f"{size}, {f'{ends}, ' if bounded else ''}{_p(row)}{of_interest}"


def _key(row: Row, *names: str) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in names)


def with_names(models: pd.DataFrame) -> pd.DataFrame:
    """Return models with their prompts (`named`) and names (`whose`) where there are several, which sentences then name."""
    several = len(models["model"].unique()) > 1
    whose = [f"{label(name)}, " if several else "" for name in models["model"]]
    prompts = pd.Series(label_prompts(models), models.index, dtype="object")
    return models.assign(named=prompts, whose=pd.Series(whose, models.index, dtype="object"))


def describe_model(row: Row) -> str:
    """Return which model a row is of: its response and region, and its name and prompt as `whose` and `named` have them."""
    where = "" if row["region"] == SENTENCE_REGION else f", {region_name(row['region'])}"
    text = f"{response(row['response'])}{where}{asked(row['named'])}"
    return row["whose"] + text if row["whose"] else text[0].upper() + text[1:]


def _sentence(rows: Sequence[Row], published: Mapping[tuple[str, ...], Row]) -> Sentence:
    head, fit = describe_model(rows[0]), form(rows[0])
    contrasts: list[str] = []
    said: list[Row] = []
    for row, name in zip(rows, terms(rows), strict=True):
        if pd.isna(row["estimate"]):
            return read_off(f"{head}: {row['note']}", "effects", row)
        if not pd.isna(row["contrast"]):
            beside = published.get(_key(row, *MODEL_KEY, "term"), {})
            optimistic = "p optimistic" if row.get("optimistic", False) else ""
            aside = "; ".join(filter(None, [milliseconds(row), optimistic, as_published(beside)]))
            contrasts.append(f"{name}, {apa(row)}{f' ({aside})' if aside else ''}")
            said += [row, beside]
    head = f"{head} ({fit})" if fit else head
    if contrasts:
        return read_off(f"{head}: {'; '.join(contrasts)}.", "effects", said)
    return read_off(f"{head}: {rows[0]['n']} trials.", "effects", rows)


def select_told_simple_effects(results: pd.DataFrame, hypotheses: pd.DataFrame) -> pd.DataFrame:
    """Return the simple effects of headlines that the text tells: those of a factor of which an interaction passes, p < .05 as it
    is judged, or is a stated hypothesis. Others are differences that nobody asked about, picked from many; their table has all.
    """
    simple, coefficients = select_factors(results, SIMPLE_EFFECT), select_factors(results)
    planned = set(zip(hypotheses["model_id"], hypotheses["term"], strict=True))
    crossed = [row for row in list_rows(coefficients[coefficients["headline"]]) if ":" in str(row["factors"])]
    followed = [row for row in crossed if tested(row)[1] < ALPHA or (row["model_id"], row["term"]) in planned]
    places = {(row["model_id"], name) for row in followed for name in row["factors"].split(":")}
    told = [place in places for place in zip(simple["model_id"], simple["factors"], strict=True)]
    return simple[pd.Series(told, simple.index, dtype=bool) & simple["headline"]]


def simple_effects(effects: pd.DataFrame) -> list[str]:
    """Return a sentence for each factor in each place: its effects at the levels of the others, of the headline."""
    rows = with_names(effects[effects["headline"]])
    sentences: list[str] = []
    for _, part in rows.groupby([*MODEL_KEY, "factors"], sort=False, dropna=False):
        listed_rows = list_rows(part)
        test = "z test" if pd.isna(listed_rows[0]["df"]) else "Satterthwaite"
        how = f"contrast of the fitted model, {test}; {listed_rows[0]['adjustment']}"
        names = [compared(f"{row['factors']}: {row['contrast']}") for row in listed_rows]
        texts = [f"{name} at {label(row['within'])}, {apa(row)}{in_ms(row)}" for name, row in zip(names, listed_rows, strict=True)]
        text = f"{describe_model(listed_rows[0])}, simple effects ({how}): {'; '.join(texts)}."
        sentences.append(read_off(text, "effects", listed_rows))
    return sentences


def level_differences(table: pd.DataFrame) -> list[str]:
    """Return each difference between levels of a factor."""
    return [
        f"{label(row['factor'])}, {label(row['contrast']).replace(' - ', ' − ')}"
        f"{'' if row['within'] == 'all' else ' at ' + str(row['within'])}: {apa(row)} (p adjusted: {row['adjustment']})."
        for row in list_rows(table)
    ]
