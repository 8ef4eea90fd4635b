"""What a sweep will cost: hours from a calibration, memory from the size of the models, scripts for Slurm."""

import json
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gardenpath.stimuli import Materials

from .. import identity
from ..loading import load
from ..models.interface import Model
from ..scoring import evaluate, select_scorable
from ..tokens.protocols import select_protocol
from .manifest import MaterialsPart, ModelVariant, SweepManifest, read_part
from .settings import Sweep
from .stores import Store

BYTES_PER_PARAMETER = {"float64": 8.0, "float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "8bit": 1.0, "4bit": 0.55}
CARD_SIZES = (16, 24, 40, 48, 80, 141)  # GB of common cards
MEMORY_FACTOR = 1.2  # times the weights: what is computed, and what torch itself takes
CALIBRATION_ITEMS = 16  # items of a calibration between two looks at the clock
MAX_SLURM_TASKS = 16  # of a Slurm array, at most


@dataclass(frozen=True)
class CostEstimate:
    """What a model will cost: hours of a worker (None where nothing tells), of its cards, money, GB of its weights."""

    model: ModelVariant
    positions: int
    hours: float | None
    card_hours: float | None
    cost: float | None
    gigabytes: float | None


@dataclass(frozen=True)
class Calibration:
    """Positions a second of a model of a size, as they are counted in a manifest."""

    model: ModelVariant
    rate: float
    parameters: float | None


def count_parameters(model: ModelVariant) -> float | None:
    """Return the number of a model's parameters: as stated, or by the size of the weights in its folder."""
    folder = Path(model.source)
    if model.parameters is not None or not folder.is_dir():
        return model.parameters
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        config = {}
    stored = str(config.get("dtype") or config.get("torch_dtype") or identity.DEFAULT_DTYPE)
    return size / BYTES_PER_PARAMETER.get(stored, 4.0) if size else None


def compute_gigabytes(model: ModelVariant) -> float | None:
    """Return the memory of a model's weights, in GB."""
    count = count_parameters(model)
    return None if count is None else count * BYTES_PER_PARAMETER[model.quantization or model.dtype] / 1e9


def count_cards_needed(model: ModelVariant) -> dict[int, int] | None:
    """Return how many cards of each size (GB) hold a model with room to compute; None where its size is not known.

    >>> one = ModelVariant("m", "m", "m", None, "bfloat16", None, None, None, False, 1, 70e9)
    >>> count_cards_needed(one)[80], count_cards_needed(one)[24]
    (3, 7)
    """
    weights = compute_gigabytes(model)
    return None if weights is None else {size: max(1, -int(-weights * MEMORY_FACTOR // size)) for size in CARD_SIZES}


def calibrate(manifest: SweepManifest, store: Store, seconds: float) -> Calibration:
    """Score items of the sweep for some seconds by its smallest model that is known to be small; raises what `load` does."""
    known = [model for model in manifest.models if count_parameters(model) is not None]
    model = min(known, key=lambda one: count_parameters(one) or 0) if known else manifest.models[0]
    loaded = load(**model.build_load_arguments(model.gpus))
    protocol = select_protocol(manifest.scoring_settings["protocols"], loaded.name, loaded.masked)
    part = max((one for one in manifest.parts), key=lambda one: one.positions)
    materials, _ = select_scorable(read_part(store, part), loaded, protocol)
    _score_items(loaded, materials, 0)  # what is computed first takes longer
    done, start = 0, 0
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds and start < len(materials.items):
        done += _score_items(loaded, materials, start)
        start += CALIBRATION_ITEMS
    return Calibration(model, done / max(time.perf_counter() - begun, 1e-6), count_parameters(model))


def _score_items(model: Model, materials: Materials, start: int) -> int:
    from .manifest import count_positions

    items = materials.items[start : start + CALIBRATION_ITEMS]
    evaluate(Materials(materials.paradigms, items, materials.source_lines), model)
    return sum(map(count_positions, items))


def estimate_costs(manifest: SweepManifest, sweep: Sweep, calibration: Calibration | None) -> list[CostEstimate]:
    """Return what each model will cost, its speed going down as its size goes up; nothing is known without a calibration."""
    total = sum(part.positions for part in manifest.parts)
    found = []
    for model in manifest.models:
        hours = _estimate_hours(model, total, calibration)
        card_hours = None if hours is None else hours * model.gpus
        price = sweep.cost.gpu_hour * model.gpus if model.gpus else sweep.cost.processor_hour * sweep.threads
        found.append(
            CostEstimate(model, total, hours, card_hours, None if hours is None else hours * price, compute_gigabytes(model))
        )
    return found


def _estimate_hours(model: ModelVariant, total: int, calibration: Calibration | None) -> float | None:
    if calibration is None or (model.gpus > 0) != (calibration.model.gpus > 0):
        return None  # a processor says nothing of a card
    if model == calibration.model:
        return total / calibration.rate / 3600
    size = count_parameters(model)
    if size is None or calibration.parameters is None:
        return None
    # Work goes with the parameters; two cards do the work of one larger, each waiting for the other.
    return total / calibration.rate * size / calibration.parameters / 3600


def build_slurm_scripts(manifest: SweepManifest, sweep: Sweep) -> Mapping[str, str]:
    """Return an array script for each class of resources, by file name."""
    scripts = {}
    for cards in sorted({model.gpus for model in manifest.models}):
        units = sum(unit.model.gpus == cards for unit in manifest.units)
        tasks = min(MAX_SLURM_TASKS, units)
        scripts[f"cards-{cards:g}.sh"] = _build_script(sweep, cards, tasks)
    return scripts


def _build_script(sweep: Sweep, cards: float, tasks: int) -> str:
    workers = int(1 / cards) if 0 < cards < 1 else 1
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name=sweep-{cards:g}",
        f"#SBATCH --array=0-{tasks - 1}",
        f"#SBATCH --cpus-per-task={sweep.threads * workers}",
        *([f"#SBATCH --gpus-per-task={max(1, int(cards))}"] if cards else []),
        "# Each task computes a share of the units; one that is stopped is submitted again, and goes on.",
        f"exec gardenpath sweep run {shlex.quote(sweep.path)} --gpus {cards:g} --workers {workers} "
        f'--shard "$SLURM_ARRAY_TASK_ID/{tasks}"',
    ]
    return "\n".join(lines) + "\n"


def count_languages(parts: Sequence[MaterialsPart]) -> int:
    """Return how many languages there are."""
    return len({part.language for part in parts})
