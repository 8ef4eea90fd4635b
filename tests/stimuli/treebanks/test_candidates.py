"""Which subjects are candidates, which word agrees with them, and what verbs take from their subjects."""

import pytest

from gardenpath.stimuli.treebanks.candidates import (
    PARTICLE_FEATURE,
    SUBJECT_PREFIX,
    Edge,
    find_added_features,
    find_edges,
    has_contradiction,
    transfer_features,
)
from gardenpath.stimuli.treebanks.trees import Tree

from .conllu import tree

FIN = "VerbForm=Fin"


def only(of: Tree, **how: object) -> Edge:
    [edge] = find_edges(of, **how)  # type: ignore[arg-type]
    return edge


def test_the_first_finite_auxiliary_agrees_else_the_head() -> None:
    perfect = tree(
        "Die Gäste sind heute gekommen",
        f"""
Die der DET _ 2 det
Gäste Gast NOUN Number=Plur 5 nsubj
sind sein AUX Number=Plur|{FIN} 5 aux
heute heute ADV _ 5 advmod
gekommen kommen VERB VerbForm=Part 0 root""",
    )
    edge = only(perfect)
    assert (edge.verb and edge.verb.form, edge.head.form, edge.fault) == ("sind", "gekommen", "")
    assert [edge.find_agreeing_word(participle).form for participle in (False, True)] == ["sind", "gekommen"]  # type: ignore[union-attr]
    cluster = tree(
        "dat zij worden gezien zouden",
        f"""
dat dat SCONJ _ 4 mark
zij zij PRON Number=Plur|Person=3 4 nsubj
worden worden AUX VerbForm=Inf 4 aux:pass
gezien zien VERB VerbForm=Part 0 root
zouden zullen AUX Number=Plur|{FIN} 4 aux""",
    )
    edge = only(cluster)
    assert edge.verb
    assert edge.verb.form == "zouden"  # not the infinitive before it
    infinitive = only(tree("him go", "him he PRON Number=Sing 2 nsubj\ngo go VERB VerbForm=Inf 0 root"))
    assert infinitive.find_agreeing_word(False) is infinitive.find_agreeing_word(True) is None


@pytest.mark.parametrize(
    ("text", "words", "fault"),
    [
        ("Ann sings", f"Ann Ann PROPN _ 2 nsubj\nsings sing VERB {FIN} 0 root", "subject-upos"),
        ("Dogs brown", "Dogs dog NOUN _ 2 nsubj\nbrown brown ADJ _ 0 root", "predicate-upos"),
        ("Dogs cats run", f"Dogs dog NOUN _ 3 nsubj\ncats cat NOUN _ 1 conj\nrun run VERB {FIN} 0 root", "conjoined-subject"),
        ("There came dogs", f"There there PRON _ 2 expl\ncame come VERB {FIN} 0 root\ndogs dog NOUN _ 2 nsubj", "expletive"),
        ("Es regnet Geld", f"Es es PRON _ 2 expl:pv\nregnet regnen VERB {FIN} 0 root\nGeld Geld NOUN _ 2 nsubj", "expletive"),
        ("it dogs run", f"it it PRON _ 3 nsubj:outer\ndogs dog NOUN _ 3 nsubj\nrun run VERB {FIN} 0 root", "outer-subject"),
        ("Dogs run", f"Dogs dog NOUN _ 2 nsubj\nrun run VERB {FIN} 0 root", ""),
    ],
)  # fmt: skip
def test_what_is_no_candidate_says_why(text: str, words: str, fault: str) -> None:
    assert only(tree(text, words)).fault == fault


def test_pronouns_and_passives_on_request() -> None:
    passive = tree(
        "They are seen", f"They they PRON _ 3 nsubj:pass\nare be AUX {FIN} 3 aux:pass\nseen see VERB VerbForm=Part 0 root"
    )
    assert not list(find_edges(passive))
    assert only(passive, passive=True).fault == ""
    assert only(passive, passive=True, subjects="noun").fault == "subject-upos"


def test_a_verb_takes_what_it_does_not_state_from_its_subject() -> None:
    of = tree(
        "De hond loopt",
        f"De de DET _ 2 det\nhond hond NOUN Gender=Com|Number=Sing 3 nsubj\nloopt lopen VERB Number=Sing|{FIN} 0 root",
    )
    edge = only(of)
    assert edge.verb
    taken = transfer_features(edge.verb, edge.subject)
    assert (taken["Person"], taken["Gender"], taken["Number"]) == ({"3"}, {"Com"}, {"Sing"})  # nouns are of the third person
    assert {*find_added_features(of, [edge])[3]} == {
        SUBJECT_PREFIX + "Person",
        SUBJECT_PREFIX + "Gender",
    }  # under names of their own
    assert not has_contradiction(edge.verb, edge.subject)
    wrong = only(tree("honden loopt", f"honden hond NOUN Number=Plur 2 nsubj\nloopt lopen VERB Number=Sing|{FIN} 0 root"))
    assert wrong.verb
    assert has_contradiction(wrong.verb, wrong.subject)
    several = only(tree("you run", f"you you PRON Number=Plur,Sing 2 nsubj\nrun run VERB Number=Plur|{FIN} 0 root"))
    assert several.verb
    assert not has_contradiction(several.verb, several.subject)


def test_a_conjoined_subject_gives_its_verb_nothing() -> None:
    of = tree("Hond kat lopen", "Hond hond NOUN Number=Sing 3 nsubj\nkat kat NOUN Number=Sing 1 conj\nlopen lopen VERB _ 0 root")
    assert not find_added_features(of, list(find_edges(of)))


def test_a_particle_that_stands_apart_is_known_by_the_lemma() -> None:
    apart = tree("Ze komen voor", "Ze ze PRON _ 2 nsubj\nkomen voor_komen VERB _ 0 root\nvoor voor ADP _ 2 compound:prt")
    assert only(apart).particle == "voor"
    assert PARTICLE_FEATURE in find_added_features(apart, [])[2]
    up = tree("They give up", "They they PRON _ 2 nsubj\ngive give VERB _ 0 root\nup up ADP _ 2 compound:prt")
    assert only(up).particle == ""
    assert not find_added_features(up, [])


def test_nouns_between_reach_from_the_first_to_the_last_of_the_three() -> None:
    of = tree(
        "Keys to cabinets Bob are here",
        f"""
Keys key NOUN Number=Plur 6 nsubj
to to ADP _ 3 case
cabinets cabinet NOUN Number=Plur 1 nmod
Bob Bob PROPN Number=Sing 3 appos
are be AUX Number=Plur|{FIN} 6 cop
here here VERB _ 0 root""",
    )
    assert [token.form for token in only(of).intervening_nominals] == ["cabinets", "Bob"]  # the one beside the verb too
