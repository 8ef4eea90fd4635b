"""Our own page as an export takes it along: its built files, and the study that it runs, without a server."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from gardenpath import study

from ..players.web.built import page_folder
from ..recruitment import PLATFORMS, ending
from ..versions import VersionFile
from .places import Place

ID = "{id}"  # stands in an address for the participant's id, which the page puts there
ENDINGS = ("refused", "unsuitable", "screened_out", "withdrawn", "unsent", "handed_over", "finished", "open_elsewhere")


def filled_in(name: str, files: Sequence[VersionFile] = (), places: Sequence[Place] = (), **more: str) -> str:
    """Return a text that goes along, with what stands there as @name@ filled in."""
    text = (resources("gardenpath.experiment.platforms") / name).read_text("utf-8")
    if not files:
        return text
    values = {
        "title": files[0].title,
        "study": files[0].study,
        "names": ", ".join(sorted(file.name for file in files)),
        "versions": str(len(files)),
        "places": str(len(places)),
        "orders": str(len(places) // len(files)),
        **more,
    }
    return re.sub("@([a-z]+)@", lambda blank: values[blank[1]], text)


def quoted(paragraphs: Sequence[str]) -> str:
    """Return paragraphs as a quotation in a README."""
    return "\n>\n".join("> " + part.replace("\n", " ") for part in paragraphs)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, all of it or nothing."""
    with study.files.atomic(path) as temporary:
        temporary.write_bytes(content)


def page_files(html: str) -> dict[str, bytes]:
    """Return the files of the page by name, with this index.html; raises `FileNotFoundError` saying how to build it."""
    folder = page_folder()
    names = {"app.js": "standalone.js", "app.css": "app.css", "LICENSES.txt": "LICENSES.txt"}
    built_files = {name: (folder / built).read_bytes() for name, built in names.items()}
    return {"index.html": html.encode(), **built_files}


def index_html(script: str = "save.js") -> str:
    """Return the page's index.html; `script` is loaded before the study."""
    return study.files.read_text(page_folder() / "standalone.html").replace('src="save.js"', f'src="{script}"')


def study_js(files: Sequence[VersionFile], places: Sequence[Place], online: study.config.OnlineSection) -> str:
    """Return study.js: what the page shows, each version once, and the places as orders of its trials."""
    text = json.dumps(exported(files, places, online), ensure_ascii=False, separators=(",", ":"))
    # These two end a line for older readers of JavaScript, and "</script" a script that is put into a page.
    for character, escaped in (("\u2028", "\\u2028"), ("\u2029", "\\u2029"), ("</", "<\\/")):
        text = text.replace(character, escaped)
    return f"window.gardenpathStudy = {text};\n"


def exported(
    files: Sequence[VersionFile], places: Sequence[Place], online: study.config.OnlineSection
) -> Mapping[str, Any]:
    """Return what study.js holds (web/src/exported.ts)."""
    ordered = sorted(files, key=lambda file: file.name)
    numbers = {file.name: number for number, file in enumerate(ordered)}
    return {
        "study": {"name": files[0].study, "title": files[0].title},
        "online": {
            "resume_hours": online.resume_hours,
            "lease_minutes": online.lease_minutes,
            "sessions": online.sessions,
            "endings": {platform: _endings(online, platform) for platform in PLATFORMS.values()},
        },
        "versions": [
            {
                "name": file.name,
                "sha256": file.sha256,
                "procedure_sha256": file.procedure_sha256,
                "seed": file.version.seed,
                # Without a server the page judges who takes part; before the trials nothing else is to be judged.
                "script": {**file.shown, "front": [asdict(step) for step in file.script.front]},
                "labels": [
                    {"role": trial.role, "item": trial.item.id, "condition": trial.condition}
                    for trial in file.version.trials
                ],
            }
            for file in ordered
        ],
        "places": [[numbers[place.file.name], place.slot, list(place.order)] for place in places],
    }


def _endings(online: study.config.OnlineSection, platform: str) -> dict[str, Any]:
    return {kind: ending(online, kind, platform, ID).json() for kind in ENDINGS}
