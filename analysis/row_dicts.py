"""The rows of a table, one by one."""

from typing import Any

import pandas as pd


class NumberedRow(dict[str, Any]):
    """A row of a table, which knows at which row of the table it stands, from 0, where the frame's index says so."""

    number: int | None = None


def list_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries, each a `NumberedRow`: a frame filtered from a table keeps the table's index.

    >>> list_rows(pd.DataFrame({"n": [1]}))
    [{'n': 1}]
    """
    rows = []
    for index, row in zip(frame.index, frame.to_dict("records"), strict=True):
        numbered = NumberedRow({str(key): value for key, value in row.items()})
        numbered.number = index if isinstance(index, int) else None
        rows.append(numbered)
    return list(rows)
