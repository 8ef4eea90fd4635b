"""The pocket model: the same from the same seed, cached whole, and above chance on what its grammar teaches."""

import itertools
import threading
from pathlib import Path
from random import Random

import pytest

from gardenpath import lmscore, stimuli, study
from gardenpath.lmscore.toy import grammar, pocket
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence
from gardenpath.stimuli.grammar.compilation import compile_paradigm
from gardenpath.stimuli.grammar.grammar_files import read_grammar
from gardenpath.stimuli.grammar.linearisation import build_paradigm, linearise_derivation
from gardenpath.stimuli.grammar.sampling import sample_derivations

from .conftest import SMALL

pytestmark = pytest.mark.lm


def test_the_grammar_repeats_itself_from_a_seed():
    assert list(itertools.islice(grammar.draw_sentences(4), 5)) == list(itertools.islice(grammar.draw_sentences(4), 5))
    assert next(grammar.draw_sentences(4)) != next(grammar.draw_sentences(5))


def test_sentences_of_the_grammar_look_like_sentences():
    words = set()
    for sentence in itertools.islice(grammar.draw_sentences(0), 3000):
        assert sentence[0].isupper()
        assert sentence[-1] in ".?"
        assert "  " not in sentence
        words |= set(sentence[:-1].lower().split())
    assert len(words) > 600


def test_ever_needs_a_licensor_in_the_grammar():
    for sentence in itertools.islice(grammar.draw_sentences(0), 5000):
        if " ever " in sentence and not sentence.endswith("?"):
            assert sentence.split()[0] in {"No", "Few", "None", "Nobody"}, sentence


def test_at_all_needs_a_licensor_in_the_grammar():
    for sentence in itertools.islice(grammar.draw_sentences(0), 5000):
        if " at all" in sentence:
            assert sentence.startswith("None of") or {"not", "didn't"} & set(sentence.split()), sentence


def test_the_same_seed_gives_the_same_bytes(small_pocket, tmp_path):
    again = pocket.build_pocket(tmp_path, seed=3, training=SMALL)
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        assert study.files.hash_file(again / name) == study.files.hash_file(small_pocket / name)


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
    threads = [threading.Thread(target=lambda: found.append(pocket.ensure_pocket_folder())) for _ in range(2)]
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
        pocket.ensure_pocket_folder()
    assert list((tmp_path / "gardenpath").iterdir()) == []


def held_out(number: int) -> Materials:
    """Return so many pairs of each paradigm of pocket_pairs.toml, drawn as the training is, with no sentence of it among them."""
    seen = set(itertools.islice(grammar.draw_sentences(pocket.DEFAULT_SEED), pocket.Training().sentences))
    pairs = read_grammar(Path(__file__).with_name("pocket_pairs.toml"))
    rules = [rule for rule in pairs.paradigms.values() if not rule.is_filler]
    items: list[Item] = []
    for rule in rules:
        compiled = compile_paradigm(pairs, rule.name)
        drawn = enumerate(sample_derivations(compiled.alternatives, Random(f"held out {rule.name}")))
        made = (linearise_derivation(compiled, derivation, k) for k, derivation in drawn)
        fresh = (item for item in made if not seen & {sentence.text for sentence in item.sentences.values()})
        items += itertools.islice(fresh, number)
    return Materials(tuple(map(build_paradigm, rules)), tuple(items))


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
    assert pairs["score_grammatical"].item() > pairs["score_ungrammatical"].item() + 20


@pytest.mark.slow
@pytest.mark.data
def test_the_pocket_model_scores_a_paradigm_of_blimp(real_pocket, real_data):
    read = stimuli.read(real_data / "blimp/distractor_agreement_relational_noun.jsonl")
    subset = Materials(read.paradigms, read.items[:200])
    pairs = lmscore.evaluate(subset, real_pocket, ["lp", "pen_lp"])
    assert len(pairs) == 400
    assert pairs["tie"].sum() == 0
    assert 0.4 < pairs["correct"].mean() <= 1
