"""One pass over the vocabulary in blocks equals the textbook formulas on all logits at once."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra lm is not installed")

from gardenpath.lmscore.models import output_layers  # noqa: E402
from gardenpath.lmscore.models.interface import COLUMNS  # noqa: E402

pytestmark = pytest.mark.lm

SIZE, WIDTH, NODES = 5000, 12, 40
RANDOM = np.random.default_rng(5)
BEGINS = RANDOM.random(SIZE) < 0.4
ENDS = [3, 4100]
STATES = torch.from_numpy(RANDOM.normal(size=(NODES, WIDTH)))
SOURCES = np.concatenate([np.repeat(np.arange(NODES), 3), [5, 6]])
TARGETS = np.concatenate([RANDOM.integers(SIZE, size=3 * NODES), [-1, -1]])


def linear(bias: bool) -> torch.nn.Linear:
    torch.manual_seed(1)
    return torch.nn.Linear(WIDTH, SIZE, bias=bias, dtype=torch.float64)


def textbook(head: output_layers.Head):
    logits = head.linear(STATES) * head.scale
    if head.cap:
        logits = torch.tanh(logits / head.cap) * head.cap
    p = torch.softmax(logits, -1).detach().numpy()
    ends = np.isin(np.arange(SIZE), ENDS)
    predicted = np.where(TARGETS < 0, p[SOURCES][:, ends].sum(-1), p[SOURCES, TARGETS])
    boundary, text = p[:, BEGINS | ends].sum(-1), p[:, ~BEGINS | ends].sum(-1)
    return np.log(predicted), np.log(boundary), np.log(text), -(p * np.log(p)).sum(-1), 2 * np.log(np.sqrt(p).sum(-1))


@pytest.mark.parametrize("chunk", [7, 512])
@pytest.mark.parametrize("cap", [None, 2.0])
@pytest.mark.parametrize("scale", [1.0, 0.3])
@pytest.mark.parametrize("bias", [True, False])
def test_every_column_equals_the_formula(bias, scale, cap, chunk, monkeypatch):
    monkeypatch.setitem(output_layers.POSITIONS_PER_CHUNK, "cpu", chunk)
    head = output_layers.Head(linear(bias), scale, cap)
    with torch.inference_mode():
        found = output_layers.measure_predictions(
            head, output_layers.build_class_blocks(BEGINS, ENDS, "cpu"), STATES, SOURCES, TARGETS, frozenset(COLUMNS)
        )
    for name, expected in zip(("logprob", "log_boundary", "log_text", "entropy", "renyi"), textbook(head), strict=True):
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-12, err_msg=name)


def test_blocks_in_order_give_the_same_log_probabilities_without_copies():
    head = output_layers.Head(linear(True))
    blocks = output_layers.build_ordered_blocks(SIZE)
    tokens = TARGETS >= 0
    with torch.inference_mode():
        found = output_layers.measure_predictions(head, blocks, STATES, SOURCES, TARGETS, frozenset({"logprob", "entropy"}))
    np.testing.assert_allclose(found.logprob[tokens], textbook(head)[0][tokens], atol=1e-12)
    np.testing.assert_allclose(found.entropy, textbook(head)[3], atol=1e-12)
    assert np.isnan(found.logprob[~tokens]).all()
    assert np.isnan(found.renyi).all()
    assert all(head.linear.weight[entries].data_ptr() >= head.linear.weight.data_ptr() for entries in blocks.entries)
    assert (
        sum(head.linear.weight[entries].untyped_storage().data_ptr() == head.linear.weight.data_ptr() for entries in blocks.entries)
        == 3
    )


def test_no_block_is_larger_than_stated_and_each_id_is_in_exactly_one():
    blocks = output_layers.build_class_blocks(BEGINS, ENDS, "cpu")
    assert max(map(len, blocks.entries)) <= output_layers.ENTRIES_PER_BLOCK
    assert sorted(torch.cat(blocks.entries).tolist()) == list(range(SIZE))
    for i in (0, 3, 4999):
        block, column = blocks.block_columns[0][i], blocks.block_columns[1][i]
        assert int(blocks.entries[block][column]) == i


def test_the_models_own_logits_may_hold_minus_infinity():
    logits = linear(True)(STATES).detach()
    logits[:, 100:4000] = -torch.inf
    p = torch.softmax(logits, -1).numpy()
    with torch.inference_mode():
        found = output_layers.measure_predictions(
            output_layers.OwnLogits(),
            output_layers.build_ordered_blocks(SIZE),
            logits,
            np.array([0]),
            np.array([7]),
            frozenset({"logprob", "entropy", "renyi"}),
        )
    np.testing.assert_allclose(found.logprob, [np.log(p[0, 7])], atol=1e-12)
    np.testing.assert_allclose(found.entropy, -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(-1), atol=1e-12)
    np.testing.assert_allclose(found.renyi, 2 * np.log(np.sqrt(p).sum(-1)), atol=1e-12)
