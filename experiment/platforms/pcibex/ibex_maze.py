"""Rows of Ibex-Maze (Boyce, Futrell & Levy 2020): a row a word, numbered from 0, the first beside no real word.

The time to the first answer stands beside that to the right one, both from the word's display. A word that was not seen, since the
sentence had ended with an error, is `no` without a time. Where an error was not corrected both times are one, and there is none to
the right word.
"""

from collections.abc import Iterable, Iterator

from gardenpath.study.screens import Record, WordRecord

from ..cell_values import as_number
from ..imported import words_read
from ..losses import Losses
from .lines import Line

FIRST = "Reading time to first answer"
TOTAL = "Total time to correct answer"
UNSEEN = ("None", "NULL", "")


def sentences(rows: Iterable[Line], losses: Losses) -> list[Record]:
    """Return the records of the sentences of a maze; one that is not numbered from 0 on is left out."""
    records = []
    for lines in _apart([row for row in rows if FIRST in row.cells]):
        numbers = [row.cells.get("Word number") for row in lines]
        if numbers == [str(n) for n in range(len(lines))]:
            records.append(words_read((_word(n, row, losses) for n, row in enumerate(lines)), task="maze"))
            continue
        losses.add(
            f"words of a maze are numbered {', '.join(map(str, numbers))}; expected 0 to {len(lines) - 1}; it is left out",
            lines[0].number,
        )
    return records


def _apart(rows: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield the rows of each sentence, which begins with its word 0."""
    current: list[Line] = []
    for row in rows:
        if current and row.cells.get("Word number") == "0":
            yield current
            current = []
        current.append(row)
    if current:
        yield current


def _word(n: int, row: Line, losses: Losses) -> WordRecord:
    text = row.cells.get("Word")
    said, correct = row.cells[FIRST], {"yes": True, "no": False}.get(row.cells.get("Correct", ""))
    if said in UNSEEN:
        return WordRecord(n, None, text=text)
    first, total = as_number(said), as_number(row.cells.get(TOTAL, said))
    if first is None or total is None or correct is None:
        losses.add(
            f"a choice is {row.cells.get('Correct')!r} after {said!r} ms; expected yes or no and a time", row.number
        )
        return WordRecord(n, None, text=text)
    corrected = correct or total > first
    return WordRecord(n, total if corrected else None, rt_first=first, correct=correct, text=text)
