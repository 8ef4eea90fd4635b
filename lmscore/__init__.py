"""Sentences become token scores under a language model; token scores become words, regions, sentences and pairs."""

from .cache.metadata_cache import load_cached
from .cache.token_cache import add_cache
from .cloze import compute_cloze_probabilities
from .imported_sentence_scores import import_pairs
from .imported_surprisal import import_surprisal
from .judging.conversation_state import create_conversation_state
from .judging.judgments import judge
from .judging.participants import answer_questions, compute_response_likelihood
from .judging.templates import Template, read_templates
from .loading import load
from .maze.distractors import Distractors, add_distractors
from .measures.reductions import MEASURES, answer_lps, compute_word_scores, region_lp
from .measures.unigrams import read_unigrams
from .models.interface import Model
from .models.ngram import estimate_ngram
from .scoring import Scores, compute_token_tables, count_within_noise, estimate_layout_noise, evaluate, score, score_blocks
from .tokens.continuations import encode_continuations
from .tokens.protocols import PROTOCOLS
from .tokens.token_table import TokenTable
from .two_stages import evaluate_in_stages

__all__ = [
    "MEASURES",
    "PROTOCOLS",
    "Distractors",
    "Model",
    "Scores",
    "Template",
    "TokenTable",
    "add_cache",
    "add_distractors",
    "answer_lps",
    "answer_questions",
    "compute_cloze_probabilities",
    "compute_response_likelihood",
    "compute_token_tables",
    "compute_word_scores",
    "count_within_noise",
    "create_conversation_state",
    "encode_continuations",
    "estimate_layout_noise",
    "estimate_ngram",
    "evaluate",
    "evaluate_in_stages",
    "import_pairs",
    "import_surprisal",
    "judge",
    "load",
    "load_cached",
    "read_templates",
    "read_unigrams",
    "region_lp",
    "score",
    "score_blocks",
]
