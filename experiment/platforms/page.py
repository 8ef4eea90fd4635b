"""Our own page as an export takes it along: its built files, and the study that it runs, without a server."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from gardenpath import study

from ..players.web.built_page import find_page_folder
from ..scripts.list_files import ListFile
from ..sessions.recruitment import PLATFORMS_BY_PARAMETER, build_ending_page
from .list_slots import ListSlot, describe_slot_rule

ID_PLACEHOLDER = "{id}"  # stands in an address for the participant's id, which the page puts there
ENDINGS = ("refused", "unsuitable", "screened_out", "withdrawn", "unsent", "handed_over", "finished", "open_elsewhere")


def fill_template(name: str, files: Sequence[ListFile] = (), slots: Sequence[ListSlot] = (), **more: str) -> str:
    """Return a text that goes along, with what stands there as @name@ filled in."""
    text = (resources("gardenpath.experiment.platforms") / name).read_text("utf-8")
    if not files:
        return text
    values = {
        "title": files[0].title,
        "study": files[0].study,
        "names": ", ".join(sorted(file.name for file in files)),
        "lists": str(len(files)),
        "assignments": str(len(slots)),
        "orders": str(max((slot.number for slot in slots), default=-1) + 1),
        "turns": describe_slot_rule(files),
        **more,
    }
    return re.sub("@([a-z]+)@", lambda blank: values[blank[1]], text)


def format_quotation(paragraphs: Sequence[str]) -> str:
    """Return paragraphs as a quotation in a README."""
    return "\n>\n".join("> " + part.replace("\n", " ") for part in paragraphs)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, all of it or nothing."""
    with study.files.write_atomically(path) as temporary:
        temporary.write_bytes(content)


def read_page_files(html: str) -> dict[str, bytes]:
    """Return the files of the page by name, with this index.html; raises `FileNotFoundError` saying how to build it."""
    folder = find_page_folder()
    names = {"app.js": "standalone.js", "app.css": "app.css", "LICENSES.txt": "LICENSES.txt"}
    built_files = {name: (folder / built).read_bytes() for name, built in names.items()}
    return {"index.html": html.encode(), **built_files}


def build_index_html(script: str = "save.js") -> str:
    """Return the page's index.html; `script` is loaded before the study."""
    return study.files.read_text(find_page_folder() / "standalone.html").replace('src="save.js"', f'src="{script}"')


def build_study_js(files: Sequence[ListFile], slots: Sequence[ListSlot], online: study.config.OnlineSection) -> str:
    """Return study.js: what the page shows, each list once, and the assignments as orders of its trials."""
    text = json.dumps(build_exported_study(files, slots, online), ensure_ascii=False, separators=(",", ":"))
    # These two end a line for older readers of JavaScript, and "</script" a script that is put into a page.
    for character, escaped in (("\u2028", "\\u2028"), ("\u2029", "\\u2029"), ("</", "<\\/")):
        text = text.replace(character, escaped)
    return f"window.gardenpathStudy = {text};\n"


def build_exported_study(
    files: Sequence[ListFile], slots: Sequence[ListSlot], online: study.config.OnlineSection
) -> Mapping[str, Any]:
    """Return what study.js holds (web/src/exported-study.ts)."""
    ordered = sorted(files, key=lambda file: file.name)
    numbers = {file.name: number for number, file in enumerate(ordered)}
    return {
        "study": {"name": files[0].study, "title": files[0].title},
        "online": {
            "resume_hours": online.resume_hours,
            "lease_minutes": online.lease_minutes,
            "sessions": online.max_sessions,
            "endings": {platform: _build_endings(online, platform) for platform in PLATFORMS_BY_PARAMETER.values()},
        },
        "lists": [
            {
                "name": file.name,
                "sha256": file.sha256,
                "procedure_sha256": file.procedure_sha256,
                "seed": file.trial_list.seed,
                # Without a server the page judges who takes part; before the trials nothing else is to be judged.
                "script": {**file.player_script, "front": [asdict(step) for step in file.script.front]},
                "labels": [
                    {"role": trial.role, "item": trial.item.id, "condition": trial.condition} for trial in file.trial_list.trials
                ],
            }
            for file in ordered
        ],
        "assignments": [[numbers[slot.file.name], slot.number, list(slot.order)] for slot in slots],
    }


def _build_endings(online: study.config.OnlineSection, platform: str) -> dict[str, Any]:
    return {kind: build_ending_page(online, kind, platform, ID_PLACEHOLDER).to_json() for kind in ENDINGS}
