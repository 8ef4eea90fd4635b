"""Tables by name that show themselves in a line, or in a notebook as a list."""

from collections.abc import Mapping

import pandas as pd

from .schemas import TABLES


class TableSet(dict[str, pd.DataFrame]):
    """A dict of tables by name, whose representation counts rows instead of printing them.

    >>> sessions = TableSet(sessions=pd.DataFrame({"session": ["s1"]}))
    >>> sessions | {"notes": pd.DataFrame({"note": ["a", "b"]})}
    TableSet(sessions: 1 row, notes: 2 rows)
    """

    def __or__(self, other: Mapping[str, pd.DataFrame]) -> "TableSet":  # type: ignore[override]
        return TableSet({**self, **other})

    def __repr__(self) -> str:
        counted = (f"{name}: {len(table)} row{'s' * (len(table) != 1)}" for name, table in self.items())
        return f"TableSet({', '.join(counted)})"

    def _repr_html_(self) -> str:
        rows = [(name, len(table), TABLES[name].row if name in TABLES else "") for name, table in self.items()]
        listed = pd.DataFrame(rows, columns=["table", "rows", "one row is"])
        with pd.option_context("display.max_colwidth", None):
            return listed.to_html(index=False, border=0)
