"""Questions in a counterbalanced design: which items they are asked about, and where in the Latin square these items stand."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from random import Random

from .task_shares import too_few

Answers = tuple[str, ...]  # the right answer at each place of the cycle of conditions


def choose(name: str, share: float, trials: int, groups: Sequence[Mapping[str, Answers]], random: Random) -> set[str]:
    """Return the items about which the question `name` is asked: a `share` of the `trials` of a version.

    `groups` are the items that rotate together, with their answers. Each group gives about the same share; each answer is right
    equally often, in all and in each group, as far as the answers allow. Raises `ValueError` with the arithmetic where they do not
    depend on the condition and there are too few of one.
    """
    wanted = round(share * trials)
    if wanted and (faults := _faults(name, share, wanted, trials, groups)):
        raise ValueError("; ".join(faults))
    left: dict[tuple[int, Answers], list[str]] = defaultdict(list)
    for group, items in enumerate(groups):
        for item in random.sample(list(items), len(items)):
            left[group, items[item]].append(item)
    everywhere: dict[str, Fraction] = defaultdict(Fraction)
    within, taken = Counter[tuple[int, int, str]](), Counter[int]()

    def so_far(kind: tuple[int, Answers]) -> tuple[Fraction, Fraction, int]:
        group, answers = kind
        here = sum(within[group, place, answer] for place, answer in enumerate(answers))
        return (
            sum((everywhere[answer] for answer in answers), Fraction()) / len(answers),
            Fraction(taken[group], len(groups[group])),
            here,
        )

    kinds = random.sample(list(left), len(left))
    chosen = set()
    for _ in range(wanted):
        group, answers = kind = min((kind for kind in kinds if left[kind]), key=so_far)
        chosen.add(left[kind].pop())
        taken[group] += 1
        for place, answer in enumerate(answers):
            everywhere[answer] += Fraction(1, len(answers))
            within[group, place, answer] += 1
    return chosen


def _faults(name: str, share: float, wanted: int, trials: int, groups: Sequence[Mapping[str, Answers]]) -> list[str]:
    every = [answers for items in groups for answers in items.values()]
    if len(every) < wanted:
        return [too_few(name, share, wanted, trials, len(every))]
    if any(len(set(answers)) > 1 for answers in every):
        return []
    there = Counter(answers[0] for answers in every)
    each = wanted // len(there)
    most = int(100 * min(there.values()) * len(there) / trials) / 100
    return [
        f"share.{name} = {share:g} of {trials} trials asks {wanted} times, {each} of them with the right answer {answer!r}; "
        f"{n} trials have that; use share.{name} = {most:g} or less, or write more"
        for answer, n in sorted(there.items())
        if n < each
    ]


class LatinSquare:
    """Deals items to places in the cycle of conditions so that questions and their answers are spread over all places.

    What earlier paradigms have more of at a place, later ones have less of there.
    """

    def __init__(self) -> None:
        self._everywhere: Counter[tuple[Hashable, int]] = Counter()

    def places(self, kinds: Sequence[tuple[Hashable, ...]], cycle: Sequence[str], first: int = 0) -> list[int]:
        """Return the place of each item: its kind is what it is asked, with the answers, and empty where it is asked nothing.

        `first` is where in the cycle the paradigm begins.

        >>> LatinSquare().places([("yes",), ("no",), ("yes",), ("no",), (), ()], ["a", "b"])
        [0, 0, 1, 1, 0, 1]
        """
        plain = [i % len(cycle) for i in range(len(kinds))]
        if not any(kinds):
            return plain
        room, here = Counter(plain), Counter[Hashable]()
        # With equal shares each condition has its share of questions; with unequal ones answers go to a place in pairs,
        # since a condition has several places.
        equal = len(set(cycle)) == len(cycle)
        places = {}
        for kind in sorted({kind for kind in kinds if kind}, key=str):
            for i in (i for i, other in enumerate(kinds) if other == kind):

                def so_far(place: int, kind: Hashable = kind) -> tuple[int, ...]:
                    whole = (place + first) % len(cycle)
                    asked = (here[place], self._everywhere[None, whole]) if equal else ()
                    return here[kind, place], self._everywhere[kind, whole], *asked, place

                place = min(filter(room.__getitem__, room), key=so_far)
                places[i] = place
                room[place] -= 1
                here.update([place, (kind, place)])
                self._everywhere.update((one, (place + first) % len(cycle)) for one in (kind, None))
        free = (place for _, place in sorted((n, place) for place in room for n in range(room[place])))
        return [places[i] if i in places else next(free) for i in range(len(kinds))]
