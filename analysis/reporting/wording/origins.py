"""Sentences on how items came about: made by hand, drafted by a model, decided about by people, normed before the study."""

from collections.abc import Iterable, Sequence

import pandas as pd

from ...row_dicts import list_rows
from .numbers import Row, counted, interval, percent

ORIGIN_PHRASES = {
    "hand": "made by hand",
    "draft": "drafted by a language model",
    "grammar": "generated from a grammar",
    "treebank": "taken from a treebank",
    "corpus": "taken from a corpus",
}
MEASURES = {
    "keep": "keeping a pair",
    "acceptable": "acceptability, blind",
    "good": "good one is good",
    "bad": "bad one is bad",
    "nothing_else": "nothing else is wrong",
    "fits": "fits the paradigm",
}
TICKS = ("good", "bad", "nothing_else", "fits")
UNKNOWN = "unknown"
NAMED = 6  # items and reasons that are spelt out


def origins(items: pd.DataFrame) -> list[str]:
    """Return how many items of the study come from where, by whom they were drafted, reviewed and corrected.

    >>> items = pd.DataFrame({"origin": ["hand", "draft"], "model": [None, "gpt-4o"], "reviewers": [None, "Ann"]})
    >>> print(origins(items.assign(corrected=[False, True]))[0][:80])
    Of 2 items of the study 1 was made by hand and 1 was drafted by a language model
    """
    if items.empty or set(items["origin"]) == {"hand"}:
        return []
    parts = []
    for origin, some in items.groupby("origin", sort=False):
        models = some["model"].dropna().unique()
        by = f" ({', '.join(models)})" if len(models) else ""
        parts.append(f"{_was(len(some))} {ORIGIN_PHRASES.get(str(origin), str(origin))}{by}")
    said = f"Of {counted(len(items), 'item')} of the study {_listed(parts)}."
    people = _each(items["reviewers"].dropna())
    if people:
        said += f" {_listed(people)} decided about them; {_was(int(items['corrected'].sum()))} corrected."
    return [said]


def drafting(table: pd.DataFrame) -> list[str]:
    """Return, for each model that drafted, what was asked for and read, found before anybody looked, and what became of it.

    >>> steps = {"asked": 30, "parsed": 28, "flagged": 4, "accepted": 20, "dropped": 5}
    >>> table = pd.DataFrame({"step": [*steps], "n_pairs": [*steps.values()]}).assign(paradigm="ever", model="gpt-4o")
    >>> table["reason"] = table["step"].map({"dropped": "odd"}).fillna("none")
    >>> for sentence in drafting(table):
    ...     print(sentence)
    gpt-4o was asked for 30 pairs of 1 paradigm; 28 were read of its answers, 4 of them with findings before anybody looked.
    Of its 28 pairs people accepted 20 (71.4%), corrected 0 and dropped 5 (odd 5); on 3 nobody had decided, or not all agreed.
    """
    said = []
    for model, some in table.groupby("model", sort=False):
        n = some.groupby("step")["n_pairs"].sum()
        asked, parsed, flagged, accepted, corrected, dropped = (
            int(n.get(step, 0)) for step in ("asked", "parsed", "flagged", "accepted", "corrected", "dropped")
        )
        who = "A model that is not named" if model == UNKNOWN else str(model)
        of = f"of {counted(some['paradigm'].nunique(), 'paradigm')}"
        read = f"{parsed} were read of its answers, {flagged} of them with findings before anybody looked"
        if asked:
            said.append(f"{who} was asked for {counted(asked, 'pair')} {of}; {read}.")
        else:
            said.append(f"{who} drafted pairs {of} in a chat, from which its answers were pasted; {read}.")
        if decided := accepted + corrected + dropped:
            why = some[some["step"] == "dropped"].groupby("reason", sort=False)["n_pairs"].sum().sort_values(ascending=False)
            reasons = ", ".join(f"{reason} {count}" for reason, count in [*why.items()][:NAMED])
            reasons += f" and {len(why) - NAMED} reasons more" if len(why) > NAMED else ""
            rest = f"; on {parsed - decided} nobody had decided, or not all agreed" if parsed > decided else ""
            said.append(
                f"Of its {counted(parsed, 'pair')} people accepted {accepted} ({percent(accepted / max(parsed, 1))}), "
                f"corrected {corrected} and dropped {dropped}{f' ({reasons})' if reasons else ''}{rest}."
            )
        else:
            said.append(f"Nobody has decided about its {counted(parsed, 'pair')}.")
    return said


def agreement(table: pd.DataFrame) -> list[str]:
    """Return how far each two reviewers agree on keeping pairs, or in blind mode on acceptability."""
    return [
        f"{row['reviewer_a']} and {row['reviewer_b']} agree on {MEASURES[row['measure']]} in {percent(row['agreement'])} of "
        f"{counted(row['n_decided'], 'sentence' if row['measure'] == 'acceptable' else 'pair')}, over first decisions and before "
        "edits: "
        f"{kappa(row)}."
        for row in list_rows(table[table["measure"].isin(["keep", "acceptable"])])
    ]


def describe_injected_errors(reviews: pd.DataFrame) -> list[str]:
    """Return how many of the known-bad pairs among the others each reviewer noticed at first sight.

    >>> row = {"reviewer": "Ann", "item": "planted-1", "condition": None, "action": "accept", "injected_error": "same"}
    >>> describe_injected_errors(pd.DataFrame([row | dict.fromkeys(TICKS, True)]))
    ['Known-bad pairs had been put among them, which are in no materials: Ann noticed 0 of 1.']
    """
    first = reviews[(reviews["action"] != "undo") & reviews["injected_error"].notna()].drop_duplicates(["reviewer", "item"])
    if first.empty:
        return []
    accepted = (first["action"] == "accept") & first[list(TICKS)].fillna(False).astype(bool).all(axis=1)
    counts = (~accepted).groupby(first["reviewer"], sort=False).agg(["sum", "size"])
    each = [f"{who} noticed {noticed} of {seen}" for who, (noticed, seen) in zip(counts.index, counts.to_numpy(), strict=True)]
    return [f"Known-bad pairs had been put among them, which are in no materials: {_listed(each)}."]


def blind(reviews: pd.DataFrame) -> list[str]:
    """Return how many single sentences each blind reviewer judged at first sight as they are meant.

    >>> rows = pd.DataFrame({"condition": ["grammatical", "ungrammatical"], "action": "acceptable"})
    >>> blind(rows.assign(reviewer="Eva", item="i1"))
    ['Eva judged single sentences, not knowing what they were meant to be: 1 of 2 (50.0%) as meant.']
    """
    first = reviews[(reviews["action"] != "undo") & reviews["condition"].notna()]
    first = first.drop_duplicates(["reviewer", "item", "condition"])
    meant = (first["action"] == "acceptable") == (first["condition"] == "grammatical")
    counts = meant.groupby(first["reviewer"], sort=False).agg(["sum", "size"])
    return [
        f"{who} judged single sentences, not knowing what they were meant to be: {right} of {seen} ({percent(right / seen)}) as "
        "meant."
        for who, (right, seen) in zip(counts.index, counts.to_numpy(), strict=True)
    ]


def norming(norms: pd.DataFrame, decisions: pd.DataFrame) -> list[str]:
    """Return, for each task, how many sentences were normed, by which rule items were kept, and what they measure."""
    said = []
    for task, some in norms.groupby("task", sort=False):
        own = decisions[decisions["task"].fillna(task) == task]
        answers = _span(some["n_valid_responses"])
        readers = own["n_participants"].dropna()
        by = f" by {counted(int(readers.max()), 'reader')}" if len(readers) else ""
        said.append(
            f"Before the study {counted(len(some), 'sentence')} of {counted(some['item'].nunique(), 'item')} were normed for "
            f"{task}{by}, {answers} answers each."
        )
        if own.empty:
            continue
        rules = _each(own["rules"].dropna(), "; ")
        if not rules:
            said.append(f"No rule for keeping items by {task} was stated; all were kept.")
            continue
        stated = own["rules_stated_before_data"].dropna()
        when = (
            "whether it was stated before the first answer cannot be told" if stated.empty
            else "stated before the first answer" if stated.astype(bool).all()
            else "which was NOT stated before the first answer"
        )  # fmt: skip
        kept = own["kept"].astype(bool)
        said.append(f"{int(kept.sum())} of {counted(len(own), 'item')} were kept by the rule {_listed(rules)}, {when}.")
        means = some[some["item"].isin(own.loc[kept, "item"])].dropna(subset=["value", "shrunken"])
        each = [
            f"{rows['value'].mean():.2f} in {condition} ({rows['shrunken'].mean():.2f} shrunken)"
            for condition, rows in means.groupby("condition", sort=False)
        ]
        if each and not kept.all():
            said.append(
                f"The kept items' mean {task} is {_listed(each)}: who keeps items by a number with error keeps those whose error "
                "was favourable, so the shrunken means are those to report."
            )
        elif each:
            said.append(f"Their mean {task} is {_listed(each)}.")
    return said


def kappa(row: Row) -> str:
    """Return Cohen's kappa and Gwet's AC1 with their intervals; kappa does not exist where both gave one answer throughout.

    >>> kappa({"kappa": None, "ac1": 1.0, "ac1_ci_low": 1.0, "ac1_ci_high": 1.0})
    "Gwet's AC1 = 1.00, 95% CI [1.00, 1.00]; there is no kappa, since both gave one answer throughout"
    """
    ac1 = f"Gwet's AC1 = {row['ac1']:z.2f}, {interval(row['ac1_ci_low'], row['ac1_ci_high'], 'z.2f')}"
    if pd.isna(row["kappa"]):
        return f"{ac1}; there is no kappa, since both gave one answer throughout"
    return f"Cohen's κ = {row['kappa']:z.2f}, {interval(row['kappa_ci_low'], row['kappa_ci_high'], 'z.2f')}; {ac1}"


def _span(numbers: pd.Series) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low}" if low == high else f"{low} to {high}"


def _each(texts: Iterable[str], between: str = ", ") -> list[str]:
    """Return each entry of lists once, in their order."""
    return list(dict.fromkeys(part for text in texts for part in text.split(between)))


def _was(n: int) -> str:
    return f"{n} {'was' if n == 1 else 'were'}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
