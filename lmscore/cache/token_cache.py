"""A cache of token tables on disk: what a model said of a text once is not computed again.

A run that stops can go on, and several may go on at once: see `shards`. A batch is kept, and computed again, as a whole, since
numbers move with what else is in it.
"""

import contextlib
import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gardenpath import study

from ..models.endpoint import EndpointModel
from ..models.interface import COLUMNS, Done, Known, Model, Progress, check_columns
from ..models.ngram import NgramModel
from ..tokens.encoding import Encoded
from ..tokens.token_table import TokenTable
from .cache_folder import cache_folder
from .cache_key import cache_key
from .shards import Record, Shards

MORE = 1 << 7  # in place of columns: all rows of one further predictor, whose name is in the key

log = logging.getLogger("gardenpath")


class Records(Protocol):
    """Where records are kept: what `Shards` are."""

    def refresh(self) -> None: ...

    def read(self, key: bytes) -> Sequence[Record]: ...

    def append(self, records: Sequence[Record]) -> None: ...


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
    if isinstance(model, EndpointModel) and model.revision is None:
        log.info("%s is not cached: nothing says which weights its server has loaded; declare a revision", model.name)
        return model
    return CachedModel(model, place_of(model, Path(folder) if folder is not None else cache_folder() / "scores"))


def place_of(model: Model, base: Path) -> Path:
    """Return the folder of a model's token scores, made if it is not there."""
    try:
        base.mkdir(parents=True, exist_ok=True)
        facts = cache_key(model, base)
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

    def __init__(self, model: Model, folder: Path, records: Records | None = None) -> None:
        self.uncached = model
        self.folder = folder
        self._shards = Shards(folder) if records is None else records

    def __getattr__(self, name: str) -> Any:
        return getattr(self.uncached, name)

    def alone(self) -> "CachedModel":
        """Return the model with a cache of what it computed of one item alone, in no batch with others."""
        folder = self.folder / "alone"
        with contextlib.suppress(OSError):  # a cache that is only read: what is added says so, once
            folder.mkdir(exist_ok=True)
        return CachedModel(self.uncached, folder)

    def around(self, other: Model) -> "CachedModel":
        """Return another way to compute this model's numbers with the same cache; `beside` tells its texts apart."""
        return CachedModel(other, self.folder, self._shards)

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
        known: Known | None = None,
    ) -> list[TokenTable]:
        """Return the token table of each text, in the order given, as the model's own `forward` does.

        Only batches of which the cache lacks something are computed, each as a whole: numbers move with what else is in a batch,
        so that a run that goes on where one stopped gives what that one would have. Each is in the cache as soon as it is
        finished. (`known` is for models; a cache has its own.)
        """
        wanted = check_columns(columns, more=not self.masked)
        wanted = wanted & {"logprob"} if self.masked else wanted
        self._shards.refresh()
        unique = {_key(text): text for text in texts}
        found = {key: self._known(key, text, wanted) for key, text in unique.items()}
        lacking = {key for key in unique if wanted - found[key].columns}
        ready = [found[key].table(wanted) for key in unique if key not in lacking]
        if done and ready:
            done(ready)
        if progress and ready:
            progress(len(ready), len(unique))
        if lacking:
            alike: dict[object, list[Encoded]] = {}  # the same tokens, which may stand beside others
            for text in unique.values():
                alike.setdefault(_fed(text), []).append(text)

            def keep(tables: Sequence[TokenTable]) -> None:
                each = [replace(table, encoded=text) for table in tables for text in alike[_fed(table.encoded)]]
                self._shards.append([record for table in each for record in _records(table, wanted)])
                for table in each:
                    found[_key(table.encoded)].add(table, wanted)
                if done:
                    done([found[_key(table.encoded)].table(wanted) for table in tables])

            self.uncached.forward(
                [*unique.values()],
                columns=[*(name for name in COLUMNS if name in wanted), *sorted(wanted - {*COLUMNS})],
                batch_tokens=batch_tokens,
                progress=progress,
                done=keep,
                known=lambda text: lacking.isdisjoint(map(_key, alike[_fed(text)])),
            )
        return [replace(found[_key(text)].table(wanted), encoded=text) for text in texts]

    def recall(self, facts: str) -> str | None:
        """Return the text that is kept under `facts`, which name all that decides it beside the model; None where none is."""
        key = _key_of(f"text {facts}")
        if not self._shards.read(key):
            self._shards.refresh()
        records = self._shards.read(key)
        return records[-1].values.decode() if records else None

    def keep(self, texts: Mapping[str, str]) -> None:
        """Keep texts, each under its facts."""
        self._shards.append([Record(_key_of(f"text {facts}"), 1, 0, 0, text.encode()) for facts, text in texts.items()])

    def _known(self, key: bytes, text: Encoded, wanted: frozenset[str]) -> "_Known":
        """Return what is known of a text; of further predictors, what is wanted. Later records come last."""
        known = _Known(text)
        for record in self._shards.read(key):
            known.windows = record.windows
            floats = np.frombuffer(record.values, dtype="<f8")
            start = 0
            for bit, name in enumerate(COLUMNS):
                if record.columns >> bit & 1:
                    size = _rows(name, len(text.ids))
                    known.values[name] = floats[start : start + size].copy()
                    start += size
        for name in wanted - {*COLUMNS}:
            for record in self._shards.read(_key(text, name)):
                known.values[name] = np.frombuffer(record.values, dtype="<f8").reshape(-1, len(text.ids) + 1)
        return known


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
        more = {name: self.values[name] for name in sorted(wanted - {*COLUMNS})}
        return TokenTable(
            self.encoded, logprob, columns["log_boundary"], columns["entropy"], columns["renyi"], self.windows, more
        )


def _split(table: TokenTable) -> dict[str, np.ndarray]:
    values = (table.logprob[:-1], table.logprob[-1:], table.log_boundary, table.entropy, table.renyi)
    return dict(zip(COLUMNS, values, strict=True)) | dict(table.more)


def _rows(column: str, tokens: int) -> int:
    return {"logprob": tokens, "end": 1}.get(column, tokens + 1)


def _fed(text: Encoded) -> tuple[object, ...]:
    """Return what a model is given of a text."""
    return text.fed, text.ids, text.opening, text.hidden, text.source


def _key(text: Encoded, predictor: str = "") -> bytes:
    """Return a hash of what decides the numbers of a text under one model; a further predictor has a record of its own."""
    return _key_of(repr((*_fed(text), text.beside)) + predictor)


def _key_of(facts: str) -> bytes:
    return hashlib.blake2b(facts.encode(), digest_size=16).digest()


def _records(table: TokenTable, columns: frozenset[str]) -> list[Record]:
    """Return the record of a table's columns, and one for each further predictor."""
    values, text = _split(table), table.encoded
    names = [name for name in COLUMNS if name in columns]
    bits = sum(1 << bit for bit, name in enumerate(COLUMNS) if name in columns)
    parts = [(_key(text), bits, np.concatenate([values[name] for name in names]))] if names else []
    parts += [(_key(text, name), MORE, values[name]) for name in sorted(columns - {*COLUMNS})]
    return [
        Record(key, table.windows, which, len(text.ids), part.astype("<f8").tobytes()) for key, which, part in parts
    ]
