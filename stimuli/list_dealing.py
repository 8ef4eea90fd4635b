"""Many small lists: items of different paradigms dealt to lists, each item to as many as it gets readers.

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
DRAWS = 20  # of all lists, where items share sentences or the last list is shorter; else the first succeeds


def kept_apart(item: Item, lists: study.ListsSection) -> str:
    """Return the name of what a list has one item of: the item's paradigm, or the item."""
    return item.paradigm if lists.apart == "paradigm" else item.id


def list_faults(counts: Mapping[str, int], lists: study.ListsSection) -> Iterator[str]:
    """Yield why so many items of each paradigm cannot be dealt to such lists, with the numbers that could.

    >>> list(list_faults({"a": 4, "b": 3}, study.ListsSection(items=2, readers=5)))
    ['7 items for 5 readers each are 35 places, and lists of 2 leave 1 over; expected readers = 4 or 6, or lists.shorter = true']
    """
    items, size, readers = sum(counts.values()), lists.items, lists.readers
    number, over = divmod(items * readers, size)
    if number and len(counts) < size:
        if lists.apart == "item":
            yield f"lists of {size} items need {size} items; there are {len(counts)}"
        else:
            yield f"lists of {size} items of different paradigms need {size} paradigms; there are {len(counts)}"
        return
    if over and not lists.shorter:
        step = size // gcd(items, size)
        below = readers - readers % step
        near = f"{below} or {below + step}" if below else str(step)
        yield (
            f"{items} items for {readers} readers each are {items * readers} places, and lists of {size} leave {over} over; "
            f"expected readers = {near}, or lists.shorter = true"
        )
        return
    number += over > 0
    for paradigm, count in counts.items():
        if count * readers > number:
            yield (
                f"{count} items of paradigm {paradigm} for {readers} readers each need {count * readers} lists, which have one of "
                f"them each; there are {number} lists; expected fewer items of it, shorter lists or more paradigms"
            )


def dealt_lists(items: Mapping[str, Sequence[Item]], lists: study.ListsSection, seed: str) -> list[list[Item]]:
    """Return lists of items of different paradigms, each item in as many as it gets readers; no list shows a sentence twice.

    With `lists.apart` "item" each item is its own paradigm here.

    At any place in the sequence the items of a paradigm, and paradigms as parts of their own, have been dealt as evenly as can be.
    The arithmetic of `list_faults` holds. Raises `ValueError` where no such lists are found.
    """
    alike = _alike(list(chain(*items.values())), lists)
    for draw in range(DRAWS):
        if dealt := _dealt(items, lists, alike, Random(f"{seed}-{draw}")):
            return dealt
    reason = f"{len(alike)} items share sentences with items of other paradigms" if alike else "the last one is shorter"
    raise ValueError(
        f"no lists of {lists.items} items were found in {DRAWS} draws in which nobody is shown a paradigm or a sentence twice "
        f"({reason}); expected shorter lists, other readers or other items"
    )


def _dealt(
    items: Mapping[str, Sequence[Item]], lists: study.ListsSection, alike: Mapping[str, Set[str]], random: Random
) -> list[list[Item]]:
    """Return the lists of one draw; nothing where it comes to a list that cannot be filled."""
    waiting = {name: list(in_rounds(some, len(some) * lists.readers, random)) for name, some in items.items()}
    places = sum(map(len, waiting.values()))
    number = -(-places // lists.items)
    dealt: list[list[Item]] = []
    for left in range(number, 0, -1):
        room = lists.items if left > 1 else places - lists.items * (number - 1)
        shares = {name: len(rest) / len(items[name]) for name, rest in waiting.items() if rest}
        # A paradigm with as many items left as there are lists has to be in each of them.
        names = sorted(shares, key=lambda name: (len(waiting[name]) < left, -shares[name], random.random()))
        chosen: list[Item] = []
        for name in names:
            barred = {other for item in chosen for other in alike.get(item.id, ())}
            within = (len(waiting[name]) - 1) % len(items[name]) + 1  # what is left of this round
            at = next((n for n, item in enumerate(waiting[name][:within]) if item.id not in barred), None)
            if len(chosen) < room and at is not None:
                chosen.append(waiting[name].pop(at))
        if len(chosen) < room or max(map(len, waiting.values())) >= left:
            return []
        dealt.append(chosen)
    return dealt


def _alike(items: Sequence[Item], lists: study.ListsSection) -> dict[str, set[str]]:
    """Return, for each item with a sentence that one of another paradigm has too, those others."""
    having: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        for text in {sentence.text for sentence in item.sentences.values()}:
            having[text].append(item)
    alike: dict[str, set[str]] = defaultdict(set)
    for same in having.values():
        for item in same if len(same) > 1 else ():
            if others := {other.id for other in same if kept_apart(other, lists) != kept_apart(item, lists)}:
                alike[item.id] |= others
    return alike


def in_rounds(values: Sequence[T], number: int, random: Random) -> Iterator[T]:
    """Yield so many of the values in rounds of all, each in random order: none comes twice before each has come once.

    >>> sorted(in_rounds("ab", 5, Random(1)))[:4]
    ['a', 'a', 'b', 'b']
    """
    while number > 0:
        some = random.sample(values, len(values))[:number]
        yield from some
        number -= len(some)
