"""Every table that passes between the parts: its columns, their types and units, and its key."""

from collections.abc import Mapping

from . import alignment_tables, comparison_tables, material_tables, result_tables, score_tables, session_tables
from .declaration import STEPS, Column, Maker, Table

PARTS = (material_tables, session_tables, score_tables, result_tables, alignment_tables, comparison_tables)
TABLES: Mapping[str, Table] = {table.name: table for part in PARTS for table in part.TABLES}

__all__ = ["STEPS", "TABLES", "Column", "Maker", "Table"]
