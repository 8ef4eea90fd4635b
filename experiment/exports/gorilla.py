"""Gorilla, Task Builder 2: a spreadsheet for each place, and a recipe for the displays that show it.

Gorilla takes no whole task from a file. A spreadsheet's rows are shown in their order while its randomisation is empty.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gardenpath import study

from ..procedures import Text, sides
from ..versions import VersionFile
from .asked import ELSEWHERE, asked
from .page import told
from .places import Place

NAME = "gorilla"
SEPARATOR = "|"
SCREENS = {
    "context": "Text, bound to `context`; Space To Continue",
    "sentence": "Reading, bound to `words`, separator `|`; Keyboard Response, space",
    "sentence 1": "Reading, bound to `words`, separator `|`; Keyboard Response, space",
    "sentence 2": "Reading, bound to `words_2`, separator `|`; Keyboard Response, space",
    "question": "Text, bound to `question`; for each of `choice_1`, `choice_2` ... a Text Button Response, its text and its "
    "response bound to it",
    "rating": "Text, bound to `rating_prompt`; {scale}",
    "choice": "Text, bound to `choice_prompt`; Text Button Responses bound to `sentence` (response `first`) on the side `side_1`, "
    "and to `sentence_2` (response `second`) on the side `side_2`",
}
SCALES = {
    "keys": "Rating Scale from 1 to {points}, its ends bound to `rating_low` and `rating_high`; or Keyboard Response, these digits",
    "slider": "Slider from 0 to 100, ends bound to `rating_low` and `rating_high`; Continue Button",
    "yes_no": "two Text Button Responses, yes with the response `1` and no with the response `0`",
}


def loses(files: Sequence[VersionFile]) -> list[str]:
    """Return what a task made by the recipe does not do of this study."""
    study_asks, lost = (
        asked(files),
        ["Gorilla takes no task from a file: it is built by hand, step by step, from README.md."],
    )
    if study_asks.word_by_word:
        lost.append(
            "Onsets of words are not recorded: reading times run from key press to key press, and rt_onset stays empty."
        )
        lost.append(
            "The Reading component shows words as it is set: try each display, and see that every press has a row in the data."
        )
    if study_asks.right_to_left and study_asks.word_by_word:
        lost.append(
            "Whether the Reading component runs from right to left is not documented: try it before you rely on it."
        )
    if study_asks.unspaced and study_asks.presentations & {"moving_window", "cumulative"}:
        lost.append("Words that have no space between them may be shown with one, as the Reading component is set.")
    if any(SEPARATOR in word for word in study_asks.words):
        lost.append(
            f"Words are separated by {SEPARATOR} in the spreadsheets, which some words hold: these sentences do not come back."
        )
    if any(trial["question"] and trial["question"]["answer"] for file in files for trial in Place(file, 0).trials()):
        lost.append(
            "Whether the answer to a practice question was right is not told; add a Feedback component if you need it."
        )
    if study_asks.procedure.demographics:
        lost.append(
            "Ask the questions about the participant in a questionnaire, with their names in study.toml as object names."
        )
    return [*lost, *ELSEWHERE]


def write(
    files: Sequence[VersionFile], places: Sequence[Place], folder: Path, online: study.OnlineSection
) -> list[Path]:
    """Write spreadsheets/E1-V1-0.csv and so on, and README.md with the recipe; return their paths."""
    written = {folder / "spreadsheets" / f"{_name(place)}.csv": _csv(list(rows(place))) for place in places}
    rating = files[0].procedure.rating
    scale = SCALES[rating.kind].format(points=rating.points) if rating else ""
    said = {
        "displays": _displays(places, scale),
        "consent": _quoted(files[0].procedure.texts["consent"]),
        "first": _name(places[0]),
        "code": online.completion_code,
        "url": online.completion_url or "the address that your recruitment platform gives",
    }
    written[folder / "README.md"] = told("gorilla.md", files, places, **said)
    for path, text in written.items():
        study.write_text(path, text)
    return list(written)


def _name(place: Place) -> str:
    return f"{place.file.name}-{place.slot}"


def _quoted(text: Text) -> str:
    parts = text.split("\n\n") if isinstance(text, str) else text
    return "\n>\n".join("> " + part.replace("\n", " ") for part in parts)


def rows(place: Place) -> Iterator[dict[str, Any]]:
    """Yield the rows of a place's spreadsheet: instructions, trials with breaks, and the text at the end."""
    trials, procedure = place.trials(), place.file.procedure
    most = max((len(trial["question"]["choices"]) for trial in trials if trial["question"]), default=0)
    rating, first_and_second = procedure.rating, sides(procedure.language, procedure.choice.arrangement)
    asks = {
        "rating_name": rating.name if rating else "",
        "rating_prompt": rating.prompt if rating else "",
        "rating_low": rating.low if rating else "",
        "rating_high": rating.high if rating else "",
        "choice_name": procedure.choice.name,
        "choice_prompt": procedure.choice.prompt,
    }
    asks |= dict(zip(("side_1", "side_2"), first_and_second, strict=True))
    for page in procedure.texts["instructions"]:
        yield _text(page)
    for trial in trials:
        if trial["break_before"]:
            yield _text(str(procedure.texts["break"]))
        question = trial["question"] or {"text": "", "choices": []}
        choices = [*question["choices"], *[""] * most][:most]
        yield {
            **_text("", " ".join([trial["presentation"], *screens(trial)])),
            **place.matching(),
            "position": trial["trial"],
            "of": len(trials),
            "role": trial["role"],
            "item": trial["item"],
            "condition": trial["condition"],
            "presentation": trial["presentation"],
            "context": trial["context"] or "",
            **_sentences(trial["sentences"]),
            "question": question["text"],
            **{f"choice_{n}": choice for n, choice in enumerate(choices, start=1)},
            **asks,
        }
    yield _text(str(procedure.texts["debriefing"]))


def _text(text: str, display: str = "text") -> dict[str, Any]:
    return {"randomise_blocks": "", "randomise_trials": "", "display": display, "text": text}


def screens(trial: dict[str, Any]) -> list[str]:
    """Return the screens of a trial's display, in order."""
    names = ["sentence 1", "sentence 2"] if len(trial["sentences"]) > 1 else ["sentence"]
    context = ["context"] if trial["context"] else []
    return [*context, *([] if trial["presentation"] == "with_task" else names), *trial["tasks"]]


def _sentences(sentences: Sequence[dict[str, Any]]) -> dict[str, str]:
    cells = {"sentence": "", "words": "", "sentence_2": "", "words_2": ""}
    for sentence, suffix in zip(sentences, ("", "_2"), strict=False):
        words, gaps = sentence["words"], [*sentence["gaps"], ""]
        cells[f"sentence{suffix}"] = "".join(word + gap for word, gap in zip(words, gaps, strict=True))
        cells[f"words{suffix}"] = SEPARATOR.join(words)
    return cells


def _displays(places: Sequence[Place], scale: str) -> str:
    """Return a list of the displays that the spreadsheets name, with the screens of each in order."""
    found: dict[str, dict[str, Any]] = {}
    for place in places:
        for trial in place.trials():
            found.setdefault(" ".join([trial["presentation"], *screens(trial)]), trial)
    lines = ["   - `text`", "     - `text`: Text, bound to `text`; Continue Button"]
    for display, trial in sorted(found.items()):
        whole, with_task = (trial["presentation"] == name for name in ("whole", "with_task"))
        lines.append(f"   - `{display}`")
        lines += [f"     - {_screen(name, whole, with_task, scale)}" for name in screens(trial)]
    return "\n".join(lines)


def _screen(name: str, whole: bool, with_task: bool, scale: str) -> str:
    if whole and name.startswith("sentence"):
        column = "sentence_2" if name.endswith("2") else "sentence"
        return f"`{name}`: Text, bound to `{column}`; Space To Continue"
    above = "Text, bound to `sentence`; " if with_task and name != "choice" else ""
    return f"`{name}`: {above}{SCREENS[name].format(scale=scale)}"


def _csv(lines: Sequence[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for line in lines for name in line))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return stream.getvalue()
