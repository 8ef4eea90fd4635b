"""A study archive for JATOS (.jzip): our own page, a line of data a trial, places kept in the batch session."""

import io
import json
import re
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gardenpath import study

from ...recruitment import way_back
from ...versions import VersionFile
from ..features import EVERYTHING, losses
from ..page import ID, filled_in, index_html, page_files, study_js, write_bytes
from ..places import Place

NAME = "jatos"
PLAYS = EVERYTHING
# Of archives: the same study gives the same bytes, whenever it is exported.
TIME = (1980, 1, 1, 0, 0, 0)
SPACE = uuid.UUID("6f5b2d5e-5f0d-5c0e-9a55-0f6a6172646e")
WORKERS = ["Jatos", "PersonalSingle", "PersonalMultiple", "GeneralSingle", "GeneralMultiple"]


def loses(files: Sequence[VersionFile]) -> list[str]:
    """Return nothing: the page is our own."""
    return losses(files, PLAYS)


def write(
    files: Sequence[VersionFile], places: Sequence[Place], folder: Path, online: study.config.OnlineSection
) -> None:
    """Write the archive and a README beside it."""
    assets = page_files(index_html("jatos.js"))
    assets["study.js"] = study_js(files, places, online).encode()
    properties = jas(files, places, online)
    directory = properties["data"]["dirName"]
    entries = {f"{directory}/{name}": content for name, content in sorted(assets.items())}
    entries[f"{directory}.jas"] = (json.dumps(properties, ensure_ascii=False, indent=2) + "\n").encode()
    write_bytes(folder / f"{directory}.jzip", _zipped(entries))
    said = {"directory": directory, "lease": f"{online.lease_minutes:g}", "redirect": _redirect(online) or "empty"}
    study.files.write_text(folder / "README.md", filled_in("jatos/export.md", files, places, **said))


def jas(files: Sequence[VersionFile], places: Sequence[Place], online: study.config.OnlineSection) -> dict[str, Any]:
    """Return the study's properties as JATOS publishes their schema; the ids follow from what the study shows."""
    first, hashes = files[0], sorted(file.sha256 for file in files)
    study_id = uuid.uuid5(SPACE, "\n".join([first.study, str(len(places)), *hashes]))
    return {
        "version": "3",
        "data": {
            "uuid": str(study_id),
            "title": first.title,
            "description": f"gardenpath study {first.study}: {len(files)} versions, {len(places)} places",
            "groupStudy": False,
            "linearStudy": False,
            "allowPreview": False,
            "dirName": _directory(first.study),
            "comments": "",
            "jsonData": json.dumps({"gardenpath": {"study": first.study, "versions": hashes}}),
            "endRedirectUrl": _redirect(online),
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
                    "allowedWorkerTypes": WORKERS,
                    "comments": "",
                    "jsonData": "{}",
                }
            ],
        },
    }


def _directory(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "study"


def _redirect(online: study.config.OnlineSection) -> str:
    """Return where JATOS itself sends who comes to its end: to SONA by JATOS's placeholder, otherwise to Prolific."""
    sona = way_back(online, "sona", ID, online.completion_code)
    if sona is not None:
        return sona.replace("%7Bid%7D", "[survey_code]")
    return way_back(online, "prolific", ID, online.completion_code) or ""


def _zipped(entries: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return made.getvalue()
