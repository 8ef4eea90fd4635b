"""Answers of one of two kinds: questions answered right or wrong, sentences accepted or not, one of a pair chosen or the other."""

from collections.abc import Mapping

import pandas as pd

from gardenpath.study import TABLES, check
from gardenpath.study.formula_columns import with_formula_columns
from gardenpath.study.schemas import COMPUTED_NAMES

from ..factor_levels import levels

CORRECT, YES, CHOSEN = "correct", "yes", "chosen"  # in the column measure
BINARY = (CORRECT, YES, CHOSEN)
UNJUDGED = ("rating", "choice", "reading")  # tasks whose verdict is no measure of a sentence


def binary_answers(
    responses: pd.DataFrame, scores: pd.DataFrame, items: pd.DataFrame, conditions: pd.DataFrame
) -> pd.DataFrame:
    """Return the answers to target trials that are one of two, as 1 and 0, each under its measure.

    `correct`: questions, decisions and completions that have a right answer. `yes`: the ratings under a prompt whose scale has two
    points, yes and no or neighbouring numbers; the higher one is 1. `chosen`: forced choices; 1 is the member of the pair whose
    condition `conditions` lists first. `event` says what 1 stands for.

    >>> rows = [("S1", 0, "question", "yes", True), ("S1", 1, "choice", "odd", None)]
    >>> responses = pd.DataFrame(rows, columns=["session", "trial", "task", "response", "correct"]).assign(
    ...     participant="P1", experiment="E1", version="V1", role="target", paradigm="p", item="i", condition="fine+odd", prompt="q"
    ... )
    >>> levels = [("p", "fine", "ease", "fine"), ("p", "odd", "ease", "odd")]
    >>> conditions = pd.DataFrame(levels, columns=["paradigm", "condition", "factor", "level"])
    >>> items = pd.DataFrame({"paradigm": ["p"], "phenomenon": ["n"]})
    >>> scores = pd.DataFrame(columns=["role", "prompt", "rating"])
    >>> binary_answers(responses, scores, items, conditions)[["measure", "event", "answer"]].to_numpy().tolist()
    [['correct', 'right', 1], ['chosen', 'fine over odd', 0]]
    """
    targets = responses[(responses["role"] == "target") & responses["response"].notna()]
    phenomena = items.drop_duplicates("paradigm").set_index("paradigm")["phenomenon"]
    judged = targets[~targets["task"].isin(UNJUDGED) & targets["correct"].notna()]
    parts = [
        judged.assign(measure=CORRECT, event="right", answer=judged["correct"].astype("bool").astype("int64")),
        _accepted(scores),
        _chosen(targets[targets["task"] == "choice"], conditions),
    ]
    rows = pd.concat([part for part in parts if len(part)] or [judged], ignore_index=True)
    rows = rows.assign(phenomenon=rows["paradigm"].map(phenomena))
    measured = [name for name in TABLES["binary_answers"].names if name not in COMPUTED_NAMES]
    return check(with_formula_columns(rows.reindex(columns=measured), responses, conditions), "binary_answers")


def _accepted(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings of targets under the prompts to which there are two neighbouring answers."""
    by = scores.groupby("prompt")["rating"]
    two = by.nunique().eq(2) & (by.max() - by.min()).eq(1)
    rows = scores[(scores["role"] == "target") & scores["prompt"].isin(two[two].index)]
    return rows.assign(
        measure=YES, event="yes", answer=(rows["rating"] == rows["prompt"].map(by.max())).astype("int64")
    )


def _chosen(choices: pd.DataFrame, conditions: pd.DataFrame) -> pd.DataFrame:
    """Return the choices between two conditions that are known; `event` is by which level the first one differs, and from which."""
    pairs = {
        (p, pair): members for p, by in levels(conditions).items() for pair, members in _pairs(choices, p, by).items()
    }
    of = [pairs.get((p, c)) for p, c in zip(choices["paradigm"], choices["condition"], strict=True)]
    rows = choices[pd.Series([members is not None for members in of], index=choices.index, dtype="bool")]
    first, event = ([members[n] for members in of if members is not None] for n in (0, 1))
    return rows.assign(measure=CHOSEN, event=event, answer=(rows["response"].astype(object) == first).astype("int64"))


def _pairs(choices: pd.DataFrame, paradigm: str, by: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return, by the condition of a pair (its members', in any order), the member listed first, and its levels over the other's."""
    pairs = {}
    order = [*by.index]
    for pair in choices.loc[choices["paradigm"] == paradigm, "condition"].unique():
        members = sorted(set(pair.split("+")) & {*order}, key=order.index)
        if len(members) == 2:
            own, other = (by.loc[member] for member in members)
            differing = [
                (str(level), str(against)) for level, against in zip(own, other, strict=True) if level != against
            ]
            pairs[pair] = (members[0], " over ".join(map(".".join, zip(*differing, strict=True))))
    return pairs


def pair_levels(answers: pd.DataFrame, of: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return for each paradigm with choices the levels that both members of a pair share, by the condition of the pair."""
    shared = {}
    choices = answers[answers["measure"] == CHOSEN]
    for paradigm, rows in choices.groupby("paradigm", sort=True):
        by = of[str(paradigm)]
        pairs = {pair: by.loc[pair.split("+")] for pair in rows["condition"].unique()}
        alike = [name for name in by if all(len({*members[name]}) == 1 for members in pairs.values())]
        table = pd.DataFrame({pair: members.iloc[0][alike] for pair, members in pairs.items()}).T
        # Levels keep the order in which the materials state them, whichever pair was shown first.
        places = {pair: min(map([*by.index].index, members.index)) for pair, members in pairs.items()}
        shared[str(paradigm)] = table.loc[sorted(pairs, key=lambda pair: (places[pair], pair))].rename_axis("condition")
    return shared
