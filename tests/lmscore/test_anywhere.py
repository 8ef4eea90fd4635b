"""Models wherever they are: quantized, spread over devices, with an adapter, encoder-decoders, with a slow tokenizer."""

import importlib.util
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra lm is not installed")
transformers = pytest.importorskip("transformers", reason="the extra lm is not installed")

from gardenpath import lmscore, study  # noqa: E402
from gardenpath.lmscore import add_cache, identity, networks  # noqa: E402
from gardenpath.lmscore.models import huggingface  # noqa: E402
from gardenpath.lmscore.models.interface import COLUMNS  # noqa: E402
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence  # noqa: E402

from .conftest import llama, save, sentencepiece  # noqa: E402

pytestmark = pytest.mark.lm

TEXTS = ["No student has ever complained about the exams.", "The cat didn't sit on the mat, did it?", "a"]


def needs(*packages: str) -> pytest.MarkDecorator:
    absent = [name for name in packages if not importlib.util.find_spec(name)]
    return pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} not installed (the extras quantized, adapters)")


def numbers(model) -> np.ndarray:
    tables = model.forward([model.encode(text) for text in TEXTS])
    return np.concatenate([table.logprob for table in tables])


def by_hand(network, fed, ids) -> list[float]:
    """One token after the other, a full softmax in float64."""
    found = []
    for k, target in enumerate(ids):
        with torch.no_grad():
            logits = network(torch.tensor([[*fed, *ids[:k]]])).logits[0, -1].double()
        found.append(float(torch.log_softmax(logits, -1)[target]))
    return found


def wide(folder: Path) -> Path:
    """Return a folder with a Llama whose rows fill a block of bitsandbytes."""
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = sentencepiece()
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = LlamaConfig(vocab_size=len(tokenizer), **sizes, max_position_embeddings=128, initializer_range=0.1)
    return save(folder, tokenizer, LlamaForCausalLM(config))


@needs("bitsandbytes", "accelerate")
def test_four_bits_are_nf4_with_double_quantization_computed_in_bfloat16(tmp_path):
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig

    folder = wide(tmp_path / "llama")
    model = lmscore.load(folder, device="cpu", quantization="4bit")
    said = model.describe()
    assert model.name == f"{folder} (4bit)"
    assert (said["quantization"], said["dtype"]) == ("4bit", "float32")
    settings = said["quantization_settings"]
    assert (settings["bnb_4bit_quant_type"], settings["bnb_4bit_use_double_quant"]) == ("nf4", True)
    assert settings["bnb_4bit_compute_dtype"].endswith("bfloat16")
    bits = BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=torch.bfloat16
    )
    with huggingface.silence_libraries():
        plain = AutoModelForCausalLM.from_pretrained(folder, quantization_config=bits, device_map={"": "cpu"}).eval()
    text = model.encode(TEXTS[0])
    (table,) = model.forward([text])
    # bfloat16 has 8 bits, and a row of another length is added up in another order
    assert np.abs(table.logprob[:-1] - by_hand(plain, text.context_ids, text.ids)).mean() < 0.15
    assert np.abs(numbers(model) - numbers(lmscore.load(folder, device="cpu"))).max() > 0.3
    with pytest.raises(ValueError, match="'5bit' is not known; expected 8bit or 4bit"):
        lmscore.load(folder, device="cpu", quantization="5bit")


@needs("bitsandbytes", "accelerate")
def test_a_layer_that_is_no_whole_blocks_is_named_before_it_computes(folders):
    with pytest.raises(ValueError, match=r"is 32 wide, and 4 bits are stored in blocks of 64, .* expected 8bit, a GPU"):
        lmscore.load(folders["llama"], device="cpu", quantization="4bit")


@needs("bitsandbytes", "accelerate")
def test_a_model_that_is_quantized_already_is_coarse_whatever_its_label_says(tmp_path):
    from gardenpath.lmscore.scoring import is_batch_dependent

    first = lmscore.load(wide(tmp_path / "whole"), device="cpu", quantization="4bit")
    save(tmp_path, sentencepiece(), first.network)
    model = lmscore.load(tmp_path, device="cpu")
    assert (model.dtype, model.quantization, model.name) == ("float32", "4bit", f"{tmp_path} (4bit)")
    assert is_batch_dependent(model)
    np.testing.assert_allclose(numbers(model), numbers(first), atol=1e-6)
    with pytest.raises(ValueError, match=r"the model is quantized already \(4bit\)"):
        lmscore.load(tmp_path, device="cpu", quantization="4bit")


@needs("accelerate")
@pytest.mark.parametrize(
    ("method", "packages"), [("gptq", "optimum gptqmodel"), ("awq", "gptqmodel"), ("compressed-tensors", "compressed-tensors")]
)
def test_packages_that_a_quantized_model_needs_and_are_not_there_are_one_line(folders, tmp_path, method, packages, monkeypatch):
    shutil.copytree(folders["llama"], tmp_path, dirs_exist_ok=True)
    config = json.loads((tmp_path / "config.json").read_text())
    config["quantization_config"] = {"quant_method": method, "bits": 4, "group_size": 128, "config_groups": {}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    names, find = packages.replace("-", "_").split(), importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name in names else find(name, *more))
    line = rf"is stored quantized \({method}[^)]*\), which takes what is not installed: pip install {packages}$"
    with pytest.raises(ValueError, match=line) as caught:
        lmscore.load(tmp_path, device="cpu")
    assert "\n" not in str(caught.value)
    found = dict.fromkeys(names, object())  # where they can be imported, transformers is asked
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: found.get(name) or find(name, *more))
    known = transformers.AutoConfig.from_pretrained(tmp_path)
    assert networks.build_load_options(known, "cpu", "float32", None, None)["device_map"] == {"": "cpu"}


def test_a_way_of_quantizing_that_transformers_does_not_know_is_not_read_as_plain_weights(folders, tmp_path):
    shutil.copytree(folders["llama"], tmp_path, dirs_exist_ok=True)
    config = json.loads((tmp_path / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "exl9", "bits": 3}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"quantized by 'exl9', which transformers [\d.]+ does not know; expected one of .*gptq"):
        lmscore.load(tmp_path, device="cpu")


@needs("compressed_tensors", "accelerate")
def test_compressed_tensors_are_read_and_named(tmp_path):
    """Weights of 8 bits with a scale for each row, written by hand, equal to the same weights unpacked."""
    from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32
    from safetensors.torch import load_file, save_file

    folder = llama(tmp_path / "plain")
    weights = load_file(folder / "model.safetensors")
    packed = {}
    for name, values in weights.items():
        if "layers" in name and values.ndim == 2:
            scale = values.abs().amax(1, keepdim=True) / 127
            rounded = (values / scale).round()
            packed[f"{name}_packed"] = pack_to_int32(rounded.to(torch.int8), 8)
            packed[f"{name}_scale"], packed[f"{name}_shape"] = scale, torch.tensor(values.shape)
            weights[name] = rounded * scale
        else:
            packed[name] = values
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    small = shutil.copytree(folder, tmp_path / "packed")
    save_file(packed, small / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((small / "config.json").read_text())
    group = {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": True}}
    config["quantization_config"] = {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "quantization_status": "compressed",
        "ignore": ["lm_head"],
        "config_groups": {"group_0": group},
    }
    (small / "config.json").write_text(json.dumps(config))
    model = lmscore.load(small, device="cpu")
    assert model.quantization == "compressed-tensors"
    np.testing.assert_allclose(numbers(model), numbers(lmscore.load(folder, device="cpu")), atol=1e-4)


PARTS = ("model.embed_tokens", "model.layers.0", "model.layers.1", "model.norm", "model.rotary_emb", "lm_head")


@needs("accelerate")
@pytest.mark.parametrize("on_disk", [("model.layers.1",), ("lm_head",), ("model.embed_tokens", "lm_head")])
def test_a_model_spread_over_memory_and_disk_gives_the_same_numbers(folders, on_disk):
    spread = {part: "disk" if part in on_disk else "cpu" for part in PARTS}
    model = lmscore.load(folders["llama"], device_map=spread)
    assert model.describe()["devices"] == ["cpu", "disk"]
    assert ("head" in model.reasons) == ("lm_head" in on_disk)  # a head that is elsewhere is not taken apart
    np.testing.assert_allclose(numbers(model), numbers(lmscore.load(folders["llama"], device="cpu")), atol=1e-5)


@needs("accelerate")
def test_a_device_map_is_named_and_refused_in_one_line(folders, tmp_path):
    whole = lmscore.load(folders["gpt2"], device_map="auto", dtype="float64")
    np.testing.assert_allclose(numbers(whole), numbers(lmscore.load(folders["gpt2"], device="cpu", dtype="float64")), atol=1e-9)
    with pytest.raises(ValueError, match="device_map 'anyhow' is not known; expected auto, balanced"):
        lmscore.load(folders["gpt2"], device_map="anyhow")
    with pytest.raises(ValueError, match="device 'cpu' beside a device_map"):
        lmscore.load(folders["gpt2"], device="cpu", device_map="auto")
    parts = ["transformer.wte", "transformer.wpe", "transformer.drop", "transformer.h", "transformer.ln_f"]
    with pytest.raises(ValueError, match="share weights, and the device_map has one on cpu, the other on disk"):
        lmscore.load(folders["gpt2"], device_map={**dict.fromkeys(parts, "cpu"), "lm_head": "disk"})


@pytest.fixture(scope="module")
def lora(folders, tmp_path_factory) -> Path:
    """An adapter of the small GPT-2 whose weights are not zero."""
    peft = pytest.importorskip("peft", reason="the extra adapters is not installed")
    from transformers import AutoModelForCausalLM

    torch.manual_seed(3)
    with huggingface.silence_libraries():
        base = AutoModelForCausalLM.from_pretrained(folders["gpt2"])
        config = peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["c_attn"], fan_in_fan_out=True)
        wrapped = peft.get_peft_model(base, config)
        for name, weight in wrapped.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(weight, std=0.3)
        folder = tmp_path_factory.mktemp("adapter") / "lora"
        wrapped.save_pretrained(folder)
    return folder


def test_an_adapter_changes_the_numbers_as_merging_it_does_and_is_part_of_the_name(folders, lora, tmp_path):
    import peft
    from transformers import AutoModelForCausalLM

    model = lmscore.load(folders["gpt2"], adapter=lora, device="cpu")
    assert model.name == f"{folders['gpt2']}+{lora}"
    said = model.describe()["adapter"]
    assert (said["type"], set(said["sha256"])) == ("LORA", {"adapter_config.json", "adapter_model.safetensors"})
    with huggingface.silence_libraries():
        base = AutoModelForCausalLM.from_pretrained(folders["gpt2"])
        merged = peft.PeftModel.from_pretrained(base, lora).merge_and_unload().eval()
    text = model.encode(TEXTS[0])
    (table,) = model.forward([text])
    np.testing.assert_allclose(table.logprob[:-1], by_hand(merged, text.context_ids, text.ids), atol=1e-4)
    plain = lmscore.load(folders["gpt2"], device="cpu")
    assert np.abs(numbers(model) - numbers(plain)).max() > 0.1
    add_cache(model, tmp_path)
    add_cache(plain, tmp_path)
    add_cache(lmscore.load(folders["gpt2"], adapter=lora, device="cpu"), tmp_path)
    assert len(list(tmp_path.glob("*/model.json"))) == 2


def test_an_adapter_that_does_not_fit_is_refused_in_one_line(folders, lora, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ValueError, match="does not fit into the model") as caught:
        lmscore.load(folders["llama"], adapter=lora, device="cpu")
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"no adapter_config\.json there"):
        lmscore.load(folders["gpt2"], adapter=tmp_path, device="cpu")
    with pytest.raises(ValueError, match="neither a folder here nor on the hub"):
        lmscore.load(folders["gpt2"], adapter="no-such/adapter", device="cpu")
    with pytest.raises(ValueError, match=f"expected --model .*gpt2 --adapter {lora}"):
        lmscore.load(lora, device="cpu")


def encoder_decoder(folder: Path, kind: str) -> Path:
    """Return a folder with a small T5 or BART over SentencePiece pieces."""
    import transformers as hf

    tokenizer = sentencepiece()
    torch.manual_seed(0)
    known = {"vocab_size": len(tokenizer), "pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 0}
    if kind == "t5":
        sizes = {"d_model": 32, "d_kv": 16, "d_ff": 48, "num_layers": 2, "num_heads": 2, "initializer_factor": 3.0}
        network = hf.T5ForConditionalGeneration(hf.T5Config(**known, **sizes))
    else:
        sizes = {
            f"{part}_{what}": n
            for part in ("encoder", "decoder")
            for what, n in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 48))
        }
        network = hf.BartForConditionalGeneration(
            hf.BartConfig(**known, **sizes, d_model=32, max_position_embeddings=64, init_std=0.3, bos_token_id=1)
        )
    return save(folder, tokenizer, network)


CONTEXT = "The keys to the cabinet"


@pytest.mark.parametrize("kind", ["t5", "bart"])
def test_an_encoder_decoder_reads_the_context_and_predicts_the_sentence(tmp_path, kind):
    model = lmscore.load(encoder_decoder(tmp_path / kind, kind), device="cpu", dtype="float64")
    texts = [model.encode(text, context) for text in TEXTS for context in (CONTEXT, "No student")]
    for text, table in zip(texts, model.forward(texts), strict=True):
        expected = []
        for k, target in enumerate(text.ids):
            with torch.no_grad():
                logits = model.network(
                    input_ids=torch.tensor([text.source_ids]), decoder_input_ids=torch.tensor([[0, *text.ids[:k]]])
                ).logits[0, -1]
            expected.append(float(torch.log_softmax(logits, -1)[target]))
        np.testing.assert_allclose(table.logprob[:-1], expected, atol=1e-9)
        assert np.isfinite(table.log_boundary).all()
    one, other = model.forward(texts[:2])
    assert (one.logprob != other.logprob).any()
    store = add_cache(model, tmp_path / "cache")
    again = [table.logprob.tobytes() for table in store.forward(texts)]
    assert again == [table.logprob.tobytes() for table in add_cache(model, tmp_path / "cache").forward(texts)]
    assert len(set(again)) == len(texts)


def test_an_encoder_decoder_refuses_what_it_cannot_read(tmp_path):
    model = lmscore.load(encoder_decoder(tmp_path / "bart", "bart"), device="cpu")
    pair = {"grammatical": Sentence("The cat sat."), "ungrammatical": Sentence("The cat sit.")}
    number = Paradigm("number", "agreement")
    with pytest.raises(study.DataError, match="has no context, and an encoder-decoder predicts a sentence from") as caught:
        lmscore.evaluate(Materials((number,), (Item("i1", "number", pair),)), model)
    assert "item 'i1'" in str(caught.value)
    given = Materials((number,), (Item("i1", "number", pair, context=CONTEXT),))
    assert lmscore.evaluate(given, model)["tie"].tolist() == [False]
    with pytest.raises(study.DataError, match="a decoder begins with its own start token"):
        lmscore.score(given, model, protocol="minicons-default")
    with pytest.raises(ValueError, match="the context has 72 tokens, which exceed the window of 64"):
        model.encode("a", "x " * 35)
    with pytest.raises(ValueError, match="an encoder-decoder, which answers no prompts"):
        lmscore.encode_continuations(model, "Is it so?", ["yes", "no"])
    with pytest.raises(ValueError, match="begins with its own; leave it out"):
        lmscore.load(tmp_path / "bart", device="cpu", prefix="<s>")


def byt5(folder: Path) -> Path:
    """Return a folder with a small GPT-2 over the bytes of ByT5's tokenizer, which is written in Python."""
    from transformers import ByT5Tokenizer, GPT2Config, GPT2LMHeadModel

    tokenizer = ByT5Tokenizer()
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=64,
        n_embd=32,
        n_layer=1,
        n_head=2,
        bos_token_id=None,
        eos_token_id=1,
        initializer_range=0.3,
    )
    return save(folder, tokenizer, GPT2LMHeadModel(config))


def test_a_slow_tokenizer_has_its_characters_found_by_decoding(tmp_path):
    model = lmscore.load(byt5(tmp_path / "byt5"), device="cpu", dtype="float64")
    text = "Der Bär 猫 </s>"  # the name of a special token is read as plain characters
    encoded = model.encode(text)
    assert encoded.ids == tuple(byte + 3 for byte in text.encode())
    places = [place for place, letter in enumerate(text) for _ in letter.encode()]
    assert encoded.spans == tuple((place, place + 1) for place in places)
    assert [i for i, begins in zip(encoded.ids, encoded.starts_with_space, strict=True) if begins] == [ord(" ") + 3] * 3
    (table,) = model.forward([encoded])
    np.testing.assert_allclose(table.logprob[:-1], by_hand(model.network, encoded.context_ids, encoded.ids), atol=1e-9)
    words = lmscore.compute_word_scores(table, Sentence(text))
    assert [word.word.text for word in words] == text.split()
    np.testing.assert_allclose(sum(w.surprisal_naive for w in words), -table.logprob[:-1].sum() / math.log(2))
    folder = tmp_path / "cache"
    assert len(add_cache(model, folder).forward([encoded], columns=COLUMNS)) == 1


def test_what_a_model_is_called_says_all_that_was_asked_for():
    whole = identity.format_model_label("m", revision="r", adapter="a", quantization="4bit", dtype="float16", kind="toy")
    assert whole == "m@r+a (toy, 4bit, float16)"
