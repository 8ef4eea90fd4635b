"""What is true of simulated participants: noted beside their sessions, passed on to their tables, told beside the estimates."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gardenpath.cli import options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.experiment import Effects

SESSIONS_TABLE = "sessions"
PARAMETER_KEYS = ("effects", "stated", "surprisal")


def write_parameters(
    data: Path, effects: "Effects", scores: "pd.DataFrame | None", *, participants: int, inputs: Sequence[Path], seed: int
) -> None:
    """Write the sidecar of simulated sessions: the effects, and whose surprisal slowed them."""
    from gardenpath import study

    notes: dict[str, object] = {
        "participants": participants,
        "effects": dataclasses.asdict(effects),
        "stated": list_stated_effects(effects),
    }
    if scores is not None:
        notes["surprisal"] = {name: str(scores[name].iloc[0]) for name in ("model", "protocol")}
    notes["simulated"] = True
    study.files.write_sidecar(data / SESSIONS_TABLE, command=options.format_command_line(), inputs=inputs, seed=seed, notes=notes)


def list_stated_effects(effects: "Effects") -> list[dict[str, object]]:
    """Return what is stated of each response: its unit, and each term's effect, by region where it is measured so.

    >>> from gardenpath.experiment import Effects
    >>> from gardenpath.study import EffectSection
    >>> list_stated_effects(Effects(terms={"a": EffectSection(accuracy=0.5)}))
    [{'response': 'correct', 'unit': 'log odds of a right answer', 'effects': {'a': 0.5}}]
    """
    from gardenpath.study.responses import RESPONSES

    stated: list[dict[str, object]] = []
    for name, response in RESPONSES.items():
        if not response.effect_key:
            continue
        of_terms = {term: getattr(one, response.effect_key) for term, one in effects.terms.items()}
        if of_terms := {term: size for term, size in of_terms.items() if size}:
            stated.append({"response": name, "unit": response.simulated_unit, "effects": of_terms})
    return stated


def read_shared_parameters(data: Sequence[str]) -> dict[str, object]:
    """Return what the sidecars beside collected sessions say is true of them all, to be noted beside their tables."""
    from gardenpath.study.files import read_sidecar

    if any("://" in one or not Path(one).is_dir() for one in data):
        return {}
    first, *others = [read_sidecar(Path(one) / SESSIONS_TABLE) for one in data]
    return {key: first[key] for key in PARAMETER_KEYS if key in first and all(each.get(key) == first[key] for each in others)}


def read_ms_per_bit(sessions: Path | None) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return the ms that a bit of a model's surprisal costs, at lags 0, 1 and so on, by model and protocol.

    `sessions` is the file of that table; there is nothing where its sidecar states no such effect.
    """
    from gardenpath.study.files import read_sidecar

    sidecar = {} if sessions is None else read_sidecar(sessions)
    effects, surprisal_source = sidecar.get("effects"), sidecar.get("surprisal")
    if not (isinstance(effects, dict) and isinstance(surprisal_source, dict)):
        return {}
    return {(surprisal_source["model"], surprisal_source["protocol"]): tuple(effects["ms_per_bit"])}
