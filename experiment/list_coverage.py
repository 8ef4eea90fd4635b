"""How many judgments each item of small lists has, beside how many it was planned to have."""

import itertools
from collections import Counter
from collections.abc import Iterable

import pandas as pd

from gardenpath import study

from .versions import VersionFile

Judged = Counter[tuple[str, str, str]]  # by experiment, item and condition


def judged_in(responses: pd.DataFrame, sessions: pd.DataFrame) -> Judged:
    """Return how often each target was judged: an answer to any prompt, in a complete session that counts.

    >>> place = {"session": "s1", "experiment": "E1", "trial": 0, "role": "target", "item": "i1", "condition": "good+bad"}
    >>> sessions = pd.DataFrame({"session": ["s1"], "complete": [True], "excluded": [None], "source": ["server"]})
    >>> judged_in(pd.DataFrame([{**place, "response": "good"}]), sessions)
    Counter({('E1', 'i1', 'good+bad'): 1})
    """
    counting = sessions[sessions["complete"] & sessions["excluded"].isna() & (sessions["source"] != "preview")]
    answered = responses["response"].notna() & (responses["role"] == "target")
    rows = responses[answered & responses["session"].isin(counting["session"])].drop_duplicates(["session", "trial"])
    return Counter(rows[["experiment", "item", "condition"]].itertuples(index=False, name=None))


def coverage(files: Iterable[VersionFile], judged: Judged) -> pd.DataFrame | None:
    """Return table `coverage`: of each item, in each condition, how many judgments were planned and are there.

    None where no version has lists. Of several files of a version, the last of them says what was planned.

    >>> from gardenpath import stimuli
    >>> coverage((), Counter()) is None
    True
    """
    versions = {file.name: file.version for file in files if file.version.lists}.values()
    if not versions:
        return None
    planned = Counter(
        (version.experiment, trial.item.id, trial.condition)
        for version in versions
        for trial in itertools.chain(*version.parts())
        if trial.role == "target"
    )
    paradigms = {trial.item.id: trial.item.paradigm for version in versions for trial in version.trials}
    rows = [
        (place[0], paradigms[place[1]], *place[1:], planned[place], judged[place])
        for place in dict.fromkeys([*planned, *judged])
        if place[1] in paradigms
    ]
    return study.check(pd.DataFrame(sorted(rows), columns=study.TABLES["coverage"].names), "coverage")
