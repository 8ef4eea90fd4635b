"""Gorilla, Task Builder 2: a spreadsheet for each place, and a recipe for the displays that show it.

Gorilla takes no whole task from a file. A spreadsheet's rows are shown in their order while its randomisation is empty.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gardenpath import study
from gardenpath.study.screens import Step, Text, Whole, Words

from ...versions import VersionFile
from ..features import ALIKE, ELSEWHERE, PLAYED, REFUSED, Plays, losses
from ..outline import Named, Outline, from_left, front, kind, recorded, said, shown
from ..page import filled_in, quoted
from ..places import Place

NAME = "gorilla"
SEPARATOR = "|"
ARRANGED = (
    "Whether Gorilla shows texts from right to left as it should is not documented: try it before you rely on it."
)
UNSPACED = "Words that have no space between them may be shown with one, as the Reading component is set."
PLAYS: Plays = {
    "text": PLAYED,
    "words": "Onsets of words are not recorded: reading times run from key press to key press, and rt_onset stays empty. The "
    "Reading component shows words as it is set: try each display, and see that every press has a row in the data.",
    "whole": PLAYED,
    "answers": PLAYED,
    "slider": PLAYED,
    "entry": "When the first key of a typed answer came is not recorded, nor whether its text was pasted.",
    "form": "Ask the questions about the participant in a questionnaire, with their names in study.toml as object names.",
    "word_pairs": REFUSED,
    "centred": PLAYED,
    "moving_window": PLAYED,
    "cumulative": PLAYED,
    "timed": REFUSED,
    "words_right_to_left": "Whether the Reading component runs from right to left is not documented: try it before you rely on it.",
    "right_to_left": ARRANGED,
    "unspaced": UNSPACED,
    "points": PLAYED,
    "row": PLAYED,
    "pair": PLAYED,
    "stacked_pair": PLAYED,
    "above_text": PLAYED,
    "above_sentence": PLAYED,
    "deadline": "Deadlines are set by hand, as the recipe says; how exactly Gorilla keeps them is not documented.",
    "feedback": "Whether the answer to a question was right is not shown; add a Feedback component if you need it.",
    "follow_up": REFUSED,
    "leave": REFUSED,
    "context": PLAYED,
    "breaks": PLAYED,
    "assets": REFUSED,
    **ALIKE,
}
ABOVE = "Text, bound to `{id}_above`; "
# What stands on a screen below its prompt.
ASKED = {
    "points": "Rating Scale from {least} to {most}, its ends bound to `{id}_low` and `{id}_high`; or Keyboard "
    "Response, these digits",
    "slider": "Slider from {least} to {most}, its ends bound to `{id}_low` and `{id}_high`; Continue Button",
    "row": "for each of `{id}_label_1`, `{id}_label_2` ... a Text Button Response bound to it, its response bound to "
    "`{id}_value_1`, `{id}_value_2` ...{sides}",
    "entry": "Text Entry; Continue Button",
}
SIDES = ", on the side `{id}_side_1`, `{id}_side_2`"


def loses(files: Sequence[VersionFile]) -> list[str]:
    """Return what a task made by the recipe does not do of this study."""
    screens = [screen for file in files for step in file.script.trials for screen in step.screens]
    parted = any(SEPARATOR in word for screen in screens for word in getattr(screen, "words", ()))
    said = f"Words are separated by {SEPARATOR} in the spreadsheets, which some words hold: these sentences do not come back."
    return [
        "Gorilla takes no task from a file: it is built by hand, step by step, from README.md.",
        *losses(files, PLAYS),
        *([said] if parted else []),
        *ELSEWHERE,
    ]


def write(
    files: Sequence[VersionFile], places: Sequence[Place], folder: Path, online: study.config.OnlineSection
) -> list[Path]:
    """Write spreadsheets/E1-V1-0.csv and so on, and README.md with the recipe; return their paths."""
    outline = Outline.of(files)
    written = {folder / "spreadsheets" / f"{_name(place)}.csv": _csv(list(rows(place, outline))) for place in places}
    texts = {
        "displays": _displays(files, outline),
        "consent": quoted(said(front(files[0].script)["consent"])),
        "first": _name(places[0]),
        "code": online.completion_code,
        "url": online.completion_url or "the address that your recruitment platform gives",
    }
    written[folder / "README.md"] = filled_in("gorilla/export.md", files, places, **texts)
    for path, text in written.items():
        study.files.write_text(path, text)
    return list(written)


def _name(place: Place) -> str:
    return f"{place.file.name}-{place.slot}"


def rows(place: Place, outline: Outline) -> Iterator[dict[str, Any]]:
    """Yield the rows of a place's spreadsheet: instructions, trials with the pages between them, and the text at the end."""
    file, steps = place.file, place.between()
    of = sum(placed.position is not None for placed in steps)
    for step in front(file.script)["rest"]:
        yield _text(_paragraphs(step))
    for placed in steps:
        if placed.step.trial is None:
            yield _text(_paragraphs(placed.step))
            continue
        trial, screens = file.version.trials[placed.step.trial], _shown(placed.step, outline)
        yield {
            **_text("", _display(screens)),
            **place.matching(),
            "position": placed.position,
            "of": of,
            "role": trial.role,
            "item": trial.item.id,
            "condition": trial.condition,
            **{column: cell for name, screen in screens for column, cell in _cells(name, screen).items()},
        }
    yield _text(file.script.texts["debriefing"])


def _paragraphs(step: Step) -> str:
    return "\n\n".join(said([step]))


def _text(text: str, display: str = "text") -> dict[str, Any]:
    return {"randomise_blocks": "", "randomise_trials": "", "display": display, "text": text}


def _shown(step: Step, outline: Outline) -> list[Named]:
    """Return a trial's screens; pages that depend on an answer are left out."""
    return [(name, screen) for name, screen in outline.named(step) if screen.when is None]


def _cells(name: str, screen: Any) -> dict[str, Any]:
    if isinstance(screen, Text):
        return {name: "\n\n".join(screen.paragraphs)}
    if isinstance(screen, Whole):
        return {name: screen.text}
    if isinstance(screen, Words):
        return {f"{name}_words": SEPARATOR.join(screen.words), f"{name}_reading": screen.arrangement}
    return {**recorded(name, from_left(screen)), **shown(name, from_left(screen))}


def _display(screens: Sequence[Named]) -> str:
    """Return the name of a display: its screens, with how sentences are read."""
    return " ".join(f"{name}-{screen.arrangement}" if isinstance(screen, Words) else name for name, screen in screens)


def _displays(files: Sequence[VersionFile], outline: Outline) -> str:
    """Return a list of the displays that the spreadsheets name, with the screens of each in order."""
    displays: dict[str, list[Named]] = {}
    for file in files:
        for step in file.script.trials:
            screens = _shown(step, outline)
            displays.setdefault(_display(screens), screens)
    lines = ["   - `text`", "     - `text`: Text, bound to `text`; Continue Button"]
    for display, screens in sorted(displays.items()):
        lines.append(f"   - `{display}`")
        lines += [f"     - `{name}`: {_screen(name, screen)}" for name, screen in screens]
    return "\n".join(lines)


def _screen(name: str, screen: Any) -> str:
    """Return what stands on a screen."""
    if isinstance(screen, (Text, Whole)):
        return f"Text, bound to `{name}`; Space To Continue"
    if isinstance(screen, Words):
        return f"Reading ({screen.arrangement}), bound to `{name}_words`, separator `{SEPARATOR}`; Keyboard Response, space"
    how, columns = kind(screen), recorded(name, screen)
    sides = SIDES if columns.get(f"{name}_side_1") else ""
    asked = ASKED["row" if how == "pair" else how].replace("{sides}", sides)
    ends = {"least": columns.get(f"{name}_least"), "most": columns.get(f"{name}_most")}
    above = ABOVE if screen.above.kind != "nothing" else ""
    late = "; Time Limit (Screen), bound to `{id}_deadline`" if screen.deadline is not None else ""
    prompt = "Text, bound to `{id}_prompt`; "
    return f"{above}{prompt}{asked}{late}".format(id=name, **ends)


def _csv(lines: Sequence[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for line in lines for name in line))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return stream.getvalue()
