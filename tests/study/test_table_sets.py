"""Tables by name are a dict that shows itself in a line, and in a notebook as a list."""

import pandas as pd

from gardenpath import analysis
from gardenpath.study import TABLES
from gardenpath.study.table_sets import TableSet

FRAME = pd.DataFrame({"a": [1, 2]})


def test_tables_are_counted_and_described_instead_of_printed() -> None:
    tables = TableSet(readings=FRAME) | {"own <1>": FRAME[:1]}
    assert repr(tables) == "TableSet(readings: 2 rows, own <1>: 1 row)"
    assert tables["readings"] is FRAME
    shown = tables._repr_html_()
    assert f"<td>readings</td>\n      <td>2</td>\n      <td>{TABLES['readings'].row}</td>" in shown
    assert "own &lt;1&gt;" in shown


def test_dir_shows_the_public_names_alone() -> None:
    assert dir(analysis) == sorted(analysis.__all__)
