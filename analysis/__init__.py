"""Tables of a study become models, figures and a report; reading times meet surprisal."""

from .aligning.alignment import AlignmentOptions, align
from .aligning.alignment_check import compute_alignment_check
from .aligning.held_out_likelihood import compute_delta_comparisons, compute_delta_log_likelihood, compute_held_out_clusters
from .aligning.predictors import compute_collinearity
from .comparing.ensembles import compute_ensembles, compute_method_comparisons
from .comparing.group_accuracy import compute_group_accuracies, compute_usable_phenomena
from .comparing.languages import compute_frequency_curves, compute_language_tables, compute_score_difference_regressions
from .comparing.learning_curves import compute_learning_curves
from .comparing.method_accuracy import (
    compute_method_accuracies,
    compute_method_differences,
    compute_method_groups,
    compute_method_length_bias,
    compute_response_shares,
)
from .comparing.model_comparison import (
    compute_accuracy_bins,
    compute_accuracy_correlations,
    compute_group_differences,
    compute_length_bias,
    compute_model_comparisons,
    compute_proportion_tests,
    compute_rankings,
)
from .comparing.pair_accuracy import build_model_table, compute_accuracy
from .comparing.rating_correlation import compute_rating_correlations
from .fitting.multiverse import compute_multiverse
from .fitting.plan_tables import fit_plan
from .fitting.pooled_effects import pool_effects
from .measuring.cloze import (
    code_cloze_responses,
    compute_cloze,
    compute_cloze_norms,
    compute_norm_means,
    compute_rating_norms,
    prediction_powered_mean,
    shrink_means,
    shrink_proportions,
)
from .measuring.ratings_and_times import compute_condition_means, compute_rating_scores, compute_region_times
from .measuring.reliability import compute_noise_ceilings, compute_reliability, icc
from .measuring.unimodality import compute_unimodality
from .modelling.additive import smooths
from .modelling.marginal_means import marginal_contrasts
from .modelling.mixed_models import fit
from .modelling.ordinal import cumulative
from .modelling.power import power_curve
from .modelling.simulated_trials import Assumptions
from .pipeline import analyse
from .plan import StudyTrials, resolve_designed_plan, resolve_plan
from .reporting.document import report
from .reporting.figures.effect_figures import coefficient_figure, condition_figure
from .reporting.figures.factor_figures import interaction_figure
from .reporting.figures.figure_style import svg
from .reporting.figures.maze_figures import distractor_figure
from .reporting.figures.pair_figures import accuracy_figure, difference_figure
from .reporting.figures.score_figures import score_figure
from .reporting.figures.surprisal_figures import gain_figure, surprisal_figure
from .reporting.wording.numbers import apa

__all__ = [
    "AlignmentOptions",
    "Assumptions",
    "StudyTrials",
    "accuracy_figure",
    "align",
    "analyse",
    "apa",
    "build_model_table",
    "code_cloze_responses",
    "coefficient_figure",
    "compute_accuracy",
    "compute_accuracy_bins",
    "compute_accuracy_correlations",
    "compute_alignment_check",
    "compute_cloze",
    "compute_cloze_norms",
    "compute_collinearity",
    "compute_condition_means",
    "compute_delta_comparisons",
    "compute_delta_log_likelihood",
    "compute_ensembles",
    "compute_frequency_curves",
    "compute_group_accuracies",
    "compute_group_differences",
    "compute_held_out_clusters",
    "compute_language_tables",
    "compute_learning_curves",
    "compute_length_bias",
    "compute_method_accuracies",
    "compute_method_comparisons",
    "compute_method_differences",
    "compute_method_groups",
    "compute_method_length_bias",
    "compute_model_comparisons",
    "compute_multiverse",
    "compute_noise_ceilings",
    "compute_norm_means",
    "compute_proportion_tests",
    "compute_rankings",
    "compute_rating_correlations",
    "compute_rating_norms",
    "compute_rating_scores",
    "compute_region_times",
    "compute_reliability",
    "compute_response_shares",
    "compute_score_difference_regressions",
    "compute_unimodality",
    "compute_usable_phenomena",
    "condition_figure",
    "cumulative",
    "difference_figure",
    "distractor_figure",
    "fit",
    "fit_plan",
    "gain_figure",
    "icc",
    "interaction_figure",
    "marginal_contrasts",
    "pool_effects",
    "power_curve",
    "prediction_powered_mean",
    "report",
    "resolve_designed_plan",
    "resolve_plan",
    "score_figure",
    "shrink_means",
    "shrink_proportions",
    "smooths",
    "surprisal_figure",
    "svg",
]


def __dir__() -> list[str]:
    """The public names alone, without the packages that they come from."""
    return __all__
