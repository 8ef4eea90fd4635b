"""Pseudo-log-likelihoods equal a plain loop that hides tokens by hand, whatever the tokenizer and the batches."""

import json
import math
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra lm is not installed")
pytest.importorskip("transformers", reason="the extra lm is not installed")

from gardenpath import lmscore  # noqa: E402
from gardenpath.lmscore.models import huggingface, masked  # noqa: E402
from gardenpath.lmscore.tokens.protocols import PROTOCOLS  # noqa: E402
from gardenpath.stimuli import Item, Materials, Paradigm, Region, Sentence  # noqa: E402

from .conftest import CORPUS, save  # noqa: E402

pytestmark = pytest.mark.lm

TEXTS = [
    "The cat didn't sit on the mat, did it?",
    "The dog didn't sit on the mat, did it?",
    "Müller went to the café.",
    "No",
    "The keys to the cabinet are on the table. The boys who the teacher criticized blamed themselves.",
    "The  cat\nsat on [MASK] <mask>.",
]


def bert(folder: Path, **settings) -> Path:
    """Return a folder with a BERT over WordPiece."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=False)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=special, show_progress=False)
    backend.train_from_iterator(CORPUS, trainer)
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **{f"{name}_token": token for name, token in names.items()})
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer) + 3,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=60,
        initializer_range=0.3,
        **settings,
    )
    network = BertForMaskedLM(config)
    torch.nn.init.normal_(network.cls.predictions.bias)
    return save(folder, tokenizer, network)


def roberta(folder: Path) -> Path:
    """Return a folder with a RoBERTa over byte-level BPE."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForMaskedLM

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=350, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator(CORPUS, trainer)
    backend.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=False, add_prefix_space=False)
    names = {"bos": "<s>", "eos": "</s>", "cls": "<s>", "sep": "</s>", "pad": "<pad>", "unk": "<unk>", "mask": "<mask>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **{f"{name}_token": token for name, token in names.items()})
    torch.manual_seed(1)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=66,
        initializer_range=0.3,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
    )
    return save(folder, tokenizer, RobertaForMaskedLM(config))


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Two threads wait for each other at each of many tiny steps when the machine is busy."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def places(tmp_path_factory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("masked")
    return {
        "bert": bert(base / "bert"),
        "untied": bert(base / "untied", tie_word_embeddings=False),
        "roberta": roberta(base / "roberta"),
    }


@pytest.fixture(scope="module", params=["bert", "untied", "roberta"])
def model(request, places):
    return lmscore.load(places[request.param], device="cpu", dtype="float64")


@pytest.fixture(params=["pll", "pll-word-l2r"])
def protocol(request):
    return PROTOCOLS[request.param]


def encoded(model, protocol, texts=TEXTS, context=None):
    return [model.encode(text, context, **protocol.list_options()) for text in texts]


def by_hand(model, protocol, text: str, context: str = "") -> list[float]:
    """Hide and predict one token at a time, one row a forward pass, a full softmax."""
    tokenizer = model.encoder.tokenizer
    output = tokenizer(f"{context} {text}" if context else text, split_special_tokens=True)
    ids, words = output["input_ids"], output.word_ids()
    fed = len(tokenizer(context, add_special_tokens=False)["input_ids"]) if context else 0
    scores = []
    for j in range(1 + fed, len(ids) - 1):
        row = list(ids)
        for k in range(j, len(ids) - 1):
            if k == j or (protocol.word_l2r and words[k] == words[j]):
                row[k] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model.network(input_ids=torch.tensor([row])).logits[0, j]
        scores.append(float(logits.log_softmax(-1)[ids[j]]))
    return scores


def test_scores_equal_the_plain_loop(model, protocol):
    texts = encoded(model, protocol)
    for text, table in zip(TEXTS, model.forward(texts), strict=True):
        np.testing.assert_allclose(table.logprob[:-1], by_hand(model, protocol, text), rtol=0, atol=1e-9)
        for nothing in (table.logprob[-1:], table.log_boundary, table.entropy, table.renyi):
            assert np.isnan(nothing).all()
        assert table.encoded_text.unknown_count == table.encoded_text.ids.count(model.encoder.tokenizer.unk_token_id)


def test_context_is_fed_and_never_hidden(model, protocol):
    (text,) = encoded(model, protocol, ["sit on the mat, did it?"], "The cat didn't")
    (table,) = model.forward([text])
    expected = by_hand(model, protocol, "sit on the mat, did it?", "The cat didn't")
    np.testing.assert_allclose(table.logprob[:-1], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-10), ("float32", 5e-4)])
def test_the_layout_of_batches_changes_nothing_but_noise(places, protocol, dtype, tolerance):
    model = lmscore.load(places["roberta"], device="cpu", dtype=dtype)
    texts = encoded(model, protocol)
    for one, other in zip(model.forward(texts, batch_tokens=1), model.forward(texts[::-1])[::-1], strict=True):
        np.testing.assert_allclose(one.logprob, other.logprob, atol=tolerance)


def test_the_output_layer_is_applied_to_predicted_positions_alone_and_changes_nothing(model, protocol):
    from dataclasses import replace

    assert model.head is not None
    texts = encoded(model, protocol)
    own = replace(model, head=None).forward(texts)
    for one, other in zip(model.forward(texts), own, strict=True):
        np.testing.assert_allclose(one.logprob, other.logprob, atol=1e-10)


def test_rows_that_are_the_same_once_hidden_are_computed_once(places, protocol):
    model = lmscore.load(places["bert"], device="cpu", dtype="float64")
    rows = []
    hook = model.network.register_forward_pre_hook(
        lambda _, __, inputs: rows.extend(inputs["input_ids"].tolist()), with_kwargs=True
    )
    texts = encoded(model, protocol, [*TEXTS, TEXTS[0]])
    model.forward(texts)
    hook.remove()
    assert len(set(map(tuple, rows))) == len(rows)
    cls, tail = model.encoder.prefix, model.tail
    wanted = {
        (cls, *(model.mask if k in places else i for k, i in enumerate(text.ids)), *tail)
        for text in texts
        for places in text.masked_positions
    }
    assert set(map(tuple, rows)) == wanted


def test_words_are_those_of_the_tokenizer(places):
    def hidden(kind: str, text: str) -> tuple[list[str], tuple[tuple[int, ...], ...]]:
        model = lmscore.load(places[kind], device="cpu")
        found = model.encode(text, word_l2r=True)
        return model.encoder.tokenizer.convert_ids_to_tokens(list(found.ids)), found.masked_positions

    pieces, places_ = hidden("bert", "didn't")
    words = [pieces.index("'"), pieces.index("'") + 1]
    assert pieces[words[0]] == "'"
    assert all(max(p) < words[0] for p in places_[: words[0]])
    assert places_[words[0]] == (words[0],)
    pieces, places_ = hidden("roberta", " blamedxyz")
    assert places_[0] == tuple(range(len(pieces)))
    assert places_[-1] == (len(pieces) - 1,)


def test_sentences_words_and_regions_are_scored(places, protocol):
    good = Sentence("The boys blamed themselves.", (Region("critical", 16, 26),))
    bad = Sentence("The boy blamed themselves.", (Region("critical", 15, 25),))
    same = Sentence("The boys blamed themselves, no?", (Region("critical", 16, 26),))
    materials = Materials(
        (Paradigm("number", "anaphora"),),
        (
            Item("n-1", "number", {"grammatical": good, "ungrammatical": bad}),
            Item("n-2", "number", {"grammatical": same, "ungrammatical": good}),
        ),
    )
    model = lmscore.load(places["roberta"], device="cpu", dtype="float64")
    scores = lmscore.score(materials, model, protocol=protocol)
    hand = by_hand(model, protocol, good.text)
    row = scores.sentence_scores.set_index(["item", "condition"]).loc[("n-1", "grammatical")]
    assert row["lp"] == pytest.approx(sum(hand), abs=1e-9)
    assert row["protocol"] == protocol.name
    words = scores.surprisal[(scores.surprisal["item"] == "n-1") & (scores.surprisal["condition"] == "grammatical")]
    assert words["surprisal"].sum() == pytest.approx(-sum(hand) / math.log(2), abs=1e-9)
    assert (words["surprisal"] == words["surprisal_naive"]).all()
    assert words["entropy"].isna().all()
    pairs = lmscore.evaluate(materials, model, ["lp", "critical_lp"], protocol=protocol)
    region = pairs[pairs["measure"] == "critical_lp"].set_index("item")
    last = len(hand) - 1  # the full stop
    first = next(j for j, (_, end) in enumerate(model.encode(good.text).spans) if end > 16)
    assert region.loc["n-1", "score_grammatical"] == pytest.approx(sum(hand[first:last]), abs=1e-9)
    # What follows a region changes its score in a masked model, though the same words precede it.
    assert not region.loc["n-2", "tie"]


def test_a_text_over_the_window_is_refused_with_its_length(model):
    fitting = "a" * (model.encoder.window - 2)
    (table,) = model.forward([model.encode(fitting)])
    assert np.isfinite(table.logprob[:-1]).all()
    assert len(table.encoded_text.ids) == model.encoder.window - 2
    with pytest.raises(ValueError, match=rf"exceed the window of {model.encoder.window}; a masked model needs the whole"):
        model.encode(f"{fitting} a")


def test_a_protocol_that_does_not_fit_the_model_is_refused(places, folders, materials):
    with pytest.raises(ValueError, match="a masked model, which the protocol default does not score; expected pll or"):
        lmscore.score(materials, str(places["bert"]), protocol="default")
    with pytest.raises(ValueError, match="not a masked model, which the protocol pll does not score; expected default or"):
        lmscore.score(materials, str(folders["gpt2"]), protocol="pll")


def test_a_masked_model_is_scored_within_words_from_left_to_right_when_nothing_is_said(places, materials):
    tables = lmscore.score(materials, str(places["bert"]))
    assert {name for table in tables for name in table["protocol"]} == {"pll-word-l2r"}


def test_a_tokenizer_without_a_mask_token_is_refused(places, tmp_path):
    from transformers import AutoTokenizer

    folder = shutil.copytree(places["bert"], tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.mask_token = None
    with huggingface.silence_libraries():
        tokenizer.save_pretrained(folder)
    with pytest.raises(ValueError, match="its tokenizer has the mask token None") as error:
        lmscore.load(folder, device="cpu")
    assert "\n" not in str(error.value)


def test_finished_tables_are_handed_over_once_each(model, protocol):
    texts = encoded(model, protocol)
    seen, progress = [], []
    model.forward(texts, batch_tokens=40, on_finished=seen.extend, progress=lambda k, n: progress.append((k, n)))
    assert sorted(t.encoded_text.ids for t in seen) == sorted(t.ids for t in texts)
    assert progress[-1] == (len(texts), len(texts))


def test_memory_that_runs_out_halves_the_batches(places, protocol, monkeypatch, caplog):
    from gardenpath.lmscore.models.masked import MaskedModel

    model = lmscore.load(places["bert"], device="cpu", dtype="float64")
    texts = encoded(model, protocol)
    expected = model.forward(texts)
    plain = MaskedModel._compute

    def short(self, rows, *others):
        if len(rows) > 2:
            raise MemoryError
        return plain(self, rows, *others)

    monkeypatch.setattr(MaskedModel, "_compute", short)
    for one, other in zip(model.forward(texts), expected, strict=True):
        np.testing.assert_allclose(one.logprob, other.logprob, atol=1e-10)
    assert [record.message.split(" at ")[0] for record in caplog.records] == ["memory ran out"]


def test_repetitions_are_looked_for_in_pools_whose_size_is_bounded(places, protocol, monkeypatch):
    model = lmscore.load(places["bert"], device="cpu", dtype="float64")
    texts = encoded(model, protocol)
    expected = model.forward(texts)
    held, plain = [], masked._build_rows

    def rows(*arguments):
        held.append([len(text.ids) * (len(text.context_ids) + len(text.ids)) for text in arguments[0]])
        return plain(*arguments)

    monkeypatch.setattr(masked, "MAX_POOL_IDS", 300)
    monkeypatch.setattr(masked, "_build_rows", rows)
    for one, other in zip(model.forward(texts), expected, strict=True):
        np.testing.assert_allclose(one.logprob, other.logprob, atol=1e-10)
    assert sum(map(len, held)) == len(texts)
    assert all(sum(sizes) <= 300 or len(sizes) == 1 for sizes in held)


MINICONS = """
import json, sys
from minicons import scorer
folder, method, texts = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
model = scorer.MaskedLMScorer(folder, "cpu")
print("SCORES", json.dumps(model.sequence_score(texts, PLL_metric=method, reduction=lambda x: x.sum().item())))
"""


@pytest.mark.parametrize(("name", "method"), [("pll", "original"), ("pll-word-l2r", "within_word_l2r")])
@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_minicons_gives_the_same_scores(places, tmp_path, kind, name, method):
    python = os.environ.get("GARDENPATH_MINICONS")
    if not python:
        pytest.skip("GARDENPATH_MINICONS names no Python with minicons and transformers below 5")
    model = lmscore.load(places[kind], device="cpu")
    texts = [text for text in TEXTS if "[MASK]" not in text]
    tables = model.forward(encoded(model, PROTOCOLS[name], texts))
    folder = shutil.copytree(places[kind], tmp_path / kind)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"  # as transformers called it before 5
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    command = [python, "-c", MINICONS, str(folder), method, json.dumps(texts)]
    output = subprocess.run(command, capture_output=True, text=True, check=False)
    assert output.returncode == 0, output.stderr[-1000:]
    theirs = json.loads(output.stdout.split("SCORES")[1])
    np.testing.assert_allclose([table.logprob[:-1].sum() for table in tables], theirs, atol=1e-3)
