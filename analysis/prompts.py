"""The prompts of a study: answers that never came are counted, and ratings under several prompts are kept apart."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from gardenpath.study.responses import RESPONSES

from .exclusion_log import ExclusionLog

TIMEOUT = "timeout"  # in the column outcome
PROMPT_TABLE_PREFIX = "responses: "  # in the column table of an exclusions table, before the prompt
RATING_TABLES = ("rating_scores", "condition_means", "rating_correlations")  # any of these says which prompts were rated


def drop_missing_responses(responses: pd.DataFrame, exclusion_log: ExclusionLog | None = None) -> pd.DataFrame:
    """Return the responses that hold an answer; those that do not are counted in `exclusion_log`, each prompt's by itself.

    A step for each prompt counts them among all responses, and in a line of its own among those to the prompt.

    >>> ledger = ExclusionLog()
    >>> rows = [("P1", "sense", "5", "answered"), ("P1", "sense", None, "timeout"), ("P2", "form", None, "timeout")]
    >>> len(drop_missing_responses(pd.DataFrame(rows, columns=["participant", "prompt", "response", "outcome"]), ledger))
    1
    >>> [(row["table"], row["rule"], row["n_before"], row["n_excluded"]) for row in ledger.rows[2:]]
    [('responses', 'no answer in time (sense)', 2, 1), ('responses: sense', 'no answer in time (sense)', 2, 1)]
    """
    exclusion_log = exclusion_log or ExclusionLog()
    unanswered = responses[responses["response"].isna()]
    late = (unanswered["outcome"] == TIMEOUT).fillna(False).astype(bool)
    why = late.map({True: "no answer in time", False: "no answer"})
    for (prompt, rule), rows in unanswered.groupby([unanswered["prompt"], why], sort=True):
        to_prompt = responses[responses["prompt"] == prompt]
        parts = {"responses": responses, f"{PROMPT_TABLE_PREFIX}{prompt}": to_prompt}
        kept = {name: (part, ~part.index.to_series().isin(rows.index)) for name, part in parts.items()}
        responses, _ = exclusion_log.apply_rule(f"{rule}{format_prompt_suffix(str(prompt))}", **kept)
    return responses


def list_prompts(table: pd.DataFrame) -> list[str | None]:
    """Return the prompts of a table one by one; where there are fewer than two, None, which stands for all of its rows.

    >>> list_prompts(pd.DataFrame({"prompt": ["sense", "form", None]})), list_prompts(pd.DataFrame({"prompt": ["sense", None]}))
    (['form', 'sense'], [None])
    """
    names = sorted(str(name) for name in table["prompt"].dropna().unique())
    return [*names] if len(names) > 1 else [None]


def label_prompts(models: pd.DataFrame) -> "pd.Series[Any]":
    """Return the prompt of each row of a table of models where there are several of its kind of answers, else None.

    >>> models = pd.DataFrame({"response": ["z", "yes", "correct", "log_rt"], "prompt": ["sense", "form", "question", None]})
    >>> label_prompts(models).to_list()
    ['sense', 'form', None, None]
    """
    kinds = models["response"].map(lambda response: RESPONSES[response].prompt_kind)
    several = models["prompt"].groupby(kinds).transform("nunique") > 1
    names = [
        None if pd.isna(prompt) or not needed else str(prompt) for prompt, needed in zip(models["prompt"], several, strict=True)
    ]
    return pd.Series(names, index=models.index, dtype="object")


def list_rated_prompts(tables: Mapping[str, pd.DataFrame], response: str | None = None) -> list[str | None]:
    """Return the prompts of a study's ratings as `list_prompts` does, from whichever of its tables are there; with a response those
    under which it was given, none of reading times.
    """
    prompts = [_select_rated(tables[name], response)[["prompt"]] for name in RATING_TABLES if name in tables]
    return list_prompts(pd.concat(prompts)) if prompts else [None]


def _select_rated(table: pd.DataFrame, response: str | None) -> pd.DataFrame:
    """Return the rows of a table of ratings that are of a response, as far as the table says of what they are."""
    if response is None:
        return table
    if "task" in table:
        return table[table["task"] == RESPONSES[response].task]
    return table[table["measure"].isin([response, RESPONSES[response].raw])] if "measure" in table else table.head(0)


def filter_prompt(table: pd.DataFrame, prompt: str | None) -> pd.DataFrame:
    """Return the rows of a prompt, all rows where it is None."""
    return table if prompt is None else table[(table["prompt"] == prompt).fillna(False)]


def select_prompt(table: pd.DataFrame, prompt: str | None) -> pd.DataFrame:
    """Return the rows of a prompt, or all where there is one alone; several that were not chosen from are a `ValueError`."""
    names = list_prompts(table)
    if prompt is None and len(names) > 1:
        raise ValueError(
            f"there are ratings under {len(names)} prompts, {', '.join(map(str, names))}; expected the name of one, as in  "
            f"prompt={names[0]!r}"
        )
    return filter_prompt(table, prompt)


def format_prompt_suffix(prompt: str | None) -> str:
    """Return a prompt in brackets, behind what is said of it; nothing where there is one alone.

    >>> format_prompt_suffix("plausibility"), format_prompt_suffix(None)
    (' (plausibility)', '')
    """
    return "" if prompt is None else f" ({prompt})"


def build_file_suffixes(prompts: Sequence[str | None]) -> dict[str | None, str]:
    """Return what keeps the files of each prompt apart; nothing for None.

    >>> build_file_suffixes(["How good?", "how-good", None])
    {'How good?': '-how-good', 'how-good': '-how-good-2', None: ''}
    """
    suffixes: dict[str | None, str] = {}
    for number, prompt in enumerate(prompts, start=1):
        ending = "" if prompt is None else "-" + re.sub(r"\W+", "-", prompt.lower()).strip("-")
        suffixes[prompt] = f"{ending}-{number}" if ending in suffixes.values() else ending
    return suffixes
