"""Sentences become token scores under a language model; token scores become words, regions, sentences and pairs."""

from .causal import CausalModel
from .encoding import Encoded, Encoder, encode
from .loading import load
from .models import COLUMNS, Model
from .pocket import build_pocket
from .reductions import MEASURES, WordScore, region_lp, words
from .scoring import PROTOCOL, PROTOCOL_MEANING, Scored, Scores, evaluate, score, token_tables
from .tokentable import TokenTable

__all__ = [
    "COLUMNS",
    "MEASURES",
    "PROTOCOL",
    "PROTOCOL_MEANING",
    "CausalModel",
    "Encoded",
    "Encoder",
    "Model",
    "Scored",
    "Scores",
    "TokenTable",
    "WordScore",
    "build_pocket",
    "encode",
    "evaluate",
    "load",
    "region_lp",
    "score",
    "token_tables",
    "words",
]
