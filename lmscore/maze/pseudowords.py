"""Pseudowords for L-maze: strings of letters as those of a list's words, which are no words of it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from random import Random

ORDER = 3  # letters that decide the next
DRAWS = 400  # strings tried of a length
EDGE = "\0"


class Letters:
    """Which letters follow which in the words of a list, each word counted once.

    >>> words = ["stable", "table", "tablet", "cabin", "robin", "cable", "robins", "stab"]
    >>> list(Letters(words).pseudowords([6, 5], "1", words.__contains__))
    ['cablet', 'cabins']
    """

    def __init__(self, words: Iterable[str]) -> None:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for word in words:
            text = EDGE * ORDER + word + EDGE
            for k in range(ORDER, len(text)):
                counts[text[k - ORDER : k]][text[k]] += 1
        self._next = {before: ([*after], [*accumulate(after.values())]) for before, after in counts.items()}

    def pseudowords(self, lengths: Sequence[int], seed: str, is_word: Callable[[str], bool]) -> Iterator[str]:
        """Yield strings of letters that are no words, each once, of the first of these lengths first; drawn with the seed."""
        random = Random(seed)
        given: set[str] = set()
        for length in lengths:
            for _ in range(DRAWS):
                text = self._drawn(random, length)
                if len(text) == length and text not in given and not is_word(text):
                    given.add(text)
                    yield text

    def _drawn(self, random: Random, longest: int) -> str:
        text = EDGE * ORDER
        while len(text) <= ORDER + longest:
            letters, cumulative = self._next[text[-ORDER:]]
            letter = random.choices(letters, cum_weights=cumulative)[0]
            if letter == EDGE:
                return text[ORDER:]
            text += letter
        return ""
