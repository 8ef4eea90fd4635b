"""Each rule finds its breach, and the example study breaks none."""

from pathlib import Path

import pytest

from gardenpath import stimuli
from gardenpath.stimuli import MINIMAL_PAIR, Item, Materials, Paradigm, Sentence
from gardenpath.stimuli.formats import source


def pair(good: str, bad: str, name: str = "i1") -> Item:
    sentences = {c: Sentence(*source.parse(t)) for c, t in (("grammatical", good), ("ungrammatical", bad))}
    return Item(name, "p", sentences)


def rules_found(*items: Item, rules: str | None = None) -> set[tuple[str, str]]:
    materials = Materials((Paradigm("p", "f", MINIMAL_PAIR),), items)
    return {(finding.rule, finding.severity) for finding in stimuli.check(materials, rules=rules)}


GOOD = "{No} man has [ever] come to us."
BREACHES = {
    "other words in the region": ("{The} man has [never] come to us.", ("critical-words", "warning")),
    "another word before": ("{The} man had [ever] come to us.", ("word-before", "warning")),
    "a position two words off": ("{The} very old man has [ever] come to us.", ("critical-position", "warning")),
    "no region": ("The man has ever come to us.", ("region-missing", "warning")),
    "half a word": ("{The} man has [ev]er come to us.", ("region-partial", "error")),
    "two words after": ("{The} man has [ever] come here.", ("words-after", "warning")),
    "the same sentence": (GOOD, ("identical-members", "error")),
}


@pytest.mark.parametrize(("bad", "expected"), BREACHES.values(), ids=BREACHES.keys())
def test_a_rule_finds_its_breach(bad: str, expected: tuple[str, str]) -> None:
    assert expected in rules_found(pair(GOOD, bad))


def test_a_pair_that_keeps_all_conditions_has_no_finding() -> None:
    assert rules_found(pair(GOOD, "{The} man has [ever] come to us.")) == set()


def test_a_changed_order_is_a_note_and_not_a_difference() -> None:
    found = rules_found(pair("I see [ever more] of the big cats.", "I see [more ever] of the big cats."))
    assert found == {("critical-order", "note")}


def test_the_conditions_of_blimp_nl_can_be_made_errors() -> None:
    assert ("word-before", "error") in rules_found(pair(GOOD, "{The} man had [ever] come to us."), rules="blimp-nl")


def test_duplicates_are_found_across_items() -> None:
    bad = "{The} man has [ever] come to us."
    assert rules_found(pair(GOOD, bad), pair(GOOD, bad, "i2")) == {
        ("duplicate-item", "error"),
        ("duplicate-sentence", "warning"),
    }


def test_the_example_keeps_the_three_conditions_and_its_promises(study_folder: Path) -> None:
    materials = stimuli.read(study_folder / "items.csv")
    assert stimuli.check(materials, rules="blimp-nl") == []
    assert len(materials.paradigms) == len({p.phenomenon for p in materials.paradigms}) == 4
    for item in materials.items:
        for sentence in item.sentences.values():
            assert 8 <= len(sentence.words()) <= 14
            assert sentence.words_of("cue")
            assert sentence.words_of("critical")


def test_findings_name_file_line_and_item(study_folder: Path) -> None:
    path = study_folder / "items.csv"
    path.write_text(path.read_text().replace("{The} student in the seminar has", "{The} student in the seminar had"))
    (finding,) = stimuli.check(stimuli.read(path))
    assert (finding.rule, finding.item, finding.line) == ("word-before", "npi-01", 2)
    assert str(finding).startswith(f"{path}, line 2: npi-01: the word before the critical region differs: 'has'")


@pytest.mark.data
def test_the_seven_identical_pairs_of_blimp_are_found(real_data: Path) -> None:
    files = [real_data / "blimp" / f"{name}.jsonl" for name in ("passive_1", "principle_A_case_2")]
    findings = stimuli.check(stimuli.read(*files))
    identical = [finding.item for finding in findings if finding.rule == "identical-members"]
    assert identical == [
        "passive_1-324", "passive_1-810", "principle_A_case_2-105", "principle_A_case_2-287",
        "principle_A_case_2-372", "principle_A_case_2-816", "principle_A_case_2-967",
    ]  # fmt: skip
