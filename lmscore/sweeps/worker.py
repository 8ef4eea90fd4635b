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

from ..cache.cache_folder import get_cache_folder
from ..cache.cache_key import compute_cache_key
from ..cache.token_cache import CachedModel
from ..judging.judgments import judge
from ..judging.templates import read_templates
from ..loading import load
from ..measures.unigrams import read_unigrams
from ..models.interface import Model
from ..models.ngram import NgramModel
from ..models.probe_results import get_processor_name, hash_own_code
from ..scoring import build_pair_rows, prepare_pairs, score_pairs, select_scorable
from ..tokens.protocols import select_protocol
from .manifest import PAIRS, Unit, read_part
from .stores import BatchStore, Store, StoreError

if TYPE_CHECKING:
    import pandas as pd

STATE_DONE, STATE_FAILED, STATE_ELSEWHERE = "done", "failed", "elsewhere"
FAILURE_MEMORY, FAILURE_LOAD = "memory", "load"  # why a unit failed, where it matters

log = logging.getLogger("gardenpath")


@dataclass(frozen=True)
class UnitTask:
    """A unit to be computed by a worker with so many cards, kept in a store."""

    unit: Unit
    scoring_settings: dict[str, Any]
    store: str
    cards: float


@dataclass(frozen=True)
class UnitReport:
    """What came of a unit: `reason` says why it failed, `kind` where others have to act on that; `has_loaded_model`: its model
    was."""

    unit: str
    state: str
    seconds: float
    has_loaded_model: bool
    reason: str = ""
    kind: str = ""
    excluded_count: int = 0


@dataclass
class _CurrentModel:
    """The model of a worker, or why it could not be loaded."""

    key: object = None
    model: Model | None = None
    identity: str = ""
    metadata: dict[str, Any] | None = None
    error: Exception | None = None


_current_model = _CurrentModel()


def compute_unit(task: UnitTask) -> UnitReport:
    """Compute a unit and keep what came of it; raises `StoreError` alone, where that cannot be kept."""
    store, unit = Store(task.store), task.unit
    if store.exists(f"results/{unit.id}.json.gz"):  # of another run meanwhile
        return UnitReport(unit.id, STATE_ELSEWHERE, 0, False)
    started, processor = time.time(), time.process_time()
    store.write(f"leases/{unit.id}.json", json.dumps({"started": started, "who": get_process_name()}).encode())
    loaded, kind = False, ""
    try:
        materials = read_part(store, unit.part)
        kind = FAILURE_LOAD
        current, loaded = _get_model(task)
        kind = ""
        with _capture_warnings() as messages:
            frame, left_out = _compute_rows(task, current, materials, store)
        seconds = time.time() - started
        result = {
            "unit": unit.id,
            "identity": current.identity,
            "facts": current.metadata,
            "left_out": left_out,
            "warnings": messages,
            "seconds": seconds,
            "processor_seconds": time.process_time() - processor,
            "started": started,
            "finished": time.time(),
            "who": get_process_name(),
            "cards": task.cards,
            "columns": {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame},
        }
        store.write(f"results/{unit.id}.json.gz", gzip.compress(json.dumps(result).encode(), 6, mtime=0))
        return UnitReport(unit.id, STATE_DONE, seconds, loaded, excluded_count=len(left_out))
    except StoreError:
        raise
    except Exception as error:
        kind = FAILURE_MEMORY if _is_memory_error(error) else kind
        reason = _format_error(error)
        failed = {"unit": unit.id, "reason": reason, "kind": kind, "who": get_process_name(), "finished": time.time()}
        store.write(f"failed/{unit.id}.json", json.dumps(failed).encode())
        return UnitReport(unit.id, STATE_FAILED, time.time() - started, loaded, reason, kind)


def get_process_name() -> str:
    """Return the machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _get_model(task: UnitTask) -> tuple[_CurrentModel, bool]:
    """Return the model of a task, and whether it was loaded for it; what could not be loaded once is not tried again."""
    global _current_model
    key = (task.unit.model, task.cards)
    if _current_model.key == key:
        if _current_model.error is not None:
            raise _current_model.error
        return _current_model, False
    _current_model = _CurrentModel(key)
    _free_memory()
    try:
        variant = task.unit.model
        loaded: Any = load(**variant.build_load_arguments(task.cards))
        # Tables call it as sweep.toml does, wherever it lies.
        model: Model = replace(loaded, name=loaded.name.replace(variant.source, variant.name, 1))
        _current_model.model = model
        _current_model.metadata = _collect_metadata(model)
        text = json.dumps(_current_model.metadata, sort_keys=True, default=str)
        _current_model.identity = hashlib.sha256(text.encode()).hexdigest()[:16]
    except Exception as error:
        _current_model.error = error
        raise
    return _current_model, True


def _free_memory() -> None:
    """Free the memory of the model before."""
    gc.collect()
    with contextlib.suppress(ImportError):
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _collect_metadata(model: Model) -> dict[str, Any]:
    """Return what tells a model's numbers from any other's, the machine's part of it too."""
    if isinstance(model, NgramModel):
        key: dict[str, Any] = dict(model.describe())
        return {**key, "code": hash_own_code(), "processor": platform.machine()}
    import torch

    try:
        known = compute_cache_key(model, get_cache_folder() / "scores")
    except OSError:  # a folder that cannot be written
        known = compute_cache_key(model, None)
    here = {"processor": get_processor_name(torch, str(getattr(model, "device", "cpu"))), "threads": torch.get_num_threads()}
    facts: dict[str, Any] = json.loads(json.dumps({**known, **here, "code": hash_own_code()}, default=str))
    return facts


def _compute_rows(
    task: UnitTask, current: _CurrentModel, materials: Materials, store: Store
) -> "tuple[pd.DataFrame, dict[str, str]]":
    """Return the rows of a unit, and the items that could not be scored, with why."""
    import pandas as pd

    assert current.model is not None
    settings, plain = task.scoring_settings, current.model
    longer: dict[Any, Any] = getattr(plain, "exact_row_lengths", {})
    longer.clear()  # what earlier units showed of long rows decides nothing here
    model = plain
    if not isinstance(plain, NgramModel):
        folder = f"batches/{current.identity}/{task.unit.id}"
        model = CachedModel(plain, Path(task.store, folder), BatchStore(store, folder))
    protocol = select_protocol(settings["protocols"], model.name, model.masked)
    if task.unit.part.kind != PAIRS:
        asked = dict(settings["judging"])
        methods, files = asked.pop("methods"), asked.pop("templates")
        table = judge(
            materials,
            model,
            methods,
            templates=read_templates(*files) if files else None,
            protocol=protocol,
            seed=settings["seed"],
            batch_tokens=settings["batch_tokens"],
            **asked,
        )
        left = dict(table.attrs["left_out"])
        table.attrs.clear()
        return table, left
    unigrams = read_unigrams(settings["unigrams"][0], model, protocol) if settings["unigrams"] else None
    some, left = select_scorable(materials, model, protocol)
    if not some.items:
        return pd.DataFrame(columns=study.TABLES["pairs"].column_names), left
    pairs, measures, protocol, counted = prepare_pairs(some, model, settings["measures"], protocol, unigrams)
    values = score_pairs(pairs, model, measures, protocol, counted, batch_tokens=settings["batch_tokens"])
    rows = build_pair_rows(pairs, values, measures, model.name, protocol.name, is_partial=True)
    return pd.DataFrame(rows, columns=study.TABLES["pairs"].column_names), left


@contextlib.contextmanager
def _capture_warnings() -> Iterator[list[str]]:
    """Give the warnings that are logged meanwhile, such as memory that ran out."""
    messages: list[str] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    keeper = Keeper(logging.WARNING)
    log.addHandler(keeper)
    try:
        yield messages
    finally:
        log.removeHandler(keeper)


def _is_memory_error(error: Exception) -> bool:
    if isinstance(error, MemoryError):
        return True
    with contextlib.suppress(ImportError):
        from ..models.huggingface import is_out_of_memory

        return is_out_of_memory(error)
    return False


def _format_error(error: Exception) -> str:
    """Return what an error says, in one line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, (ValueError, MemoryError)) else f"{type(error).__name__}: {text}"
