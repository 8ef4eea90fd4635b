"""Trials and lists: what one participant is shown, and in which order."""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal

from .block_orders import BlockedOrders, FixedOrder
from .items import Item, Sentence, format_html_table
from .orderings import DrawnOrder, Ordering, ValidOrders
from .precedence import PrecedenceOrders, build_chains
from .target_orders import TargetOrders, build_target_orders

Role = Literal["target", "filler", "catch", "practice", "attention"]
PRACTICE: Final = "practice"
ATTENTION: Final = "attention"


@dataclass(frozen=True)
class Trial:
    """One presentation: its role, the item, the (condition, sentence) shown, and the names of the tasks that follow, in order.

    `shown_sentences` has two entries in a forced choice, the first one on the first side (left, or right where the language runs
    so). `factors` are the phenomenon and the levels of factors by which orders may be stated; `expected_responses` are the
    responses that show attention, by task.

    >>> from gardenpath import stimuli
    >>> sentence = stimuli.Sentence("A dog barks.")
    >>> trial = stimuli.Trial("target", stimuli.Item("i1", "number", {"grammatical": sentence}), (("grammatical", sentence),))
    >>> trial.build_labels()
    {'role': 'target', 'paradigm': 'number', 'item': 'i1', 'condition': 'grammatical'}
    """

    role: Role
    item: Item
    shown_sentences: tuple[tuple[str, Sentence], ...]
    prompts: tuple[str, ...] = ()
    factors: Mapping[str, str] = field(default_factory=dict)
    expected_responses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def build_labels(self) -> dict[str, str]:
        """Return the factors by which orders are stated: role, paradigm, item, condition, and those of `factors`."""
        identity = {"role": self.role, "paradigm": self.item.paradigm, "item": self.item.id, "condition": self.condition}
        return {**self.factors, **identity}

    @property
    def condition(self) -> str:
        """The condition shown; in a forced choice both, joined by a plus sign in the order of their sides."""
        return "+".join(name for name, _ in self.shown_sentences)

    def has_value(self, name: str) -> bool:
        """Whether the item, or each sentence shown, has a field of this name, or the item a free column or a level of it."""
        if name in ("context", "question", "notes"):
            return getattr(self.item, name) is not None
        if name in ("segmentation", "display", "alternatives"):
            return all(getattr(sentence, name) is not None for _, sentence in self.shown_sentences)
        return self.get_value(name) is not None

    def get_value(self, column: str) -> str | None:
        """Return what a free column of the item says in the condition shown, or the level of a factor of that name."""
        extra = self.item.extra
        return extra.get(f"{column} ({self.condition})") or extra.get(column) or self.factors.get(column)

    def get_answer(self) -> str | None:
        """Return the right answer to the item's comprehension question in the condition shown, None without one."""
        return self.item.question.answers.get(self.condition) if self.item.question else None


@dataclass(frozen=True)
class TrialList:
    """A counterbalanced list of an experiment: which item is shown in which condition; orders differ by slot.

    `levels` are the list's levels of the factors that vary between participants. Where there are `short_lists`, each of
    positions in `trials`, a session shows practice and one of them: the slot-th, and again from the first.

    >>> from importlib.resources import files
    >>> from gardenpath import stimuli, study
    >>> trial_list = stimuli.design(study.load(files("gardenpath.examples") / "minimal-pairs"))[0]
    >>> sorted(trial_list.order_trials(slot=0)) == list(range(len(trial_list.trials)))
    True
    """

    id: str
    experiment: str
    trials: tuple[Trial, ...]
    ordering: Ordering
    seed: int
    levels: Mapping[str, str] = field(default_factory=dict)
    short_lists: tuple[tuple[int, ...], ...] = ()

    def __repr__(self) -> str:
        roles = Counter(trial.role for trial in self.trials)
        return f"TrialList({self.experiment}-{self.id}: {', '.join(f'{n} {role}' for role, n in roles.items())})"

    def _repr_html_(self) -> str:
        counts = Counter((trial.role, trial.item.paradigm, trial.condition) for trial in self.trials)
        return format_html_table(("role", "paradigm", "condition", "trials"), [(*key, n) for key, n in counts.items()])

    def order_trials(self, slot: int) -> list[int]:
        """Return positions in `trials` in the order of the slot-th session: practice as written, then the rest.

        The order depends on seed, experiment, list and slot alone, on every machine and Python version.
        """
        shown = self._select_positions(slot)
        return self._practice_positions + [shown[i] for i in self.draw_order(slot).order]

    def draw_order(self, slot: int) -> DrawnOrder:
        """Return the order of all trials but practice, or of those of the slot's short list, with the way it was drawn."""
        orders = self.orders
        if self.short_lists and isinstance(orders, ValidOrders):
            trials = tuple(orders.trials[i - len(self._practice_positions)] for i in self._select_positions(slot))
            orders = replace(orders, trials=trials, starts=self.ordering.list_reset_positions(len(trials)))
        # V stays in the seed, whatever the labels of lists are: by it orders are drawn as they were.
        return orders.sample(f"{self.seed}-{self.experiment}-V{self._list_number + 1}", slot)

    def list_break_positions(self) -> frozenset[int]:
        """Return the presented positions before which a break comes."""
        return frozenset(len(self._practice_positions) + n for n in self.ordering.list_break_positions(self.length))

    @property
    def length(self) -> int:
        """How many trials a session has beside practice, the longest where lists differ."""
        return max(map(len, self.short_lists), default=len(self._ordered_positions))

    def list_participant_trials(self) -> list[tuple[Trial, ...]]:
        """Return what single participants are shown: all trials, or practice and a short list, for each of these."""
        if not self.short_lists:
            return [self.trials]
        return [tuple(self.trials[i] for i in (*self._practice_positions, *some)) for some in self.short_lists]

    def find_open_slot(
        self, held_slots: Collection[int], used_slots: Collection[int], seen_contents: Collection[str] = (), first_slot: int = 0
    ) -> int | None:
        """Return the slot of the first short list that nobody holds and that shows none of `seen_contents`, or None.

        `held_slots` are the slots of sessions that keep their place, `used_slots` those that any session has had; the lists begin
        at that of the slot `first_slot`. Without short lists it is the slot after all that were used.

        >>> trial_list = TrialList("L1", "E1", (), Ordering(), 1, short_lists=((), ()))
        >>> trial_list.find_open_slot(held_slots=[0], used_slots=[0, 1]), trial_list.find_open_slot(held_slots=[], used_slots=[0])
        (3, 2)
        >>> trial_list.find_open_slot([0, 3], [0, 1, 3])
        """
        if not self.short_lists:
            return max((slot + 1 for slot in used_slots), default=first_slot)
        number = len(self.short_lists)
        taken, known = {slot % number for slot in held_slots}, frozenset(seen_contents)
        for n in range(first_slot, first_slot + number):
            if n % number not in taken and known.isdisjoint(self.short_list_contents[n % number]):
                return next(slot for slot in itertools.count(n, number) if slot not in used_slots)
        return None

    @cached_property
    def short_list_contents(self) -> list[frozenset[str]]:
        """What is shown of targets in each short list: items, and sentences, which items of other paradigms may have too."""
        return [self.collect_contents(some) for some in self.short_lists]

    def collect_contents(self, positions: Iterable[int]) -> frozenset[str]:
        """Return the items and sentences of the targets among these trials."""
        targets = [trial for trial in map(self.trials.__getitem__, positions) if trial.role == "target"]
        sentences = {sentence.text for trial in targets for sentence in trial.item.sentences.values()}
        return frozenset(sentences | {trial.item.id for trial in targets})

    def _select_positions(self, slot: int) -> Sequence[int]:
        return self.short_lists[slot % len(self.short_lists)] if self.short_lists else self._ordered_positions

    @property
    def _list_number(self) -> int:
        """The list's number, from 0; 0 where its name has none."""
        return max(int(re.sub(r"\D", "", self.id) or 1) - 1, 0)

    @cached_property
    def _practice_positions(self) -> list[int]:
        return [i for i, trial in enumerate(self.trials) if trial.role == PRACTICE]

    @cached_property
    def _ordered_positions(self) -> list[int]:
        return [i for i, trial in enumerate(self.trials) if trial.role != PRACTICE]

    @cached_property
    def orders(self) -> ValidOrders | BlockedOrders | FixedOrder | PrecedenceOrders | TargetOrders:
        """The valid orders of all trials but practice; counted once, since counting costs far more than drawing."""
        if self.ordering.order != "random":
            return FixedOrder(len(self._ordered_positions), self.ordering.order == "reversed")
        labels = [self.trials[i].build_labels() for i in self._ordered_positions]
        if self.ordering.scope == "targets":
            return build_target_orders(self.ordering, labels)
        whole = self.ordering.build_orders(labels)
        if chains := build_chains(self.ordering.precedence, whole.trials):
            return PrecedenceOrders(whole, chains)
        together = self.ordering.block_by
        return whole if together is None else BlockedOrders(whole, together, self.ordering.block_order, self._list_number)

    def list_block_starts(self) -> list[int]:
        """Return the positions, practice left out, at which blocks begin; raises `ValueError` where they differ by session."""
        if not isinstance(self.orders, BlockedOrders):
            return self.ordering.list_block_starts(self.length)
        sizes = {level: len(some) for level, some in self.orders.blocks.items()}
        if len({*sizes.values()}) > 1:
            listing = ", ".join(f"{level} {size}" for level, size in sizes.items())
            raise ValueError(f"blocks of {self.orders.factor} differ in length ({listing}): where they begin differs by session")
        return [n * size for n, size in enumerate(sizes.values())]
