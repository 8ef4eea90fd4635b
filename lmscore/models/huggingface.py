"""What causal and masked models share: what a sidecar records of them, how large batches are, memory that runs out."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from .. import identity
from ..cache.file_hashes import compute_file_hashes
from ..tokens.encoding import Encoder
from .output_layers import Head, PredictionMeasures
from .packing import END_TARGET

CPU_LOGITS, GPU_LOGITS = 2**24, 2**28  # logits held at once where a model computes them itself, counted in numbers

log = logging.getLogger("gardenpath")
Result = TypeVar("Result")


class NetworkModel(Protocol):
    """A model that wraps a network of transformers, as far as causal and masked ones are alike."""

    @property
    def name(self) -> str: ...

    @property
    def network(self) -> Any: ...

    @property
    def encoder(self) -> Encoder: ...

    @property
    def device(self) -> str: ...

    @property
    def dtype(self) -> str: ...

    @property
    def head(self) -> Head | None: ...


def describe_network(model: NetworkModel, **details: object) -> dict[str, object]:
    """Return what a sidecar records of a model, to tell it from any other; `details` are what only its kind has."""
    network, config = model.network, model.network.config
    facts: dict[str, object] = {
        "name": model.name,
        **identity.collect_network_metadata(model),
        "own_code": type(network).__module__.startswith("transformers_modules"),
        "parameters": network.num_parameters(),
        "tf32": False,  # see `inference_context`
        "window": model.encoder.window,
        "vocabulary": len(model.encoder.vocabulary.starts_with_space),
        **details,
    }
    folder = Path(config.name_or_path)
    if folder.is_dir():
        weights = {p for p in folder.iterdir() if p.suffix in (".safetensors", ".bin")}
        decisive = sorted(weights | set(folder.glob("tokenizer.json")))
        facts["sha256"] = compute_file_hashes(decisive)
    return facts


def compute_batch_budget(model: NetworkModel, cpu: int, gpu: int) -> int:
    """Return how many positions a batch has: those of the device, and fewer where whole logits are held."""
    on_gpu = model.device.startswith("cuda")
    positions = gpu if on_gpu else cpu
    if model.head:
        return positions
    return min(positions, (GPU_LOGITS if on_gpu else CPU_LOGITS) // len(model.encoder.vocabulary.starts_with_space))


def get_tolerance(model: NetworkModel) -> float:
    """Return how far apart two ways to compute a number may be, relative to its spread, by rounding in the model's dtype."""
    # Some models give float32 logits whatever their dtype.
    exact = {"float64": 2e-6, "float32": 2e-5}.get(model.dtype, 3e-2)
    return 3e-2 if getattr(model, "quantization", None) else exact


@dataclass
class MemoryBudget:
    """How many positions the memory of a device was seen to hold; what exceeds it is computed in parts."""

    device: str
    max_positions: int | None = None

    def compute_in_parts(self, compute: Callable[[int, int], Result], rows: int, size: int) -> Iterator[Result]:
        """Yield what is computed of rows of a size, at once unless memory runs out: then of half as many, from there on.

        Raises `MemoryError` where not even one row fits.
        """
        start = 0
        while start < rows:
            count = min(rows - start, max(1, self.max_positions // size)) if self.max_positions else rows - start
            try:
                values = compute(start, start + count)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if count == 1:
                    raise MemoryError(
                        f"the memory of {self.device} does not hold {size} positions; expected room for one row: "
                        "shorten the texts, or take a smaller model, dtype or quantization"
                    ) from error
                values = None
            if values is None:
                half = size * (count // 2)
                if self.max_positions is None:
                    log.warning("memory ran out at %d positions; going on with %d at a time", size * count, half)
                self.max_positions = half
                continue
            start += count
            yield values


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that a batch did not fit into the memory of its device."""
    import torch

    # The CPU's allocator has no class of error; its words differ between Windows and the others.
    messages = ("not enough memory", "can't allocate memory")
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or any(words in str(error) for words in messages)


@contextmanager
def inference_context() -> Iterator[None]:
    """Compute without gradients and in whole precision, and leave the settings of torch and of other libraries as they were."""
    import torch

    quantizer = logging.getLogger("bitsandbytes")  # it remarks on every product in float32
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32, quantizer.level
    try:
        # In float32 a GPU would else multiply with 10 bits of precision.
        torch.set_float32_matmul_precision("highest")
        torch.backends.cudnn.allow_tf32 = False
        quantizer.setLevel(logging.ERROR)
        with torch.inference_mode():
            yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]
        quantizer.setLevel(before[2])


def check_finite(model: NetworkModel, measured: PredictionMeasures, targets: np.ndarray, wanted: frozenset[str]) -> None:
    """Raise `ValueError` that names the fault where what a network gives is no number: its weights, or its dtype."""
    numbers = {"logprob": measured.logprob[targets != END_TARGET], "entropy": measured.entropy, "renyi": measured.renyi}
    if all(np.isfinite(values).all() for name, values in numbers.items() if name in wanted):
        return
    import torch

    broken = [name for name, weight in model.network.named_parameters() if not _is_finite(torch, weight)]
    if broken:
        why = f"{len(broken)} of its weights hold NaN or infinity in {model.dtype}, first {broken[0]}"
        wanted_instead = "whole weights, and a dtype that holds them (bfloat16 or float32 where it is float16)"
    else:
        why = f"its numbers overflow in {model.dtype}"
        wanted_instead = "bfloat16 or float32 (--dtype)"
    raise ValueError(f"model {model.name!r}: gives NaN or infinity, since {why}; expected {wanted_instead}")


def _is_finite(torch: Any, weight: Any) -> bool:
    skipped = weight.is_meta or not weight.is_floating_point() or weight.element_size() < 2
    return skipped or bool(torch.isfinite(weight).all())


@contextmanager
def silence_libraries() -> Iterator[None]:
    """Keep transformers' own bars and remarks from the terminal; our errors say what matters."""
    from transformers.utils import logging as talk

    spread = logging.getLogger("accelerate.big_modeling")  # it says where weights are, as was asked for
    spread_level = spread.level
    level, bars = talk.get_verbosity(), talk.is_progress_bar_enabled()
    hub = logging.getLogger("huggingface_hub")
    hub_level = hub.level
    talk.set_verbosity_error()
    talk.disable_progress_bar()
    hub.setLevel(logging.CRITICAL)
    spread.setLevel(logging.ERROR)
    try:
        yield
    finally:
        hub.setLevel(hub_level)
        spread.setLevel(spread_level)
        talk.set_verbosity(level)
        if bars:
            talk.enable_progress_bar()
