"""Rows of Ibex-Maze (Boyce, Futrell & Levy 2020): a row a word, numbered from 0, the first beside no real word.

The time to the first answer stands beside that to the right one, both from the word's display. A word that was not seen, since the
sentence had ended with an error, is `no` without a time. Where an error was not corrected both times are one, and there is none to
the right word.
"""

from collections.abc import Iterable, Iterator

from gardenpath.study.events import Record, WordRecord

from ..cell_values import parse_number
from ..imported_sessions import build_reading_record
from ..losses import Losses
from .result_lines import ResultLine

FIRST_RT_COLUMN = "Reading time to first answer"
TOTAL_RT_COLUMN = "Total time to correct answer"
UNSEEN_VALUES = ("None", "NULL", "")


def build_maze_records(rows: Iterable[ResultLine], losses: Losses) -> list[Record]:
    """Return the records of the sentences of a maze; one that is not numbered from 0 on is left out."""
    records = []
    for lines in _split_by_sentence([row for row in rows if FIRST_RT_COLUMN in row.cells]):
        numbers = [row.cells.get("Word number") for row in lines]
        if numbers == [str(n) for n in range(len(lines))]:
            records.append(build_reading_record((_build_word(n, row, losses) for n, row in enumerate(lines)), task="maze"))
            continue
        losses.add(
            f"words of a maze are numbered {', '.join(map(str, numbers))}; expected 0 to {len(lines) - 1}; it is left out",
            lines[0].number,
        )
    return records


def _split_by_sentence(rows: Iterable[ResultLine]) -> Iterator[list[ResultLine]]:
    """Yield the rows of each sentence, which begins with its word 0."""
    current: list[ResultLine] = []
    for row in rows:
        if current and row.cells.get("Word number") == "0":
            yield current
            current = []
        current.append(row)
    if current:
        yield current


def _build_word(n: int, row: ResultLine, losses: Losses) -> WordRecord:
    text = row.cells.get("Word")
    first_cell, correct = row.cells[FIRST_RT_COLUMN], {"yes": True, "no": False}.get(row.cells.get("Correct", ""))
    if first_cell in UNSEEN_VALUES:
        return WordRecord(n, None, text=text)
    first, total = parse_number(first_cell), parse_number(row.cells.get(TOTAL_RT_COLUMN, first_cell))
    if first is None or total is None or correct is None:
        losses.add(f"a choice is {row.cells.get('Correct')!r} after {first_cell!r} ms; expected yes or no and a time", row.number)
        return WordRecord(n, None, text=text)
    corrected = correct or total > first
    return WordRecord(n, total if corrected else None, rt_first=first, correct=correct, text=text)
