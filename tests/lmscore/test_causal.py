"""The token table equals a plain loop, whatever the kind of model and the layout of batches."""

import dataclasses
import logging
import math

import numpy as np
import pytest

from gardenpath import lmscore
from gardenpath.lmscore.models import causal, fast_paths, output_layers
from gardenpath.lmscore.models.interface import COLUMNS
from gardenpath.lmscore.tokens.encoding import encode

from .conftest import CORPUS, gpt2, whitespace_marks

pytestmark = pytest.mark.lm

TEXTS = [
    "No student has ever complained about the exams.",
    "No student has ever complained about the table.",
    "No student has",
    "The cat didn't sit on the mat, did it?",
    "The cat didn't sit on the table, did it?",
    "猫 in the café",
    "a",
    "The keys to the cabinet are on the table. The boys who the teacher criticized blamed themselves.",
    "The  cat\nsat.",
]
LONG = " ".join(TEXTS)


def logits(model, rows: list[list[int]]) -> np.ndarray:
    """The model's own logits of right-padded rows."""
    import torch

    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[row[0]] * (longest - len(row))] for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    with torch.no_grad():
        return model.network(input_ids=ids, attention_mask=mask, use_cache=False).logits.double()


def from_logits(model, encoded, own):
    """Logprob, log boundary mass, entropy and Rényi entropy by one full log-softmax; sets by the look of the pieces."""
    table = model.encoder.tokenizer.get_vocab()
    begins = {i for piece, i in table.items() if piece.startswith(whitespace_marks(model))}
    ends = set(model.encoder.end_ids)
    rows = own.log_softmax(-1).numpy()[len(encoded.context_ids) - 1 :][: len(encoded.ids) + 1]
    boundary = [np.log(sum(np.exp(row[i]) for i in begins | ends)) for row in rows]
    if encoded.opening == "text":
        boundary[0] = np.log(sum(np.exp(rows[0][i]) for i in range(rows.shape[1]) if i not in begins or i in ends))
    logprob = [rows[j][i] for j, i in enumerate(encoded.ids)] + [np.log(sum(np.exp(rows[-1][i]) for i in ends))]
    renyi = 2 * np.log(np.sqrt(np.exp(rows)).sum(-1))
    return np.array(logprob), np.array(boundary), -(np.exp(rows) * rows).sum(-1), renyi


def plain(model, encoded):
    """The columns of one sentence by itself."""
    return from_logits(model, encoded, logits(model, [[*encoded.context_ids, *encoded.ids]])[0])


def columns(table):
    return table.logprob, table.log_boundary, table.entropy, table.renyi


def assert_equal(tables, others, tolerance=1e-9):
    for table, other in zip(tables, others, strict=True):
        for one, expected in zip(columns(table), other, strict=True):
            np.testing.assert_allclose(one, expected, atol=tolerance, rtol=0)


def slow(model):
    """The same model with its own logits and a row for each text."""
    return dataclasses.replace(model, head=None, row_size=0)


def test_a_token_table_equals_the_plain_loop(model):
    encoded = [encode(model.encoder, text) for text in TEXTS]
    assert model.head
    assert model.row_size
    assert_equal(model.forward(encoded), [plain(model, one) for one in encoded])
    assert_equal(slow(model).forward(encoded), [plain(model, one) for one in encoded])


def test_each_kind_of_model_equals_the_plain_loop(special, kind):
    encoded = [encode(special.encoder, text) for text in [*TEXTS, LONG]]
    tolerance = 1e-5 if kind in FLOAT32_INSIDE else 1e-9
    assert_equal(special.forward(encoded), [plain(special, one) for one in encoded], tolerance)


# GPT-J, GPT-Neo, MPT and Bloom compute attention in float32, Gemma-2 its norms, Mamba its logits, Falcon-H1 its states,
# whatever the dtype of the weights.
FLOAT32_INSIDE = (
    "biased head, additive masks",
    "biased attention",
    "capped logits",
    "recurrent",
    "recurrent beside attention",
    "window counted in the row",
    "silent bias by place",
)
PLAIN = {
    "sliding window": "it would change log-probabilities",
    "recurrent beside attention": "it would change log-probabilities",
    "window counted in the row": "it would change log-probabilities",
    "silent bias by place": "it would change log-probabilities",
    "recurrent": "RuntimeError",
    "biased attention": "Error",
}
# Which of these go on from what texts share, left in their cache; Mamba takes one token at a time from there.
CONTINUED = set(PLAIN) - {"recurrent"}


def test_prefixes_are_shared_where_that_is_exact_and_else_the_reason_is_recorded(special, kind):
    facts = special.describe()
    assert facts["head"] == "in blocks of the vocabulary"
    if kind in PLAIN:
        assert facts["layout"] == ("shared prefixes first" if kind in CONTINUED else "a row for each text")
        assert PLAIN[kind] in facts["layout_because"]
    else:
        assert facts["layout"] == "rows that share prefixes"
        assert "layout_because" not in facts


def test_what_texts_share_is_computed_once_where_a_network_goes_on_from_it(special, kind):
    starts = [text[:-1] for text in CORPUS[:4]]
    ends = (" a", " it", ".", " the")
    encoded = [encode(special.encoder, start + end) for start in starts for end in ends]
    expected = [plain(special, one) for one in encoded]
    fed = []
    hook = special.network.register_forward_pre_hook(
        lambda _, __, inputs: fed.append(inputs["input_ids"].numel()), with_kwargs=True
    )
    try:
        # A budget that a few of them fill: else they have rows of their own.
        tables = special.forward(encoded, batch_tokens=64)
    finally:
        hook.remove()
    assert_equal(tables, expected, 1e-5 if kind in FLOAT32_INSIDE else 1e-9)
    whole = sum(len(one.context_ids) + len(one.ids) for one in encoded)
    assert (sum(fed) < 0.8 * whole) == (kind in CONTINUED or kind not in PLAIN)


def test_a_head_that_no_setting_explains_is_left_to_the_model(byte_model, monkeypatch):
    monkeypatch.setattr(output_layers, "list_heads", lambda network: [output_layers.Head(network.get_output_embeddings(), 1.01)])
    found = fast_paths.enable_fast_paths(byte_model)
    assert found.head is None
    assert found.row_size
    assert "would change log-probabilities" in found.describe()["head_because"]
    encoded = [encode(found.encoder, text) for text in TEXTS]
    assert_equal(found.forward(encoded), map(columns, byte_model.forward(encoded)))


def test_long_texts_beside_rows_of_short_ones_change_nothing(model):
    encoded = [encode(model.encoder, text) for text in TEXTS]
    narrow = dataclasses.replace(model, row_size=12)
    assert_equal(narrow.forward(encoded), [plain(model, one) for one in encoded])


def test_blocks_and_chunks_of_any_size_give_the_same(model, monkeypatch):
    encoded = [encode(model.encoder, text) for text in TEXTS]
    expected = [columns(table) for table in model.forward(encoded)]
    monkeypatch.setattr(output_layers, "ENTRIES_PER_BLOCK", 50)
    monkeypatch.setitem(output_layers.POSITIONS_PER_CHUNK, "cpu", 7)
    assert_equal(model.forward(encoded), expected, 1e-12)
    for one, other in zip(model.forward(encoded, columns=["logprob"]), expected, strict=True):
        np.testing.assert_allclose(one.logprob[:-1], other[0][:-1], atol=1e-12)


@pytest.mark.parametrize("source", ["gpt2", "llama"])
def test_float32_is_as_exact_as_the_plain_loop_itself(folders, source):
    model = lmscore.load(folders[source], device="cpu", dtype="float32")
    texts = [" ".join(text.split()[k:]) for text in TEXTS for k in range(5) if text.split()[k:]][:32]
    encoded = list(dict.fromkeys(encode(model.encoder, text) for text in texts))
    together = logits(model, [[*one.context_ids, *one.ids] for one in encoded])
    expected = [plain(model, one) for one in encoded]
    batched = [from_logits(model, one, row) for one, row in zip(encoded, together, strict=True)]
    noise = max(np.abs(a - b).max() for one, other in zip(expected, batched, strict=True) for a, b in zip(one, other, strict=True))
    assert 0 < noise < 1e-3
    assert_equal(model.forward(encoded), expected, 5 * noise)


def test_the_same_call_gives_the_same_bytes(byte_model):
    encoded = [encode(byte_model.encoder, text) for text in TEXTS]
    first, second = byte_model.forward(encoded), byte_model.forward(encoded)
    assert all(a.logprob.tobytes() == b.logprob.tobytes() for a, b in zip(first, second, strict=True))


def test_an_improbable_boundary_keeps_its_probability(byte_model):
    """In float32 a mass of e^-300 relative to the likeliest token vanishes where it is summed with the others."""
    import torch

    network = torch.nn.Linear(1, 4, bias=True)
    network.weight.data.zero_()
    network.bias.data = torch.tensor([0.0, -300.0, -310.0, 1.0])
    blocks = output_layers.build_class_blocks(np.array([False, True, False, False]), [2], "cpu")
    with torch.inference_mode():
        found = output_layers.measure_predictions(
            output_layers.Head(network), blocks, torch.zeros(1, 1), np.array([0, 0]), np.array([1, -1]), frozenset(COLUMNS)
        )
    norm = math.log1p(math.exp(-1)) + 1
    np.testing.assert_allclose(found.logprob, [-300 - norm, -310 - norm], rtol=1e-6)
    np.testing.assert_allclose(found.log_boundary, [-300 - norm + math.log1p(math.exp(-10))], rtol=1e-6)


def test_equal_token_sequences_are_computed_once(byte_model):
    encoded = [encode(byte_model.encoder, text) for text in [*TEXTS, *TEXTS]]
    seen = []
    tables = byte_model.forward(encoded, on_finished=seen.extend)
    assert len(seen) == len(TEXTS)
    assert [table.encoded_text for table in tables] == encoded


def test_a_network_prepared_for_speed_equals_the_one_that_transformers_loads(folders):
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.activations import NewGELUActivation

    model = lmscore.load(folders["gpt2"], device="cpu", dtype="float64")
    raw = AutoModelForCausalLM.from_pretrained(folders["gpt2"], dtype=torch.float64).eval()
    assert any(isinstance(module, NewGELUActivation) for module in raw.modules())
    assert not any(isinstance(module, NewGELUActivation) for module in model.network.modules())
    encoded = [encode(model.encoder, text) for text in TEXTS]
    untouched = dataclasses.replace(model, network=raw)
    assert_equal(model.forward(encoded), [plain(untouched, one) for one in encoded])


# Windows


def windowed(model, encoded, window, prefix):
    """The plain loop over windows: the columns of each token from the window that gives it most context."""
    whole = [*encoded.context_ids, *encoded.ids]
    best: dict[int, tuple[int, tuple]] = {}
    for start in range(0, len(whole), window // 2):
        # The first window has the prefix already; where windows repeat it, they count tokens after it.
        repeated = prefix if start else []
        first = start + len(repeated)
        ids = [*repeated, *whole[first : first + window - len(repeated)]]
        own = logits(model, [ids])[0]
        for k in range(len(ids)):
            place = first + k - len(repeated)
            if place >= len(encoded.context_ids) - 1 and (k or not repeated) and k > best.get(place, (-1,))[0]:
                one = dataclasses.replace(encoded, context_ids=(0,), ids=(*whole, 0)[place + 1 : place + 2], opening="")
                if place == len(encoded.context_ids) - 1:
                    one = dataclasses.replace(one, opening=encoded.opening)
                values = from_logits(model, one, own[k : k + 1].repeat(2, 1))
                at_end = place == len(whole) - 1
                best[place] = (k, (values[0][1 if at_end else 0], *(column[0] for column in values[1:])))
    rows = [best[place][1] for place in sorted(best)]
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("window", [10, 11, 24])
def test_texts_longer_than_the_window_take_each_token_from_the_window_with_most_context(model, window):
    encoder = dataclasses.replace(model.encoder, window=window)
    short = dataclasses.replace(model, encoder=encoder)
    prefix = [encoder.prefix] if short.repeats_prefix else []
    assert short.repeats_prefix == (encoder.tokenizer.bos_token is not None)
    for context in (None, " ".join(TEXTS[:2])):
        encoded = encode(encoder, " ".join([*TEXTS[:4]]), context)
        [table] = short.forward([encoded])
        assert_equal([table], [windowed(model, encoded, window, prefix)])
        assert table.windows > 1
        [alone] = short.forward([encoded], columns=["logprob"])
        np.testing.assert_allclose(alone.logprob[:-1], table.logprob[:-1], atol=1e-9)


def test_a_text_that_fits_has_one_window_and_the_plain_result(byte_model):
    encoded = encode(byte_model.encoder, TEXTS[0])
    full = len(encoded.ids) + 1
    for window, windows in ((full - 1, 2), (full, 1), (full + 1, 1)):
        model = dataclasses.replace(byte_model, encoder=dataclasses.replace(byte_model.encoder, window=window))
        [table] = model.forward([encoded])
        assert table.windows == windows
        np.testing.assert_allclose(table.logprob[:-1], plain(model, encoded)[0][:-1], atol=1e-9)
    [table] = model.forward([encoded], columns=["logprob"])
    assert table.windows == 1


# Memory and interruption


def limited(monkeypatch, largest: int, error: Exception) -> list[int]:
    """Let every batch with more positions than `largest` run out of memory; return the sizes of those that do not."""
    compute, sizes = causal.CausalModel._compute, []

    def failing(self, layout, *arguments):
        if layout.ids.size > largest:
            raise error
        sizes.append(layout.ids.size)
        return compute(self, layout, *arguments)

    monkeypatch.setattr(causal.CausalModel, "_compute", failing)
    return sizes


def refused_by_the_allocator() -> RuntimeError:
    """What torch raises here when asked for a million gigabytes."""
    import torch

    with pytest.raises(RuntimeError) as raised:
        torch.empty(10**15)
    return raised.value


@pytest.mark.parametrize("kind_of_error", ["torch", "allocator", "allocator of Windows"])
def test_out_of_memory_halves_the_batch_and_goes_on_with_one_warning(byte_model, monkeypatch, caplog, kind_of_error):
    import torch

    errors = {
        "torch": torch.OutOfMemoryError("CUDA out of memory"),
        "allocator": refused_by_the_allocator(),
        "allocator of Windows": RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: not enough memory"),
    }
    encoded = [encode(byte_model.encoder, text) for text in TEXTS]
    model = dataclasses.replace(byte_model, row_size=0)
    expected = model.forward(encoded)
    longest = max(len(one.ids) + 1 for one in encoded)
    sizes = limited(monkeypatch, 2 * longest, errors[kind_of_error])
    with caplog.at_level(logging.WARNING, logger="gardenpath"):
        found = model.forward(encoded)
    assert len(sizes) > 1
    assert [record.message.split(";")[0].split(" at ")[0] for record in caplog.records] == ["memory ran out"]
    assert_equal(found, map(columns, expected))


def test_memory_too_small_for_one_row_is_an_error_that_says_what_to_do(byte_model, monkeypatch):
    limited(monkeypatch, 3, MemoryError())
    with pytest.raises(MemoryError, match=r"the memory of cpu does not hold .* take a smaller model"):
        byte_model.forward([encode(byte_model.encoder, TEXTS[0])])


def test_other_errors_of_a_network_are_not_taken_for_memory(byte_model, monkeypatch):
    limited(monkeypatch, 3, RuntimeError("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes do not match"):
        byte_model.forward([encode(byte_model.encoder, TEXTS[0])])


def test_what_was_finished_before_an_interruption_has_been_handed_over(byte_model):
    model = dataclasses.replace(byte_model, row_size=0)
    encoded = [encode(byte_model.encoder, text) for text in TEXTS]
    finished = []

    def interrupt(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.forward(encoded, batch_tokens=1, on_finished=finished.extend, progress=interrupt)
    assert len(finished) == 3
    expected = {table.encoded_text.ids: columns(table) for table in byte_model.forward(encoded)}
    assert_equal(finished, [expected[table.encoded_text.ids] for table in finished])


# The rest


def test_the_table_as_a_frame_has_a_row_for_each_token_and_the_end(byte_model):
    table = byte_model.forward([encode(byte_model.encoder, "The cat")])[0]
    frame = table.to_frame()
    assert list(frame.columns) == ["token", "start", "end", "logprob", "log_boundary", "entropy", "renyi"]
    assert len(frame) == len(table.encoded_text.ids) + 1
    assert frame["token"].isna().tolist() == [False] * len(table.encoded_text.ids) + [True]


def test_half_precision_models_are_summed_in_float32(folders):
    model = lmscore.load(folders["gpt2"], device="cpu", dtype="bfloat16")
    table = model.forward([encode(model.encoder, TEXTS[0])])[0]
    assert np.isfinite(table.logprob).all()
    assert len(set(np.round(table.entropy, 6))) == len(table.entropy)


def test_texts_longer_than_a_row_are_scored_whole(tmp_path):
    model = lmscore.load(gpt2(tmp_path, window=512), device="cpu", dtype="float64")
    encoded = [encode(model.encoder, text) for text in (LONG + LONG, *TEXTS, LONG + LONG + " The cat")]
    assert len(encoded[0].ids) > causal.DEFAULT_ROW_SIZE
    assert_equal(model.forward(encoded), [plain(model, one) for one in encoded])
