"""Sentences become token scores under a language model; token scores become words, regions, sentences and pairs."""

from .cache.remembered import load_cached
from .cache.token_cache import cached
from .cloze import cloze_probabilities
from .elsewhere import scores_from
from .judging.carried import carried
from .judging.judgments import judge
from .judging.participants import answer_questions, answers_likelihood
from .judging.templates import Template, read_templates
from .loading import load
from .maze.distractors import Distractors, add_distractors
from .measures.reductions import MEASURES, answer_lps, region_lp, words
from .measures.unigrams import read_unigrams
from .models.interface import Model
from .models.ngram import estimate_ngram
from .scoring import Scores, evaluate, layout_noise, score, score_blocks, token_tables, within_noise
from .sentences_elsewhere import pairs_from
from .tokens.continuations import continuations
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
    "add_distractors",
    "answer_lps",
    "answer_questions",
    "answers_likelihood",
    "cached",
    "carried",
    "cloze_probabilities",
    "continuations",
    "estimate_ngram",
    "evaluate",
    "evaluate_in_stages",
    "judge",
    "layout_noise",
    "load",
    "load_cached",
    "pairs_from",
    "read_templates",
    "read_unigrams",
    "region_lp",
    "score",
    "score_blocks",
    "scores_from",
    "token_tables",
    "within_noise",
    "words",
]
