"""Every table that passes between the parts: its columns, their types and units, and its key."""

from collections.abc import Mapping

from . import (
    alignment_tables,
    comparison_tables,
    drafting_tables,
    judgment_tables,
    material_tables,
    method_tables,
    model_tables,
    norming_tables,
    pooled_tables,
    result_tables,
    score_tables,
    session_tables,
    treebank_tables,
)
from .table_schema import COMPUTED_COLUMNS, FACTOR_MEANING, MAIN_PRODUCERS, MEASURE_MEANING, Column, Producer, Table, parse_columns

TABLE_MODULES = (
    material_tables,
    session_tables,
    score_tables,
    judgment_tables,
    method_tables,
    result_tables,
    model_tables,
    pooled_tables,
    alignment_tables,
    comparison_tables,
    treebank_tables,
    norming_tables,
    drafting_tables,
)
TABLES: Mapping[str, Table] = {table.name: table for part in TABLE_MODULES for table in part.TABLES}

# Names of the columns that are computed from a table's others, or from another table.
COMPUTED_COLUMN_NAMES = tuple(column.name for column in parse_columns(COMPUTED_COLUMNS))

__all__ = ["COMPUTED_COLUMN_NAMES", "FACTOR_MEANING", "MAIN_PRODUCERS", "MEASURE_MEANING", "TABLES", "Column", "Producer", "Table"]
