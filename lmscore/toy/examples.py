"""A model and a minimal pair for the examples of docstrings: bigrams of four sentences, estimated in no time."""

from pathlib import Path
from tempfile import TemporaryDirectory

from gardenpath.stimuli import Item, Materials, Paradigm, Sentence

from ..models.ngram import NgramModel, estimate_ngram

EXAMPLE_CORPUS = "A dog barks.\nThe dogs bark.\nA cat sleeps.\nThe cats sleep.\n"
EXAMPLE_PAIR = Materials(
    (Paradigm("number", "agreement"),),
    (Item("i1", "number", {"grammatical": Sentence("A dog barks."), "ungrammatical": Sentence("A dog bark.")}),),
)


def estimate_example_model() -> NgramModel:
    """Return bigrams of `EXAMPLE_CORPUS`, smoothed as `estimate_ngram` does.

    >>> model = estimate_example_model()
    >>> model.name, model.order
    ('ngram:bigrams', 2)
    """
    with TemporaryDirectory() as folder:
        corpus = Path(folder, "corpus.txt")
        corpus.write_text(EXAMPLE_CORPUS, encoding="utf-8")
        return estimate_ngram(corpus, order=2, name="ngram:bigrams")
