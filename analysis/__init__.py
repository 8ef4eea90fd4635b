"""Tables of a study become models, figures and a report; reading times meet surprisal."""

from .alignment import align, alignment_models
from .contrasts import phenomenon_models
from .evaluation import accuracy
from .measures import condition_means, rating_scores, region_times
from .mixed import fit
from .results import analyse

__all__ = [
    "accuracy",
    "align",
    "alignment_models",
    "analyse",
    "condition_means",
    "fit",
    "phenomenon_models",
    "rating_scores",
    "region_times",
]
