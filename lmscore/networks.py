"""How a network is loaded: which class of transformers, onto which devices, in which numbers, with which adapter."""

import importlib.util
import tempfile
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gardenpath import study

from . import identity
from .cache.file_hashes import compute_file_hashes

CAUSAL_KIND, MASKED_KIND, ENCODER_DECODER_KIND = "causal", "masked", "encoder-decoder"
EXPECTED_MODEL_TEXT = (
    "a folder written by save_pretrained, the id of a causal, masked or encoder-decoder model on the Hugging Face hub such as "
    "gpt2, ngram:FILE, or pocket"
)
QUANTIZATION_PACKAGES = {"gptq": ("optimum", "gptqmodel"), "awq": ("gptqmodel",), "compressed-tensors": ("compressed_tensors",)}
DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")  # accelerate's ways to spread a network


def shorten_message(error: Exception) -> str:
    """Return the first sentence of another library's message."""
    text = str(error).strip() or type(error).__name__
    return " ".join(text.splitlines()[0].split())[:200].rstrip(".:")


def resolve_device(name: str) -> str:
    """Return the device of that name, or of `auto` a GPU where there is one."""
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        why = "not a kind of device" if first.startswith("Expected one of") else first
        raise ValueError(f"device {name!r} cannot be used here ({why}); expected auto, cpu or a GPU such as cuda") from error
    return name


def build_load_options(
    config: Any, target_device: str, dtype: str, quantization: str | None, device_map: str | Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the arguments of `from_pretrained` that say in which numbers, and where, a network is held."""
    import torch

    chosen: dict[str, Any] = {"dtype": getattr(torch, dtype)}
    stored = identity.get_quantization_kind(config)
    if quantization is not None:
        if quantization not in ("8bit", "4bit"):
            raise ValueError(f"quantization {quantization!r} is not known; expected 8bit or 4bit")
        if stored:
            raise ValueError(f"quantization {quantization!r}: the model is quantized already ({stored}); leave it out")
        study.errors.require("bitsandbytes", "quantized")
        chosen["quantization_config"] = _build_bits_config(quantization)
    if device_map is not None and isinstance(device_map, str) and device_map not in DEVICE_MAPS:
        raise ValueError(f"device_map {device_map!r} is not known; expected {', '.join(DEVICE_MAPS)}, or a device for each module")
    if stored:
        _refuse_unknown_method(str(identity.read_quantization_settings(config).get("quant_method")))
    if absent := [name for name in _list_required_packages(config) if importlib.util.find_spec(name) is None]:
        needed = " ".join(name.replace("_", "-") for name in absent)
        raise ValueError(f"the model is stored quantized ({stored}), which takes what is not installed: pip install {needed}")
    if device_map is not None or quantization or stored:
        study.errors.require("accelerate", "quantized")
        chosen["device_map"] = device_map if device_map is not None else {"": target_device}
    return chosen


def _refuse_unknown_method(method: str) -> None:
    """Refuse a way of quantizing that transformers does not know: it would take the stored numbers for plain weights."""
    from transformers.quantizers.auto import AUTO_QUANTIZATION_CONFIG_MAPPING

    known = {name.removesuffix("_4bit").removesuffix("_8bit") for name in AUTO_QUANTIZATION_CONFIG_MAPPING}
    if method not in known:
        raise ValueError(
            f"the model is stored quantized by {method!r}, which transformers {version('transformers')} does not know; expected "
            f"one of {', '.join(sorted(known))}: see the model's card for what it needs"
        )


def _list_required_packages(config: Any) -> tuple[str, ...]:
    """Return the packages by which transformers loads a model that is stored quantized."""
    return QUANTIZATION_PACKAGES.get(str(identity.read_quantization_settings(config).get("quant_method")), ())


def _build_bits_config(quantization: str) -> Any:
    """Return bitsandbytes' settings: 4 bits are NF4, its constants quantized too, and computed in bfloat16 (QLoRA's choice)."""
    import torch
    from transformers import BitsAndBytesConfig

    if quantization == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=torch.bfloat16
    )


def list_architectures(kind: str) -> set[str]:
    """Return the names of the architectures of a kind that transformers has."""
    from transformers.models.auto import modeling_auto as auto

    mapping = {
        CAUSAL_KIND: auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MASKED_KIND: auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        ENCODER_DECODER_KIND: auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    }[kind]
    return {name for names in mapping.values() for name in ([names] if isinstance(names, str) else names)}


def find_model_kind(config: Any) -> str:
    """Return which kind of model a configuration is of."""
    if config.is_encoder_decoder:
        return ENCODER_DECODER_KIND
    architectures = set(config.architectures or [])
    return (
        MASKED_KIND
        if list_architectures(MASKED_KIND) & architectures and not list_architectures(CAUSAL_KIND) & architectures
        else CAUSAL_KIND
    )


def load_network(source: str, hub: Mapping[str, Any], options: Mapping[str, Any], kind: str) -> Any:
    """Return a network with all its weights, ready to compute."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

    auto = {CAUSAL_KIND: AutoModelForCausalLM, MASKED_KIND: AutoModelForMaskedLM, ENCODER_DECODER_KIND: AutoModelForSeq2SeqLM}[kind]
    folder = tempfile.TemporaryDirectory(prefix="gardenpath-") if "device_map" in options else None
    offload = {"offload_folder": folder.name} if folder else {}
    try:
        loaded: Any = auto.from_pretrained(source, **hub, **options, **offload, output_loading_info=True)
    except ImportError as error:
        raise ValueError(
            f"model {source!r} needs a package that is not installed ({shorten_message(error)}); install it with pip"
        ) from error
    except Exception as error:
        raise ValueError(f"model {source!r} cannot be loaded ({shorten_message(error)}); expected {EXPECTED_MODEL_TEXT}") from error
    network, loading = loaded
    network.offload_folder = folder  # it lives as long as what it holds is needed
    if options["dtype"] == torch.float64 and hasattr(network, "set_experts_implementation"):
        network.set_experts_implementation("eager")  # the faster ones have no float64
    missing = sorted(loading["missing_keys"])
    if missing:
        raise ValueError(
            f"model {source!r}: {len(missing)} weights are not in its files, first {missing[0]}, and would be random; "
            "expected the complete weights of a language model"
        )
    if network.get_output_embeddings() is None:
        raise ValueError(f"model {source!r}: {type(network).__name__} has no head that predicts tokens; expected one")
    _refuse_split_weights(source, network)
    _refuse_partial_blocks(source, network)
    _fuse_activations(network)
    return network.eval()


def _refuse_split_weights(source: str, network: Any) -> None:
    """Refuse an output layer on a disk that shares its weights with an embedding elsewhere: it would have none when called."""
    if getattr(network.config.get_text_config(), "tie_word_embeddings", False):
        ends = (network.get_input_embeddings(), network.get_output_embeddings())
        one, other = ((*_list_module_devices(network, module), "the device")[0] for module in ends)
        if one != other and "disk" in (one, other):
            raise ValueError(
                f"model {source!r}: its embedding and output layer share weights, and the device_map has one on {one}, the "
                f"other on {other}; expected both on one"
            )


def _refuse_partial_blocks(source: str, network: Any) -> None:
    """Refuse a layer in 4 bits whose rows are no whole blocks: on a processor bitsandbytes fails when it first computes."""
    for name, layer in network.named_modules():
        state = getattr(getattr(layer, "weight", None), "quant_state", None)
        if state is not None and layer.weight.device.type == "cpu" and state.shape[-1] % state.blocksize:
            raise ValueError(
                f"model {source!r}: layer {name} is {state.shape[-1]} wide, and 4 bits are stored in blocks of {state.blocksize}, "
                "which bitsandbytes cannot compute on a processor unless they are whole; expected 8bit, a GPU, or no quantization"
            )


def _list_module_devices(network: Any, module: Any) -> list[Any]:
    """Return where the map of a spread network has a module, the nearest entry first."""
    spread = getattr(network, "hf_device_map", None) or {}
    own = next((name for name, known in network.named_modules() if known is module), "")
    nearest = sorted(spread, key=len, reverse=True)
    return [spread[name] for name in nearest if not name or f"{own}.".startswith(f"{name}.")]


def _fuse_activations(network: Any) -> None:
    """Let GPT-2's approximation of GELU be computed in one pass: transformers makes eight, 7 % of a sentence's time."""
    import torch
    from transformers.activations import NewGELUActivation

    for module in list(network.modules()):
        for name, child in module.named_children():
            if type(child) is NewGELUActivation:
                setattr(module, name, torch.nn.GELU(approximate="tanh"))


def find_input_device(network: Any, default: str) -> str:
    """Return the device that a network's inputs go to: of one spread over several, where its embedding computes."""
    spread = getattr(network, "hf_device_map", None)
    if not spread:
        return default
    module_devices = _list_module_devices(network, network.get_input_embeddings())
    computing = [input_device for input_device in (*module_devices, *spread.values()) if input_device not in ("cpu", "disk")]
    input_device = computing[0] if computing and (not module_devices or module_devices[0] in ("disk", computing[0])) else "cpu"
    return f"cuda:{input_device}" if isinstance(input_device, int) else str(input_device)


def count_outputs(network: Any) -> int:
    """Return how many tokens a network predicts among."""
    head = network.get_output_embeddings()
    rows = getattr(head, "out_features", None)  # a quantized head's weights have another shape
    return int(rows if rows is not None else head.weight.shape[0])


def add_adapter(network: Any, adapter: str | Path) -> tuple[Any, dict[str, object]]:
    """Return a network with an adapter of PEFT in its layers, unmerged, and what tells the adapter from any other.

    It is a folder, or an id on the hub. Raises `ValueError` in one line for what does not fit into this network.
    """
    study.errors.require("peft", "adapters")
    from peft import PeftConfig, PeftModel

    folder = _find_adapter_folder(adapter)
    try:
        config: Any = PeftConfig.from_pretrained(str(folder))
        if config.is_prompt_learning:
            raise ValueError(f"is of the type {config.peft_type.value}, which adds tokens to each text")
        with warnings.catch_warnings(record=True) as remarks:
            warnings.simplefilter("always")
            wrapped: Any = PeftModel.from_pretrained(network, str(folder))
        if complaints := [str(remark.message) for remark in remarks if "missing adapter keys" in str(remark.message)]:
            raise ValueError(complaints[0])
    except Exception as error:
        raise ValueError(
            f"adapter {str(adapter)!r} does not fit into the model ({shorten_message(error)}); expected one of PEFT "
            "that was trained on "
            "it and changes its layers, such as LoRA"
        ) from error
    files = sorted(path for path in folder.iterdir() if path.name.startswith("adapter_"))
    known = {
        "name": str(adapter),
        "type": config.peft_type.value,
        "trained_on": config.base_model_name_or_path,
        "sha256": compute_file_hashes(files),
    }
    return wrapped.get_base_model().eval(), known


def _find_adapter_folder(adapter: str | Path) -> Path:
    """Return the folder of an adapter, fetched from the hub where it is not here."""
    folder = Path(adapter)
    if not folder.is_dir():
        from huggingface_hub import snapshot_download

        try:
            folder = Path(snapshot_download(str(adapter), allow_patterns=["adapter_*"]))
        except Exception as error:
            raise ValueError(
                f"adapter {str(adapter)!r} is neither a folder here nor on the hub ({shorten_message(error)}); "
                "expected what PEFT's "
                "save_pretrained wrote"
            ) from error
    if not (folder / "adapter_config.json").exists():
        raise ValueError(f"adapter {adapter}: no adapter_config.json there; expected what PEFT's save_pretrained wrote")
    return folder
