"""Paradigms dealt to experiments: as many to each as can be, those of a phenomenon and those that share a sentence apart."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, count

from .items import Item
from .trials import Version

STEPS = 20_000  # of a search, which ends much sooner where paradigms can be kept apart
Pairs = Collection[tuple[str, str]]


def dealt_apart(
    names: Sequence[str], phenomenon: Mapping[str, str], sharing: Pairs, experiments: int
) -> list[list[str]]:
    """Return the paradigms of each experiment, in the order of `names`: equally many, or one more in some.

    The paradigms of a phenomenon are spread as evenly as can be, and those of a pair in `sharing` are in different
    experiments; where both cannot be, the second alone, and where that cannot be, the first alone.

    >>> phenomenon = {"a1": "a", "a2": "a", "b1": "b", "b2": "b"}
    >>> dealt_apart(["a1", "a2", "b1", "b2"], phenomenon, [("a1", "b2")], 2)
    [['a1', 'b1'], ['a2', 'b2']]
    """
    most = {name: -(-n // experiments) for name, n in Counter(phenomenon[name] for name in names).items()}
    any_number = dict.fromkeys(most, len(names))
    for limits, apart in ((most, sharing), (any_number, sharing), (most, ())):
        if dealt := _dealt(names, phenomenon, limits, apart, experiments):
            break
    return [sorted(some, key=names.index) for some in dealt]


def _dealt(
    names: Sequence[str], phenomenon: Mapping[str, str], limits: Mapping[str, int], apart: Pairs, experiments: int
) -> list[list[str]]:
    """Return a way to deal the paradigms, or nothing where none was found."""
    neighbours: dict[str, set[str]] = defaultdict(set)
    for one, other in apart:
        neighbours[one].add(other)
        neighbours[other].add(one)
    seen = [phenomenon[name] for name in names]
    order = sorted(names, key=lambda name: (-len(neighbours[name]), seen.index(phenomenon[name])))
    dealt: list[list[str]] = [[] for _ in range(experiments)]
    each, more = divmod(len(names), experiments)
    steps = count()

    def placed(at: int) -> bool:
        """Whether the paradigms from this one on found a place: where fewest of its phenomenon are, and fewest in all."""
        if at == len(order):
            return True
        name = order[at]
        alike = [sum(phenomenon[other] == phenomenon[name] for other in some) for some in dealt]
        for e in sorted(range(experiments), key=lambda e: (alike[e], len(dealt[e]))):
            larger = sum(len(some) > each for some in dealt)
            room = len(dealt[e]) < each + (larger < more) and alike[e] < limits[phenomenon[name]]
            if room and not neighbours[name].intersection(dealt[e]) and next(steps) < STEPS:
                dealt[e].append(name)
                if placed(at + 1):
                    return True
                dealt[e].pop()
        return False

    return dealt if placed(0) else []


def sharing(chosen: Mapping[str, Collection[Item]]) -> list[tuple[str, str]]:
    """Return the pairs of paradigms of which items have a sentence in common."""
    texts = {name: {s.text for item in items for s in item.sentences.values()} for name, items in chosen.items()}
    return [(one, other) for one, other in combinations(texts, 2) if not texts[one].isdisjoint(texts[other])]


def shown_twice(versions: Collection[Version]) -> Iterator[str]:
    """Yield each sentence that a version shows of two paradigms, once; lists are dealt without any."""
    told = set()
    for version in versions:
        if version.lists:
            continue
        shown: dict[str, Item] = {}
        for trial in version.trials:
            for _, sentence in trial.shown if trial.role == "target" else ():
                first = shown.setdefault(sentence.text, trial.item)
                if first.paradigm != trial.item.paradigm and sentence.text not in told:
                    told.add(sentence.text)
                    yield (
                        f"{first.id} and {trial.item.id} show {sentence.text!r} to the same participants (version "
                        f"{version.experiment}-{version.id}); ask for more experiments, which keep their paradigms apart, or "
                        "replace one of the items"
                    )
