"""What a model is called, and what tells its numbers from any other's: for tables, sidecars, caches and verdicts alike."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

DEFAULT_DTYPE = "float32"  # the dtype that names do not state


def format_model_label(
    name: str,
    *,
    revision: str | None = None,
    adapter: str | None = None,
    quantization: str | None = None,
    dtype: str = DEFAULT_DTYPE,
    kind: str = "",
) -> str:
    """Return what the column `model` calls a model: whatever of it was asked for that changes numbers.

    >>> format_model_label("gpt2"), format_model_label("gpt2", revision="step1000", dtype="bfloat16")
    ('gpt2', 'gpt2@step1000 (bfloat16)')
    >>> format_model_label("gpt2", adapter="my/lora", quantization="4bit")
    'gpt2+my/lora (4bit)'
    """
    details = [detail for detail in (kind, quantization, dtype if dtype != DEFAULT_DTYPE else "") if detail]
    whole = name + (f"@{revision}" if revision else "") + (f"+{adapter}" if adapter else "")
    return f"{whole} ({', '.join(details)})" if details else whole


def collect_network_metadata(model: Any) -> dict[str, Any]:
    """Return what is known of a loaded network that its numbers depend on, besides the weights themselves.

    `commit` is that of the hub, `adapter` and `get_quantization_kind` are None where there are none, `devices` those that hold
    weights.
    """
    network, config = model.network, model.network.config
    inside = getattr(network, "peft_config", None) or {}  # what a caller has put there
    locations = (getattr(network, "hf_device_map", None) or {"": model.device}).values()
    return {
        "architecture": type(network).__name__,
        "revision": model.revision,
        "commit": model.commit,
        "dtype": model.dtype,
        "quantization": model.quantization,
        "quantization_settings": read_quantization_settings(config) or None,
        "adapter": dict(model.adapter) if model.adapter else ({k: str(v) for k, v in inside.items()} or None),
        "attention": getattr(config, "_attn_implementation", None),
        "device": model.device,
        "devices": sorted({f"cuda:{location}" if isinstance(location, int) else str(location) for location in locations}),
    }


def read_quantization_settings(config: Any) -> dict[str, Any]:
    """Return how a network's weights are quantized, by its configuration; nothing where they are not."""
    settings = getattr(config, "quantization_config", None)
    if settings is None:
        return {}
    stated: Mapping[str, Any] = settings if isinstance(settings, Mapping) else settings.to_dict()
    values = {key: getattr(value, "value", value) for key, value in stated.items()}  # some are enumerations
    return {key: value if isinstance(value, (int, float, bool, str)) else str(value) for key, value in values.items()}


def get_quantization_kind(config: Any) -> str | None:
    """Return the kind of quantization of a loaded network, such as 4bit (of bitsandbytes) or gptq 4bit; None without one."""
    settings = read_quantization_settings(config)
    if not settings:
        return None
    method = str(settings.get("quant_method", "quantized"))
    if method.startswith("bitsandbytes"):
        return "8bit" if settings.get("load_in_8bit") else "4bit"
    bits = settings.get("bits")
    return f"{method} {bits}bit" if bits else method


def get_weight_dtype(network: Any) -> str:
    """Return the number type that most of a network's weights have, those of quantized ones left out."""
    sizes: dict[str, int] = {}
    for weight in network.parameters():
        if weight.is_floating_point() and weight.element_size() > 1:
            sizes[str(weight.dtype)] = sizes.get(str(weight.dtype), 0) + weight.numel()
    return max(sizes, key=lambda name: sizes[name]).removeprefix("torch.") if sizes else DEFAULT_DTYPE


def hash_network(network: Any) -> str:
    """Return a hash of a network as it is in memory: its modules, its configuration and all weights that are not on a disk."""
    import torch

    digest = hashlib.sha256(str(network).encode())
    settings = {name: value for name, value in network.config.to_dict().items() if name not in ("_name_or_path", "_commit_hash")}
    digest.update(json.dumps(settings, sort_keys=True, default=str).encode())
    seen: set[int] = set()
    for name, values in sorted(network.state_dict().items()):
        if not isinstance(values, torch.Tensor) or values.is_meta or (values.numel() and values.data_ptr() in seen):
            continue
        seen.add(values.data_ptr())  # of tied weights one
        digest.update(f"{name} {values.dtype} {tuple(values.shape)}".encode())
        digest.update(_compute_checksums(values.detach()))
    return digest.hexdigest()


def _compute_checksums(values: Any) -> bytes:
    """Return sums that change with any bit of a tensor or the order of its numbers; a card computes them where the weights are."""
    import torch

    raw = values.contiguous().flatten().view(torch.uint8)
    if short := -len(raw) % 8:
        raw = torch.cat([raw, raw.new_zeros(short)])
    words = raw.view(torch.int64)
    block = 2**20
    generator = torch.Generator().manual_seed(0)
    factors = torch.randint(-(2**62), 2**62, (min(block, len(words)),), generator=generator).mul_(2).add_(1)
    factors = factors.to(words.device)
    sums = [(part * factors[: len(part)]).sum() for part in words.split(block)]
    return bytes(torch.stack(sums).cpu().numpy().tobytes()) if sums else b""
