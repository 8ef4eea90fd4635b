"""Gorilla, Task Builder 2: a spreadsheet for each assignment, and a recipe for the displays that show it.

Gorilla takes no whole task from a file. A spreadsheet's rows are shown in their order while its randomisation is empty.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gardenpath import study
from gardenpath.study.screens import Screen, Step, Text, Whole, Words

from ...scripts.list_files import ListFile
from ..features import COMMON_LOSSES, COMMON_SUPPORT, SUPPORTED, UNSUPPORTED, FeatureSupport, list_feature_losses
from ..list_slots import ListSlot
from ..outline import (
    NamedScreen,
    Outline,
    build_recorded_columns,
    build_shown_columns,
    group_front_pages,
    identify_answer_kind,
    list_paragraphs,
    order_from_left,
    require_asking,
)
from ..page import fill_template, format_quotation

NAME = "gorilla"
WORD_SEPARATOR = "|"
RIGHT_TO_LEFT_LOSS = "Whether Gorilla shows texts from right to left as it should is not documented: try it before you rely on it."
UNSPACED_LOSS = "Words that have no space between them may be shown with one, as the Reading component is set."
FEATURE_SUPPORT: FeatureSupport = {
    "text": SUPPORTED,
    "words": "Onsets of words are not recorded: reading times run from key press to key press, and rt_onset stays empty. The "
    "Reading component shows words as it is set: try each display, and see that every press has a row in the data.",
    "whole": SUPPORTED,
    "answers": SUPPORTED,
    "slider": SUPPORTED,
    "entry": "When the first key of a typed answer came is not recorded, nor whether its text was pasted.",
    "form": "Ask the questions about the participant in a questionnaire, with their names in study.toml as object names.",
    "word_pairs": UNSUPPORTED,
    "centred": SUPPORTED,
    "moving_window": SUPPORTED,
    "cumulative": SUPPORTED,
    "timed": UNSUPPORTED,
    "words_right_to_left": "Whether the Reading component runs from right to left is not documented: try it before you rely on it.",
    "right_to_left": RIGHT_TO_LEFT_LOSS,
    "unspaced": UNSPACED_LOSS,
    "points": SUPPORTED,
    "row": SUPPORTED,
    "pair": SUPPORTED,
    "stacked_pair": SUPPORTED,
    "above_text": SUPPORTED,
    "above_sentence": SUPPORTED,
    "deadline": "Deadlines are set by hand, as the recipe says; how exactly Gorilla keeps them is not documented.",
    "feedback": "Whether the answer to a question was right is not shown; add a Feedback component if you need it.",
    "follow_up": UNSUPPORTED,
    "leave": UNSUPPORTED,
    "context": SUPPORTED,
    "breaks": SUPPORTED,
    "assets": UNSUPPORTED,
    **COMMON_SUPPORT,
}
ABOVE_RECIPE = "Text, bound to `{id}_above`; "
# What stands on a screen below its prompt.
ANSWER_RECIPES = {
    "points": "Rating Scale from {least} to {most}, its ends bound to `{id}_low` and `{id}_high`; or Keyboard "
    "Response, these digits",
    "slider": "Slider from {least} to {most}, its ends bound to `{id}_low` and `{id}_high`; Continue Button",
    "row": "for each of `{id}_label_1`, `{id}_label_2` ... a Text Button Response bound to it, its response bound to "
    "`{id}_value_1`, `{id}_value_2` ...{sides}",
    "entry": "Text Entry; Continue Button",
}
SIDES_RECIPE = ", on the side `{id}_side_1`, `{id}_side_2`"


def list_losses(files: Sequence[ListFile]) -> list[str]:
    """Return what a task made by the recipe does not do of this study."""
    screens = [screen for file in files for step in file.script.trials for screen in step.screens]
    has_separators = any(WORD_SEPARATOR in word for screen in screens for word in getattr(screen, "words", ()))
    separator_loss = (
        f"Words are separated by {WORD_SEPARATOR} in the spreadsheets, which some words hold: these sentences do not come back."
    )
    return [
        "Gorilla takes no task from a file: it is built by hand, step by step, from README.md.",
        *list_feature_losses(files, FEATURE_SUPPORT),
        *([separator_loss] if has_separators else []),
        *COMMON_LOSSES,
    ]


def write(files: Sequence[ListFile], slots: Sequence[ListSlot], folder: Path, online: study.config.OnlineSection) -> list[Path]:
    """Write spreadsheets/E1-L1-0.csv and so on, and README.md with the recipe; return their paths."""
    outline = Outline.from_files(files)
    written = {
        folder / "spreadsheets" / f"{_format_slot_name(slot)}.csv": _format_csv(list(build_spreadsheet_rows(slot, outline)))
        for slot in slots
    }
    texts = {
        "displays": _format_display_list(files, outline),
        "consent": format_quotation(list_paragraphs(group_front_pages(files[0].script)["consent"])),
        "first": _format_slot_name(slots[0]),
        "code": online.completion_code,
        "url": online.completion_url or "the address that your recruitment platform gives",
    }
    written[folder / "README.md"] = fill_template("gorilla/export.md", files, slots, **texts)
    for path, text in written.items():
        study.files.write_text(path, text)
    return list(written)


def _format_slot_name(slot: ListSlot) -> str:
    return f"{slot.file.name}-{slot.number}"


def build_spreadsheet_rows(slot: ListSlot, outline: Outline) -> Iterator[dict[str, Any]]:
    """Yield the rows of an assignment's spreadsheet: instructions, trials with the pages between them, and the text at the end."""
    file, steps = slot.file, slot.list_trial_steps()
    trial_count = sum(timeline_step.position is not None for timeline_step in steps)
    for step in group_front_pages(file.script)["rest"]:
        yield _build_text_row(_join_paragraphs(step))
    for timeline_step in steps:
        if timeline_step.step.trial is None:
            yield _build_text_row(_join_paragraphs(timeline_step.step))
            continue
        trial, screens = (file.trial_list.trials[timeline_step.step.trial], _list_shown_screens(timeline_step.step, outline))
        yield {
            **_build_text_row("", _format_display_name(screens)),
            **slot.build_matching_columns(),
            "position": timeline_step.position,
            "of": trial_count,
            "role": trial.role,
            "item": trial.item.id,
            "condition": trial.condition,
            **{column: cell for name, screen in screens for column, cell in _build_screen_cells(name, screen).items()},
        }
    yield _build_text_row(file.script.texts["debriefing"])


def _join_paragraphs(step: Step) -> str:
    return "\n\n".join(list_paragraphs([step]))


def _build_text_row(text: str, display: str = "text") -> dict[str, Any]:
    return {"randomise_blocks": "", "randomise_trials": "", "display": display, "text": text}


def _list_shown_screens(step: Step, outline: Outline) -> list[NamedScreen]:
    """Return a trial's screens; pages that depend on an answer are left out."""
    return [(name, screen) for name, screen in outline.name_screens(step) if screen.when is None]


def _build_screen_cells(name: str, screen: Screen) -> dict[str, Any]:
    if isinstance(screen, Text):
        return {name: "\n\n".join(screen.paragraphs)}
    if isinstance(screen, Whole):
        return {name: screen.text}
    if isinstance(screen, Words):
        return {f"{name}_words": WORD_SEPARATOR.join(screen.words), f"{name}_reading": screen.arrangement}
    return {
        **build_recorded_columns(name, order_from_left(require_asking(screen))),
        **build_shown_columns(name, order_from_left(require_asking(screen))),
    }


def _format_display_name(screens: Sequence[NamedScreen]) -> str:
    """Return the name of a display: its screens, with how sentences are read."""
    return " ".join(f"{name}-{screen.arrangement}" if isinstance(screen, Words) else name for name, screen in screens)


def _format_display_list(files: Sequence[ListFile], outline: Outline) -> str:
    """Return a list of the displays that the spreadsheets name, with the screens of each in order."""
    displays: dict[str, list[NamedScreen]] = {}
    for file in files:
        for step in file.script.trials:
            screens = _list_shown_screens(step, outline)
            displays.setdefault(_format_display_name(screens), screens)
    lines = ["   - `text`", "     - `text`: Text, bound to `text`; Continue Button"]
    for display, screens in sorted(displays.items()):
        lines.append(f"   - `{display}`")
        lines += [f"     - `{name}`: {_describe_screen(name, screen)}" for name, screen in screens]
    return "\n".join(lines)


def _describe_screen(name: str, screen: Screen) -> str:
    """Return what stands on a screen."""
    if isinstance(screen, (Text, Whole)):
        return f"Text, bound to `{name}`; Space To Continue"
    if isinstance(screen, Words):
        return f"Reading ({screen.arrangement}), bound to `{name}_words`, separator `{WORD_SEPARATOR}`; Keyboard Response, space"
    screen = require_asking(screen)
    answer_kind, columns = identify_answer_kind(screen), build_recorded_columns(name, screen)
    sides = SIDES_RECIPE if columns.get(f"{name}_side_1") else ""
    recipe = ANSWER_RECIPES["row" if answer_kind == "pair" else answer_kind].replace("{sides}", sides)
    ends = {"least": columns.get(f"{name}_least"), "most": columns.get(f"{name}_most")}
    above = ABOVE_RECIPE if screen.above.kind != "nothing" else ""
    time_limit = "; Time Limit (Screen), bound to `{id}_deadline`" if screen.deadline is not None else ""
    prompt = "Text, bound to `{id}_prompt`; "
    return f"{above}{prompt}{recipe}{time_limit}".format(id=name, **ends)


def _format_csv(lines: Sequence[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for line in lines for name in line))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return stream.getvalue()
