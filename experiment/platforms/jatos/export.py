"""A study archive for JATOS (.jzip): our own page, a line of data a trial, assignments kept in the batch session."""

import io
import json
import re
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gardenpath import study

from ...scripts.list_files import ListFile
from ...sessions.recruitment import build_return_url
from ..features import FULL_SUPPORT, list_feature_losses
from ..list_slots import ListSlot
from ..page import ID_PLACEHOLDER, build_index_html, build_study_js, fill_template, read_page_files, write_bytes

NAME = "jatos"
FEATURE_SUPPORT = FULL_SUPPORT
# Of archives: the same study gives the same bytes, whenever it is exported.
ARCHIVE_TIME = (1980, 1, 1, 0, 0, 0)
UUID_NAMESPACE = uuid.UUID("6f5b2d5e-5f0d-5c0e-9a55-0f6a6172646e")
WORKER_TYPES = ["Jatos", "PersonalSingle", "PersonalMultiple", "GeneralSingle", "GeneralMultiple"]


def list_losses(files: Sequence[ListFile]) -> list[str]:
    """Return nothing: the page is our own."""
    return list_feature_losses(files, FEATURE_SUPPORT)


def write(files: Sequence[ListFile], slots: Sequence[ListSlot], folder: Path, online: study.config.OnlineSection) -> None:
    """Write the archive and a README beside it."""
    assets = read_page_files(build_index_html("jatos.js"))
    assets["study.js"] = build_study_js(files, slots, online).encode()
    properties = build_study_properties(files, slots, online)
    directory = properties["data"]["dirName"]
    entries = {f"{directory}/{name}": content for name, content in sorted(assets.items())}
    entries[f"{directory}.jas"] = (json.dumps(properties, ensure_ascii=False, indent=2) + "\n").encode()
    write_bytes(folder / f"{directory}.jzip", _zip_entries(entries))
    template_values = {
        "directory": directory,
        "lease": f"{online.lease_minutes:g}",
        "redirect": _find_redirect_url(online) or "empty",
    }
    study.files.write_text(folder / "README.md", fill_template("jatos/export.md", files, slots, **template_values))


def build_study_properties(
    files: Sequence[ListFile], slots: Sequence[ListSlot], online: study.config.OnlineSection
) -> dict[str, Any]:
    """Return the study's properties as JATOS publishes their schema; the ids follow from what the study shows."""
    first, hashes = files[0], sorted(file.sha256 for file in files)
    study_id = uuid.uuid5(UUID_NAMESPACE, "\n".join([first.study, str(len(slots)), *hashes]))
    return {
        "version": "3",
        "data": {
            "uuid": str(study_id),
            "title": first.title,
            "description": f"gardenpath study {first.study}: {len(files)} lists, {len(slots)} assignments",
            "groupStudy": False,
            "linearStudy": False,
            "allowPreview": False,
            "dirName": _format_directory_name(first.study),
            "comments": "",
            "jsonData": json.dumps({"gardenpath": {"study": first.study, "lists": hashes}}),
            "endRedirectUrl": _find_redirect_url(online),
            "componentList": [
                {
                    "uuid": str(uuid.uuid5(study_id, "component")),
                    "title": first.title,
                    "htmlFilePath": "index.html",
                    "reloadable": True,
                    "active": True,
                    "comments": "",
                    "jsonData": None,
                }
            ],
            "batchList": [
                {
                    "uuid": str(uuid.uuid5(study_id, "batch")),
                    "title": "Default",
                    "active": True,
                    "allowedWorkerTypes": WORKER_TYPES,
                    "comments": "",
                    "jsonData": "{}",
                }
            ],
        },
    }


def _format_directory_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "study"


def _find_redirect_url(online: study.config.OnlineSection) -> str:
    """Return where JATOS itself sends who comes to its end: to SONA by JATOS's placeholder, otherwise to Prolific."""
    sona = build_return_url(online, "sona", ID_PLACEHOLDER, online.completion_code)
    if sona is not None:
        return sona.replace("%7Bid%7D", "[survey_code]")
    return build_return_url(online, "prolific", ID_PLACEHOLDER, online.completion_code) or ""


def _zip_entries(entries: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name, ARCHIVE_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()
