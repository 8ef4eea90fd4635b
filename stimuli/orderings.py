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
from .order_counting import StateCounts, TooManyStates
from .order_rules import FREE, Blocks, Edge, Gap, Limit, Run, needless, watched

Labels = Mapping[str, str]
Rule = Gap | Run | Edge | Blocks

PILOT = 4_000  # proposals by which it is judged how often one is valid: a second or so, once
RARE = 1 / 100  # below this share of valid proposals, counting over states is tried first
STATES = 8_000  # states counted before the question is given up as undecided: some seconds, once
WIDER = 3  # wider gaps, the widest first, whose orders may start the exchanges
EXCHANGES = 60  # random exchanges a trial, for an approximate order


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

    >>> rules = Ordering(no_adjacent="paradigm", max_run={"condition": {"bad": 1}})
    >>> trials = [{"paradigm": p, "condition": c} for p in "ab" for c in ("good", "bad")]
    >>> orders = rules.over(trials)
    >>> orders.count(), orders.sample(seed=1, slot=0).method
    (2, 'rejection')
    """

    breaks: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        faults = [f"{name} is {n}; expected at least {least}" for name, n, least in self._numbers() if n < least]
        if self.balance is not None and self.blocks == 1:
            faults.append("balance is given but blocks is 1; expected 2 blocks or more")
        if faults:
            raise ValueError("ordering: " + "; ".join(faults))

    def _numbers(self) -> Iterator[tuple[str, int, int]]:
        yield "blocks", self.blocks, 1
        yield "breaks", self.breaks, 0
        yield "fillers_between", self.fillers_between, 0
        yield from ((f"min_gap.{factor}", n, 1) for factor, n in self.min_gap.items())
        yield from ((f"max_run.{rule.factor}", rule.length, 1) for rule in self._runs())
        yield from ((f"first.{role}", n, 0) for role, n in self.first.items())
        yield from ((f"last.{role}", n, 0) for role, n in self.last.items())

    def _runs(self) -> Iterator[Run]:
        for factor, longest in self.max_run.items():
            if isinstance(longest, int):
                yield Run(factor, longest)
            else:
                yield from (Run(factor, n, value) for value, n in longest.items())

    def rules(self) -> list[Rule]:
        """Return the rules one by one, each of which reads as a phrase (`str`)."""
        alike = (self.no_adjacent,) if isinstance(self.no_adjacent, str) else self.no_adjacent or ()
        rules: list[Rule] = [Gap(factor, 2) for factor in alike]
        rules += [Gap(factor, n) for factor, n in self.min_gap.items() if n > 1]
        rules += [Gap("role", self.fillers_between + 1, "target")] if self.fillers_between else []
        rules += self._runs()
        rules += [Edge("role", role, n) for role, n in self.first.items() if n]
        rules += [Edge("role", role, n, last=True) for role, n in self.last.items() if n]
        return rules + ([Blocks(self.blocks, self.balance)] if self.blocks > 1 else [])

    def pauses(self, places: int) -> list[int]:
        """Return the positions before which a break comes, among `places` trials."""
        return Blocks(self.breaks + 1).starts(places)[1:-1]

    def starts(self, places: int) -> list[int]:
        """Return the positions at which blocks begin, among `places` trials."""
        return Blocks(self.blocks).starts(places)[:-1]

    def forgotten(self, places: int) -> frozenset[int]:
        """Return the positions before which neighbours do not count as such, among `places` trials."""
        starts = [] if self.across_breaks else self.pauses(places)
        return frozenset(starts + ([] if self.across_blocks else Blocks(self.blocks).starts(places)[1:-1]))

    def over(self, trials: Sequence[Labels]) -> "Orders":
        """Return the valid orders of these trials, each given by its factors; raises `ValueError` for unknown factors."""
        used = {rule.factor for rule in self.rules() if rule.factor is not None}
        used |= {self.together} if self.together else set()
        for name in sorted(used):
            having = sum(name in labels for labels in trials)
            if having < (len(trials) if name in (self.balance, self.together) else 1):
                known = ", ".join(sorted({factor for labels in trials for factor in labels})) or "none"
                what = "every trial" if having else "any trial"
                raise ValueError(f"ordering: {name!r} is not a factor of {what}; expected one of {known}")
        labelled = [{**dict.fromkeys(used, FREE), **labels} for labels in trials]
        return Orders(tuple(self.rules()), tuple(labelled), self.forgotten(len(trials)))


@dataclass(frozen=True)
class Drawn:
    """An order, as positions in the given trials, how it was drawn, and the share of proposals that were valid."""

    order: tuple[int, ...]
    method: str
    acceptance: float


@dataclass(frozen=True)
class Orders:
    """All valid orders of some trials: how many there are, whether there is any, one drawn at random, one checked.

    Neighbours are forgotten before the positions `starts`.
    """

    rules: tuple[Rule, ...]
    trials: tuple[Labels, ...]
    starts: frozenset[int] = frozenset()

    def count(self) -> int | None:
        """Return the exact number of valid orders, or None where it is undecided within the budget."""
        base, others = self._base
        if not others:
            return base.count() if base else factorial(len(self.trials))
        if self._arithmetic():
            return 0
        try:
            return self._states.count()
        except TooManyStates:
            return None

    def feasible(self) -> bool | None:
        """Return whether there is a valid order, or None where it is undecided within the budget."""
        if self._way in ("exact", "rejection", "states"):
            return True
        if self._way == "none":
            return False
        return True if self._exchanged(Random("feasible")) is not None else None

    def conflict(self) -> list[str] | None:
        """Return rules that cannot hold together, none of which can be spared, in words; None where none are found."""
        if not self._impossible():
            return None
        kept = list(self.rules)
        for rule in self.rules:  # alone, a rule says more than in company
            if Orders((rule,), self.trials, self.starts)._impossible():
                kept = [rule]
                break
        for rule in list(kept) if len(kept) > 1 else ():
            fewer = tuple(other for other in kept if other is not rule)
            if Orders(fewer, self.trials, self.starts)._impossible():
                kept = list(fewer)
        whys = [Orders((rule,), self.trials, self.starts)._arithmetic() for rule in kept]
        return [f"{rule} ({why})" if why else str(rule) for rule, why in zip(kept, whys, strict=True)]

    def _impossible(self) -> bool:
        """Whether it is certain that no order is valid."""
        base, others = self._base
        if self._arithmetic() or (base is not None and not base.count()):
            return True
        try:
            return bool(others) and not self._states.count()
        except TooManyStates:
            return False

    def sample(self, seed: object, slot: int) -> Drawn:
        """Return an order for the slot-th session; the same seed and slot give the same order on every machine.

        Raises `ValueError` naming the smallest set of rules that cannot hold together, or saying that none was found.
        """
        drawn = self.draw(Random(f"{seed}-{slot}"))
        assert self.check(drawn.order) == []  # never an invalid order, whatever the way it was drawn
        return drawn

    def draw(self, random: Random) -> Drawn:
        """Return an order drawn with this generator."""
        if self._way == "none":
            self._refuse()
        if self._way == "states":
            return Drawn(tuple(self._states.sample(random)), "exact", 1.0)
        if self._way != "exchanges":
            proposal = self._proposed(random, 20 * PILOT)
            if proposal is not None:
                return Drawn(proposal[0], self._way, 1 / proposal[1])
        exchanged = self._exchanged(random)
        if exchanged is None:
            raise ValueError(
                f"no order was found in {PILOT} draws and {EXCHANGES * len(self.trials)} exchanges, and whether there is one "
                f"is undecided: {'; '.join(map(str, self.rules))}; loosen a rule"
            )
        return Drawn(exchanged, "approximate", 0.0)

    @cached_property
    def _way(self) -> str:
        """How orders are drawn: exact, rejection, states or exchanges; none where there is no valid order."""
        base, others = self._base
        if self._arithmetic() or (base is not None and not base.count()):
            return "none"
        if not others:
            return "exact"
        pilot = Random("pilot")
        left, valid = PILOT, 0
        while left > 0 and (proposal := self._proposed(pilot, left)) is not None:
            left, valid = left - proposal[1], valid + 1
            if valid > RARE * PILOT:
                return "rejection"
        try:
            return "states" if self._states.count() else "none"
        except TooManyStates:
            return "rejection" if valid else "exchanges"

    def check(self, order: Sequence[int]) -> list[str]:
        """Return what an order breaks, in words with the position from 0; it may come from anywhere."""
        if sorted(order) != list(range(len(self.trials))):
            return [f"the order has {len(order)} places; expected each of {len(self.trials)} trials once"]
        return list(self._faults(order))

    def _faults(self, order: Sequence[int]) -> Iterator[str]:
        in_order = [self.trials[i] for i in order]
        return (fault for rule in self.rules for fault in self._breaches(rule, in_order))

    @cached_property
    def _needed(self) -> tuple[Rule, ...]:
        """The rules without those that hold in every order, or in every order that obeys the others."""
        needed = list(self.rules)
        for rule in self.rules:
            if isinstance(rule, (Gap, Run)):
                others = [other for other in needed if isinstance(other, (Gap, Run)) and other is not rule]
                if needless(rule, others, self.trials):
                    needed.remove(rule)
        return tuple(needed)

    def _refuse(self) -> None:
        conflict = self.conflict()
        rules = "; ".join(conflict) if conflict else "; ".join(map(str, self.rules))
        raise ValueError(f"no order obeys these rules together: {rules}; loosen one of them, or change the trials")

    def _arithmetic(self) -> str | None:
        """Return why some rule cannot hold by numbers alone, or None."""
        for rule in self.rules:
            if isinstance(rule, (Gap, Run)) and not self.starts:
                numbers = [len(group) for group in watched(rule, self.trials).values()]
                if numbers and (why := rule.impossible(numbers, len(self.trials))):
                    return why
            if isinstance(rule, Edge):
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
    def _base(self) -> tuple[Arrangements | None, tuple[Rule, ...]]:
        """The rule that exact draws obey by construction, the hardest of its kind, and the rules left to rejection.

        Where neighbours are forgotten, as many pairs may be alike, but nowhere else: that is left to rejection.
        """
        blocked = any(isinstance(rule, Blocks) for rule in self._needed)
        alike = [rule for rule in self._needed if _parts_neighbours(rule) and not blocked]
        most = len(self.starts)
        bases = [(Arrangements(tuple(self._labels(str(rule.factor))), most), rule) for rule in alike]
        if not bases:
            return None, self._needed
        base, rule = min(bases, key=lambda pair: pair[0].count())
        return base, tuple(r for r in self._needed if r is not rule or most)

    def _labels(self, factor: str) -> Iterator[str | int]:
        """Yield the value of each trial; each that the factor does not apply to is like no other one."""
        return (number if labels[factor] == FREE else labels[factor] for number, labels in enumerate(self.trials))

    def _proposed(self, random: Random, most: int) -> tuple[tuple[int, ...], int] | None:
        """Return the first valid of at most `most` exact draws, with the number of draws; None where none is valid."""
        base, others = self._base
        blocks = next((rule for rule in self.rules if isinstance(rule, Blocks)), None)
        for tries in range(1, most + 1):
            order = base.sample(random) if base else self._shuffled(blocks, random)
            in_order = [self.trials[i] for i in order]
            if not any(True for rule in others for _ in self._breaches(rule, in_order)):
                return tuple(order), tries
        return None

    def _shuffled(self, blocks: Blocks | None, random: Random) -> list[int]:
        """Return a shuffle; with balanced blocks, one drawn uniformly from those that keep the balance."""
        positions = list(range(len(self.trials)))
        random.shuffle(positions)
        if blocks is None or blocks.factor is None:
            return positions
        parts: list[list[int]] = [[] for _ in range(blocks.count)]
        dealt: Counter[str] = Counter()
        for i in positions:
            value = self.trials[i][blocks.factor]
            parts[dealt[value] % blocks.count].append(i)
            dealt[value] += 1
        for part in parts:
            random.shuffle(part)
        return [i for part in parts for i in part]

    @cached_property
    def _states(self) -> StateCounts:
        """The counter of states; it remembers that there are too many, so that the question is asked once."""
        return StateCounts(self._needed, self.trials, self.starts, STATES)

    def _breaches(self, rule: Rule, in_order: Sequence[Labels]) -> Iterator[str]:
        """Yield each breach of one rule, in words."""
        if isinstance(rule, Blocks):
            yield from _unbalanced(rule, in_order)
        elif isinstance(rule, Edge):
            for position, labels in enumerate(in_order):
                if not rule.allows(position, len(in_order), labels[rule.factor]):
                    yield f"{rule}: trial {position} is of {rule.factor} {labels[rule.factor]}"
        else:
            yield from self._limit_breaches(rule, in_order)

    def _limit_breaches(self, rule: Limit, in_order: Sequence[Labels]) -> Iterator[str]:
        marks: dict[str, tuple[int, int]] = {}  # of each value where it stood last, and its mark there
        for position, labels in enumerate(in_order):
            if position in self.starts:
                marks.clear()
            value = labels[rule.factor]
            if value == FREE or (rule.value is not None and value != rule.value):
                continue
            last, mark = marks.get(value, (position - 1, 0))
            mark = rule.faded(mark, position - last - 1)
            if not rule.allows(mark):
                yield f"{rule}: trial {position} is of {rule.factor} {value} again"
            marks[value] = position, rule.after(mark, True)

    def _exchanged(self, random: Random) -> tuple[int, ...] | None:
        """Return a valid order reached by random exchanges that never add a breach; None where none is reached.

        Once valid, exchanges that keep it valid go on as long again, so that it is far from where it became valid. Where none is
        reached from a shuffle, they start from an order that obeys a stronger rule.
        """
        reached = self._exchanging(self._start(random), random)
        if reached is not None or self._stronger is None:
            return reached
        return self._exchanging(self._stronger.sample(random), random)

    def _start(self, random: Random) -> list[int]:
        """Return an order that obeys what is easily obeyed."""
        base, _ = self._base
        blocks = next((rule for rule in self.rules if isinstance(rule, Blocks)), None)
        return base.sample(random) if base and base.count() else self._shuffled(blocks, random)

    @cached_property
    def _stronger(self) -> StateCounts | None:
        """The orders of a wider gap that can be counted and from which exchanges reach a valid order, where there are some."""
        pilot = Random("exchanges")
        for rule in self._needed:
            if not isinstance(rule, Gap):
                continue
            wider = (replace(rule, distance=distance) for distance in range(len(self.trials), rule.distance, -1))
            groups = [len(group) for group in watched(rule, self.trials).values()]
            possible = (one for one in wider if not one.impossible(groups, len(self.trials)))
            for one in islice(possible, WIDER):
                together = tuple(one if other is rule else other for other in self._needed)
                for rules in dict.fromkeys([together, (one,)]):
                    counted = StateCounts(rules, self.trials, self.starts, STATES)
                    with suppress(TooManyStates):
                        if counted.count() and self._exchanging(counted.sample(pilot), pilot) is not None:
                            return counted
        return None

    def _exchanging(self, order: list[int], random: Random) -> tuple[int, ...] | None:
        """Return the order after random exchanges that add no breach; None where it is not valid then."""
        factors = sorted({rule.factor for rule in self.rules if rule.factor is not None})
        kinds = [[labels[factor] for factor in factors] for labels in self.trials]
        breaches = len(self.check(order))
        for _ in range(EXCHANGES * len(order)):
            i, j = random.randrange(len(order)), random.randrange(len(order))
            order[i], order[j] = order[j], order[i]
            if kinds[order[i]] == kinds[order[j]]:
                continue  # what the rules see is as it was
            now = sum(1 for _ in islice(self._faults(order), breaches + 1))
            if now > breaches:
                order[i], order[j] = order[j], order[i]
            else:
                breaches = now
        return None if breaches else tuple(order)


def _parts_neighbours(rule: Rule) -> bool:
    """Whether a rule says that neighbours differ in a factor, and no more."""
    if not isinstance(rule, (Gap, Run)) or rule.value is not None:
        return False
    return rule.distance == 2 if isinstance(rule, Gap) else rule.length == 1


def _unbalanced(rule: Blocks, in_order: Sequence[Labels]) -> Iterator[str]:
    if rule.factor is None:
        return
    starts = rule.starts(len(in_order))
    whole = Counter(labels[rule.factor] for labels in in_order)
    for b, (start, end) in enumerate(pairwise(starts)):
        part = Counter(labels[rule.factor] for labels in in_order[start:end])
        for value, n in whole.items():
            if part[value] * rule.count != n:
                yield f"{rule}: block {b} has {part[value]} trials of {value}, expected {n / rule.count:g}"
