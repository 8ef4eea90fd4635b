"""Materials cut into words for the rules of `check`: the words of each sentence, and where its regions lie, are found once."""

import functools
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .items import CRITICAL, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Paradigm, Sentence

if TYPE_CHECKING:
    from .norms import Norms

Fault = tuple[Item | Paradigm, str, str]  # whose, condition ('' for all), message
NO_POSITIONS = range(0)
NO_REGIONS: Mapping[str, range] = {}


@dataclass(frozen=True, slots=True)
class SegmentedSentence:
    """A sentence of an item with its words, and the positions of the words of each region."""

    item: Item
    condition: str
    sentence: Sentence
    words: tuple[str, ...]
    regions: Mapping[str, range]

    @property
    def text(self) -> str:
        """The whole sentence."""
        return self.sentence.text

    def find_region(self, name: str) -> range:
        """Return the positions of the region's words; none where there is no such region, or no word in it."""
        return self.regions.get(name, NO_POSITIONS)

    def list_region_words(self, name: str) -> tuple[str, ...]:
        """Return the words of the region."""
        where = self.find_region(name)
        return self.words[where.start : where.stop]


@dataclass(frozen=True)
class SegmentedMaterials:
    """Paradigms with their items, each item with its members."""

    materials: Materials
    paradigms: Mapping[str, Paradigm]
    items: tuple[tuple[SegmentedSentence, ...], ...]
    norms: "Norms" = field(default_factory=dict)

    def list_members(self) -> Iterator[SegmentedSentence]:
        """Yield every sentence."""
        for members in self.items:
            yield from members

    def group_by_paradigm(self) -> dict[str, list[tuple[SegmentedSentence, ...]]]:
        """Return the items of each paradigm."""
        groups: dict[str, list[tuple[SegmentedSentence, ...]]] = {name: [] for name in self.paradigms}
        for members in self.items:
            groups[members[0].item.paradigm].append(members)
        return groups

    @functools.cached_property
    def marked_pairs(self) -> list[tuple[Item, SegmentedSentence, SegmentedSentence]]:
        """Each minimal pair, grammatical member first, whose members both have a critical word."""
        minimal = {p.id for p in self.materials.paradigms if p.is_minimal_pair()}
        pairs = []
        for members in self.items:
            if members[0].item.paradigm in minimal and all(member.find_region(CRITICAL) for member in members):
                named = {member.condition: member for member in members}
                pairs.append((members[0].item, named[GRAMMATICAL], named[UNGRAMMATICAL]))
        return pairs


def segment(materials: Materials, norms: "Norms | None" = None) -> SegmentedMaterials:
    """Return the materials with every sentence cut into words once, and the norms that conditions are compared in."""
    items = tuple(
        tuple(_segment_sentence(item, condition, sentence) for condition, sentence in item.sentences.items())
        for item in materials.items
        if item.sentences
    )
    return SegmentedMaterials(materials, {p.id: p for p in materials.paradigms}, items, norms or {})


def _segment_sentence(item: Item, condition: str, sentence: Sentence) -> SegmentedSentence:
    if not sentence.regions:  # most sentences of large corpora: no positions are needed
        cut = sentence.segmentation
        words = sentence.text.split() if cut is None else [sentence.text[a:b] for a, b in cut]
        return SegmentedSentence(item, condition, sentence, tuple(map(sys.intern, words)), NO_REGIONS)
    spans = sentence.segmentation or [match.span() for match in re.finditer(r"\S+", sentence.text)]
    regions: dict[str, range] = {}
    for region in sentence.regions:
        inside = [i for i, (start, end) in enumerate(spans) if start < region.end and region.start < end]
        if region.name not in regions:
            regions[region.name] = range(inside[0], inside[-1] + 1) if inside else NO_POSITIONS
    # Corpora have a few thousand words many times: one string each takes a third of the memory.
    cut_words = tuple([sys.intern(sentence.text[a:b]) for a, b in spans])
    return SegmentedSentence(item, condition, sentence, cut_words, _share_regions(tuple(regions.items())))


@functools.cache
def _share_regions(regions: tuple[tuple[str, range], ...]) -> Mapping[str, range]:
    return dict(regions)
