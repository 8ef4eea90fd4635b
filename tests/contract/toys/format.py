"""A format of one file, as a reader of CONTRIBUTING.md writes it: a line `paradigm: good / bad` for each pair."""

from gardenpath.stimuli.formats.pair_rows import pair, pairs, texts
from gardenpath.stimuli.formats.round_trip import losses
from gardenpath.stimuli.formats.sentence_rows import Rows
from gardenpath.stimuli.formats.word_regions import Member
from gardenpath.stimuli.items import GRAMMATICAL, UNGRAMMATICAL, Materials, SourceLine

NAME = "toy-slashes"
SUFFIX = ".slashes"


def recognises(text: str) -> bool:
    """Whether the first line is a paradigm and two sentences."""
    first = text.partition("\n")[0]
    return ": " in first and " / " in first


def read(text: str, file: str) -> Rows:
    """Return the rows of a file; items are named paradigm-line."""
    rows = Rows()
    for at, line in enumerate(text.splitlines(), start=1):
        place = SourceLine(file, at)
        paradigm, _, both = line.partition(": ")
        members = both.split(" / ")
        if len(members) != 2:
            rows.fault(place, f"{line!r} has {len(members)} sentences; expected  paradigm: good / bad")
            continue
        item = f"{paradigm}-{at}"
        named = [
            Member(place, paradigm, item, condition, sentence, "und")
            for condition, sentence in zip((GRAMMATICAL, UNGRAMMATICAL), members, strict=True)
        ]
        pair(rows, paradigm, named, [(), ()], {})
    return rows


def write(materials: Materials) -> str:
    """Return a line for each minimal pair."""
    return "".join(f"{item.paradigm}: {' / '.join(texts(item))}\n" for item, _ in pairs(materials))


def loses(materials: Materials) -> list[str]:
    """Return what such lines cannot hold of these materials."""
    return losses(materials, write, read)
