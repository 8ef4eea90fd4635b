"""Sentences become token scores under a language model; token scores become words, regions, sentences and pairs."""

from .cache.remembered import load_cached
from .cache.token_cache import cached
from .elsewhere import scores_from
from .loading import load
from .measures.reductions import MEASURES, region_lp, words
from .measures.unigrams import read_unigrams
from .models.interface import Model
from .models.ngram import estimate_ngram
from .scoring import Scores, evaluate, layout_noise, score, score_blocks, token_tables, within_noise
from .sentences_elsewhere import pairs_from
from .tokens.protocols import PROTOCOLS
from .tokens.token_table import TokenTable

__all__ = [
    "MEASURES",
    "PROTOCOLS",
    "Model",
    "Scores",
    "TokenTable",
    "cached",
    "estimate_ngram",
    "evaluate",
    "layout_noise",
    "load",
    "load_cached",
    "pairs_from",
    "read_unigrams",
    "region_lp",
    "score",
    "score_blocks",
    "scores_from",
    "token_tables",
    "within_noise",
    "words",
]
