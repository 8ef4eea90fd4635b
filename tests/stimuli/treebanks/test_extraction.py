"""Pairs of a language from trees and forms: all subjects are accounted for, and every sentence is the treebank's."""

import json
from pathlib import Path

import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli.treebanks.extraction import Extraction
from gardenpath.stimuli.treebanks.phenomena import PHENOMENA
from gardenpath.stimuli.treebanks.rejection_reasons import REJECTION_REASONS

from ...conftest import ROOT

EXAMPLE = ROOT / "examples" / "agreement-pairs"
TREES = EXAMPLE / "ud" / "UD_German-Garden" / "de_garden-ud-test.conllu"


def extracted(**how: object) -> Extraction:
    given = {"language": "deu", "minimum": 3, **how}
    return stimuli.extract(EXAMPLE / "ud", EXAMPLE / "unimorph", **given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def german() -> Extraction:
    return extracted()


def test_every_sentence_gives_the_pairs_that_a_reader_would_make(german: Extraction) -> None:
    """28 sentences with a subject and a finite verb each: number changes in all, person of the singular ones twice."""
    made = [item for item in german.pool.items if item.extra["value"] in ("Sing", "Plur")]
    swapped = {item.extra["word"]: item.extra["other_form"] for item in made}
    assert len(made) == 28
    assert (swapped["blühen"], swapped["schläft"], swapped["sind"], swapped["hat"]) == ("blüht", "schlafen", "ist", "haben")
    persons = {
        (i.extra["word"], i.extra["other_form"]): i.extra["other_value"] for i in german.pool.items if i.extra["value"] == "3"
    }
    assert persons["ist", "bin"] == "1"
    assert persons["schläft", "schläfst"] == "2"
    assert persons["sind", "seid"] == "2"
    reasons = {
        (r.word, r.other_form): r.reason for r in german.tables["rejected_subjects"].itertuples() if r.phenomenon == "sv-person"
    }
    assert reasons["sitzt", "sitzt"] == "same-form"  # du sitzt, er sitzt
    assert reasons["warten", "wartet"] == "duplicate"  # ihr wartet, er wartet


def test_sentences_are_the_treebanks_own_and_swapping_back_gives_them(german: Extraction) -> None:
    texts = {line[len("# text = ") :] for line in TREES.read_text("utf-8").splitlines() if line.startswith("# text = ")}
    for item in german.pool.items:
        good, bad = item.sentences["grammatical"], item.sentences["ungrammatical"]
        assert good.text in texts
        here, there = good.find_region("critical"), bad.find_region("critical")
        assert here
        assert there
        assert bad.text[: there.start] + item.extra["word"] + bad.text[there.end :] == good.text
        assert good.text[here.start : here.end] == item.extra["word"]
        for form, start, end, _ in json.loads(item.extra["attractors"]):
            assert good.text[start:end] == form


def test_an_attractor_beside_the_verb_is_one(german: Extraction) -> None:
    [item] = [
        i for i in german.pool.items if "unter den Bänken" in i.sentences["grammatical"].text and i.extra["other_value"] == "Plur"
    ]
    assert (item.extra["incongruent"], item.extra["distance"]) == ("1", "4")


def test_check_finds_no_error_and_the_critical_words_differ_on_purpose(german: Extraction) -> None:
    findings = stimuli.check(german.pool)
    assert not [finding for finding in findings if finding.severity == "error"]
    assert {finding.severity for finding in findings if finding.rule == "critical-words"} == {"waived"}


def test_every_subject_is_a_pair_or_has_a_reason(german: Extraction) -> None:
    rejected = german.tables["rejected_subjects"]
    assert {*rejected["reason"]} <= {*REJECTION_REASONS}
    for name in PHENOMENA:
        subjects = {(item.extra["sent_id"], item.extra["subject"]) for item in german.pool.items if f"-{name}-" in item.id}
        subjects |= {*rejected.loc[rejected["phenomenon"] == name, ["sent_id", "subject"]].itertuples(index=False, name=None)}
        assert len(subjects) == german.notes["subjects"] == 28


def test_a_draw_has_the_cap_and_leaves_out_small_conditions() -> None:
    done = extracted(cap=2, minimum=4, phenomena=["sv-number"])
    conditions = done.tables["conditions_by_language"].set_index(["value", "order", "type"])
    assert conditions.loc[("Sing", "SV", "verb"), ["n_found", "n_drawn"]].tolist() == [7, 2]
    assert conditions.loc[("Sing", "SV", "aux"), ["n_found", "n_drawn"]].tolist() == [3, 0]
    assert [item.id for item in done.materials.items] == [
        item.id for item in extracted(cap=2, minimum=4, phenomena=["sv-number"]).materials.items
    ]
    other = extracted(cap=2, minimum=4, phenomena=["sv-number"], seed=2)
    assert other.pool == done.pool
    assert other.materials != done.materials


def test_the_passive_the_past_and_other_subjects_are_taken_when_asked(tmp_path: Path) -> None:
    rows = """
    The the DET _ 2 det
    dogs dog NOUN Number=Plur 3 nsubj
    were be AUX Mood=Ind|Number=Plur|Person=3|Tense=Past|VerbForm=Fin 0 root
    ---
    The the DET _ 2 det
    dog dog NOUN Number=Sing 3 nsubj
    was be AUX Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin 0 root
    ---
    She she PRON Case=Nom|Number=Sing|Person=3 3 nsubj:pass
    is be AUX Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin 3 aux:pass
    seen see VERB Tense=Past|VerbForm=Part 0 root
    ---
    They they PRON Case=Nom|Number=Plur|Person=3 3 nsubj:pass
    are be AUX Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin 3 aux:pass
    seen see VERB Tense=Past|VerbForm=Part 0 root"""
    from .conllu import conllu

    parts = [part.strip() for part in rows.split("---")]
    sentences = [(" ".join(line.split()[0] for line in part.splitlines()), part) for part in parts]
    (tmp_path / "en_toy-ud-test.conllu").write_text(conllu(*sentences), "utf-8")

    def pairs(**how: object) -> set[str]:
        done = stimuli.extract(tmp_path, language="eng", phenomena=["sv-number"], minimum=1, **how)  # type: ignore[arg-type]
        return {item.sentences["ungrammatical"].text for item in done.pool.items}

    assert pairs() == set()
    assert pairs(english_past=True) == {"The dogs was", "The dog were"}
    assert pairs(passive=True) == {"She are seen", "They is seen"}
    assert pairs(passive=True, subjects="noun") == set()


def test_the_docs_list_every_reason() -> None:
    page = (ROOT / "docs" / "treebanks.md").read_text("utf-8")
    assert "\n".join(f"| `{reason}` | {meaning} |" for reason, meaning in REJECTION_REASONS.items()) in page


def test_an_unknown_phenomenon_is_named() -> None:
    with pytest.raises(ValueError, match=r"phenomenon 'sv-case' is not known; expected one of sv-number, "):
        extracted(phenomena=["sv-case"])


def test_a_language_without_treebanks_is_one_line() -> None:
    with pytest.raises(study.DataError) as caught:
        extracted(language="fra")
    assert len(caught.value.faults) == 1


def test_distinct_sentences_are_drawn_once(german: Extraction) -> None:
    done = extracted(distinct=True)
    texts = [item.sentences["grammatical"].text for item in done.materials.items]
    assert len({*texts}) == len(texts) > 20
    assert done.pool == german.pool
    assert all(item in german.pool.items for item in done.materials.items)
    counts = done.tables["conditions_by_language"]["n_drawn"]
    assert counts.sum() == len(texts)
    assert all(count == 0 or count >= 3 for count in counts)
