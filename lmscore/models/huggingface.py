"""What causal and masked models share: what a sidecar records of them, how large batches are, memory that runs out."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..cache.file_hashes import file_hashes

if TYPE_CHECKING:
    from .causal import CausalModel
    from .masked import MaskedModel

CPU_LOGITS, GPU_LOGITS = 2**24, 2**28  # logits held at once where a model computes them itself, counted in numbers


def described(model: "CausalModel | MaskedModel", **details: object) -> dict[str, object]:
    """Return what a sidecar records of a model, to tell it from any other; `details` are what only its kind has."""
    import torch

    network, config = model.network, model.network.config
    facts: dict[str, object] = {
        "name": model.name,
        "architecture": type(network).__name__,
        "own_code": type(network).__module__.startswith("transformers_modules"),
        "parameters": network.num_parameters(),
        "revision": getattr(config, "_commit_hash", None) or model.revision,
        "dtype": model.dtype,
        "tf32": torch.get_float32_matmul_precision() != "highest",
        "device": model.device,
        "attention": getattr(config, "_attn_implementation", None),
        "window": model.encoder.window,
        "vocabulary": len(model.encoder.vocabulary.begins),
        **details,
    }
    folder = Path(config.name_or_path)
    if folder.is_dir():
        weights = {p for p in folder.iterdir() if p.suffix in (".safetensors", ".bin")}
        decisive = sorted(weights | set(folder.glob("tokenizer.json")))
        facts["sha256"] = file_hashes(decisive)
    return facts


def budget(model: "CausalModel | MaskedModel", cpu: int, gpu: int) -> int:
    """Return how many positions a batch has: those of the device, and fewer where whole logits are held."""
    on_gpu = model.device.startswith("cuda")
    positions = gpu if on_gpu else cpu
    if model.head:
        return positions
    return min(positions, (GPU_LOGITS if on_gpu else CPU_LOGITS) // len(model.encoder.vocabulary.begins))


def tolerance(model: "CausalModel | MaskedModel") -> float:
    """Return how far apart two ways to compute a number may be, relative to its spread, by rounding in the model's dtype."""
    # Some models give float32 logits whatever their dtype.
    exact = {"float64": 2e-6, "float32": 2e-5}.get(model.dtype, 3e-2)
    return 3e-2 if getattr(model, "quantization", None) else exact


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that a batch did not fit into the memory of its device."""
    import torch

    # The CPU's allocator has no class of error; its words differ between Windows and the others.
    messages = ("not enough memory", "can't allocate memory")
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or any(words in str(error) for words in messages)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' own bars and remarks from the terminal; our errors say what matters."""
    from transformers.utils import logging as talk

    level, bars = talk.get_verbosity(), talk.is_progress_bar_enabled()
    hub = logging.getLogger("huggingface_hub")
    hub_level = hub.level
    talk.set_verbosity_error()
    talk.disable_progress_bar()
    hub.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        hub.setLevel(hub_level)
        talk.set_verbosity(level)
        if bars:
            talk.enable_progress_bar()
