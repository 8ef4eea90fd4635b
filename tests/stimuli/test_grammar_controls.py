"""Controls: what they leave out of the count or refuse, and how a wrong one is named."""

from pathlib import Path

import pytest
import wordfreq

from gardenpath import stimuli, study
from gardenpath.stimuli.grammar.generating import generate

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
