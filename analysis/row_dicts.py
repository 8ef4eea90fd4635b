"""The rows of a table, one by one."""

from typing import Any

import pandas as pd


def list_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries.

    >>> list_rows(pd.DataFrame({"n": [1]}))
    [{'n': 1}]
    """
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]
