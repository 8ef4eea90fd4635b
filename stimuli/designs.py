"""Counterbalanced designs: paradigms dealt to experiments, conditions to versions, and an order for each slot."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Literal

from gardenpath import study

from .formats import read, source
from .items import Item, Materials, Paradigm, Sentence
from .orderings import Drawn, Ordering, Orders

if TYPE_CHECKING:
    import pandas as pd

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
class Design(study.DesignSection):
    """A within-item design with unequal shares of conditions.

    `ratio` gives the share of each condition: {"grammatical": 2, "ungrammatical": 1} shows of nine items of a
    paradigm six in one and three in the other condition, other ones in each version (Suijkerbuijk et al. 2025,
    doi 10.1162/COLI.a.00559). No participant sees two members of an item. `fillers` names paradigms that are no targets: all
    their items are shown in every version of every experiment, in the conditions of `filler_ratio` or, without it, all conditions
    equally often. `practice` are sentences shown first, as written.
    """

    def deal(self, materials: Materials, *, ordering: Ordering | None = None, seed: int) -> list[Version]:
        """Return the versions of every experiment; raises `ValueError` with the arithmetic of what cannot be."""
        pools = {p.id: [i for i in materials.items if i.paradigm == p.id] for p in materials.paradigms}
        chosen = {name: pool if self.items is None else pool[: self.items] for name, pool in pools.items()}
        if faults := self._faults(materials, chosen):
            raise ValueError("\n".join(faults))
        practice = tuple(_practice(n, text, materials) for n, text in enumerate(self.practice, start=1))
        fillers = [(materials.paradigm(name), pools[name]) for name in self.fillers]
        targets = {name: items for name, items in chosen.items() if name not in self.fillers}
        return [
            Version(
                f"V{v + 1}",
                f"E{e + 1}",
                practice + self._targets(dealt, v) + self._fillers(fillers, v),
                ordering or Ordering(),
                seed,
            )
            for e, dealt in enumerate(self._experiments(targets, seed))
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
        return tuple(
            trial
            for p, items in enumerate(dealt)
            for trial in self._rotated("target", items, self.ratio, p + version * self._step)
        )

    def _fillers(self, fillers: Sequence[tuple[Paradigm, Sequence[Item]]], version: int) -> tuple[Trial, ...]:
        return tuple(
            trial
            for paradigm, items in fillers
            for trial in self._rotated("filler", items, self._filler_ratio(paradigm), version)
        )

    def _filler_ratio(self, paradigm: Paradigm) -> Mapping[str, int]:
        return self.filler_ratio or dict.fromkeys(paradigm.conditions(), 1)

    def _rotated(self, role: Role, items: Sequence[Item], ratio: Mapping[str, int], turn: int) -> list[Trial]:
        """Show the items in the conditions of the cycle that the ratio spells out, beginning at its `turn`-th."""
        cycle = [condition for condition, share in reversed(list(ratio.items())) for _ in range(share)]
        conditions = [cycle[(i + turn) % len(cycle)] for i in range(len(items))]
        return [
            Trial(role, item, ((condition, item.sentences[condition]),))
            for item, condition in zip(items, conditions, strict=True)
        ]

    @property
    def _step(self) -> int:
        return sum(self.ratio.values()) // self.versions if sum(self.ratio.values()) % self.versions == 0 else 1

    def _faults(self, materials: Materials, chosen: Mapping[str, Sequence[Item]]) -> list[str]:
        total = sum(self.ratio.values())
        spelled = ":".join(str(share) for share in self.ratio.values())
        faults = []
        if total % self.versions and self.versions % total:
            faults.append(
                f"a ratio of {spelled} repeats every {total} items, which {self.versions} versions cannot rotate; "
                f"take {total} versions, or a multiple or divisor of {total}"
            )
        unknown = [name for name in self.fillers if name not in chosen]
        if unknown:
            return [
                *faults,
                f"fillers names {', '.join(unknown)}, which the materials have not; they have {', '.join(chosen)}",
            ]
        targets = [paradigm for paradigm in materials.paradigms if paradigm.id not in self.fillers]
        if not targets or len(targets) % self.experiments:
            faults.append(f"{len(targets)} paradigms cannot be dealt equally to {self.experiments} experiments")
        for paradigm in targets:
            known, count = paradigm.conditions(), len(chosen[paradigm.id])
            faults += _unknown("ratio", self.ratio, paradigm)
            if set(self.ratio) <= set(known) and set(known) - set(self.ratio):
                left = ", ".join(c for c in known if c not in self.ratio)
                faults.append(
                    f"ratio gives no share to {left} of paradigm {paradigm.id}; expected one for each condition"
                )
            if self.items is not None and count < self.items:
                faults.append(f"paradigm {paradigm.id} has {count} items, fewer than the {self.items} asked for")
            elif count % total:
                faults.append(
                    f"{count} items of paradigm {paradigm.id} cannot be split {spelled} over {self.versions} versions: "
                    f"{count} / {total} is not whole; use items = {count - count % total}"
                )
        for name in self.fillers:
            faults += _unknown("filler_ratio", self.filler_ratio, materials.paradigm(name))
        return faults


def _unknown(what: str, ratio: Mapping[str, int], paradigm: Paradigm) -> list[str]:
    known = paradigm.conditions()
    return [
        f"{what} names the condition {c!r}, which paradigm {paradigm.id} has not; it has {', '.join(known)}"
        for c in ratio
        if c not in known
    ]


def balance_of(versions: Sequence[Version]) -> "pd.DataFrame":
    """Return table `design_balance`: trials of each paradigm and condition in each version."""
    import pandas as pd

    counts = Counter(
        (version.experiment, version.id, trial.role, trial.item.paradigm, condition)
        for version in versions
        for trial in version.trials
        for condition, _ in trial.shown
    )
    rows = [(*key, n) for key, n in sorted(counts.items())]
    return study.check(pd.DataFrame(rows, columns=study.TABLES["design_balance"].names), "design_balance")


def exposures(versions: Sequence[Version], participants: int) -> "pd.DataFrame":
    """Return table `exposures`: in how many versions each sentence appears, and its readers at so many participants.

    Participants are dealt evenly to the versions of all experiments; what is left over goes to the first ones.
    """
    import pandas as pd

    each, more = divmod(participants, len(versions))
    shown: dict[tuple[str, str, str], list[int]] = {}
    for n, version in enumerate(versions):
        for trial in version.trials:
            for condition, _ in trial.shown:
                shown.setdefault((trial.item.paradigm, trial.item.id, condition), []).append(each + (n < more))
    rows = [(*key, len(readers), sum(readers)) for key, readers in sorted(shown.items())]
    return study.check(pd.DataFrame(rows, columns=study.TABLES["exposures"].names), "exposures")


def _practice(number: int, text: str, materials: Materials) -> Trial:
    sentence = Sentence(*source.parse(text))
    language = materials.items[0].language if materials.items else "en"
    item = Item(f"practice-{number}", PRACTICE, {PRACTICE: sentence}, language)
    return Trial("practice", item, ((PRACTICE, sentence),))


def _ordering(stated: study.Study) -> Ordering:
    try:
        return Ordering(**vars(stated.ordering))
    except ValueError as error:
        raise study.DataError(f"{stated.path}: {error}") from None


def design(stated: study.Study, materials: Materials | None = None) -> list[Version]:
    """Return the versions that a study.toml asks for, dealt from its materials (read from its files unless given)."""
    section = stated.design
    ordering = _ordering(stated)
    plan = Design(**vars(section))
    materials = materials or read(*stated.paths())
    try:
        return plan.deal(materials, ordering=ordering, seed=stated.seed)
    except ValueError as error:
        raise study.DataError(f"{stated.path}: design: {fault}" for fault in str(error).split("\n")) from None
