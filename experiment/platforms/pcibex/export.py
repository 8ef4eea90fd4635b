"""PCIbex (PennController for Ibex; Zehr and Schwarz 2018): data_includes/main.js, and a table and pages for chunk_includes.

Every assignment is a group of trials.csv. PCIbex shows the group that its counter points at, in the rows' order. What a row shows
stands in main.js, each step of a list once.
"""

import csv
import html
import io
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from gardenpath import study
from gardenpath.study.screens import Answer, Answers, AskingScreen, Form, Screen, Script, Side, Step, Text

from ...scripts.list_files import ListFile
from ..features import COMMON_LOSSES, COMMON_SUPPORT, SUPPORTED, UNSUPPORTED, FeatureSupport, list_feature_losses
from ..list_slots import ListSlot
from ..outline import Outline, build_recorded_columns, group_front_pages, identify_answer_kind, list_paragraphs, order_from_left
from ..page import fill_template

NAME = "pcibex"
log = logging.getLogger("gardenpath")
# Every participant's browser fetches program and table before the experiment starts; an account holds 64 MB.
LARGE_PROGRAM_BYTES = 5_000_000
HELD_KEY_LOSS = "A space bar that is held runs through the sentence (Ibex's DashedSentence counts its repetitions)."
STACKED_PAIR_LOSS = "The two sentences of a pair stand one below the other, numbered, instead of side by side."
FEATURE_SUPPORT: FeatureSupport = {
    "text": SUPPORTED,
    "words": "Onsets are not measured: reading times run from key press to key press, and rt_onset stays empty. " + HELD_KEY_LOSS,
    "whole": SUPPORTED,
    "answers": SUPPORTED,
    "slider": "The slider starts in the middle and has to be moved before one can go on.",
    "entry": "When the first key of a typed answer came is not recorded, nor whether its text was pasted.",
    "form": SUPPORTED,
    "word_pairs": UNSUPPORTED,
    "centred": SUPPORTED,
    "moving_window": SUPPORTED,
    "cumulative": "There is no cumulative reading: these sentences are shown in a moving window.",
    "timed": UNSUPPORTED,
    "words_right_to_left": "Reading word by word from right to left is not supported: a moving window runs from left to right.",
    "right_to_left": SUPPORTED,
    "unspaced": "A moving window puts a space between all words, also where the text has none.",
    "points": "Points of a scale are taken from the row of digits and by mouse; whether from a number pad depends on PCIbex's "
    "release.",
    "row": SUPPORTED,
    "pair": STACKED_PAIR_LOSS,
    "stacked_pair": SUPPORTED,
    "above_text": SUPPORTED,
    "above_sentence": SUPPORTED,
    "deadline": "A deadline is kept by a timer of the browser, which may ring some ms late; an answer after it counts as none.",
    "feedback": SUPPORTED,
    "follow_up": SUPPORTED,
    "leave": UNSUPPORTED,
    "context": SUPPORTED,
    "breaks": SUPPORTED,
    "assets": UNSUPPORTED,
    **COMMON_SUPPORT,
}


def list_losses(files: Sequence[ListFile]) -> list[str]:
    """Return what PCIbex cannot do of this study."""
    screens = [screen for file in files for step in file.script.trials for screen in step.screens]
    has_marked_words = any(word.startswith("@") for screen in screens for word in getattr(screen, "words", ()))
    return [
        *list_feature_losses(files, FEATURE_SUPPORT),
        *(["DashedSentence ends a sentence at a word that starts with @ and hides the @."] if has_marked_words else []),
        "All data are sent once, at the end: nothing comes of a participant who does not reach it.",
        "A hash of the internet address is stored with the data, which consent.html has to say.",
        *COMMON_LOSSES,
    ]


def write(files: Sequence[ListFile], slots: Sequence[ListSlot], folder: Path, online: study.config.OnlineSection) -> list[Path]:
    """Write the folders data_includes and chunk_includes and a README, and return the paths written."""
    script = files[0].script
    parts = group_front_pages(script)
    form = next((screen for step in script.end for screen in step.screens if isinstance(screen, Form)), None)
    pages = {
        f"instructions-{n}.html": _format_page(list_paragraphs([step]), script) for n, step in enumerate(parts["rest"], start=1)
    }
    chunks = {"trials.csv": _format_table(slots), **pages}
    accept = None
    for screen in (screen for step in parts["consent"] for screen in step.screens if isinstance(screen, Text)):
        chunks["consent.html"], accept = _format_page(screen.paragraphs, script), screen.buttons[0].label
    if form is not None:
        chunks["about.html"] = _format_form(form, script)
    constants = {
        "name": files[0].study,
        "language": script.language,
        "direction": script.direction,
        "lists": {file.name: _build_list(file, Outline.from_files(files)) for file in files},
        "accept": accept,
        "instructions": list(pages),
        "about": None if form is None else form.missing,
        "ending": {"code": online.completion_code, "url": online.completion_url},
        "texts": {name: script.texts[name] for name in ("go_on", "debriefing", "your_code", "return_link")},
    }
    program = _format_main_js(constants, script.texts["saving"])
    size = len(chunks["trials.csv"].encode()) + len(program.encode())
    if size > LARGE_PROGRAM_BYTES:
        log.warning(
            "trials.csv and main.js have %d MB, which every participant fetches before the first page; ask for fewer --orders",
            size // 10**6,
        )
    texts_by_path = {folder / "chunk_includes" / name: text for name, text in chunks.items()}
    texts_by_path[folder / "data_includes" / "main.js"] = program
    texts_by_path[folder / "README.md"] = fill_template("pcibex/export.md", files, slots)
    for path, text in texts_by_path.items():
        study.files.write_text(path, text)
    return list(texts_by_path)


def _format_main_js(constants: dict[str, Any], saving: str) -> str:
    """Return main.js: the study's constants, then the same program for every study."""
    literal = json.dumps(constants, ensure_ascii=False, indent=1)
    program = (resources(__package__) / "main.js").read_text("utf-8")
    return f"""// {constants["name"]}, for PCIbex (PennController 2): put this file into data_includes.
PennController.ResetPrefix(null);
DebugOff();

var showProgressBar = false;
var sendingResultsMessage = {json.dumps(saving, ensure_ascii=False)};

const STUDY = {literal};
{program}"""


def _build_list(file: ListFile, outline: Outline) -> dict[str, Any]:
    """Return what a list's sessions show: its trials, then the pages that come between them."""
    trials = []
    for trial, step in zip(file.trial_list.trials, file.script.trials, strict=True):
        labels = {"role": trial.role, "item": trial.item.id, "condition": trial.condition}
        trials.append({"labels": labels, "screens": _build_screens(step, outline)})
    pages = [{"labels": None, "screens": _build_screens(step, Outline.from_steps([step]))} for step in _list_pages(file.script)]
    return {"sha256": file.sha256, "seed": file.trial_list.seed, "steps": [*trials, *pages]}


def _list_pages(script: Script) -> list[Step]:
    """Return the pages between trials, each once."""
    steps = [step for interlude in script.interludes for step in interlude.steps]
    return list(dict.fromkeys(step for step in steps if step.trial is None and step.when is None))


def _build_screens(step: Step, outline: Outline) -> list[dict[str, Any]]:
    """Return the screens of a step as main.js plays them: under their names, with the columns that come back."""
    named_screens = [(name, _order_answers(screen)) for name, screen in outline.name_screens(step)]
    built = []
    for name, screen in named_screens:
        cells = asdict(screen) | {"id": name}
        if isinstance(screen, AskingScreen):
            cells |= {"kind": identify_answer_kind(screen), "log": build_recorded_columns(name, screen)}
            # What is right leaves only where something depends on it.
            cells["right"] = list(screen.right) if screen.is_judged_by_player else []
        if screen.when is not None:
            cells["after"] = {"id": named_screens[screen.when.screen][0], "outcomes": list(screen.when.outcomes)}
        del cells["when"], cells["exits"], cells["task"]
        built.append(cells)
    return built


def _order_answers(screen: Screen) -> Screen:
    """Return a screen with its answers as they stand here: a row from the left, the sentences of a pair below each other."""
    if not isinstance(screen, Answers):
        return screen
    if identify_answer_kind(screen) != "pair":
        return order_from_left(screen)
    sides: tuple[Side, Side] = ("upper", "lower")
    return replace(screen, answers=tuple(map(_set_side, screen.answers, sides)))


def _set_side(answer: Answer, side: Side) -> Answer:
    return replace(answer, side=side)


def _format_table(slots: Sequence[ListSlot]) -> str:
    rows = [row for n, slot in enumerate(slots) for row in _build_rows(slot, f"{n:0{len(str(len(slots) - 1))}}")]
    stream = io.StringIO()
    # Nothing is quoted, and nothing has to be: PCIbex's readers of tables disagree about quotes within quotes.
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n", quoting=csv.QUOTE_NONE)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _build_rows(slot: ListSlot, group: str) -> Iterator[dict[str, Any]]:
    """Yield an assignment's trials and the pages between them; `step` is the number of what is shown among those of the list."""
    steps, pages = slot.list_trial_steps(), _list_pages(slot.file.script)
    numbers = {step: n for n, step in enumerate(pages, start=len(slot.file.script.trials))}
    trial_count = sum(timeline_step.position is not None for timeline_step in steps)
    for timeline_step in steps:
        trial = timeline_step.step.trial
        yield {
            "group": group,
            "list_name": slot.file.name,
            "slot": slot.number,
            "trial": "" if timeline_step.position is None else timeline_step.position,
            "of": trial_count,
            "step": numbers[timeline_step.step] if trial is None else trial,
        }


def _format_page(paragraphs: Sequence[str], script: Script) -> str:
    """Return a page of paragraphs as HTML."""
    body = "\n".join(f"<p>{html.escape(part)}</p>" for part in paragraphs)
    return f'<div lang="{script.language}" dir="{script.direction}" style="max-width: 40em">\n{body}\n</div>\n'


def _format_form(form: Form, script: Script) -> str:
    """Return the form with the questions about the participant; a field's name in the results is its name in study.toml."""
    body = "\n".join(f"<p>{html.escape(one.label)}<br>\n{_format_input(one)}</p>" for one in form.fields)
    head = f"<h2>{html.escape(form.heading)}</h2>\n<p>{html.escape(form.note)}</p>"
    return f'<div lang="{script.language}" dir="{script.direction}" style="max-width: 40em">\n{head}\n{body}\n</div>\n'


def _format_input(field: study.config.FieldSection) -> str:
    name, needed = html.escape(field.name), ' class="obligatory"' if field.required else ""
    if field.kind == "choice":
        return "\n".join(
            f'<label><input type="radio" name="{name}" value="{html.escape(choice)}"{needed}> {html.escape(choice)}</label><br>'
            for choice in field.choices
        )
    digits = ' inputmode="numeric"' if field.kind == "number" else ""
    return f'<input type="text" name="{name}"{needed}{digits}>'
