"""Pseudowords for L-maze: strings of letters as those of a list's words, which are no words of it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from random import Random

CONTEXT_LETTERS = 3  # letters that decide the next
MAX_DRAWS = 400  # strings tried of a length
WORD_EDGE = "\0"


class LetterModel:
    """Which letters follow which in the words of a list, each word counted once.

    >>> words = ["stable", "table", "tablet", "cabin", "robin", "cable", "robins", "stab"]
    >>> list(LetterModel(words).draw_pseudowords([6, 5], "1", words.__contains__))
    ['cablet', 'cabins']
    """

    def __init__(self, words: Iterable[str]) -> None:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for word in words:
            text = WORD_EDGE * CONTEXT_LETTERS + word + WORD_EDGE
            for k in range(CONTEXT_LETTERS, len(text)):
                counts[text[k - CONTEXT_LETTERS : k]][text[k]] += 1
        self._next_letters = {before: ([*after], [*accumulate(after.values())]) for before, after in counts.items()}

    def draw_pseudowords(self, lengths: Sequence[int], seed: str, is_word: Callable[[str], bool]) -> Iterator[str]:
        """Yield strings of letters that are no words, each once, of the first of these lengths first; drawn with the seed."""
        random = Random(seed)
        given: set[str] = set()
        for length in lengths:
            for _ in range(MAX_DRAWS):
                text = self._draw(random, length)
                if len(text) == length and text not in given and not is_word(text):
                    given.add(text)
                    yield text

    def _draw(self, random: Random, longest: int) -> str:
        text = WORD_EDGE * CONTEXT_LETTERS
        while len(text) <= CONTEXT_LETTERS + longest:
            letters, cumulative = self._next_letters[text[-CONTEXT_LETTERS:]]
            letter = random.choices(letters, cum_weights=cumulative)[0]
            if letter == WORD_EDGE:
                return text[CONTEXT_LETTERS:]
            text += letter
        return ""
