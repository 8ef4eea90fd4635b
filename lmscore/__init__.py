"""Sentences become token scores under a language model; token scores become words, regions, sentences and pairs."""

from .cache.token_cache import cached
from .loading import load
from .measures.reductions import MEASURES, WordScore, region_lp, words
from .measures.unigrams import Unigrams, read_unigrams
from .models.causal import CausalModel
from .models.interface import COLUMNS, Model
from .models.masked import MaskedModel
from .models.ngram import NgramModel, estimate_ngram
from .scoring import Scored, Scores, evaluate, layout_noise, score, token_tables, within_noise
from .tokens.encoding import Encoded, Encoder, encode
from .tokens.protocols import PROTOCOLS, Protocol
from .tokens.token_table import TokenTable
from .toy.pocket import build_pocket

__all__ = [
    "COLUMNS",
    "MEASURES",
    "PROTOCOLS",
    "CausalModel",
    "Encoded",
    "Encoder",
    "MaskedModel",
    "Model",
    "NgramModel",
    "Protocol",
    "Scored",
    "Scores",
    "TokenTable",
    "Unigrams",
    "WordScore",
    "build_pocket",
    "cached",
    "encode",
    "estimate_ngram",
    "evaluate",
    "layout_noise",
    "load",
    "read_unigrams",
    "region_lp",
    "score",
    "token_tables",
    "within_noise",
    "words",
]
