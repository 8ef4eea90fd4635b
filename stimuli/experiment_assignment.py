"""Paradigms dealt to experiments: as many to each as can be, those of a phenomenon and those that share a sentence apart."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, count

from .items import Item
from .trials import TrialList

MAX_SEARCH_STEPS = 20_000  # of a search, which ends much sooner where paradigms can be kept apart
ParadigmPairs = Collection[tuple[str, str]]


def assign_paradigms_to_experiments(
    names: Sequence[str], phenomenon: Mapping[str, str], sharing_pairs: ParadigmPairs, experiments: int
) -> list[list[str]]:
    """Return the paradigms of each experiment, in the order of `names`: equally many, or one more in some.

    The paradigms of a phenomenon are spread as evenly as can be, and those of a pair in `sharing_pairs` are in different
    experiments; where both cannot be, the second alone, and where that cannot be, the first alone.

    >>> phenomenon = {"a1": "a", "a2": "a", "b1": "b", "b2": "b"}
    >>> assign_paradigms_to_experiments(["a1", "a2", "b1", "b2"], phenomenon, [("a1", "b2")], 2)
    [['a1', 'b1'], ['a2', 'b2']]
    """
    phenomenon_limits = {name: -(-n // experiments) for name, n in Counter(phenomenon[name] for name in names).items()}
    any_number = dict.fromkeys(phenomenon_limits, len(names))
    for limits, separated_pairs in ((phenomenon_limits, sharing_pairs), (any_number, sharing_pairs), (phenomenon_limits, ())):
        if assignment := _search_assignment(names, phenomenon, limits, separated_pairs, experiments):
            break
    return [sorted(some, key=names.index) for some in assignment]


def _search_assignment(
    names: Sequence[str], phenomenon: Mapping[str, str], limits: Mapping[str, int], separated_pairs: ParadigmPairs, experiments: int
) -> list[list[str]]:
    """Return a way to deal the paradigms, or nothing where none was found."""
    neighbours: dict[str, set[str]] = defaultdict(set)
    for one, other in separated_pairs:
        neighbours[one].add(other)
        neighbours[other].add(one)
    seen = [phenomenon[name] for name in names]
    order = sorted(names, key=lambda name: (-len(neighbours[name]), seen.index(phenomenon[name])))
    assignment: list[list[str]] = [[] for _ in range(experiments)]
    each, more = divmod(len(names), experiments)
    steps = count()

    def assign_from(index: int) -> bool:
        """Whether the paradigms from this one on found a place: where fewest of its phenomenon are, and fewest in all."""
        if index == len(order):
            return True
        name = order[index]
        phenomenon_counts = [sum(phenomenon[other] == phenomenon[name] for other in some) for some in assignment]
        for e in sorted(range(experiments), key=lambda e: (phenomenon_counts[e], len(assignment[e]))):
            larger = sum(len(some) > each for some in assignment)
            has_capacity = len(assignment[e]) < each + (larger < more) and phenomenon_counts[e] < limits[phenomenon[name]]
            if has_capacity and not neighbours[name].intersection(assignment[e]) and next(steps) < MAX_SEARCH_STEPS:
                assignment[e].append(name)
                if assign_from(index + 1):
                    return True
                assignment[e].pop()
        return False

    return assignment if assign_from(0) else []


def find_paradigms_sharing_sentences(chosen: Mapping[str, Collection[Item]]) -> list[tuple[str, str]]:
    """Return the pairs of paradigms of which items have a sentence in common."""
    texts = {name: {s.text for item in items for s in item.sentences.values()} for name, items in chosen.items()}
    return [(one, other) for one, other in combinations(texts, 2) if not texts[one].isdisjoint(texts[other])]


def find_repeated_sentences(trial_lists: Collection[TrialList]) -> Iterator[str]:
    """Yield each sentence that a list shows of two paradigms, once; short lists are dealt without any."""
    reported = set()
    for trial_list in trial_lists:
        if trial_list.short_lists:
            continue
        shown: dict[str, Item] = {}
        for trial in trial_list.trials:
            for _, sentence in trial.shown_sentences if trial.role == "target" else ():
                first = shown.setdefault(sentence.text, trial.item)
                if first.paradigm != trial.item.paradigm and sentence.text not in reported:
                    reported.add(sentence.text)
                    yield (
                        f"{first.id} and {trial.item.id} show {sentence.text!r} to the same participants (list "
                        f"{trial_list.experiment}-{trial_list.id}); ask for more experiments, which keep their paradigms apart, or "
                        "replace one of the items"
                    )
