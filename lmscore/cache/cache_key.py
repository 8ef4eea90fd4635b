"""What tells a model's numbers from any other's: the key of its cache."""

import hashlib
import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import identity
from ..models.endpoint import EndpointModel
from ..models.interface import Model
from .file_hashes import compute_file_hashes

SCHEMA = 3  # goes up when the same key would mean other numbers, or a record is laid out otherwise
MODEL_FILE_SUFFIXES = (".safetensors", ".bin", ".json", ".py")  # files of a model's folder that its numbers depend on


def compute_cache_key(model: Model, folder: Path | None) -> dict[str, object]:
    """Return what tells a model's numbers from any other's; hashes of files are remembered in `folder`."""
    facts: Any = model
    if isinstance(model, EndpointModel):
        return {
            "schema": SCHEMA,
            "kind": type(model).__name__,
            **model.collect_identity(),
            "tokenizer": _hash_tokenizer(facts.encoder),
        }
    known = identity.collect_network_metadata(model)
    return {
        "schema": SCHEMA,
        "kind": type(model).__name__,
        **{name: value for name, value in known.items() if name not in ("revision", "device")},
        "devices": sorted({str(name).partition(":")[0] for name in (*known["devices"], known["device"])}),
        "weights": _identify_weights(facts, folder),
        "in_memory": identity.hash_network(facts.network),
        "tokenizer": _hash_tokenizer(facts.encoder),
        "prefix": facts.encoder.prefix,
        "ends": sorted(facts.encoder.end_ids),
        "around": [getattr(model, "mask", None), *getattr(model, "tail", ())],
        "window": facts.encoder.window,
        "windows_repeat_prefix": getattr(model, "repeats_prefix", None),
        "versions": {name: importlib.metadata.version(name) for name in ("torch", "transformers")},
    }


def _hash_tokenizer(encoder: Any) -> str:
    state = json.loads(encoder.tokenizer.backend_tokenizer.to_str())
    whole = {**state, "padding": None, "truncation": None}  # scoring sets both, and neither changes a token
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _identify_weights(model: Any, folder: Path | None) -> Mapping[str, str]:
    """Return the commit of a model of the hub, or the hashes of its files; nothing where only memory holds it."""
    config = model.network.config
    source = Path(config.name_or_path)
    if model.commit:
        return {"repository": config.name_or_path, "commit": model.commit}
    if config.name_or_path and source.is_dir():
        return compute_file_hashes(sorted(p for p in source.iterdir() if p.suffix in MODEL_FILE_SUFFIXES), folder)
    return {}
