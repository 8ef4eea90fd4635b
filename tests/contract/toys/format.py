"""A format of one file, as a reader of CONTRIBUTING.md writes it: a line `paradigm: good / bad` for each pair."""

from gardenpath.stimuli.formats.pair_rows import add_pair, get_pair_texts, select_minimal_pairs
from gardenpath.stimuli.formats.round_trip import find_round_trip_losses
from gardenpath.stimuli.formats.sentence_rows import SentenceRows
from gardenpath.stimuli.formats.word_regions import SourceSentence
from gardenpath.stimuli.items import GRAMMATICAL, UNGRAMMATICAL, Materials, SourceLine

NAME = "toy-slashes"
SUFFIX = ".slashes"


def recognises(text: str) -> bool:
    """Whether the first line is a paradigm and two sentences."""
    first = text.partition("\n")[0]
    return ": " in first and " / " in first


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of a file; items are named paradigm-line."""
    rows = SentenceRows()
    for at, line in enumerate(text.splitlines(), start=1):
        place = SourceLine(file, at)
        paradigm, _, both = line.partition(": ")
        members = both.split(" / ")
        if len(members) != 2:
            rows.add_fault(place, f"{line!r} has {len(members)} sentences; expected  paradigm: good / bad")
            continue
        item = f"{paradigm}-{at}"
        named = [
            SourceSentence(place, paradigm, item, condition, sentence, "und")
            for condition, sentence in zip((GRAMMATICAL, UNGRAMMATICAL), members, strict=True)
        ]
        add_pair(rows, paradigm, named, [(), ()], {})
    return rows


def write(materials: Materials) -> str:
    """Return a line for each minimal pair."""
    return "".join(f"{item.paradigm}: {' / '.join(get_pair_texts(item))}\n" for item, _ in select_minimal_pairs(materials))


def list_losses(materials: Materials) -> list[str]:
    """Return what such lines cannot hold of these materials."""
    return find_round_trip_losses(materials, write, read)
