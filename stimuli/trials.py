"""Trials and versions: what one participant is shown, and in which order."""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal

from .among_targets import TargetOrders, among_targets
from .block_orders import BlockedOrders, StatedOrder
from .items import Item, Sentence, html_table
from .orderings import Drawn, Ordering, Orders
from .precedence import PrecedingOrders, chains_of

Role = Literal["target", "filler", "catch", "practice", "attention"]
PRACTICE: Final = "practice"
ATTENTION: Final = "attention"


@dataclass(frozen=True)
class Trial:
    """One presentation: its role, the item, the (condition, sentence) shown, and the names of the tasks that follow, in order.

    `shown` has two entries in a forced choice, the first one on the first side (left, or right where the language runs
    so). `factors` are the phenomenon and the levels of factors by which orders may be stated; `expected` are the responses
    that show attention, by task.

    >>> from gardenpath import stimuli
    >>> sentence = stimuli.Sentence("A dog barks.")
    >>> trial = stimuli.Trial("target", stimuli.Item("i1", "number", {"grammatical": sentence}), (("grammatical", sentence),))
    >>> trial.labels()
    {'role': 'target', 'paradigm': 'number', 'item': 'i1', 'condition': 'grammatical'}
    """

    role: Role
    item: Item
    shown: tuple[tuple[str, Sentence], ...]
    prompts: tuple[str, ...] = ()
    factors: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def labels(self) -> dict[str, str]:
        """Return the factors by which orders are stated: role, paradigm, item, condition, and those of `factors`."""
        identity = {
            "role": self.role,
            "paradigm": self.item.paradigm,
            "item": self.item.id,
            "condition": self.condition,
        }
        return {**self.factors, **identity}

    @property
    def condition(self) -> str:
        """The condition shown; in a forced choice both, joined by a plus sign in the order of their sides."""
        return "+".join(name for name, _ in self.shown)

    def has(self, name: str) -> bool:
        """Whether the item, or each sentence shown, has a field of this name, or the item a free column or a level of it."""
        if name in ("context", "question", "notes"):
            return getattr(self.item, name) is not None
        if name in ("segmentation", "display", "alternatives"):
            return all(getattr(sentence, name) is not None for _, sentence in self.shown)
        return self.given(name) is not None

    def given(self, column: str) -> str | None:
        """Return what a free column of the item says in the condition shown, or the level of a factor of that name."""
        extra = self.item.extra
        return extra.get(f"{column} ({self.condition})") or extra.get(column) or self.factors.get(column)

    def answer(self) -> str | None:
        """Return the right answer to the item's comprehension question in the condition shown, None without one."""
        return self.item.question.answers.get(self.condition) if self.item.question else None


@dataclass(frozen=True)
class Version:
    """A counterbalanced list of an experiment: which item is shown in which condition; orders differ by slot.

    `levels` are the version's levels of the factors that vary between participants. Where there are small `lists`, each of
    positions in `trials`, a session shows practice and one of them: the slot-th, and again from the first.

    >>> from importlib.resources import files
    >>> from gardenpath import stimuli, study
    >>> version = stimuli.design(study.load(files("gardenpath.examples") / "minimal-pairs"))[0]
    >>> sorted(version.order(slot=0)) == list(range(len(version.trials)))
    True
    """

    id: str
    experiment: str
    trials: tuple[Trial, ...]
    ordering: Ordering
    seed: int
    levels: Mapping[str, str] = field(default_factory=dict)
    lists: tuple[tuple[int, ...], ...] = ()

    def __repr__(self) -> str:
        roles = Counter(trial.role for trial in self.trials)
        return f"Version({self.experiment}-{self.id}: {', '.join(f'{n} {role}' for role, n in roles.items())})"

    def _repr_html_(self) -> str:
        counts = Counter((trial.role, trial.item.paradigm, trial.condition) for trial in self.trials)
        return html_table(("role", "paradigm", "condition", "trials"), [(*key, n) for key, n in counts.items()])

    def order(self, slot: int) -> list[int]:
        """Return positions in `trials` in the order of the slot-th session: practice as written, then the rest.

        The order depends on seed, experiment, version and slot alone, on every machine and Python version.
        """
        shown = self._shown(slot)
        return self._practice + [shown[i] for i in self.drawn(slot).order]

    def drawn(self, slot: int) -> Drawn:
        """Return the order of all trials but practice, or of those of the slot's list, with the way it was drawn."""
        orders = self.orders
        if self.lists and isinstance(orders, Orders):
            trials = tuple(orders.trials[i - len(self._practice)] for i in self._shown(slot))
            orders = replace(orders, trials=trials, starts=self.ordering.forgotten(len(trials)))
        return orders.sample(f"{self.seed}-{self.experiment}-{self.id}", slot)

    def pauses(self) -> frozenset[int]:
        """Return the presented positions before which a break comes."""
        return frozenset(len(self._practice) + n for n in self.ordering.pauses(self.length))

    @property
    def length(self) -> int:
        """How many trials a session has beside practice, the longest where lists differ."""
        return max(map(len, self.lists), default=len(self._ordered))

    def parts(self) -> list[tuple[Trial, ...]]:
        """Return what single participants are shown: all trials, or practice and a list, for each list."""
        if not self.lists:
            return [self.trials]
        return [tuple(self.trials[i] for i in (*self._practice, *some)) for some in self.lists]

    def open_slot(
        self, held: Collection[int], used: Collection[int], had: Collection[str] = (), first: int = 0
    ) -> int | None:
        """Return the slot of the first list that nobody holds and that shows nothing of `had`, None where there is none.

        `held` are the slots of sessions that keep their place, `used` those that any session has had; the lists begin at that of
        the slot `first`. Without lists it is the slot after all that were used.

        >>> version = Version("V1", "E1", (), Ordering(), 1, lists=((), ()))
        >>> version.open_slot(held=[0], used=[0, 1]), version.open_slot(held=[], used=[0]), version.open_slot([0, 3], [0, 1, 3])
        (3, 2, None)
        """
        if not self.lists:
            return max((slot + 1 for slot in used), default=first)
        number = len(self.lists)
        taken, known = {slot % number for slot in held}, frozenset(had)
        for n in range(first, first + number):
            if n % number not in taken and known.isdisjoint(self.shows[n % number]):
                return next(slot for slot in itertools.count(n, number) if slot not in used)
        return None

    @cached_property
    def shows(self) -> list[frozenset[str]]:
        """What is shown of targets in each list: items, and sentences, which items of other paradigms may have too."""
        return [self.shown_of(some) for some in self.lists]

    def shown_of(self, positions: Iterable[int]) -> frozenset[str]:
        """Return the items and sentences of the targets among these trials."""
        targets = [trial for trial in map(self.trials.__getitem__, positions) if trial.role == "target"]
        sentences = {sentence.text for trial in targets for sentence in trial.item.sentences.values()}
        return frozenset(sentences | {trial.item.id for trial in targets})

    def _shown(self, slot: int) -> Sequence[int]:
        return self.lists[slot % len(self.lists)] if self.lists else self._ordered

    @property
    def _number(self) -> int:
        """The version's number, from 0; 0 where its name has none."""
        return max(int(re.sub(r"\D", "", self.id) or 1) - 1, 0)

    @cached_property
    def _practice(self) -> list[int]:
        return [i for i, trial in enumerate(self.trials) if trial.role == PRACTICE]

    @cached_property
    def _ordered(self) -> list[int]:
        return [i for i, trial in enumerate(self.trials) if trial.role != PRACTICE]

    @cached_property
    def orders(self) -> Orders | BlockedOrders | StatedOrder | PrecedingOrders | TargetOrders:
        """The valid orders of all trials but practice; counted once, since counting costs far more than drawing."""
        if self.ordering.order != "random":
            return StatedOrder(len(self._ordered), self.ordering.order == "reversed")
        labels = [self.trials[i].labels() for i in self._ordered]
        if self.ordering.among == "targets":
            return among_targets(self.ordering, labels)
        whole = self.ordering.over(labels)
        if chains := chains_of(self.ordering.before, whole.trials):
            return PrecedingOrders(whole, chains)
        together = self.ordering.together
        return whole if together is None else BlockedOrders(whole, together, self.ordering.block_order, self._number)

    def starts(self) -> list[int]:
        """Return the positions, practice left out, at which blocks begin; raises `ValueError` where they differ by session."""
        if not isinstance(self.orders, BlockedOrders):
            return self.ordering.starts(self.length)
        sizes = {level: len(some) for level, some in self.orders.blocks.items()}
        if len({*sizes.values()}) > 1:
            told = ", ".join(f"{level} {size}" for level, size in sizes.items())
            raise ValueError(
                f"blocks of {self.orders.factor} differ in length ({told}): where they begin differs by session"
            )
        return [n * size for n, size in enumerate(sizes.values())]
