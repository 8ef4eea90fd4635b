"""Sentences become token scores under a language model; token scores become words, regions, sentences and pairs."""

from .cache import cached
from .causal import CausalModel
from .encoding import Encoded, Encoder, encode
from .loading import load
from .masked import MaskedModel
from .models import COLUMNS, Model
from .ngram import NgramModel, estimate_ngram
from .pocket import build_pocket
from .protocols import PROTOCOLS, Protocol
from .reductions import MEASURES, WordScore, region_lp, words
from .scoring import Scored, Scores, evaluate, layout_noise, score, token_tables, within_noise
from .tokentable import TokenTable
from .unigrams import Unigrams, read_unigrams

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
