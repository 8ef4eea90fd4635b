"""Small models of two kinds, with random weights wide enough that every distribution is uneven."""

import json
from pathlib import Path

import pytest

from gardenpath.stimuli import Item, Materials, Paradigm, Region, Sentence

torch = pytest.importorskip("torch", reason="the extra lm is not installed")
pytest.importorskip("transformers", reason="the extra lm is not installed")

from gardenpath import lmscore  # noqa: E402
from gardenpath.lmscore.models import huggingface  # noqa: E402
from gardenpath.lmscore.toy import pocket  # noqa: E402

CORPUS = [
    "The cat didn't sit on the mat, did it?",
    "No student has ever complained about the exams.",
    "The keys to the cabinet are on the table.",
    "I know what the chef devoured after the party.",
    "The boys who the teacher criticized blamed themselves.",
    "Müller went to the café near the mañana house.",
]


def save(folder: Path, tokenizer, network) -> Path:
    """Save tokenizer and model, silently."""
    with huggingface.silence_libraries():
        tokenizer.save_pretrained(folder)
        network.save_pretrained(folder)
    return folder


def byte_level(size: int = 400):
    """Return a byte-level BPE tokenizer with an end-of-text token and no BOS."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator(CORPUS, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|endoftext|>")


def gpt2(folder: Path, *, window: int = 64, size: int = 400, **settings) -> Path:
    """Return a folder with a GPT-2 over byte-level BPE whose tokenizer has an end-of-text token and no BOS."""
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = byte_level(size)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=window,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=None,
        eos_token_id=0,
        initializer_range=0.3,
        **settings,
    )
    return save(folder, tokenizer, GPT2LMHeadModel(config))


KINDS = {  # what is special about it: (transformers' name, settings), beyond what a small Llama has
    "biased head": ("Phi", {}),
    "biased head, additive masks": ("GPTJ", {"n_embd": 32, "n_layer": 2, "n_head": 2, "rotary_dim": 8, "n_positions": 256}),
    "tied head": ("Llama", {"tie_word_embeddings": True}),
    "capped logits": ("Gemma2", {"head_dim": 16, "final_logit_softcapping": 2.0, "sliding_window": 256}),
    "scaled logits": ("Cohere", {"logit_scale": 0.3}),
    "divided logits": ("Granite", {"logits_scaling": 3.0}),
    "divided states": ("MiniCPM3", {"dim_model_base": 8, "num_attention_heads": 2, "q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 16}),
    "sliding window": ("Mistral", {"sliding_window": 9}),
    "wide sliding window": ("Mistral", {"sliding_window": 200}),
    "mixture of experts": ("Mixtral", {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None}),
    "recurrent beside attention": ("FalconH1", {"mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_chunk_size": 16, "head_dim": 16, "lm_head_multiplier": 0.5}),
    "window counted in the row": ("GPTNeo", {"num_layers": 2, "num_heads": 2, "attention_types": [[["global", "local"], 1]], "window_size": 64}),
    "silent bias by place": ("Mpt", {"d_model": 32, "n_heads": 2, "n_layers": 2, "max_seq_len": 256}),
    "recurrent": ("Mamba", {"state_size": 4, "num_hidden_layers": 2}),
    "biased attention": ("Bloom", {"n_layer": 2, "n_head": 2}),
}  # fmt: skip


def other(folder: Path, kind: str) -> Path:
    """Return a folder with a small model of one of `KINDS` over byte-level BPE."""
    import transformers

    tokenizer = byte_level()
    torch.manual_seed(0)
    name, settings = KINDS[kind]
    common = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
        "initializer_range": 0.3,
    }
    if name in ("GPTJ", "Mpt"):
        common = {"initializer_range": 0.3}
    if name in ("Mamba", "Bloom", "GPTNeo"):
        common = {"hidden_size": 32, "initializer_range": 0.3, "max_position_embeddings": 256}
    config = getattr(transformers, f"{name}Config")(
        vocab_size=len(tokenizer), bos_token_id=0, eos_token_id=0, pad_token_id=0, **{**common, **settings}
    )
    network = getattr(transformers, f"{name}ForCausalLM")(config)
    head = network.get_output_embeddings()
    if head.bias is not None:
        torch.nn.init.normal_(head.bias)
    return save(folder, tokenizer, network)


def sentencepiece(scheme: str = "prepend"):
    """Return a tokenizer as Llama's: ▁ before the first word, bytes for unknown characters, BOS added by itself."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    trained.train_from_iterator(CORPUS[:5], trainers.BpeTrainer(vocab_size=150, show_progress=False))
    learned = json.loads(trained.to_str())["model"]
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256)), *sorted(learned["vocab"], key=learned["vocab"].get)]
    pieces += [] if "▁" in pieces else ["▁"]
    merges = [tuple(merge) for merge in learned["merges"]]
    ids = {piece: i for i, piece in enumerate(pieces)}
    backend = Tokenizer(models.BPE(ids, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    if scheme == "prepend":
        backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def llama(folder: Path, scheme: str = "prepend", **settings) -> Path:
    """Return a folder with a Llama over that tokenizer."""
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = sentencepiece(scheme)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer) + 5,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=128,
        bos_token_id=1,
        eos_token_id=2,
        initializer_range=0.3,
        tie_word_embeddings=False,
        **settings,
    )
    return save(folder, tokenizer, LlamaForCausalLM(config))


def whitespace_marks(model) -> tuple[str, ...]:
    """Return how pieces that begin with whitespace look in this model's vocabulary."""
    from tokenizers import pre_tokenizers

    blanks = [9, 10, 11, 12, 13, 28, 29, 30, 31, 32]
    if model.encoder.tokenizer.bos_token == "<s>":
        return ("▁", *(f"<0x{byte:02X}>" for byte in blanks))
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return tuple(level.pre_tokenize_str(chr(byte))[0][0] for byte in blanks)


@pytest.fixture(scope="session")
def folders(tmp_path_factory) -> dict[str, Path]:
    """One folder for each kind of small model."""
    base = tmp_path_factory.mktemp("models")
    return {"gpt2": gpt2(base / "gpt2"), "llama": llama(base / "llama"), "metaspace": llama(base / "metaspace", "first")}


@pytest.fixture(scope="session", params=KINDS)
def kind(request) -> str:
    """What is special about a model."""
    return request.param


@pytest.fixture(scope="session")
def special(kind, tmp_path_factory):
    """A small model of each kind, in float64."""
    return lmscore.load(other(tmp_path_factory.mktemp("kind"), kind), device="cpu", dtype="float64")


@pytest.fixture(scope="session", params=["gpt2", "llama", "metaspace"])
def model(request, folders):
    """Each small model, in float64."""
    return lmscore.load(folders[request.param], device="cpu", dtype="float64")


@pytest.fixture(scope="session")
def byte_model(folders):
    """The byte-level model, in float64."""
    return lmscore.load(folders["gpt2"], device="cpu", dtype="float64")


@pytest.fixture(scope="session")
def small_pocket(tmp_path_factory) -> Path:
    """A pocket model that had a second of training."""
    return pocket.build_pocket(tmp_path_factory.mktemp("pocket"), seed=3, training=SMALL)


SMALL = pocket.Training(sentences=1500, vocabulary=500, width=32, layers=1, heads=2, window=64)


@pytest.fixture(scope="session")
def materials() -> Materials:
    """Two minimal pairs, one of them marked and one with identical members, and an item of another design."""
    good = Sentence("No student has ever complained.", (Region("cue", 0, 2), Region("critical", 15, 19)))
    bad = Sentence("The student has ever complained.", (Region("cue", 0, 3), Region("critical", 16, 20)))
    same = Sentence("The cat sat on the mat.")
    npi, copies = Paradigm("npi", "npi_licensing"), Paradigm("copies", "binding")
    other = Paradigm("number", "agreement", {"number": ("one", "two")})
    return Materials(
        (npi, copies, other),
        (
            Item("npi-1", "npi", {"grammatical": good, "ungrammatical": bad}),
            Item("copy-1", "copies", {"grammatical": same, "ungrammatical": same}),
            Item("number-1", "number", {"one": Sentence("The key is old."), "two": Sentence("The keys are old.")}),
        ),
    )
