"""Every table that passes between the parts: its columns, their types and units, and its key."""

from collections.abc import Mapping

from . import alignment, comparisons, materials, results, scores, sessions
from .declaring import STEPS, Column, Maker, Table

PARTS = (materials, sessions, scores, results, alignment, comparisons)
TABLES: Mapping[str, Table] = {table.name: table for part in PARTS for table in part.TABLES}

__all__ = ["STEPS", "TABLES", "Column", "Maker", "Table"]
