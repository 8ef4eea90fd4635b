"""Tables of a study become models, figures and a report; reading times meet surprisal."""

from .alignment import align, alignment_models, surprisal_effects
from .contrasts import phenomenon_models
from .document import report
from .evaluation import accuracy, model_table
from .figures import accuracy_figure, coefficient_figure, condition_figure, surprisal_figure, svg
from .measures import condition_means, rating_scores, region_times
from .mixed import fit
from .predictors import collinearity
from .results import analyse
from .selftest import alignment_test, lag_profile
from .wording import apa

__all__ = [
    "accuracy",
    "accuracy_figure",
    "align",
    "alignment_models",
    "alignment_test",
    "analyse",
    "apa",
    "coefficient_figure",
    "collinearity",
    "condition_figure",
    "condition_means",
    "fit",
    "lag_profile",
    "model_table",
    "phenomenon_models",
    "rating_scores",
    "region_times",
    "report",
    "surprisal_effects",
    "surprisal_figure",
    "svg",
]
