"""Counterbalanced designs: paradigms dealt to experiments, conditions to versions, and an order for each slot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Literal

from gardenpath import study

from .formats import read, source
from .items import Item, Materials, Sentence
from .orderings import Drawn, Ordering, Orders

Role = Literal["target", "filler", "practice", "attention"]
PRACTICE = "practice"


@dataclass(frozen=True)
class Trial:
    """One presentation: its role, the item, the (condition, sentence) shown, and the prompts that follow."""

    role: Role
    item: Item
    shown: tuple[tuple[str, Sentence], ...]
    prompts: tuple[str, ...] = ("acceptability",)

    def labels(self) -> dict[str, str]:
        """Return the factors by which orders are stated: role, paradigm, item, condition."""
        condition = "+".join(name for name, _ in self.shown)
        return {"role": self.role, "paradigm": self.item.paradigm, "item": self.item.id, "condition": condition}


@dataclass(frozen=True)
class Version:
    """A counterbalanced list of an experiment: which item is shown in which condition; orders differ by slot."""

    id: str
    experiment: str
    trials: tuple[Trial, ...]
    ordering: Ordering
    seed: int

    def order(self, slot: int) -> list[int]:
        """Return positions in `trials` in the order of the slot-th session: practice as written, then the rest.

        The order depends on seed, experiment, version and slot alone, on every machine and Python version.
        """
        practice = [i for i, trial in enumerate(self.trials) if trial.role == "practice"]
        return practice + [self._ordered[i] for i in self.drawn(slot).order]

    def drawn(self, slot: int) -> Drawn:
        """Return the order of all trials but practice, with the way it was drawn."""
        return self.orders.sample(f"{self.seed}-{self.experiment}-{self.id}", slot)

    @cached_property
    def _ordered(self) -> list[int]:
        return [i for i, trial in enumerate(self.trials) if trial.role != "practice"]

    @cached_property
    def orders(self) -> Orders:
        """The valid orders of all trials but practice; counted once, since counting costs far more than drawing."""
        return self.ordering.over([self.trials[i].labels() for i in self._ordered])


@dataclass(frozen=True)
class Design:
    """A within-item design with unequal shares of conditions.

    `ratio` gives the share of each condition: {"grammatical": 2, "ungrammatical": 1} shows of nine items of a
    paradigm six in one and three in the other condition, other ones in each version (Suijkerbuijk et al. 2025,
    doi 10.1162/COLI.a.00559). No participant sees two members of an item.
    """

    ratio: Mapping[str, int]
    versions: int
    items: int | None = None
    experiments: int = 1
    practice: Sequence[str] = ()

    def deal(self, materials: Materials, *, ordering: Ordering | None = None, seed: int) -> list[Version]:
        """Return the versions of every experiment; raises `ValueError` with the arithmetic of what cannot be."""
        ordering = ordering or Ordering()
        pools = {p.id: [i for i in materials.items if i.paradigm == p.id] for p in materials.paradigms}
        chosen = {name: pool if self.items is None else pool[: self.items] for name, pool in pools.items()}
        if faults := self._faults(materials, chosen):
            raise ValueError("\n".join(faults))
        practice = tuple(_practice(n, text, materials) for n, text in enumerate(self.practice, start=1))
        return [
            Version(f"V{v + 1}", f"E{e + 1}", practice + self._targets(dealt, v), ordering, seed)
            for e, dealt in enumerate(self._experiments(chosen, seed))
            for v in range(self.versions)
        ]

    def _experiments(self, chosen: Mapping[str, list[Item]], seed: int) -> list[list[list[Item]]]:
        """Deal the paradigms at random to experiments of equal size."""
        names = list(chosen)
        Random(f"{seed}-experiments").shuffle(names)
        names = names if self.experiments > 1 else list(chosen)
        return [[chosen[name] for name in names[e :: self.experiments]] for e in range(self.experiments)]

    def _targets(self, dealt: Sequence[Sequence[Item]], version: int) -> tuple[Trial, ...]:
        """Show item i of paradigm p in the (i + p + version)-th condition of the cycle that the ratio spells out."""
        cycle = [condition for condition, share in reversed(list(self.ratio.items())) for _ in range(share)]
        trials = []
        for p, items in enumerate(dealt):
            for i, item in enumerate(items):
                condition = cycle[(i + p + version * self._step) % len(cycle)]
                trials.append(Trial("target", item, ((condition, item.sentences[condition]),)))
        return tuple(trials)

    @property
    def _step(self) -> int:
        return sum(self.ratio.values()) // self.versions if sum(self.ratio.values()) % self.versions == 0 else 1

    def _faults(self, materials: Materials, chosen: Mapping[str, Sequence[Item]]) -> list[str]:
        total = sum(self.ratio.values())
        spelled = ":".join(str(share) for share in self.ratio.values())
        faults = []
        if not self.ratio or min(self.ratio.values()) < 1:
            return [f"ratio is {dict(self.ratio)}; expected a share of at least 1 for each condition"]
        if self.versions < 1 or self.experiments < 1:
            return [f"versions is {self.versions} and experiments {self.experiments}; expected at least 1 of each"]
        if total % self.versions and self.versions % total:
            faults.append(
                f"a ratio of {spelled} repeats every {total} items, which {self.versions} versions cannot rotate; "
                f"take {total} versions, or a multiple or divisor of {total}"
            )
        if len(chosen) % self.experiments:
            faults.append(f"{len(chosen)} paradigms cannot be dealt equally to {self.experiments} experiments")
        for paradigm in materials.paradigms:
            known, count = paradigm.conditions(), len(chosen[paradigm.id])
            faults += [
                f"ratio names the condition {c!r}, which paradigm {paradigm.id} has not; it has {', '.join(known)}"
                for c in self.ratio
                if c not in known
            ]
            if self.items is not None and count < self.items:
                faults.append(f"paradigm {paradigm.id} has {count} items, fewer than the {self.items} asked for")
            elif count % total:
                faults.append(
                    f"{count} items of paradigm {paradigm.id} cannot be split {spelled}: {count} / {total} is not whole; "
                    f"use items = {count - count % total}"
                )
        return faults


def _practice(number: int, text: str, materials: Materials) -> Trial:
    sentence = Sentence(*source.parse(text))
    language = materials.items[0].language if materials.items else "en"
    item = Item(f"practice-{number}", PRACTICE, {PRACTICE: sentence}, language)
    return Trial("practice", item, ((PRACTICE, sentence),))


def _ordering(stated: study.Study) -> Ordering:
    rules = vars(stated.ordering)
    alike = rules["no_adjacent"]
    try:
        return Ordering(**{**rules, "no_adjacent": tuple(alike) if isinstance(alike, list) else alike})
    except ValueError as error:
        raise study.DataError(f"{stated.path}: {error}") from None


def design(stated: study.Study, materials: Materials | None = None) -> list[Version]:
    """Return the versions that a study.toml asks for, dealt from its materials (read from its files unless given)."""
    section = stated.design
    ordering = _ordering(stated)
    plan = Design(section.ratio, section.versions, section.items, section.experiments, section.practice)
    materials = materials or read(*stated.paths())
    try:
        return plan.deal(materials, ordering=ordering, seed=stated.seed)
    except ValueError as error:
        raise study.DataError(f"{stated.path}: design: {fault}" for fault in str(error).split("\n")) from None
