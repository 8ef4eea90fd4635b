"""PsychoPy Builder and Pavlovia: a conditions file for each assignment, and a recipe for the routines that read it.

The lab needs none of this (`gardenpath lab`); it is for studies that are built in Builder, for their other routines or for
Pavlovia. The columns are the variables of the routines; their names are what the import looks for.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gardenpath import study
from gardenpath.study.screens import After, Answers, AskingScreen, Screen, Text, Whole, Words

from ...scripts.list_files import ListFile
from ..features import COMMON_LOSSES, COMMON_SUPPORT, SUPPORTED, UNSUPPORTED, FeatureSupport, list_feature_losses
from ..list_slots import ListSlot
from ..outline import (
    Outline,
    build_recorded_columns,
    build_shown_columns,
    group_front_pages,
    identify_answer_kind,
    join_words,
    list_paragraphs,
    order_from_left,
    require_asking,
)
from ..page import fill_template, format_quotation

NAME = "psychopy"
# What pandas, by which PsychoPy reads conditions, takes for a missing value.
MISSING_VALUES = frozenset(["NA", "N/A", "n/a", "#N/A", "None", "none", "null", "NULL", "nan", "NaN", "<NA>"])
# What stands in a cell of a text that a trial does not have: of an empty cell PsychoPy would show "nan".
BLANK_CELL = " "
FEATURE_SUPPORT: FeatureSupport = {
    "text": SUPPORTED,
    "words": "Onsets of words are not recorded: reading times run from key press to key press, and rt_onset stays empty.",
    "whole": SUPPORTED,
    "answers": SUPPORTED,
    "slider": SUPPORTED,
    "entry": "When a typed answer came is not recorded, nor when its first key did, nor whether its text was pasted.",
    "form": "The questions about the participant are to be asked in Experiment info or a survey; they do not come back.",
    "word_pairs": UNSUPPORTED,
    "centred": SUPPORTED,
    "moving_window": SUPPORTED,
    "cumulative": SUPPORTED,
    "timed": UNSUPPORTED,
    "words_right_to_left": SUPPORTED,
    "right_to_left": "Set the language style of every text component to RTL by hand (Arabic for Arabic letters).",
    "unspaced": "A moving window puts a space between all words, also where the text has none.",
    "points": SUPPORTED,
    "row": SUPPORTED,
    "pair": SUPPORTED,
    "stacked_pair": SUPPORTED,
    "above_text": SUPPORTED,
    "above_sentence": SUPPORTED,
    "deadline": SUPPORTED,
    "feedback": SUPPORTED,
    "follow_up": SUPPORTED,
    "leave": UNSUPPORTED,
    "context": SUPPORTED,
    "breaks": SUPPORTED,
    "assets": UNSUPPORTED,
    **COMMON_SUPPORT,
}
# How each kind of prompt is answered, as the recipe says it.
ANSWER_RECIPES = {
    "points": "keyboard `{id}_key`, allowed {digits}; {least} is {low}, {most} is {high}",
    "slider": "slider component `{id}_slider` from {least} to {most}; {least} is {low}, {most} is {high}",
    "two": "texts `${id}_label_1` on the side `{id}_side_1` and `${id}_label_2` on `{id}_side_2`; keyboard `{id}_key`, allowed "
    "`'f','j'`: `'f'` for the first, `'j'` for the second",
    "row": "texts `${id}_label_1`, `${id}_label_2` ...; keyboard `{id}_key`, allowed `'1','2'` ...",
    "entry": "textbox component `{id}_text`, editable; a button or a key that ends the routine",
}


def list_losses(files: Sequence[ListFile]) -> list[str]:
    """Return what a Builder experiment made by the recipe does not do of this study."""
    sentences = list_feature_losses(files, FEATURE_SUPPORT)
    if unsafe := _find_number_like_texts(files):
        sentences.append(f"PsychoPy makes numbers of cells that look like them, here of {', '.join(unsafe)}: write them otherwise.")
    if unsafe := sorted((_collect_labels(files) | _collect_texts(files)) & MISSING_VALUES):
        sentences.append(f"PsychoPy reads these cells as empty: {', '.join(unsafe)}; write them otherwise.")
    return [*sentences, "Data are saved at the end, or where Pavlovia saves incomplete results.", *COMMON_LOSSES]


def _list_screens(files: Sequence[ListFile]) -> Iterator[Any]:
    return (screen for file in files for step in file.script.trials for screen in step.screens)


def _find_number_like_texts(files: Sequence[ListFile]) -> list[str]:
    """Return ids that would come back as another number, 01 as 1, and answers, which would be shown as one, 3 as 3.0."""
    trials = [trial for file in files for trial in file.trial_list.trials]
    ids = {name for trial in trials for name in (trial.item.id, trial.condition)}
    return sorted(
        {name for name in ids if _format_as_number(name) not in (None, name)}
        | {one for one in _collect_labels(files) if _format_as_number(one)}
    )


def _collect_texts(files: Sequence[ListFile]) -> set[str]:
    return {join_words(screen) if isinstance(screen, Words) else getattr(screen, "text", "") for screen in _list_screens(files)}


def _collect_labels(files: Sequence[ListFile]) -> set[str]:
    answer_screens = [
        screen for screen in _list_screens(files) if hasattr(screen, "answers") and identify_answer_kind(screen) != "points"
    ]
    return {one.label for screen in answer_screens for one in screen.answers}


def _format_as_number(name: str) -> str | None:
    """Return how PsychoPy writes what it takes for a number, None where it takes it for text."""
    try:
        value = float(name.replace(",", "."))
    except ValueError:
        return None
    return f"{value:.0f}" if value.is_integer() else str(value)


def write(files: Sequence[ListFile], slots: Sequence[ListSlot], folder: Path, online: study.config.OnlineSection) -> list[Path]:
    """Write conditions/assignment-0.csv ..., assignments.csv with each list and slot, and a README; return their paths."""
    outline = Outline.from_files(files)
    texts_by_path = {
        folder / "conditions" / f"assignment-{n}.csv": _format_csv(build_condition_rows(slot, outline))
        for n, slot in enumerate(slots)
    }
    texts_by_path[folder / "assignments.csv"] = _format_csv(
        [{"assignment": n, **slot.build_matching_columns()} for n, slot in enumerate(slots)]
    )
    pages = group_front_pages(files[0].script)
    texts = {
        "consent": format_quotation(list_paragraphs(pages["consent"])),
        "instructions": format_quotation(list_paragraphs(pages["rest"])),
        "routines": ", ".join(f"`{name}`" for name in outline.names),
        "screens": _format_recipe(files, outline),
        "debriefing": format_quotation([files[0].script.texts["debriefing"]]),
        "code": online.completion_code,
    }
    texts_by_path[folder / "README.md"] = fill_template("psychopy/export.md", files, slots, **texts)
    for path, text in texts_by_path.items():
        study.files.write_text(path, text)
    return list(texts_by_path)


def _format_recipe(files: Sequence[ListFile], outline: Outline) -> str:
    """Return what stands in each routine, a line each."""
    routines: dict[str, list[str]] = {name: [] for name in outline.names}
    for step in (step for file in files for step in file.script.trials):
        for name, screen in outline.name_screens(step):
            description = _describe_routine(name, screen)
            routines[name] += [description] if description not in routines[name] else []
    return "\n".join(f"   - `{name}`: {'; or '.join(description)}" for name, description in routines.items())


def _describe_routine(name: str, screen: Screen) -> str:
    if isinstance(screen, (Text, Whole)) and not name.startswith("sentence"):
        return f"text `${name}_text`, keyboard `{name}_key`, allowed `'space'`"
    if name.startswith("sentence"):
        return "a sentence, as below"
    screen = require_asking(screen)
    answer_kind = identify_answer_kind(screen)
    answers = screen.answers if isinstance(screen, Answers) else ()
    columns = {
        column.removeprefix(f"{name}_"): cell
        for column, cell in {**build_recorded_columns(name, screen), **build_shown_columns(name, screen)}.items()
    }
    digits = ",".join(f"'{one.value}'" for one in answers) if answer_kind == "points" else ""
    answer_recipe = ANSWER_RECIPES["two" if _has_two_answers(screen) else answer_kind].format(
        id=name, digits=f"`{digits}`", **{end: columns.get(end) for end in ("least", "most", "low", "high")}
    )
    above = f"text `${name}_above`, " if screen.above.kind != "nothing" else ""
    return f"{above}text `${name}_prompt`; {answer_recipe}"


def build_condition_rows(slot: ListSlot, outline: Outline) -> list[dict[str, Any]]:
    """Return an assignment's trials in their order, one row each, with the pages that come before it.

    Columns that say what a trial has are 0 or 1, since PsychoPy makes of an empty cell what is not empty to Python (nan).
    """
    steps, pages, condition_rows = slot.list_trial_steps(), [], []
    trial_count = sum(timeline_step.position is not None for timeline_step in steps)
    for timeline_step in steps:
        if timeline_step.step.trial is None:
            pages.append(timeline_step.step)
            continue
        trial = slot.file.trial_list.trials[timeline_step.step.trial]
        cells = {
            **slot.build_matching_columns(),
            "position": timeline_step.position,
            "of": trial_count,
            "role": trial.role,
            "item": trial.item.id,
            "condition": trial.condition,
            "has_pause": int(bool(pages)),
            "pause_text": "\n\n".join(list_paragraphs(pages)) or BLANK_CELL,
            **dict.fromkeys((f"has_{name}" for name in outline.names), 0),
        }
        named_screens = outline.name_screens(timeline_step.step)
        for name, screen in named_screens:
            cells |= {f"has_{name}": 1, **_build_screen_cells(name, screen)}
            if screen.when is not None:
                cells |= _build_follow_up_columns(name, screen.when, *named_screens[screen.when.screen])
        condition_rows.append(cells)
        pages = []
    return condition_rows


def _build_screen_cells(name: str, screen: Screen) -> dict[str, Any]:
    if isinstance(screen, Text):
        return {f"{name}_text": "\n\n".join([*screen.paragraphs, *(button.label for button in screen.buttons)])}
    if isinstance(screen, Whole):
        return {f"{name}_text": screen.text, f"{name}_reading": "whole"}
    if isinstance(screen, Words):
        # A space within a word does not break.
        words = " ".join(word.replace(" ", "\xa0") for word in screen.words)
        return {f"{name}_text": join_words(screen), f"{name}_words": words, f"{name}_reading": screen.arrangement}
    screen = order_from_left(require_asking(screen))
    deadline = 0 if screen.deadline is None else f"{screen.deadline:g}"
    return {**build_recorded_columns(name, screen), **build_shown_columns(name, screen), f"{name}_deadline": deadline}


def _build_follow_up_columns(name: str, when: After, asked_name: str, screen: Screen) -> dict[str, Any]:
    """Return the columns that say after which answers a screen is shown; where none is right, any counts as wrong."""
    screen = order_from_left(require_asking(screen))
    is_judged = screen.is_judged_by_player and bool(screen.right)
    answers = screen.answers if isinstance(screen, Answers) else ()
    right = [key for one, key in zip(answers, _list_answer_keys(screen), strict=False) if one.value in screen.right]
    outcomes = [one for one in when.outcomes if is_judged or one in ("answered", "timeout")]
    return {
        f"{name}_after": asked_name,
        f"{name}_outcomes": " ".join("wrong" if one == "answered" and not is_judged else one for one in outcomes),
        f"{asked_name}_right_keys": " ".join(right if is_judged else []),
    }


def _list_answer_keys(screen: AskingScreen) -> str:
    """Return the keys of answers, in order."""
    return "fj" if _has_two_answers(screen) else "123456789"


def _has_two_answers(screen: AskingScreen) -> bool:
    return isinstance(screen, Answers) and screen.arrangement != "points" and len(screen.answers) == 2


def _format_csv(lines: Sequence[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for line in lines for name in line))
    shown_texts = ("_text", "_prompt", "_above", "_label_1", "_label_2", "_right_keys")
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    for line in lines:
        blank = {name: BLANK_CELL for name in names if name.endswith(shown_texts) and not line.get(name)}
        writer.writerow({**line, **blank})
    return stream.getvalue()
