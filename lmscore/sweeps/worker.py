"""What a worker does with a unit: it keeps its model over units, and writes what came of each, whole."""

import contextlib
import gc
import gzip
import hashlib
import json
import logging
import os
import platform
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gardenpath import study
from gardenpath.stimuli import Materials

from ..cache.cache_folder import cache_folder
from ..cache.cache_key import cache_key
from ..cache.token_cache import CachedModel
from ..judging.judgments import judge
from ..judging.templates import read_templates
from ..loading import load
from ..measures.unigrams import read_unigrams
from ..models.interface import Model
from ..models.ngram import NgramModel
from ..models.verdicts import our_code, processor
from ..scoring import asked_of_pairs, pair_rows, pair_values, scorable
from ..tokens.protocols import fitting
from .plan import PAIRS, Unit, read_part
from .stores import Batches, Store, StoreError

if TYPE_CHECKING:
    import pandas as pd

DONE, FAILED = "done", "failed"
MEMORY, LOAD = "memory", "load"  # why a unit failed, where it matters

log = logging.getLogger("gardenpath")


@dataclass(frozen=True)
class Task:
    """A unit to be computed by a worker with so many cards, kept in a store."""

    unit: Unit
    how: dict[str, Any]
    store: str
    cards: float


@dataclass(frozen=True)
class Report:
    """What came of a unit: `reason` says why it failed, `kind` where others have to act on that; `loaded`: its model was."""

    unit: str
    state: str
    seconds: float
    loaded: bool
    reason: str = ""
    kind: str = ""
    left_out: int = 0


@dataclass
class _Held:
    """The model of a worker, or why it could not be loaded."""

    key: object = None
    model: Model | None = None
    identity: str = ""
    facts: dict[str, Any] | None = None
    error: Exception | None = None


_held = _Held()


def work(task: Task) -> Report:
    """Compute a unit and keep what came of it; raises `StoreError` alone, where that cannot be kept."""
    store, unit = Store(task.store), task.unit
    started, processor = time.time(), time.process_time()
    store.write(f"leases/{unit.id}.json", json.dumps({"started": started, "who": who()}).encode())
    loaded, kind = False, ""
    try:
        materials = read_part(store, unit.part)
        kind = LOAD
        held, loaded = _hold(task)
        kind = ""
        with _warnings() as said:
            frame, left_out = _computed(task, held, materials, store)
        seconds = time.time() - started
        record = {
            "unit": unit.id,
            "identity": held.identity,
            "facts": held.facts,
            "left_out": left_out,
            "warnings": said,
            "seconds": seconds,
            "processor_seconds": time.process_time() - processor,
            "started": started,
            "finished": time.time(),
            "who": who(),
            "cards": task.cards,
            "columns": {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame},
        }
        store.write(f"results/{unit.id}.json.gz", gzip.compress(json.dumps(record).encode(), 6, mtime=0))
        return Report(unit.id, DONE, seconds, loaded, left_out=len(left_out))
    except StoreError:
        raise
    except Exception as error:
        kind = MEMORY if _is_memory(error) else kind
        reason = _line(error)
        failed = {"unit": unit.id, "reason": reason, "kind": kind, "who": who(), "finished": time.time()}
        store.write(f"failed/{unit.id}.json", json.dumps(failed).encode())
        return Report(unit.id, FAILED, time.time() - started, loaded, reason, kind)


def who() -> str:
    """Return the machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _hold(task: Task) -> tuple[_Held, bool]:
    """Return the model of a task, and whether it was loaded for it; what could not be loaded once is not tried again."""
    global _held
    key = (task.unit.model, task.cards)
    if _held.key == key:
        if _held.error is not None:
            raise _held.error
        return _held, False
    _held = _Held(key)
    _let_go()
    try:
        variant = task.unit.model
        loaded: Any = load(**variant.settings(task.cards))
        # Tables call it as sweep.toml does, wherever it lies.
        model: Model = replace(loaded, name=loaded.name.replace(variant.source, variant.name, 1))
        _held.model = model
        _held.facts = _facts(model)
        text = json.dumps(_held.facts, sort_keys=True, default=str)
        _held.identity = hashlib.sha256(text.encode()).hexdigest()[:16]
    except Exception as error:
        _held.error = error
        raise
    return _held, True


def _let_go() -> None:
    """Free the memory of the model before."""
    gc.collect()
    with contextlib.suppress(ImportError):
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _facts(model: Model) -> dict[str, Any]:
    """Return what tells a model's numbers from any other's, the machine's part of it too."""
    if isinstance(model, NgramModel):
        key: dict[str, Any] = dict(model.describe())
        return {**key, "code": our_code(), "processor": platform.machine()}
    import torch

    try:
        known = cache_key(model, cache_folder() / "scores")
    except OSError:  # a folder that cannot be written
        known = cache_key(model, None)
    here = {"processor": processor(torch, str(getattr(model, "device", "cpu"))), "threads": torch.get_num_threads()}
    facts: dict[str, Any] = json.loads(json.dumps({**known, **here, "code": our_code()}, default=str))
    return facts


def _computed(task: Task, held: _Held, materials: Materials, store: Store) -> "tuple[pd.DataFrame, dict[str, str]]":
    """Return the rows of a unit, and the items that could not be scored, with why."""
    import pandas as pd

    assert held.model is not None
    how, plain = task.how, held.model
    longer: dict[Any, Any] = getattr(plain, "longer", {})
    longer.clear()  # what earlier units showed of long rows decides nothing here
    model = plain
    if not isinstance(plain, NgramModel):
        folder = f"batches/{held.identity}/{task.unit.id}"
        model = CachedModel(plain, Path(task.store, folder), Batches(store, folder))
    protocol = fitting(how["protocols"], model.name, model.masked)
    if task.unit.part.kind != PAIRS:
        asked = dict(how["judging"])
        methods, files = asked.pop("methods"), asked.pop("templates")
        table = judge(
            materials,
            model,
            methods,
            templates=read_templates(*files) if files else None,
            protocol=protocol,
            seed=how["seed"],
            batch_tokens=how["batch_tokens"],
            **asked,
        )
        left = dict(table.attrs["left_out"])
        table.attrs.clear()
        return table, left
    unigrams = read_unigrams(how["unigrams"][0], model, protocol) if how["unigrams"] else None
    some, left = scorable(materials, model, protocol)
    if not some.items:
        return pd.DataFrame(columns=study.TABLES["pairs"].names), left
    pairs, measures, protocol, counted = asked_of_pairs(some, model, how["measures"], protocol, unigrams)
    values = pair_values(pairs, model, measures, protocol, counted, batch_tokens=how["batch_tokens"])
    rows = pair_rows(pairs, values, measures, model.name, protocol.name, of_part=True)
    return pd.DataFrame(rows, columns=study.TABLES["pairs"].names), left


@contextlib.contextmanager
def _warnings() -> Iterator[list[str]]:
    """Give the warnings that are logged meanwhile, such as memory that ran out."""
    said: list[str] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    keeper = Keeper(logging.WARNING)
    log.addHandler(keeper)
    try:
        yield said
    finally:
        log.removeHandler(keeper)


def _is_memory(error: Exception) -> bool:
    if isinstance(error, MemoryError):
        return True
    with contextlib.suppress(ImportError):
        from ..models.huggingface import is_out_of_memory

        return is_out_of_memory(error)
    return False


def _line(error: Exception) -> str:
    """Return what an error says, in one line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, (ValueError, MemoryError)) else f"{type(error).__name__}: {text}"
