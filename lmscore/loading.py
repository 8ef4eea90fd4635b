"""A name becomes a model ready to score, or one line that says why it cannot be one."""

import logging
from pathlib import Path
from typing import Any

from gardenpath import study

from .models import huggingface
from .models.causal import CausalModel
from .models.fast_paths import fastest
from .models.interface import Model, Progress
from .models.masked import MaskedModel, checked
from .models.ngram import SCHEME, load_ngram
from .tokens.encoding import Encoder, vocabulary
from .toy import pocket

EXPECTED = (
    "a folder written by save_pretrained, the id of a causal or masked model on the Hugging Face hub such as gpt2, "
    "ngram:FILE, or pocket"
)


def load(
    name: str | Path,
    *,
    device: str = "auto",
    dtype: str = "float32",
    quantization: str | None = None,
    revision: str | None = None,
    trust_remote_code: bool = False,
    prefix: str | None = None,
    progress: Progress | None = None,
    memory: Path | None = None,
) -> Model:
    """Return the causal or masked model of that Hugging Face id or folder, or the pocket model for `pocket`.

    `ngram:FILE` is an n-gram model (see `load_ngram`), to which the other arguments mean nothing.
    `device` is auto (a GPU when there is one), cpu, cuda, cuda:1 ...; `prefix` names the token fed before every text:
    by default the tokenizer's BOS, else the config's, else the end-of-text token (a masked model gets what its tokenizer
    puts around a text). `quantization` is 8bit or 4bit (on a GPU, with the extra `quantized`). Code that comes with a model
    is run only with `trust_remote_code`. `progress` is called while the pocket model is trained. In the folder `memory` is kept
    what probing tells of such a model; `load_cached` does so, and loads no weights that are not needed. Raises `ValueError` in
    one line for what cannot be scored, and `study.MissingExtra` where torch and transformers are not installed (an n-gram model
    needs neither).

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from gardenpath import lmscore
    >>> with TemporaryDirectory() as folder:
    ...     corpus = Path(folder, "corpus.txt")
    ...     _ = corpus.write_text("A dog barks.\\nThe dogs bark.\\nA cat sleeps.\\nThe cats sleep.\\n")
    ...     model = lmscore.load(f"ngram:{corpus}:2")
    >>> model.masked, model.describe()["architecture"]
    (False, '2-gram')
    """
    if str(name).startswith(SCHEME):
        return load_ngram(name)
    torch = study.errors.require("torch", "lm")
    study.errors.require("transformers", "lm")
    place = _device(device)
    if not isinstance(getattr(torch, dtype, None), torch.dtype) or not getattr(torch, dtype).is_floating_point:
        raise ValueError(f"dtype {dtype!r} is not known; expected float32, bfloat16, float16 or float64")
    # In float32 a GPU would else multiply with 10 bits of precision.
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    is_pocket = str(name) == pocket.NAME
    source = str(pocket.pocket_folder(progress)) if is_pocket else str(name)
    hub = {"revision": revision, "trust_remote_code": trust_remote_code}
    settings = {"dtype": getattr(torch, dtype), **_quantized(quantization, place)}
    with huggingface.quiet():
        config = _config(source, hub)
        if quantization and _is_masked(config):
            raise ValueError(f"model {source!r}: quantization is for causal models; load a masked model without it")
        network = _network(source, hub, settings, _is_masked(config)).eval()
        network = network if quantization else network.to(place)
        tokenizer = _tokenizer(source, hub)
    size = int(network.get_output_embeddings().weight.shape[0])
    if _is_masked(config):
        return _masked_model(str(name), network, tokenizer, size, place, dtype, revision, memory)
    encoder = Encoder(
        tokenizer=tokenizer,
        vocabulary=vocabulary(tokenizer, size),
        prefix=_prefix(source, tokenizer, config, prefix, size),
        ends=_ends(tokenizer, network, size),
        window=max(0, getattr(config, "max_position_embeddings", None) or 0) or None,  # XLNet says -1 for any number
    )
    model = CausalModel(
        name=pocket.LABEL if is_pocket else str(name),
        toy=pocket.WORTH if is_pocket else "",
        encoder=encoder,
        network=network,
        device=place,
        dtype=dtype,
        revision=revision,
        quantization=quantization,
        repeats=tokenizer("a")["input_ids"][:1] == [encoder.prefix],
    )
    return fastest(model, memory)


def _device(device: str) -> str:
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        why = "not a kind of device" if first.startswith("Expected one of") else first
        raise ValueError(
            f"device {device!r} cannot be used here ({why}); expected auto, cpu or a GPU such as cuda"
        ) from error
    return device


def _quantized(quantization: str | None, device: str) -> dict[str, Any]:
    """Return the settings that load a network with weights of 8 or 4 bits."""
    if quantization is None:
        return {}
    if quantization not in ("8bit", "4bit"):
        raise ValueError(f"quantization {quantization!r} is not known; expected 8bit or 4bit")
    study.errors.require("bitsandbytes", "quantized")
    study.errors.require("accelerate", "quantized")
    from transformers import BitsAndBytesConfig

    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it remarks on every product in float32
    bits = BitsAndBytesConfig(load_in_8bit=quantization == "8bit", load_in_4bit=quantization == "4bit")
    return {"quantization_config": bits, "device_map": {"": device}}


def _one_line(error: Exception) -> str:
    """Return the first sentence of another library's message."""
    text = str(error).strip() or type(error).__name__
    return " ".join(text.splitlines()[0].split())[:200].rstrip(".:")


def _config(source: str, hub: dict[str, Any]) -> Any:
    """Return the model's configuration, of its text part where there are several."""
    from transformers import AutoConfig

    folder = Path(source)
    if folder.is_dir():
        _refuse_adapter(source, hub)
    if folder.is_dir() and not (folder / "config.json").exists():
        raise ValueError(f"model {source}: the folder has no config.json; expected {EXPECTED}")
    if folder.is_file():
        raise ValueError(f"model {source}: a file, not a model; expected {EXPECTED}")
    if not folder.is_dir() and (source.startswith((".", "~")) or folder.is_absolute() or source.count("/") > 1):
        raise ValueError(f"model {source}: there is no such folder; expected {EXPECTED}")
    try:
        config = AutoConfig.from_pretrained(source, **hub)
    except Exception as error:
        if not hub["trust_remote_code"] and "trust_remote_code" in str(error):
            raise ValueError(
                f"model {source!r} brings code of its own, which is not run; expected trust_remote_code=True where it is "
                "trusted"
            ) from error
        where = "cannot be read" if folder.is_dir() else "is neither a folder here nor a model on the hub"
        raise ValueError(
            f"model {source!r} {where} ({_one_line(error)}); expected {EXPECTED}: check "
            "the spelling, and for the hub the network and the permission to read it"
        ) from error
    _refuse_adapter(source, hub)
    if config.is_encoder_decoder:
        raise ValueError(
            f"model {source!r}: an encoder-decoder ({config.model_type}); expected a causal or masked model, such as gpt2"
        )
    brought = getattr(config, "auto_map", None) or {}  # what code that comes with a model defines
    known = _classes("causal") | _classes("masked")
    if config.architectures and not known & set(config.architectures) and "AutoModelForCausalLM" not in brought:
        raise ValueError(
            f"model {source!r}: {', '.join(config.architectures)}, no head that predicts tokens; expected a causal or "
            "masked language model, whose config names an architecture such as GPT2LMHeadModel or BertForMaskedLM"
        )
    return config.get_text_config()


def _refuse_adapter(source: str, hub: dict[str, Any]) -> None:
    """Refuse what holds an adapter: transformers leaves it out without a word where PEFT is not installed."""
    from transformers.utils.peft_utils import find_adapter_config_file

    if find_adapter_config_file(source, revision=hub["revision"]):
        raise ValueError(
            f"model {source!r}: holds an adapter (adapter_config.json), which is not loaded; expected a model with its "
            "adapter merged: merge_and_unload of peft, then save_pretrained"
        )


def _classes(kind: str) -> set[str]:
    """Return the names of the causal or the masked architectures that transformers has."""
    from transformers.models.auto import modeling_auto as auto

    mapping = auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES if kind == "masked" else auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return {name for names in mapping.values() for name in ([names] if isinstance(names, str) else names)}


def _is_masked(config: Any) -> bool:
    architectures = set(config.architectures or [])
    return bool(_classes("masked") & architectures) and not _classes("causal") & architectures


def _network(source: str, hub: dict[str, Any], settings: dict[str, Any], masked: bool) -> Any:
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    try:
        loaded: Any = (AutoModelForMaskedLM if masked else AutoModelForCausalLM).from_pretrained(
            source, **hub, **settings, output_loading_info=True
        )
    except Exception as error:
        raise ValueError(f"model {source!r} cannot be loaded ({_one_line(error)}); expected {EXPECTED}") from error
    network, loading = loaded
    if settings["dtype"] == torch.float64 and hasattr(network, "set_experts_implementation"):
        network.set_experts_implementation("eager")  # the faster ones have no float64
    missing = sorted(loading["missing_keys"])
    if missing:
        raise ValueError(
            f"model {source!r}: {len(missing)} weights are not in its files, first {missing[0]}, and would be random; "
            "expected the complete weights of a language model"
        )
    if network.get_output_embeddings() is None:
        raise ValueError(f"model {source!r}: {type(network).__name__} has no head that predicts tokens; expected one")
    _fuse(network)
    return network


def _fuse(network: Any) -> None:
    """Let GPT-2's approximation of GELU be computed in one pass: transformers makes eight, 7 % of a sentence's time."""
    import torch
    from transformers.activations import NewGELUActivation

    for module in list(network.modules()):
        for name, child in module.named_children():
            if type(child) is NewGELUActivation:
                setattr(module, name, torch.nn.GELU(approximate="tanh"))


def _tokenizer(source: str, hub: dict[str, Any]) -> Any:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(source, **hub)
    except Exception as error:
        raise ValueError(
            f"model {source!r}: its tokenizer cannot be loaded ({_one_line(error)}); "
            "expected tokenizer.json beside the weights"
        ) from error
    if len(tokenizer.get_vocab()) <= len(tokenizer.all_special_ids):  # what transformers makes of no files at all
        raise ValueError(
            f"model {source!r}: its tokenizer has nothing but special tokens; expected tokenizer.json beside the weights"
        )
    if not tokenizer.is_fast:
        raise ValueError(
            f"model {source!r}: its tokenizer ({type(tokenizer).__name__}) gives no character offsets; "
            "expected a fast tokenizer (tokenizer.json), which transformers' converters can often make"
        )
    return tokenizer


def _masked_model(
    name: str,
    network: Any,
    tokenizer: Any,
    size: int,
    device: str,
    dtype: str,
    revision: str | None,
    memory: Path | None,
) -> MaskedModel:
    output = tokenizer("a", return_special_tokens_mask=True)
    ids, special = output["input_ids"], output["special_tokens_mask"]
    inside = [place for place, is_special in enumerate(special) if not is_special]
    if tokenizer.mask_token_id is None or inside[:1] != [1]:
        raise ValueError(
            f"model {name!r}: its tokenizer has the mask token {tokenizer.mask_token!r} and puts {inside[:1]} tokens before a "
            "text; expected a mask token, and one token such as [CLS] or <s> before every text"
        )
    encoder = Encoder(
        tokenizer=tokenizer,
        vocabulary=vocabulary(tokenizer, size),
        prefix=ids[0],
        ends=frozenset(ids[inside[-1] + 1 :]),
        window=_positions(network),
    )
    tail = tuple(ids[inside[-1] + 1 :])
    model = MaskedModel(name, encoder, network, device, dtype, revision, tokenizer.mask_token_id, tail)
    return checked(model, memory)


def _positions(network: Any) -> int | None:
    """Return how many positions a model has; RoBERTa and its kin number them from after the padding id."""
    positions = getattr(network.config, "max_position_embeddings", None)
    table = getattr(getattr(network.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return positions - padding - 1 if positions and padding is not None else positions


def _prefix(source: str, tokenizer: Any, config: Any, prefix: str | None, size: int) -> int:
    """Return the id fed before every text."""
    if prefix is not None:
        token = tokenizer.get_vocab().get(prefix)
        if token is None:
            raise ValueError(
                f"prefix token {prefix!r} is not a token of {source!r}; its BOS is {tokenizer.bos_token!r}"
            )
        return int(token)
    # The config's BOS goes before the tokenizer's EOS, which in chat models is a turn marker.
    for candidate in (tokenizer.bos_token_id, getattr(config, "bos_token_id", None), tokenizer.eos_token_id):
        if isinstance(candidate, int) and candidate < size:
            return candidate
    raise ValueError(
        f"model {source!r} has no BOS or EOS token to feed before a text; name a token as prefix (--prefix-token)"
    )


def _ends(tokenizer: Any, network: Any, size: int) -> frozenset[int]:
    """Return every id that ends a text, by the tokenizer, the config or the generation settings."""
    named = [tokenizer.eos_token_id, network.config.get_text_config().eos_token_id]
    named.append(getattr(getattr(network, "generation_config", None), "eos_token_id", None))
    ids = {i for entry in named for i in (entry if isinstance(entry, (list, tuple)) else [entry])}
    return frozenset(int(i) for i in ids if i is not None and i < size)
