"""Where sentences that stand on lines are broken: at the same word in all conditions of an item, on every screen."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gardenpath.stimuli import CRITICAL, Item, Sentence
from gardenpath.study.graphemes import graphemes, is_emoji

if TYPE_CHECKING:
    from .versions import VersionFile


def columns(text: str) -> int:
    """Return how many letters' room a text takes: an ideograph that of two, an emoji too, a mark on a letter none.

    >>> columns("naïve"), columns("他在家"), columns("👨‍👩‍👧")
    (5, 6, 2)
    """
    return sum(2 if unicodedata.east_asian_width(one[0]) in "WF" or is_emoji(one) else 1 for one in graphemes(text))


def breaks(sentences: Iterable[Sentence], width: int) -> tuple[int, ...]:
    """Return the words, by number, that begin a further line, where a line holds so many letters: the same in all these sentences.

    >>> breaks([Sentence("The dog barked loudly."), Sentence("The dogs that slept barked.")], 15)
    (3,)
    >>> breaks([Sentence("The dog barked loudly.")], 30)
    ()
    """
    rows = [[columns(word) for word in one.shown()] for one in sentences]
    found: list[int] = []
    taken = [0] * len(rows)
    for n in range(max(map(len, rows), default=0)):
        wanted = [room + (room > 0) + row[n] if n < len(row) else room for room, row in zip(taken, rows, strict=True)]
        if n > 0 and max(wanted) > width:
            found.append(n)
            wanted = [row[n] if n < len(row) else 0 for row in rows]
        taken = wanted
    return tuple(found)


def uneven(item: Item, width: int) -> bool:
    """Whether conditions of an item are broken before different words: not as far from the critical region, or from the end."""
    sentences = list(item.sentences.values())
    return any(len({_from_anchor(one, n) for one in sentences}) > 1 for n in breaks(sentences, width))


def unevenly_broken(files: "Sequence[VersionFile]", width: int) -> list[str]:
    """Return the items, by id, that are shown on lines and broken before different words in their conditions."""
    found = {
        file.version.trials[step.trial].item.id: file.version.trials[step.trial].item
        for file in files
        for step in file.script.trials
        if step.trial is not None
        for screen in step.screens
        if screen.kind == "words" and screen.breaks
    }
    return sorted(id for id, item in found.items() if uneven(item, width))


def _from_anchor(sentence: Sentence, n: int) -> int:
    region = sentence.words_of(CRITICAL)
    return n - (region[0].index if region else len(sentence.words()))
