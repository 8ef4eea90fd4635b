"""What is promised of generated items: each rule with a grammar that breaks it, is refused, and one that keeps it."""

from pathlib import Path

import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli.grammar.generation import generate
from gardenpath.stimuli.grammar.guarantees import compile_with_guarantees

LEXICON = """form,lemma,category,number,subject
dog,dog,N,sg,
dogs,dog,N,pl,
cat,cat,N,sg,
cats,cat,N,pl,
barks,bark,V,,number=sg
bark,bark,V,,number=pl
drops by,drop by,V,,number=sg
drop by,drop by,V,,number=pl
was off,be off,W,sg,
were,be off,W,pl,
was,be,W,sg,
are,be,W,pl,
"""
HEAD = 'language = "de"\nlexicon = "words.csv"\nselects = ["subject"]\n[features]\nnumber = ["sg", "pl"]\n[paradigm.p]\n'


@pytest.fixture
def grammar(tmp_path: Path):
    def read(paradigm: str) -> stimuli.grammar.Grammar:
        (tmp_path / "words.csv").write_text(LEXICON)
        (tmp_path / "grammar.toml").write_text(HEAD + paradigm)
        return stimuli.read_grammar(tmp_path / "grammar.toml")

    return read


BROKEN = [
    ('good = "a <N> [<V>]."\nbad = "a <N> [<V>]."', "are the same sentence"),
    ('good = "a <N> [<V>]."\nbad = "a <N> [<W>]."', "other words: <V> / <W>"),
    ('good = "one <N> [<V>]."\nbad = "<N> one [<V>]."', "other words stand before the region: <N> / one"),
    ('good = "[<N>] in a big house <V>."\nbad = "in a big house [<N>] <V>."', "4 words further on"),
    ('good = "a <N> [<V>]."\nbad = "a very <N> [<V>]."\nsame_length = true', "1 words more, but same_length = true"),
]


@pytest.mark.parametrize(("paradigm", "says"), BROKEN)
def test_what_a_paradigm_breaks_is_refused_with_its_line(grammar, paradigm: str, says: str) -> None:
    with pytest.raises(study.DataError, match=says) as refused:
        generate(grammar(paradigm), 1, seed=1)
    assert "line 6: paradigm p" in str(refused.value)


def test_what_is_waived_is_said_and_generated(grammar) -> None:
    read = grammar('good = "[<N>] in a big house <V>."\nbad = "in a big house [<N>] <V>."\nwaive = ["position", "word-before"]')
    found = {g.rule: g.status for g in compile_with_guarantees(read, "p")[1]}
    assert found == {
        "differ": "each item",
        "length": "proved",
        "region": "proved",
        "word-before": "waived",
        "position": "waived",
        "prefix": "proved",
    }
    assert len(generate(read, 3, seed=1).materials.items) == 3


def test_counterparts_of_other_lengths_are_no_part_of_the_count(grammar) -> None:
    text = 'good = "the <N> [<W>]."\nbad = "the <N> [<W*>]."\nslots = { N = "N & number=sg" }\nwhere = ["W: number=sg", "W* = W but number"]'
    [counted] = (generated := generate(grammar(text), None, seed=1)).counts
    assert counted.total == 2  # dog, cat: was/are; "was off" has "were" for a counterpart, a word less
    assert {g.rule: g.status for g in counted.guarantees}["length"] == "counted"
    assert {item.sentences["ungrammatical"].text for item in generated.materials.items} == {"The dog are.", "The cat are."}
    [waived] = generate(grammar(f'{text}\nwaive = ["length"]'), None, seed=1).counts
    assert waived.total == 4


def test_members_that_are_alike_in_some_items_are_left_out_and_counted(grammar) -> None:
    text = 'good = "<A> [and] <B> <V>."\nbad = "<B> [and] <A> <V>."\nslots = { A = "N & number=sg", B = "N & number=sg", V = "V" }\nwaive = ["word-before"]'
    [counted] = (generated := generate(grammar(text), None, seed=1)).counts
    assert (counted.total, counted.drawn_items, counted.refusals) == (16, 8, 8)
    assert all(item.sentences["grammatical"].text != item.sentences["ungrammatical"].text for item in generated.materials.items)


def test_prefixes_follow_from_where_the_region_stands(grammar) -> None:
    def says(text: str) -> str:
        return {g.rule: g.description for g in compile_with_guarantees(grammar(text), "p")[1]}["prefix"]

    assert says('good = "the <N> [<V>]."\nbad = "the <N> [<V*>]."\nwhere = ["V* = V but subject"]').startswith("one-prefix")
    assert says('good = "no <N> has [ever] slept."\nbad = "some <N> has [ever] slept."').startswith("two-prefix")


def test_parts_share_no_lemma_and_say_which_they_are(grammar) -> None:
    read = grammar(
        'good = "the [<N>] <V>."\nbad = "the [<N*>] <V>."\nwhere = ["N* = N but number", "V.subject ~ N"]\ndisjoint = ["N"]'
    )
    generated = generate(read, None, seed=3, splits={"train": 3, "test": 2})
    nouns: dict[str, set[str]] = {}
    for item in generated.materials.items:
        nouns.setdefault(item.extra["split"], set()).add(item.sentences["grammatical"].text.split()[1].rstrip("s"))
    assert set(nouns) == {"train", "test"}
    assert not nouns["train"] & nouns["test"]
    assert [item.id for item in generated.materials.items] == [f"p-{n:04}" for n in range(1, 6)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            'good = "<S> [<C>] there."\nbad = "<S> [<C>] there."\ngood = "x"',
            "lines 2 and 4: key 'good' is there twice; expected it once",
        ),
        (
            'good = "<S> [is]."\n[paradigm.q]\n[paradigm.p]',
            r"lines 1 and 4: table \[paradigm.p\] is there twice; expected it once, or another name",
        ),
        ('slots = { S = "NP", S = "N" }', "line 2: key 'S' is there twice in one table; expected it once"),
        ('good = "the <N'.join(['"']), "not valid TOML"),
    ],
)
def test_what_stands_twice_is_named_with_its_lines(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "grammar.toml").write_text(f"[paradigm.p]\n{text}\n")
    with pytest.raises(study.DataError, match=says):
        stimuli.read_grammar(tmp_path / "grammar.toml")


@pytest.mark.parametrize(
    ("bad", "where", "says"),
    [
        ("<S.N*> [barks].", "", r"<S.N\*> in .* is a slot inside the phrase S"),
        ("<S> [bark].", "S.N* = S.N but number", r"'S.N\*' is a counterpart or level inside phrase NP"),
        ("<S> bark.", "", r"the ungrammatical member has no region in \[ \], the other has"),
    ],
)
def test_counterparts_inside_phrases_and_a_region_in_one_member_are_refused(
    tmp_path: Path, bad: str, where: str, says: str
) -> None:
    (tmp_path / "words.csv").write_text("form,lemma,category,number\ndog,dog,N,sg\ndogs,dog,N,pl\n")
    (tmp_path / "grammar.toml").write_text(
        'language = "en"\nlexicon = "words.csv"\n[features]\nnumber = ["sg", "pl"]\n[phrases.NP]\nhead = "N"\nis = "the <N>"\n'
        f'[paradigm.p]\ngood = "<S> [barks]."\nbad = "{bad}"\nslots = {{ S = "NP" }}\nwhere = {[where] if where else []}\n'
    )
    with pytest.raises((study.DataError, ValueError), match=says):
        stimuli.generate(stimuli.read_grammar(tmp_path / "grammar.toml"), None, seed=1)


def test_a_pair_without_a_region_says_so(tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text("form,category\ndog,N\n")
    pair = 'good = "the <N> barks."\nbad = "the <N> bark."\n'
    (tmp_path / "grammar.toml").write_text(f'language = "en"\nlexicon = "words.csv"\n[paradigm.p]\n{pair}')
    generated = stimuli.generate(stimuli.read_grammar(tmp_path / "grammar.toml"), 1, seed=1)
    says = next(g.description for g in generated.counts[0].guarantees if g.status == "absent")
    assert says.startswith("no region in [ ]")
