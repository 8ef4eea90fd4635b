"""A folder with our own page on jsPsych: it runs from any web server, or as a file, and fetches nothing."""

from collections.abc import Sequence
from pathlib import Path

from gardenpath import study

from ...scripts.list_files import ListFile
from ..features import FULL_SUPPORT, list_feature_losses
from ..list_slots import ListSlot
from ..page import build_index_html, build_study_js, fill_template, read_page_files, write_bytes

NAME = "jspsych"
FEATURE_SUPPORT = FULL_SUPPORT


def list_losses(files: Sequence[ListFile]) -> list[str]:
    """Return nothing: the page is our own."""
    return list_feature_losses(files, FEATURE_SUPPORT)


def write(files: Sequence[ListFile], slots: Sequence[ListSlot], folder: Path, online: study.config.OnlineSection) -> None:
    """Write index.html with all that it needs, a README, and save.js, unless there is one: it may have been edited."""
    for name, content in read_page_files(build_index_html()).items():
        write_bytes(folder / name, content)
    study.files.write_text(folder / "study.js", build_study_js(files, slots, online))
    if not (folder / "save.js").exists():
        study.files.write_text(folder / "save.js", fill_template("jspsych/save.js"))
    study.files.write_text(folder / "README.md", fill_template("jspsych/export.md", files, slots))
