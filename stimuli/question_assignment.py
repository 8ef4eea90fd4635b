"""Questions in a counterbalanced design: which items they are asked about, and where in the Latin square these items stand."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from random import Random

from .task_shares import format_share_fault

AnswerCycle = tuple[str, ...]  # the right answer at each place of the cycle of conditions


def choose_question_items(
    name: str, share: float, trials: int, groups: Sequence[Mapping[str, AnswerCycle]], random: Random
) -> set[str]:
    """Return the items about which the question `name` is asked: a `share` of the `trials` of a list.

    `groups` are the items that rotate together, with their answers. Each group gives about the same share; each answer is right
    equally often, in all and in each group, as far as the answers allow. Raises `ValueError` with the arithmetic where they do not
    depend on the condition and there are too few of one.
    """
    wanted = round(share * trials)
    if wanted and (faults := _find_share_faults(name, share, wanted, trials, groups)):
        raise ValueError("; ".join(faults))
    left: dict[tuple[int, AnswerCycle], list[str]] = defaultdict(list)
    for group, items in enumerate(groups):
        for item in random.sample(list(items), len(items)):
            left[group, items[item]].append(item)
    answer_totals: dict[str, Fraction] = defaultdict(Fraction)
    position_counts, group_counts = Counter[tuple[int, int, str]](), Counter[int]()

    def rank_kind(kind: tuple[int, AnswerCycle]) -> tuple[Fraction, Fraction, int]:
        group, answers = kind
        n_asked = sum(position_counts[group, position, answer] for position, answer in enumerate(answers))
        return (
            sum((answer_totals[answer] for answer in answers), Fraction()) / len(answers),
            Fraction(group_counts[group], len(groups[group])),
            n_asked,
        )

    kinds = random.sample(list(left), len(left))
    chosen = set()
    for _ in range(wanted):
        group, answers = kind = min((kind for kind in kinds if left[kind]), key=rank_kind)
        chosen.add(left[kind].pop())
        group_counts[group] += 1
        for position, answer in enumerate(answers):
            answer_totals[answer] += Fraction(1, len(answers))
            position_counts[group, position, answer] += 1
    return chosen


def _find_share_faults(name: str, share: float, wanted: int, trials: int, groups: Sequence[Mapping[str, AnswerCycle]]) -> list[str]:
    every = [answers for items in groups for answers in items.values()]
    if len(every) < wanted:
        return [format_share_fault(name, share, wanted, trials, len(every))]
    if any(len(set(answers)) > 1 for answers in every):
        return []
    answer_counts = Counter(answers[0] for answers in every)
    each = wanted // len(answer_counts)
    most = int(100 * min(answer_counts.values()) * len(answer_counts) / trials) / 100
    return [
        f"task_shares.{name} = {share:g} of {trials} trials asks {wanted} times, {each} of them with the right answer {answer!r}; "
        f"{n} trials have that; use task_shares.{name} = {most:g} or less, or write more"
        for answer, n in sorted(answer_counts.items())
        if n < each
    ]


class LatinSquare:
    """Deals items to places in the cycle of conditions so that questions and their answers are spread over all places.

    What earlier paradigms have more of at a place, later ones have less of there.
    """

    def __init__(self) -> None:
        self._total_counts: Counter[tuple[Hashable, int]] = Counter()

    def assign_positions(self, kinds: Sequence[tuple[Hashable, ...]], cycle: Sequence[str], offset: int = 0) -> list[int]:
        """Return the place of each item: its kind is what it is asked, with the answers, and empty where it is asked nothing.

        `offset` is where in the cycle the paradigm begins.

        >>> LatinSquare().assign_positions([("yes",), ("no",), ("yes",), ("no",), (), ()], ["a", "b"])
        [0, 0, 1, 1, 0, 1]
        """
        plain = [i % len(cycle) for i in range(len(kinds))]
        if not any(kinds):
            return plain
        free_counts, counts = Counter(plain), Counter[Hashable]()
        # With equal shares each condition has its share of questions; with unequal ones answers go to a place in pairs,
        # since a condition has several places.
        equal = len(set(cycle)) == len(cycle)
        positions = {}
        for kind in sorted({kind for kind in kinds if kind}, key=str):
            for i in (i for i, other in enumerate(kinds) if other == kind):

                def rank_position(position: int, kind: Hashable = kind) -> tuple[int, ...]:
                    whole = (position + offset) % len(cycle)
                    asked = (counts[position], self._total_counts[None, whole]) if equal else ()
                    return counts[kind, position], self._total_counts[kind, whole], *asked, position

                position = min(filter(free_counts.__getitem__, free_counts), key=rank_position)
                positions[i] = position
                free_counts[position] -= 1
                counts.update([position, (kind, position)])
                self._total_counts.update((one, (position + offset) % len(cycle)) for one in (kind, None))
        free = (position for _, position in sorted((n, position) for position in free_counts for n in range(free_counts[position])))
        return [positions[i] if i in positions else next(free) for i in range(len(kinds))]
