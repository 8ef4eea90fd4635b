"""Every table that passes between the parts: its columns, their types and units, and its key."""

from collections.abc import Mapping

from . import (
    alignment_tables,
    comparison_tables,
    drafting_tables,
    judgment_tables,
    material_tables,
    method_tables,
    norming_tables,
    result_tables,
    score_tables,
    session_tables,
    treebank_tables,
)
from .declaration import COMPUTED, OF_FACTOR, STEPS, Column, Maker, Table, columns

PARTS = (
    material_tables,
    session_tables,
    score_tables,
    judgment_tables,
    method_tables,
    result_tables,
    alignment_tables,
    comparison_tables,
    treebank_tables,
    norming_tables,
    drafting_tables,
)
TABLES: Mapping[str, Table] = {table.name: table for part in PARTS for table in part.TABLES}

# Names of the columns that are computed from a table's others, or from another table.
COMPUTED_NAMES = tuple(column.name for column in columns(COMPUTED))

__all__ = ["COMPUTED_NAMES", "OF_FACTOR", "STEPS", "TABLES", "Column", "Maker", "Table"]
