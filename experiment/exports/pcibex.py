"""PCIbex (PennController for Ibex; Zehr and Schwarz 2018): data_includes/main.js, and tables and pages for chunk_includes.

Every place is a group of trials.csv. PCIbex shows the group that its counter points at, in the order of the rows.
"""

import csv
import html
import io
import json
import logging
from collections.abc import Iterator, Sequence
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from gardenpath import study

from ..procedures import Field, Text, direction
from ..versions import VersionFile
from .asked import ELSEWHERE, asked
from .page import told
from .places import Place

NAME = "pcibex"
log = logging.getLogger("gardenpath")
# A cell must not hold what PCIbex's own reader of tables takes for its structure; ~ joins words without a space between them.
ESCAPED = "%,;\t\r\n\"'|\\~"
# Every participant's browser fetches the whole table before the experiment starts; an account holds 64 MB.
LARGE = 5_000_000
TEXTS = (
    *("consent_accept", "go_on", "continue", "break", "right", "wrong", "yes", "no"),
    *("needed", "debriefing", "completion", "return_link"),
)


def loses(files: Sequence[VersionFile]) -> list[str]:
    """Return what PCIbex cannot do of this study."""
    study_asks, lost = asked(files), []
    rating = study_asks.procedure.rating
    if study_asks.word_by_word:
        lost.append("Onsets are not measured: reading times run from key press to key press, and rt_onset stays empty.")
        lost.append(
            "A space bar that is held runs through the sentence (Ibex's DashedSentence counts its repetitions)."
        )
    if "cumulative" in study_asks.presentations:
        lost.append("There is no cumulative reading: these sentences are shown in a moving window.")
    if study_asks.right_to_left and study_asks.word_by_word:
        lost.append(
            "Reading word by word from right to left is not supported: a moving window runs from left to right."
        )
    if study_asks.unspaced and study_asks.presentations & {"moving_window", "cumulative"}:
        lost.append("A moving window puts a space between all words, also where the text has none.")
    if any(word.startswith("@") for word in study_asks.words):
        lost.append("DashedSentence ends a sentence at a word that starts with @ and hides the @.")
    if study_asks.pairs and study_asks.procedure.choice.arrangement == "side_by_side":
        lost.append("The two sentences of a pair stand one below the other, numbered, instead of side by side.")
    if study_asks.slider:
        lost.append("The slider starts in the middle and has to be moved before one can go on.")
    elif rating is not None and rating.kind == "keys":
        lost.append(
            "Ratings are taken from the row of digits and by mouse; whether from a number pad depends on PCIbex's release."
        )
    lost.append("All data are sent once, at the end: nothing comes of a participant who does not reach it.")
    lost.append("A hash of the internet address is stored with the data, which consent.html has to say.")
    return [*lost, *ELSEWHERE]


def write(
    files: Sequence[VersionFile], places: Sequence[Place], folder: Path, online: study.OnlineSection
) -> list[Path]:
    """Write the folders data_includes and chunk_includes and a README, and return the paths written."""
    procedure = files[0].procedure
    pages = {
        f"instructions-{n}.html": _page(page, procedure.language)
        for n, page in enumerate(procedure.texts["instructions"], start=1)
    }
    chunks = {
        "trials.csv": _table(places),
        "consent.html": _page(procedure.texts["consent"], procedure.language),
        **pages,
    }
    if procedure.demographics:
        chunks["about.html"] = _about(procedure.demographics, procedure.texts, procedure.language)
    size = len(chunks["trials.csv"].encode())
    if size > LARGE:
        log.warning(
            "trials.csv has %d MB, which every participant fetches before the first page; ask for fewer --orders",
            size // 10**6,
        )
    written = {folder / "chunk_includes" / name: text for name, text in chunks.items()}
    written[folder / "data_includes" / "main.js"] = _main(files, online, list(pages))
    written[folder / "README.md"] = told("pcibex.md", files, places)
    for path, text in written.items():
        study.write_text(path, text)
    return list(written)


def _main(files: Sequence[VersionFile], online: study.OnlineSection, pages: list[str]) -> str:
    """Return main.js: the study's constants, then the same program for every study."""
    procedure = files[0].procedure
    constants = {
        "name": files[0].study,
        "language": procedure.language,
        "direction": direction(procedure.language),
        "versions": {file.name: {"sha256": file.sha256, "seed": file.version.seed} for file in files},
        "rating": vars(procedure.rating) if procedure.rating else None,
        "choice": vars(procedure.choice),
        "instructions": pages,
        "about": bool(procedure.demographics),
        "completion": {"code": online.completion_code, "url": online.completion_url},
        "texts": {name: procedure.texts[name] for name in TEXTS},
    }
    stated = json.dumps(constants, ensure_ascii=False, indent=2)
    program = (resources(__package__) / "pcibex_main.js").read_text("utf-8")
    return f"""// {files[0].study}, for PCIbex (PennController 2): put this file into data_includes.
PennController.ResetPrefix(null);
DebugOff();

var showProgressBar = false;
var sendingResultsMessage = {json.dumps(procedure.texts["saving"], ensure_ascii=False)};

const STUDY = {stated};
{program}"""


def _table(places: Sequence[Place]) -> str:
    rows = [row for n, place in enumerate(places) for row in _rows(place, f"{n:0{len(str(len(places) - 1))}}")]
    stream = io.StringIO()
    # Nothing is quoted: PCIbex's readers of tables disagree about quotes within quotes.
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n", quoting=csv.QUOTE_NONE)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _rows(place: Place, group: str) -> Iterator[dict[str, Any]]:
    """Yield a place's trials; the group comes first, for PCIbex loses a row's first cell where it is empty."""
    trials = place.trials()
    for trial in trials:
        sentences = [_sentence(sentence) for sentence in trial["sentences"]]
        question = trial["question"] or {"text": "", "choices": [], "answer": None}
        yield {
            "group": group,
            "version": place.file.name,
            "slot": place.slot,
            "trial": trial["trial"],
            "of": len(trials),
            "role": trial["role"],
            "item": _cell(trial["item"]),
            "condition": _cell(trial["condition"]),
            "presentation": trial["presentation"],
            "tasks": " ".join(trial["tasks"]),
            "break_before": int(trial["break_before"]),
            "context": _cell(trial["context"] or ""),
            "sentence_1": sentences[0],
            "sentence_2": sentences[1] if len(sentences) > 1 else "",
            "question": _cell(question["text"]),
            "choices": _joined(question["choices"]),
            "answer": _cell(question["answer"] or ""),
        }


def _sentence(sentence: dict[str, Any]) -> str:
    """Return the words with what stands between them: a space, or ~ for nothing; a space within a word is escaped."""
    words, gaps = sentence["words"], [*sentence["gaps"], ""]
    return "".join(_joined([word]) + (gap or "~") for word, gap in zip(words, gaps, strict=True)).removesuffix("~")


def _joined(parts: Sequence[str]) -> str:
    return " ".join(_cell(part).replace(" ", "%20") for part in parts)


def _cell(text: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in ESCAPED else char for char in text)


def _page(text: Text, language: str) -> str:
    """Return a page of paragraphs as HTML."""
    parts = text.split("\n\n") if isinstance(text, str) else text
    paragraphs = "\n".join(f"<p>{html.escape(part)}</p>" for part in parts)
    return f'<div lang="{language}" dir="{direction(language)}" style="max-width: 40em">\n{paragraphs}\n</div>\n'


def _about(fields: Sequence[Field], texts: Any, language: str) -> str:
    """Return the form with the questions about the participant; a field's name in the results is its name in study.toml."""
    body = "\n".join(f"<p>{html.escape(one.label)}<br>\n{_input(one)}</p>" for one in fields)
    head = f"<h2>{html.escape(str(texts['about_you']))}</h2>\n<p>{html.escape(str(texts['may_be_empty']))}</p>"
    return f'<div lang="{language}" dir="{direction(language)}" style="max-width: 40em">\n{head}\n{body}\n</div>\n'


def _input(field: Field) -> str:
    name, needed = html.escape(field.name), ' class="obligatory"' if field.needed else ""
    if field.kind == "choice":
        return "\n".join(
            f'<label><input type="radio" name="{name}" value="{html.escape(choice)}"{needed}> {html.escape(choice)}</label><br>'
            for choice in field.choices
        )
    digits = ' inputmode="numeric"' if field.kind == "number" else ""
    return f'<input type="text" name="{name}"{needed}{digits}>'
