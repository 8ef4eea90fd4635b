"""How often each task was done in target trials, and how it ended: what a methods section counts."""

import pandas as pd

from gardenpath.study import TABLES, check
from gardenpath.study.responses import RATING_TASKS

from .maze_errors import is_wrong
from .region_spans import TRIAL_KEY

WHOLE, TEXT_READ, CONTEXT = "whole", "reading", "context"  # a task, and a task and a prompt of responses
UNKNOWN_PRESENTATION = "reading"  # the task of words of which the source does not say how they were shown


def count_tasks(readings: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """Return the table task_counts of the target trials among these readings and these responses, each of which was given.

    >>> rows = [("S1", 0, "question", "ask", "yes", True), ("S1", 1, "question", "ask", "no", False)]
    >>> responses = pd.DataFrame(rows, columns=["session", "trial", "task", "prompt", "response", "correct"])
    >>> responses = responses.assign(participant="P1", condition="a", role="target")
    >>> readings = pd.DataFrame(columns=["participant", "session", "trial", "condition", "role", "task", "correct"])
    >>> count_tasks(readings, responses)[["prompt", "n_trials", "n_right", "n_wrong"]].to_numpy().tolist()
    [['ask', 2, 1, 1]]
    """
    read = readings[readings["role"] == "target"]
    sentences = read.assign(task=read["task"].fillna(UNKNOWN_PRESENTATION), chosen=read["correct"].notna(), wrong=is_wrong(read))
    sentences = sentences.groupby(["task", *TRIAL_KEY], as_index=False).agg(
        participant=("participant", "first"), chosen=("chosen", "any"), wrong=("wrong", "any")
    )
    parts = [sentences.assign(prompt=None, right=~sentences["wrong"])]
    answered = responses[responses["role"] == "target"]
    is_text = answered["task"] == TEXT_READ
    texts = answered[is_text & (answered["prompt"] != CONTEXT)]
    parts.append(texts.assign(task=WHOLE, prompt=None, chosen=False, right=False, wrong=False))
    asked = answered[~is_text]
    correct = asked["correct"].astype("boolean")
    scored = correct.notna() & ~asked["task"].isin(RATING_TASKS)
    parts.append(
        asked.assign(
            chosen=scored, right=(correct & scored).fillna(False).astype(bool), wrong=(~correct & scored).fillna(False).astype(bool)
        )
    )
    columns = ["task", "prompt", "participant", "chosen", "right", "wrong"]
    rows = pd.concat([part[columns].astype({"chosen": bool, "right": bool, "wrong": bool}) for part in parts])
    counts = rows.groupby(["task", "prompt"], as_index=False, dropna=False, sort=True).agg(
        n_participants=("participant", "nunique"), n_trials=("participant", "size"),
        scored=("chosen", "any"), n_right=("right", "sum"), n_wrong=("wrong", "sum"),
    )  # fmt: skip
    hidden = {name: counts[name].where(counts["scored"]).astype("Int64") for name in ("n_right", "n_wrong")}
    return check(counts.assign(**hidden)[TABLES["task_counts"].column_names], "task_counts")
