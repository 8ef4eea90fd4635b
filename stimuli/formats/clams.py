"""CLAMS: a line `True<tab>sentence` and then `False<tab>sentence` (Mueller et al. 2020, doi 10.18653/v1/2020.acl-main.490).

Columns before the label, which some releases have, are kept. The paradigm is the file's name; languages have a file each, and none
says its own ('und'). Sentences are as there: in small letters, with spaces around punctuation.
"""

import re

from ..items import GRAMMATICAL, UNGRAMMATICAL, Materials, SourceLine
from .pair_rows import pair, stem, texts
from .pair_rows import pairs as minimal_pairs
from .round_trip import losses
from .sentence_rows import Rows
from .word_regions import Member

NAME = "clams"
SUFFIX = ".txt"
LANGUAGE = "und"
PHENOMENON = "subject_verb_agreement"
LINE = re.compile(r"(?:(?P<before>.*)\t)?(?P<label>True|False)\t(?P<text>[^\t]*)")


def recognises(text: str) -> bool:
    """Whether the first line is a label and a sentence."""
    return LINE.fullmatch(text.partition("\n")[0].rstrip()) is not None


def read(text: str, file: str) -> Rows:
    """Return the rows of a file; items are named file-pair."""
    rows, paradigm = Rows(), stem(file)
    good: tuple[SourceLine, str, str] | None = None
    count = 0
    for at, line in enumerate(text.split("\n"), start=1):
        place = SourceLine(file, at)
        if not line.strip():
            continue
        match = LINE.fullmatch(line.rstrip())
        if match is None or not match["text"].strip():
            rows.fault(
                place,
                f"{line[:40]!r} is not a label and a sentence; expected  True<tab>sentence  or  False<tab>sentence",
            )
            good = None
        elif match["label"] == "True":
            if good:
                _alone(rows, good[0], "True", "False")
            good = place, match["text"].strip(), match["before"] or ""
        elif good is None:
            _alone(rows, place, "False", "True")
        else:
            count += 1
            item = f"{paradigm}-{count}"
            members = [
                Member(good[0], paradigm, item, GRAMMATICAL, good[1], LANGUAGE),
                Member(place, paradigm, item, UNGRAMMATICAL, match["text"].strip(), LANGUAGE),
            ]
            pair(rows, PHENOMENON, members, [(), ()], {"before": good[2]})
            good = None
    if good:
        _alone(rows, good[0], "True", "False")
    return rows


def _alone(rows: Rows, place: SourceLine, label: str, other: str) -> None:
    rows.fault(place, f"a {label} sentence without a {other} one of its own; expected each True followed by its False")


def write(materials: Materials) -> str:
    """Return minimal pairs as two lines each."""
    lines = []
    for item, _ in minimal_pairs(materials):
        before = f"{item.extra['before']}\t" if "before" in item.extra else ""
        lines += [f"{before}{label}\t{text}\n" for label, text in zip(("True", "False"), texts(item), strict=True)]
    return "".join(lines)


def loses(materials: Materials) -> list[str]:
    """Return what such lines cannot hold of these materials; a file of one paradigm can be named after it."""
    one = len(materials.paradigms) == 1
    lost = losses(materials, write, read, f"{materials.paradigms[0].id}{SUFFIX}" if one else "materials.txt")
    return ["names of paradigms, other than the file's name", *lost]
