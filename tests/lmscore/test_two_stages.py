"""Pairs in two stages: what a coarse model leaves open is computed exactly, what it decides is checked, and savings are real."""

import random
import statistics

import pytest
from scipy import stats

from gardenpath import lmscore, stimuli
from gardenpath.lmscore import two_stages
from gardenpath.lmscore.two_stages import OPEN_DEVIATIONS, SAMPLE_PAIRS, compute_share_bound
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence

from ..conftest import run_here

PAIRS = 900


def of(count: int) -> Materials:
    items = [
        Item(f"i{k}", "p", {"grammatical": Sentence(f"The cat sat on {k} mats."), "ungrammatical": Sentence(f"The cat sit in {k} mat.")})
        for k in range(count)
    ]  # fmt: skip
    return Materials((Paradigm("p", "p"),), tuple(items))


@pytest.fixture
def clocked(monkeypatch):
    """Let a model's time on the sample be what a test says."""

    def set_to(*seconds: float) -> None:
        left = list(seconds)
        monkeypatch.setattr(two_stages, "_time_computation", lambda compute: (compute(), left.pop(0)))

    return set_to


@pytest.fixture
def stated(monkeypatch, byte_model):
    """Let differences in score be what a test says: of the exact model, and of a coarse one."""

    def run(exact: dict[str, float], coarse: dict[str, float], **how):
        asked = []

        def values(some, which, measures, chosen, counted, **_):
            differences = coarse if which == "coarse" else exact
            asked.append((which == "coarse", [item.id for item in some.items]))
            zero = {(item.id, "ungrammatical", "lp"): 0.0 for item in some.items}
            return zero | {(item.id, "grammatical", "lp"): differences[item.id] for item in some.items}

        monkeypatch.setattr(two_stages, "score_pairs", values)
        pairs, facts = lmscore.evaluate_in_stages(of(len(exact)), byte_model, "coarse", ["lp"], **how)
        return pairs.set_index("item")["score_grammatical"], facts, asked

    return run


def drawn(seed: int = 1, noise: float = 0.1) -> tuple[dict[str, float], dict[str, float]]:
    chance = random.Random(seed)
    exact = {f"i{k}": chance.gauss(3, 4) for k in range(PAIRS)}
    return exact, {name: value + chance.gauss(0, noise) for name, value in exact.items()}


def test_what_lies_within_six_deviations_is_computed_exactly(stated, clocked):
    clocked(1.0, 0.25)
    exact, coarse = drawn()
    scores, facts, asked = stated(exact, coarse, seed=4)
    both = random.Random(4).sample(list(exact), SAMPLE_PAIRS)
    sd = statistics.stdev(coarse[name] - exact[name] for name in both)
    assert facts["noise"]["lp"] == pytest.approx(sd)
    still_open = {name for name in exact if abs(coarse[name]) <= OPEN_DEVIATIONS * sd}
    assert facts["open"] == len(still_open - {*both}) > 0
    computed = {name for is_coarse, names in asked if not is_coarse for name in names}
    assert facts["exact"] == len(computed) == SAMPLE_PAIRS + facts["open"] + SAMPLE_PAIRS
    assert computed >= still_open | {*both}
    assert all(scores[name] == (exact if name in computed else coarse)[name] for name in exact)
    assert facts["wrong"] == {"lp": 0}
    assert [(scores[name] > 0) for name in exact] == [(value > 0) for value in exact.values()]


def test_wrong_verdicts_among_those_decided_are_counted_and_bounded(stated, clocked):
    clocked(1.0, 0.25)
    exact, coarse = drawn()
    flipped = {name: -value if abs(value) > 5 and int(name[1:]) % 10 == 0 else value for name, value in exact.items()}
    both = random.Random(1).sample(list(exact), SAMPLE_PAIRS)
    exact = {name: value if name in both else flipped[name] for name, value in exact.items()}
    scores, facts, asked = stated(exact, coarse)
    checked = {name for is_coarse, names in asked[-1:] for name in names} - {*both}
    wrong = sum((exact[name] > 0) != (coarse[name] > 0) and abs(coarse[name]) > facts["within"]["lp"] for name in checked)
    assert facts["wrong"]["lp"] == wrong > 0
    assert facts["wrong_at_most"]["lp"] == compute_share_bound(wrong, SAMPLE_PAIRS)
    assert all(scores[name] == exact[name] for name in checked)


@pytest.mark.parametrize("wrong", [0, 1, 7, 256])
def test_the_bound_is_clopper_and_pearsons(wrong):
    known = stats.binomtest(wrong, 256, alternative="less").proportion_ci(0.95, method="exact")
    assert compute_share_bound(wrong, 256) == pytest.approx(known.high)


def test_a_coarse_model_that_saves_nothing_is_not_used_and_that_is_said(stated, clocked):
    exact, coarse = drawn()
    clocked(1.0, 1.5)
    scores, facts, _ = stated(exact, coarse)
    assert "took 1.50 of the exact one's time" in facts["note"]
    assert scores.to_dict() == exact
    clocked(1.0, 0.3)
    scores, facts, _ = stated(exact, {name: value + random.Random(name).gauss(0, 3) for name, value in exact.items()})
    assert "saves nothing here" in facts["note"]  # nearly all is within six deviations of such noise
    assert scores.to_dict() == exact
    few = dict(list(exact.items())[:512])
    scores, facts, asked = stated(few, coarse)
    assert facts["note"] == "All pairs, 512, are computed exactly: from 513 on there is something to decide in two stages."
    assert not any(is_coarse for is_coarse, _ in asked)


def test_verdicts_of_a_network_are_those_of_float32(folders, clocked):
    exact, coarse = (lmscore.load(folders["gpt2"], device="cpu", dtype=dtype) for dtype in ("float32", "bfloat16"))
    clocked(1.0, 0.1)
    pairs, facts = lmscore.evaluate_in_stages(of(600), exact, coarse, ["lp", "mean_lp"])
    alone = lmscore.evaluate(of(600), exact, ["lp", "mean_lp"])
    assert "note" not in facts
    assert pairs[["model", "measure", "item"]].equals(alone[["model", "measure", "item"]])
    assert pairs["correct"].equals(alone["correct"])
    same = (pairs["score_grammatical"] - alone["score_grammatical"]).abs() < 1e-3
    assert facts["exact"] <= same.groupby(pairs["item"]).all().sum() < 600


def test_the_command_says_what_two_stages_did(folders, tmp_path):
    stimuli.write(of(6), tmp_path / "pairs.jsonl")
    line = f"gardenpath evaluate pairs.jsonl --model {folders['gpt2']} --device cpu --no-cache --cascade"
    ran = run_here(f"{line} -o out", tmp_path)
    assert ran.code == 0, ran.said
    assert "two stages: All pairs, 6, are computed exactly" in ran.printed
    refused = run_here(f"{line} --dtype bfloat16 -o other", tmp_path)
    assert refused.code == 2
    assert "--cascade with bfloat16; expected --dtype float32, or float64" in refused.said
