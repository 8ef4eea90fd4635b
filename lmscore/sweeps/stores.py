"""Where a sweep keeps what it has: a folder that all machines share, or an object store by fsspec.

Every file is written whole and never changed, but for leases; who writes one that is there writes the same.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from gardenpath import study

from ..cache.shards import CacheEntry, parse_entries


class StoreError(OSError):
    """What is computed cannot be kept, so that nothing more is computed."""


class Store:
    """Files by name, below an address: a folder, or a URL of fsspec (`memory://x`, `s3://bucket/x`; the extra `cluster`)."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._filesystem: Any = None
        if "://" in address:
            fsspec: Any = study.errors.require("fsspec", "cluster")
            try:
                self._filesystem, self._root = fsspec.core.url_to_fs(self.address)
            except (ImportError, ValueError) as error:
                raise ValueError(f"store {address!r}: {error}; expected a folder, or an address of fsspec") from None

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole; raises `StoreError` in one line where that fails."""
        try:
            if self._filesystem is not None:
                self._filesystem.makedirs(str(PurePosixPath(self._root, name).parent), exist_ok=True)
                self._filesystem.pipe_file(f"{self._root}/{name}", content)
                return
            with study.files.write_atomically(Path(self.address, name)) as temporary:
                temporary.write_bytes(content)
        except OSError as error:
            raise StoreError(
                f"the store {self.address} cannot be written ({error.strerror or error}); what is in it is kept: make room or "
                "set its rights, and run again"
            ) from error

    def read(self, name: str) -> bytes:
        """Return what a file holds; raises `FileNotFoundError` where there is none."""
        if self._filesystem is not None:
            content: bytes = self._filesystem.cat_file(f"{self._root}/{name}")
            return content
        return Path(self.address, name).read_bytes()

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        if self._filesystem is not None:
            return bool(self._filesystem.exists(f"{self._root}/{name}"))
        return Path(self.address, name).exists()

    def list_files(self, folder: str) -> list[str]:
        """Return the names of the files in a folder and below it, sorted."""
        if self._filesystem is not None:
            below = f"{self._root}/{folder}"
            self._filesystem.invalidate_cache()
            found = self._filesystem.find(below) if self._filesystem.exists(below) else []
            return sorted(str(path)[len(self._root.rstrip("/")) + 1 :] for path in found)
        base = Path(self.address)
        return sorted(
            str(Path(directory, name).relative_to(base).as_posix())
            for directory, _, files in os.walk(base / folder)
            for name in files
            if not name.startswith(".")
        )


class BatchStore:
    """The finished batches of a unit: a file each, named by the keys of its texts. It is to a cached model what shards are."""

    def __init__(self, store: Store, folder: str) -> None:
        self._store, self._folder = store, folder
        self._seen: set[str] = set()
        self._entries: dict[bytes, list[CacheEntry]] = {}

    def refresh(self) -> None:
        """Read the batches that were not there before; one that is damaged is computed again."""
        for name in self._store.list_files(self._folder):
            if name not in self._seen:
                self._seen.add(name)
                self._take_entries(parse_entries(self._store.read(name)))

    def read(self, key: bytes) -> list[CacheEntry]:
        """Return the records of a key, the latest last."""
        return self._entries.get(key, [])

    def append(self, entries: Iterable[CacheEntry]) -> None:
        """Keep a batch that is finished."""
        kept = list(entries)
        keys = b"".join(entry.key + bytes([entry.columns]) for entry in kept)
        name = f"{self._folder}/{hashlib.sha256(keys).hexdigest()[:32]}.batch"
        self._store.write(name, b"".join(entry.to_bytes() for entry in kept))
        self._seen.add(name)
        self._take_entries(kept)

    def _take_entries(self, entries: Iterable[CacheEntry]) -> None:
        for entry in entries:
            self._entries.setdefault(entry.key, []).append(entry)
