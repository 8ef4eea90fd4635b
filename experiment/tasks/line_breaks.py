"""Where sentences that stand on lines are broken: at the same word in all conditions of an item, on every screen."""

import unicodedata
from collections.abc import Iterable

from gardenpath.stimuli import CRITICAL, Item, Sentence
from gardenpath.study.graphemes import is_emoji, split_graphemes


def count_columns(text: str) -> int:
    """Return how many letters' room a text takes: an ideograph that of two, an emoji too, a mark on a letter none.

    >>> count_columns("naïve"), count_columns("他在家"), count_columns("👨‍👩‍👧")
    (5, 6, 2)
    """
    return sum(2 if unicodedata.east_asian_width(one[0]) in "WF" or is_emoji(one) else 1 for one in split_graphemes(text))


def find_line_breaks(sentences: Iterable[Sentence], width: int) -> tuple[int, ...]:
    """Return the words, by number, that begin a further line, where a line holds so many letters: the same in all these sentences.

    >>> find_line_breaks([Sentence("The dog barked loudly."), Sentence("The dogs that slept barked.")], 15)
    (3,)
    >>> find_line_breaks([Sentence("The dog barked loudly.")], 30)
    ()
    """
    word_widths = [[count_columns(word) for word in one.list_displayed_words()] for one in sentences]
    found: list[int] = []
    used_columns = [0] * len(word_widths)
    for n in range(max(map(len, word_widths), default=0)):
        needed_columns = [
            used + (used > 0) + row[n] if n < len(row) else used for used, row in zip(used_columns, word_widths, strict=True)
        ]
        if n > 0 and max(needed_columns) > width:
            found.append(n)
            needed_columns = [row[n] if n < len(row) else 0 for row in word_widths]
        used_columns = needed_columns
    return tuple(found)


def has_uneven_breaks(item: Item, width: int) -> bool:
    """Whether conditions of an item are broken before different words: not as far from the critical region, or from the end."""
    sentences = list(item.sentences.values())
    return any(len({_measure_from_anchor(one, n) for one in sentences}) > 1 for n in find_line_breaks(sentences, width))


def _measure_from_anchor(sentence: Sentence, n: int) -> int:
    region = sentence.list_region_words(CRITICAL)
    return n - (region[0].index if region else len(sentence.list_words()))
