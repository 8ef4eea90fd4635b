"""Data collected elsewhere: a platform is a module that makes sittings of its files, listed here in one tuple."""

from .sittings import Answer, Presented, ReadWord, Sitting
from .table import ColumnMapping, import_readings, read_mapping

__all__ = ["Answer", "ColumnMapping", "Presented", "ReadWord", "Sitting", "import_readings", "read_mapping"]
