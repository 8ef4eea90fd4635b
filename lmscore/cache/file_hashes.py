"""Hashes of files, which for large weights take seconds: what has not changed is not read again."""

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gardenpath import study

_known: dict[str, list[Any]] = {}  # path: size, time of change in ns, SHA-256; of this process


def file_hashes(paths: Iterable[Path], folder: Path | None = None) -> dict[str, str]:
    """Return the SHA-256 of files by name; a file of the same path, size and time of change is not read again.

    This process remembers it; with `folder`, a file there does for others.
    """
    memory = folder / "hashes.json" if folder else None
    if memory:
        with contextlib.suppress(OSError, ValueError):
            _known.update(json.loads(memory.read_text("utf-8")))
    before = dict(_known)
    hashes = {}
    for path in paths:
        state, place = path.stat(), str(path.resolve())
        if _known.get(place, [])[:2] != [state.st_size, state.st_mtime_ns]:
            _known[place] = [state.st_size, state.st_mtime_ns, study.files.sha256(path)]
        hashes[path.name] = str(_known[place][2])
    if memory and _known != before:
        with contextlib.suppress(OSError):  # of a cache that is only read
            study.files.write_text(memory, json.dumps(_known, indent=1))
    return hashes
