"""How strongly neighbouring words go together: from a table of bigrams with their counts, or a model as an ARPA file."""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gardenpath import study

from .faults import Fault
from .lexicon import read_rows

SENTENCE_START, UNKNOWN_WORD = "<s>", "<unk>"
TABLE_HEADER = ("first", "second", "count")
LOG2_10 = math.log2(10)


@dataclass(frozen=True, eq=False)
class Bigrams:
    """Log probabilities of words (bits), of words after a word, and what is taken where a pair was not seen."""

    word_logprobs: Mapping[str, float]
    pair_logprobs: Mapping[tuple[str, str], float]
    backoff_weights: Mapping[str, float] | None = None

    def compute_association(self, first: str, second: str) -> float:
        """Return the pointwise mutual information of two neighbours, log2 p(second | first) - log2 p(second), in bits.

        Church and Hanks (1990), https://aclanthology.org/J90-1003. Of a table, a pair that it does not hold has minus infinity.

        >>> bigrams = Bigrams({"has": -4.0, "ever": -3.0}, {("has", "ever"): -1.0})
        >>> bigrams.compute_association("has", "ever"), bigrams.compute_association("had", "ever")
        (2.0, -inf)
        """
        first, second = (self._find_known_word(word) for word in (first, second))
        if (first, second) in self.pair_logprobs:
            return self.pair_logprobs[first, second] - self.word_logprobs[second]
        # A model backs off to the word's own probability, which leaves the weight of the word before.
        return -math.inf if self.backoff_weights is None else self.backoff_weights.get(first, 0.0)

    def _find_known_word(self, word: str) -> str:
        return next((w for w in (word, word.lower()) if w in self.word_logprobs or w == SENTENCE_START), UNKNOWN_WORD)


@functools.lru_cache(maxsize=4)
def read_bigrams(path: Path) -> Bigrams:
    """Return the bigrams of a file: ARPA, or CSV with the columns first, second and count. What cannot be read is a `Fault`."""
    if not path.is_file():
        raise Fault(f"there is no file {path}")
    text = study.files.read_text(path)
    return _read_arpa(text, path) if "\\1-grams:" in text else _read_table(text, path)


def _read_table(text: str, path: Path) -> Bigrams:
    counts: dict[tuple[str, str], int] = {}
    for line, row in read_rows(text, str(path)):
        first, second, seen = (row.get(column, "") for column in TABLE_HEADER)
        if not first or not second or not seen.isdigit() or not int(seen):
            raise Fault(
                f"{line}: got {', '.join(row.values())!r}; expected two words and how often they were seen side by side, "
                f"under the header {','.join(TABLE_HEADER)} (or an ARPA file)"
            )
        counts[first, second] = counts.get((first, second), 0) + int(seen)
    if not counts:
        raise Fault(f"{path}: no row; expected the header {','.join(TABLE_HEADER)} and rows, or an ARPA file")
    first_counts: dict[str, int] = {}
    second_counts: dict[str, int] = {}
    for (first, second), count in counts.items():
        first_counts[first] = first_counts.get(first, 0) + count
        second_counts[second] = second_counts.get(second, 0) + count
    total = sum(counts.values())
    words = {
        word: math.log2(second_counts.get(word, 0) / total) if word in second_counts else -math.inf
        for word in {*first_counts, *second_counts}
    }
    return Bigrams(words, {pair: math.log2(count / first_counts[pair[0]]) for pair, count in counts.items()})


def _read_arpa(text: str, path: Path) -> Bigrams:
    words: dict[str, float] = {}
    pairs: dict[tuple[str, str], float] = {}
    backoffs: dict[str, float] = {}
    order = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("\\"):
            order = int(line[1:-7]) if line.rstrip().endswith("-grams:") else 0
        elif order in (1, 2) and line.strip():
            fields = line.replace("\t", " ").split()
            try:
                logprob, *rest = float(fields[0]) * LOG2_10, *fields[1:]
                if order == 1:
                    words[rest[0]] = logprob
                    backoffs[rest[0]] = float(rest[1]) * LOG2_10 if len(rest) > 1 else 0.0
                else:
                    pairs[rest[0], rest[1]] = logprob
            except (ValueError, IndexError):
                raise Fault(f"{path}, line {number}: {line[:60]!r}; expected a log10 probability and {order} words") from None
    if not pairs:
        raise Fault(f"{path}: no 2-grams; expected a model of order 2 or more")
    return Bigrams(words, pairs, backoffs)
