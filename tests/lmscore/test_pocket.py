"""The pocket model: the same from the same seed, cached whole, and above chance on what its grammar teaches."""

import itertools
import threading
from collections.abc import Callable
from random import Random

import pytest

from gardenpath import lmscore, stimuli, study
from gardenpath.lmscore.toy import grammar, pocket
from gardenpath.lmscore.toy.grammar import Phrase, adjunct, attractor, finish, join, maybe, noun_phrase, transitive
from gardenpath.lmscore.toy.lexicon import (
    BARE_VERBS,
    CONDITIONS,
    GIVING_VERBS,
    OBJECT_VERBS,
    PEOPLE,
    PERSON_VERBS,
    REFLEXIVE_VERBS,
    SAYING_VERBS,
    STATES,
    TELLING_VERBS,
    THING_ADJECTIVES,
    THINGS,
)
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence

from .conftest import SMALL

pytestmark = pytest.mark.lm

Pair = tuple[str, str]


def test_the_grammar_repeats_itself_from_a_seed():
    assert list(itertools.islice(grammar.sentences(4), 5)) == list(itertools.islice(grammar.sentences(4), 5))
    assert next(grammar.sentences(4)) != next(grammar.sentences(5))


def test_sentences_of_the_grammar_look_like_sentences():
    words = set()
    for sentence in itertools.islice(grammar.sentences(0), 3000):
        assert sentence[0].isupper()
        assert sentence[-1] in ".?"
        assert "  " not in sentence
        words |= set(sentence[:-1].lower().split())
    assert len(words) > 600


def test_ever_needs_a_licensor_in_the_grammar():
    for sentence in itertools.islice(grammar.sentences(0), 5000):
        if " ever " in sentence and not sentence.endswith("?"):
            assert sentence.split()[0] in {"No", "Few", "None", "Nobody"}, sentence


def test_at_all_needs_a_licensor_in_the_grammar():
    for sentence in itertools.islice(grammar.sentences(0), 5000):
        if " at all" in sentence:
            assert sentence.startswith("None of") or {"not", "didn't"} & set(sentence.split()), sentence


def test_the_same_seed_gives_the_same_bytes(small_pocket, tmp_path):
    again = pocket.build_pocket(tmp_path, seed=3, training=SMALL)
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        assert study.files.sha256(again / name) == study.files.sha256(small_pocket / name)


def test_training_leaves_threads_and_random_numbers_as_they_were(tmp_path):
    import torch

    torch.manual_seed(11)
    expected, threads = torch.rand(1), torch.get_num_threads()
    torch.manual_seed(11)
    pocket.build_pocket(tmp_path, training=pocket.Training(200, 300, 16, 1, 1, 32))
    assert torch.rand(1) == expected
    assert torch.get_num_threads() == threads


def test_two_at_once_train_into_one_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    barrier = threading.Barrier(2)

    def build(folder, progress=None):
        barrier.wait()
        (folder / "config.json").write_text("{}")

    monkeypatch.setattr(pocket, "build_pocket", build)
    found = []
    threads = [threading.Thread(target=lambda: found.append(pocket.pocket_folder())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert [path.name for path in (tmp_path / "gardenpath").iterdir()] == [found[0].name]


def test_a_training_that_fails_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")

    def build(folder, progress=None):
        raise RuntimeError("no")

    monkeypatch.setattr(pocket, "build_pocket", build)
    with pytest.raises(RuntimeError):
        pocket.pocket_folder()
    assert list((tmp_path / "gardenpath").iterdir()) == []


# Held-out pairs: drawn like the grammar's sentences, none of them seen in training


def people(random: Random, number: int) -> str:
    return random.choice(PEOPLE).forms[number]


def ever(random: Random) -> Pair:
    number = random.choice((0, 1))
    licensor = random.choice(("No", "Few")) if number else "No"
    plain = random.choice(("The", "Some", "Many")) if number else "The"
    clause = maybe(random, 0.3, join("who the", people(random, 0), random.choice(PERSON_VERBS).past))
    rest = join(people(random, number), clause, ("has", "have")[number], "ever", grammar.participle_phrase(random))
    return finish(join(licensor, rest)), finish(join(plain, rest))


def at_all(random: Random) -> Pair:
    rest = join("of the", people(random, 1), random.choice(BARE_VERBS).past, "at all", adjunct(random))
    return finish(join("none", rest)), finish(join("some", rest))


def agreement(random: Random) -> Pair:
    nouns, number = random.choice((PEOPLE, THINGS)), random.choice((0, 1))
    head = join(noun_phrase(random, nouns, number, "the").text, attractor(random, nouns, 1 - number))
    past, state = random.random() < 0.5, random.choice(STATES if nouns is PEOPLE else CONDITIONS)
    return tuple(finish(join(head, grammar.be(n, past), state)) for n in (number, 1 - number))


def reflexive(random: Random) -> Pair:
    head = noun_phrase(random, PEOPLE, random.choice((0, 1)), "the")
    other, verb = noun_phrase(random, PEOPLE, 1 - head.number).text, random.choice(PERSON_VERBS).past
    clause = join("who", verb, other) if random.random() < 0.5 else join("who", other, verb)
    wrong = Phrase("", 1 - head.number, head.gender).reflexive()
    start, rest = join(head.text, clause, random.choice(REFLEXIVE_VERBS).past), maybe(random, 0.5, adjunct(random))
    return tuple(finish(join(start, pronoun, rest)) for pronoun in (head.reflexive(), wrong))


def reciprocal(random: Random) -> Pair:
    noun = random.choice(PEOPLE)
    rest = join(attractor(random, PEOPLE), random.choice(PERSON_VERBS).past, "each other", adjunct(random))
    return tuple(finish(join("the", noun.forms[number], rest)) for number in (1, 0))


def object_gap(random: Random) -> Pair:
    knower = join(random.choice(("I", "we", "they")), random.choice(("know", "remember", "forgot")))
    who, after = noun_phrase(random, PEOPLE).text, adjunct(random)
    verb, nouns = transitive(random)
    filler = "who" if nouns is PEOPLE else "what"
    gap = [join(knower, word, who, verb.past, after) for word in (filler, "that")]
    full = [join(knower, word, who, verb.past, noun_phrase(random, nouns).text, after) for word in ("that", filler)]
    full[1] = full[0].replace(" that ", f" {filler} ", 1)
    good, bad = random.choice((gap, full))
    return finish(good), finish(bad)


def subject_gap(random: Random) -> Pair:
    says = join("the", people(random, 0), random.choice(SAYING_VERBS).third)
    verb, nouns = transitive(random)
    rest = join(says, verb.past, noun_phrase(random, nouns).text, adjunct(random))
    return finish(join("we remember who", rest)), finish(join("we remember that", rest))


def determiner(random: Random) -> Pair:
    number, adjective = random.choice((0, 1)), random.choice(THING_ADJECTIVES)
    words = [random.choice(choices) for choices in (("this", "that", "each", "every"), ("these", "those", "many"))]
    who, verb, rest = people(random, 0), random.choice(OBJECT_VERBS).past, adjunct(random)
    noun = random.choice(THINGS).forms[number]
    return tuple(finish(join("the", who, verb, words[n], adjective, noun, rest)) for n in (number, 1 - number))


def double_object(random: Random) -> Pair:
    who, whom = people(random, 0), random.choice(("him", "her", "them", "us", "me"))
    verbs, gift = (random.choice(GIVING_VERBS), random.choice(TELLING_VERBS)), random.choice(THINGS).forms[0]
    return tuple(finish(join("the", who, verb.past, whom, "the", gift, "yesterday")) for verb in verbs)


def passive(random: Random) -> Pair:
    verb, nouns = transitive(random)
    patient, agent = noun_phrase(random, nouns, 0, "the").text, noun_phrase(random, PEOPLE).text
    rest = join(random.choice(("finally", "quickly", "already")), verb.participle, "by", agent, adjunct(random))
    return tuple(finish(join(patient, auxiliary, rest)) for auxiliary in ("was", "had"))


PHENOMENA: dict[str, tuple[Callable[[Random], Pair], ...]] = {
    "npi": (ever, at_all),
    "agreement": (agreement,),
    "anaphor": (reflexive, reciprocal),
    "filler_gap": (object_gap, subject_gap),
    "determiner": (determiner,),
    "argument_structure": (double_object, passive),
}


def held_out(number: int) -> Materials:
    """Return so many pairs of each paradigm with no sentence of the training among them."""
    seen = set(itertools.islice(grammar.sentences(pocket.SEED), pocket.Training().sentences))
    items, paradigms = [], []
    for phenomenon, make in ((phenomenon, make) for phenomenon, makers in PHENOMENA.items() for make in makers):
        name = make.__name__
        paradigms.append(Paradigm(name, phenomenon))
        drawn = map(make, itertools.repeat(Random(f"held out {name}")))
        fresh = (pair for pair in drawn if not seen & set(pair))
        for k, (good, bad) in enumerate(itertools.islice(fresh, number)):
            sentences = {"grammatical": Sentence(good), "ungrammatical": Sentence(bad)}
            items.append(Item(f"{name}-{k}", name, sentences))
    return Materials(tuple(paradigms), tuple(items))


@pytest.fixture(scope="module")
def real_pocket():
    """The pocket model itself: trained now, unless this machine has one of the same sources and settings."""
    return lmscore.load("pocket", device="cpu")


@pytest.mark.slow
def test_the_pocket_model_says_it_is_a_toy_and_has_about_a_million_parameters(real_pocket):
    facts = real_pocket.describe()
    assert real_pocket.name == facts["name"] == "pocket (toy)"
    assert "a toy" in facts["toy"]
    assert 700_000 < facts["parameters"] < 1_300_000


@pytest.mark.slow
def test_the_pocket_model_prefers_held_out_grammatical_sentences(real_pocket):
    pairs = lmscore.evaluate(held_out(200), real_pocket)
    for level, least in (("phenomenon", 0.85), ("paradigm", 0.75)):
        accuracy = pairs.groupby(level)["correct"].mean()
        assert (accuracy > least).all(), accuracy.to_dict()


@pytest.mark.slow
def test_the_pocket_model_finds_english_likelier_than_scrambled_english(real_pocket):
    good = "The young doctor found an old letter in the kitchen last night."
    bad = "Night old the kitchen letter an doctor in found young the last."
    item = Item("scrambled", "p", {"grammatical": Sentence(good), "ungrammatical": Sentence(bad)})
    pairs = lmscore.evaluate(Materials((Paradigm("p", "p"),), (item,)), real_pocket)
    assert pairs["grammatical"].item() > pairs["ungrammatical"].item() + 20


@pytest.mark.slow
@pytest.mark.data
def test_the_pocket_model_scores_a_paradigm_of_blimp(real_pocket, real_data):
    read = stimuli.read(real_data / "blimp/distractor_agreement_relational_noun.jsonl")
    subset = Materials(read.paradigms, read.items[:200])
    pairs = lmscore.evaluate(subset, real_pocket, ["lp", "pen_lp"])
    assert len(pairs) == 400
    assert pairs["tie"].sum() == 0
    assert 0.4 < pairs["correct"].mean() <= 1
