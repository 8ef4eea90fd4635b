"""Which fast paths hold for a model, remembered: probing takes longer than scoring a few hundred sentences."""

import contextlib
import hashlib
import importlib.metadata
import inspect
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gardenpath import study

from .. import identity

ProbeResult = Mapping[str, Any]
PACKAGE_FOLDER = Path(__file__).parents[1]


def load_or_probe(model: Any, folder: Path | None, probe: Callable[[], ProbeResult]) -> ProbeResult:
    """Return what `probe` finds of a loaded model, from `folder` where it was found of such a model before.

    A model whose weights are not all in memory is probed each time: what moves them about is none of its properties. Without
    a folder nothing is remembered.
    """
    if folder is None or _is_offloaded(model.network):
        return probe()
    facts = collect_probe_facts(model)
    text = json.dumps(facts, indent=1, sort_keys=True, default=str)
    path = folder / "verdicts" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"
    try:
        known: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if known["facts"] == json.loads(text):
            return dict(known["verdict"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    result = probe()
    with contextlib.suppress(OSError):  # of a cache that is only read
        study.files.write_text(path, json.dumps({"verdict": result, "facts": json.loads(text)}, indent=1))
    return result


def collect_probe_facts(model: Any) -> dict[str, object]:
    """Return what decides whether a fast path gives a model's numbers; its weights do not."""
    import torch

    network = model.network
    configuration = {k: v for k, v in network.config.to_dict().items() if k not in ("_name_or_path", "_commit_hash")}
    return {
        "kind": type(model).__name__,
        **{name: value for name, value in identity.collect_network_metadata(model).items() if name not in ("revision", "commit")},
        "configuration": configuration,
        "versions": {name: importlib.metadata.version(name) for name in ("torch", "transformers")},
        "processor": get_processor_name(torch, str(model.device)),
        "device_map": getattr(network, "hf_device_map", None),
        "vocabulary": len(model.encoder.vocabulary.starts_with_space),
        "prefix": model.encoder.prefix,
        "window": model.encoder.window,
        "code": {"lmscore": hash_own_code(), "network": _hash_network_code(type(network))},
    }


def get_processor_name(torch: Any, device: str) -> str:
    """Return the name of the card, or which instructions of the processor are used."""
    return str(torch.cuda.get_device_name(device) if device.startswith("cuda") else torch.backends.cpu.get_cpu_capability())


def _is_offloaded(network: Any) -> bool:
    """Whether some weights wait on a disk, or beside another device, until a layer needs them."""
    devices = set((getattr(network, "hf_device_map", None) or {}).values())
    return "disk" in devices or (len(devices) > 1 and "cpu" in devices) or any(p.is_meta for p in network.parameters())


@cache
def hash_own_code() -> str:
    """Return a hash of this package's code: what it decides of a model may change with it."""
    return hash_code(PACKAGE_FOLDER)


def hash_code(folder: Path) -> str:
    """Return a hash of the Python files of a folder and those below it."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _hash_network_code(network: type) -> str | None:
    """Return a hash of the code that came with a model, if it is not of transformers."""
    if network.__module__.startswith("transformers."):
        return None
    return hash_code(Path(inspect.getfile(network)).parent)
