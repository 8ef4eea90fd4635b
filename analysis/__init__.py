"""Tables of a study become models, figures and a report; reading times meet surprisal."""

from .additive import smooths
from .alignment import AlignOptions, align, alignment_models, surprisal_effects
from .chosen import chosen_models
from .comparison import accuracy_bins, accuracy_correlations, length_bias, model_comparisons, proportion_tests, rankings
from .contrasts import families, paradigm_models, phenomenon_models
from .correlation import rating_correlations
from .detection import Spread, power_curve
from .evaluation import accuracy, model_table
from .exclusions import left_in, participant_prompts, participants
from .factorial import factorial_models
from .marginal import marginal_contrasts
from .measures import condition_means, rating_scores, reading_curves, region_times
from .mixed import Fit, fit, fit_stepwise
from .ordinal import cumulative, ordinal_models
from .predictive import delta_comparisons, delta_log_likelihood, heldout
from .predictors import collinearity
from .reliability import choice_agreement, icc, noise_ceilings, rating_counts, reliabilities
from .reporting.document import report
from .reporting.figures.effect_figures import coefficient_figure, condition_figure
from .reporting.figures.figure_style import svg
from .reporting.figures.pair_figures import accuracy_figure
from .reporting.figures.score_figures import score_figure
from .reporting.figures.surprisal_figures import gain_figure, lag_profile_figure, surprisal_figure
from .reporting.wording.numbers import apa
from .results import analyse
from .selftest import alignment_test, lag_profile
from .sensitivity import sensitivity_grid

__all__ = [
    "AlignOptions",
    "Fit",
    "Spread",
    "accuracy",
    "accuracy_bins",
    "accuracy_correlations",
    "accuracy_figure",
    "align",
    "alignment_models",
    "alignment_test",
    "analyse",
    "apa",
    "choice_agreement",
    "chosen_models",
    "coefficient_figure",
    "collinearity",
    "condition_figure",
    "condition_means",
    "cumulative",
    "delta_comparisons",
    "delta_log_likelihood",
    "factorial_models",
    "families",
    "fit",
    "fit_stepwise",
    "gain_figure",
    "heldout",
    "icc",
    "lag_profile",
    "lag_profile_figure",
    "left_in",
    "length_bias",
    "marginal_contrasts",
    "model_comparisons",
    "model_table",
    "noise_ceilings",
    "ordinal_models",
    "paradigm_models",
    "participant_prompts",
    "participants",
    "phenomenon_models",
    "power_curve",
    "proportion_tests",
    "rankings",
    "rating_correlations",
    "rating_counts",
    "rating_scores",
    "reading_curves",
    "region_times",
    "reliabilities",
    "report",
    "score_figure",
    "sensitivity_grid",
    "smooths",
    "surprisal_effects",
    "surprisal_figure",
    "svg",
]
