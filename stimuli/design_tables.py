"""A design as tables: its balance, the readers of each sentence, and its questions."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from gardenpath import study

from .trials import Trial, TrialList

if TYPE_CHECKING:
    import pandas as pd


def compute_design_balance(trial_lists: Sequence[TrialList]) -> "pd.DataFrame":
    """Return table `design_balance`: trials of each paradigm, level and condition in each list, by side in a pair.

    >>> from gardenpath import stimuli
    >>> pair = {"grammatical": stimuli.Sentence("A dog barks."), "ungrammatical": stimuli.Sentence("A dog bark.")}
    >>> items = tuple(stimuli.Item(f"i{n}", "number", pair) for n in (1, 2))
    >>> materials = stimuli.Materials((stimuli.Paradigm("number", "agreement"),), items)
    >>> trial_lists = stimuli.Design({"grammatical": 1, "ungrammatical": 1}, lists=2).build_trial_lists(materials, seed=1)
    >>> stimuli.compute_design_balance(trial_lists)[["list", "condition", "n_trials"]].values.tolist()
    [['L1', 'grammatical', 1], ['L1', 'ungrammatical', 1], ['L2', 'grammatical', 1], ['L2', 'ungrammatical', 1]]
    """
    counts = Counter(
        (trial_list.experiment, trial_list.id, trial.role, trial.item.paradigm, _format_levels(trial), condition, side)
        for trial_list in trial_lists
        for part in trial_list.list_participant_trials()
        for trial in part
        for side, (condition, _) in enumerate(trial.shown_sentences, start=1)
    )
    return _build_table("design_balance", [(*key, n) for key, n in sorted(counts.items())])


def _format_levels(trial: Trial) -> str | None:
    """Return the levels of the factors in which items differ, in words; None where there is no such factor."""
    levels = [f"{name}={level}" for name, level in trial.factors.items() if trial.item.extra.get(name) == level]
    return ", ".join(levels) or None


def compute_exposures(trial_lists: Sequence[TrialList], participants: int) -> "pd.DataFrame":
    """Return table `exposures`: in how many lists each sentence appears, and how many readers it has among `participants`.

    Participants are dealt evenly to the lists of all experiments; what is left over goes to the first ones. Short lists are
    counted in the same way.

    >>> from gardenpath import stimuli
    >>> pair = {"grammatical": stimuli.Sentence("A dog barks."), "ungrammatical": stimuli.Sentence("A dog bark.")}
    >>> items = tuple(stimuli.Item(f"i{n}", "number", pair) for n in (1, 2))
    >>> materials = stimuli.Materials((stimuli.Paradigm("number", "agreement"),), items)
    >>> trial_lists = stimuli.Design({"grammatical": 1, "ungrammatical": 1}, lists=2).build_trial_lists(materials, seed=1)
    >>> stimuli.compute_exposures(trial_lists, 5)[["item", "condition", "n_participants"]].values.tolist()
    [['i1', 'grammatical', 2], ['i1', 'ungrammatical', 3], ['i2', 'grammatical', 3], ['i2', 'ungrammatical', 2]]
    """
    parts = [part for trial_list in trial_lists for part in trial_list.list_participant_trials()]
    each, more = divmod(participants, len(parts))
    shown: dict[tuple[str, str, str], list[int]] = {}
    for n, part in enumerate(parts):
        for trial in part:
            for condition, _ in trial.shown_sentences:
                shown.setdefault((trial.item.paradigm, trial.item.id, condition), []).append(each + (n < more))
    rows = [(*key, len(participants_per_list), sum(participants_per_list)) for key, participants_per_list in sorted(shown.items())]
    return _build_table("exposures", rows)


def build_short_lists_table(trial_lists: Sequence[TrialList]) -> "pd.DataFrame":
    """Return table `design_short_lists`: what each short list shows, beside practice.

    >>> from gardenpath import stimuli, study
    >>> pair = {"grammatical": stimuli.Sentence("A dog barks."), "ungrammatical": stimuli.Sentence("A dog bark.")}
    >>> items = tuple(stimuli.Item(f"i{n}", "number", pair) for n in (1, 2))
    >>> materials = stimuli.Materials((stimuli.Paradigm("number", "agreement"),), items)
    >>> short_lists = study.ShortListsSection(items_per_list=1, ratings_per_item=2)
    >>> design = stimuli.Design({"grammatical": 1, "ungrammatical": 1}, short_lists=short_lists)
    >>> sorted(stimuli.build_short_lists_table(design.build_trial_lists(materials, seed=1))["item"])
    ['i1', 'i1', 'i2', 'i2']
    """
    rows = [
        (trial_list.experiment, n, trial.role, trial.item.paradigm, trial.item.id, trial.condition)
        for trial_list in trial_lists
        for n, part in enumerate(trial_list.short_lists)
        for trial in map(trial_list.trials.__getitem__, part)
    ]
    return _build_table("design_short_lists", rows)


def compute_design_questions(trial_lists: Sequence[TrialList], question_names: Collection[str]) -> "pd.DataFrame":
    """Return table `design_questions`: the questions of these names by list, condition and right answer.

    >>> from gardenpath import stimuli
    >>> question = stimuli.Question("Did a dog bark?", {"active": "yes"})
    >>> item = stimuli.Item("i1", "verbs", {"active": stimuli.Sentence("A dog barked.")}, question=question)
    >>> materials = stimuli.Materials((stimuli.Paradigm("verbs", "voice", {"voice": ("active",)}),), (item,))
    >>> tasks = {"target": ["comprehension"]}
    >>> trial_lists = stimuli.Design({"active": 1}, lists=1).build_trial_lists(materials, seed=1, tasks_by_role=tasks)
    >>> table = stimuli.compute_design_questions(trial_lists, ["comprehension"])
    >>> table[["condition", "correct_answer", "n_questions"]].values.tolist()
    [['active', 'yes', 1]]
    """
    counts = Counter(
        (trial_list.experiment, trial_list.id, trial.role, trial.item.paradigm, trial.condition, trial.get_answer() or "")
        for trial_list in trial_lists
        for part in trial_list.list_participant_trials()
        for trial in part
        for name in trial.prompts
        if name in question_names
    )
    return _build_table("design_questions", [(*key, n) for key, n in sorted(counts.items())])


def _build_table(name: str, rows: Sequence[tuple[object, ...]]) -> "pd.DataFrame":
    import pandas as pd

    return study.check(pd.DataFrame(rows, columns=study.TABLES[name].column_names), name)
