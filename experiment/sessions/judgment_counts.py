"""How many judgments each item of short lists has, beside how many it was planned to have."""

import itertools
from collections import Counter
from collections.abc import Iterable

import pandas as pd

from gardenpath import study

from ..scripts.list_files import ListFile

JudgmentCounts = Counter[tuple[str, str, str]]  # by experiment, item and condition


def count_judgments(responses: pd.DataFrame, sessions: pd.DataFrame) -> JudgmentCounts:
    """Return how often each target was judged: an answer to any prompt, in a complete session that counts.

    >>> place = {"session": "s1", "experiment": "E1", "trial": 0, "role": "target", "item": "i1", "condition": "good+bad"}
    >>> sessions = pd.DataFrame({"session": ["s1"], "complete": [True], "exclusion_reason": [None], "source": ["server"]})
    >>> count_judgments(pd.DataFrame([{**place, "response": "good"}]), sessions)
    Counter({('E1', 'i1', 'good+bad'): 1})
    """
    counted_sessions = sessions[sessions["complete"] & sessions["exclusion_reason"].isna() & (sessions["source"] != "preview")]
    answered = responses["response"].notna() & (responses["role"] == "target")
    rows = responses[answered & responses["session"].isin(counted_sessions["session"])].drop_duplicates(["session", "trial"])
    return Counter(rows[["experiment", "item", "condition"]].itertuples(index=False, name=None))


def compute_judgment_counts(files: Iterable[ListFile], counts: JudgmentCounts) -> pd.DataFrame | None:
    """Return table `judgment_counts`: of each item, in each condition, how many judgments were planned and are there.

    None where there are no short lists. Of several files of a list, the last of them says what was planned.

    >>> from gardenpath import stimuli
    >>> compute_judgment_counts((), Counter()) is None
    True
    """
    trial_lists = {file.name: file.trial_list for file in files if file.trial_list.short_lists}.values()
    if not trial_lists:
        return None
    scheduled = Counter(
        (trial_list.experiment, trial.item.id, trial.condition)
        for trial_list in trial_lists
        for trial in itertools.chain(*trial_list.list_participant_trials())
        if trial.role == "target"
    )
    paradigms = {trial.item.id: trial.item.paradigm for trial_list in trial_lists for trial in trial_list.trials}
    rows = [
        (cell[0], paradigms[cell[1]], *cell[1:], scheduled[cell], counts[cell])
        for cell in dict.fromkeys([*scheduled, *counts])
        if cell[1] in paradigms
    ]
    return study.check(pd.DataFrame(sorted(rows), columns=study.TABLES["judgment_counts"].column_names), "judgment_counts")
