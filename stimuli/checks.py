"""Checks of materials: small functions in a list, each with an id, a severity and a reason."""

import difflib
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from .balance import find_unbalanced_conditions
from .factor_checks import find_invalid_factor_names
from .findings import Finding, Severity
from .items import Item, Materials, Paradigm, SourceLine
from .maze_checks import find_identical_alternatives, find_mismatched_alternatives, find_repeated_alternatives
from .norms import Norms
from .region_checks import (
    find_different_critical_punctuation,
    find_different_critical_words,
    find_different_positions,
    find_different_preceding_words,
    find_different_word_counts,
    find_duplicate_items,
    find_duplicate_sentences,
    find_identical_members,
    find_missing_cues,
    find_missing_regions,
    find_partial_words,
    find_reordered_critical_words,
    find_repeated_regions,
    find_short_spillover,
)
from .segmentation import Fault, SegmentedMaterials, segment
from .text_checks import (
    find_decomposed_words,
    find_final_punctuation_faults,
    find_garbled_characters,
    find_initial_capital_faults,
    find_invisible_characters,
    find_languages_without_list,
    find_mixed_scripts,
    find_spacing_faults,
    find_unknown_words,
)


@dataclass(frozen=True)
class CheckRule:
    """A rule: its id, how bad a breach is, why it matters, and the function that finds breaches."""

    id: str
    severity: Severity
    reason: str
    find_faults: Callable[[SegmentedMaterials], Iterable[Fault]]


def check(
    materials: Materials, *, rules: str | None = None, only_severity: Severity | None = None, norms: Norms | None = None
) -> list[Finding]:
    """Return the findings of every rule, ordered by file and line.

    `rules="blimp-nl"` makes breaches of the three BLiMP-NL conditions and missing regions errors; otherwise a
    sentence without a critical region is a warning, since scoring whole sentences needs none. What a paradigm's
    `waivers` name has the severity `waived` and carries the reason. `only_severity` looks for findings of one severity.
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
    first_items = {items[0][0].item.paradigm: items[0][0].item for items in segmented.group_by_paradigm().values() if items}
    findings = []
    for rule in RULES:
        severity = "error" if rules == "blimp-nl" and rule.id in BLIMP_NL_RULES else rule.severity
        if only_severity not in (None, severity):
            continue
        findings += [_build_finding(rule.id, severity, fault, materials, first_items) for fault in rule.find_faults(segmented)]
    findings = _apply_waivers(findings, segmented)
    findings += [
        _build_finding("waiver", severity, fault, materials, first_items)
        for severity, fault in _find_idle_waivers(findings, segmented)
    ]
    findings = [finding for finding in findings if only_severity in (None, finding.severity)]
    return sorted(findings, key=lambda f: (f.file, f.line, f.rule))


def _build_finding(rule: str, severity: Severity, fault: Fault, materials: Materials, firsts: dict[str, Item]) -> Finding:
    owner, condition, message = fault
    message = sys.intern(message)  # most say what others say
    if isinstance(owner, Paradigm):
        source_line = _find_source_line(materials, firsts[owner.id], "") if owner.id in firsts else SourceLine("(no file)", 0)
        return Finding(rule, severity, source_line.file, source_line.line, owner.id, "", condition, message)
    source_line = _find_source_line(materials, owner, condition)
    return Finding(rule, severity, source_line.file, source_line.line, owner.paradigm, owner.id, condition, message)


def _find_source_line(materials: Materials, item: Item, condition: str) -> SourceLine:
    return materials.find_source_line(item.id, condition or next(iter(item.sentences)))


def _apply_waivers(findings: Iterable[Finding], segmented: SegmentedMaterials) -> list[Finding]:
    waivers = {p.id: p.waivers for p in segmented.materials.paradigms if p.waivers}
    if not waivers:
        return list(findings)
    return [
        replace(finding, severity="waived", waiver=waivers[finding.paradigm][finding.rule])
        if finding.rule in waivers.get(finding.paradigm, {})
        else finding
        for finding in findings
    ]


def _find_idle_waivers(findings: Iterable[Finding], segmented: SegmentedMaterials) -> Iterator[tuple[Severity, Fault]]:
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


RULES: tuple[CheckRule, ...] = (
    CheckRule("region-missing", "warning", "reading times and critical-region scores need a region", find_missing_regions),
    CheckRule("region-partial", "error", "words are the units that are read and scored", find_partial_words),
    CheckRule(
        "region-repeated", "note", "a word read before is read faster, and a search may find the other", find_repeated_regions
    ),
    CheckRule("cue-missing", "warning", "what makes the difference should be marked in all items or none", find_missing_cues),
    CheckRule(
        "critical-words", "warning", "different words in the region differ in frequency and length", find_different_critical_words
    ),
    CheckRule("critical-order", "note", "reordered words are compared at different positions", find_reordered_critical_words),
    CheckRule(
        "critical-punctuation",
        "note",
        "a mark at a word adds to its reading time and its score",
        find_different_critical_punctuation,
    ),
    CheckRule("word-before", "warning", "a different word before the region spills over into it", find_different_preceding_words),
    CheckRule("critical-position", "warning", "words are read faster later in a sentence", find_different_positions),
    CheckRule("words-after", "warning", "effects spill over to the next words, not to the sentence's end", find_short_spillover),
    CheckRule("word-count", "note", "a longer sentence is less probable for its length alone", find_different_word_counts),
    CheckRule("identical-members", "error", "two conditions cannot be the same sentence", find_identical_members),
    CheckRule("duplicate-item", "error", "a repeated item counts twice in every result", find_duplicate_items),
    CheckRule("duplicate-sentence", "warning", "a repeated sentence is read and scored twice", find_duplicate_sentences),
    CheckRule(
        "final-punctuation",
        "warning",
        "a missing or different final mark changes scores and the last word",
        find_final_punctuation_faults,
    ),
    CheckRule(
        "initial-capital", "warning", "models score a word with and without capital differently", find_initial_capital_faults
    ),
    CheckRule("spacing", "warning", "stray spaces are tokens for models and gaps for readers", find_spacing_faults),
    CheckRule("invisible-character", "error", "models see characters that readers and authors do not", find_invisible_characters),
    CheckRule("garbled-character", "error", "readers and models get other characters than were written", find_garbled_characters),
    CheckRule("decomposed", "warning", "models and lists take a letter and its mark apart for another word", find_decomposed_words),
    CheckRule(
        "mixed-scripts", "error", "a letter of another alphabet makes a different word that looks the same", find_mixed_scripts
    ),
    CheckRule("factor-name", "error", "a factor is a column of the tables and a word of formulas", find_invalid_factor_names),
    CheckRule("alternative-same", "error", "of two identical words neither is wrong", find_identical_alternatives),
    CheckRule(
        "alternative-repeated",
        "warning",
        "a word that was wrong before is known to be wrong, without reading",
        find_repeated_alternatives,
    ),
    CheckRule(
        "alternative-unlike",
        "warning",
        "a capital or a mark in one word alone gives away which is right",
        find_mismatched_alternatives,
    ),
    CheckRule("unknown-word", "note", "a word found in no corpus is likely misspelt", find_unknown_words),
    CheckRule("frequency-list", "note", "without a list neither spelling nor frequency is checked", find_languages_without_list),
    CheckRule(
        "balance", "note", "a difference in length or frequency is one in reading time and score", find_unbalanced_conditions
    ),
)
BLIMP_NL_RULES = frozenset({"region-missing", "critical-words", "word-before", "critical-position"})
