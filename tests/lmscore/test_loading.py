"""What is no causal model with a fast tokenizer is refused in one line."""

import importlib.util
import json
import shutil

import pytest

from gardenpath import lmscore, study
from gardenpath.lmscore.tokens.encoding import encode

pytestmark = pytest.mark.lm


def refusal(source, **options) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the message is looked at by the caller
        lmscore.load(source, device="cpu", **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_name_that_is_no_model_is_refused_with_what_is_expected(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "expected a folder written by save_pretrained" in refusal("no-such/model-anywhere")
    assert "expected a folder written by save_pretrained" in refusal("not a model")
    assert "the folder has no config.json" in refusal(tmp_path)
    assert "there is no such folder" in refusal(tmp_path / "absent")
    assert "there is no such folder" in refusal("./absent")
    file = tmp_path / "model.bin"
    file.write_bytes(b"x")
    assert "a file, not a model" in refusal(file)


@pytest.mark.parametrize("whole", [True, False])
def test_an_adapter_is_refused_instead_of_left_out(folders, tmp_path, whole):
    if whole:
        shutil.copytree(folders["gpt2"], tmp_path, dirs_exist_ok=True)
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA", "base_model_name_or_path": "gpt2"}')
    assert f"holds an adapter (adapter_config.json); expected --model gpt2 --adapter {tmp_path}" in refusal(tmp_path)


def test_a_broken_config_is_refused(tmp_path):
    (tmp_path / "config.json").write_text("{")
    assert "cannot be read" in refusal(tmp_path)


def test_an_unknown_device_dtype_or_prefix_is_refused(folders):
    assert "dtype 'float8'" in refusal(folders["gpt2"], dtype="float8")
    assert "device 'cuda:99' cannot be used" in refusal_device(folders["gpt2"])
    assert "prefix token '<bos>' is not a token" in refusal(folders["gpt2"], prefix="<bos>")


def refusal_device(source) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        lmscore.load(source, device="cuda:99")
    return str(caught.value)


def test_a_prefix_can_be_named(folders):
    model = lmscore.load(folders["llama"], device="cpu", prefix="</s>")
    assert encode(model.encoder, "The cat").context_ids == (2,)


def small(kind: str):
    import transformers as hf

    if kind == "bidirectional":
        return hf.BertLMHeadModel(
            hf.BertConfig(vocab_size=400, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
        )
    if kind == "headless":
        return hf.GPT2Model(hf.GPT2Config(vocab_size=400, n_embd=16, n_layer=1, n_head=2))
    return hf.GPT2ForSequenceClassification(hf.GPT2Config(vocab_size=400, n_embd=16, n_layer=1, n_head=2))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("bidirectional", "looks at later words"),
        ("headless", "GPT2Model, no head that predicts tokens"),
        ("classifier", "GPT2ForSequenceClassification, no head"),
    ],
)
def test_other_kinds_of_model_are_refused(folders, tmp_path, kind, words):
    from gardenpath.lmscore.models import huggingface

    with huggingface.silence_libraries():
        small(kind).save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(folders["gpt2"] / name, tmp_path / name)
    assert words in refusal(tmp_path)


def test_missing_weights_are_refused_instead_of_drawn_at_random(folders, tmp_path):
    from safetensors.torch import load_file, save_file

    shutil.copytree(folders["llama"], tmp_path, dirs_exist_ok=True)
    weights = load_file(tmp_path / "model.safetensors")
    del weights["lm_head.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    assert "first lm_head.weight, and would be random" in refusal(tmp_path)


def test_a_model_without_a_tokenizer_is_refused(folders, tmp_path):
    shutil.copytree(folders["llama"], tmp_path, dirs_exist_ok=True)
    for path in tmp_path.glob("tokenizer*"):
        path.unlink()
    assert "tokenizer" in refusal(tmp_path)


def test_a_tokenizer_that_transformers_makes_of_nothing_is_refused(folders, tmp_path):
    shutil.copytree(folders["gpt2"], tmp_path, dirs_exist_ok=True)
    for path in tmp_path.glob("tokenizer*"):
        path.unlink()
    assert "its tokenizer has nothing but special tokens; expected tokenizer.json" in refusal(tmp_path)


def test_a_revision_belongs_to_a_model_of_the_hub(folders, tmp_path):
    (tmp_path / "a.txt").write_text("the cat sat\n")
    for name, what in (
        (folders["gpt2"], "a folder here"),
        ("pocket", "the pocket model"),
        ("ngram:a.txt", "a model of the kind ngram"),
    ):
        assert f"is {what}" in refusal(name, revision="main")


def test_the_sidecar_holds_the_commit_of_a_model_of_the_hub(folders, tmp_path, monkeypatch):
    commit = "0123456789abcdef0123456789abcdef01234567"
    place = tmp_path / "models--some--model"
    shutil.copytree(folders["gpt2"], place / "snapshots" / commit)
    (place / "refs").mkdir()
    (place / "refs" / "step1000").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("transformers.utils.hub.constants.HF_HUB_CACHE", str(tmp_path))
    model = lmscore.load("some/model", revision="step1000", device="cpu", dtype="bfloat16")
    assert model.name == "some/model@step1000 (bfloat16)"
    assert (model.describe()["revision"], model.describe()["commit"]) == ("step1000", commit)


def test_a_model_describes_itself_for_the_sidecar(folders):
    facts = lmscore.load(folders["gpt2"], device="cpu").describe()
    assert facts["prefix_token"] == "<|endoftext|>"
    assert facts["architecture"] == "GPT2LMHeadModel"
    assert (facts["dtype"], facts["device"]) == ("float32", "cpu")
    assert (facts["own_code"], facts["tf32"]) == (False, False)
    assert set(facts["sha256"]) == {"model.safetensors", "tokenizer.json"}
    json.dumps(facts)


def test_quantization_needs_its_extra_and_a_known_name(folders):
    assert "quantization '3bit' is not known; expected 8bit or 4bit" in refusal(folders["gpt2"], quantization="3bit")
    if importlib.util.find_spec("bitsandbytes"):
        pytest.skip("the extra quantized is installed")
    with pytest.raises(study.MissingExtra, match="belongs to the extra 'quantized'"):
        lmscore.load(folders["gpt2"], device="cpu", quantization="8bit")


REMOTE = """
from transformers import GPT2Config, GPT2LMHeadModel

class OwnConfig(GPT2Config):
    model_type = "own"

class OwnModel(GPT2LMHeadModel):
    config_class = OwnConfig
"""


def test_code_that_comes_with_a_model_is_run_only_when_trusted(folders, tmp_path, monkeypatch):
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    folder = tmp_path / "own"
    shutil.copytree(folders["gpt2"], folder)
    (folder / "own.py").write_text(REMOTE)
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "architectures": ["OwnModel"]}
    config["auto_map"] = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    (folder / "config.json").write_text(json.dumps(config))
    assert "trust_remote_code" in refusal(folder)
    model = lmscore.load(folder, device="cpu", trust_remote_code=True)
    assert model.describe()["architecture"] == "OwnModel"
    assert model.describe()["own_code"] is True
    assert len(model.forward([model.encode("The cat")])) == 1


def test_what_was_used_stands_in_the_description(folders):
    facts = lmscore.load(folders["gpt2"], device="cpu").describe()
    assert facts["layout"] == "rows that share prefixes"
    assert facts["head"] == "in blocks of the vocabulary"
    assert (facts["attention"], facts["quantization"]) == ("sdpa", None)
    assert (facts["window"], facts["stride"], facts["windows_repeat_prefix"]) == (64, 32, False)
