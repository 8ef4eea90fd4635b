"""A task that is asked of a share of the trials: which ones, with the right answers in balance."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from .trials import Trial

ASKED = ("target", "filler")


def ask(trials: Sequence[Trial], name: str, share: float, random: Random, *, questions: bool) -> tuple[Trial, ...]:
    """Return the trials with the task `name` kept in `share` of the targets and fillers, and taken from the others.

    The share is about the same in each role and condition; which trials keep it is drawn with `random`. With `questions`,
    each right answer comes equally often (but for a remainder). Raises `ValueError` with the arithmetic where that is impossible.
    """
    concerned = [i for i, trial in enumerate(trials) if trial.role in ASKED and name in trial.prompts]
    counted = [trial for trial in trials if trial.role in ASKED]
    wanted = round(share * len(counted))
    by_answer: dict[str, list[int]] = defaultdict(list)
    for i in concerned:
        answer = trials[i].answer() if questions else ""
        if answer is not None:
            by_answer[answer].append(i)
    quotas = _quotas(wanted, sorted(by_answer), random)
    if wanted and (faults := _faults(name, share, wanted, len(counted), by_answer, quotas)):
        raise ValueError("; ".join(faults))
    chosen = {i for answer, n in quotas.items() for i in _spread(trials, by_answer[answer], random)[:n]}
    left = {*concerned} - chosen
    return tuple(
        replace(trial, prompts=tuple(one for one in trial.prompts if one != name)) if i in left else trial
        for i, trial in enumerate(trials)
    )


def _quotas(wanted: int, answers: list[str], random: Random) -> dict[str, int]:
    """Return how often each answer is to be right; which ones get the remainder is drawn."""
    random.shuffle(answers)
    each, more = divmod(wanted, len(answers)) if answers else (0, 0)
    return {answer: each + (n < more) for n, answer in enumerate(answers)}


def _faults(
    name: str, share: float, wanted: int, counted: int, by_answer: dict[str, list[int]], quotas: dict[str, int]
) -> list[str]:
    available = sum(map(len, by_answer.values()))
    key = f"share.{name}"
    asked = f"{key} = {share:g} of {counted} trials asks {wanted} times"
    if available < wanted:
        return [
            f"{asked}; {available} trials can be asked; use {key} = {int(100 * available / counted) / 100:g} or less"
        ]
    most = min(map(len, by_answer.values())) * len(by_answer)
    return [
        f"{asked}, {n} of them with the right answer {answer!r}; {len(by_answer[answer])} trials have that; "
        f"use {key} = {int(100 * most / counted) / 100:g} or less, or write more"
        for answer, n in sorted(quotas.items())
        if len(by_answer[answer]) < n
    ]


def _spread(trials: Sequence[Trial], places: list[int], random: Random) -> list[int]:
    """Return the places in an order of which every beginning has about the same share of each role and condition."""

    def group(i: int) -> tuple[str, str, str]:
        return trials[i].role, trials[i].item.paradigm, trials[i].condition

    shuffled = random.sample(places, len(places))
    sizes, seen = Counter(map(group, places)), Counter[tuple[str, str, str]]()
    shares: dict[int, float] = {}
    for i in shuffled:
        shares[i] = (seen[group(i)] + 0.5) / sizes[group(i)]
        seen[group(i)] += 1
    return sorted(shuffled, key=lambda i: shares[i])
