"""PsychoPy Builder and Pavlovia: a conditions file for each place, and a recipe for the routines that read it.

The lab needs none of this (`gardenpath lab`); it is for studies that are built in Builder, for their other routines or for
Pavlovia. The columns are the variables of the routines; their names are what the import looks for.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gardenpath import study

from ..procedures import sides
from ..versions import VersionFile
from .asked import ELSEWHERE, asked
from .page import told
from .places import Place

NAME = "psychopy"
# What pandas, by which PsychoPy reads conditions, takes for a missing value.
EMPTY = frozenset(["NA", "N/A", "n/a", "#N/A", "None", "none", "null", "NULL", "nan", "NaN", "<NA>"])


def loses(files: Sequence[VersionFile]) -> list[str]:
    """Return what a Builder experiment made by the recipe does not do of this study."""
    study_asks, lost = asked(files), []
    if study_asks.word_by_word:
        lost.append(
            "Onsets of words are not recorded: reading times run from key press to key press, and rt_onset stays empty."
        )
    if study_asks.right_to_left:
        lost.append("Set the language style of every text component to RTL by hand (Arabic for Arabic letters).")
    if study_asks.unspaced and study_asks.presentations & {"moving_window", "cumulative"}:
        lost.append("A moving window puts a space between all words, also where the text has none.")
    if study_asks.procedure.demographics:
        lost.append(
            "The questions about the participant are to be asked in Experiment info or a survey; they do not come back."
        )
    if odd := _as_numbers(files):
        lost.append(
            f"PsychoPy makes numbers of cells that look like them, here of {', '.join(odd)}: write them otherwise."
        )
    if odd := _as_empty(files):
        lost.append(f"PsychoPy reads these cells as empty: {', '.join(odd)}; write them otherwise.")
    lost.append("Data are saved at the end, or where Pavlovia saves incomplete results.")
    return [*lost, *ELSEWHERE]


def _as_numbers(files: Sequence[VersionFile]) -> list[str]:
    """Return ids that would come back as another number, 01 as 1, and answers, which would be shown as one, 3 as 3.0."""
    trials = [trial for file in files for trial in file.version.trials]
    ids = {name for trial in trials for name in (trial.item.id, trial.condition)}
    return sorted(
        {name for name in ids if _number(name) not in (None, name)} | {c for c in _choices(files) if _number(c)}
    )


def _as_empty(files: Sequence[VersionFile]) -> list[str]:
    sentences = {sentence.text for file in files for trial in file.version.trials for _, sentence in trial.shown}
    return sorted((_choices(files) | sentences) & EMPTY)


def _choices(files: Sequence[VersionFile]) -> set[str]:
    questions = [trial.item.question for file in files for trial in file.version.trials]
    return {choice for question in questions if question for choice in question.choices}


def _number(name: str) -> str | None:
    """Return how PsychoPy writes what it takes for a number, None where it takes it for text."""
    try:
        value = float(name.replace(",", "."))
    except ValueError:
        return None
    return f"{value:.0f}" if value.is_integer() else str(value)


def write(
    files: Sequence[VersionFile], places: Sequence[Place], folder: Path, online: study.OnlineSection
) -> list[Path]:
    """Write conditions/place-0.csv and so on, places.csv with the version and slot of each, and a README; return their paths."""
    written = {folder / "conditions" / f"place-{n}.csv": _csv(rows(place)) for n, place in enumerate(places)}
    written[folder / "places.csv"] = _csv([{"place": n, **place.matching()} for n, place in enumerate(places)])
    texts = files[0].procedure.texts
    said = {
        "consent": _quoted(texts["consent"]),
        "instructions": _quoted(texts["instructions"]),
        "tasks": _tasks(files),
        "debriefing": _quoted(texts["debriefing"]),
        "code": online.completion_code,
    }
    written[folder / "README.md"] = told("psychopy.md", files, places, **said)
    for path, text in written.items():
        study.write_text(path, text)
    return list(written)


def _tasks(files: Sequence[VersionFile]) -> str:
    """Return what the routines show that the conditions files do not hold, a line each."""
    study_asks = asked(files)
    rating, choice, texts = study_asks.procedure.rating, study_asks.procedure.choice, study_asks.procedure.texts
    lines = []
    if study_asks.breaks:
        lines.append(f"- `pause`: {texts['break']} {texts['continue']} (a keyboard component, `'space'`)")
    if rating is not None and "rating" in study_asks.tasks:
        ends = {
            "keys": (f"1 to {rating.points}: 1 is", f"{rating.points} is"),
            "slider": ("0 to 100: 0 is", "100 is"),
            "yes_no": ("j is", "f is"),
        }
        low, high = ends[rating.kind]
        labels = rating.low or texts["no"], rating.high or texts["yes"]
        lines.append(f"- `rating`: {rating.prompt} {low} {labels[0]}, {high} {labels[1]}")
    if "choice" in study_asks.tasks:
        lines.append(f"- `choice`: {choice.prompt}")
    return "\n".join(lines) or "(there are none: every text stands in the conditions files)"


def _quoted(text: str | tuple[str, ...]) -> str:
    parts = text.split("\n\n") if isinstance(text, str) else [part for page in text for part in page.split("\n\n")]
    return "\n>\n".join("> " + part.replace("\n", " ") for part in parts)


def rows(place: Place) -> list[dict[str, Any]]:
    """Return a place's trials in their order, one row each.

    Columns that ask are 0 or 1, since PsychoPy makes of an empty cell what is not empty to Python (nan).
    """
    trials, procedure = place.trials(), place.file.procedure
    most = max((len(trial["question"]["choices"]) for trial in trials if trial["question"]), default=0)
    first, second = sides(procedure.language, procedure.choice.arrangement)
    return [
        {
            **place.matching(),
            "position": trial["trial"],
            "of": len(trials),
            "role": trial["role"],
            "item": trial["item"],
            "condition": trial["condition"],
            "presentation": trial["presentation"],
            "break_before": int(trial["break_before"]),
            "ask_context": int(trial["context"] is not None),
            "context": trial["context"] or "",
            "ask_second": int(len(trial["sentences"]) > 1),
            **_sentences(trial["sentences"]),
            **_question(trial, most),
            "ask_rating": int("rating" in trial["tasks"]),
            "rating_name": procedure.rating.name if procedure.rating else "",
            "rating_kind": procedure.rating.kind if procedure.rating else "",
            "ask_choice": int("choice" in trial["tasks"]),
            "choice_name": procedure.choice.name,
            "side_1": first,
            "side_2": second,
        }
        for trial in trials
    ]


def _sentences(sentences: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return each sentence as a text, and as words with spaces between them; a space within a word does not break."""
    cells = {"sentence": "", "words": "", "sentence_2": "", "words_2": ""}
    for sentence, suffix in zip(sentences, ("", "_2"), strict=False):
        words, gaps = sentence["words"], [*sentence["gaps"], ""]
        cells[f"sentence{suffix}"] = "".join(word + gap for word, gap in zip(words, gaps, strict=True))
        cells[f"words{suffix}"] = " ".join(word.replace(" ", "\xa0") for word in words)
    return cells


def _question(trial: dict[str, Any], most: int) -> dict[str, Any]:
    question = trial["question"] or {"text": "", "choices": [], "answer": None}
    choices = [*question["choices"], *[""] * most][:most]
    return {
        "ask_question": int("question" in trial["tasks"]),
        "question": question["text"],
        **{f"choice_{n}": choice for n, choice in enumerate(choices, start=1)},
        "ask_feedback": int(question["answer"] is not None),
        "answer": question["answer"] or "",
    }


def _csv(lines: Sequence[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return stream.getvalue()
