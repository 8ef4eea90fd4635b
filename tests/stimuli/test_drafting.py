"""Drafting: what answers hold, where regions stand in them, and what is found odd."""

import dataclasses

import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli.drafting.draft_findings import (
    classify_difference,
    examine_drafts,
    find_overused_words,
    jaccard,
    list_trigrams,
)
from gardenpath.stimuli.drafting.drafts import ModelReply, build_drafts, select_seeds
from gardenpath.stimuli.drafting.provenance import count_drafts_by_family, get_origin, set_provenance
from gardenpath.stimuli.drafting.regions import add_regions, find_anchors, find_difference
from gardenpath.stimuli.drafting.replies import parse_pairs
from gardenpath.stimuli.drafting.requests import format_first_request, format_follow_up, read_wording

EN = read_wording("en")


def pair(name: str, good: str, bad: str, **regions: tuple[str, str]) -> stimuli.Item:
    """A minimal pair; a region's words are given as they stand in the grammatical and in the ungrammatical member."""

    def marked(text: str, member: int) -> stimuli.Sentence:
        found = [(n, text.index(words[member]), words[member]) for n, words in regions.items()]
        return stimuli.Sentence(text, tuple(stimuli.Region(n, start, start + len(word)) for n, start, word in found))

    return stimuli.Item(name, "p", {"grammatical": marked(good, 0), "ungrammatical": marked(bad, 1)})


SEEDS = (
    pair(
        "s1",
        "The nurse near the doors is tired today.",
        "The nurse near the doors are tired today.",
        critical=("is", "are"),
        cue=("nurse", "nurse"),
    ),
    pair(
        "s2",
        "The cook behind the trucks is late again.",
        "The cook behind the trucks are late again.",
        critical=("is", "are"),
        cue=("cook", "cook"),
    ),
)
PARADIGM = stimuli.Paradigm("p", "agreement")
SEEDED = stimuli.Materials((PARADIGM,), SEEDS)


@pytest.mark.parametrize(
    "answer",
    [
        "Correct: A b c.\nIncorrect: A d c.",
        "1. Correct: A b c.\n   Incorrect: A d c.",
        "- **Correct:** A b c.\n- **Incorrect:** A d c.",
        '* Correct: "A b c."\n* Incorrect: "A d c."',
        "**Pair 1**\nCorrect – A b c.\n\nIncorrect – A d c.\n",
        "Incorrect: A d c.\nCorrect: A b c.",
        "correct 1: A b c.\nincorrect 1: A d c.",
        "(a) Grammatical: A b c.\n(b) Ungrammatical: A d c.",
        "Correct: A b c. Incorrect: A d c.",
        "✓ A b c.\n✗ A d c.",
        "A b c.\n*A d c.",
        "1. A b c. / A d c.",
        "| Correct | Incorrect |\n|---|---|\n| A b c. | A d c. |",
        "| 1 | A b c. | A d c. |",
        "Goed: A b c.\nFout: A d c.",
        "1. **Correcto:** A b c.\n   **Incorrecto:** A d c.",
        "正确：A b c.\n错误：A d c.",
        "Неправильно: A d c.\nПравильно: A b c.",
    ],
)
def test_pairs_are_read_however_they_are_written(answer: str) -> None:
    pairs, _ = parse_pairs(answer, EN)
    assert [(one.good, one.bad) for one in pairs] == [("A b c.", "A d c.")]


def test_what_is_no_pair_is_named_with_its_line() -> None:
    lines = [
        "Of course!",
        "Correct: A b.",
        "Correct: C d.",
        "Incorrect: C e.",
        "Incorrect: F g.",
        "Correct:",
        "Correct: H i.",
        "Incorrect: H i.",
    ]
    pairs, unread = parse_pairs("\n".join([*lines, "Correct: J k.", "Incorrect: J"]), EN)
    assert [(one.good, one.bad, one.line) for one in pairs] == [("C d.", "C e.", 3)]
    assert [(one.line, one.reason) for one in unread] == [
        (1, "neither label"),
        (2, "the other member is missing"),
        (5, "the other member is missing"),
        (6, "a label without a sentence"),
        (7, "both members are the same"),
        (10, "the sentence is cut off"),
    ]
    assert parse_pairs("", EN) == ([], [])
    assert parse_pairs("Correct: A b\nIncorrect: A c", EN, final=False)[0]


def test_regions_stand_where_the_seeds_have_them_whatever_the_words() -> None:
    made = build_drafts(
        SEEDED,
        "p",
        [ModelReply("Correct: My old uncle near the lakes is proud.\nIncorrect: My old uncle near the lakes are proud.")],
        EN,
    )
    good, bad = made.materials.items[0].sentences.values()
    assert [word.text for word in good.list_region_words("critical")] == ["is"]
    assert [word.text for word in bad.list_region_words("critical")] == ["are"]
    # The cue stands four words before the difference in both seeds, and so here: what a pattern of places can say.
    assert [word.text for word in good.list_region_words("cue")] == ["uncle"]
    assert made.materials.items[0].extra["origin"] == "draft"


def test_a_region_that_has_no_one_place_in_the_seeds_stands_at_their_words_or_nowhere() -> None:
    seeds = (
        pair("s1", "No dog has ever barked here.", "The dog has ever barked here.", critical=("ever", "ever")),
        pair("s2", "No cat of ours has ever slept here.", "The cat of ours has ever slept here.", critical=("ever", "ever")),
    )
    placed = find_anchors(seeds)
    assert placed["grammatical", "critical"].span is None
    sentences = {
        "grammatical": stimuli.Sentence("No king has ever sung."),
        "ungrammatical": stimuli.Sentence("The king has ever sung."),
    }
    made, lacking = add_regions(sentences, placed)
    assert (made["ungrammatical"].list_region_words("critical")[0].text, lacking) == ("ever", [])
    twice = {
        "grammatical": stimuli.Sentence("No one ever has ever sung."),
        "ungrammatical": stimuli.Sentence("Any one ever has ever sung."),
    }
    made, lacking = add_regions(twice, placed)
    assert not made["grammatical"].regions
    assert lacking == ["critical"]


def test_a_region_at_one_place_from_the_beginning_stands_there_however_far_the_difference_is() -> None:
    seeds = (
        pair("s1", "La casa es blanca.", "La casa es blanco.", cue=("casa", "casa")),
        pair("s2", "El pan de ayer es duro.", "El pan de ayer es dura.", cue=("pan", "pan")),
    )
    texts = {"grammatical": "La pared de la casa es fea.", "ungrammatical": "La pared de la casa es feo."}
    sentences = {name: stimuli.Sentence(text) for name, text in texts.items()}
    made, lacking = add_regions(sentences, find_anchors(seeds))
    assert [word.text for one in made.values() for word in one.list_region_words("cue")] == ["pared", "pared"]
    assert lacking == []


def test_a_region_of_more_words_than_the_seeds_is_left_out_and_said() -> None:
    answer = "Correct: My uncle near the lakes is proud.\nIncorrect: My uncle near the lakes are prouds."
    [item] = build_drafts(SEEDED, "p", [ModelReply(answer)], EN).materials.items
    assert not item.sentences["grammatical"].list_region_words("critical")
    assert "no place for the region critical" in item.extra["draft_findings"]
    assert "region-missing" not in item.extra["draft_findings"]


def test_a_difference_is_found_from_both_ends() -> None:
    assert find_difference(stimuli.Sentence("a b c d"), stimuli.Sentence("a x y d")) == range(1, 3)
    assert find_difference(stimuli.Sentence("a a b"), stimuli.Sentence("a b")) == range(1, 2)
    assert find_difference(stimuli.Sentence("a b"), stimuli.Sentence("a a b")) == range(1, 1)


def test_every_oddity_is_found_and_nothing_in_a_good_draft() -> None:
    drafts = [
        pair(
            "good",
            "The judge beside the towers is angry now.",
            "The judge beside the towers are angry now.",
            critical=("is", "are"),
            cue=("judge", "judge"),
        ),
        pair(
            "copy",
            "The nurse near the doors is tired today!",
            "The nurse near the doors are tired today!",
            critical=("is", "are"),
            cue=("nurse", "nurse"),
        ),
        pair(
            "near",
            "The judge beside the towers is angry right now.",
            "The judge beside the towers are angry right now.",
            critical=("is", "are"),
            cue=("judge", "judge"),
        ),
        pair("other", "The pilot above the hills is calm.", "The pilots above the hills is calm."),
        pair(
            "strange",
            "The blorft near the zwinks is tired.",
            "The blorft near the zwinks are tired.",
            critical=("is", "are"),
            cue=("blorft", "blorft"),
        ),
        pair("foreign", "Der Koch hinter den Wagen ist spaet.", "Der Koch hinter den Wagen sind spaet."),
    ]
    odd = examine_drafts(drafts, SEEDS, PARADIGM)
    assert odd["good"] == []
    assert odd["copy"][0] == "copy of seed s1"
    assert (
        jaccard(
            list_trigrams(["the", "judge", "beside", "the", "towers", "is", "angry", "now"]),
            list_trigrams(["the", "judge", "beside", "the", "towers", "is", "angry", "right", "now"]),
        )
        == 5 / 8
    )
    assert [said for said in odd["near"] if "copy" in said] == ["near copy of draft good: the same content words"]
    assert "differs in another way" not in " ".join(odd["other"])
    assert any(said == "unknown words: blorft, zwinks" for said in odd["strange"])
    assert any(said.startswith(("another language? ", "unknown word")) for said in odd["foreign"])


def test_a_near_copy_shares_four_fifths_of_its_trigrams() -> None:
    one = pair(
        "one",
        "The judge in the tower near the lake by the sea is angry.",
        "The judge in the tower near the lake by the sea are angry.",
    )
    two = pair(
        "two", "The judge in the tower near the lake by the sea is sad.", "The judge in the tower near the lake by the sea are sad."
    )
    assert "near copy of draft one" in examine_drafts([one, two], SEEDS, PARADIGM)["two"]


def test_forms_of_the_same_content_words_in_other_function_words_are_a_near_copy() -> None:
    one = pair("one", "La casa de mis abuelos es blanca desde el verano.", "La casa de mis abuelos es blanco desde el verano.")
    two = pair("two", "La casa de tu abuelo es blanca este verano.", "La casa de tu abuelo es blanco este verano.")
    three = pair("three", "La casa de mis abuelos es fea desde el verano.", "La casa de mis abuelos es feo desde el verano.")
    spanish = [dataclasses.replace(item, language="es") for item in (one, two, three)]
    odd = examine_drafts(spanish[1:], spanish[:1], PARADIGM)
    assert "near copy of seed one: the same content words" in odd["two"]
    assert not [said for said in odd["three"] if "copy" in said]


def test_drafts_of_another_time_are_copied_by_none_and_keep_their_names() -> None:
    answer = ModelReply("Correct: The judge near the towers is angry.\nIncorrect: The judge near the towers are angry.")
    first = build_drafts(SEEDED, "p", [answer], EN).materials.items
    again = build_drafts(stimuli.Materials((PARADIGM,), (*SEEDS, *first)), "p", [answer], EN).materials.items
    assert [item.id for item in (*first, *again)] == ["p-draft-001", "p-draft-002"]
    assert again[0].extra["draft_findings"] == "copy of draft p-draft-001"


def test_another_kind_of_difference_is_said() -> None:
    added = pair("added", "The cook is here.", "The very old cook is here.")
    assert classify_difference(added) == (("insert", 0, 2),)
    assert "differs in another way than the seeds: 2 words added" in examine_drafts([added], SEEDS, PARADIGM)["added"]


def test_lengths_and_words_that_come_too_often_stand_out() -> None:
    many = [pair(f"d{n}", f"The wizard near the {n} doors is fine.", f"The wizard near the {n} doors are fine.") for n in range(12)]
    long = pair("long", "The judge " + "near the sea " * 12 + "is fine.", "The judge " + "near the sea " * 12 + "are fine.")
    odd = examine_drafts([*many, long], SEEDS, PARADIGM)
    assert any(said.startswith("length 40 words") for said in odd["long"])
    assert any("wizard (12)" in said for said in odd["d3"])
    assert "wizard" in find_overused_words([*SEEDS, *many], "en")


def test_requests_hold_the_pairs_and_sentences_are_never_read_as_words_of_a_request() -> None:
    braces = (pair("s1", "A {n} is.", "A {n} are."), pair("s2", "B is.", "B are."))
    said = format_first_request(braces, EN, 30, topic="the sea", avoid=["dog"])
    assert "write 30 new pairs" in said
    assert "Correct: A {n} is.\nIncorrect: A {n} are." in said
    assert "the sea" in said
    assert "dog" in said
    assert "dog" in format_follow_up(EN, 30, avoid=["dog"])
    published = read_wording("nl", "published")
    assert format_first_request(SEEDS, published, 30).startswith(
        "Kan je het patroon in de volgende zinnen herkennen en nog 30 van dit"
    )
    assert "Japanese" in format_first_request(SEEDS, read_wording("ja"), 30, language="Japanese")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[en]\ngood = 'a'\n", "has no 'bad'"),
        ("[fr]\n", "nothing in the language 'en'"),
        ("en = 3\n", "nothing in the language 'en'"),
        ("[en\n", "not valid TOML"),
        ("[en]\ngood='a'\nbad='b'\nfirst='{m} pairs'\nmore='m'\nvary='v'\navoid='a'\ntopic='t'\n", r"\{m\} is not known"),
    ],
)
def test_a_request_of_ones_own_that_is_none_is_refused(tmp_path, text: str, said: str) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(study.DataError, match=said):
        read_wording("en", tmp_path / "own.toml")


def test_what_cannot_be_drafted_from_is_refused() -> None:
    with pytest.raises(study.DataError, match="1 pairs made by hand; expected 2 or more"):
        select_seeds(stimuli.Materials((PARADIGM,), SEEDS[:1]), "p")
    crossed = stimuli.Paradigm("p", "agreement", {"a": ("x", "y"), "b": ("u", "v")})
    with pytest.raises(study.DataError, match="expected minimal pairs"):
        select_seeds(stimuli.Materials((crossed,), ()), "p")
    drafted = tuple(set_provenance(seed, origin="draft") for seed in SEEDS)
    with pytest.raises(study.DataError, match="0 pairs made by hand"):
        select_seeds(stimuli.Materials((PARADIGM,), drafted), "p")


def test_where_items_come_from_is_kept_by_formats_with_free_columns(tmp_path) -> None:
    made = build_drafts(
        SEEDED,
        "p",
        [ModelReply("Correct: A cook at the doors is ill.\nIncorrect: A cook at the doors are ill.", "m@1", "top-p 1", "ff")],
        EN,
    )
    for name in ("items.jsonl", "items.csv"):
        stimuli.write(stimuli.Materials((PARADIGM,), (*SEEDS, *made.materials.items)), tmp_path / name)
        read = stimuli.read(tmp_path / name)
        assert [get_origin(item) for item in read.items] == ["hand", "hand", "draft"]
        assert (read.items[2].extra["model"], read.items[2].extra["prompt_hash"]) == ("m@1", "ff")
    assert count_drafts_by_family(read.items, ["m2", "other"]) == {"m2": {"m@1": 1}}
