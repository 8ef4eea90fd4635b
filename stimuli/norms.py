"""Norms of words, from tables of a researcher's own: frequency, age of acquisition, concreteness, joined to sentences by word."""

import functools
import logging
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gardenpath import study
from gardenpath.study.config import NormSection
from gardenpath.study.csv_rows import read_csv_rows

from .formats import read_table_text
from .formats.csv_and_jsonl import read_header
from .formats.marked_csv import LINE_PATTERN
from .items import Materials
from .sentence_parts import find_part_words

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("gardenpath")

MISSING_VALUES = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "."))
BUILT_IN_MEASURES = ("words", "letters", "bigram", "surprisal")  # zipf may be a list of one's own
MAX_SHOWN = 8
Norms = Mapping[str, "Norm"]


@dataclass(frozen=True)
class Norm:
    """Values of words: those of a file, found as written, in small letters, or where case alone differs.

    >>> norm = Norm("aoa", "aoa.csv", {"dog": 2.8, "Bill": 6.0})
    >>> norm.look_up("Dog,"), norm.look_up("bill"), norm.look_up("blorf")
    (2.8, 6.0, None)
    """

    name: str
    file: str
    values: Mapping[str, float]
    _values_by_folded_word: dict[str, float | None] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        for word, value in self.values.items():
            same = self._values_by_folded_word.setdefault(word.casefold(), value) == value
            self._values_by_folded_word[word.casefold()] = value if same else None

    def look_up(self, word: str) -> float | None:
        """Return the value of a word, without the marks at its edges; None where the file has none."""
        bare = strip_word(word)
        for form in (bare, bare.lower()):
            if form in self.values:
                return self.values[form]
        return self._values_by_folded_word.get(bare.casefold())

    def mean(self, words: Iterable[str]) -> float | None:
        """Return the mean over those of the words that have a value; None where none has."""
        known = [value for word in words if (value := self.look_up(word)) is not None]
        return sum(known) / len(known) if known else None


@functools.cache
def strip_word(word: str) -> str:
    """Return a word without the marks at its edges, composed (NFC), with a plain apostrophe.

    >>> strip_word("«l’homme»,"), strip_word("ที่"), strip_word("...")
    ("l'homme", 'ที่', '')
    """
    composed = unicodedata.normalize("NFC", word).replace("’", "'")
    kept = [n for n, character in enumerate(composed) if unicodedata.category(character)[0] in "LMN"]
    return composed[kept[0] : kept[-1] + 1] if kept else ""


def read_norms(sections: Mapping[str, NormSection], folder: str | Path = "") -> dict[str, Norm]:
    """Return the norms of these sections; their files are named from `folder`. Raises `study.DataError` with every fault.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "aoa.csv").write_text("Word,Rating.Mean\\ndog,2.8\\nblorf,NA\\n")
    ...     read_norms({"aoa": NormSection("aoa.csv", "Word", "Rating.Mean")}, folder)["aoa"].values
    {'dog': 2.8}
    """
    norms, faults = {}, []
    for name, section in sections.items():
        try:
            norms[name] = _read_norm(name, section, Path(folder) / section.file)
        except study.DataError as error:
            faults += error.faults
    if faults:
        raise study.DataError(faults)
    return norms


def _read_norm(name: str, section: NormSection, path: Path) -> Norm:
    if name in BUILT_IN_MEASURES or not re.fullmatch(r"[\w-]+", name):
        raise study.DataError(
            f"norm {name!r}: expected letters, digits, _ or -, and not {', '.join(BUILT_IN_MEASURES)}, which are measured here "
            "(a norm zipf takes the place of the list that comes along)"
        )
    text, file = read_table_text(path)
    names, separator = read_header(text, ",;\t")
    if missing := [column for column in (section.word, section.value) if column not in names]:
        found = ", ".join(names[:12]) + (" ..." if len(names) > 12 else "") if text.strip() else "an empty file"
        raise study.DataError(f"{file}: no column {', '.join(map(repr, missing))} for norm {name}; found {found}")
    word_at, value_at = names.index(section.word), names.index(section.value)
    faults, values, lines = [], dict[str, list[float]](), dict[str, list[int]]()
    try:
        for line, cells in read_csv_rows((found[0] for found in LINE_PATTERN.finditer(text)), separator):
            if line == 1 or not any(map(str.strip, cells)):
                continue
            if len(cells) <= max(word_at, value_at):
                faults.append(f"{file}, line {line}: {len(cells)} cells, expected {len(names)}")
                continue
            word, cell = strip_word(cells[word_at].strip()), cells[value_at].strip()
            if not word or cell.lower() in MISSING_VALUES:
                continue
            value = _parse_number(cell, separator)
            if value is None:
                faults.append(f"{file}, line {line}: {section.value} of {word!r} is {cell!r}, expected a number")
                continue
            values.setdefault(word, []).append(value)
            lines.setdefault(word, []).append(line)
    except ValueError as error:
        raise study.DataError(f"{file}, {error}") from None
    several = [word for word, word_values in values.items() if len({*word_values}) > 1] if section.repeated is None else []
    faults += [
        f"{file}, line {lines[word][1]}: {word!r} has {values[word][1]:g} here and {values[word][0]:g} in line {lines[word][0]}; "
        "expected one value a word, or  repeated = 'mean'  or 'sum'"
        for word in several
    ]
    if faults:
        raise study.DataError([*faults[:MAX_SHOWN], *([f"and {len(faults) - MAX_SHOWN} more"] if faults[MAX_SHOWN:] else [])])
    if not values:
        raise study.DataError(f"{file}: no word has a value in column {section.value!r}; expected a row for each word")
    joined = {
        word: sum(word_values) / (1 if section.repeated == "sum" else len(word_values)) for word, word_values in values.items()
    }
    return Norm(name, path.name, joined)


def _parse_number(cell: str, separator: str) -> float | None:
    """Return a cell as a number; where commas do not stand between columns, one is a decimal sign, as Excel writes it."""
    if separator != "," and re.fullmatch(r"[+-]?\d+,\d+", cell):
        cell = cell.replace(",", ".")
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def compute_words_not_found(materials: Materials, names: Iterable[str], norms: Norms) -> "pd.DataFrame":
    """Return table `words_not_found`: the words of each covariate that is a norm of which its file has no value.

    `names` are covariates (`aoa:critical`); others than norms are passed over.

    >>> from gardenpath import stimuli
    >>> item = stimuli.Item("i1", "p", {"a": stimuli.Sentence("The dog blorfs the dog.")})
    >>> materials = stimuli.Materials((stimuli.Paradigm("p", "p", {"f": ("a",)}),), (item,))
    >>> norms = {"aoa": stimuli.Norm("aoa", "aoa.csv", {"dog": 2.8, "the": 2.0})}
    >>> stimuli.compute_words_not_found(materials, ["aoa:sentence"], norms).values.tolist()
    [['aoa:sentence', 'blorfs', 1, 0.2]]
    """
    import pandas as pd

    rows = []
    for name in dict.fromkeys(names):
        measure, _, part = name.partition(":")
        if measure not in norms:
            continue
        missing: Counter[str] = Counter()
        asked = 0
        for item in materials.items:
            for sentence in item.sentences.values():
                own = sentence.list_words()
                words = [own[n].text for n in find_part_words(sentence, part) or () if strip_word(own[n].text)]
                asked += len(words)
                missing.update(strip_word(word) for word in words if norms[measure].look_up(word) is None)
        rows += [(name, word, n, n / asked) for word, n in sorted(missing.items(), key=lambda one: (-one[1], one[0]))]
    frame = pd.DataFrame(rows, columns=study.TABLES["words_not_found"].column_names)
    return study.check(frame, "words_not_found")


def describe_words_not_found(table: "pd.DataFrame", norms: Norms) -> list[str]:
    """Return a sentence for each covariate that words were not found for: how many, their share, and the most frequent."""
    sentences = []
    for name, part in table.groupby("covariate", sort=False):
        counts = zip(part["word"], part["n_occurrences"], strict=True)
        words = [f"{word} ({n})" if n > 1 else str(word) for word, n in counts]
        more = f" and {len(words) - MAX_SHOWN} more" if len(words) > MAX_SHOWN else ""
        file = norms[str(name).partition(":")[0]].file
        sentences.append(
            f"{name}: {file} has no value of {part['share_of_words'].sum():.1%} of the words ({len(words)} different), which means "
            f"leave out: {', '.join(words[:MAX_SHOWN])}{more}"
        )
    return sentences
