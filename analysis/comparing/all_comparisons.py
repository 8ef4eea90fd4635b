"""All that pairs, and judgments, tell of their models, beside whatever else is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from gardenpath.study import check

from .group_accuracy import accuracy_by
from .languages import by_language, delta_regression
from .learning_curves import learning_curves
from .method_accuracy import (
    PROMPTED,
    TEMPLATED,
    answer_shares,
    method_accuracies,
    method_differences,
    method_groups,
    method_length_bias,
)
from .model_comparison import (
    accuracy_bins,
    accuracy_correlations,
    group_differences,
    length_bias,
    model_comparisons,
    proportion_tests,
    rankings,
)
from .pair_accuracy import MODEL, OVERALL, accuracy
from .voting import Members, ensembles, method_comparisons


@dataclass(frozen=True)
class Beside:
    """What pairs are held against, where it is known.

    `scores` is sentence_scores; `people` has paradigm and accuracy (`people_accuracies`); each of `groups` is what `accuracy_by`
    takes; `halves` names one of two groups of each item; `runs` is what `learning_curves` takes, `languages` what `by_language`
    does, and `covariates` has columns by item that differences in score may depend on.
    """

    scores: pd.DataFrame | None = None
    people: pd.DataFrame | None = None
    groups: Sequence[pd.DataFrame] = ()
    halves: Mapping[str, str] = field(default_factory=dict)
    runs: pd.DataFrame | None = None
    languages: pd.DataFrame | None = None
    covariates: pd.DataFrame | None = None


def compared(pairs: pd.DataFrame, beside: Beside, *, seed: int = 1) -> dict[str, pd.DataFrame]:
    """Return the tables of comparisons, by name: those that two models, or what is beside the pairs, make possible."""
    accuracies = accuracy(pairs)
    tables = {"accuracy_bins": accuracy_bins(pairs, beside.scores)}
    several = pairs[MODEL].drop_duplicates().shape[0] > 1
    if several:
        tables |= {"model_comparisons": model_comparisons(pairs, seed=seed), "rankings": rankings(accuracies)}
    if several or beside.people is not None:
        tables["accuracy_correlations"] = accuracy_correlations(accuracies, beside.people, seed=seed)
    if beside.scores is not None:
        tables["length_bias"] = length_bias(pairs, beside.scores)
    if beside.groups:
        by_group = [accuracy_by(pairs, groups, beside.people, seed=seed) for groups in beside.groups]
        tables["group_accuracies"] = check(pd.concat(by_group, ignore_index=True), "group_accuracies")
    if beside.runs is not None:
        tables["learning_curves"] = learning_curves(accuracies, beside.runs, _by_phenomenon(pairs, beside.people))
    if beside.halves:
        grouped = pairs[pairs["item"].isin(beside.halves)]  # an earlier run may have had other items
        tests = [proportion_tests(grouped, beside.halves, over=over, seed=seed) for over in ("pairs", "paradigms")]
        tables["proportion_tests"] = check(pd.concat(tests, ignore_index=True), "proportion_tests")
        tables["group_differences"] = group_differences(grouped, beside.halves)
    return tables | _over_languages(pairs, beside, seed)


def judged(
    judgments: pd.DataFrame,
    beside: Beside,
    *,
    votes: Sequence[Members] | None = None,
    select: Sequence[str] = (),
    draws: int = 0,
    seed: int = 1,
) -> dict[str, pd.DataFrame]:
    """Return the tables of methods of judging, by name: those that what was asked, or what is beside it, make possible.

    Of `beside`, people and groups; `votes`, `select` and `draws` are what `ensembles` takes.
    """
    methods = {*judgments["method"]}
    tables = {
        "method_accuracies": method_accuracies(judgments, _by_phenomenon(judgments, beside.people)),
        "method_length_bias": method_length_bias(judgments),
        "answer_shares": answer_shares(judgments),
        "ensembles": ensembles(judgments, votes, select=select, draws=draws, seed=seed),
        "method_comparisons": method_comparisons(judgments, votes, seed=seed),
    }
    if {PROMPTED, TEMPLATED} <= methods:
        tables["method_differences"] = method_differences(judgments, seed=seed)
    if beside.groups:
        by_group = [method_groups(judgments, groups, beside.people, seed=seed) for groups in beside.groups]
        tables["method_groups"] = check(pd.concat(by_group, ignore_index=True), "method_groups")
    return {name: table for name, table in tables.items() if len(table)}


def _by_phenomenon(pairs: pd.DataFrame, people: pd.DataFrame | None) -> dict[str, float]:
    """Return people's accuracy on each phenomenon of which it is known for all paradigms, and over all of them."""
    if people is None:
        return {}
    phenomena = pairs.drop_duplicates("paradigm").set_index("paradigm")["phenomenon"]
    known = people.groupby("paradigm")["accuracy"].mean().reindex(phenomena.index)
    of = {name: known[phenomena == name] for name in phenomena.unique()} | {OVERALL: known}
    return {str(name): float(shares.mean()) for name, shares in of.items() if shares.notna().all()}


def _over_languages(pairs: pd.DataFrame, beside: Beside, seed: int) -> dict[str, pd.DataFrame]:
    if "language" not in pairs:  # earlier tables do not say it
        return {}
    spoken = pairs.dropna(subset="language")
    if beside.languages is None and spoken["language"].nunique() < 2:
        return {}
    tables = by_language(spoken, beside.languages, seed=seed)
    if beside.scores is not None:
        tables["delta_regressions"] = delta_regression(spoken, beside.scores, beside.languages, beside.covariates)
    return tables
