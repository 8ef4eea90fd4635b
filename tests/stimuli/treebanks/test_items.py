"""Pairs as items: regions, attractors, multiword tokens; and whatever the text, swapping the value back gives the original."""

import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gardenpath import stimuli
from gardenpath.stimuli.treebanks.candidates import find_edges
from gardenpath.stimuli.treebanks.inflection import Swap
from gardenpath.stimuli.treebanks.pairs import Pair, build_item, build_pair, is_fused
from gardenpath.stimuli.treebanks.trees import Tree, read_trees

from .conllu import conllu, tree

SING, PLUR = frozenset(("Sing",)), frozenset(("Plur",))


def made(of: Tree, form: str) -> Pair:
    [edge] = find_edges(of)
    assert edge.verb
    return build_pair(edge, edge.verb, Swap(form, SING), PLUR, "Number")


def as_item(one: Pair) -> stimuli.Item:
    return build_item(one, "toy-1", "toy", "en", {"licence": "none"})


def regions(one: stimuli.Item, condition: str) -> dict[str, str]:
    sentence = one.sentences[condition]
    return {region.name: sentence.text[region.start : region.end] for region in sentence.regions}


def back(one: stimuli.Item) -> str:
    """Put the original word where the other form stands, by what the item says of itself."""
    start = next(n for n, (a, b) in enumerate(zip(*(s.text + "\0" for s in one.sentences.values()), strict=False)) if a != b)
    good, bad = (one.sentences[name].text for name in ("grammatical", "ungrammatical"))
    places = [n for n in range(start + 1) if bad.startswith(one.extra["other_form"], n)]
    return next(text for n in places if (text := bad[:n] + one.extra["word"] + bad[n + len(one.extra["other_form"]) :]) == good)


KEYS = """
The the DET _ 2 det
keys key NOUN Number=Plur 6 nsubj
to to ADP _ 4 case
cabinets cabinet NOUN Number=Plur 2 nmod
Bob Bob PROPN Number=Sing 4 appos
are be VERB Number=Plur|VerbForm=Fin 0 root
here here ADV _ 6 advmod
it it PRON Number=Sing 6 obj"""


def test_regions_and_attractors_of_the_keys_to_the_cabinets() -> None:
    one = as_item(made(tree("The keys to cabinets Bob are here it", KEYS), "is"))
    assert regions(one, "grammatical") == {"cue": "keys", "critical": "are"}
    assert regions(one, "ungrammatical") == {"cue": "keys", "critical": "is"}
    good = one.sentences["grammatical"].text
    attractors = json.loads(one.extra["attractors"])
    assert [(good[start:end], kind) for _, start, end, kind in attractors] == [("cabinets", "congruent"), ("Bob", "incongruent")]
    said = {key: one.extra[key] for key in ("order", "type", "distance", "congruent", "incongruent", "value", "other_value")}
    assert said == {
        "order": "SV",
        "type": "verb",
        "distance": "4",
        "congruent": "1",
        "incongruent": "1",
        "value": "Plur",
        "other_value": "Sing",
    }


def test_a_subject_after_the_word_moves_with_it() -> None:
    one = made(
        tree(
            "Here are keys",
            "Here here ADV _ 2 advmod\nare be VERB Number=Plur|VerbForm=Fin 0 root\nkeys key NOUN Number=Plur 2 nsubj",
        ),
        "stands",
    )
    assert one.order == "VS"
    assert regions(as_item(one), "ungrammatical") == {"critical": "stands", "cue": "keys"}


def test_a_word_of_a_multiword_token_changes_where_it_can() -> None:
    """don't -> doesn't: the token is its words side by side; 's and what French makes of de + le cannot change."""
    words = "They they PRON Number=Plur 4 nsubj\n2-3 don't\ndo do AUX Number=Plur|VerbForm=Fin 4 aux\nn't not PART _ 4 advmod\nknow know VERB VerbForm=Inf 0 root"
    one = made(tree("They don't know", words), "does")
    assert not is_fused(one.word, "does")
    assert one.texts == ("They don't know", "They doesn't know")
    assert regions(as_item(one), "ungrammatical") == {"cue": "They", "critical": "doesn't"}  # words are read and scored whole
    clitic = made(
        tree(
            "They're here",
            "1-2 They're\nThey they PRON Number=Plur 3 nsubj\n're be AUX Number=Plur|VerbForm=Fin 3 cop\nhere here VERB _ 0 root",
        ),
        "is",
    )
    assert is_fused(clitic.word, "is")
    assert is_fused(one.word, "’s")
    joined = made(
        tree(
            "They dunno",
            "They they PRON Number=Plur 4 nsubj\n2-4 dunno\ndo do AUX Number=Plur|VerbForm=Fin 4 aux\nnot not PART _ 4 advmod\nknow know VERB _ 0 root",
        ),
        "does",
    )
    assert is_fused(joined.word, "does")


def test_a_subject_in_the_same_token_is_no_cue() -> None:
    words = "1-2 gibts\ngibt geben VERB Number=Plur|VerbForm=Fin 0 root\ns es PRON Number=Plur 1 nsubj"
    assert regions(as_item(made(tree("gibts", words), "geben")), "ungrammatical") == {"critical": "gebens"}


def test_a_word_joined_by_a_hyphen_is_marked_whole() -> None:
    words = "search search NOUN _ 3 compound\n- - PUNCT _ 3 punct\nengines engine NOUN Number=Plur 4 nsubj\nfind find VERB Number=Plur|VerbForm=Fin 0 root\n. . PUNCT _ 4 punct"
    one = as_item(made(tree("search-engines find.", words), "finds"))
    assert regions(one, "ungrammatical") == {"cue": "search-engines", "critical": "finds"}
    materials = stimuli.Materials((stimuli.Paradigm("toy", "sv-number"),), (one,))
    assert not [str(finding) for finding in stimuli.check(materials, only_severity="error")]


LETTERS = st.text("abzÄéшא'’-", min_size=1, max_size=5)
SPACES = st.sampled_from(["", " ", "\u00a0", "  ", "\u2009"])


@given(st.lists(st.tuples(LETTERS, SPACES), min_size=2, max_size=9), st.data(), LETTERS)
def test_swapping_the_value_back_gives_the_original_whatever_the_text(
    parts: list[tuple[str, str]], data: st.DataObject, form: str
) -> None:
    subject, verb = data.draw(st.permutations(range(len(parts))))[:2]
    rows = []
    for n, (written, _) in enumerate(parts):
        upos, relation = ("VERB", "0\troot") if n == verb else ("NOUN", f"{verb + 1}\t{'nsubj' if n == subject else 'obl'}")
        features = "Number=Plur|VerbForm=Fin" if n == verb else "Number=Sing" if n % 2 else "Number=Plur"
        rows.append(f"{n + 1}\t{written}\t{written}\t{upos}\t_\t{features}\t{relation}\t_\t_")
    text = "".join(written + space for written, space in parts).strip()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "xx_toy-ud-test.conllu")
        path.write_text(f"# text = {text}\n" + "\n".join(rows) + "\n\n", "utf-8")
        [of] = read_trees(path, "toy", Counter())
    if form == parts[verb][0]:
        return
    one = made(of, form)
    good, bad = one.texts
    assert good == of.text
    assert good[one.word.start : one.word.end] == one.word.form
    assert bad[: one.word.start] + one.word.form + bad[one.word.start + len(form) :] == good
    shown = as_item(one)
    assert back(shown) == good
    assert parts[verb][0] in regions(shown, "grammatical")["critical"]
    for token in (*one.congruent_attractors, *one.incongruent_attractors):
        assert good[token.start : token.end] == token.form
        assert min(subject, verb) < token.id - 1 < max(subject, verb)


def test_the_helper_writes_what_the_reader_takes(tmp_path: Path) -> None:
    path = tmp_path / "xx_toy-ud-test.conllu"
    path.write_text(conllu(("a b", "a a X _ 2 dep\nb b X _ 0 root")), "utf-8")
    [of] = read_trees(path, "toy", Counter())
    assert (of.sent_id, of.text, len(of.tokens)) == ("s1", "a b", 2)


@pytest.mark.parametrize(
    ("congruent", "incongruent", "expected"),
    [(1, 0, (True, False)), (0, 2, (False, True)), (1, 1, (False, False)), (0, 0, (False, False))],
)
def test_a_draw_is_balanced_over_whether_all_attractors_are_alike(
    congruent: int, incongruent: int, expected: tuple[bool, bool]
) -> None:
    one = made(tree("The keys to cabinets Bob are here it", KEYS), "is")
    token = one.edge.intervening_nominals[0]
    some = Pair(one.edge, one.word, one.swap, one.value, (token,) * congruent, (token,) * incongruent)
    assert some.balancing_variables == ("keys", "are", 4, *expected)
