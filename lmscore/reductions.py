"""Words, regions and sentences as sums over a token table."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gardenpath.stimuli import CRITICAL, Sentence, Word

from .encoding import cores, owners
from .tokentable import TokenTable

BITS = 1 / math.log(2)


@dataclass(frozen=True)
class WordScore:
    """A word's surprisal, corrected and plain, and the entropy before its first token, in bits; and its tokens."""

    word: Word
    surprisal: float
    surprisal_naive: float
    entropy: float
    tokens: int


def words(table: TokenTable, sentence: Sentence) -> list[WordScore]:
    """Return the score of every word, in bits.

    A word's naive surprisal is the sum over its tokens; where tokens carry the whitespace before them, that leaves the
    end of the word to be paid by the next one. Corrected surprisal moves it back:

        corrected = naive - log2 B(after) + log2 B(before)

    B being the mass of what begins a new word or ends the text (Pimentel & Meister 2024,
    doi 10.18653/v1/2024.emnlp-main.1020; Oh & Schuler 2024, arXiv 2406.10851, but for the end of the text).
    """
    owning = np.array(owners(table.encoded, sentence))
    edges = np.flatnonzero(np.diff(owning, prepend=-1, append=len(owning) + 1))
    boundary = _edge_masses(table, edges, sentence)
    scores = []
    for word, first, after in zip(sentence.words(), edges[:-1], edges[1:], strict=True):
        naive = -BITS * float(table.logprob[first:after].sum())
        corrected = naive + BITS * (boundary[first] - boundary[after])
        scores.append(WordScore(word, corrected, naive, BITS * float(table.entropy[first]), int(after - first)))
    return scores


def _edge_masses(table: TokenTable, edges: np.ndarray, sentence: Sentence) -> dict[int, float]:
    """Return the log mass (nats) that a word edge lies before each of the tokens `edges`; 0 where the edge is no event.

    After a token that ends in whitespace the edge is certain. Where an author's segmentation cuts without whitespace,
    no token marks the edge, so there is nothing to correct; in a text cut only like that, neither at its ends.
    """
    encoded = table.encoded
    masses = {}
    for j in map(int, edges):
        if (j and encoded.ends[j - 1]) or (0 < j < len(encoded.ids) and not encoded.begins[j]):
            masses[j] = 0.0
        else:
            masses[j] = float(table.log_boundary[j])
    if sentence.segmentation is not None and not any(c.isspace() for c in sentence.text.strip()):
        return dict.fromkeys(masses, 0.0)
    return masses


def lp(table: TokenTable) -> float:
    """Return the log-probability of the sentence, in nats."""
    return float(table.logprob[:-1].sum())


def mean_lp(table: TokenTable) -> float:
    """Return lp / |s|, |s| being the scored tokens, in nats (Lau et al. 2020, doi 10.1162/tacl_a_00315)."""
    return lp(table) / len(table.encoded.ids)


def pen_lp(table: TokenTable, alpha: float = 0.8) -> float:
    """Return lp / ((5 + |s|) / (5 + 1)) ^ alpha, in nats (Lau et al. 2020, doi 10.1162/tacl_a_00315)."""
    return lp(table) / ((5 + len(table.encoded.ids)) / 6) ** alpha


def region_lp(table: TokenTable, sentence: Sentence, name: str = CRITICAL) -> float | None:
    """Return the log-probability of a region given all that precedes it, in nats; None where it is absent or empty.

    Whitespace before the region's first letter belongs to it. A region edge inside a token raises `ValueError`.
    """
    region = sentence.region(name)
    if region is None or region.start == region.end:
        return None
    within = []
    for j, (start, end) in enumerate(cores(table.encoded.spans, sentence.text)):
        for edge in (region.start, region.end):
            if start < edge < end:
                raise ValueError(
                    f"region {name!r} (characters {region.start} to {region.end}) has an edge inside the token "
                    f"{sentence.text[start:end]!r} (characters {start} to {end}); move the edge to the token's, "
                    "or take a model that splits here"
                )
        if start < region.end and region.start < end:
            within.append(j)
    return float(table.logprob[within].sum()) if within else None


def critical_lp(table: TokenTable, sentence: Sentence) -> float | None:
    """Return the log-probability of the region `critical` given what precedes it, in nats, or None without one."""
    return region_lp(table, sentence)


Measure = Callable[[TokenTable, Sentence], float | None]
MEASURES: Mapping[str, Measure] = {
    "lp": lambda table, sentence: lp(table),
    "mean_lp": lambda table, sentence: mean_lp(table),
    "pen_lp": lambda table, sentence: pen_lp(table),
    "critical_lp": critical_lp,
}


def check_measures(names: Sequence[str]) -> None:
    """Raise `ValueError` naming the measures that are not known."""
    unknown = [name for name in names if name not in MEASURES]
    if unknown or not names:
        raise ValueError(
            f"measure {', '.join(map(repr, unknown)) or 'missing'}; expected one or more of {', '.join(MEASURES)}"
        )
