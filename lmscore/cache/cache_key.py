"""What tells a model's numbers from any other's: the key of its cache."""

import hashlib
import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..models.interface import Model
from .file_hashes import file_hashes

SCHEMA = 2  # goes up when the same key would mean other numbers, or a record is laid out otherwise
DECISIVE = (".safetensors", ".bin", ".json", ".py")  # files of a model's folder that its numbers depend on


def identity(model: Model, folder: Path) -> dict[str, object]:
    """Return what tells a model's numbers from any other's; hashes of files are remembered in `folder`."""
    facts: Any = model
    tokenizer = facts.encoder.tokenizer
    return {
        "schema": SCHEMA,
        "kind": type(model).__name__,
        "network": type(facts.network).__name__,
        "weights": _weights(facts.network, folder),
        "adapter": sorted(getattr(facts.network, "peft_config", None) or ()),
        "tokenizer": _tokenizer(tokenizer),
        "prefix": facts.encoder.prefix,
        "ends": sorted(facts.encoder.ends),
        "around": [getattr(model, "mask", None), *getattr(model, "tail", ())],
        "window": facts.encoder.window,
        "windows_repeat_prefix": getattr(model, "repeats", None),
        "dtype": facts.dtype,
        "quantization": str(getattr(model, "quantization", None)),
        "device": str(facts.device).partition(":")[0],
        "versions": {name: importlib.metadata.version(name) for name in ("torch", "transformers")},
    }


def _tokenizer(tokenizer: Any) -> str:
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    whole = {**state, "padding": None, "truncation": None}  # scoring sets both, and neither changes a token
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _weights(network: Any, folder: Path) -> Mapping[str, str]:
    """Return the commit of a model of the hub, else the hashes of its files, else that of the weights in memory."""
    config = network.config
    source = Path(config.name_or_path)
    if not getattr(network, "peft_config", None):  # an adapter's weights are in neither
        if getattr(config, "_commit_hash", None):
            return {"repository": config.name_or_path, "commit": config._commit_hash}
        if config.name_or_path and source.is_dir():
            return file_hashes(sorted(p for p in source.iterdir() if p.suffix in DECISIVE), folder)
    import torch

    digest = hashlib.sha256(config.to_json_string().encode())
    for name, values in sorted(network.state_dict().items()):
        digest.update(name.encode())
        digest.update(values.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return {"memory": digest.hexdigest()}
