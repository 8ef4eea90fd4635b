"""Attractors as a control of a phrase and as a factor, slots that vary with two factors, and draws balanced by heads of phrases."""

import itertools
from collections import Counter
from pathlib import Path

import pytest

from gardenpath import stimuli, study

NOUNS = {"key": "keys", "box": "boxes", "door": "doors", "sheep": "sheep"}
WORDS = "lemma,category,sg,pl,wassg,waspl,issg,ispl\n" + "".join(f"{a},N,{a},{b},,,,\n" for a, b in NOUNS.items())
WORDS += "be,COP,,,was,were,is,are\n"
HEAD = """language = "en"
lexicon = ["words.csv"]
selects = ["subject"]
[features]
number = ["sg", "pl"]
tense = ["past", "present"]
[forms.N]
sg = "number=sg"
pl = "number=pl"
[forms.COP]
wassg = "sg & past ; subject: number=sg"
waspl = "pl & past ; subject: number=pl"
issg = "sg & present ; subject: number=sg"
ispl = "pl & present ; subject: number=pl"
[phrases.NP]
head = "N"
is = ["the <N>", "the <N> near the <L>", "the <N> near the <L> by the <M>"]
slots = { N = "N", L = "N", M = "N" }
where = ["N != L", "N != M", "L != M"]
attractors = ["L", "M"]
"""
PAIR = """[paradigm.p]
good = "<S> [<C>] there."
bad = "<S> [<C*>] there."
slots = { S = "NP", C = "COP & past" }
where = ["C.subject ~ S", "C* = C but number", "C*.subject !~ S on number"]
"""
FORMS = [(lemma, form, number) for lemma, plural in NOUNS.items() for form, number in ((lemma, "sg"), (plural, "pl"))]


@pytest.fixture
def texts(tmp_path: Path):
    def written(text: str, n: int | None = None) -> tuple[int, list[dict[str, str]]]:
        (tmp_path / "words.csv").write_text(WORDS)
        (tmp_path / "grammar.toml").write_text(HEAD + text)
        generated = stimuli.generate(stimuli.read_grammar(tmp_path / "grammar.toml"), n, seed=1)
        found = [{name: s.text for name, s in item.sentences.items()} for item in generated.materials.items]
        return generated.counts[0].total, found

    return written


def subjects(numbers: set[int], congruent: bool | None) -> Counter[str]:
    """Return the subjects with so many attractors, by a loop; a form of both numbers comes twice."""
    found: Counter[str] = Counter()
    for size in {n + 1 for n in numbers}:
        for nouns in itertools.permutations(FORMS, size):
            alike = {number == nouns[0][2] for _, _, number in nouns[1:]}
            if len({lemma for lemma, _, _ in nouns}) == size and (congruent is None or alike <= {congruent}):
                joined = [" near ", " by "]
                text = "".join(f"{mark}the {form}" for mark, (_, form, _) in zip(["", *joined], nouns, strict=False))
                found[text.capitalize() + (" was" if nouns[0][2] == "sg" else " were")] += 1
    return found


@pytest.mark.parametrize(
    ("control", "numbers", "congruent"),
    [
        ("attractors = { S = 1 }", {1}, None),
        ('attractors = { S = 1 }, incongruent = "number"', {1}, False),
        ('attractors = { S = 2 }, congruent = "number"', {2}, True),
        ('attractors = { S = [0, 2] }, incongruent = "number"', {0, 2}, False),
    ],
)
def test_attractors_of_a_phrase_are_those_of_a_loop(texts, control: str, numbers: set[int], congruent) -> None:
    expected = subjects(numbers, congruent)
    total, found = texts(f"{PAIR}control = {{ {control} }}\n")
    assert {pair["grammatical"].removesuffix(" there.") for pair in found} == set(expected)
    # What prints the same and what no line tells apart is one: sheep near the key.
    assert total == len(found) if congruent is not None else len(found) <= total <= sum(expected.values())


@pytest.mark.parametrize(
    ("control", "says"),
    [
        ("attractors = { S = 3 }", "attractors of S is 3; phrase NP is written with 0, 1, 2"),
        ("attractors = { T = 1 }", "unknown slot 'T'"),
        ("attractors = { C = 1 }", "attractors of C: it holds words; expected a phrase that says which they are"),
        ("attractors = 1", "attractors is 1; expected a number for a phrase"),
        ('attractors = { S = 1 }, congruent = "nmber"', "congruent = 'nmber'; expected one of them, with a feature"),
        ('congruent = "number"', "congruent without attractors; expected their number too"),
    ],
)
def test_wrong_attractors_are_named(texts, control: str, says: str) -> None:
    with pytest.raises(study.DataError, match=says):
        texts(f"{PAIR}control = {{ {control} }}\n")


def test_attractors_as_a_factor_are_counted_without_levels_that_no_sentence_has(texts) -> None:
    total, found = texts("""[paradigm.p]
factors = { grammaticality = ["grammatical", "ungrammatical"], attractor = ["none", "congruent", "incongruent"] }
slots = { H = "N", L = "N & !lemma=sheep", C = "COP & past" }
where = ["H != L", "agree(H, L@congruent)", "L@incongruent = L@congruent but number", "C@grammaticality by number: sg, pl", "H: sg"]
[paradigm.p.sentences]
none = "the <H> [<C@grammaticality>] there."
congruent = "the <H> near the <L@attractor> [<C@grammaticality>] there."
incongruent = "the <H> near the <L@attractor> [<C@grammaticality>] there."
""")
    assert total == len(found) == sum(head != local for head in NOUNS for local in set(NOUNS) - {"sheep"})
    assert {
        "grammatical.none": "The key was there.",
        "grammatical.congruent": "The key near the box was there.",
        "grammatical.incongruent": "The key near the boxes was there.",
        "ungrammatical.none": "The key were there.",
        "ungrammatical.congruent": "The key near the box were there.",
        "ungrammatical.incongruent": "The key near the boxes were there.",
    } in found


def test_a_slot_varies_with_two_factors(texts) -> None:
    total, found = texts("""[paradigm.p]
factors = { head = ["sg", "pl"], time = ["past", "present"] }
sentence = "the <H@head> [<C@head@time>] there."
slots = { H = "N & !lemma=sheep", C = "COP" }
where = ["H@head by number: sg, pl", "C@head by number: sg, pl", "C@time by tense: past, present", "C.subject ~ H"]
""")
    assert total == len(found) == 3
    assert {
        "sg.past": "The box was there.",
        "sg.present": "The box is there.",
        "pl.past": "The boxes were there.",
        "pl.present": "The boxes are there.",
    } in found


def test_a_line_may_name_a_level_of_two(texts) -> None:
    total, found = texts("""[paradigm.p]
factors = { head = ["sg", "pl"], time = ["past", "present"] }
sentence = "the <H@head@time> <C> there."
slots = { H = "N & !lemma=sheep", C = "COP & past & sg" }
where = ["H@head by number: sg, pl", "H@sg@past != H@sg@present", "H@pl@past != H@pl@present", "H@past: lemma=key"]
""")
    assert total == len(found) == 2
    assert {pair["sg.past"] for pair in found} == {"The key was there."}
    assert {pair["pl.present"] for pair in found} == {"The boxes was there.", "The doors was there."}


def heads(found: list[dict[str, str]]) -> Counter[str]:
    singular = {form: lemma for lemma, form, _ in FORMS}
    return Counter(singular[pair["grammatical"].split()[1]] for pair in found)


def test_heads_of_phrases_come_equally_often_or_so_often_at_most(texts) -> None:
    settings = '{}sampling = "uniform"\n'
    uneven = PAIR.replace('number"]', 'number", "S: !lemma=sheep | sg"]')
    _, found = texts(uneven + settings.format('balanced = ["S"]\n'), 32)
    assert heads(found) == {"key": 8, "box": 8, "door": 8, "sheep": 8}
    _, found = texts(uneven + settings.format("at_most = { S = 7 }\n"), 28)
    assert set(heads(found).values()) == {7}
    _, found = texts(PAIR.replace('= "NP"', '= "NP & !lemma=sheep"') + settings.format('balanced = ["S", "C"]\n'), 24)
    assert set(heads(found).values()) == {8}
    assert Counter(pair["grammatical"].split()[-2] for pair in found) == {"was": 12, "were": 12}
    with pytest.raises(ValueError, match="at_most = 2 in S leaves 8: 4 lemmas"):
        texts(uneven + "at_most = { S = 2 }\n", 9)


def test_a_phrase_without_a_head_cannot_be_balanced(texts) -> None:
    phrase = '[phrases.X]\nis = ["near the <N>", "by the <N>", "in a <N> of a <M>"]\nslots = { M = "N" }\n'
    pair = PAIR.replace("there", "<X>") + 'balanced = ["X"]\n'
    with pytest.raises(ValueError, match="X holds a phrase without a head"):
        texts(phrase + pair, 5)
