"""A cache of token tables on disk: what a model said of a text once is not computed again.

A folder for each model, and in it a file (a shard) for each process that computed something: records are appended batch
by batch, so that a run that stops can go on, and no two processes write to one file. Every process reads all shards.
"""

import hashlib
import json
import logging
import os
import secrets
import struct
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gardenpath import study

from ..models.interface import COLUMNS, Done, Model, Progress, check_columns
from ..models.ngram import NgramModel
from ..tokens.encoding import Encoded
from ..tokens.token_table import TokenTable
from .cache_folder import cache_folder
from .cache_key import identity

MARK = b"\xa7gp\x01"  # opens every record, so that reading can go on behind damage
HEAD = struct.Struct("<4sII")  # mark, length and CRC-32 of the body
BODY = struct.Struct("<16sHBI")  # key of the text, windows, columns, tokens; then float64 values, column by column

log = logging.getLogger("gardenpath")


def cached(model: Model, folder: str | Path | None = None) -> Model:
    """Return the model with a cache in `folder`, by default one in the user's cache folder.

    What differs in weights, tokenizer, prefix, dtype, quantization, window or device, or was computed by another torch or
    transformers, is kept apart. An n-gram model is returned as it is: it computes faster than a disk is read. Raises
    `ValueError` in one line where the folder cannot be written.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from gardenpath import lmscore
    >>> with TemporaryDirectory() as folder:
    ...     corpus = Path(folder, "corpus.txt")
    ...     _ = corpus.write_text("A dog barks.\\nThe dogs bark.\\nA cat sleeps.\\nThe cats sleep.\\n")
    ...     model = lmscore.estimate_ngram(corpus, order=2)
    >>> cached(model) is model
    True
    """
    if isinstance(model, (NgramModel, CachedModel)):
        return model
    return CachedModel(model, place_of(model, Path(folder) if folder is not None else cache_folder() / "scores"))


def place_of(model: Model, base: Path) -> Path:
    """Return the folder of a model's token scores, made if it is not there."""
    try:
        base.mkdir(parents=True, exist_ok=True)
        facts = identity(model, base)
        text = json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False)
        place = base / hashlib.sha256(text.encode()).hexdigest()[:32]
        place.mkdir(exist_ok=True)
        if not (place / "model.json").exists():
            study.files.write_text(place / "model.json", text + "\n")
    except OSError as error:
        raise ValueError(
            f"the cache {base} cannot be used ({error.strerror or error}); expected a folder that can be written: name another "
            "one, or do without (--no-cache)"
        ) from error
    return place


class CachedModel:
    """A model whose token tables are read from a cache where it has them, and added to it where not."""

    def __init__(self, model: Model, folder: Path) -> None:
        self.uncached = model
        self.folder = folder
        self._shards = _Shards(folder)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.uncached, name)

    def alone(self) -> "CachedModel":
        """Return the model with a cache of what it computed of one item alone, in no batch with others."""
        folder = self.folder / "alone"
        folder.mkdir(exist_ok=True)
        return CachedModel(self.uncached, folder)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.uncached.name

    @property
    def masked(self) -> bool:
        """Whether the model is a masked one."""
        return self.uncached.masked

    @property
    def encode(self) -> Callable[..., Encoded]:
        """The model's own method."""
        return self.uncached.encode

    def describe(self) -> dict[str, object]:
        """Return what a sidecar records of the model."""
        return self.uncached.describe()

    def forward(
        self,
        texts: Sequence[Encoded],
        *,
        columns: Sequence[str] = COLUMNS,
        batch_tokens: int | None = None,
        progress: Progress | None = None,
        done: Done | None = None,
    ) -> list[TokenTable]:
        """Return the token table of each text, in the order given, as the model's own `forward` does.

        Only columns that the cache does not have are computed; each batch is in the cache as soon as it is finished.
        """
        wanted = check_columns(columns) & (frozenset({"logprob"}) if self.masked else frozenset(COLUMNS))
        self._shards.refresh()
        unique = {_key(text): text for text in texts}
        known = {key: self._shards.read(key, text) for key, text in unique.items()}
        missing: dict[frozenset[str], list[Encoded]] = {}
        for key, text in unique.items():
            missing.setdefault(wanted - known[key].columns, []).append(text)
        ready = [known[_key(text)].table(wanted) for text in missing.pop(frozenset(), [])]
        count = len(ready)
        if done and ready:
            done(ready)
        if progress and ready:
            progress(count, len(unique))

        for lacking, group in missing.items():
            self.uncached.forward(
                group,
                columns=[name for name in COLUMNS if name in lacking],
                batch_tokens=batch_tokens,
                progress=_later(progress, count, len(unique)),
                done=self._keeper(known, lacking, wanted, done),
            )
            count += len(group)
        return [replace(known[_key(text)].table(wanted), encoded=text) for text in texts]

    def _keeper(
        self, known: "Mapping[bytes, _Known]", columns: frozenset[str], wanted: frozenset[str], done: Done | None
    ) -> Done:
        def keep(tables: Sequence[TokenTable]) -> None:
            self._shards.append(tables, columns)
            for table in tables:
                known[_key(table.encoded)].add(table, columns)
            if done:
                done([known[_key(table.encoded)].table(wanted) for table in tables])

        return keep


def _later(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Return a progress that counts on from what was there before."""
    return (lambda count, _: progress(before + count, total)) if progress else None


@dataclass
class _Known:
    """What is known of a text: its columns, `logprob` and `end` apart."""

    encoded: Encoded
    windows: int = 1
    values: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(self.values)

    def add(self, table: TokenTable, columns: frozenset[str]) -> None:
        self.windows = table.windows
        self.values.update((name, values) for name, values in _split(table).items() if name in columns)

    def table(self, wanted: frozenset[str]) -> TokenTable:
        n = len(self.encoded.ids)
        columns = {name: np.full(_rows(name, n), np.nan) for name in COLUMNS}
        columns.update((name, self.values[name]) for name in wanted)
        logprob = np.concatenate([columns["logprob"], columns["end"]])
        return TokenTable(
            self.encoded, logprob, columns["log_boundary"], columns["entropy"], columns["renyi"], self.windows
        )


def _split(table: TokenTable) -> dict[str, np.ndarray]:
    values = (table.logprob[:-1], table.logprob[-1:], table.log_boundary, table.entropy, table.renyi)
    return dict(zip(COLUMNS, values, strict=True))


def _rows(column: str, tokens: int) -> int:
    return {"logprob": tokens, "end": 1}.get(column, tokens + 1)


def _key(text: Encoded) -> bytes:
    """Return a hash of what decides the numbers of a text under one model."""
    facts = repr((text.fed, text.ids, text.opening, text.hidden)).encode()
    return hashlib.blake2b(facts, digest_size=16).digest()


class _Shards:
    """The records of a folder, and one file of it to which this process appends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, int] = {}
        self._records: dict[bytes, list[tuple[int, int, bytes]]] = {}
        self._shard: tuple[int, Path] | None = None
        self._broken = False

    def refresh(self) -> None:
        """Read what was appended to any shard since the last time."""
        for path in sorted(self._folder.glob("*.shard")):
            start = self._read.get(path, 0)
            with open(path, "rb") as stream:
                stream.seek(start)
                content = stream.read()
            self._read[path] = start + self._take(path, content)

    def _take(self, path: Path, content: bytes) -> int:
        """Keep the records of a piece of a shard; return how much of it is read for good."""
        taken, records, damaged = 0, 0, False
        while taken < len(content):
            if not content.startswith(MARK, taken):
                if MARK.startswith(content[taken:]):
                    break  # still being written, or never finished
                damaged = True
                following = content.find(MARK, taken)
                taken = following if following >= 0 else len(content)
                continue
            end, body = _body(content, taken)
            if body is not None:
                key, windows, columns, _ = BODY.unpack_from(body)
                self._records.setdefault(key, []).append((columns, windows, body[BODY.size :]))
                records += 1
                taken = end
            elif end > len(content) and content.find(MARK, taken + 1) < 0:
                break
            else:
                damaged = True
                taken += 1
        if damaged:
            log.warning("the cache %s is damaged: %d records of it are kept, others are computed again", path, records)
        return taken

    def read(self, key: bytes, text: Encoded) -> _Known:
        """Return what is known of a text."""
        known = _Known(text)
        for columns, windows, values in self._records.get(key, ()):
            known.windows = windows
            floats = np.frombuffer(values, dtype="<f8")
            start = 0
            for bit, name in enumerate(COLUMNS):
                if columns >> bit & 1:
                    size = _rows(name, len(text.ids))
                    known.values.setdefault(name, floats[start : start + size].copy())
                    start += size
        return known

    def append(self, tables: Sequence[TokenTable], columns: frozenset[str]) -> None:
        """Add tables to this process's shard; where that fails, say so once and go on."""
        if self._broken or not tables:
            return
        records = b"".join(_record(table, columns) for table in tables)
        try:
            with open(self._path(), "ab", buffering=0) as stream:
                stream.write(records)
        except OSError as error:
            self._broken = True
            log.warning("the cache %s cannot be written (%s); going on without", self._folder, error.strerror or error)

    def _path(self) -> Path:
        if self._shard is None or self._shard[0] != os.getpid():
            name = f"{time.time_ns():x}-{os.getpid()}-{secrets.token_hex(4)}.shard"
            self._shard = os.getpid(), self._folder / name
        return self._shard[1]


def _record(table: TokenTable, columns: frozenset[str]) -> bytes:
    values = _split(table)
    names = [name for name in COLUMNS if name in columns]
    bits = sum(1 << bit for bit, name in enumerate(COLUMNS) if name in columns)
    floats = np.concatenate([values[name] for name in names]).astype("<f8").tobytes()
    body = BODY.pack(_key(table.encoded), table.windows, bits, len(table.encoded.ids)) + floats
    return HEAD.pack(MARK, len(body), zlib.crc32(body)) + body


def _body(content: bytes, start: int) -> tuple[int, bytes | None]:
    """Return where the record at `start` says that it ends, and its body, or None where that is not whole."""
    if start + HEAD.size > len(content):
        return start + HEAD.size, None
    _, size, check = HEAD.unpack_from(content, start)
    end = start + HEAD.size + size
    body = content[start + HEAD.size : end]
    return end, body if len(body) == size >= BODY.size and zlib.crc32(body) == check else None
