"""How alike the cells of a choice, or lists, are in each covariate, before and after: the table `matching`."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gardenpath import study

from ..items import CRITICAL, Materials
from ..norms import Norms
from ..sentence_parts import SENTENCE
from ..trials import TrialList
from .covariates import compute_covariates
from .pool import Pool
from .settings import MatchingSettings

if TYPE_CHECKING:
    import pandas as pd

Values = Mapping[Any, float]  # of items, or of sentences
MATCHING_STAGES = ("lists", "conditions", "fillers and targets")
INTERVAL_LEVEL = 0.90  # of the interval whose ends are two one-sided tests at .05


@dataclass(frozen=True)
class CellGroup:
    """A cell: its name, the positions of its sentences (item and condition), and its level, or list, and condition."""

    name: str
    members: Sequence[tuple[int, int]]
    level: str = ""
    condition: str = ""

    def is_matched_with(self, other: "CellGroup", across: str) -> bool:
        """Whether the two are compared where these cells are to be alike."""
        if across == "levels":
            return self.condition == other.condition
        return across == "cells" or self.level == other.level


def compute_matching(pool: Pool, settings: MatchingSettings, stages: Sequence[tuple[str, Sequence[CellGroup]]]) -> "pd.DataFrame":
    """Return table `matching`: every two groups in every covariate, at every stage.

    The difference is in s.d. of the pool, with its 90 % interval (paired where the two have the same items, else Welch's), whose
    outer end is the equivalence bound: the least difference that two one-sided tests at .05 exclude (Schuirmann 1987, doi
    10.1007/BF01068419).
    """
    rows = []
    for stage, groups in stages:
        for k, name in enumerate(pool.names):
            values = [{n: float(pool.values[n, c, k]) for n, c in group.members} for group in groups]
            for (one, of_one), (other, of_other) in itertools.combinations(zip(groups, values, strict=True), 2):
                if of_one and of_other:
                    is_matched = one.is_matched_with(other, settings.get_across(name))
                    names = (stage, name, one.name, other.name, is_matched)
                    rows.append((*names, *_compare_groups(of_one, of_other, float(pool.values[:, :, k].std()))))
    return _build_table(rows)


def compute_design_matching(trial_lists: Sequence[TrialList], norms: Norms | None = None) -> "pd.DataFrame":
    """Return table `matching` of a design: its lists in length, frequency and norms, the conditions of each list, fillers
    and targets.

    Of the whole sentence, and of the critical region where one is marked. The s.d. is that of all sentences that are shown;
    lists of one experiment are compared, short lists are not.

    >>> from gardenpath import stimuli
    >>> pair = {"a": stimuli.Sentence("Dogs bark."), "b": stimuli.Sentence("Dogs whimper.")}
    >>> paradigm = stimuli.Paradigm("verbs", "verbs", {"verb": ("a", "b")})
    >>> materials = stimuli.Materials((paradigm,), tuple(stimuli.Item(f"i{n}", "verbs", pair) for n in range(4)))
    >>> table = stimuli.compute_design_matching(stimuli.Design(lists=2).build_trial_lists(materials, seed=1))
    >>> table.query("covariate == 'letters:sentence'")[["stage", "mean_a", "mean_b"]].values.tolist()[:2]
    [['lists', 9.5, 9.5], ['conditions', 8.0, 11.0]]
    """
    import statistics

    shown = [
        (trial_list, trial, condition)
        for trial_list in trial_lists
        if not trial_list.short_lists
        for trial in trial_list.trials
        if trial.role in ("target", "filler")
        for condition, _ in trial.shown_sentences
    ]
    items = tuple({trial.item.id: trial.item for _, trial, _ in shown}.values())
    if not items:
        return _build_table([])
    marked = any(sentence.list_region_words(CRITICAL) for item in items for sentence in item.sentences.values())
    measures = dict.fromkeys(("letters", "zipf", *(norms or {})))
    names = [f"{measure}:{part}" for part in (SENTENCE, *([CRITICAL] if marked else [])) for measure in measures]
    table = compute_covariates(Materials((), items), names, norms=norms).dropna(subset="value")
    rows = []
    for name, part in table.groupby("covariate", sort=False):
        value = {(row["item"], row["condition"]): row["value"] for row in part.to_dict("records")}
        values_by_stage: dict[str, dict[str, dict[str, dict[str, float]]]] = {stage: {} for stage in MATCHING_STAGES}
        seen = {}
        for trial_list, trial, condition in shown:
            key = trial.item.id, condition
            if key not in value:
                continue
            seen[key] = value[key]
            list_name = f"{trial_list.experiment}-{trial_list.id}"
            if trial.role == "target":
                values_by_stage["lists"].setdefault(trial_list.experiment, {}).setdefault(list_name, {})[f"{key}"] = value[key]
                values_by_stage["conditions"].setdefault(list_name, {}).setdefault(f"{list_name}, {condition}", {})[f"{key}"] = (
                    value[key]
                )
            role = f"{trial.role}s of {trial_list.experiment}"
            values_by_stage["fillers and targets"].setdefault(trial_list.experiment, {}).setdefault(role, {})[f"{key}"] = value[key]
        sd = statistics.pstdev(seen.values()) if seen else 0.0
        for stage, within in values_by_stage.items():
            for groups in within.values():
                for (one, a), (other, b) in itertools.combinations(sorted(groups.items()), 2):
                    rows.append((stage, str(name), one, other, True, *_compare_groups(a, b, sd)))
    return _build_table(sorted(rows, key=lambda row: MATCHING_STAGES.index(row[0])))


def _build_table(rows: Sequence[tuple[Any, ...]]) -> "pd.DataFrame":
    import pandas as pd

    return study.check(pd.DataFrame(rows, columns=study.TABLES["matching"].column_names), "matching")


def _compare_groups(of_one: Values, of_other: Values, sd: float) -> tuple[Any, ...]:
    """Return the cells of the table that compare two groups."""
    import numpy as np

    a, b = np.array([*of_one.values()]), np.array([*of_other.values()])
    difference, half = _compute_difference(of_one, of_other)
    d = difference / sd if sd > 1e-12 else None
    low, high = (None, None) if d is None or half is None else (d - half / sd, d + half / sd)
    bound = None if low is None or high is None else max(abs(low), abs(high))
    spread = [float(x.std(ddof=1)) if len(x) > 1 else None for x in (a, b)]
    return (len(a), len(b), float(a.mean()), float(b.mean()), *spread, d, low, high, bound)


def _compute_difference(a: Values, b: Values) -> tuple[float, float | None]:
    """Return the difference of means and half the width of its interval; None where there are too few items."""
    import numpy as np
    from scipy.special import stdtrit

    x, y = np.array([*a.values()]), np.array([*b.values()])
    difference = float(x.mean() - y.mean())
    if min(len(x), len(y)) < 2:
        return difference, None
    if a.keys() == b.keys():
        of = np.array([a[n] - b[n] for n in a])
        error, df = float(of.std(ddof=1)) / math.sqrt(len(of)), float(len(of) - 1)
    else:
        one, other = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
        error = math.sqrt(one + other)
        df = (one + other) ** 2 / (one**2 / (len(x) - 1) + other**2 / (len(y) - 1)) if error > 0 else 1.0
    return difference, float(stdtrit(df, (1 + INTERVAL_LEVEL) / 2)) * error
