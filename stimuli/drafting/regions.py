"""Regions of a drafted pair: where the seeds have them, from where the members differ or from the beginning, or at their words."""

import difflib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..items import Item, Region, Sentence, Word

SEEDS = 2  # fewest pairs from which a pattern can be seen
EDGES = ".,;:!?…\"'“”„‚‘’«»()[]¿¡。、，；：？！「」『』"


class Span(NamedTuple):
    """Words of a region counted from the first word at which the members differ, and from the last (1: the word after it)."""

    start: int
    end: int


class Anchor(NamedTuple):
    """How the seeds place a region in one condition: by its distance from the difference, from the sentence's beginning, by its
    words, or not at all; and the fewest and most words that it has."""

    span: Span | None
    words: frozenset[tuple[str, ...]]
    place: tuple[int, int] | None = None  # first word, and the one after the last
    lengths: tuple[int, int] = (1, 1)


def anchors(seeds: Sequence[Item]) -> dict[tuple[str, str], Anchor]:
    """Return for each condition and region how the seeds place it; a region that some seed lacks has no anchor."""
    found: dict[tuple[str, str], Anchor] = {}
    first = seeds[0]
    for condition, sentence in first.sentences.items():
        for name in dict.fromkeys(region.name for region in sentence.regions):
            spans: set[Span | None] = set()
            words: set[tuple[str, ...]] = set()
            places: set[tuple[int, int] | None] = set()
            for seed in seeds:
                pair = list(seed.sentences.values())
                mine, other = (pair[0], pair[1]) if condition == next(iter(seed.sentences)) else (pair[1], pair[0])
                held = mine.words_of(name)
                difference = different(mine, other)
                spans.add(
                    Span(held[0].index - difference.start, held[-1].index - difference.stop + 1) if held else None
                )
                words.add(tuple(bare(word).lower() for word in held))
                places.add((held[0].index, held[-1].index + 1) if held else None)
            [span] = spans if len(spans) == 1 else {None}
            [place] = places if len(places) == 1 else {None}
            lengths = [len(seed.sentences[condition].words_of(name)) for seed in seeds]
            found[condition, name] = Anchor(span, frozenset(words), place, (min(lengths), max(lengths)))
    return found


def different(one: Sentence, other: Sentence) -> range:
    """Return the words of the first sentence from where it begins to differ to where it ends to; empty where words are only added
    in the other.

    >>> different(Sentence("The dog barks ."), Sentence("The dog bark ."))
    range(2, 3)
    """
    mine, theirs = ([word.text for word in sentence.words()] for sentence in (one, other))
    start = 0
    while start < min(len(mine), len(theirs)) and mine[start] == theirs[start]:
        start += 1
    end = 0
    while end < min(len(mine), len(theirs)) - start and mine[-1 - end] == theirs[-1 - end]:
        end += 1
    return range(start, len(mine) - end)


def with_regions(
    pair: dict[str, Sentence], placed: dict[tuple[str, str], Anchor]
) -> tuple[dict[str, Sentence], list[str]]:
    """Return the members with their regions, and which regions could not be placed."""
    made: dict[str, Sentence] = {}
    lacking: dict[str, list[str]] = {}
    for condition, sentence in pair.items():
        other = next(one for name, one in pair.items() if name != condition)
        regions = []
        for (where, name), anchor in placed.items():
            if where != condition:
                continue
            words = _placed(sentence, other, anchor)
            least, most = anchor.lengths
            if words and least <= len(words) <= most:
                regions.append(Region(name, *_letters(words)))
            else:
                lacking.setdefault(name, []).append(condition)
        made[condition] = Sentence(sentence.text, tuple(regions))
    return made, [
        name if len(where) == len(pair) else f"{name} of the {where[0]} sentence" for name, where in lacking.items()
    ]


def _placed(sentence: Sentence, other: Sentence, anchor: Anchor) -> list[Word]:
    words = sentence.words()
    if anchor.span is not None:
        difference = different(sentence, other)
        start, end = difference.start + anchor.span.start, difference.stop + anchor.span.end
        return words[start:end] if 0 <= start < end <= len(words) else []
    if anchor.place is not None:
        start, end = anchor.place
        return words[start:end] if end <= len(words) else []
    places = list(_occurrences(words, anchor.words))
    return places[0] if len(places) == 1 else []


def _occurrences(words: Sequence[Word], wanted: frozenset[tuple[str, ...]]) -> Iterator[list[Word]]:
    texts = [bare(word).lower() for word in words]
    for phrase in sorted(wanted):
        for start in range(len(words) - len(phrase) + 1 if phrase else 0):
            if tuple(texts[start : start + len(phrase)]) == phrase:
                yield list(words[start : start + len(phrase)])


def bare(word: Word) -> str:
    """Return a word without the punctuation at its edges."""
    return word.text.strip(EDGES) or word.text


def _letters(words: Sequence[Word]) -> tuple[int, int]:
    """Return from the first letter of these words to the last, without punctuation at the edges."""
    first, last = words[0], words[-1]
    start = first.start + len(first.text) - len(first.text.lstrip(EDGES))
    end = last.end - (len(last.text) - len(last.text.rstrip(EDGES)))
    return (start, end) if start < end else (first.start, last.end)


def _alike(one: str, other: str) -> bool:
    """Whether a word was only changed: half of its letters or more are still there."""
    return difflib.SequenceMatcher(a=one.lower(), b=other.lower(), autojunk=False).ratio() >= 0.5


def kept_regions(old: Sentence, text: str) -> Sentence:
    """Return a corrected text with the regions of the old one: a region stands where its words went, and not where they are gone.

    >>> dog = Sentence("A dog barks now.", (Region("critical", 6, 11),))
    >>> new = kept_regions(dog, "A big dog barks loudly now.")
    >>> [word.text for word in new.words_of("critical")]
    ['barks']
    """
    before, after = old.words(), Sentence(text).words()
    matcher = difflib.SequenceMatcher(a=[w.text for w in before], b=[w.text for w in after], autojunk=False)
    regions = []
    for region in old.regions:
        held = {word.index for word in before if word.start < region.end and region.start < word.end}
        places: set[int] = set()
        for step, a0, a1, b0, b1 in matcher.get_opcodes():
            touched = held & {*range(a0, a1)}
            if step == "equal":
                places |= {b0 + index - a0 for index in touched}
            elif step == "replace" and touched == {*range(a0, a1)}:
                places |= {*range(b0, b1)}
            elif step == "replace":
                places |= {k for n in touched for k in range(b0, b1) if _alike(before[n].text, after[k].text)}
        if places:
            regions.append(Region(region.name, *_letters(after[min(places) : max(places) + 1])))
    return Sentence(text, tuple(regions))
