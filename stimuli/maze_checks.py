"""Rules about the alternatives to the words of a sentence (Maze)."""

from collections import Counter
from collections.abc import Iterator

from .region_checks import EDGES
from .segmentation import Fault, Member, SegmentedMaterials
from .text_checks import initial


def _beside(segmented: SegmentedMaterials) -> Iterator[tuple[Member, list[tuple[str, str]]]]:
    """Yield each sentence that has alternatives, with each word and its alternative, but for the first, which is x-x-x."""
    for member in segmented.members():
        if member.sentence.alternatives is not None:
            yield member, list(zip(member.sentence.shown(), member.sentence.alternatives, strict=True))[1:]


def same_alternatives(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member, words in _beside(segmented):
        for word, other in words:
            if word.strip(EDGES).casefold() == other.strip(EDGES).casefold():
                message = f"the alternative {other!r} of {word!r} differs in nothing but capitals or punctuation"
                yield member.item, member.condition, message


def repeated_alternatives(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member, words in _beside(segmented):
        counts = Counter(other.strip(EDGES).casefold() for _, other in words)
        for other, n in counts.items():
            if n > 1:
                yield (
                    member.item,
                    member.condition,
                    f"the alternative {other!r} is given for {n} words of the sentence",
                )


def unlike_alternatives(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member, words in _beside(segmented):
        for word, other in words:
            unlike = [
                what
                for what, of in (("initial capital", initial), ("final punctuation", _after))
                if of(word) is not None and of(other) is not None and of(word) != of(other)
            ]
            if unlike:
                message = f"the alternative {other!r} differs from {word!r} in {' and '.join(unlike)}"
                yield member.item, member.condition, message


def _after(word: str) -> str:
    """Return the marks after a word's last letter."""
    return word[len(word.rstrip(EDGES)) :]
