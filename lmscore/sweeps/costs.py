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
from ..scoring import evaluate, scorable
from ..tokens.protocols import fitting
from .plan import Part, Plan, Variant, read_part
from .settings import Sweep
from .stores import Store

BYTES = {"float64": 8.0, "float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "8bit": 1.0, "4bit": 0.55}
CARDS = (16, 24, 40, 48, 80, 141)  # GB of common cards
SPARE = 1.2  # times the weights: what is computed, and what torch itself takes
CHUNK = 16  # items of a calibration between two looks at the clock
TASKS = 16  # of a Slurm array, at most


@dataclass(frozen=True)
class Estimate:
    """What a model will cost: hours of a worker (None where nothing tells), of its cards, money, GB of its weights."""

    model: Variant
    positions: int
    hours: float | None
    card_hours: float | None
    cost: float | None
    gigabytes: float | None


@dataclass(frozen=True)
class Calibration:
    """Positions a second of a model of a size, as they are counted in a plan."""

    model: Variant
    rate: float
    parameters: float | None


def parameters(model: Variant) -> float | None:
    """Return the number of a model's parameters: as stated, or by the size of the weights in its folder."""
    folder = Path(model.source)
    if model.parameters is not None or not folder.is_dir():
        return model.parameters
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        config = {}
    stored = str(config.get("dtype") or config.get("torch_dtype") or identity.PLAIN)
    return size / BYTES.get(stored, 4.0) if size else None


def gigabytes(model: Variant) -> float | None:
    """Return the memory of a model's weights, in GB."""
    count = parameters(model)
    return None if count is None else count * BYTES[model.quantization or model.dtype] / 1e9


def fits(model: Variant) -> dict[int, int] | None:
    """Return how many cards of each size (GB) hold a model with room to compute; None where its size is not known.

    >>> one = Variant("m", "m", "m", None, "bfloat16", None, None, None, False, 1, 70e9)
    >>> fits(one)[80], fits(one)[24]
    (3, 7)
    """
    weights = gigabytes(model)
    return None if weights is None else {size: max(1, -int(-weights * SPARE // size)) for size in CARDS}


def calibrate(plan: Plan, store: Store, seconds: float) -> Calibration:
    """Score items of the plan for some seconds by its smallest model that is known to be small; raises what `load` does."""
    known = [model for model in plan.models if parameters(model) is not None]
    model = min(known, key=lambda one: parameters(one) or 0) if known else plan.models[0]
    loaded = load(**model.settings(model.cards))
    protocol = fitting(plan.how["protocols"], loaded.name, loaded.masked)
    part = max((one for one in plan.parts), key=lambda one: one.positions)
    materials, _ = scorable(read_part(store, part), loaded, protocol)
    _score(loaded, materials, 0)  # what is computed first takes longer
    done, start = 0, 0
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds and start < len(materials.items):
        done += _score(loaded, materials, start)
        start += CHUNK
    return Calibration(model, done / max(time.perf_counter() - begun, 1e-6), parameters(model))


def _score(model: Model, materials: Materials, start: int) -> int:
    from .plan import positions

    items = materials.items[start : start + CHUNK]
    evaluate(Materials(materials.paradigms, items, materials.places), model)
    return sum(map(positions, items))


def estimates(plan: Plan, sweep: Sweep, calibration: Calibration | None) -> list[Estimate]:
    """Return what each model will cost, its speed going down as its size goes up; nothing is known without a calibration."""
    total = sum(part.positions for part in plan.parts)
    found = []
    for model in plan.models:
        hours = _hours(model, total, calibration)
        card_hours = None if hours is None else hours * model.cards
        price = sweep.cost.card_hour * model.cards if model.cards else sweep.cost.processor_hour * sweep.threads
        found.append(
            Estimate(model, total, hours, card_hours, None if hours is None else hours * price, gigabytes(model))
        )
    return found


def _hours(model: Variant, total: int, calibration: Calibration | None) -> float | None:
    if calibration is None or (model.cards > 0) != (calibration.model.cards > 0):
        return None  # a processor says nothing of a card
    if model == calibration.model:
        return total / calibration.rate / 3600
    size = parameters(model)
    if size is None or calibration.parameters is None:
        return None
    # Work goes with the parameters; two cards do the work of one larger, each waiting for the other.
    return total / calibration.rate * size / calibration.parameters / 3600


def slurm_scripts(plan: Plan, sweep: Sweep) -> Mapping[str, str]:
    """Return an array script for each class of resources, by file name."""
    scripts = {}
    for cards in sorted({model.cards for model in plan.models}):
        units = sum(unit.model.cards == cards for unit in plan.units)
        tasks = min(TASKS, units)
        scripts[f"cards-{cards:g}.sh"] = _script(sweep, cards, tasks)
    return scripts


def _script(sweep: Sweep, cards: float, tasks: int) -> str:
    workers = int(1 / cards) if 0 < cards < 1 else 1
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name=sweep-{cards:g}",
        f"#SBATCH --array=0-{tasks - 1}",
        f"#SBATCH --cpus-per-task={sweep.threads * workers}",
        *([f"#SBATCH --gpus-per-task={max(1, int(cards))}"] if cards else []),
        "# Each task computes a share of the units; one that is stopped is submitted again, and goes on.",
        f"exec gardenpath sweep run {shlex.quote(sweep.path)} --cards {cards:g} --workers {workers} "
        f'--shard "$SLURM_ARRAY_TASK_ID/{tasks}"',
    ]
    return "\n".join(lines) + "\n"


def languages(parts: Sequence[Part]) -> int:
    """Return how many languages there are."""
    return len({part.language for part in parts})
