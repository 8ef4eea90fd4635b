"""Regions that a format gives as words: found where the sentence holds them once, reported where it does not."""

import re
from dataclasses import dataclass

from ..findings import Finding
from ..items import Region, Sentence, SourceLine
from .sentence_rows import SentenceRows

NO_WORD_CELLS = frozenset(("", "-", "–", "∅"))  # how corpora write that there is no such word


@dataclass(frozen=True)
class SourceSentence:
    """A sentence of a file: where it stands, which item and condition it is, its text and its language."""

    source_line: SourceLine
    paradigm: str
    item: str
    condition: str
    text: str
    language: str = "und"


def add_warning(rows: SentenceRows, member: SourceSentence, rule: str, message: str) -> None:
    """Record something odd that does not prevent reading."""
    source_line = member.source_line
    rows.findings.append(
        Finding(rule, "warning", source_line.file, source_line.line, member.paradigm, member.item, member.condition, message)
    )


def locate_region(rows: SentenceRows, member: SourceSentence, name: str, words: str) -> tuple[Region, ...]:
    """Return the region of the words, or nothing and a warning where they occur several times or not at all."""
    if words in NO_WORD_CELLS:
        return ()
    starts = find_occurrences(words, member.text, member.language)
    if len(starts) == 1:
        return (Region(name, starts[0], starts[0] + len(words)),)
    if starts:
        message = f"the {name} words {words!r} occur {len(starts)} times in {member.text!r}; no region is marked"
        add_warning(rows, member, "region-ambiguous", message)
    else:
        message = f"the {name} words {words!r} do not occur in {member.text!r}; no region is marked"
        add_warning(rows, member, "region-not-found", message)
    return ()


def find_occurrences(words: str, text: str, language: str) -> list[int]:
    """Return where whole words occur in a text; capitals count only in words that have some.

    >>> find_occurrences("she", "She said that she left.", "en"), find_occurrences("She", "She said that she left.", "en")
    ([0, 14], [0])
    """
    if words != fold_case(words, language) and (exact := _find_whole_words(words, text)):
        return exact
    for tongue in dict.fromkeys((language, "und")):  # a corpus may have lost its Turkish dots
        if starts := _find_whole_words(fold_case(words, tongue), fold_case(text, tongue)):
            return starts
    return []


def _find_whole_words(words: str, text: str) -> list[int]:
    pattern = rf"(?<!\w)(?<!\w['’-])(?={re.escape(words)}(?!\w)(?!['’-]\w))"
    return [match.start() for match in re.finditer(pattern, text)]


def fold_case(text: str, language: str) -> str:
    """Return the text in small letters, each in its place.

    >>> fold_case("Irmak İnce", "tr")
    'ırmak ince'
    """
    if language == "tr":
        text = text.replace("I", "ı").replace("İ", "i")
    small = text.lower()
    return small if len(small) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def keep_spelling(words: str, text: str, regions: tuple[Region, ...]) -> str:
    """Return the words as the file wrote them, where the region's text does not say them already, else nothing."""
    return "" if regions and text[regions[0].start : regions[0].end] == words else words


def format_region_words(sentence: Sentence, name: str, before: str, language: str) -> str:
    """Return the words of a region as a cell: as they were written `before`, if these are still its words."""
    region = sentence.find_region(name)
    if region is None:
        return before
    words = sentence.text[region.start : region.end]
    return before if before and fold_case(before, language) == fold_case(words, language) else words
