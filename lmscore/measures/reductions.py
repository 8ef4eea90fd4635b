"""Words, regions and sentences as sums over a token table."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gardenpath.stimuli import CRITICAL, Sentence
from gardenpath.stimuli.items import Word

from ..models.predictors import RENYI_KIND, parse_predictor
from ..tokens.encoding import EncodedText, align_tokens_to_words, strip_spans
from ..tokens.token_table import TokenTable
from .unigrams import Unigrams

BITS_PER_NAT = 1 / math.log(2)


@dataclass(frozen=True)
class WordScore:
    """A word's surprisal, corrected and plain, entropy and Rényi entropy before its first token, in bits; its tokens.

    `words` is 1, or the number of words that a token joins: `word` is then all of them. A word with a token that is not
    scored has no score: all four are NaN.
    """

    word: Word
    surprisal: float
    surprisal_naive: float
    entropy: float
    renyi: float
    tokens: int
    words: int = 1


def compute_word_scores(table: TokenTable, sentence: Sentence) -> list[WordScore]:
    """Return the score of every word, in bits; words that a token joins have one score.

    A word's naive surprisal is the sum over its tokens; where tokens carry the whitespace before them, that leaves the
    end of the word to be paid by the next one. Corrected surprisal moves it back:

        corrected = naive - log2 B(after) + log2 B(before)

    B being the mass of what begins a new word or ends the text (Pimentel & Meister 2024,
    doi 10.18653/v1/2024.emnlp-main.1020; Oh & Schuler 2024, arXiv 2406.10851, but for the end of the text). A table
    without boundary masses, as a masked model's, has nothing to correct. Raises `ValueError` where a region has an edge inside
    words that a token joins, or a word has no token.

    >>> from gardenpath.lmscore.toy.examples import estimate_example_model
    >>> from gardenpath.stimuli import Sentence
    >>> model = estimate_example_model()
    >>> (table,) = model.forward([model.encode("A dog bark.")])
    >>> [(one.word.text, one.tokens, round(one.surprisal, 2)) for one in compute_word_scores(table, Sentence("A dog bark."))]
    [('A', 1, 1.81), ('dog', 1, 1.81), ('bark.', 2, 5.59)]
    """
    boundary = _compute_edge_logprobs(table, sentence)
    scores = []
    for unit in align_tokens_to_words(table.encoded_text, sentence):
        first = max(unit.first, 0)
        naive = -table.logprob[first : unit.stop].sum()
        corrected = naive + boundary[first] - boundary[unit.stop]
        values = (corrected, naive, table.entropy[first], table.renyi[first])
        bits = [BITS_PER_NAT * float(value) if unit.first >= 0 else math.nan for value in values]
        scores.append(WordScore(unit.word, bits[0], bits[1], bits[2], bits[3], unit.stop - unit.first, unit.word_count))
    return scores


def compute_word_predictors(table: TokenTable, sentence: Sentence, names: Sequence[str]) -> list[dict[str, float]]:
    """Return further predictors of every word, in bits, which the table has in its `predictors`; see `models.predictors`.

    Surprisal by a temperature or a layer is that of `compute_word_scores`, corrected by the boundary masses of the same
    distribution.
    """
    columns = {}
    for name in names:
        rows = table.predictors[name]
        if parse_predictor(name).kind == RENYI_KIND:
            columns[name] = [word.renyi for word in compute_word_scores(replace(table, renyi=rows[0]), sentence)]
        else:
            changed = replace(table, logprob=rows[0], log_boundary=rows[1])
            columns[name] = [word.surprisal for word in compute_word_scores(changed, sentence)]
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _compute_edge_logprobs(table: TokenTable, sentence: Sentence) -> np.ndarray:
    """Return the log mass (nats) that a word edge lies before each token and the end; 0 where the edge is no event.

    After a token that ends in whitespace the edge is certain. Where an author's segmentation cuts without whitespace,
    no token marks the edge, so there is nothing to correct; in a text cut only like that, neither at its ends.
    """
    encoded = table.encoded_text
    uncut = sentence.segmentation is not None and not any(c.isspace() for c in sentence.text.strip())
    if uncut or np.isnan(table.log_boundary).all():
        return np.zeros(len(encoded.ids) + 1)
    marked = np.array([True, *encoded.starts_with_space[1:], True]) & ~np.array([False, *encoded.ends_with_space])
    return np.where(marked, table.log_boundary, 0.0)


def lp(table: TokenTable) -> float:
    """Return the log-probability of the sentence, in nats."""
    return float(table.logprob[: table.encoded_text.scored_count].sum())


def answer_lps(tables: Sequence[TokenTable]) -> np.ndarray:
    """Return the log-probability of each answer after one prompt, in nats, of the tables of `encode_continuations`.

    It is that of the whole answer. Where the tokens of one answer begin another ("1" and "10"), the shorter is not the longer: its
    probability is without theirs.

    >>> from gardenpath.lmscore.toy.examples import estimate_example_model
    >>> model = estimate_example_model()
    >>> answer_lps(model.forward([model.encode(text) for text in ("The cats", "The dog", "The cat")])).round(2).tolist()
    [-2.51, -4.62, -4.62]
    """
    whole = np.array([table.logprob[: len(table.encoded_text.ids)].sum() for table in tables])
    ids = [table.encoded_text.ids for table in tables]
    for k in sorted(range(len(ids)), key=lambda k: -len(ids[k])):
        longer = [j for j, other in enumerate(ids) if len(other) > len(ids[k]) and other[: len(ids[k])] == ids[k]]
        if longer:
            whole[k] += np.log1p(-min(1.0, float(np.exp(whole[longer] - whole[k]).sum())))
    return whole


def mean_lp(table: TokenTable) -> float:
    """Return lp / |s|, |s| being the scored tokens, in nats (Lau et al. 2020, doi 10.1162/tacl_a_00315)."""
    return lp(table) / table.encoded_text.scored_count


def pen_lp(table: TokenTable, alpha: float = 0.8) -> float:
    """Return lp / ((5 + |s|) / (5 + 1)) ^ alpha, in nats (Lau et al. 2020, doi 10.1162/tacl_a_00315)."""
    return lp(table) / length_penalty(table.encoded_text.scored_count, alpha)


def length_penalty(tokens: int, alpha: float = 0.8) -> float:
    """Return what `pen_lp` divides by: ((5 + tokens) / (5 + 1)) ^ alpha."""
    return math.pow((5 + tokens) / 6, alpha)


def slor(table: TokenTable, unigrams: Unigrams) -> float:
    """Return (lp - log-probability of the same tokens under unigrams) / |s|, in nats.

    The syntactic log-odds ratio of Pauls & Klein (2012, aclanthology.org/P12-1101; Kann et al. 2018,
    doi 10.18653/v1/K18-1031; Lau et al. 2017, doi 10.1111/cogs.12414). The end of the text is left out of all three.
    """
    ids = table.encoded_text.ids
    return (float(table.logprob[: len(ids)].sum()) - unigrams.lp(ids)) / len(ids)


def find_region_tokens(encoded: EncodedText, sentence: Sentence, name: str = CRITICAL) -> tuple[int, ...] | None:
    """Return the positions of a region's tokens; None where it is absent or empty, or a token of it is not scored.

    Whitespace before the region's first letter belongs to it. A region edge inside a token raises `ValueError`.
    """
    region = sentence.find_region(name)
    if region is None or region.start == region.end:
        return None
    within = []
    lead = len(encoded.lead_spans)
    for j, (start, end) in enumerate(strip_spans((*encoded.lead_spans, *encoded.spans), sentence.text), start=-lead):
        for edge in (region.start, region.end):
            if start < edge < end:
                raise ValueError(
                    f"region {name!r} (characters {region.start} to {region.end}) has an edge inside the token "
                    f"{sentence.text[start:end]!r} (characters {start} to {end}); move the edge to the token's, "
                    "or take a model that splits here"
                )
        if start < region.end and region.start < end:
            within.append(j)
    return tuple(within) if within and within[0] >= 0 else None


def region_lp(table: TokenTable, sentence: Sentence, name: str = CRITICAL) -> float | None:
    """Return the log-probability of a region given all that precedes it, in nats; None where it is absent or empty.

    It is the sum over the region's tokens, found by its characters; also None where one of them is not scored. Raises
    `ValueError` where a region has an edge inside a token.

    >>> from gardenpath.lmscore.toy.examples import estimate_example_model
    >>> from gardenpath.stimuli import Region, Sentence
    >>> model = estimate_example_model()
    >>> sentence = Sentence("A dog barks.", (Region("critical", 6, 11),))
    >>> (table,) = model.forward([model.encode(sentence.text)])
    >>> round(region_lp(table, sentence), 2), region_lp(table, sentence, "spillover")
    (-0.63, None)
    """
    within = find_region_tokens(table.encoded_text, sentence, name)
    return None if within is None else float(table.logprob[list(within)].sum())


Reduction = Callable[[TokenTable, Sentence, Unigrams | None], float | None]
# How each measure of `study.measures` is computed; the last three are the score of the critical region, and differ in the
# pairs they compare.
MEASURES: Mapping[str, Reduction] = {
    "lp": lambda table, sentence, unigrams: lp(table),
    "mean_lp": lambda table, sentence, unigrams: mean_lp(table),
    "pen_lp": lambda table, sentence, unigrams: pen_lp(table),
    "slor": lambda table, sentence, unigrams: slor(table, unigrams) if unigrams else None,
    "critical_lp": lambda table, sentence, unigrams: region_lp(table, sentence),
    "one_prefix": lambda table, sentence, unigrams: region_lp(table, sentence),
    "two_prefix": lambda table, sentence, unigrams: region_lp(table, sentence),
}
UNIGRAM_MEASURES = ("slor",)  # None without them
REGION_MEASURES = {
    "critical_lp": "a region 'critical' in both members",
    "one_prefix": "the same words before two different critical regions",
    "two_prefix": "the same critical region after different words",
}


def is_comparable(measure: str, good: Sentence, bad: Sentence) -> bool:
    """Whether a pair has the structure that a measure of the critical region compares (BLiMP, section 6.4).

    `one_prefix` compares two critical regions after the same words, `two_prefix` the same region after different words.

    >>> from gardenpath.stimuli import Region
    >>> one = Sentence("She sees him.", (Region("critical", 9, 12),))
    >>> other = Sentence("He sees him.", (Region("critical", 8, 11),))
    >>> is_comparable("one_prefix", one, other), is_comparable("two_prefix", one, other)
    (False, True)
    """
    if measure not in REGION_MEASURES:
        return True
    regions = [(sentence, sentence.find_region(CRITICAL)) for sentence in (good, bad)]
    parts = [(s.text[: r.start], s.text[r.start : r.end]) for s, r in regions if r and r.start < r.end]
    if len(parts) < 2:
        return False
    (before, critical), (other_before, other_critical) = parts
    if measure == "one_prefix":
        return before == other_before and critical != other_critical
    return measure == "critical_lp" or (before != other_before and critical == other_critical)


def check_measures(names: Sequence[str]) -> None:
    """Raise `ValueError` naming the measures that are not known."""
    unknown = [name for name in names if name not in MEASURES]
    if unknown or not names:
        raise ValueError(f"measure {', '.join(map(repr, unknown)) or 'missing'}; expected one or more of {', '.join(MEASURES)}")
