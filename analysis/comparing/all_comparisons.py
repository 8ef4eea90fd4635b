"""All that pairs, and judgments, tell of their models, beside whatever else is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from gardenpath.study import check

from .ensembles import EnsembleMembers, compute_ensembles, compute_method_comparisons
from .group_accuracy import compute_group_accuracies
from .languages import compute_language_tables, compute_score_difference_regressions
from .learning_curves import compute_learning_curves
from .method_accuracy import (
    IN_TEMPLATE_METHOD,
    PROMPTING_METHOD,
    compute_method_accuracies,
    compute_method_differences,
    compute_method_groups,
    compute_method_length_bias,
    compute_response_shares,
)
from .model_comparison import (
    compute_accuracy_bins,
    compute_accuracy_correlations,
    compute_group_differences,
    compute_length_bias,
    compute_model_comparisons,
    compute_proportion_tests,
    compute_rankings,
)
from .pair_accuracy import ALL_PHENOMENA, MODEL_KEY, compute_accuracy


@dataclass(frozen=True)
class ComparisonData:
    """What pairs are held against, where it is known.

    `scores` is sentence_scores; `human_accuracies` has paradigm and accuracy (`people_accuracies`); each of `groups` is what
    `compute_group_accuracies` takes; `halves` names one of two groups of each item; `runs` is what `compute_learning_curves`
    takes, `languages` what `compute_language_tables` does, and `covariates` has columns by item that differences in score may
    depend on.
    """

    scores: pd.DataFrame | None = None
    human_accuracies: pd.DataFrame | None = None
    groups: Sequence[pd.DataFrame] = ()
    halves: Mapping[str, str] = field(default_factory=dict)
    runs: pd.DataFrame | None = None
    languages: pd.DataFrame | None = None
    covariates: pd.DataFrame | None = None


def compute_comparisons(pairs: pd.DataFrame, comparison_data: ComparisonData, *, seed: int = 1) -> dict[str, pd.DataFrame]:
    """Return the tables of comparisons, by name: those that two models, or what is beside the pairs, make possible."""
    accuracies = compute_accuracy(pairs)
    tables = {"accuracy_bins": compute_accuracy_bins(pairs, comparison_data.scores)}
    several = pairs[MODEL_KEY].drop_duplicates().shape[0] > 1
    if several:
        tables |= {"model_comparisons": compute_model_comparisons(pairs, seed=seed), "rankings": compute_rankings(accuracies)}
    if several or comparison_data.human_accuracies is not None:
        tables["accuracy_correlations"] = compute_accuracy_correlations(accuracies, comparison_data.human_accuracies, seed=seed)
    if comparison_data.scores is not None:
        tables["length_bias"] = compute_length_bias(pairs, comparison_data.scores)
    if comparison_data.groups:
        by_group = [
            compute_group_accuracies(pairs, groups, comparison_data.human_accuracies, seed=seed)
            for groups in comparison_data.groups
        ]
        tables["group_accuracies"] = check(pd.concat(by_group, ignore_index=True), "group_accuracies")
    if comparison_data.runs is not None:
        tables["learning_curves"] = compute_learning_curves(
            accuracies, comparison_data.runs, _average_by_phenomenon(pairs, comparison_data.human_accuracies)
        )
    if comparison_data.halves:
        grouped = pairs[pairs["item"].isin(comparison_data.halves)]  # an earlier run may have had other items
        tests = [compute_proportion_tests(grouped, comparison_data.halves, unit=over, seed=seed) for over in ("pairs", "paradigms")]
        tables["proportion_tests"] = check(pd.concat(tests, ignore_index=True), "proportion_tests")
        tables["group_differences"] = compute_group_differences(grouped, comparison_data.halves)
    return tables | _compare_languages(pairs, comparison_data, seed)


def compute_method_tables(
    judgments: pd.DataFrame,
    comparison_data: ComparisonData,
    *,
    votes: Sequence[EnsembleMembers] | None = None,
    select: Sequence[str] = (),
    draws: int = 0,
    seed: int = 1,
) -> dict[str, pd.DataFrame]:
    """Return the tables of methods of judging, by name: those that what was asked, or what is beside it, make possible.

    Of `comparison_data`, people and groups; `votes`, `select` and `draws` are what `compute_ensembles` takes.
    """
    methods = {*judgments["method"]}
    tables = {
        "method_accuracies": compute_method_accuracies(
            judgments, _average_by_phenomenon(judgments, comparison_data.human_accuracies)
        ),
        "method_length_bias": compute_method_length_bias(judgments),
        "response_shares": compute_response_shares(judgments),
        "ensembles": compute_ensembles(judgments, votes, select=select, draws=draws, seed=seed),
        "method_comparisons": compute_method_comparisons(judgments, votes, seed=seed),
    }
    if {PROMPTING_METHOD, IN_TEMPLATE_METHOD} <= methods:
        tables["method_differences"] = compute_method_differences(judgments, seed=seed)
    if comparison_data.groups:
        by_group = [
            compute_method_groups(judgments, groups, comparison_data.human_accuracies, seed=seed)
            for groups in comparison_data.groups
        ]
        tables["method_groups"] = check(pd.concat(by_group, ignore_index=True), "method_groups")
    return {name: table for name, table in tables.items() if len(table)}


def _average_by_phenomenon(pairs: pd.DataFrame, human_accuracies: pd.DataFrame | None) -> dict[str, float]:
    """Return people's accuracy on each phenomenon of which it is known for all paradigms, and over all of them."""
    if human_accuracies is None:
        return {}
    phenomena = pairs.drop_duplicates("paradigm").set_index("paradigm")["phenomenon"]
    known = human_accuracies.groupby("paradigm")["accuracy"].mean().reindex(phenomena.index)
    paradigm_shares = {name: known[phenomena == name] for name in phenomena.unique()} | {ALL_PHENOMENA: known}
    return {str(name): float(shares.mean()) for name, shares in paradigm_shares.items() if shares.notna().all()}


def _compare_languages(pairs: pd.DataFrame, comparison_data: ComparisonData, seed: int) -> dict[str, pd.DataFrame]:
    if "language" not in pairs:  # earlier tables do not say it
        return {}
    language_pairs = pairs.dropna(subset="language")
    if comparison_data.languages is None and language_pairs["language"].nunique() < 2:
        return {}
    tables = compute_language_tables(language_pairs, comparison_data.languages, seed=seed)
    if comparison_data.scores is not None:
        tables["score_difference_regressions"] = compute_score_difference_regressions(
            language_pairs, comparison_data.scores, comparison_data.languages, comparison_data.covariates
        )
    return tables
