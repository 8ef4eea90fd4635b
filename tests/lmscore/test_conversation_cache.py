"""What a session was asked is carried to its next question: the numbers of reading all anew, at the cost of what is new."""

from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from gardenpath import lmscore
from gardenpath.experiment.simulation.transcripts import QuestionContext
from gardenpath.lmscore.cache.token_cache import CachedModel
from gardenpath.lmscore.judging.participants import answer_questions

from .conftest import gpt2, other

pytestmark = pytest.mark.lm

ANSWERS = {"rate": ("1", "2", "10"), "ask": ("yes", "no, the cat did")}


def sit(model, carried, n: int, seed: int = 1) -> tuple[list[np.ndarray], list[int], list[str]]:
    """Answer a session of n trials with two questions each: log-probabilities, trials cut, and the answers drawn."""
    random, trials, lps, cuts, drawn = Random(seed), [], [], [], []
    for trial in range(n):
        text = f"The keys to cabinet {trial} are on the table."
        for prompt, answers in ANSWERS.items():
            text += f"\n{prompt}\n<<"
            asked = QuestionContext("Read each sentence.", tuple(trials), text, answers)
            [found] = answer_questions(model, [asked], state=carried)
            chosen = random.choices(answers, found.probabilities)[0]
            lps.append(found.lps)
            cuts.append(found.cut_trials)
            drawn.append(chosen)
            text += f"{chosen}>>"
        trials.append(text)
    return lps, cuts, drawn


def fed_to(model) -> list[int]:
    """Return a list to which the network adds how many tokens it is fed."""
    counts: list[int] = []
    model.network.get_input_embeddings().register_forward_pre_hook(lambda _, inputs: counts.append(inputs[0].numel()))
    return counts


@pytest.mark.parametrize("kind", ["GPT-2", "tied head", "capped logits", "mixture of experts", "biased head"])
def test_what_is_carried_gives_the_numbers_of_reading_anew(kind, tmp_path: Path) -> None:
    model = lmscore.load(gpt2(tmp_path, window=256) if kind == "GPT-2" else other(tmp_path, kind), device="cpu")
    anew = sit(model, None, 8)
    carried = lmscore.create_conversation_state(model)
    for n in range(2):  # a second session begins as the first did
        found = sit(model, carried, 8)
        assert found[1:] == anew[1:], n
        assert np.concatenate(found[0]) == pytest.approx(np.concatenate(anew[0]), abs=5e-5)
    assert max(anew[1]) > 0


def test_a_session_costs_its_tokens_about_once(tmp_path: Path) -> None:
    model = lmscore.load(gpt2(tmp_path, window=4096), device="cpu")
    carried = lmscore.create_conversation_state(model)
    sit(model, carried, 12)  # the probes are of the first session
    counts = fed_to(model)
    _, _, drawn = sit(model, carried, 12, seed=2)
    questions = [f"\n{prompt}\n<<{answer}>>" for (prompt, _), answer in zip([*ANSWERS.items()] * 12, drawn, strict=True)]
    trials = [f"The keys to cabinet {n} are on the table.{''.join(questions[2 * n : 2 * n + 2])}" for n in range(12)]
    tokens = len(model.encoder.tokenizer("\n\n".join(["Read each sentence.", *trials]))["input_ids"])
    answers = sum(len(model.encoder.tokenizer(one)["input_ids"]) for row in ANSWERS.values() for one in row) * 12
    assert len(counts) == 24
    assert sum(counts) <= tokens + answers
    assert sum(counts) > tokens - 40


def test_what_is_cut_leaves_room_for_the_trials_to_come(tmp_path: Path) -> None:
    model = lmscore.load(gpt2(tmp_path, window=256), device="cpu")
    carried = lmscore.create_conversation_state(model)
    sit(model, carried, 1)
    counts = fed_to(model)
    _, cuts, _ = sit(model, carried, 16)
    starts = [n for n, (one, other) in enumerate(pairwise(cuts), start=1) if one != other]
    assert len(starts) >= 2
    anew = [n for n, count in enumerate(counts) if count > 60]
    assert set(anew) <= {0, *starts}
    assert all(count < 0.75 * 256 for count in counts)


def test_a_network_that_looks_at_so_many_tokens_reads_anew(tmp_path: Path) -> None:
    # Its rows share prefixes, which are shorter than its window of 200; a mask of ours has no window.
    model = lmscore.load(other(tmp_path, "wide sliding window"), device="cpu")
    carried = lmscore.create_conversation_state(model)
    anew, found = sit(model, None, 6), sit(model, carried, 6)
    assert np.concatenate(found[0]) == pytest.approx(np.concatenate(anew[0]), abs=5e-5)
    carried._exact_length = 256
    wrong = sit(model, carried, 6)
    assert np.abs(np.concatenate(wrong[0]) - np.concatenate(anew[0])).max() > 1e-3


def test_networks_that_cannot_carry_say_so(tmp_path: Path) -> None:
    assert lmscore.create_conversation_state(lmscore.load(other(tmp_path, "recurrent"), device="cpu")) is None


class Forgetful(dict):
    """Records in memory, of which a number can be forgotten."""

    def refresh(self) -> None:
        pass

    def read(self, key):
        return self.get(key, [])

    def append(self, records) -> None:
        for one in records:
            self.setdefault(one.key, []).append(one)

    def forget(self, last: int) -> None:
        for key in list(self)[-last:]:
            del self[key]


def test_a_session_that_goes_on_gives_the_bytes_of_one_that_was_not_interrupted(tmp_path: Path) -> None:
    model = lmscore.load(gpt2(tmp_path, window=256), device="cpu")
    records = Forgetful()
    kept = CachedModel(model, tmp_path, records)
    whole = sit(kept, lmscore.create_conversation_state(kept), 8)
    counts = fed_to(model)
    again = sit(kept, lmscore.create_conversation_state(kept), 8)
    assert not counts
    records.forget(3)
    resumed = sit(kept, lmscore.create_conversation_state(kept), 8)
    assert counts
    for found in (again, resumed):
        assert found[1:] == whole[1:]
        assert np.concatenate(found[0]).tobytes() == np.concatenate(whole[0]).tobytes()
