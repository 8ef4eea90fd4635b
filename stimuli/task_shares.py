"""A task that is asked of a share of the trials of a list: which ones."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from .trials import Trial

SHARED_ROLES = ("target", "filler")


def ask_share(trials: Sequence[Trial], name: str, share: float, random: Random) -> tuple[Trial, ...]:
    """Return the trials with the task `name` kept in `share` of the targets and fillers, and taken from the others.

    The share is about the same in each role and condition; which trials keep it is drawn with `random`. Raises `ValueError`
    with the arithmetic where that is impossible.
    """
    counted = sum(trial.role in SHARED_ROLES for trial in trials)
    concerned = [i for i, trial in enumerate(trials) if trial.role in SHARED_ROLES and name in trial.prompts]
    wanted = round(share * counted)
    if len(concerned) < wanted:
        raise ValueError(format_share_fault(name, share, wanted, counted, len(concerned)))
    left = _order_evenly(trials, concerned, random)[wanted:]
    return tuple(remove_task(trial, name) if i in left else trial for i, trial in enumerate(trials))


def remove_task(trial: Trial, name: str) -> Trial:
    """Return the trial without the task of this name."""
    return replace(trial, prompts=tuple(one for one in trial.prompts if one != name))


def format_share_fault(name: str, share: float, wanted: int, counted: int, available: int) -> str:
    """Return the arithmetic of a share that is larger than what can be asked."""
    most = int(100 * available / counted) / 100
    return (
        f"task_shares.{name} = {share:g} of {counted} trials asks {wanted} times; {available} trials can be asked; "
        f"use task_shares.{name} = {most:g} or less"
    )


def _order_evenly(trials: Sequence[Trial], positions: list[int], random: Random) -> list[int]:
    """Return the places in an order of which every beginning has about the same share of each role and condition."""

    def group(i: int) -> tuple[str, str, str]:
        return trials[i].role, trials[i].item.paradigm, trials[i].condition

    shuffled = random.sample(positions, len(positions))
    sizes, seen = Counter(map(group, positions)), Counter[tuple[str, str, str]]()
    shares: dict[int, float] = {}
    for i in shuffled:
        shares[i] = (seen[group(i)] + 0.5) / sizes[group(i)]
        seen[group(i)] += 1
    return sorted(shuffled, key=lambda i: shares[i])
