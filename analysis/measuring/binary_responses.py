"""Answers of one of two kinds: questions answered right or wrong, sentences accepted or not, one of a pair chosen or the other."""

from collections.abc import Mapping

import pandas as pd

from gardenpath.study import TABLES, check
from gardenpath.study.formula_columns import add_formula_columns
from gardenpath.study.responses import BINARY_TABLE, RATING_TASKS, RESPONSES, list_responses
from gardenpath.study.schemas import COMPUTED_COLUMN_NAMES

from ..factor_levels import tabulate_levels
from .region_spans import SENTENCE_REGION

CORRECT_MEASURE, YES_MEASURE, CHOICE_MEASURE = "correct", "yes", "chosen"  # in the column measure
BINARY_MEASURES = list_responses(BINARY_TABLE)
UNSCORED_TASKS = (*RATING_TASKS, "choice", "reading")  # tasks whose verdict is no measure of a sentence


def compute_binary_responses(
    responses: pd.DataFrame,
    scores: pd.DataFrame,
    items: pd.DataFrame,
    conditions: pd.DataFrame,
    first_choices: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the answers to target trials that are one of two, as 1 and 0, each under its measure.

    `correct`: questions, decisions and completions that have a right answer. `yes`: the ratings under a prompt whose scale has two
    points, yes and no or neighbouring numbers; the higher one is 1. `chosen`: forced choices; 1 is the member of the pair whose
    condition `conditions` lists first. `first_choice`: in Maze, those of a region, as `list_first_choices` returns them. `event`
    says what 1 stands for.

    >>> rows = [("S1", 0, "question", "yes", True), ("S1", 1, "choice", "odd", None)]
    >>> responses = pd.DataFrame(rows, columns=["session", "trial", "task", "response", "correct"]).assign(
    ...     participant="P1", experiment="E1", list="L1", role="target", paradigm="p", item="i", condition="fine+odd", prompt="q"
    ... )
    >>> tabulate_levels = [("p", "fine", "ease", "fine"), ("p", "odd", "ease", "odd")]
    >>> conditions = pd.DataFrame(tabulate_levels, columns=["paradigm", "condition", "factor", "level"])
    >>> items = pd.DataFrame({"paradigm": ["p"], "phenomenon": ["n"]})
    >>> scores = pd.DataFrame(columns=["role", "task", "prompt", "rating"])
    >>> compute_binary_responses(responses, scores, items, conditions)[["measure", "event", "response"]].to_numpy().tolist()
    [['correct', 'right', 1], ['chosen', 'fine over odd', 0]]
    """
    targets = responses[(responses["role"] == "target") & responses["response"].notna()]
    phenomena = items.drop_duplicates("paradigm").set_index("paradigm")["phenomenon"]
    judged = targets[~targets["task"].isin(UNSCORED_TASKS) & targets["correct"].notna()]
    parts = [
        judged.assign(measure=CORRECT_MEASURE, event="right", response=judged["correct"].astype("bool").astype("int64")),
        _select_yes_no_ratings(scores),
        _code_choices(targets[targets["task"] == "choice"], conditions),
    ]
    parts = [part.assign(region=SENTENCE_REGION) for part in parts] + ([] if first_choices is None else [first_choices])
    rows = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    rows = rows.assign(phenomenon=rows["paradigm"].map(phenomena))
    measured = [name for name in TABLES["binary_responses"].column_names if name not in COMPUTED_COLUMN_NAMES]
    return check(add_formula_columns(rows.reindex(columns=measured), responses, conditions), "binary_responses")


def _select_yes_no_ratings(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings of targets under the prompts to which there are two neighbouring answers."""
    scores = scores[scores["task"] == RESPONSES[YES_MEASURE].task]
    by = scores.groupby("prompt")["rating"]
    two = by.nunique().eq(2) & (by.max() - by.min()).eq(1)
    rows = scores[(scores["role"] == "target") & scores["prompt"].isin(two[two].index)]
    return rows.assign(measure=YES_MEASURE, event="yes", response=(rows["rating"] == rows["prompt"].map(by.max())).astype("int64"))


def _code_choices(choices: pd.DataFrame, conditions: pd.DataFrame) -> pd.DataFrame:
    """Return the choices between two conditions that are known; `event` is by which level the first one differs, and from which."""
    pairs = {
        (p, pair): members
        for p, by in tabulate_levels(conditions).items()
        for pair, members in _list_choice_pairs(choices, p, by).items()
    }
    choice_members = [pairs.get((p, c)) for p, c in zip(choices["paradigm"], choices["condition"], strict=True)]
    rows = choices[pd.Series([members is not None for members in choice_members], index=choices.index, dtype="bool")]
    first, event = ([members[n] for members in choice_members if members is not None] for n in (0, 1))
    return rows.assign(measure=CHOICE_MEASURE, event=event, response=(rows["response"].astype(object) == first).astype("int64"))


def _list_choice_pairs(choices: pd.DataFrame, paradigm: str, by: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return, by the condition of a pair (its members', in any order), the member listed first, and its levels over the other's."""
    pairs = {}
    order = [*by.index]
    for pair in choices.loc[choices["paradigm"] == paradigm, "condition"].unique():
        members = sorted(set(pair.split("+")) & {*order}, key=order.index)
        if len(members) == 2:
            own, other = (by.loc[member] for member in members)
            differing = [(str(level), str(against)) for level, against in zip(own, other, strict=True) if level != against]
            pairs[pair] = (members[0], " over ".join(map(".".join, zip(*differing, strict=True))))
    return pairs


def find_pair_levels(binary_responses: pd.DataFrame, paradigm_levels: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return for each paradigm with choices the levels that both members of a pair share, by the condition of the pair."""
    shared = {}
    choices = binary_responses[binary_responses["measure"] == CHOICE_MEASURE]
    for paradigm, rows in choices.groupby("paradigm", sort=True):
        by = paradigm_levels[str(paradigm)]
        pairs = {pair: by.loc[pair.split("+")] for pair in rows["condition"].unique()}
        shared_factors = [name for name in by if all(len({*members[name]}) == 1 for members in pairs.values())]
        table = pd.DataFrame({pair: members.iloc[0][shared_factors] for pair, members in pairs.items()}).T
        # Levels keep the order in which the materials state them, whichever pair was shown first.
        first_positions = {pair: min(map([*by.index].index, members.index)) for pair, members in pairs.items()}
        shared[str(paradigm)] = table.loc[sorted(pairs, key=lambda pair: (first_positions[pair], pair))].rename_axis("condition")
    return shared
