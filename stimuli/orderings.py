"""Orders of presentation: rules in the field's words, and orders drawn uniformly from all that obey them.

How an order is drawn: by counting, where no rule is stated but that neighbours differ in one factor (`adjacency`); by
rejection of such draws, which stays exactly uniform, where a pilot shows that it takes few enough; by counting over states
(`order_counting`) where they are few enough; else by random exchanges from a valid order, and the result is called
approximate. Which way is taken depends on the rules and the trials alone, never on what was drawn before.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from math import factorial
from random import Random

from gardenpath import study

from .adjacency import Arrangements
from .order_counting import StateCounter, TooManyStates
from .order_rules import NOT_APPLICABLE, Blocks, EdgeTrials, Limit, MaxRun, MinGap, group_watched_trials, is_redundant

Labels = Mapping[str, str]
OrderRule = MinGap | MaxRun | EdgeTrials | Blocks

PILOT_DRAWS = 4_000  # proposals by which it is judged how often one is valid: a second or so, once
MIN_ACCEPTANCE = 1 / 100  # below this share of valid proposals, counting over states is tried first
MAX_STATES = 8_000  # states counted before the question is given up as undecided: some seconds, once
MAX_WIDER_GAPS = 3  # wider gaps, the widest first, whose orders may start the exchanges
EXCHANGES_PER_TRIAL = 60  # random exchanges a trial, for an approximate order


@dataclass(frozen=True)
class Ordering(study.OrderingSection):
    """Rules of presentation order, stated in factors of a trial (`Trial.labels`): paradigm, phenomenon, condition, role ...

    `no_adjacent`: no two neighbours alike in these factors. `max_run`: longest run, {"condition": 3} of any value or
    {"condition": {"ungrammatical": 3}} of one. `min_gap`: least distance of two trials of one value, in positions.
    `fillers_between`: least number of other trials between two targets. `first`, `last`: number of trials of a role
    at the beginning and at the end. `blocks`: parts of equal length, `balance` the factor whose values are spread evenly over
    them; with `across_blocks = False` the last trial of a block and the first of the next do not count as neighbours, and
    with `across_breaks = False` nor do the trials before and after one of the `breaks`, which divide the trials equally. A rule
    on a factor that only some trials have leaves the others free.

    `together` names a factor whose levels are blocks, in orders that sessions have in turn (`block_order`: "latin_square",
    "williams", "all"); the rules hold in each block. `order` is "random", "fixed" (as in the files of materials) or "reversed"
    (so in one half of the sessions, backwards in the other). `before` has chains of items, each of which comes before the next.
    With `scope = "targets"` the rules hold for targets as they follow each other, whatever stands between two of them.

    >>> rules = Ordering(no_adjacent="paradigm", max_run={"condition": {"bad": 1}})
    >>> trials = [{"paradigm": p, "condition": c} for p in "ab" for c in ("good", "bad")]
    >>> orders = rules.build_orders(trials)
    >>> orders.count(), orders.sample(seed=1, slot=0).method
    (2, 'rejection')
    """

    breaks: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        faults = [f"{name} is {n}; expected at least {least}" for name, n, least in self._list_bounds() if n < least]
        if self.balance_across_blocks is not None and self.blocks == 1:
            faults.append("balance_across_blocks is given but blocks is 1; expected 2 blocks or more")
        if faults:
            raise ValueError("ordering: " + "; ".join(faults))

    def _list_bounds(self) -> Iterator[tuple[str, int, int]]:
        yield "blocks", self.blocks, 1
        yield "breaks", self.breaks, 0
        yield "min_fillers_between", self.min_fillers_between, 0
        yield from ((f"min_gap.{factor}", n, 1) for factor, n in self.min_gap.items())
        yield from ((f"max_run.{rule.factor}", rule.length, 1) for rule in self._list_max_runs())
        yield from ((f"start_with.{role}", n, 0) for role, n in self.start_with.items())
        yield from ((f"end_with.{role}", n, 0) for role, n in self.end_with.items())

    def _list_max_runs(self) -> Iterator[MaxRun]:
        for factor, longest in self.max_run.items():
            if isinstance(longest, int):
                yield MaxRun(factor, longest)
            else:
                yield from (MaxRun(factor, n, value) for value, n in longest.items())

    def list_rules(self) -> list[OrderRule]:
        """Return the rules one by one, each of which reads as a phrase (`str`)."""
        factors = (self.no_adjacent,) if isinstance(self.no_adjacent, str) else self.no_adjacent or ()
        rules: list[OrderRule] = [MinGap(factor, 2) for factor in factors]
        rules += [MinGap(factor, n) for factor, n in self.min_gap.items() if n > 1]
        rules += [MinGap("role", self.min_fillers_between + 1, "target")] if self.min_fillers_between else []
        rules += self._list_max_runs()
        rules += [EdgeTrials("role", role, n) for role, n in self.start_with.items() if n]
        rules += [EdgeTrials("role", role, n, at_end=True) for role, n in self.end_with.items() if n]
        return rules + ([Blocks(self.blocks, self.balance_across_blocks)] if self.blocks > 1 else [])

    def list_break_positions(self, n_trials: int) -> list[int]:
        """Return the positions before which a break comes, among `n_trials` trials."""
        return Blocks(self.breaks + 1).list_starts(n_trials)[1:-1]

    def list_block_starts(self, n_trials: int) -> list[int]:
        """Return the positions at which blocks begin, among `n_trials` trials."""
        return Blocks(self.blocks).list_starts(n_trials)[:-1]

    def list_reset_positions(self, n_trials: int) -> frozenset[int]:
        """Return the positions before which neighbours do not count as such, among `n_trials` trials."""
        starts = [] if self.adjacent_across_breaks else self.list_break_positions(n_trials)
        return frozenset(starts + ([] if self.adjacent_across_blocks else Blocks(self.blocks).list_starts(n_trials)[1:-1]))

    def build_orders(self, trials: Sequence[Labels]) -> "ValidOrders":
        """Return the valid orders of these trials, each given by its factors; raises `ValueError` for unknown factors."""
        used = {rule.factor for rule in self.list_rules() if rule.factor is not None}
        used |= {self.block_by} if self.block_by else set()
        for name in sorted(used):
            having = sum(name in labels for labels in trials)
            if having < (len(trials) if name in (self.balance_across_blocks, self.block_by) else 1):
                known = ", ".join(sorted({factor for labels in trials for factor in labels})) or "none"
                what = "every trial" if having else "any trial"
                raise ValueError(f"ordering: {name!r} is not a factor of {what}; expected one of {known}")
        labelled = [{**dict.fromkeys(used, NOT_APPLICABLE), **labels} for labels in trials]
        return ValidOrders(tuple(self.list_rules()), tuple(labelled), self.list_reset_positions(len(trials)))


@dataclass(frozen=True)
class DrawnOrder:
    """An order, as positions in the given trials, how it was drawn, and the share of proposals that were valid."""

    order: tuple[int, ...]
    method: str
    acceptance: float


@dataclass(frozen=True)
class ValidOrders:
    """All valid orders of some trials: how many there are, whether there is any, one drawn at random, one checked.

    Neighbours are forgotten before the positions `starts`.
    """

    rules: tuple[OrderRule, ...]
    trials: tuple[Labels, ...]
    starts: frozenset[int] = frozenset()

    def count(self) -> int | None:
        """Return the exact number of valid orders, or None where it is undecided within the budget."""
        base, others = self._base_and_others
        if not others:
            return base.count() if base else factorial(len(self.trials))
        if self._explain_impossibility():
            return 0
        try:
            return self._state_counter.count()
        except TooManyStates:
            return None

    def is_feasible(self) -> bool | None:
        """Return whether there is a valid order, or None where it is undecided within the budget."""
        if self._method in ("exact", "rejection", "states"):
            return True
        if self._method == "none":
            return False
        return True if self._find_order_by_exchange(Random("feasible")) is not None else None

    def find_conflict(self) -> list[str] | None:
        """Return rules that cannot hold together, none of which can be spared, in words; None where none are found."""
        if not self._is_impossible():
            return None
        kept = list(self.rules)
        for rule in self.rules:  # alone, a rule says more than in company
            if ValidOrders((rule,), self.trials, self.starts)._is_impossible():
                kept = [rule]
                break
        for rule in list(kept) if len(kept) > 1 else ():
            fewer = tuple(other for other in kept if other is not rule)
            if ValidOrders(fewer, self.trials, self.starts)._is_impossible():
                kept = list(fewer)
        whys = [ValidOrders((rule,), self.trials, self.starts)._explain_impossibility() for rule in kept]
        return [f"{rule} ({why})" if why else str(rule) for rule, why in zip(kept, whys, strict=True)]

    def _is_impossible(self) -> bool:
        """Whether it is certain that no order is valid."""
        base, others = self._base_and_others
        if self._explain_impossibility() or (base is not None and not base.count()):
            return True
        try:
            return bool(others) and not self._state_counter.count()
        except TooManyStates:
            return False

    def sample(self, seed: object, slot: int) -> DrawnOrder:
        """Return an order for the slot-th session; the same seed and slot give the same order on every machine.

        Raises `ValueError` naming the smallest set of rules that cannot hold together, or saying that none was found.
        """
        drawn = self.draw(Random(f"{seed}-{slot}"))
        assert self.check(drawn.order) == []  # never an invalid order, whatever the way it was drawn
        return drawn

    def draw(self, random: Random) -> DrawnOrder:
        """Return an order drawn with this generator."""
        if self._method == "none":
            self._raise_conflict()
        if self._method == "states":
            return DrawnOrder(tuple(self._state_counter.sample(random)), "exact", 1.0)
        if self._method != "exchanges":
            proposal = self._propose_order(random, 20 * PILOT_DRAWS)
            if proposal is not None:
                return DrawnOrder(proposal[0], self._method, 1 / proposal[1])
        exchanged = self._find_order_by_exchange(random)
        if exchanged is None:
            raise ValueError(
                f"no order was found in {PILOT_DRAWS} draws and {EXCHANGES_PER_TRIAL * len(self.trials)} exchanges, and whether "
                f"there is one is undecided: {'; '.join(map(str, self.rules))}; loosen a rule"
            )
        return DrawnOrder(exchanged, "approximate", 0.0)

    @cached_property
    def _method(self) -> str:
        """How orders are drawn: exact, rejection, states or exchanges; none where there is no valid order."""
        base, others = self._base_and_others
        if self._explain_impossibility() or (base is not None and not base.count()):
            return "none"
        if not others:
            return "exact"
        pilot = Random("pilot")
        left, valid = PILOT_DRAWS, 0
        while left > 0 and (proposal := self._propose_order(pilot, left)) is not None:
            left, valid = left - proposal[1], valid + 1
            if valid > MIN_ACCEPTANCE * PILOT_DRAWS:
                return "rejection"
        try:
            return "states" if self._state_counter.count() else "none"
        except TooManyStates:
            return "rejection" if valid else "exchanges"

    def check(self, order: Sequence[int]) -> list[str]:
        """Return what an order breaks, in words with the position from 0; it may come from anywhere."""
        if sorted(order) != list(range(len(self.trials))):
            return [f"the order has {len(order)} positions; expected each of {len(self.trials)} trials once"]
        return list(self._find_faults(order))

    def _find_faults(self, order: Sequence[int]) -> Iterator[str]:
        in_order = [self.trials[i] for i in order]
        return (fault for rule in self.rules for fault in self._find_breaches(rule, in_order))

    @cached_property
    def _needed_rules(self) -> tuple[OrderRule, ...]:
        """The rules without those that hold in every order, or in every order that obeys the others."""
        needed = list(self.rules)
        for rule in self.rules:
            if isinstance(rule, (MinGap, MaxRun)):
                others = [other for other in needed if isinstance(other, (MinGap, MaxRun)) and other is not rule]
                if is_redundant(rule, others, self.trials):
                    needed.remove(rule)
        return tuple(needed)

    def _raise_conflict(self) -> None:
        conflict = self.find_conflict()
        rules = "; ".join(conflict) if conflict else "; ".join(map(str, self.rules))
        raise ValueError(f"no order obeys these rules together: {rules}; loosen one of them, or change the trials")

    def _explain_impossibility(self) -> str | None:
        """Return why some rule cannot hold by numbers alone, or None."""
        for rule in self.rules:
            if isinstance(rule, (MinGap, MaxRun)) and not self.starts:
                numbers = [len(group) for group in group_watched_trials(rule, self.trials).values()]
                if numbers and (why := rule.explain_impossibility(numbers, len(self.trials))):
                    return why
            if isinstance(rule, EdgeTrials):
                count = sum(labels[rule.factor] == rule.value for labels in self.trials)
                if count < rule.count:
                    return f"{rule} asks for {rule.count}; there are {count}"
            if isinstance(rule, Blocks) and rule.factor is not None:
                counts = Counter(labels[rule.factor] for labels in self.trials)
                odd = next((value for value, n in counts.items() if n % rule.count), None)
                if odd is not None:
                    return f"{counts[odd]} trials of {odd} cannot be spread evenly over {rule.count} blocks"
        return None

    @cached_property
    def _base_and_others(self) -> tuple[Arrangements | None, tuple[OrderRule, ...]]:
        """The rule that exact draws obey by construction, the hardest of its kind, and the rules left to rejection.

        Where neighbours are forgotten, as many pairs may be alike, but nowhere else: that is left to rejection.
        """
        blocked = any(isinstance(rule, Blocks) for rule in self._needed_rules)
        adjacency_rules = [rule for rule in self._needed_rules if _is_adjacency_rule(rule) and not blocked]
        most = len(self.starts)
        bases = [(Arrangements(tuple(self._list_labels(str(rule.factor))), most), rule) for rule in adjacency_rules]
        if not bases:
            return None, self._needed_rules
        base, rule = min(bases, key=lambda pair: pair[0].count())
        return base, tuple(r for r in self._needed_rules if r is not rule or most)

    def _list_labels(self, factor: str) -> Iterator[str | int]:
        """Yield the value of each trial; each that the factor does not apply to is like no other one."""
        return (number if labels[factor] == NOT_APPLICABLE else labels[factor] for number, labels in enumerate(self.trials))

    def _propose_order(self, random: Random, max_draws: int) -> tuple[tuple[int, ...], int] | None:
        """Return the first valid of at most `max_draws` exact draws, with the number of draws; None where none is valid."""
        base, others = self._base_and_others
        blocks = next((rule for rule in self.rules if isinstance(rule, Blocks)), None)
        for tries in range(1, max_draws + 1):
            order = base.sample(random) if base else self._shuffle_trials(blocks, random)
            in_order = [self.trials[i] for i in order]
            if not any(True for rule in others for _ in self._find_breaches(rule, in_order)):
                return tuple(order), tries
        return None

    def _shuffle_trials(self, blocks: Blocks | None, random: Random) -> list[int]:
        """Return a shuffle; with balanced blocks, one drawn uniformly from those that keep the balance."""
        positions = list(range(len(self.trials)))
        random.shuffle(positions)
        if blocks is None or blocks.factor is None:
            return positions
        parts: list[list[int]] = [[] for _ in range(blocks.count)]
        counts: Counter[str] = Counter()
        for i in positions:
            value = self.trials[i][blocks.factor]
            parts[counts[value] % blocks.count].append(i)
            counts[value] += 1
        for part in parts:
            random.shuffle(part)
        return [i for part in parts for i in part]

    @cached_property
    def _state_counter(self) -> StateCounter:
        """The counter of states; it remembers that there are too many, so that the question is asked once."""
        return StateCounter(self._needed_rules, self.trials, self.starts, MAX_STATES)

    def _find_breaches(self, rule: OrderRule, in_order: Sequence[Labels]) -> Iterator[str]:
        """Yield each breach of one rule, in words."""
        if isinstance(rule, Blocks):
            yield from _find_imbalances(rule, in_order)
        elif isinstance(rule, EdgeTrials):
            for position, labels in enumerate(in_order):
                if not rule.is_allowed(position, len(in_order), labels[rule.factor]):
                    yield f"{rule}: trial {position} is of {rule.factor} {labels[rule.factor]}"
        else:
            yield from self._find_limit_breaches(rule, in_order)

    def _find_limit_breaches(self, rule: Limit, in_order: Sequence[Labels]) -> Iterator[str]:
        marks: dict[str, tuple[int, int]] = {}  # of each value where it stood last, and its mark there
        for position, labels in enumerate(in_order):
            if position in self.starts:
                marks.clear()
            value = labels[rule.factor]
            if value == NOT_APPLICABLE or (rule.value is not None and value != rule.value):
                continue
            last, mark = marks.get(value, (position - 1, 0))
            mark = rule.decay_mark(mark, position - last - 1)
            if not rule.is_allowed(mark):
                yield f"{rule}: trial {position} is of {rule.factor} {value} again"
            marks[value] = position, rule.update_mark(mark, True)

    def _find_order_by_exchange(self, random: Random) -> tuple[int, ...] | None:
        """Return a valid order reached by random exchanges that never add a breach; None where none is reached.

        Once valid, exchanges that keep it valid go on as long again, so that it is far from where it became valid. Where none is
        reached from a shuffle, they start from an order that obeys a stronger rule.
        """
        reached = self._exchange_trials(self._draw_start(random), random)
        if reached is not None or self._stronger_orders is None:
            return reached
        return self._exchange_trials(self._stronger_orders.sample(random), random)

    def _draw_start(self, random: Random) -> list[int]:
        """Return an order that obeys what is easily obeyed."""
        base, _ = self._base_and_others
        blocks = next((rule for rule in self.rules if isinstance(rule, Blocks)), None)
        return base.sample(random) if base and base.count() else self._shuffle_trials(blocks, random)

    @cached_property
    def _stronger_orders(self) -> StateCounter | None:
        """The orders of a wider gap that can be counted and from which exchanges reach a valid order, where there are some."""
        pilot = Random("exchanges")
        for rule in self._needed_rules:
            if not isinstance(rule, MinGap):
                continue
            wider = (replace(rule, distance=distance) for distance in range(len(self.trials), rule.distance, -1))
            groups = [len(group) for group in group_watched_trials(rule, self.trials).values()]
            possible = (one for one in wider if not one.explain_impossibility(groups, len(self.trials)))
            for one in islice(possible, MAX_WIDER_GAPS):
                stronger_rules = tuple(one if other is rule else other for other in self._needed_rules)
                for rules in dict.fromkeys([stronger_rules, (one,)]):
                    counted = StateCounter(rules, self.trials, self.starts, MAX_STATES)
                    with suppress(TooManyStates):
                        if counted.count() and self._exchange_trials(counted.sample(pilot), pilot) is not None:
                            return counted
        return None

    def _exchange_trials(self, order: list[int], random: Random) -> tuple[int, ...] | None:
        """Return the order after random exchanges that add no breach; None where it is not valid then."""
        factors = sorted({rule.factor for rule in self.rules if rule.factor is not None})
        kinds = [[labels[factor] for factor in factors] for labels in self.trials]
        breaches = len(self.check(order))
        for _ in range(EXCHANGES_PER_TRIAL * len(order)):
            i, j = random.randrange(len(order)), random.randrange(len(order))
            order[i], order[j] = order[j], order[i]
            if kinds[order[i]] == kinds[order[j]]:
                continue  # what the rules see is as it was
            now = sum(1 for _ in islice(self._find_faults(order), breaches + 1))
            if now > breaches:
                order[i], order[j] = order[j], order[i]
            else:
                breaches = now
        return None if breaches else tuple(order)


def _is_adjacency_rule(rule: OrderRule) -> bool:
    """Whether a rule says that neighbours differ in a factor, and no more."""
    if not isinstance(rule, (MinGap, MaxRun)) or rule.value is not None:
        return False
    return rule.distance == 2 if isinstance(rule, MinGap) else rule.length == 1


def _find_imbalances(rule: Blocks, in_order: Sequence[Labels]) -> Iterator[str]:
    if rule.factor is None:
        return
    starts = rule.list_starts(len(in_order))
    whole = Counter(labels[rule.factor] for labels in in_order)
    for b, (start, end) in enumerate(pairwise(starts)):
        part = Counter(labels[rule.factor] for labels in in_order[start:end])
        for value, n in whole.items():
            if part[value] * rule.count != n:
                yield f"{rule}: block {b} has {part[value]} trials of {value}, expected {n / rule.count:g}"
