"""Checks of materials: small functions in a list, each with an id, a severity and a reason.

The three conditions on minimal pairs that are read by people and by models are those of BLiMP-NL
(Suijkerbuijk et al. 2025, doi 10.1162/COLI.a.00559): same frequency, same spillover, same token for models.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from .findings import Finding, Severity
from .items import CRITICAL, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Sentence, Word

Fault = tuple[Item, str, str]  # item, condition ('' for the whole item), message


@dataclass(frozen=True)
class Rule:
    """A rule: its id, how bad a breach is, why it matters, and the function that finds breaches."""

    id: str
    severity: Severity
    reason: str
    breaches: Callable[[Materials], Iterable[Fault]]


def check(materials: Materials, *, rules: str | None = None) -> list[Finding]:
    """Return the findings of every rule, ordered by file and line.

    `rules="blimp-nl"` makes breaches of the three BLiMP-NL conditions and missing regions errors; otherwise a
    sentence without a critical region is a warning, since scoring whole sentences needs none.
    """
    if rules not in (None, "blimp-nl"):
        raise ValueError(f"rules is {rules!r}; expected 'blimp-nl' or nothing")
    findings = []
    for rule in RULES:
        severity = "error" if rules == "blimp-nl" and rule.id in BLIMP_NL else rule.severity
        for item, condition, message in rule.breaches(materials):
            place = materials.place(item.id, condition or next(iter(item.sentences)))
            findings.append(
                Finding(rule.id, severity, place.file, place.line, item.paradigm, item.id, condition, message)
            )
    return sorted(findings, key=lambda f: (f.file, f.line, f.rule))


def _pairs(materials: Materials) -> Iterator[tuple[Item, Sentence, Sentence]]:
    """Yield each minimal pair with its grammatical and ungrammatical member."""
    minimal = {p.id for p in materials.paradigms if p.is_minimal_pair()}
    for item in materials.items:
        if item.paradigm in minimal:
            yield item, item.sentences[GRAMMATICAL], item.sentences[UNGRAMMATICAL]


def _marked(materials: Materials) -> Iterator[tuple[Item, Sentence, Sentence, list[Word], list[Word]]]:
    """Yield each minimal pair whose members both have a critical region, with the words of the two regions."""
    for item, good, bad in _pairs(materials):
        regions = good.words_of(CRITICAL), bad.words_of(CRITICAL)
        if all(regions):
            yield item, good, bad, *regions


def missing_regions(materials: Materials) -> Iterator[Fault]:
    for item in materials.items:
        for condition, sentence in item.sentences.items():
            if sentence.region(CRITICAL) is None:
                yield item, condition, "no critical region is marked; expected one, as in  has [ever] seen"


def partial_words(materials: Materials) -> Iterator[Fault]:
    for item in materials.items:
        for condition, sentence in item.sentences.items():
            for region in sentence.regions:
                inside = [w for w in sentence.words() if w.start < region.end and region.start < w.end]
                cut = [
                    w.text
                    for w in inside
                    if _letters(w, 0, region.start) or _letters(w, region.end, len(sentence.text))
                ]
                if cut:
                    yield item, condition, f"region {region.name!r} cuts the word {cut[0]!r}; expected whole words"


def _letters(word: Word, start: int, end: int) -> bool:
    """Whether the part of the word between two characters of the sentence holds a letter or digit."""
    low, high = max(start, word.start), min(end, word.end)
    return any(c.isalnum() for c in word.text[low - word.start : high - word.start]) if low < high else False


def same_critical_words(materials: Materials) -> Iterator[Fault]:
    for item, _, _, one, two in _marked(materials):
        words = [w.text for w in one], [w.text for w in two]
        if Counter(words[0]) != Counter(words[1]):
            yield (
                item,
                "",
                (
                    f"the critical words differ: {' '.join(words[0])!r} (grammatical), {' '.join(words[1])!r} "
                    "(ungrammatical); expected the same words"
                ),
            )


def critical_order(materials: Materials) -> Iterator[Fault]:
    for item, _, _, one, two in _marked(materials):
        words = [w.text for w in one], [w.text for w in two]
        if words[0] != words[1] and Counter(words[0]) == Counter(words[1]):
            yield item, "", f"the critical words change their order: {' '.join(words[0])!r}, {' '.join(words[1])!r}"


def same_word_before(materials: Materials) -> Iterator[Fault]:
    for item, good, bad, one, two in _marked(materials):
        before = _before(good, one[0]), _before(bad, two[0])
        if before[0] != before[1]:
            yield (
                item,
                "",
                (
                    f"the word before the critical region differs: {before[0]!r} (grammatical), {before[1]!r} "
                    "(ungrammatical); expected the same word"
                ),
            )


def _before(sentence: Sentence, word: Word) -> str:
    return sentence.words()[word.index - 1].text if word.index else "(start of sentence)"


def same_position(materials: Materials) -> Iterator[Fault]:
    for item, _, _, one, two in _marked(materials):
        if abs(one[0].index - two[0].index) > 1:
            yield (
                item,
                "",
                (
                    f"{one[0].index} words before the critical region (grammatical), {two[0].index} (ungrammatical); "
                    "expected a difference of at most 1"
                ),
            )


def words_after(materials: Materials) -> Iterator[Fault]:
    for item in materials.items:
        for condition, sentence in item.sentences.items():
            region = sentence.words_of(CRITICAL)
            after = len(sentence.words()) - region[-1].index - 1 if region else 3
            if after < 3:
                yield item, condition, f"{after} words after the critical region; expected at least 3 for spillover"


def identical_members(materials: Materials) -> Iterator[Fault]:
    for item in materials.items:
        texts: dict[str, str] = {}
        for condition, sentence in item.sentences.items():
            if sentence.text in texts:
                yield item, condition, f"the same sentence as condition {texts[sentence.text]!r}; expected a difference"
            texts.setdefault(sentence.text, condition)


def duplicate_items(materials: Materials) -> Iterator[Fault]:
    seen: dict[tuple[str, ...], Item] = {}
    for item in materials.items:
        texts = tuple(sentence.text for sentence in item.sentences.values())
        if texts in seen:
            yield item, "", f"the same sentences as item {seen[texts].id} ({_first_place(materials, seen[texts])})"
        seen.setdefault(texts, item)


def duplicate_sentences(materials: Materials) -> Iterator[Fault]:
    seen: dict[str, list[tuple[Item, str]]] = defaultdict(list)
    for item in materials.items:
        for condition, sentence in item.sentences.items():
            earlier = [(i, c) for i, c in seen[sentence.text] if i is not item]
            if earlier:
                other, its = earlier[0]
                yield item, condition, f"the same sentence as {other.id} ({its}, {materials.place(other.id, its)})"
            seen[sentence.text].append((item, condition))


def _first_place(materials: Materials, item: Item) -> str:
    return str(materials.place(item.id, next(iter(item.sentences))))


RULES: tuple[Rule, ...] = (
    Rule(
        "region-missing",
        "warning",
        "reading times and critical-region scores need to know where to look",
        missing_regions,
    ),
    Rule("region-partial", "error", "words are the units that are read and scored", partial_words),
    Rule("critical-words", "warning", "other words in the region differ in frequency and length", same_critical_words),
    Rule("critical-order", "note", "reordered words are compared at different positions", critical_order),
    Rule("word-before", "warning", "another word before the region spills over into it", same_word_before),
    Rule("critical-position", "warning", "words are read faster later in a sentence", same_position),
    Rule(
        "words-after",
        "warning",
        "effects of the region spill over to the next words, not to the sentence's end",
        words_after,
    ),
    Rule("identical-members", "error", "two conditions cannot be the same sentence", identical_members),
    Rule("duplicate-item", "error", "a repeated item counts twice in every result", duplicate_items),
    Rule("duplicate-sentence", "warning", "a repeated sentence is read and scored twice", duplicate_sentences),
)
BLIMP_NL = frozenset({"region-missing", "critical-words", "word-before", "critical-position"})
