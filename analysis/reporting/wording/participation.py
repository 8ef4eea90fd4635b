"""Who took part, with which materials, and what was excluded."""

import re
from collections.abc import Iterable

import pandas as pd

from ...cleaning.exclusions import TOO_FEW_RESPONSES_NOTE
from ...exclusion_log import ALL_CONDITIONS
from ...prompts import PROMPT_TABLE_PREFIX, filter_prompt, list_prompts
from ...row_dicts import list_rows
from .labels import asked
from .numbers import Row, counted, percent
from .sources import read_off

COUNTED = {
    "sessions": "sessions",
    "rating_scores": "ratings",
    "region_times: critical": "critical regions",
    "region_times: critical+1": "first words after the region",
    "region_times: critical+2": "second words after the region",
    "region_times: critical..+1": "regions up to the first word after the critical one",
    "region_times: critical..+2": "regions up to the second word after the critical one",
}
FLAGGED_PHRASE = "do not tell grammatical from ungrammatical sentences apart"  # by whose ratings a participant is flagged


def materials(items: pd.DataFrame) -> str:
    """Return how many sentences there are, of how many items, paradigms and phenomena."""
    items_, paradigms, phenomena = (items[name].nunique() for name in ("item", "paradigm", "phenomenon"))
    text = (
        f"Materials: {counted(len(items), 'sentence')}, {counted(items_, 'item')} in {counted(paradigms, 'paradigm')} of "
        f"{counted(phenomena, 'phenomenon', 'phenomena')}."
    )
    return read_off(text, "items", items, "count", "distinct item", "distinct paradigm", "distinct phenomenon")


def participation(ledger: pd.DataFrame, people: pd.DataFrame, sessions: pd.DataFrame | None = None) -> str:
    """Return how many participants began and how many completed a session, nothing where that is not known.

    The tables exclusions and participants say which sessions count; without them, `sessions` says which are complete.
    """
    began = ledger[(ledger["table"] == "sessions") & (ledger["condition"] == ALL_CONDITIONS)].head(1)
    if len(began) and len(people):
        text = f"Of {began['n_participants_before'].iloc[0]} participants who began, {len(people)} completed the study."
        return read_off(read_off(text, "exclusions", began), "participants", people, "count")
    if sessions is None or sessions.empty:
        return ""
    complete = sessions[sessions["complete"].astype(bool)]
    text = (
        f"Of {sessions['participant'].nunique()} participants who began, {complete['participant'].nunique()} completed the study."
    )
    return read_off(read_off(text, "sessions", sessions, "distinct participant"), "sessions", complete, "distinct participant")


def exclusions(ledger: pd.DataFrame, people: pd.DataFrame, prompts: pd.DataFrame) -> list[str]:
    """Return what each rule excluded that excluded anything, and how many participants are flagged.

    `people` and `prompts` are the tables participants and participant_prompts.
    """
    counted = ledger[ledger["table"].isin(COUNTED) | ledger["table"].str.startswith(PROMPT_TABLE_PREFIX)]
    whole = counted[(counted["condition"] == ALL_CONDITIONS) & (counted["n_excluded"] > 0)]
    sentences = [excluded(row) for row in list_rows(whole)]
    if len(people) and (sentences or people["exclusion_rule"].notna().any()):
        sentences.append(participants_excluded(people))
    sentences += rules_without_effect(ledger)
    if len(ledger) and not sentences:
        sentences = [read_off("No session, participant, rating or critical region was excluded.", "exclusions", ledger)]
    return [*sentences, *flagged(prompts)]


def excluded(row: Row) -> str:
    """Return what a rule of the table exclusions excluded.

    >>> excluded({"table": "rating_scores", "rule": "not a rating", "n_before": 80, "n_excluded": 2})
    'We excluded 2 of 80 ratings (2.5%): not a rating.'
    >>> rule = "a word of critical has no reading time"
    >>> excluded({"table": "region_times: critical", "rule": rule, "n_before": 80, "n_excluded": 0})
    'None of 80 critical regions was excluded by this rule: a word of it has no reading time.'
    """
    what, rule = COUNTED.get(row["table"], "answers"), re.sub(r"^a word of \S+ ", "a word of it ", row["rule"])
    if not row["n_excluded"]:
        return read_off(f"None of {row['n_before']} {what} was excluded by this rule: {rule}.", "exclusions", row)
    share = percent(row["n_excluded"] / row["n_before"])
    text = f"We excluded {row['n_excluded']} of {row['n_before']} {what} ({share}): {rule}."
    return read_off(text, "exclusions", row, "n_excluded / n_before")


def participants_excluded(people: pd.DataFrame) -> str:
    """Return how many participants each rule excluded, and how many remained."""
    rules = people["exclusion_rule"].dropna()
    if rules.empty:
        return read_off("No participant was excluded.", "participants", people)
    counts = _counts(rules.value_counts(sort=False).items())
    text = f"We excluded {len(rules)} of {counted(len(people), 'participant')}: {counts}; {len(people) - len(rules)} remained."
    by_rule = ("count exclusion_rule.notna()", "count", "count by exclusion_rule", "count exclusion_rule.isna()")
    return read_off(text, "participants", people, *by_rule)


def rules_without_effect(ledger: pd.DataFrame) -> list[str]:
    """Return the rules by which nobody could be excluded, whatever they did."""
    of_nobody = ledger[ledger["rule"].str.endswith(TOO_FEW_RESPONSES_NOTE)]
    by_rule = of_nobody.groupby("rule", sort=False)
    return [read_off(f"Nobody could be excluded by this rule: {rule}.", "exclusions", rows) for rule, rows in by_rule]


def unanswered(ledger: pd.DataFrame) -> list[str]:
    """Return how many answers to each prompt did not come."""
    return [
        excluded(row)
        for row in list_rows(ledger)
        if row["condition"] == ALL_CONDITIONS and row["table"].startswith(PROMPT_TABLE_PREFIX)
    ]


def count_outlier_regions(ledger: pd.DataFrame) -> str:
    """Return how many critical regions had a word read too fast or too slowly, nothing where no rule asks."""
    of_band = ledger["rule"].str.startswith("a word of critical was read") & (ledger["condition"] == ALL_CONDITIONS)
    rows = list_rows(ledger[of_band])
    if rows:
        return excluded(rows[-1])
    measured = ledger[ledger["table"] == "region_times: critical"]
    return read_off("No reading time was removed as an outlier.", "exclusions", measured) if len(measured) else ""


def readings_kept(ledger: pd.DataFrame) -> str:
    """Return how many readings stand beside their surprisal and why others do not, from the table alignment_exclusions."""
    rows = list_rows(ledger[ledger["table"] == "readings"])
    if not rows:
        return ""
    text = f"Of {rows[0]['n_before']} readings, {rows[-1]['n_after']} stand beside their surprisal"
    counts = _counts((row["rule"], row["n_excluded"]) for row in rows if row["n_excluded"])
    return read_off(f"{text}; we excluded, in this order: {counts}." if counts else f"{text}.", "alignment_exclusions", rows)


def flagged(prompts: pd.DataFrame) -> list[str]:
    """Return how many participants the ratings under each prompt flag, and that they stay."""
    tested = prompts.dropna(subset="flagged")
    sentences: list[str] = []
    for prompt in list_prompts(tested) if len(tested) else ():
        rows = filter_prompt(tested, prompt)
        text = (
            f"The ratings{asked(prompt)} of {int(rows['flagged'].sum())} of {counted(len(rows), 'participant')} {FLAGGED_PHRASE} "
            "(Mann-Whitney, p ≥ .05). They stay: such a rule is circular with the effect."
        )
        sentences.append(read_off(text, "participant_prompts", rows, "count flagged", "count"))
    return sentences


def other_conditions(paradigms: Iterable[str]) -> list[str]:
    """Return which paradigms the models of grammaticality leave aside."""
    names = ", ".join(paradigms)
    return [f"Not in these models, having other conditions than grammatical and ungrammatical: {names}."] if names else []


def _counts(rules: Iterable[tuple[object, object]]) -> str:
    return "; ".join(f"{rule} (n = {n})" for rule, n in rules)
