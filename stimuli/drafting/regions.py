"""Regions of a drafted pair: where the seeds have them, from where the members differ or from the beginning, or at their words."""

import difflib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..items import Item, Region, Sentence, Word

MIN_SEEDS = 2  # fewest pairs from which a pattern can be seen
EDGE_PUNCTUATION = ".,;:!?…\"'“”„‚‘’«»()[]¿¡。、，；：？！「」『』"


class Span(NamedTuple):
    """Words of a region counted from the first word at which the members differ, and from the last (1: the word after it)."""

    start: int
    end: int


class Anchor(NamedTuple):
    """How the seeds place a region in one condition: by its distance from the difference, from the sentence's beginning, by its
    words, or not at all; and the fewest and most words that it has."""

    span: Span | None
    words: frozenset[tuple[str, ...]]
    word_range: tuple[int, int] | None = None  # first word, and the one after the last
    length_range: tuple[int, int] = (1, 1)


def find_anchors(seeds: Sequence[Item]) -> dict[tuple[str, str], Anchor]:
    """Return for each condition and region how the seeds place it; a region that some seed lacks has no anchor."""
    found: dict[tuple[str, str], Anchor] = {}
    first = seeds[0]
    for condition, sentence in first.sentences.items():
        for name in dict.fromkeys(region.name for region in sentence.regions):
            spans: set[Span | None] = set()
            words: set[tuple[str, ...]] = set()
            word_ranges: set[tuple[int, int] | None] = set()
            for seed in seeds:
                pair = list(seed.sentences.values())
                mine, other = (pair[0], pair[1]) if condition == next(iter(seed.sentences)) else (pair[1], pair[0])
                held = mine.list_region_words(name)
                difference = find_difference(mine, other)
                spans.add(Span(held[0].index - difference.start, held[-1].index - difference.stop + 1) if held else None)
                words.add(tuple(strip_edges(word).lower() for word in held))
                word_ranges.add((held[0].index, held[-1].index + 1) if held else None)
            [span] = spans if len(spans) == 1 else {None}
            [word_range] = word_ranges if len(word_ranges) == 1 else {None}
            lengths = [len(seed.sentences[condition].list_region_words(name)) for seed in seeds]
            found[condition, name] = Anchor(span, frozenset(words), word_range, (min(lengths), max(lengths)))
    return found


def find_difference(one: Sentence, other: Sentence) -> range:
    """Return the words of the first sentence from where it begins to differ to where it ends to; empty where words are only added
    in the other.

    >>> find_difference(Sentence("The dog barks ."), Sentence("The dog bark ."))
    range(2, 3)
    """
    own_words, other_words = ([word.text for word in sentence.list_words()] for sentence in (one, other))
    start = 0
    while start < min(len(own_words), len(other_words)) and own_words[start] == other_words[start]:
        start += 1
    end = 0
    while end < min(len(own_words), len(other_words)) - start and own_words[-1 - end] == other_words[-1 - end]:
        end += 1
    return range(start, len(own_words) - end)


def add_regions(pair: dict[str, Sentence], anchors: dict[tuple[str, str], Anchor]) -> tuple[dict[str, Sentence], list[str]]:
    """Return the members with their regions, and which regions could not be placed."""
    sentences: dict[str, Sentence] = {}
    missing: dict[str, list[str]] = {}
    for condition, sentence in pair.items():
        other = next(one for name, one in pair.items() if name != condition)
        regions = []
        for (where, name), anchor in anchors.items():
            if where != condition:
                continue
            words = _find_anchored_words(sentence, other, anchor)
            least, most = anchor.length_range
            if words and least <= len(words) <= most:
                regions.append(Region(name, *_get_letter_span(words)))
            else:
                missing.setdefault(name, []).append(condition)
        sentences[condition] = Sentence(sentence.text, tuple(regions))
    return sentences, [name if len(where) == len(pair) else f"{name} of the {where[0]} sentence" for name, where in missing.items()]


def _find_anchored_words(sentence: Sentence, other: Sentence, anchor: Anchor) -> list[Word]:
    words = sentence.list_words()
    if anchor.span is not None:
        difference = find_difference(sentence, other)
        start, end = difference.start + anchor.span.start, difference.stop + anchor.span.end
        return words[start:end] if 0 <= start < end <= len(words) else []
    if anchor.word_range is not None:
        start, end = anchor.word_range
        return words[start:end] if end <= len(words) else []
    matches = list(_find_occurrences(words, anchor.words))
    return matches[0] if len(matches) == 1 else []


def _find_occurrences(words: Sequence[Word], wanted: frozenset[tuple[str, ...]]) -> Iterator[list[Word]]:
    texts = [strip_edges(word).lower() for word in words]
    for phrase in sorted(wanted):
        for start in range(len(words) - len(phrase) + 1 if phrase else 0):
            if tuple(texts[start : start + len(phrase)]) == phrase:
                yield list(words[start : start + len(phrase)])


def strip_edges(word: Word) -> str:
    """Return a word without the punctuation at its edges."""
    return word.text.strip(EDGE_PUNCTUATION) or word.text


def _get_letter_span(words: Sequence[Word]) -> tuple[int, int]:
    """Return from the first letter of these words to the last, without punctuation at the edges."""
    first, last = words[0], words[-1]
    start = first.start + len(first.text) - len(first.text.lstrip(EDGE_PUNCTUATION))
    end = last.end - (len(last.text) - len(last.text.rstrip(EDGE_PUNCTUATION)))
    return (start, end) if start < end else (first.start, last.end)


def _is_changed_form(one: str, other: str) -> bool:
    """Whether a word was only changed: half of its letters or more are still there."""
    return difflib.SequenceMatcher(a=one.lower(), b=other.lower(), autojunk=False).ratio() >= 0.5


def transfer_regions(old: Sentence, text: str) -> Sentence:
    """Return a corrected text with the regions of the old one: a region stands where its words went, and not where they are gone.

    >>> dog = Sentence("A dog barks now.", (Region("critical", 6, 11),))
    >>> new = transfer_regions(dog, "A big dog barks loudly now.")
    >>> [word.text for word in new.list_region_words("critical")]
    ['barks']
    """
    before, after = old.list_words(), Sentence(text).list_words()
    matcher = difflib.SequenceMatcher(a=[w.text for w in before], b=[w.text for w in after], autojunk=False)
    regions = []
    for region in old.regions:
        held = {word.index for word in before if word.start < region.end and region.start < word.end}
        new_positions: set[int] = set()
        for step, a0, a1, b0, b1 in matcher.get_opcodes():
            touched = held & {*range(a0, a1)}
            if step == "equal":
                new_positions |= {b0 + index - a0 for index in touched}
            elif step == "replace" and touched == {*range(a0, a1)}:
                new_positions |= {*range(b0, b1)}
            elif step == "replace":
                new_positions |= {k for n in touched for k in range(b0, b1) if _is_changed_form(before[n].text, after[k].text)}
        if new_positions:
            regions.append(Region(region.name, *_get_letter_span(after[min(new_positions) : max(new_positions) + 1])))
    return Sentence(text, tuple(regions))
