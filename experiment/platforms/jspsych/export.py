"""A folder with our own page on jsPsych: it runs from any web server, or as a file, and fetches nothing."""

from collections.abc import Sequence
from pathlib import Path

from gardenpath import study

from ...versions import VersionFile
from ..features import EVERYTHING, losses
from ..page import filled_in, index_html, page_files, study_js, write_bytes
from ..places import Place

NAME = "jspsych"
PLAYS = EVERYTHING


def loses(files: Sequence[VersionFile]) -> list[str]:
    """Return nothing: the page is our own."""
    return losses(files, PLAYS)


def write(
    files: Sequence[VersionFile], places: Sequence[Place], folder: Path, online: study.config.OnlineSection
) -> None:
    """Write index.html with all that it needs, a README, and save.js, unless there is one: it may have been edited."""
    for name, content in page_files(index_html()).items():
        write_bytes(folder / name, content)
    study.files.write_text(folder / "study.js", study_js(files, places, online))
    if not (folder / "save.js").exists():
        study.files.write_text(folder / "save.js", filled_in("jspsych/save.js"))
    study.files.write_text(folder / "README.md", filled_in("jspsych/export.md", files, places))
