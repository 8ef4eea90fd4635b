"""Many short lists: items of different paradigms dealt to lists, each item to as many as it gets readers.

BLiMP was validated so (Warstadt et al. 2020, doi 10.1162/tacl_a_00321): lists of four pairs, each pair in twenty.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain
from math import gcd
from random import Random
from typing import TypeVar

from gardenpath import study

from .items import Item

T = TypeVar("T")
MAX_DRAWS = 20  # of all lists, where items share sentences or the last list is shorter; else the first succeeds


def get_separation_key(item: Item, section: study.ShortListsSection) -> str:
    """Return the name of what a list has one item of: the item's paradigm, or the item."""
    return item.paradigm if section.one_per == "paradigm" else item.id


def find_list_faults(counts: Mapping[str, int], section: study.ShortListsSection) -> Iterator[str]:
    """Yield why so many items of each paradigm cannot be dealt to such lists, with the numbers that could.

    >>> [fault] = find_list_faults({"a": 4, "b": 3}, study.ShortListsSection(items_per_list=2, ratings_per_item=5))
    >>> fault.partition("; ")[2]
    'expected ratings_per_item = 4 or 6, or allow_short_last_list = true'
    """
    items, size, participants = sum(counts.values()), section.items_per_list, section.ratings_per_item
    number, over = divmod(items * participants, size)
    if number and len(counts) < size:
        if section.one_per == "item":
            yield f"lists of {size} items need {size} items; there are {len(counts)}"
        else:
            yield f"lists of {size} items of different paradigms need {size} paradigms; there are {len(counts)}"
        return
    if over and not section.allow_short_last_list:
        step = size // gcd(items, size)
        below = participants - participants % step
        near = f"{below} or {below + step}" if below else str(step)
        yield (
            f"{items} items for {participants} participants each are {items * participants} trials, and lists of {size} "
            f"leave {over} over; expected ratings_per_item = {near}, or allow_short_last_list = true"
        )
        return
    number += over > 0
    for paradigm, count in counts.items():
        if count * participants > number:
            yield (
                f"{count} items of paradigm {paradigm} for {participants} participants each need {count * participants} lists, "
                f"which have one of them each; there are {number} lists; expected fewer items of it, shorter lists or more "
                "paradigms"
            )


def assign_items_to_lists(items: Mapping[str, Sequence[Item]], section: study.ShortListsSection, seed: str) -> list[list[Item]]:
    """Return lists of items of different paradigms, each item in as many as it gets participants; no list shows a sentence twice.

    With `section.one_per` "item" each item is its own paradigm here.

    At any point of the sequence the items of a paradigm, and paradigms within their parts, have been assigned as evenly as can be.
    The arithmetic of `find_list_faults` holds. Raises `ValueError` where no such lists are found.
    """
    conflicts = _find_conflicts(list(chain(*items.values())), section)
    for draw in range(MAX_DRAWS):
        if assignment := _draw_lists(items, section, conflicts, Random(f"{seed}-{draw}")):
            return assignment
    reason = f"{len(conflicts)} items share sentences with items of other paradigms" if conflicts else "the last one is shorter"
    raise ValueError(
        f"no lists of {section.items_per_list} items were found in {MAX_DRAWS} draws in which nobody is shown a paradigm or a "
        f"sentence twice ({reason}); expected shorter lists, other ratings_per_item or other items"
    )


def _draw_lists(
    items: Mapping[str, Sequence[Item]], section: study.ShortListsSection, conflicts: Mapping[str, Set[str]], random: Random
) -> list[list[Item]]:
    """Return the lists of one draw; nothing where it comes to a list that cannot be filled."""
    waiting = {name: list(draw_in_rounds(some, len(some) * section.ratings_per_item, random)) for name, some in items.items()}
    n_slots = sum(map(len, waiting.values()))
    number = -(-n_slots // section.items_per_list)
    assignment: list[list[Item]] = []
    for left in range(number, 0, -1):
        list_length = section.items_per_list if left > 1 else n_slots - section.items_per_list * (number - 1)
        shares = {name: len(rest) / len(items[name]) for name, rest in waiting.items() if rest}
        # A paradigm with as many items left as there are lists has to be in each of them.
        names = sorted(shares, key=lambda name: (len(waiting[name]) < left, -shares[name], random.random()))
        chosen: list[Item] = []
        for name in names:
            excluded = {other for item in chosen for other in conflicts.get(item.id, ())}
            round_length = (len(waiting[name]) - 1) % len(items[name]) + 1  # what is left of this round
            index = next((n for n, item in enumerate(waiting[name][:round_length]) if item.id not in excluded), None)
            if len(chosen) < list_length and index is not None:
                chosen.append(waiting[name].pop(index))
        if len(chosen) < list_length or max(map(len, waiting.values())) >= left:
            return []
        assignment.append(chosen)
    return assignment


def _find_conflicts(items: Sequence[Item], section: study.ShortListsSection) -> dict[str, set[str]]:
    """Return, for each item with a sentence that one of another paradigm has too, those others."""
    having: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        for text in {sentence.text for sentence in item.sentences.values()}:
            having[text].append(item)
    conflicts: dict[str, set[str]] = defaultdict(set)
    for same in having.values():
        for item in same if len(same) > 1 else ():
            if others := {other.id for other in same if get_separation_key(other, section) != get_separation_key(item, section)}:
                conflicts[item.id] |= others
    return conflicts


def draw_in_rounds(values: Sequence[T], number: int, random: Random) -> Iterator[T]:
    """Yield so many of the values in rounds of all, each in random order: none comes twice before each has come once.

    >>> sorted(draw_in_rounds("ab", 5, Random(1)))[:4]
    ['a', 'a', 'b', 'b']
    """
    while number > 0:
        some = random.sample(values, len(values))[:number]
        yield from some
        number -= len(some)
