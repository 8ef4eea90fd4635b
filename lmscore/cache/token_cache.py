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
from typing import Any, Protocol, Unpack

import numpy as np

from gardenpath import study

from ..models.endpoint import EndpointModel
from ..models.interface import COLUMNS, ForwardOptions, Model, check_columns, report_finished
from ..models.ngram import NgramModel
from ..tokens.encoding import EncodedText
from ..tokens.token_table import TokenTable
from .cache_folder import get_cache_folder
from .cache_key import compute_cache_key
from .shards import CacheEntry, Shards

PREDICTOR_FLAG = 1 << 7  # in place of columns: all rows of one further predictor, whose name is in the key

log = logging.getLogger("gardenpath")


class EntryStore(Protocol):
    """Where records are kept: what `Shards` are."""

    def refresh(self) -> None: ...

    def read(self, key: bytes) -> Sequence[CacheEntry]: ...

    def append(self, entries: Sequence[CacheEntry]) -> None: ...


def add_cache(model: Model, folder: str | Path | None = None) -> Model:
    """Return the model with a cache in `folder`, by default one in the user's cache folder.

    What differs in weights, tokenizer, prefix, dtype, quantization, window or device, or was computed by another torch or
    transformers, is kept apart. An n-gram model is returned as it is: it computes faster than a disk is read. Raises
    `ValueError` in one line where the folder cannot be written.

    >>> from gardenpath.lmscore.toy.examples import estimate_example_model
    >>> model = estimate_example_model()
    >>> add_cache(model) is model
    True
    """
    if isinstance(model, (NgramModel, CachedModel)):
        return model
    if isinstance(model, EndpointModel) and model.revision is None:
        log.info("%s is not cached: nothing says which weights its server has loaded; declare a revision", model.name)
        return model
    return CachedModel(model, ensure_score_folder(model, Path(folder) if folder is not None else get_cache_folder() / "scores"))


def ensure_score_folder(model: Model, base: Path) -> Path:
    """Return the folder of a model's token scores, made if it is not there."""
    try:
        base.mkdir(parents=True, exist_ok=True)
        facts = compute_cache_key(model, base)
        text = json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False)
        folder = base / hashlib.sha256(text.encode()).hexdigest()[:32]
        folder.mkdir(exist_ok=True)
        if not (folder / "model.json").exists():
            study.files.write_text(folder / "model.json", text + "\n")
    except OSError as error:
        raise ValueError(
            f"the cache {base} cannot be used ({error.strerror or error}); expected a folder that can be written: name another "
            "one, or do without (--no-cache)"
        ) from error
    return folder


class CachedModel:
    """A model whose token tables are read from a cache where it has them, and added to it where not."""

    def __init__(self, model: Model, folder: Path, store: EntryStore | None = None) -> None:
        self.uncached = model
        self.folder = folder
        self._store = Shards(folder) if store is None else store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.uncached, name)

    def use_item_cache(self) -> "CachedModel":
        """Return the model with a cache of what it computed of one item alone, in no batch with others."""
        folder = self.folder / "alone"
        with contextlib.suppress(OSError):  # a cache that is only read: what is added says so, once
            folder.mkdir(exist_ok=True)
        return CachedModel(self.uncached, folder)

    def share_cache_with(self, other: Model) -> "CachedModel":
        """Return another way to compute this model's numbers with the same cache; `batch_digest` tells its texts apart."""
        return CachedModel(other, self.folder, self._store)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.uncached.name

    @property
    def masked(self) -> bool:
        """Whether the model is a masked one."""
        return self.uncached.masked

    @property
    def encode(self) -> Callable[..., EncodedText]:
        """The model's own method."""
        return self.uncached.encode

    def describe(self) -> dict[str, object]:
        """Return what a sidecar records of the model."""
        return self.uncached.describe()

    def forward(
        self, texts: Sequence[EncodedText], *, columns: Sequence[str] = COLUMNS, **options: Unpack[ForwardOptions]
    ) -> list[TokenTable]:
        """Return the token table of each text, in the order given, as the model's own `forward` does.

        Only batches of which the cache lacks something are computed, each as a whole: numbers move with what else is in a batch,
        so that a run that goes on where one stopped gives what that one would have. Each is in the cache as soon as it is
        finished. (`is_known` is for models; a cache has its own.)
        """
        wanted = check_columns(columns, allow_predictors=not self.masked)
        wanted = wanted & {"logprob"} if self.masked else wanted
        self._store.refresh()
        unique = {_hash_text(text): text for text in texts}
        found = {key: self._read_columns(key, text, wanted) for key, text in unique.items()}
        missing = {key for key in unique if wanted - found[key].columns}
        ready = [found[key].build_table(wanted) for key in unique if key not in missing]
        report_finished(options, ready, len(ready), len(unique))
        if missing:
            texts_by_input: dict[object, list[EncodedText]] = {}  # the same tokens, which may stand beside others
            for text in unique.values():
                texts_by_input.setdefault(_get_model_input(text), []).append(text)

            def keep(tables: Sequence[TokenTable]) -> None:
                each = [
                    replace(table, encoded_text=text)
                    for table in tables
                    for text in texts_by_input[_get_model_input(table.encoded_text)]
                ]
                self._store.append([entry for table in each for entry in _build_entries(table, wanted)])
                for table in each:
                    found[_hash_text(table.encoded_text)].add_table(table, wanted)
                if on_finished := options.get("on_finished"):
                    on_finished([found[_hash_text(table.encoded_text)].build_table(wanted) for table in tables])

            self.uncached.forward(
                [*unique.values()],
                columns=[*(name for name in COLUMNS if name in wanted), *sorted(wanted - {*COLUMNS})],
                batch_tokens=options.get("batch_tokens"),
                progress=options.get("progress"),
                on_finished=keep,
                is_known=lambda text: missing.isdisjoint(map(_hash_text, texts_by_input[_get_model_input(text)])),
            )
        return [replace(found[_hash_text(text)].build_table(wanted), encoded_text=text) for text in texts]

    def read_cached_text(self, facts: str) -> str | None:
        """Return the text that is kept under `facts`, which name all that decides it beside the model; None where none is."""
        key = _hash_facts(f"text {facts}")
        if not self._store.read(key):
            self._store.refresh()
        entries = self._store.read(key)
        return entries[-1].values.decode() if entries else None

    def cache_texts(self, texts: Mapping[str, str]) -> None:
        """Keep texts, each under its facts."""
        self._store.append([CacheEntry(_hash_facts(f"text {facts}"), 1, 0, 0, text.encode()) for facts, text in texts.items()])

    def _read_columns(self, key: bytes, text: EncodedText, wanted: frozenset[str]) -> "_CachedColumns":
        """Return what is known of a text; of further predictors, what is wanted. Later records come last."""
        known = _CachedColumns(text)
        for entry in self._store.read(key):
            known.windows = entry.windows
            floats = np.frombuffer(entry.values, dtype="<f8")
            start = 0
            for bit, name in enumerate(COLUMNS):
                if entry.columns >> bit & 1:
                    size = _count_rows(name, len(text.ids))
                    known.values[name] = floats[start : start + size].copy()
                    start += size
        for name in wanted - {*COLUMNS}:
            for entry in self._store.read(_hash_text(text, name)):
                known.values[name] = np.frombuffer(entry.values, dtype="<f8").reshape(-1, len(text.ids) + 1)
        return known


@dataclass
class _CachedColumns:
    """What is known of a text: its columns, `logprob` and `end` apart."""

    encoded_text: EncodedText
    windows: int = 1
    values: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(self.values)

    def add_table(self, table: TokenTable, columns: frozenset[str]) -> None:
        self.windows = table.windows
        self.values.update((name, values) for name, values in _split_columns(table).items() if name in columns)

    def build_table(self, wanted: frozenset[str]) -> TokenTable:
        n = len(self.encoded_text.ids)
        columns = {name: np.full(_count_rows(name, n), np.nan) for name in COLUMNS}
        columns.update((name, self.values[name]) for name in wanted)
        logprob = np.concatenate([columns["logprob"], columns["end"]])
        more = {name: self.values[name] for name in sorted(wanted - {*COLUMNS})}
        return TokenTable(
            self.encoded_text, logprob, columns["log_boundary"], columns["entropy"], columns["renyi"], self.windows, more
        )


def _split_columns(table: TokenTable) -> dict[str, np.ndarray]:
    values = (table.logprob[:-1], table.logprob[-1:], table.log_boundary, table.entropy, table.renyi)
    return dict(zip(COLUMNS, values, strict=True)) | dict(table.predictors)


def _count_rows(column: str, tokens: int) -> int:
    return {"logprob": tokens, "end": 1}.get(column, tokens + 1)


def _get_model_input(text: EncodedText) -> tuple[object, ...]:
    """Return what a model is given of a text."""
    return text.context_ids, text.ids, text.opening, text.masked_positions, text.source_ids


def _hash_text(text: EncodedText, predictor: str = "") -> bytes:
    """Return a hash of what decides the numbers of a text under one model; a further predictor has a record of its own."""
    return _hash_facts(repr((*_get_model_input(text), text.batch_digest)) + predictor)


def _hash_facts(facts: str) -> bytes:
    return hashlib.blake2b(facts.encode(), digest_size=16).digest()


def _build_entries(table: TokenTable, columns: frozenset[str]) -> list[CacheEntry]:
    """Return the record of a table's columns, and one for each further predictor."""
    values, text = _split_columns(table), table.encoded_text
    names = [name for name in COLUMNS if name in columns]
    bits = sum(1 << bit for bit, name in enumerate(COLUMNS) if name in columns)
    parts = [(_hash_text(text), bits, np.concatenate([values[name] for name in names]))] if names else []
    parts += [(_hash_text(text, name), PREDICTOR_FLAG, values[name]) for name in sorted(columns - {*COLUMNS})]
    return [CacheEntry(key, table.windows, which, len(text.ids), part.astype("<f8").tobytes()) for key, which, part in parts]
