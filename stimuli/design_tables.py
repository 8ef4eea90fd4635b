"""A design as tables: its balance, the readers of each sentence, and its questions."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from gardenpath import study

from .trials import Trial, Version

if TYPE_CHECKING:
    import pandas as pd


def balance_of(versions: Sequence[Version]) -> "pd.DataFrame":
    """Return table `design_balance`: trials of each paradigm, level and condition in each version, by side in a pair.

    >>> from gardenpath import stimuli
    >>> pair = {"grammatical": stimuli.Sentence("A dog barks."), "ungrammatical": stimuli.Sentence("A dog bark.")}
    >>> items = tuple(stimuli.Item(f"i{n}", "number", pair) for n in (1, 2))
    >>> materials = stimuli.Materials((stimuli.Paradigm("number", "agreement"),), items)
    >>> versions = stimuli.Design({"grammatical": 1, "ungrammatical": 1}, versions=2).deal(materials, seed=1)
    >>> stimuli.balance_of(versions)[["version", "condition", "trials"]].values.tolist()
    [['V1', 'grammatical', 1], ['V1', 'ungrammatical', 1], ['V2', 'grammatical', 1], ['V2', 'ungrammatical', 1]]
    """
    counts = Counter(
        (version.experiment, version.id, trial.role, trial.item.paradigm, _levels(trial), condition, side)
        for version in versions
        for part in version.parts()
        for trial in part
        for side, (condition, _) in enumerate(trial.shown, start=1)
    )
    return _table("design_balance", [(*key, n) for key, n in sorted(counts.items())])


def _levels(trial: Trial) -> str | None:
    """Return the levels of the factors in which items differ, in words; None where there is no such factor."""
    levels = [f"{name}={level}" for name, level in trial.factors.items() if trial.item.extra.get(name) == level]
    return ", ".join(levels) or None


def exposures(versions: Sequence[Version], participants: int) -> "pd.DataFrame":
    """Return table `exposures`: in how many versions each sentence appears, and how many readers it has among `participants`.

    Participants are dealt evenly to the versions of all experiments; what is left over goes to the first ones. Small lists are
    counted as versions are.

    >>> from gardenpath import stimuli
    >>> pair = {"grammatical": stimuli.Sentence("A dog barks."), "ungrammatical": stimuli.Sentence("A dog bark.")}
    >>> items = tuple(stimuli.Item(f"i{n}", "number", pair) for n in (1, 2))
    >>> materials = stimuli.Materials((stimuli.Paradigm("number", "agreement"),), items)
    >>> versions = stimuli.Design({"grammatical": 1, "ungrammatical": 1}, versions=2).deal(materials, seed=1)
    >>> stimuli.exposures(versions, 5)[["item", "condition", "readers"]].values.tolist()
    [['i1', 'grammatical', 2], ['i1', 'ungrammatical', 3], ['i2', 'grammatical', 3], ['i2', 'ungrammatical', 2]]
    """
    parts = [part for version in versions for part in version.parts()]
    each, more = divmod(participants, len(parts))
    shown: dict[tuple[str, str, str], list[int]] = {}
    for n, part in enumerate(parts):
        for trial in part:
            for condition, _ in trial.shown:
                shown.setdefault((trial.item.paradigm, trial.item.id, condition), []).append(each + (n < more))
    rows = [(*key, len(readers), sum(readers)) for key, readers in sorted(shown.items())]
    return _table("exposures", rows)


def lists_of(versions: Sequence[Version]) -> "pd.DataFrame":
    """Return table `design_lists`: what each small list of these versions shows, beside practice.

    >>> from gardenpath import stimuli, study
    >>> pair = {"grammatical": stimuli.Sentence("A dog barks."), "ungrammatical": stimuli.Sentence("A dog bark.")}
    >>> items = tuple(stimuli.Item(f"i{n}", "number", pair) for n in (1, 2))
    >>> materials = stimuli.Materials((stimuli.Paradigm("number", "agreement"),), items)
    >>> plan = stimuli.Design({"grammatical": 1, "ungrammatical": 1}, lists=study.ListsSection(items=1, readers=2))
    >>> sorted(stimuli.lists_of(plan.deal(materials, seed=1))["item"])
    ['i1', 'i1', 'i2', 'i2']
    """
    rows = [
        (version.experiment, n, trial.role, trial.item.paradigm, trial.item.id, trial.condition)
        for version in versions
        for n, part in enumerate(version.lists)
        for trial in map(version.trials.__getitem__, part)
    ]
    return _table("design_lists", rows)


def questions_of(versions: Sequence[Version], names: Collection[str]) -> "pd.DataFrame":
    """Return table `design_questions`: the questions of these names by version, condition and right answer.

    >>> from gardenpath import stimuli
    >>> question = stimuli.Question("Did a dog bark?", {"active": "yes"})
    >>> item = stimuli.Item("i1", "verbs", {"active": stimuli.Sentence("A dog barked.")}, question=question)
    >>> materials = stimuli.Materials((stimuli.Paradigm("verbs", "voice", {"voice": ("active",)}),), (item,))
    >>> versions = stimuli.Design({"active": 1}, versions=1).deal(materials, seed=1, asks={"target": ["comprehension"]})
    >>> stimuli.questions_of(versions, ["comprehension"])[["condition", "answer", "questions"]].values.tolist()
    [['active', 'yes', 1]]
    """
    counts = Counter(
        (version.experiment, version.id, trial.role, trial.item.paradigm, trial.condition, trial.answer() or "")
        for version in versions
        for part in version.parts()
        for trial in part
        for name in trial.prompts
        if name in names
    )
    return _table("design_questions", [(*key, n) for key, n in sorted(counts.items())])


def _table(name: str, rows: Sequence[tuple[object, ...]]) -> "pd.DataFrame":
    import pandas as pd

    return study.check(pd.DataFrame(rows, columns=study.TABLES[name].names), name)
