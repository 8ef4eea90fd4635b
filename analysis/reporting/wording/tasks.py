"""What participants did in each task, how often, and what errors in Maze left."""

import pandas as pd

from gardenpath.study.task_methods import TASK_METHODS, TaskMethod

from ...measuring.maze_errors import describe_after_error
from ...measuring.region_spans import SENTENCE_REGION
from ...row_dicts import list_rows
from .labels import label, listed, region_name
from .numbers import Row, percent
from .sources import Sentence, read_off


def describe_task(row: Row) -> Sentence:
    """Return what was done in a task of the table task_counts, what is measured, and how many trials there are.

    >>> describe_task({"task": "question", "prompt": "who", "n_trials": 40, "n_right": 30, "n_wrong": 10})
    'Questions were answered about sentences (who). Of 40 answers 75.0% were right.'
    >>> describe_task({"task": "rsvp", "prompt": None, "n_trials": 40, "n_right": None, "n_wrong": None})
    'Sentences were shown word by word, each word for a time that was set. There are 40 sentences.'
    """
    method = TASK_METHODS.get(row["task"], TaskMethod(done=f"The task was {label(row['task'])}."))
    done: str = method.done if pd.isna(row["prompt"]) else f"{method.done.removesuffix('.')} ({label(row['prompt'])})."
    parts = [done, method.measured]
    if pd.isna(row["n_right"]):
        parts.append(f"There are {row['n_trials']} {method.noun}.")
        return read_off(" ".join(filter(None, parts)), "task_counts", row)
    share = percent(row["n_right"] / max(row["n_right"] + row["n_wrong"], 1))
    parts.append(f"Of {row['n_trials']} {method.noun} {share} {method.right}.")
    return read_off(" ".join(filter(None, parts)), "task_counts", row, "n_right / (n_right + n_wrong)")


def describe_tasks(task_counts: pd.DataFrame) -> list[Sentence]:
    """Return a sentence or two for each task of target trials; prompts are named where a task has several."""
    several = task_counts.duplicated("task", keep=False)
    named = task_counts.assign(prompt=task_counts["prompt"].where(several))
    return [describe_task(row) for row in list_rows(named)]


def describe_reading_time(task_counts: pd.DataFrame) -> str:
    """Return what a reading time is in a task where it has a name of its own, for captions; nothing elsewhere.

    >>> describe_reading_time(pd.DataFrame({"task": ["maze", "rating"]})), describe_reading_time(pd.DataFrame({"task": ["rating"]}))
    ('Reading time: time to the right word in Maze.', '')
    """
    labels = dict.fromkeys(TASK_METHODS[task].time_label for task in task_counts["task"] if task in TASK_METHODS)
    own = [name for name in labels if name != TaskMethod(done="").time_label]
    return f"Reading time: {listed(own)}." if own else ""


def describe_error_policy(exclusions: pd.DataFrame) -> str:
    """Return which words are left out after a wrong first choice in Maze, nothing where nobody read in Maze."""
    in_regions = exclusions[exclusions["table"].str.startswith("region_times: ")]
    if not in_regions["rule"].str.endswith("had a wrong first choice").any():
        return ""
    rules = {describe_after_error(after): after for after in ("sentence", *range(20))}
    found = in_regions[in_regions["rule"].isin([*rules])]
    policy = rules[found["rule"].iloc[0]]
    if policy == "sentence":
        text = "After a wrong first choice the later words of the sentence were left out."
    elif not policy:
        text = "Words after a wrong first choice were kept where the sentence went on."
    else:
        text = f"After a wrong first choice {policy} more {'word was' if policy == 1 else 'words were'} left out."
    return read_off(text, "exclusions", found)


def describe_accuracy(first_choices: pd.DataFrame) -> list[Sentence]:
    """Return the accuracy of first choices by condition, region by region, and what was lost after errors.

    >>> row = {"paradigm": "p", "condition": "a", "region": "sentence", "n_trials": 10, "n_right": 8, "n_wrong": 2, "n_lost": 0,
    ...        "accuracy": 0.8, "n_words": 70, "n_words_lost": 7}
    >>> critical = row | {"region": "critical", "n_right": 9, "n_wrong": 0, "n_lost": 1, "accuracy": 1.0, "n_words": 10}
    >>> for sentence in describe_accuracy(pd.DataFrame([row, critical])):
    ...     print(sentence)
    Sentences without a wrong first choice: a 80.0% (8 of 10).
    Right first choices, critical region: a 100.0% (9 of 9).
    Words left out after an error, with a right first choice: a 7 of 70 (10.0%).
    Trials lost to an earlier error, critical region: a 1 of 10 (10.0%).
    """
    sentences: list[Sentence] = []
    lost: list[Sentence] = []
    several = len({*first_choices["paradigm"]}) > 1
    for region in sorted({*first_choices["region"]}, key=lambda name: (name != SENTENCE_REGION, name)):
        rows = first_choices[first_choices["region"] == region]
        named = [(f"{label(row['paradigm'])} {label(row['condition'])}" if several else label(row["condition"]), row)
                 for row in list_rows(rows)]  # fmt: skip
        right = "; ".join(
            f"{name} {percent(row['accuracy'])} ({row['n_right']} of {row['n_right'] + row['n_wrong']})"
            for name, row in named
            if not pd.isna(row["accuracy"])
        )
        whole = region == SENTENCE_REGION
        what = "Sentences without a wrong first choice" if whole else f"Right first choices, {region_name(region)}"
        sentences.append(read_off(f"{what}: {right}.", "first_choices", rows, "n_right + n_wrong"))
        number, of = ("n_words_lost", "n_words") if whole else ("n_lost", "n_trials")
        counts = "; ".join(
            f"{name} {row[number]} of {row[of]} ({percent(row[number] / row[of])})" for name, row in named if row[of]
        )
        where = (
            "Words left out after an error, with a right first choice"
            if whole
            else f"Trials lost to an earlier error, {region_name(region)}"
        )
        lost.append(read_off(f"{where}: {counts}.", "first_choices", rows, f"{number} / {of}"))
    return [*sentences, *lost]
