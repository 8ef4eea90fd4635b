"""The table `distractors` after somebody edited it, by hand or in a spreadsheet."""

import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gardenpath import study
from gardenpath.stimuli.formats.workbooks import is_workbook, read_workbook_text
from gardenpath.stimuli.region_checks import EDGE_PUNCTUATION
from gardenpath.study.csv_rows import read_csv_rows

from .positions import Position
from .word_lists import fold_case

if TYPE_CHECKING:
    import pandas as pd

REQUIRED_COLUMNS = ("item", "position", "distractor")  # the columns that decide; `rejected` may be absent, the others are not read
PositionKey = tuple[str, str]


def read_review(source: "str | Path | pd.DataFrame") -> list[dict[str, str]]:
    """Return item, place, distractor and rejected words of each row of a table, as text.

    A file may be as a spreadsheet leaves it: with commas, semicolons or tabs between the columns, or an Excel workbook. Raises
    `study.DataError` for a table without these columns.
    """
    import pandas as pd

    where = "table distractors"
    if isinstance(source, str | Path):
        where = str(source)
        text = read_workbook_text(source) if is_workbook(source) else study.files.read_text(source)
        separator = max(",;\t", key=text.partition("\n")[0].count)
        try:
            header, *rows = [cells for _, cells in read_csv_rows(io.StringIO(text, newline=""), separator) if cells] or [[]]
        except ValueError as error:
            raise study.DataError(f"{where}, {error}") from error
        source = study.table_files.unescape_formulas(pd.DataFrame([dict(zip(header, row, strict=False)) for row in rows]))
    if missing := [name for name in REQUIRED_COLUMNS if name not in source]:
        raise study.DataError(
            f"{where}: column {', '.join(map(repr, missing))} is missing; expected the table distractors of gardenpath maze"
        )
    cells = source.astype(object).where(source.notna(), "").to_dict("records")
    return [{name: str(row.get(name, "")).strip() for name in (*REQUIRED_COLUMNS, "rejected_words")} for row in cells]


def parse_review(
    rows: Sequence[Mapping[str, str]], positions: Sequence[Position], excluded: frozenset[str]
) -> tuple[dict[PositionKey, str], Mapping[PositionKey, frozenset[str]]]:
    """Return the distractors that a review gives, without the marks around them, and the words that it rejects, of each place.

    Raises `study.DataError` for places that are not there or come twice, and for what cannot be a distractor.
    """
    known = {(position.item, position.name): fold_case(position.words) for position in positions}
    given: dict[PositionKey, str] = {}
    rejected: dict[PositionKey, frozenset[str]] = defaultdict(frozenset)
    faults = []
    for row in rows:
        key = row["item"], row["position"]
        word = row["distractor"].strip(EDGE_PUNCTUATION + " ")
        fault = ""
        if key not in known:
            fault = "the materials have no such position; expected the table of these materials"
        elif key in rejected:
            fault = "the position is there twice; expected once"
        elif len(word.split()) > 1:
            fault = f"the distractor {word!r} holds a space; expected one word"
        elif word.casefold() in excluded:
            fault = f"the distractor {word!r} is on the list of words never used; expected another"
        elif word.casefold() in known[key]:
            fault = f"the distractor {word!r} is the word itself; expected another"
        if fault:
            faults.append(f"table distractors, item {key[0]}, position {key[1]!r}: {fault}")
            continue
        rejected[key] = fold_case(row["rejected_words"].split())
        if word:
            given[key] = word
    if faults:
        raise study.DataError(faults)
    return given, rejected
