"""Hashes of files, which for large weights take seconds: what has not changed is not read again."""

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gardenpath import study

_known_hashes: dict[str, list[Any]] = {}  # path: size, time of change in ns, SHA-256; of this process


def compute_file_hashes(paths: Iterable[Path], folder: Path | None = None) -> dict[str, str]:
    """Return the SHA-256 of files by name; a file of the same path, size and time of change is not read again.

    This process remembers it; with `folder`, a file there does for others.
    """
    hash_file = folder / "hashes.json" if folder else None
    if hash_file:
        with contextlib.suppress(OSError, ValueError):
            _known_hashes.update(json.loads(hash_file.read_text("utf-8")))
    before = dict(_known_hashes)
    hashes = {}
    for path in paths:
        state, absolute_path = path.stat(), str(path.resolve())
        if _known_hashes.get(absolute_path, [])[:2] != [state.st_size, state.st_mtime_ns]:
            _known_hashes[absolute_path] = [state.st_size, state.st_mtime_ns, study.files.hash_file(path)]
        hashes[path.name] = str(_known_hashes[absolute_path][2])
    if hash_file and _known_hashes != before:
        with contextlib.suppress(OSError):  # of a cache that is only read
            study.files.write_text(hash_file, json.dumps(_known_hashes, indent=1))
    return hashes
