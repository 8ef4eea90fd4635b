"""Rules about the alternatives to the words of a sentence (Maze)."""

from collections import Counter
from collections.abc import Iterator

from .region_checks import EDGE_PUNCTUATION
from .segmentation import Fault, SegmentedMaterials, SegmentedSentence
from .text_checks import get_initial_case


def _pair_alternatives(segmented: SegmentedMaterials) -> Iterator[tuple[SegmentedSentence, list[tuple[str, str]]]]:
    """Yield each sentence that has alternatives, with each word and its alternative, but for the first, which is x-x-x."""
    for member in segmented.list_members():
        if member.sentence.alternatives is not None:
            yield (member, list(zip(member.sentence.list_displayed_words(), member.sentence.alternatives, strict=True))[1:])


def find_identical_alternatives(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member, words in _pair_alternatives(segmented):
        for word, other in words:
            if word.strip(EDGE_PUNCTUATION).casefold() == other.strip(EDGE_PUNCTUATION).casefold():
                message = f"the alternative {other!r} of {word!r} differs in nothing but capitals or punctuation"
                yield member.item, member.condition, message


def find_repeated_alternatives(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member, words in _pair_alternatives(segmented):
        counts = Counter(other.strip(EDGE_PUNCTUATION).casefold() for _, other in words)
        for other, n in counts.items():
            if n > 1:
                yield (member.item, member.condition, f"the alternative {other!r} is given for {n} words of the sentence")


def find_mismatched_alternatives(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member, words in _pair_alternatives(segmented):
        for word, other in words:
            mismatches = [
                what
                for what, get_feature in (("initial capital", get_initial_case), ("final punctuation", _get_final_marks))
                if get_feature(word) is not None and get_feature(other) is not None and get_feature(word) != get_feature(other)
            ]
            if mismatches:
                message = f"the alternative {other!r} differs from {word!r} in {' and '.join(mismatches)}"
                yield member.item, member.condition, message


def _get_final_marks(word: str) -> str:
    """Return the marks after a word's last letter."""
    return word[len(word.rstrip(EDGE_PUNCTUATION)) :]
