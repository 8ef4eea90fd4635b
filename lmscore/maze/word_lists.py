"""Words to take distractors from: wordfreq's list of a language or a list of one's own, with lengths and Zipf frequencies."""

import math
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

import numpy as np

from gardenpath import study
from gardenpath.stimuli.item_tables import measure_word_length, zipf
from gardenpath.stimuli.text_checks import find_word_list

from .positions import Position

MIN_WORD_ZIPF = 2.0  # Zipf below which what wordfreq counts is mostly slips, names and abbreviations
MATCH_STEP = 0.25  # of the bounds: words whose match differs by less are in drawn order


@dataclass(frozen=True)
class WordList:
    """Words with their Zipf frequencies, NaN where there is none; `source` is what reports call it."""

    source: str
    language: str
    words: tuple[str, ...]
    zipfs: np.ndarray
    has_frequencies: bool  # whether the list states Zipf frequencies itself, so that a word's is looked up in it

    @cached_property
    def lengths(self) -> np.ndarray:
        """Letters and digits of each word."""
        return np.array([measure_word_length(word) for word in self.words])

    @cached_property
    def _zipf_by_word(self) -> dict[str, float]:
        return {word.casefold(): value for word, value in zip(self.words, self.zipfs.tolist(), strict=True)}

    def has_word(self, word: str) -> bool:
        """Whether a string is a word of the list, or one that wordfreq has at least once in ten million words."""
        return word.casefold() in self._zipf_by_word or self.get_zipf(word) >= MIN_WORD_ZIPF

    def get_zipf(self, word: str) -> float:
        """Return a word's Zipf frequency; NaN where it is not known."""
        found = self._zipf_by_word.get(word.casefold(), math.nan)
        if not self.has_frequencies and math.isnan(found) and find_word_list(self.language):
            found = zipf(word, self.language) or math.nan
        return found

    def find_candidates(
        self, position: Position, length: int, bound: float, most: int, seed: int, forbidden: Collection[str]
    ) -> list[str]:
        """Return up to `most` words within the bounds of every word of a place, those that match best first.

        A match is the mean distance from the words in length and Zipf frequency, each as a share of its bound; among matches that
        differ by less than a quarter of a bound, words come in an order drawn with the seed.
        """
        distances = np.zeros(len(self.words))
        fits = np.ones(len(self.words), bool)
        for word in position.words:
            letters = np.abs(self.lengths - measure_word_length(word))
            frequency = np.nan_to_num(np.abs(self.zipfs - self.get_zipf(word)), nan=0.0)
            fits &= (letters <= length) & (frequency <= bound + 1e-9)
            distances += letters / max(length, 1) + frequency / (bound or 1)
        chosen = np.flatnonzero(fits)
        drawn = np.random.default_rng(Random(f"{seed}-{position.item}-{position.name}").getrandbits(64)).random(len(chosen))
        order = np.lexsort((drawn, np.floor(distances[chosen] / len(position.words) / MATCH_STEP)))
        words = (self.words[k] for k in chosen[order])
        return [word for word, _ in zip((w for w in words if w.casefold() not in forbidden), range(most), strict=False)]


def load_wordfreq(language: str) -> WordList:
    """Return the words of wordfreq's list of a language, those that come once in a million words and are of letters alone.

    Raises `ValueError` where it has none.

    >>> one = load_wordfreq("en-GB")
    >>> one.words[:3], one.get_zipf("the"), one.source
    (('the', 'to', 'and'), 7.73, "wordfreq's small list of en")
    """
    import wordfreq

    code = find_word_list(language)
    if code is None:
        raise ValueError(f"wordfreq has no list of words of the language {language!r}; expected a list of your own (--words FILE)")
    counts = wordfreq.get_frequency_dict(code, wordlist="small")
    words = {word: round(math.log10(count * 1e9), 2) for word, count in counts.items() if _is_of_letters(word)}
    return WordList(f"wordfreq's small list of {code}", language, tuple(words), np.array([*words.values()]), False)


def read_words(path: str | Path, language: str) -> WordList:
    """Return the words of a file: one a line, or a table with the columns `word` and, if wanted, `zipf`.

    Without `zipf`, frequencies are wordfreq's, where it has the language; a word without one is matched in length alone. Raises
    `study.DataError` for a file without words, and for a frequency that is not a number.
    """
    name = Path(path).name
    if Path(path).suffix in (".csv", ".tsv"):
        table = study.table_files.read_csv(path, "\t" if Path(path).suffix == ".tsv" else ",")
        if "word" not in table:
            raise study.DataError(f"{path}: columns {', '.join(map(str, table.columns))}; expected 'word' and, if wanted, 'zipf'")
        words, stated = table["word"].tolist(), table["zipf"].tolist() if "zipf" in table else None
    else:
        words, stated = read_lines(path), None
    faults = [f"{path}: {word!r} holds a space; expected one word a line" for word in words if len(word.split()) > 1]
    values: dict[str, float] = {}
    for k, word in enumerate(filter(None, map(str.strip, words))):
        try:
            values.setdefault(word, float(stated[k] or "nan") if stated else math.nan)
        except ValueError:
            faults.append(f"{path}, {word!r}: zipf is {stated and stated[k]!r}; expected a number")
    if not values and not faults:
        faults = [f"{path}: no words; expected one a line, or a table with the column 'word'"]
    if faults:
        raise study.DataError(faults)
    known = {word.casefold(): word for word in reversed(values)}  # of words that differ in capitals, the first
    kept = [word for word in values if known[word.casefold()] == word]
    found = [values[word] if stated or not find_word_list(language) else zipf(word, language) or math.nan for word in kept]
    return WordList(name, language, tuple(kept), np.array(found, float), stated is not None)


def read_lines(path: str | Path) -> list[str]:
    """Return the lines of a file that are not empty."""
    return [line.strip() for line in study.files.read_text(path).splitlines() if line.strip()]


def fold_case(words: Iterable[str]) -> frozenset[str]:
    """Return words whatever their capitals."""
    return frozenset(word.casefold() for word in words)


def _is_of_letters(word: str) -> bool:
    return all(c.isalpha() or unicodedata.category(c).startswith("M") for c in word)
