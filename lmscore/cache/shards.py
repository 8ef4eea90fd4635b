"""Records on disk, in files (shards) to which processes append: none is lost, and damage costs what it touched.

Each process has a shard of its own, batch by batch, and reads those of all. Shards of processes that are gone are put
together when they are many, or when one is damaged; a process holds a lock on its own as long as it may append.
"""

import contextlib
import logging
import os
import secrets
import struct
import sys
import time
import weakref
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gardenpath import study

if sys.platform != "win32":  # which does not remove a file that a process has open
    import fcntl

ENTRY_MARK = b"\xa7gp\x01"  # opens every record, so that reading can go on behind damage
HEADER_STRUCT = struct.Struct("<4sII")  # mark, length and CRC-32 of the body
BODY_STRUCT = struct.Struct("<16sHBI")  # key, windows, columns, tokens; then float64 values, column by column
MAX_IDLE_SHARDS = 8  # so many shards of processes that are gone become one

log = logging.getLogger("gardenpath")


class CacheEntry(NamedTuple):
    """What a model said of a text: `columns` are bits, `values` float64 of one column after the other."""

    key: bytes
    windows: int
    columns: int
    tokens: int
    values: bytes

    def to_bytes(self) -> bytes:
        """Return the record as it stands in a shard."""
        body = BODY_STRUCT.pack(*self[:4]) + self.values
        return HEADER_STRUCT.pack(ENTRY_MARK, len(body), zlib.crc32(body)) + body


class Shards:
    """The records of a folder, and one file of it to which this process appends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read_sizes: dict[Path, int] = {}
        self._entries: dict[bytes, list[CacheEntry]] = {}
        self._shard: tuple[int, int] | None = None
        self._is_broken = self._is_tidied = False

    def refresh(self) -> None:
        """Read what was appended to any shard since the last time; the first time, put shards in order."""
        damaged = self._scan()
        if not self._is_tidied:
            self._is_tidied = True
            with contextlib.suppress(OSError):
                self._tidy(damaged)

    def read(self, key: bytes) -> Sequence[CacheEntry]:
        """Return the records of a key, the latest last."""
        return self._entries.get(key, ())

    def append(self, entries: Sequence[CacheEntry]) -> None:
        """Add records to this process's shard, all at once; where that fails, say so once and go on."""
        if self._is_broken or not entries:
            return
        try:
            content = b"".join(entry.to_bytes() for entry in entries)
            while content:
                content = content[os.write(self._open_own_shard(), content) :]
        except OSError as error:
            self._is_broken = True
            log.warning("the cache %s cannot be written (%s); going on without", self._folder, error.strerror or error)

    def _scan(self) -> bool:
        """Read what is new; return whether some of it is damaged."""
        damaged = False
        for path in sorted(self._folder.glob("*.shard")):
            start = self._read_sizes.get(path, 0)
            try:
                with open(path, "rb") as stream:
                    stream.seek(start)
                    content = stream.read()
            except FileNotFoundError:  # put into another one meanwhile
                continue
            taken, whole = self._take_entries(path, content)
            self._read_sizes[path] = start + taken
            damaged |= not whole
        return damaged

    def _take_entries(self, path: Path, content: bytes) -> tuple[int, bool]:
        """Keep the records of a piece of a shard; return how much of it is read for good, and whether it was whole."""
        taken, entry_count, damaged = 0, 0, False
        while taken < len(content):
            if not content.startswith(ENTRY_MARK, taken):
                if ENTRY_MARK.startswith(content[taken:]):
                    break  # still being written, or never finished
                damaged = True
                following = content.find(ENTRY_MARK, taken)
                taken = following if following >= 0 else len(content)
                continue
            end, body = _read_body(content, taken)
            if body is not None:
                entry = _parse_entry(body)
                self._entries.setdefault(entry.key, []).append(entry)
                entry_count += 1
                taken = end
            elif end > len(content) and content.find(ENTRY_MARK, taken + 1) < 0:
                break
            else:
                damaged = True
                taken += 1
        if damaged:
            log.warning("the cache %s is damaged: %d records of it are kept, others are computed again", path, entry_count)
        return taken, not damaged

    def _tidy(self, damaged: bool) -> None:
        """Write the records of shards that nobody appends to into one, if one is damaged or they are many."""
        if not damaged and len(self._read_sizes) < MAX_IDLE_SHARDS:
            return
        with contextlib.ExitStack() as stack:
            idle = [path for path in sorted(self._read_sizes) if stack.enter_context(_hold_lock(path))]
            if not idle or (not damaged and len(idle) < MAX_IDLE_SHARDS):
                return
            self._scan()  # what came before the locks
            path = self._folder / _make_shard_name()
            with study.files.write_atomically(path) as temporary, open(temporary, "wb") as stream:
                for entries in self._entries.values():
                    stream.writelines(entry.to_bytes() for entry in _select_latest(entries))
            self._read_sizes[path] = path.stat().st_size
            for old in idle:
                with contextlib.suppress(OSError):
                    old.unlink()

    def _open_own_shard(self) -> int:
        """Return the open shard of this process."""
        if self._shard is None or self._shard[0] != os.getpid():
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
            handle = os.open(self._folder / _make_shard_name(), flags, 0o666)
            weakref.finalize(self, os.close, handle)
            if sys.platform != "win32":
                with contextlib.suppress(OSError):  # of a disk that has no locks
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._shard = os.getpid(), handle
        return self._shard[1]


def _parse_entry(body: bytes) -> CacheEntry:
    key, windows, columns, tokens = BODY_STRUCT.unpack_from(body)
    return CacheEntry(key, windows, columns, tokens, body[BODY_STRUCT.size :])


def parse_entries(content: bytes) -> list[CacheEntry]:
    """Return the records of a file that was written whole; none where it is damaged."""
    entries, start = [], 0
    while start < len(content):
        end, body = _read_body(content, start)
        if body is None:
            return []
        entries.append(_parse_entry(body))
        start = end
    return entries


def _make_shard_name() -> str:
    """Return a name for a shard; those of later ones sort later."""
    return f"{time.time_ns():x}-{os.getpid()}-{secrets.token_hex(4)}.shard"


@contextlib.contextmanager
def _hold_lock(path: Path) -> Iterator[bool]:
    """Hold the lock of a shard, if no process appends to it; say whether that is so."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        yield False
        return
    try:
        if sys.platform != "win32":
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        yield False
        return
    if sys.platform == "win32":
        os.close(handle)  # what is open cannot be removed
    try:
        yield path.exists()
    finally:
        if sys.platform != "win32":
            os.close(handle)


def _select_latest(entries: Sequence[CacheEntry]) -> list[CacheEntry]:
    """Return the records of which a later one does not hold all columns."""
    return [
        entry
        for index, entry in enumerate(entries)
        if not any(entry.columns & ~newer.columns == 0 for newer in entries[index + 1 :])
    ]


def _read_body(content: bytes, start: int) -> tuple[int, bytes | None]:
    """Return where the record at `start` says that it ends, and its body, or None where that is not whole."""
    if start + HEADER_STRUCT.size > len(content):
        return start + HEADER_STRUCT.size, None
    _, size, check = HEADER_STRUCT.unpack_from(content, start)
    end = start + HEADER_STRUCT.size + size
    body = content[start + HEADER_STRUCT.size : end]
    return end, body if len(body) == size >= BODY_STRUCT.size and zlib.crc32(body) == check else None
