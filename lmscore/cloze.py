"""What a language model gives the words that people typed after a fragment: the cloze probability of the same fragment."""

from collections.abc import Sequence

import numpy as np

from .maze.positions import Site
from .maze.surprisals import SurprisalScorer
from .models.interface import Model


def compute_cloze_probabilities(
    model: Model, blanks: Sequence[tuple[str, str, str]], *, batch_tokens: int | None = None
) -> list[float]:
    """Return the probability that the model gives each word after what stands before: (before, gap, word).

    It is that of the whole word with its end, of all its tokens together, corrected for whitespace as the surprisal of `score`
    (2 to the power of minus that); NaN where the tokenizer does not know the word. The gap is the space between them, or nothing
    where words are not spaced. Raises `ValueError` for a masked or n-gram model.

    >>> from gardenpath import lmscore
    >>> p = lmscore.compute_cloze_probabilities(lmscore.load("pocket"), [("The dog near the", " ", "trees"), ("The", " ", "dog")])
    >>> [0 < one < 1 for one in p]
    [True, True]
    """
    sites = [Site("", "", 0, word, word, before, gap) for before, gap, word in blanks]
    different = list(dict.fromkeys(sites))
    bits = SurprisalScorer(model, batch_tokens).compute_surprisals([(site, site.text) for site in different])
    found = dict(zip(different, np.exp2(-np.asarray(bits, dtype="float64")).tolist(), strict=True))
    return [found[site] for site in sites]
