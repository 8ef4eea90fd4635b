"""Checks of materials: small functions in a list, each with an id, a severity and a reason."""

import difflib
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from .balance import unbalanced_conditions
from .factor_checks import factor_names
from .findings import Finding, Severity
from .items import Item, Materials, Paradigm, SourceLine
from .maze_checks import repeated_alternatives, same_alternatives, unlike_alternatives
from .norms import Norms
from .region_checks import (
    critical_order,
    critical_punctuation,
    duplicate_items,
    duplicate_sentences,
    identical_members,
    missing_cues,
    missing_regions,
    other_word_counts,
    partial_words,
    repeated_regions,
    same_critical_words,
    same_position,
    same_word_before,
    words_after,
)
from .segmentation import Fault, SegmentedMaterials, segment
from .text_checks import (
    decomposed,
    final_punctuation,
    garbled_characters,
    initial_capitals,
    invisible_characters,
    languages_without_list,
    mixed_scripts,
    spacing,
    unknown_words,
)


@dataclass(frozen=True)
class Rule:
    """A rule: its id, how bad a breach is, why it matters, and the function that finds breaches."""

    id: str
    severity: Severity
    reason: str
    breaches: Callable[[SegmentedMaterials], Iterable[Fault]]


def check(
    materials: Materials, *, rules: str | None = None, only: Severity | None = None, norms: Norms | None = None
) -> list[Finding]:
    """Return the findings of every rule, ordered by file and line.

    `rules="blimp-nl"` makes breaches of the three BLiMP-NL conditions and missing regions errors; otherwise a
    sentence without a critical region is a warning, since scoring whole sentences needs none. What a paradigm's
    `waivers` name has the severity `waived` and carries the reason. `only` looks for findings of one severity.
    Conditions are compared in `norms` too.

    >>> from gardenpath import stimuli
    >>> sentence = stimuli.Sentence("No dog has ever barked.")
    >>> item = stimuli.Item("i1", "npi", {"grammatical": sentence, "ungrammatical": sentence})
    >>> findings = stimuli.check(stimuli.Materials((stimuli.Paradigm("npi", "npi_licensing"),), (item,)))
    >>> [finding.rule for finding in findings if finding.severity == "error"]
    ['identical-members']
    """
    if rules not in (None, "blimp-nl"):
        raise ValueError(f"rules is {rules!r}; expected 'blimp-nl' or nothing")
    segmented = segment(materials, norms)
    firsts = {items[0][0].item.paradigm: items[0][0].item for items in segmented.by_paradigm().values() if items}
    findings = []
    for rule in RULES:
        severity = "error" if rules == "blimp-nl" and rule.id in BLIMP_NL else rule.severity
        if only not in (None, severity):
            continue
        findings += [_finding(rule.id, severity, fault, materials, firsts) for fault in rule.breaches(segmented)]
    findings = _waive(findings, segmented)
    findings += [
        _finding("waiver", severity, fault, materials, firsts) for severity, fault in _idle_waivers(findings, segmented)
    ]
    findings = [finding for finding in findings if only in (None, finding.severity)]
    return sorted(findings, key=lambda f: (f.file, f.line, f.rule))


def _finding(rule: str, severity: Severity, fault: Fault, materials: Materials, firsts: dict[str, Item]) -> Finding:
    whose, condition, message = fault
    message = sys.intern(message)  # most say what others say
    if isinstance(whose, Paradigm):
        place = _place(materials, firsts[whose.id], "") if whose.id in firsts else SourceLine("(no file)", 0)
        return Finding(rule, severity, place.file, place.line, whose.id, "", condition, message)
    place = _place(materials, whose, condition)
    return Finding(rule, severity, place.file, place.line, whose.paradigm, whose.id, condition, message)


def _place(materials: Materials, item: Item, condition: str) -> SourceLine:
    return materials.place(item.id, condition or next(iter(item.sentences)))


def _waive(findings: Iterable[Finding], segmented: SegmentedMaterials) -> list[Finding]:
    waivers = {p.id: p.waivers for p in segmented.materials.paradigms if p.waivers}
    if not waivers:
        return list(findings)
    return [
        replace(finding, severity="waived", waiver=waivers[finding.paradigm][finding.rule])
        if finding.rule in waivers.get(finding.paradigm, {})
        else finding
        for finding in findings
    ]


def _idle_waivers(findings: Iterable[Finding], segmented: SegmentedMaterials) -> Iterator[tuple[Severity, Fault]]:
    """Yield the waivers that name no rule, and those that had nothing to waive."""
    known = [rule.id for rule in RULES]
    used = {(finding.paradigm, finding.rule) for finding in findings if finding.severity == "waived"}
    for paradigm in segmented.materials.paradigms:
        for name in paradigm.waivers:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                meant = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
                yield "error", (paradigm, "", f"a waiver names the rule {name!r}, which is not known; {meant}")
            elif (paradigm.id, name) not in used:
                yield "note", (paradigm, "", f"the waiver of {name} waived nothing; it can be left out")


RULES: tuple[Rule, ...] = (
    Rule("region-missing", "warning", "reading times and critical-region scores need a region", missing_regions),
    Rule("region-partial", "error", "words are the units that are read and scored", partial_words),
    Rule(
        "region-repeated",
        "note",
        "a word read before is read faster, and a search may find the other",
        repeated_regions,
    ),
    Rule("cue-missing", "warning", "what makes the difference should be marked in all items or none", missing_cues),
    Rule(
        "critical-words", "warning", "different words in the region differ in frequency and length", same_critical_words
    ),
    Rule("critical-order", "note", "reordered words are compared at different positions", critical_order),
    Rule(
        "critical-punctuation", "note", "a mark at a word adds to its reading time and its score", critical_punctuation
    ),
    Rule("word-before", "warning", "a different word before the region spills over into it", same_word_before),
    Rule("critical-position", "warning", "words are read faster later in a sentence", same_position),
    Rule("words-after", "warning", "effects spill over to the next words, not to the sentence's end", words_after),
    Rule("word-count", "note", "a longer sentence is less probable for its length alone", other_word_counts),
    Rule("identical-members", "error", "two conditions cannot be the same sentence", identical_members),
    Rule("duplicate-item", "error", "a repeated item counts twice in every result", duplicate_items),
    Rule("duplicate-sentence", "warning", "a repeated sentence is read and scored twice", duplicate_sentences),
    Rule(
        "final-punctuation",
        "warning",
        "a missing or different final mark changes scores and the last word",
        final_punctuation,
    ),
    Rule("initial-capital", "warning", "models score a word with and without capital differently", initial_capitals),
    Rule("spacing", "warning", "stray spaces are tokens for models and gaps for readers", spacing),
    Rule("invisible-character", "error", "models see characters that readers and authors do not", invisible_characters),
    Rule("garbled-character", "error", "readers and models get other characters than were written", garbled_characters),
    Rule("decomposed", "warning", "models and lists take a letter and its mark apart for another word", decomposed),
    Rule(
        "mixed-scripts",
        "error",
        "a letter of another alphabet makes a different word that looks the same",
        mixed_scripts,
    ),
    Rule("factor-name", "error", "a factor is a column of the tables and a word of formulas", factor_names),
    Rule("alternative-same", "error", "of two identical words neither is wrong", same_alternatives),
    Rule(
        "alternative-repeated",
        "warning",
        "a word that was wrong before is known to be wrong, without reading",
        repeated_alternatives,
    ),
    Rule(
        "alternative-unlike",
        "warning",
        "a capital or a mark in one word alone gives away which is right",
        unlike_alternatives,
    ),
    Rule("unknown-word", "note", "a word found in no corpus is likely misspelt", unknown_words),
    Rule("frequency-list", "note", "without a list neither spelling nor frequency is checked", languages_without_list),
    Rule(
        "balance",
        "note",
        "a difference in length or frequency is one in reading time and score",
        unbalanced_conditions,
    ),
)
BLIMP_NL = frozenset({"region-missing", "critical-words", "word-before", "critical-position"})
