"""Cloze probabilities of a model are those that its surprisal of whole sentences says."""

import numpy as np
import pytest

from gardenpath import lmscore
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence


def test_a_word_s_probability_is_that_of_its_surprisal_in_the_sentence(model) -> None:
    """Of two tokens or of one, after a context or none, and the words of one fragment never have more than 1 together."""
    before, words = "The keys to the", ["cabinet", "mat", "exams", "café"]
    items = [Item(f"i{n}", "p", {"all": Sentence(f"{before} {word} are here.")}) for n, word in enumerate(words)]
    table = lmscore.score(Materials((Paradigm("p", "f", {"context": ("all",)}),), tuple(items)), model).surprisal
    bits = table[table["word"] == 4].set_index("item")["surprisal"]
    found = lmscore.compute_cloze_probabilities(model, [(before, " ", word) for word in [*words, *words]])
    np.testing.assert_allclose(found, [2 ** -bits[f"i{n}"] for n in range(4)] * 2, rtol=1e-6)
    assert sum(found[:4]) < 1


def test_a_model_that_cannot_be_prompted_is_named(tmp_path) -> None:
    (tmp_path / "corpus.txt").write_text("A dog barks.")
    ngram = lmscore.estimate_ngram(tmp_path / "corpus.txt", name="bigrams")
    with pytest.raises(ValueError, match="model bigrams: an n-gram model, which answers no prompts"):
        lmscore.compute_cloze_probabilities(ngram, [("A", " ", "dog")])
