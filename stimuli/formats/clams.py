"""CLAMS: a line `True<tab>sentence` and then `False<tab>sentence` (Mueller et al. 2020, doi 10.18653/v1/2020.acl-main.490).

Columns before the label, which some releases have, are kept. The paradigm is the file's name; languages have a file each, and none
says its own ('und'). Sentences are as there: in small letters, with spaces around punctuation.
"""

import re

from ..items import GRAMMATICAL, UNGRAMMATICAL, Materials, SourceLine
from .pair_rows import add_pair, get_file_stem, get_pair_texts, select_minimal_pairs
from .round_trip import find_round_trip_losses
from .sentence_rows import SentenceRows
from .word_regions import SourceSentence

NAME = "clams"
SUFFIX = ".txt"
LANGUAGE = "und"
PHENOMENON = "subject_verb_agreement"
LINE_PATTERN = re.compile(r"(?:(?P<before>.*)\t)?(?P<label>True|False)\t(?P<text>[^\t]*)")


def recognises(text: str) -> bool:
    """Whether the first line is a label and a sentence."""
    return LINE_PATTERN.fullmatch(text.partition("\n")[0].rstrip()) is not None


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of a file; items are named file-pair."""
    rows, paradigm = SentenceRows(), get_file_stem(file)
    good: tuple[SourceLine, str, str] | None = None
    count = 0
    for at, line in enumerate(text.split("\n"), start=1):
        source_line = SourceLine(file, at)
        if not line.strip():
            continue
        match = LINE_PATTERN.fullmatch(line.rstrip())
        if match is None or not match["text"].strip():
            rows.add_fault(
                source_line, f"{line[:40]!r} is not a label and a sentence; expected  True<tab>sentence  or  False<tab>sentence"
            )
            good = None
        elif match["label"] == "True":
            if good:
                _report_unpaired(rows, good[0], "True", "False")
            good = source_line, match["text"].strip(), match["before"] or ""
        elif good is None:
            _report_unpaired(rows, source_line, "False", "True")
        else:
            count += 1
            item = f"{paradigm}-{count}"
            members = [
                SourceSentence(good[0], paradigm, item, GRAMMATICAL, good[1], LANGUAGE),
                SourceSentence(source_line, paradigm, item, UNGRAMMATICAL, match["text"].strip(), LANGUAGE),
            ]
            add_pair(rows, PHENOMENON, members, [(), ()], {"before": good[2]})
            good = None
    if good:
        _report_unpaired(rows, good[0], "True", "False")
    return rows


def _report_unpaired(rows: SentenceRows, source_line: SourceLine, label: str, other: str) -> None:
    rows.add_fault(source_line, f"a {label} sentence without a {other} one of its own; expected each True followed by its False")


def write(materials: Materials) -> str:
    """Return minimal pairs as two lines each."""
    lines = []
    for item, _ in select_minimal_pairs(materials):
        before = f"{item.extra['before']}\t" if "before" in item.extra else ""
        lines += [f"{before}{label}\t{text}\n" for label, text in zip(("True", "False"), get_pair_texts(item), strict=True)]
    return "".join(lines)


def list_losses(materials: Materials) -> list[str]:
    """Return what such lines cannot hold of these materials; a file of one paradigm can be named after it."""
    one = len(materials.paradigms) == 1
    lost = find_round_trip_losses(materials, write, read, f"{materials.paradigms[0].id}{SUFFIX}" if one else "materials.txt")
    return ["names of paradigms, other than the file's name", *lost]
