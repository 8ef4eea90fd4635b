"""Tables of a study become models, figures and a report; reading times meet surprisal."""

from .aligning.alignment import AlignOptions, align, alignment_models, surprisal_effects
from .aligning.alignment_test import alignment_test, lag_profile
from .aligning.held_out import delta_comparisons, delta_log_likelihood, heldout
from .aligning.predictors import collinearity
from .cleaning.exclusions import left_in, participant_prompts, participants
from .comparing.model_comparison import (
    accuracy_bins,
    accuracy_correlations,
    length_bias,
    model_comparisons,
    proportion_tests,
    rankings,
)
from .comparing.pair_accuracy import accuracy, model_table
from .comparing.rating_correlation import rating_correlations
from .measuring.ratings_and_times import condition_means, rating_scores, reading_curves, region_times
from .measuring.reliability import choice_agreement, icc, noise_ceilings, rating_counts, reliabilities
from .modelling.additive import smooths
from .modelling.factorial import factorial_models
from .modelling.grammaticality import families, paradigm_models, phenomenon_models
from .modelling.marginal_means import marginal_contrasts
from .modelling.mixed_models import Fit, fit, fit_stepwise
from .modelling.ordinal import cumulative, ordinal_models
from .modelling.power import Spread, power_curve
from .modelling.random_effects import chosen_models
from .modelling.sensitivity import sensitivity_grid
from .pipeline import analyse
from .reporting.document import report
from .reporting.figures.effect_figures import coefficient_figure, condition_figure
from .reporting.figures.figure_style import svg
from .reporting.figures.pair_figures import accuracy_figure
from .reporting.figures.score_figures import score_figure
from .reporting.figures.surprisal_figures import gain_figure, lag_profile_figure, surprisal_figure
from .reporting.wording.numbers import apa

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
