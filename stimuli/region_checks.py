"""Rules about regions, and about items whose sentences are the same.

The three conditions on minimal pairs that are read by people and by models are those of BLiMP-NL
(Suijkerbuijk et al. 2025, doi 10.1162/COLI.a.00559): same frequency, same spillover, same token for models.
Regions are found by their place in the sentence, never by searching for their words.
"""

import functools
from collections import Counter, defaultdict
from collections.abc import Iterator

from .items import CRITICAL, CUE, Item, Region, Word
from .segmentation import Fault, SegmentedMaterials, SegmentedSentence

EDGE_PUNCTUATION = ".,;:!?…'\"‘’‚“”„«»‹›()[]¿¡。！？،؟、，：；「」『』《》（）"


def find_missing_regions(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """Where sentences are compared, each has a critical region; fillers, one sentence an item and none marked, need none."""
    marked = {member.item.paradigm for member in segmented.list_members() if CRITICAL in member.regions}
    fillers = {name for name, paradigm in segmented.paradigms.items() if len(paradigm.list_conditions()) == 1}
    for member in segmented.list_members():
        if member.item.paradigm in fillers and member.item.paradigm not in marked:
            continue
        if CRITICAL not in member.regions:
            yield member.item, member.condition, "no critical region is marked; expected one, as in  has [ever] seen"
        elif not member.find_region(CRITICAL):
            yield (member.item, member.condition, "the critical region holds no word; expected one, as in  has [ever] seen")


def find_missing_cues(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """Where a condition of a paradigm has cues, each of its sentences has one."""
    with_cue = Counter((m.item.paradigm, m.condition) for m in segmented.list_members() if CUE in m.regions)
    for member in segmented.list_members():
        others = with_cue[member.item.paradigm, member.condition]
        if CUE in member.regions and not member.find_region(CUE):
            yield member.item, member.condition, "the cue holds no word; expected one, as in  {No} man has"
        elif others and CUE not in member.regions:
            yield (member.item, member.condition, f"no cue is marked; other sentences of this condition have one ({others} in all)")


def find_partial_words(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member in segmented.list_members():
        for region in member.sentence.regions:
            if _is_between_spaces(member.text, region):
                continue
            words = [w for w in member.sentence.list_words() if w.start < region.end and region.start < w.end]
            outside = (0, region.start), (region.end, len(member.text))
            cut = [word.text for word in words if any(_has_letters(word, *part) for part in outside)]
            if cut:
                clitic = any(mark in cut[0] for mark in "'’-")
                or_else = ", or a column segmentation that makes words of its parts" if clitic else ""
                message = f"region {region.name!r} cuts the word {cut[0]!r}; expected whole words{or_else}"
                yield member.item, member.condition, message


def _is_between_spaces(text: str, region: Region) -> bool:
    """Whether the region begins and ends where words do, but for a mark at the end of the sentence."""
    return (region.start == 0 or text[region.start - 1].isspace()) and (
        region.end == len(text) or text[region.end].isspace() or (region.end == len(text) - 1 and not text[-1].isalnum())
    )


def _has_letters(word: Word, start: int, end: int) -> bool:
    """Whether the part of the word between two characters of the sentence holds a letter or digit."""
    low, high = max(start, word.start), min(end, word.end)
    return any(c.isalnum() for c in word.text[low - word.start : high - word.start]) if low < high else False


def find_repeated_regions(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """In the same form: a cue `The` at the start and another `the` are told apart by any search."""
    for member in segmented.list_members():
        if not member.regions:
            continue
        words = [word.strip(EDGE_PUNCTUATION) for word in member.words]
        for name in (CRITICAL, CUE):
            where = member.find_region(name)
            sought = words[where.start : where.stop]
            if not any(sought):
                continue
            starts = range(len(words) - len(sought) + 1)
            one = len(sought) == 1
            times = words.count(sought[0]) if one else sum(words[k : k + len(sought)] == sought for k in starts)
            if times > 1:
                message = f"the {name} words {' '.join(sought)!r} occur {times} times in the sentence"
                yield member.item, member.condition, message


def find_different_critical_words(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """Punctuation and capitals aside: `gezeten` at the end of one member is `gezeten.` there."""
    for item, good, bad in segmented.marked_pairs:
        if sorted(_fold_critical_words(good)) != sorted(_fold_critical_words(bad)):
            one, two = " ".join(_list_critical_words(good)), " ".join(_list_critical_words(bad))
            yield (item, "", f"the critical words differ: {one!r} (grammatical), {two!r} (ungrammatical); expected the same words")


def find_reordered_critical_words(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for item, good, bad in segmented.marked_pairs:
        one, two = _fold_critical_words(good), _fold_critical_words(bad)
        if one != two and sorted(one) == sorted(two):
            yield (
                item,
                "",
                f"the critical words change their order: {' '.join(_list_critical_words(good))!r}, "
                f"{' '.join(_list_critical_words(bad))!r}",
            )


def find_different_critical_punctuation(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for item, good, bad in segmented.marked_pairs:
        one, two = good.list_region_words(CRITICAL), bad.list_region_words(CRITICAL)
        if one != two and _fold_critical_words(good) == _fold_critical_words(bad):
            yield item, "", f"the critical words differ in marks or capitals: {' '.join(one)!r}, {' '.join(two)!r}"


def _list_critical_words(member: SegmentedSentence) -> tuple[str, ...]:
    """Return the critical words as they are written, without punctuation."""
    return tuple(word.strip(EDGE_PUNCTUATION) for word in member.list_region_words(CRITICAL))


def _fold_critical_words(member: SegmentedSentence) -> tuple[str, ...]:
    return tuple(map(_fold_word, member.list_region_words(CRITICAL)))


@functools.cache
def _fold_word(word: str) -> str:
    return word.strip(EDGE_PUNCTUATION).casefold()


def find_different_preceding_words(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for item, good, bad in segmented.marked_pairs:
        one, two = _get_preceding_word(good), _get_preceding_word(bad)
        if one != two:
            yield (
                item,
                "",
                f"the word before the critical region differs: {one!r} (grammatical), {two!r} (ungrammatical); "
                "expected the same word",
            )


def _get_preceding_word(member: SegmentedSentence) -> str:
    start = member.find_region(CRITICAL).start
    return member.words[start - 1] if start else "(start of sentence)"


def find_different_positions(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for item, good, bad in segmented.marked_pairs:
        one, two = good.find_region(CRITICAL).start, bad.find_region(CRITICAL).start
        if abs(one - two) > 1:
            yield (
                item,
                "",
                f"words before the critical region: {one} (grammatical), {two} (ungrammatical); expected a difference of at most 1",
            )


def find_short_spillover(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member in segmented.list_members():
        critical = member.find_region(CRITICAL)
        after = len(member.words) - critical.stop
        if critical and after < 3:
            message = f"words after the critical region: {after}; expected at least 3 for spillover"
            yield member.item, member.condition, message


def find_different_word_counts(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for members in segmented.items:
        counts = [len(member.words) for member in members]
        if len(set(counts)) > 1:
            lengths = ", ".join(f"{n} ({member.condition})" for n, member in zip(counts, members, strict=True))
            yield members[0].item, "", f"the numbers of words differ: {lengths}"


def find_identical_members(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for members in segmented.items:
        conditions: dict[str, str] = {}
        for member in members:
            first = conditions.setdefault(member.text, member.condition)
            if first != member.condition:
                message = f"the same sentence as condition {first!r}; expected a difference"
                yield member.item, member.condition, message


def find_duplicate_items(segmented: SegmentedMaterials) -> Iterator[Fault]:
    seen: dict[tuple[str, ...], Item] = {}
    for members in segmented.items:
        item, texts = members[0].item, tuple(member.text for member in members)
        earlier = seen.setdefault(texts, item)
        if earlier is not item:
            source_line = segmented.materials.find_source_line(earlier.id, members[0].condition)
            yield item, "", f"the same sentences as item {earlier.id} ({source_line})"


def find_duplicate_sentences(segmented: SegmentedMaterials) -> Iterator[Fault]:
    seen: dict[str, list[SegmentedSentence]] = defaultdict(list)
    for member in segmented.list_members():
        same = seen[member.text]
        earlier = next((other for other in same if other.item is not member.item), None)
        if earlier:
            source_line = segmented.materials.find_source_line(earlier.item.id, earlier.condition)
            message = f"the same sentence as {earlier.item.id} ({earlier.condition}, {source_line})"
            yield member.item, member.condition, message
        same.append(member)
