"""From which rows of which tables a sentence is read, so that whoever pastes it can follow each number back.

A sentence function gets rows of declared tables; it ends by `read_off(text, "effects", rows)`, which says so. What it says of
several rows together is named beside them, as a count or a formula: `read_off(text, "effects", rows, "count p < 0.05")`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from gardenpath.study import TABLES

from .numbers import Row

Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Source:
    """Rows of a table, by number from 0 as the file has them, and what is computed of them beside their cells.

    `values` are counts (`count`, `count p < 0.05`, `distinct item`), `min`, `max`, `median` or `sum` of a column, or formulas of
    columns row by row, as pandas evaluates them: `n_excluded / n_before`, `expm1(estimate)`.
    """

    table: str
    rows: tuple[int, ...] = ()
    values: tuple[str, ...] = ()


class Sentence(str):
    """A text that knows what it is read off; `sources` are in the order in which they were named."""

    sources: tuple[Source, ...]

    def __new__(cls, text: str, sources: Iterable[Source] = ()) -> "Sentence":
        """Return the text with its sources."""
        sentence = super().__new__(cls, text)
        sentence.sources = tuple(dict.fromkeys(sources))
        return sentence


def read_off(text: str, table: str, rows: "pd.DataFrame | Row | Iterable[Row]", *values: str) -> Sentence:
    """Return a text as a sentence read off these rows of a table; of one that has sources already, with one more.

    `rows` are a frame filtered from the table, or rows of it as `list_rows` gives them. `values` name what is computed of them;
    see `Source`. Rows that do not know their number, as those written by hand, add nothing.

    >>> effects = pd.DataFrame({"p": [0.01, 0.2, 0.03]})
    >>> small = effects[effects["p"] < 0.05]
    >>> read_off("2 of 3 are small.", "effects", effects, "count", "count p < 0.05").sources
    (Source(table='effects', rows=(0, 1, 2), values=('count', 'count p < 0.05')),)
    >>> read_off(read_off("Two.", "effects", small), "models", {"n": 1}).sources
    (Source(table='effects', rows=(0, 2), values=()),)
    """
    if isinstance(rows, pd.DataFrame):
        numbers: Iterable[object] = rows.index
    else:
        numbers = (getattr(row, "number", None) for row in ([rows] if isinstance(rows, Mapping) else rows))
    known = tuple(dict.fromkeys(number for number in numbers if isinstance(number, int)))
    added = (Source(table, known, values),) if known else ()
    return Sentence(text, (*sources_of(text), *added))


def sources_of(text: str) -> tuple[Source, ...]:
    """Return what a text is read off; nothing of a plain one."""
    return text.sources if isinstance(text, Sentence) else ()


def join_sentences(texts: Iterable[str], separator: str = " ") -> Sentence:
    """Return texts as one, read off what any of them is read off; empty ones are left out.

    >>> one, two = (read_off(f"{n}.", "effects", pd.DataFrame({"p": [n]}, index=[n])) for n in (1, 2))
    >>> both = join_sentences([one, "", two])
    >>> both, [source.rows for source in both.sources]
    ('1. 2.', [(1,), (2,)])
    """
    parts = [text for text in texts if text]
    return Sentence(separator.join(parts), (source for part in parts for source in sources_of(part)))


class Footnotes:
    """The footnotes of a text: one for each set of sources, numbered in the order in which they are first asked for."""

    def __init__(self, tables: Tables) -> None:
        """Take the tables that the sources name, whose keys the notes give."""
        self.tables = tables
        self.numbers: dict[tuple[Source, ...], int] = {}

    def mark(self, text: str) -> str:
        """Return a text with the mark of its footnote behind it, as Markdown has them; a plain text as it is."""
        sources = sources_of(text)
        return f"{text}[^{self.numbers.setdefault(sources, len(self.numbers) + 1)}]" if sources else text

    def list_notes(self) -> list[str]:
        """Return the notes in Markdown, one for each mark given."""
        return [
            f"[^{number}]: {'; '.join(describe_source(source, self.tables) for source in sources)}."
            for sources, number in self.numbers.items()
        ]


SHOWN_KEYS = 1  # rows whose keys a note gives: of more, they fill a page


def describe_source(source: Source, tables: Tables) -> str:
    """Return a source in words: the table, its rows counted from 1 below the header, their keys, and what is computed of them.

    >>> effects = pd.DataFrame({"model_id": ["m1", "m1"], "kind": ["coefficient"] * 2, "term": ["noun", "verb"]})
    >>> describe_source(Source("effects", (1,)), {"effects": effects})
    'effects, row 2 (m1, coefficient, verb)'
    >>> describe_source(Source("effects", (0, 1), ("count",)), {"effects": effects})
    'effects, rows 1 to 2: `count`'
    """
    if not source.rows:
        return source.table
    numbers = [row + 1 for row in source.rows]
    where = f"{source.table}, {'row' if len(numbers) == 1 else 'rows'} {format_ranges(numbers)}"
    keys = _name_rows(source, tables) if len(numbers) <= SHOWN_KEYS else ""
    computed = f": {', '.join(f'`{value}`' for value in source.values)}" if source.values else ""
    return f"{where}{f' ({keys})' if keys else ''}{computed}"


def _name_rows(source: Source, tables: Tables) -> str:
    """Return the key of each row, of one whose table is there."""
    table = tables.get(source.table)
    if table is None:
        return ""
    keys = [name for name in TABLES[source.table].key if name in table]
    rows = table.iloc[list(source.rows)][keys]
    return "; ".join(", ".join(str(cell) for cell in row if not pd.isna(cell)) for row in rows.itertuples(index=False))


def format_ranges(numbers: Sequence[int]) -> str:
    """Return whole numbers with those that follow one another as ranges.

    >>> format_ranges([1, 2, 3, 7, 9, 10])
    '1 to 3, 7, 9 to 10'
    """
    ranges: list[list[int]] = []
    for number in sorted({*numbers}):
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number])
    return ", ".join(" to ".join(str(end) for end in one) for one in ranges)
