"""The ground every part stands on: table schemas, study.toml, sidecars, atomic writing, two exceptions."""

from .config import (
    AttentionSection,
    DesignSection,
    OnlineSection,
    OrderingSection,
    RatingSection,
    RewardSection,
    Study,
    load,
    structure,
)
from .errors import DataError, MissingExtra, require
from .files import (
    atomic,
    read_json,
    read_sidecar,
    read_text,
    refuse_overwrite,
    sha256,
    versions,
    write_sidecar,
    write_text,
)
from .schemas import TABLES, Column, Table
from .tables import check, dictionary, read, read_csv, write, write_dictionary

__all__ = [
    "TABLES",
    "AttentionSection",
    "Column",
    "DataError",
    "DesignSection",
    "MissingExtra",
    "OnlineSection",
    "OrderingSection",
    "RatingSection",
    "RewardSection",
    "Study",
    "Table",
    "atomic",
    "check",
    "dictionary",
    "load",
    "read",
    "read_csv",
    "read_json",
    "read_sidecar",
    "read_text",
    "refuse_overwrite",
    "require",
    "sha256",
    "structure",
    "versions",
    "write",
    "write_dictionary",
    "write_sidecar",
    "write_text",
]
