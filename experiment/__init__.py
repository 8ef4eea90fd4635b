"""A version becomes a session: on the web, in the lab, or simulated; events become tables."""

from .browser import find_chromium, take_in_browser
from .collect_data import collect
from .model_participants import take_part
from .norming_studies import norming_study
from .platforms.exporting import export
from .robots import Effects, HttpTransport, Robot, robot, simulate, take
from .sessions import Event
from .versions import VersionFile, read_versions, version_files

__all__ = [
    "Effects",
    "Event",
    "HttpTransport",
    "Robot",
    "VersionFile",
    "collect",
    "export",
    "find_chromium",
    "norming_study",
    "read_versions",
    "robot",
    "simulate",
    "take",
    "take_in_browser",
    "take_part",
    "version_files",
]
