"""PsychoPy Builder and Pavlovia: a conditions file for each place, and a recipe for the routines that read it.

The lab needs none of this (`gardenpath lab`); it is for studies that are built in Builder, for their other routines or for
Pavlovia. The columns are the variables of the routines; their names are what the import looks for.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gardenpath import study
from gardenpath.study.screens import After, Text, Whole, Words

from ...versions import VersionFile
from ..features import ALIKE, ELSEWHERE, PLAYED, REFUSED, Plays, losses
from ..outline import Outline, from_left, front, joined, kind, recorded, said, shown
from ..page import filled_in, quoted
from ..places import Place

NAME = "psychopy"
# What pandas, by which PsychoPy reads conditions, takes for a missing value.
EMPTY = frozenset(["NA", "N/A", "n/a", "#N/A", "None", "none", "null", "NULL", "nan", "NaN", "<NA>"])
# What stands in a cell of a text that a trial does not have: of an empty cell PsychoPy would show "nan".
BLANK = " "
PLAYS: Plays = {
    "text": PLAYED,
    "words": "Onsets of words are not recorded: reading times run from key press to key press, and rt_onset stays empty.",
    "whole": PLAYED,
    "answers": PLAYED,
    "slider": PLAYED,
    "entry": "When a typed answer came is not recorded, nor when its first key did, nor whether its text was pasted.",
    "form": "The questions about the participant are to be asked in Experiment info or a survey; they do not come back.",
    "word_pairs": REFUSED,
    "centred": PLAYED,
    "moving_window": PLAYED,
    "cumulative": PLAYED,
    "timed": REFUSED,
    "words_right_to_left": PLAYED,
    "right_to_left": "Set the language style of every text component to RTL by hand (Arabic for Arabic letters).",
    "unspaced": "A moving window puts a space between all words, also where the text has none.",
    "points": PLAYED,
    "row": PLAYED,
    "pair": PLAYED,
    "stacked_pair": PLAYED,
    "above_text": PLAYED,
    "above_sentence": PLAYED,
    "deadline": PLAYED,
    "feedback": PLAYED,
    "follow_up": PLAYED,
    "leave": REFUSED,
    "context": PLAYED,
    "breaks": PLAYED,
    "assets": REFUSED,
    **ALIKE,
}
# How each kind of prompt is answered, as the recipe says it.
ASKED = {
    "points": "keyboard `{id}_key`, allowed {digits}; {least} is {low}, {most} is {high}",
    "slider": "slider component `{id}_slider` from {least} to {most}; {least} is {low}, {most} is {high}",
    "two": "texts `${id}_label_1` on the side `{id}_side_1` and `${id}_label_2` on `{id}_side_2`; keyboard `{id}_key`, allowed "
    "`'f','j'`: `'f'` for the first, `'j'` for the second",
    "row": "texts `${id}_label_1`, `${id}_label_2` ...; keyboard `{id}_key`, allowed `'1','2'` ...",
    "entry": "textbox component `{id}_text`, editable; a button or a key that ends the routine",
}


def loses(files: Sequence[VersionFile]) -> list[str]:
    """Return what a Builder experiment made by the recipe does not do of this study."""
    lost = losses(files, PLAYS)
    if odd := _as_numbers(files):
        lost.append(
            f"PsychoPy makes numbers of cells that look like them, here of {', '.join(odd)}: write them otherwise."
        )
    if odd := sorted((_labels(files) | _texts(files)) & EMPTY):
        lost.append(f"PsychoPy reads these cells as empty: {', '.join(odd)}; write them otherwise.")
    return [*lost, "Data are saved at the end, or where Pavlovia saves incomplete results.", *ELSEWHERE]


def _screens(files: Sequence[VersionFile]) -> Iterator[Any]:
    return (screen for file in files for step in file.script.trials for screen in step.screens)


def _as_numbers(files: Sequence[VersionFile]) -> list[str]:
    """Return ids that would come back as another number, 01 as 1, and answers, which would be shown as one, 3 as 3.0."""
    trials = [trial for file in files for trial in file.version.trials]
    ids = {name for trial in trials for name in (trial.item.id, trial.condition)}
    return sorted(
        {name for name in ids if _number(name) not in (None, name)} | {one for one in _labels(files) if _number(one)}
    )


def _texts(files: Sequence[VersionFile]) -> set[str]:
    return {joined(screen) if isinstance(screen, Words) else getattr(screen, "text", "") for screen in _screens(files)}


def _labels(files: Sequence[VersionFile]) -> set[str]:
    asked = [screen for screen in _screens(files) if hasattr(screen, "answers") and kind(screen) != "points"]
    return {one.label for screen in asked for one in screen.answers}


def _number(name: str) -> str | None:
    """Return how PsychoPy writes what it takes for a number, None where it takes it for text."""
    try:
        value = float(name.replace(",", "."))
    except ValueError:
        return None
    return f"{value:.0f}" if value.is_integer() else str(value)


def write(
    files: Sequence[VersionFile], places: Sequence[Place], folder: Path, online: study.config.OnlineSection
) -> list[Path]:
    """Write conditions/place-0.csv and so on, places.csv with the version and slot of each, and a README; return their paths."""
    outline = Outline.of(files)
    written = {folder / "conditions" / f"place-{n}.csv": _csv(rows(place, outline)) for n, place in enumerate(places)}
    written[folder / "places.csv"] = _csv([{"place": n, **place.matching()} for n, place in enumerate(places)])
    pages = front(files[0].script)
    texts = {
        "consent": quoted(said(pages["consent"])),
        "instructions": quoted(said(pages["rest"])),
        "routines": ", ".join(f"`{name}`" for name in outline.names),
        "screens": _recipe(files, outline),
        "debriefing": quoted([files[0].script.texts["debriefing"]]),
        "code": online.completion_code,
    }
    written[folder / "README.md"] = filled_in("psychopy/export.md", files, places, **texts)
    for path, text in written.items():
        study.files.write_text(path, text)
    return list(written)


def _recipe(files: Sequence[VersionFile], outline: Outline) -> str:
    """Return what stands in each routine, a line each."""
    routines: dict[str, list[str]] = {name: [] for name in outline.names}
    for step in (step for file in files for step in file.script.trials):
        for name, screen in outline.named(step):
            said = _routine(name, screen)
            routines[name] += [said] if said not in routines[name] else []
    return "\n".join(f"   - `{name}`: {'; or '.join(said)}" for name, said in routines.items())


def _routine(name: str, screen: Any) -> str:
    if isinstance(screen, (Text, Whole)) and not name.startswith("sentence"):
        return f"text `${name}_text`, keyboard `{name}_key`, allowed `'space'`"
    if name.startswith("sentence"):
        return "a sentence, as below"
    how = kind(screen)
    two = hasattr(screen, "answers") and len(screen.answers) == 2 and how != "points"
    columns = {
        column.removeprefix(f"{name}_"): cell
        for column, cell in {**recorded(name, screen), **shown(name, screen)}.items()
    }
    digits = ",".join(f"'{one.value}'" for one in screen.answers) if how == "points" else ""
    answered = ASKED["two" if two else how].format(
        id=name, digits=f"`{digits}`", **{end: columns.get(end) for end in ("least", "most", "low", "high")}
    )
    above = f"text `${name}_above`, " if screen.above.kind != "nothing" else ""
    return f"{above}text `${name}_prompt`; {answered}"


def rows(place: Place, outline: Outline) -> list[dict[str, Any]]:
    """Return a place's trials in their order, one row each, with the pages that come before it.

    Columns that say what a trial has are 0 or 1, since PsychoPy makes of an empty cell what is not empty to Python (nan).
    """
    steps, pages, made = place.between(), [], []
    of = sum(placed.position is not None for placed in steps)
    for placed in steps:
        if placed.step.trial is None:
            pages.append(placed.step)
            continue
        trial = place.file.version.trials[placed.step.trial]
        cells = {
            **place.matching(),
            "position": placed.position,
            "of": of,
            "role": trial.role,
            "item": trial.item.id,
            "condition": trial.condition,
            "has_pause": int(bool(pages)),
            "pause_text": "\n\n".join(said(pages)) or BLANK,
            **dict.fromkeys((f"has_{name}" for name in outline.names), 0),
        }
        named = outline.named(placed.step)
        for name, screen in named:
            cells |= {f"has_{name}": 1, **_cells(name, screen)}
            if screen.when is not None:
                cells |= _after(name, screen.when, *named[screen.when.screen])
        made.append(cells)
        pages = []
    return made


def _cells(name: str, screen: Any) -> dict[str, Any]:
    if isinstance(screen, Text):
        return {f"{name}_text": "\n\n".join([*screen.paragraphs, *(button.label for button in screen.buttons)])}
    if isinstance(screen, Whole):
        return {f"{name}_text": screen.text, f"{name}_reading": "whole"}
    if isinstance(screen, Words):
        # A space within a word does not break.
        words = " ".join(word.replace(" ", "\xa0") for word in screen.words)
        return {f"{name}_text": joined(screen), f"{name}_words": words, f"{name}_reading": screen.arrangement}
    screen = from_left(screen)
    deadline = 0 if screen.deadline is None else f"{screen.deadline:g}"
    return {**recorded(name, screen), **shown(name, screen), f"{name}_deadline": deadline}


def _after(name: str, when: After, asked: str, screen: Any) -> dict[str, Any]:
    """Return the columns that say after which answers a screen is shown; where none is right, any counts as wrong."""
    judged = screen.tell and screen.right
    right = [
        key for one, key in zip(from_left(screen).answers, _keys(screen), strict=False) if one.value in screen.right
    ]
    outcomes = [one for one in when.outcomes if judged or one in ("answered", "timeout")]
    return {
        f"{name}_after": asked,
        f"{name}_outcomes": " ".join("wrong" if one == "answered" and not judged else one for one in outcomes),
        f"{asked}_right_keys": " ".join(right if judged else []),
    }


def _keys(screen: Any) -> str:
    """Return the keys of answers, in order."""
    two = kind(screen) != "points" and len(getattr(screen, "answers", ())) == 2
    return "fj" if two else "123456789"


def _csv(lines: Sequence[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for line in lines for name in line))
    shown_texts = ("_text", "_prompt", "_above", "_label_1", "_label_2", "_right_keys")
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    for line in lines:
        blank = {name: BLANK for name in names if name.endswith(shown_texts) and not line.get(name)}
        writer.writerow({**line, **blank})
    return stream.getvalue()
