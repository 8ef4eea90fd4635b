"""A list becomes a session: on the web, in the lab, or simulated; events become tables."""

from .collection.data_collection import collect
from .platforms.platform_export import export
from .scripts.list_files import ListFile, build_list_files, read_list_files
from .sessions.sessions import Event
from .setup.norming_studies import create_norming_study
from .simulation.browser_robot import find_chromium, run_session_in_browser
from .simulation.model_participants import run_model_sessions
from .simulation.robots import Effects, HttpTransport, Robot, create_robot, run_robot_session, simulate

__all__ = [
    "Effects",
    "Event",
    "HttpTransport",
    "ListFile",
    "Robot",
    "build_list_files",
    "collect",
    "create_norming_study",
    "create_robot",
    "export",
    "find_chromium",
    "read_list_files",
    "run_model_sessions",
    "run_robot_session",
    "run_session_in_browser",
    "simulate",
]
