"""A version becomes a session: on the web, in the lab, or simulated; events become tables."""

from .browser import find_chromium, take_in_browser
from .exports import export
from .gathering import collect
from .imports import ColumnMapping, read_mapping
from .procedures import Procedure, Rating, procedure
from .robots import Effects, HttpTransport, Robot, robot, simulate, take
from .sessions import Event, Record, Session, event_schema
from .versions import VersionFile, read_versions, version_files

__all__ = [
    "ColumnMapping",
    "Effects",
    "Event",
    "HttpTransport",
    "Procedure",
    "Rating",
    "Record",
    "Robot",
    "Session",
    "VersionFile",
    "collect",
    "event_schema",
    "export",
    "find_chromium",
    "procedure",
    "read_mapping",
    "read_versions",
    "robot",
    "simulate",
    "take",
    "take_in_browser",
    "version_files",
]
