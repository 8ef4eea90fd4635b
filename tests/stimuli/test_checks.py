"""Each rule finds its breach, and the example study breaks none."""

from pathlib import Path

import pytest

from gardenpath import stimuli
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence
from gardenpath.stimuli.formats import marked_csv
from gardenpath.stimuli.items import MINIMAL_PAIR


def pair(good: str, bad: str, name: str = "i1", *, language: str = "en") -> Item:
    sentences = {c: Sentence(*marked_csv.parse_marked_sentence(t)) for c, t in (("grammatical", good), ("ungrammatical", bad))}
    return Item(name, "p", sentences, language)


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
    "a region without a word": (
        "{The} man has [ever] []come to us.".replace("[ever] []", "ever[] "),
        ("region-missing", "warning"),
    ),
    "a cue without a word": ("{}The man has [ever] come to us.", ("cue-missing", "warning")),
    "a critical word that returns": ("{The} man has [ever] come, ever, to us.", ("region-repeated", "note")),
    "a word more": ("{The} old man has [ever] come to us.", ("word-count", "note")),
    "no final mark": ("{The} man has [ever] come to us", ("final-punctuation", "warning")),
    "another final mark": ("{The} man has [ever] come to us?", ("final-punctuation", "warning")),
    "a small initial": ("{the} man has [ever] come to us.", ("initial-capital", "warning")),
    "UTF-8 read as Latin-1": ("{The} mÃ¤nner [ever] come to us.", ("garbled-character", "error")),
    "two spaces": ("{The} man has  [ever] come to us.", ("spacing", "warning")),
    "a space at the end": ("{The} man has [ever] come to us. ", ("spacing", "warning")),
    "a space before a mark": ("{The} man has [ever] come to us .", ("spacing", "warning")),
    "a no-break space": ("{The} man has\u00a0[ever] come to us.", ("invisible-character", "error")),
    "a soft hyphen": ("{The} man has [ever] co\u00adme to us.", ("invisible-character", "error")),
    "a zero-width space": ("{The} man has [ever] \u200bcome to us.", ("invisible-character", "error")),
    "a joiner between Latin letters": ("{The} man has [ever] co\u200dme to us.", ("invisible-character", "error")),
    "a Cyrillic letter in a Latin word": ("{The} m\u0430n has [ever] come to us.", ("mixed-scripts", "error")),
    "a misspelt word": ("{The} man has [ever] unsuprisingly come to us.", ("unknown-word", "note")),
}


@pytest.mark.parametrize(("bad", "expected"), BREACHES.values(), ids=BREACHES.keys())
def test_a_rule_finds_its_breach(bad: str, expected: tuple[str, str]) -> None:
    assert expected in rules_found(pair(GOOD, bad))


def test_critical_words_are_named_as_they_are_written() -> None:
    materials = Materials((Paradigm("p", "f", MINIMAL_PAIR),), (pair("Er [begrüßte] sie alle.", "Er [begrüßten] sie alle."),))
    said = [finding.message for finding in stimuli.check(materials) if finding.rule == "critical-words"]
    assert [message.split(";")[0] for message in said] == [
        "the critical words differ: 'begrüßte' (grammatical), 'begrüßten' (ungrammatical)"
    ]


def test_a_pair_that_keeps_all_conditions_has_no_finding() -> None:
    assert rules_found(pair(GOOD, "{The} man has [ever] come to us.")) == set()


def test_a_changed_order_is_a_note_and_not_a_difference() -> None:
    found = rules_found(pair("I see [ever more] of the big cats.", "I see [more ever] of the big cats."))
    assert found == {("critical-order", "note")}


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        ("She says that it has [sunk].", {("critical-punctuation", "note")}),
        ("[Sunk] ships do not sail.", {("critical-punctuation", "note")}),
        ("She says it has [sunken] to the ground.", {("critical-words", "error")}),
    ],
)
def test_marks_and_capitals_make_no_other_critical_words(bad: str, found: set[tuple[str, str]]) -> None:
    rules = {"critical-words", "critical-order", "critical-punctuation"}
    said = rules_found(pair("He saw that it had [sunk] to the ground.", bad), rules="blimp-nl")
    assert {(rule, severity) for rule, severity in said if rule in rules} == found


def test_the_conditions_of_blimp_nl_can_be_made_errors() -> None:
    assert ("word-before", "error") in rules_found(pair(GOOD, "{The} man had [ever] come to us."), rules="blimp-nl")


def test_duplicates_are_found_across_items() -> None:
    bad = "{The} man has [ever] come to us."
    assert rules_found(pair(GOOD, bad), pair(GOOD, bad, "i2")) == {("duplicate-item", "error"), ("duplicate-sentence", "warning")}


def test_the_example_keeps_the_three_conditions_and_its_promises(study_folder: Path) -> None:
    materials = stimuli.read(study_folder / "items.csv")
    assert stimuli.check(materials, rules="blimp-nl") == []
    for item in materials.items:
        for sentence in item.sentences.values():
            assert 10 <= len(sentence.list_words()) <= 13
            assert sentence.list_region_words("cue")
            assert sentence.list_region_words("critical")


def test_findings_name_file_line_and_item(study_folder: Path) -> None:
    path = study_folder / "items.csv"
    path.write_text(path.read_text().replace("{The} student in the seminar has", "{The} student in the seminar had"))
    (finding,) = stimuli.check(stimuli.read(path))
    assert (finding.rule, finding.item, finding.line) == ("word-before", "npi-01", 2)
    assert str(finding).startswith(f"{path}, line 2: npi-01: the word before the critical region differs: 'has'")


# What looks like a breach and is none: sentence, language, rule.
NO_BREACHES = {
    "a cue in another form": ("{The} man saw [ever] more of the man.", "en", "region-repeated"),
    "a mark before a quote": ("They said “he has come.”", "en", "final-punctuation"),
    "an ellipsis set off": ("They said ... nothing to us.", "en", "spacing"),
    "a French colon": ("Il est venu\u00a0: qui ?", "fr", "spacing"),
    "a French space": ("Il est venu\u202f!", "fr", "invisible-character"),
    "a Persian joiner": ("او می\u200cرود.", "fa", "invisible-character"),
    "a Hindi joiner": ("क्\u200dष है।", "hi", "invisible-character"),
    "two scripts with a hyphen": ("Наша IT-компания выросла.", "ru", "mixed-scripts"),
    "Japanese scripts": ("東京タワーへ行くことにした。", "ja", "mixed-scripts"),
    "Latin letters in Chinese": ("我们去卡拉OK唱歌。", "zh", "mixed-scripts"),
    "an ordinal": ("The 2ª edition of Åland’s café.", "en", "mixed-scripts"),
    "a number": ("They saw 1,234,567,891 men (12th).", "en", "unknown-word"),
    "a name": ("They met Xqzvbrt and Xqzvbrt's wife.", "en", "unknown-word"),
    "a hyphen": ("They saw a peanut-colored well-known unicorn's house.", "en", "unknown-word"),
    "an unsegmented sentence in a language of three letters": ("東京タワーへ行くことにした。", "jpn", "unknown-word"),
    "an unsegmented sentence": ("我们去唱歌。", "zh", "unknown-word"),
    "no list": ("Gizona etxera etorri da.", "eu", "unknown-word"),
    "a script without case": ("他来了。", "zh", "initial-capital"),
    "a number at the start": ("3 men came.", "en", "initial-capital"),
}


@pytest.mark.parametrize(("sentence", "language", "rule"), NO_BREACHES.values(), ids=NO_BREACHES.keys())
def test_a_rule_knows_what_is_no_breach(sentence: str, language: str, rule: str) -> None:
    found = rules_found(pair(sentence, sentence + " Yes.", language=language))
    assert rule not in {name for name, _ in found}


def test_sentences_that_all_lack_a_mark_and_a_capital_lack_nothing() -> None:
    found = rules_found(pair("the [man] was at home", "the [man] were at home"))
    assert not found & {("final-punctuation", "warning"), ("initial-capital", "warning")}


def test_a_condition_without_any_cue_needs_none() -> None:
    other = "A man has [ever] come to us."
    assert rules_found(pair(GOOD, other)) == set()
    found = stimuli.check(Materials((Paradigm("p", "f"),), (pair(GOOD, other), pair("No man had [ever] come to us.", other, "i2"))))
    (finding,) = [f for f in found if f.rule == "cue-missing"]
    assert (finding.item, finding.condition) == ("i2", "grammatical")
    assert finding.message == "no cue is marked; other sentences of this condition have one (1 in all)"


def test_an_unknown_word_is_told_once_with_its_sentences() -> None:
    items = [pair(f"{n} men [saw] unsuprisingly little.", f"{n} men [sees] unsuprisingly little.", f"i{n}") for n in (1, 2)]
    (finding,) = [f for f in stimuli.check(Materials((Paradigm("p", "f"),), tuple(items))) if f.rule == "unknown-word"]
    assert finding.message == "the word 'unsuprisingly' is in no frequency list; misspelt? (4 sentences)"


def test_a_german_noun_is_no_name() -> None:
    sentence = "Sie sahen die Xqzvbrt am Abend."
    assert ("unknown-word", "note") in rules_found(pair(sentence, sentence, language="de"))


def test_a_language_without_a_list_is_noted_once() -> None:
    """Basque words are not looked up in the list of Spanish, which wordfreq would fall back on."""
    items = [pair(f"Gizona {n} [etorri] da.", f"Gizona {n} [etorri] dira.", f"i{n}", language="eu") for n in (1, 2)]
    notes = [f for f in stimuli.check(Materials((Paradigm("p", "f"),), tuple(items))) if f.rule == "frequency-list"]
    assert [(f.paradigm, f.item, f.severity) for f in notes] == [("p", "", "note")]
    assert "'eu'" in notes[0].message


def test_a_mixed_word_names_the_odd_letter() -> None:
    item = pair("{No} m\u0430n has [ever] come to us.", "{The} man has [ever] come to us.")
    (finding,) = [f for f in stimuli.check(Materials((Paradigm("p", "f"),), (item,))) if f.rule == "mixed-scripts"]
    assert finding.message.endswith("mixes LATIN and CYRILLIC letters: U+0430 CYRILLIC SMALL LETTER A")


def test_regions_are_found_by_place_in_words_of_the_authors_own_cutting() -> None:
    text = "我们去唱歌去。"
    cut = ((0, 2), (2, 3), (3, 5), (5, 6), (6, 7))
    members = {
        c: Sentence(text, (stimuli.Region("critical", *span),), cut)
        for c, span in (("grammatical", (2, 3)), ("ungrammatical", (3, 5)))
    }
    found = stimuli.check(Materials((Paradigm("p", "f"),), (Item("i", "p", members, "zh"),)))
    assert {"critical-words", "word-before", "region-repeated"} <= {f.rule for f in found}


@pytest.mark.data
def test_the_seven_identical_pairs_of_blimp_are_found(real_data: Path) -> None:
    files = [real_data / "blimp" / f"{name}.jsonl" for name in ("passive_1", "principle_A_case_2")]
    findings = stimuli.check(stimuli.read(*files))
    identical = [finding.item for finding in findings if finding.rule == "identical-members"]
    assert identical == [
        "passive_1-324", "passive_1-810", "principle_A_case_2-105", "principle_A_case_2-287",
        "principle_A_case_2-372", "principle_A_case_2-816", "principle_A_case_2-967",
    ]  # fmt: skip


@pytest.mark.data
def test_a_misspelt_word_of_blimp_is_found(real_data: Path) -> None:
    """Reported as alexwarstadt/blimp, issue 7."""
    findings = stimuli.check(stimuli.read(real_data / "blimp" / "expletive_it_object_raising.jsonl"))
    unknown = [finding.message for finding in findings if finding.rule == "unknown-word"]
    assert unknown == ["the word 'unsuprising' is in no frequency list; misspelt? (36 sentences)"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("SchlÃ¼ssel", "Schlüssel"),
        ("StraÃŸe.", "Straße"),
        ("Ð¿Ñ€Ð¸Ð²ÐµÑ‚", "привет"),
        ("Schlüssel", None),
        ("MANHÃ»", None),
        ("Ã", None),
        ("naïve", None),
        ("привет", None),
    ],
)
def test_what_was_read_in_the_wrong_encoding_is_told_from_what_was_meant(word: str, meant: str | None) -> None:
    item = pair(f"{word} [ever] come to us.", f"{word} [never] come to us.", language="de")
    materials = Materials((Paradigm("p", "f", MINIMAL_PAIR),), (item,))
    told = {f.message for f in stimuli.check(materials, only_severity="error") if f.rule == "garbled-character"}
    assert told == ({f"UTF-8 read as Latin-1: {word}, probably {meant}; save the file again as UTF-8"} if meant else set())


def test_a_question_in_the_wrong_encoding_is_found() -> None:
    sentences = {c: Sentence(f"Er {c}.") for c in ("grammatical", "ungrammatical")}
    question = stimuli.Question("War der SchlÃ¼ssel alt?", dict.fromkeys(sentences, "ja"), ("ja", "nein"))
    materials = Materials((Paradigm("p", "f", MINIMAL_PAIR),), (Item("i1", "p", sentences, "de", question=question),))
    (finding,) = stimuli.check(materials, only_severity="error")
    assert "SchlÃ¼ssel, probably Schlüssel" in finding.message


def test_fillers_need_no_critical_region() -> None:
    fillers = [Item(f"f{n}", "fillers", {"only": Sentence(text)}) for n, text in enumerate(("It rained.", "We left."))]
    read = Materials((Paradigm("fillers", "fillers", {"condition": ("only",)}),), tuple(fillers))
    assert [f.rule for f in stimuli.check(read)] == []
    one = Item("f2", "fillers", {"only": Sentence(*marked_csv.parse_marked_sentence("They [left] the house late last night."))})
    findings = stimuli.check(Materials(read.paradigms, (*fillers, one)))
    assert [(f.rule, f.item) for f in findings] == [("region-missing", "f0"), ("region-missing", "f1")]


def test_sentences_of_another_language_are_named_once_and_not_word_by_word() -> None:
    path = Path(__file__).parents[2] / "examples" / "agreement-attraction" / "items.csv"
    unknown = [f for f in stimuli.check(stimuli.read(path)) if f.rule == "unknown-word"]
    assert [(f.paradigm, f.item) for f in unknown] == [("agreement_attraction", ""), ("fillers", "")]
    assert "48 of 120 words are in no frequency list of the language 'en'" in unknown[0].message
    assert not [f for f in stimuli.check(stimuli.read(path, language="de")) if f.rule == "unknown-word"]


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        ("region", "factor 'region' has the name of a column of the tables of results; give it another one"),
        ("noun phrase", "factor 'noun phrase' cannot be named in a formula; expected a letter, then letters, digits, '_' and "),
        ("function", "factor 'function' means something else in a formula; give it another name"),
        ("condition", None),
        ("attractor", None),
    ],
)
def test_a_factor_needs_a_name_that_tables_and_formulas_can_hold(factor: str, message: str | None) -> None:
    pair = {"a": Sentence("A dog barks."), "b": Sentence("A dog barked.")}
    materials = Materials((Paradigm("p", "f", {factor: ("a", "b")}),), (Item("i1", "p", pair),))
    found = [f for f in stimuli.check(materials, only_severity="error") if f.rule == "factor-name"]
    assert [f.message.startswith(message) for f in found if message] == [True] * (message is not None)
    assert bool(found) == (message is not None)
