"""Models that are broken or do not fit are named in one line before anything is cached, and loading changes no setting."""

import logging
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra lm is not installed")
pytest.importorskip("transformers", reason="the extra lm is not installed")

from safetensors.torch import load_file, save_file  # noqa: E402
from transformers.utils import logging as transformers_logging  # noqa: E402

from gardenpath import lmscore  # noqa: E402
from gardenpath.lmscore import add_cache  # noqa: E402
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence  # noqa: E402

from .conftest import byte_level, save  # noqa: E402
from .test_masked import bert  # noqa: E402

pytestmark = pytest.mark.lm


def changed(folder: Path, to: Path, name: str, change) -> Path:
    """Return a copy of a model in which one weight was changed."""
    shutil.copytree(folder, to)
    weights = load_file(to / "model.safetensors")
    change(weights[name])
    save_file(weights, to / "model.safetensors", metadata={"format": "pt"})
    return to


def refusal(source, **options) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the message is looked at by the caller
        lmscore.load(source, device="cpu", **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_named_when_a_model_is_loaded(folders, tmp_path, value):
    def spoil(weight):
        weight[3, 4] = value

    folder = changed(folders["llama"], tmp_path / "nan", "model.layers.1.mlp.up_proj.weight", spoil)
    said = refusal(folder)
    assert "1 of its weights hold NaN or infinity in float32, first model.layers.1.mlp.up_proj.weight" in said
    masked = bert(tmp_path / "bert")
    name = "bert.encoder.layer.0.output.dense.weight"
    assert f"first {name}" in refusal(changed(masked, tmp_path / "masked", name, spoil))


def test_a_weight_that_is_met_later_is_named_and_nothing_of_it_is_cached(folders, tmp_path):
    plain = lmscore.load(folders["llama"], device="cpu")
    rare = plain.encode("@").ids[-1]

    def spoil(weight):
        weight[rare] = float("nan")

    folder = changed(folders["llama"], tmp_path / "nan", "model.embed_tokens.weight", spoil)
    model = add_cache(lmscore.load(folder, device="cpu"), tmp_path / "cache")
    with pytest.raises(ValueError, match=r"weights hold NaN or infinity in float32, first model\.embed_tokens\.weight"):
        model.forward([model.encode("The cat @ the mat.")])
    assert not list((tmp_path / "cache").glob("*/*.shard"))
    assert np.isfinite(model.forward([model.encode("The cat sat.")])[0].logprob).all()


def test_what_float16_cannot_hold_is_named(folders, tmp_path):
    folder = changed(folders["llama"], tmp_path / "wide", "lm_head.weight", lambda weight: weight.mul_(3e4))
    assert np.isfinite(lmscore.load(folder, device="cpu").network.lm_head.weight.detach().numpy()).all()
    assert "its numbers overflow in float16; expected bfloat16 or float32 (--dtype)" in refusal(folder, dtype="float16")
    huge = changed(folders["llama"], tmp_path / "huge", "model.norm.weight", lambda weight: weight.mul_(1e5))
    assert "first model.norm.weight; expected whole weights, and a dtype that holds them" in refusal(huge, dtype="float16")


def test_a_tokenizer_of_another_model_is_refused(folders, tmp_path):
    rows = len(lmscore.load(folders["gpt2"], device="cpu").encoder.vocabulary.starts_with_space)
    for size, words in (
        (600, f"ids up to 599, and its embedding {rows} rows"),
        (300, f"has 300 ids of the {rows} that it predicts"),
    ):
        folder = shutil.copytree(folders["gpt2"], tmp_path / str(size))
        byte_level(size).save_pretrained(folder) if size < 400 else _longer(folder, size)
        assert words in refusal(folder)
    padded = lmscore.load(save(tmp_path / "padded", byte_level(300), _gpt2(384)), device="cpu")
    assert len(padded.encoder.vocabulary.starts_with_space) == 384


def _longer(folder: Path, size: int) -> None:
    tokenizer = byte_level(400)
    tokenizer.add_tokens([f"new{k}" for k in range(size - len(tokenizer))])
    tokenizer.save_pretrained(folder)


def _gpt2(size: int):
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(vocab_size=size, n_embd=16, n_layer=1, n_head=2, n_positions=32))


def test_a_table_is_no_corpus(tmp_path):
    (tmp_path / "a.csv").write_text("item,sentence\n1,The cat sat.\n")
    with pytest.raises(ValueError, match=r"a\.csv: is a table, whose rows are no sentences; expected a text"):
        lmscore.load(f"ngram:{tmp_path / 'a.csv'}")
    with pytest.raises(ValueError, match="is a table"):
        lmscore.load(f"ngram:{tmp_path / 'a.csv'}:2")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_sentence_of_one_token_has_an_empty_score_and_is_counted(folders, caplog, dtype):
    model = lmscore.load(folders["gpt2"], device="cpu", dtype=dtype)
    pairs = [("The cat sat.", "The cat sit."), ("a", "The")]
    items = tuple(
        Item(f"i{k}", "p", dict(zip(("grammatical", "ungrammatical"), map(Sentence, pair), strict=True)))
        for k, pair in enumerate(pairs)
    )
    materials = Materials((Paradigm("p", "agreement"),), items)
    with caplog.at_level(logging.INFO, logger="gardenpath"):
        scores = lmscore.score(materials, model, protocol="minicons-default")
        compared = lmscore.evaluate(materials, model, ["lp", "mean_lp"], protocol="minicons-default")
    lengths = [len(model.encode(text, prefix=False).ids) for pair in pairs for text in pair]
    assert scores.sentence_scores["n_tokens"].tolist() == lengths
    assert 0 in lengths[2:]
    empty = [length == 0 for length in lengths]
    for measure in ("lp", "mean_lp", "pen_lp"):
        assert scores.sentence_scores[measure].isna().tolist() == empty
    assert scores.surprisal.groupby(["item", "condition"]).size().sum() == len(scores.surprisal)
    assert compared["item"].tolist() == ["i0", "i0"]
    said = [record.getMessage() for record in caplog.records]
    assert f"{sum(empty)} of 4 sentences are one token, fed first and not scored: their scores are empty" in said
    assert "lp: 1 of 2 pairs do not have a token to score in both members and are left out" in said


def settings() -> dict[str, object]:
    names = ("", "transformers", "huggingface_hub", "accelerate", "bitsandbytes", "accelerate.big_modeling", "gardenpath")
    return {
        "precision": torch.get_float32_matmul_precision(),
        "tf32": (torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32),
        "dtype": torch.get_default_dtype(),
        "threads": torch.get_num_threads(),
        "grad": torch.is_grad_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "random": torch.get_rng_state().numpy().tobytes(),
        "numpy": str(np.random.get_state()),  # noqa: NPY002  the state that others draw from
        "verbosity": transformers_logging.get_verbosity(),
        "bars": transformers_logging.is_progress_bar_enabled(),
        "levels": {name: logging.getLogger(name).level for name in names},
        "warnings": list(warnings.filters),
    }


def test_loading_and_computing_leave_settings_as_they_were(folders):
    lmscore.load(folders["gpt2"], device="cpu")  # what importing sets is set now
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    torch.backends.cudnn.allow_tf32 = True
    try:
        before = settings()
        model = lmscore.load(folders["gpt2"], device="cpu")
        model.forward([model.encode("The cat sat.")])
        assert settings() == before
        with pytest.raises(ValueError, match="there is no such folder"):
            lmscore.load("./absent", device="cpu")
        assert settings() == before
    finally:
        torch.set_float32_matmul_precision(precision)
