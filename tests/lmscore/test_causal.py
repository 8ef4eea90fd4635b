"""The token table equals a plain loop, whatever the layout of batches."""

import numpy as np
import pytest

from gardenpath import lmscore
from gardenpath.lmscore import encode

from .conftest import whitespace_marks

pytestmark = pytest.mark.lm

TEXTS = [
    "No student has ever complained about the exams.",
    "The cat didn't sit on the mat, did it?",
    "猫 in the café",
    "a",
    "The keys to the cabinet are on the table. The boys who the teacher criticized blamed themselves.",
    "The  cat\nsat.",
]


def plain(model, encoded):
    """Logprob, log boundary mass, entropy and Rényi entropy by one full log-softmax a sentence; sets by the look of the pieces."""
    import torch

    table = model.encoder.tokenizer.get_vocab()
    begins = {i for piece, i in table.items() if piece.startswith(whitespace_marks(model))}
    ends = set(model.encoder.ends)
    with torch.no_grad():
        logp = model.network(torch.tensor([[*encoded.fed, *encoded.ids]])).logits[0].double().log_softmax(-1).numpy()
    rows = logp[len(encoded.fed) - 1 :]
    boundary = [np.log(sum(np.exp(row[i]) for i in begins | ends)) for row in rows]
    if encoded.opening == "text":
        boundary[0] = np.log(sum(np.exp(rows[0][i]) for i in range(rows.shape[1]) if i not in begins or i in ends))
    logprob = [rows[j][i] for j, i in enumerate(encoded.ids)] + [np.log(sum(np.exp(rows[-1][i]) for i in ends))]
    renyi = 2 * np.log(np.sqrt(np.exp(rows)).sum(-1))
    return np.array(logprob), np.array(boundary), -(np.exp(rows) * rows).sum(-1), renyi


def test_a_token_table_equals_the_plain_loop(model):
    encoded = [encode(model.encoder, text) for text in TEXTS]
    for table in model.forward(encoded):
        logprob, boundary, entropy, renyi = plain(model, table.encoded)
        np.testing.assert_allclose(table.logprob, logprob, atol=1e-9)
        np.testing.assert_allclose(table.log_boundary, boundary, atol=1e-9)
        np.testing.assert_allclose(table.entropy, entropy, atol=1e-9)
        np.testing.assert_allclose(table.renyi, renyi, atol=1e-9)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-10), ("float32", 5e-4)])
def test_the_layout_of_batches_changes_nothing_but_noise(folders, dtype, tolerance):
    model = lmscore.load(folders["gpt2"], device="cpu", dtype=dtype)
    encoded = [encode(model.encoder, text) for text in TEXTS]
    one_by_one = model.forward(encoded, batch_tokens=1)
    together = model.forward(encoded)
    for one, other in zip(one_by_one, together, strict=True):
        np.testing.assert_allclose(one.logprob, other.logprob, atol=tolerance)
        np.testing.assert_allclose(one.log_boundary, other.log_boundary, atol=tolerance)
        np.testing.assert_allclose(one.entropy, other.entropy, atol=tolerance)


def test_the_same_call_gives_the_same_bytes(byte_model):
    encoded = [encode(byte_model.encoder, text) for text in TEXTS]
    first, second = byte_model.forward(encoded), byte_model.forward(encoded)
    assert all(a.logprob.tobytes() == b.logprob.tobytes() for a, b in zip(first, second, strict=True))


def test_logits_in_small_chunks_are_the_same(byte_model, monkeypatch):
    encoded = [encode(byte_model.encoder, text) for text in TEXTS]
    whole = byte_model.forward(encoded)
    monkeypatch.setattr("gardenpath.lmscore.causal.CPU_LOGITS", 3 * len(byte_model.boundary))
    for one, other in zip(whole, byte_model.forward(encoded), strict=True):
        np.testing.assert_allclose(one.logprob, other.logprob, atol=1e-12)


def test_a_model_that_computes_its_own_logits_gives_the_same_table(byte_model):
    import dataclasses

    assert byte_model.packed
    encoded = [encode(byte_model.encoder, text) for text in TEXTS]
    own = dataclasses.replace(byte_model, packed=False).forward(encoded)
    for one, other in zip(byte_model.forward(encoded), own, strict=True):
        np.testing.assert_allclose(one.log_boundary, other.log_boundary, atol=1e-10)


def test_equal_texts_are_computed_once_and_progress_counts_them(byte_model):
    seen = []
    encoded = [encode(byte_model.encoder, text) for text in [*TEXTS, *TEXTS]]
    byte_model.forward(encoded, batch_tokens=1, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, len(TEXTS)) for k in range(1, len(TEXTS) + 1)]


def test_the_table_as_a_frame_has_a_row_for_each_token_and_the_end(byte_model):
    table = byte_model.forward([encode(byte_model.encoder, "The cat")])[0]
    frame = table.frame()
    assert list(frame.columns) == ["token", "start", "end", "logprob", "log_boundary", "entropy", "renyi"]
    assert len(frame) == len(table.encoded.ids) + 1
    assert frame["token"].isna().tolist() == [False] * len(table.encoded.ids) + [True]


def test_half_precision_models_are_summed_in_float32(folders):
    model = lmscore.load(folders["gpt2"], device="cpu", dtype="bfloat16")
    table = model.forward([encode(model.encoder, TEXTS[0])])[0]
    assert np.isfinite(table.logprob).all()
    assert len(set(np.round(table.entropy, 6))) == len(table.entropy)
