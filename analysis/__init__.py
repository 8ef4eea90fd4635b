"""Tables of a study become models, figures and a report; reading times meet surprisal."""

from .aligning.alignment import AlignOptions, align
from .aligning.alignment_test import alignment_test
from .aligning.held_out import delta_comparisons, delta_log_likelihood, heldout
from .aligning.predictors import collinearity
from .comparing.group_accuracy import accuracy_by, usable
from .comparing.languages import by_language, delta_regression, frequency_curve
from .comparing.learning_curves import learning_curves
from .comparing.method_accuracy import (
    answer_shares,
    method_accuracies,
    method_differences,
    method_groups,
    method_length_bias,
)
from .comparing.model_comparison import (
    accuracy_bins,
    accuracy_correlations,
    group_differences,
    length_bias,
    model_comparisons,
    proportion_tests,
    rankings,
)
from .comparing.pair_accuracy import accuracy, model_table
from .comparing.rating_correlation import rating_correlations
from .comparing.voting import ensembles, method_comparisons
from .measuring.cloze import (
    beta_binomial,
    cloze,
    cloze_norms,
    group_answers,
    norm_means,
    normal_normal,
    prediction_powered,
    rating_norms,
)
from .measuring.ratings_and_times import condition_means, rating_scores, region_times
from .measuring.reliability import icc, noise_ceilings, reliabilities
from .measuring.unimodality import unimodality
from .modelling.additive import smooths
from .modelling.factorial import factorial_models
from .modelling.marginal_means import marginal_contrasts
from .modelling.mixed_models import fit
from .modelling.ordinal import cumulative
from .modelling.power import power_curve
from .modelling.simulated_trials import Assumptions
from .pipeline import analyse
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
    "AlignOptions",
    "Assumptions",
    "accuracy",
    "accuracy_bins",
    "accuracy_by",
    "accuracy_correlations",
    "accuracy_figure",
    "align",
    "alignment_test",
    "analyse",
    "answer_shares",
    "apa",
    "beta_binomial",
    "by_language",
    "cloze",
    "cloze_norms",
    "coefficient_figure",
    "collinearity",
    "condition_figure",
    "condition_means",
    "cumulative",
    "delta_comparisons",
    "delta_log_likelihood",
    "delta_regression",
    "difference_figure",
    "distractor_figure",
    "ensembles",
    "factorial_models",
    "fit",
    "frequency_curve",
    "gain_figure",
    "group_answers",
    "group_differences",
    "heldout",
    "icc",
    "interaction_figure",
    "learning_curves",
    "length_bias",
    "marginal_contrasts",
    "method_accuracies",
    "method_comparisons",
    "method_differences",
    "method_groups",
    "method_length_bias",
    "model_comparisons",
    "model_table",
    "noise_ceilings",
    "norm_means",
    "normal_normal",
    "power_curve",
    "prediction_powered",
    "proportion_tests",
    "rankings",
    "rating_correlations",
    "rating_norms",
    "rating_scores",
    "region_times",
    "reliabilities",
    "report",
    "score_figure",
    "smooths",
    "surprisal_figure",
    "svg",
    "unimodality",
    "usable",
]


def __dir__() -> list[str]:
    """The public names alone, without the packages that they come from."""
    return __all__
