"""A measure of sentences and a way of judging of one file, as a reader of CONTRIBUTING.md writes them: how many tokens there are."""

from gardenpath.lmscore.measures.unigrams import Unigrams
from gardenpath.lmscore.tokens.token_table import TokenTable
from gardenpath.stimuli import Sentence
from gardenpath.study.judgment_methods import JudgmentMethod
from gardenpath.study.measures import Measure

MEASURE = Measure("brevity", "scored tokens with a minus", "brevity", "tokens", in_scores=False)
METHOD = JudgmentMethod("brevity", "scored tokens with a minus", "brevity", "tokens")


def of_sentence(table: TokenTable, sentence: Sentence, unigrams: Unigrams | None) -> float:
    """Return the measure of a sentence."""
    return judged(table)


def judged(table: TokenTable) -> float:
    """Return the score of a sentence."""
    return -float(table.encoded_text.scored_count)
