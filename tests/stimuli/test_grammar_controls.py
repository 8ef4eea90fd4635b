"""Controls: what they leave out of the count or refuse, and how a wrong one is named."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import wordfreq

from gardenpath import stimuli, study
from gardenpath.stimuli.grammar.bigrams import read_bigrams
from gardenpath.stimuli.grammar.generation import generate

LEXICON = "form,lemma,category,number\n" + "".join(
    f"{one},{one},N,sg\n{many},{one},N,pl\n"
    for one, many in [("dog", "dogs"), ("man", "men"), ("lynx", "lynxes"), ("mouse", "mice"), ("ox", "oxen")]
)
HEAD = 'language = "en"\nlexicon = "words.csv"\n[features]\nnumber = ["sg", "pl"]\n[paradigm.p]\ngood = "{one} [<N>] sleeps (very very well)?."\nbad = "{one} [<N*>] sleeps (very very well)?."\nslots = { N = "N & number=sg" }\nwhere = ["N* = N but number"]\n'


@pytest.fixture
def drawn(tmp_path: Path):
    def all_of(control: str) -> tuple[int, set[str], set[str]]:
        (tmp_path / "words.csv").write_text(LEXICON)
        (tmp_path / "grammar.toml").write_text(f"{HEAD}control = {control}\n")
        generated = generate(stimuli.read_grammar(tmp_path / "grammar.toml"), None, seed=1)
        good = [item.sentences["grammatical"].text.split() for item in generated.materials.items]
        return generated.counts[0].total, {words[1] for words in good}, {str(len(words)) for words in good}

    return all_of


def test_frequencies_and_letters_are_part_of_the_count(drawn) -> None:
    nouns = {"dog": "dogs", "man": "men", "lynx": "lynxes", "mouse": "mice", "ox": "oxen"}
    zipf = {word: wordfreq.zipf_frequency(word, "en") for pair in nouns.items() for word in pair}
    band = {word for word in nouns if 4 <= zipf[word] <= 8}
    assert 0 < len(band) < 5
    assert drawn("{ zipf = { N = [4, 8] } }")[:2] == (
        2 * len(band & {w for w in band if 4 <= zipf[nouns[w]] <= 8}),
        {w for w in band if 4 <= zipf[nouns[w]] <= 8},
    )
    near = {word for word, many in nouns.items() if abs(zipf[word] - zipf[many]) <= 0.5}
    assert 0 < len(near) < 5
    assert drawn("{ zipf_gap = 0.5 }")[:2] == (2 * len(near), near)
    assert drawn("{ letters_gap = 1 }")[:2] == (6, {"dog", "man", "mouse"})


def test_lengths_and_distances_are_seen_to_in_each_item(drawn) -> None:
    assert drawn("{ length = [1, 3] }")[0::2] == (10, {"3"})
    assert drawn("{ length = [4, 9], distance = [1, 1] }")[0::2] == (10, {"6"})
    assert drawn("{ distance = [2, 4] }")[1] == set()


@pytest.mark.parametrize(
    ("control", "says"),
    [
        ("{ lenght = [1, 3] }", "unknown control 'lenght'; did you mean 'length'?"),
        ("{ zipf = { M = [1, 3] } }", "unknown slot of words 'M'"),
        ("{ zipf = { N = [5, 3] } }", r"from the greater to the lesser; expected \[3, 5\]"),
        ("{ length = 3 }", "length is 3; expected its least and greatest value"),
        ("{ letters_gap = -1 }", "letters_gap is -1; expected a number from 0"),
    ],
)
def test_a_wrong_control_is_named(drawn, control: str, says: str) -> None:
    with pytest.raises(study.DataError, match=says):
        drawn(control)


ARPA = """\\data\\
ngram 1=5
ngram 2=2

\\1-grams:
-1.0 <unk>
-99 <s> -0.1
-0.5 a -0.2
-0.7 some -0.4
-1.5 dog
-2.0 dogs

\\2-grams:
-0.5 a dog
-1.0 some dogs

\\end\\
"""
TABLE = "first,second,count\na,dog,6\na,man,1\none,mouse,1\nsome,dogs,1\nsome,men,3\n"


def test_the_association_of_neighbours_is_that_of_the_counts(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(TABLE)
    table = read_bigrams(tmp_path / "b.csv")
    assert table.compute_association("a", "dog") == pytest.approx(math.log2((6 / 12) / ((7 / 12) * (6 / 12))))
    assert table.compute_association("Some", "men") == pytest.approx(math.log2((3 / 12) / ((4 / 12) * (3 / 12))))
    assert table.compute_association("a", "men") == -math.inf
    (tmp_path / "b.arpa").write_text(ARPA)
    model = read_bigrams(tmp_path / "b.arpa")
    assert model.compute_association("a", "dog") == pytest.approx((-0.5 + 1.5) * math.log2(10))
    assert model.compute_association("some", "dog") == pytest.approx(-0.4 * math.log2(10))  # backs off
    assert model.compute_association("a", "lynx") == pytest.approx(-0.2 * math.log2(10))


def test_an_estimated_model_is_read_as_lmscore_reads_it(tmp_path: Path) -> None:
    from gardenpath.lmscore.models import arpa, ngram

    text = "".join(f"{one} {two} sleeps\n" * n for n, (one, two) in enumerate(itertools.product("abc", "xyz"), 1))
    (tmp_path / "text.txt").write_text(text)
    ngram.estimate_ngram(tmp_path / "text.txt", order=3).write(tmp_path / "m.arpa")
    words, levels = arpa.read_arpa(tmp_path / "m.arpa")
    bigrams = read_bigrams(tmp_path / "m.arpa")
    for one, two in itertools.product("abc", "xyz"):
        ids = np.array([[words.index(one), words.index(two)]])
        at = levels[1].find(arpa.compute_gram_keys(ids, levels[:1], len(words)))
        bits = (levels[1].logprob[at] - levels[0].logprob[levels[0].find(ids[:, 1])]) / np.log(2)
        assert bigrams.compute_association(one, two) == pytest.approx(bits[0], abs=1e-6)


def test_neighbours_are_seen_to_in_each_item(drawn, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(
        "first,second,count\none,dog,4\none,dogs,3\none,man,4\none,men,1\none,mouse,1\nthe,lynx,9\nthe,lynxes,1\n"
    )
    # dog and dogs are expected alike after one; man, men too, in other numbers; mice were never seen, a mouse was.
    stated = '{ neighbour_bigram = { file = "b.csv", gap = 0 } }'
    assert drawn(stated)[1] == {"dog", "man", "lynx", "ox"}


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ('{ file = "b.csv", gap = -1 }', "gap of neighbour_bigram is -1; expected a number of bits from 0"),
        ('"b.csv"', "neighbour_bigram is 'b.csv'; expected a file and the greatest difference"),
        ('{ file = "c.csv", gap = 1 }', "neighbour_bigram names 'c.csv'; there is no such file"),
        ('{ file = "b.csv", gap = 1 }', r"b.csv, line 2: got 'a, dog, often'; expected two words and how often"),
    ],
)
def test_a_control_of_neighbours_that_cannot_be_read_is_named(drawn, tmp_path: Path, stated: str, says: str) -> None:
    (tmp_path / "b.csv").write_text("first,second,count\na,dog,often\n")
    with pytest.raises(study.DataError, match=says):
        drawn(f"{{ neighbour_bigram = {stated} }}")
