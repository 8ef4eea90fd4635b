"""Each format knows its own files and no other's, gives back what it read, and says what it cannot hold."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gardenpath import stimuli, study
from gardenpath.stimuli import Materials, Region, formats
from gardenpath.stimuli.formats import corpora, csv_and_jsonl
from gardenpath.stimuli.formats.sentence_rows import SentenceRows

FIXTURES = Path(__file__).parent / "fixtures"
FILES = {  # file: format, and the warnings that reading it gives, as (line, rule)
    "items.jsonl": ("items", []),
    "source.csv": ("source", []),
    "blimp.jsonl": ("blimp", [(2, "region-not-found"), (2, "region-not-found")]),
    "blimp-hub.jsonl": ("blimp", []),
    "blimp-nl.csv": (
        "blimp-nl",
        [(4, "region-ambiguous"), (5, "region-ambiguous"), (8, "region-not-found"), (9, "region-not-found")],
    ),
    "multiblimp.tsv": ("multiblimp", [(4, "region-ambiguous"), (4, "region-ambiguous"), (5, "format"), (5, "region-not-found")]),
    "SG_PL_SV_verb_2+.tsv": ("multiblimp", []),
    "turblimp_base.csv": ("turblimp", [(4, "region-ambiguous"), (5, "region-not-found"), (5, "region-not-found")]),
    "turblimp_experimental.csv": ("turblimp", []),
    "rublimp.csv": ("rublimp", [(3, "region-ambiguous")]),
    "sling.jsonl": ("sling", []),
    "sling-capitals.jsonl": ("sling", []),
    "climp.csv": ("climp", []),
    "ba_hats.csv": ("climp", []),
    "jblimp.jsonl": ("jblimp", []),
    "jblimp-raw.csv": ("jblimp", []),
    "syntaxgym.json": ("syntaxgym", []),
    "syntaxgym-table.csv": ("syntaxgym", []),
    "agreement.tsv": ("linzen", [(4, "region-not-found")]),
    "pairs.tsv": ("pairs", []),
    "pairs-good-bad.csv": ("pairs", []),
    "pairs-corpus.jsonl": ("pairs", []),
    "pairs-table.csv": ("pairs", []),
    "goat_agrmt.txt": ("clams", []),
    "goat_prep.txt": ("clams", []),
    "generated.tab": ("gulordava", []),
    "pcibex.csv": ("pcibex", []),
    "pcibex-list.csv": ("pcibex", []),
    "turktools.txt": ("turktools", []),
}
LANGUAGES = {
    "blimp": "en",
    "blimp-nl": "nl",
    "turblimp": "tr",
    "rublimp": "ru",
    "sling": "zh",
    "climp": "zh",
    "jblimp": "ja",
    "syntaxgym": "en",
    "linzen": "en",
    "pairs": "und",
    "clams": "und",
    "gulordava": "und",
    "pcibex": "und",
    "turktools": "und",
}


def fixture(name: str) -> Materials:
    return stimuli.read(FIXTURES / name)


def holds(again: Materials, before: Materials) -> bool:
    """Whether materials are what they were before, but for extra fields that a format adds, as its own numbers."""
    same = zip(again.items, before.items, strict=False)
    items = tuple(replace(a, extra={k: t for k, t in a.extra.items() if k in b.extra}) for a, b in same)
    return len(again.items) == len(before.items) and replace(again, items=items) == before


def texts(materials: Materials) -> dict[str, dict[str, str]]:
    return {item.id: {c: s.text for c, s in item.sentences.items()} for item in materials.items}


def regions(materials: Materials, item: str, condition: str) -> dict[str, str]:
    sentence = next(i for i in materials.items if i.id == item).sentences[condition]
    return {r.name: sentence.text[r.start : r.end] for r in sentence.regions}


def test_every_format_and_every_fixture_is_tested() -> None:
    assert set(FILES) == {path.name for path in FIXTURES.iterdir()}
    assert {name for name, _ in FILES.values()} == {module.NAME for module in formats.FORMATS}


@pytest.mark.parametrize(("name", "format"), [(name, format) for name, (format, _) in FILES.items()])
def test_a_file_is_recognised_as_its_own_format_and_no_other(name: str, format: str) -> None:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    claimed = {module.NAME for module in formats.FORMATS if module.recognises(text)}
    assert claimed - {"pairs"} == {format} - {"pairs"}  # which claims whatever names two sentences
    assert format == formats.recognise_format(text, name).NAME


@pytest.mark.parametrize("name", FILES)
def test_what_is_odd_in_a_file_is_a_warning_with_its_line(name: str) -> None:
    _, findings = stimuli.examine(FIXTURES / name)
    assert [(f.line, f.rule) for f in findings] == FILES[name][1]
    assert all(f.severity == "warning" for f in findings)


@pytest.mark.parametrize(("name", "format"), [(name, format) for name, (format, _) in FILES.items()])
def test_reading_writing_and_reading_gives_equal_items(tmp_path: Path, name: str, format: str) -> None:
    before = fixture(name)
    lost = stimuli.write(before, tmp_path / name, format=format)
    assert stimuli.read(tmp_path / name) == before
    in_file_names = ("pairs.tsv", "pairs-good-bad.csv", "goat_agrmt.txt", "goat_prep.txt")
    assert lost == (["names of paradigms, other than the file's name"] if name in in_file_names else [])
    assert format == formats.recognise_format((tmp_path / name).read_text(encoding="utf-8"), name).NAME


@pytest.mark.parametrize("name", FILES)
def test_ids_are_unique_and_begin_with_the_paradigm(name: str) -> None:
    materials = fixture(name)
    assert len({item.id for item in materials.items}) == len(materials.items) > 0
    if FILES[name][0] not in ("items", "source"):
        for item in materials.items:
            assert item.id.startswith((f"{item.paradigm}-", f"{item.paradigm.partition(' (')[0]}-"))


@pytest.mark.parametrize("name", [name for name, (format, _) in FILES.items() if format in LANGUAGES])
def test_the_language_is_what_the_format_knows(name: str) -> None:
    stated = {"pairs-table.csv": "fr"}  # in a column of its own
    assert {item.language for item in fixture(name).items} == {stated.get(name, LANGUAGES[FILES[name][0]])}


@pytest.mark.parametrize("pair", list(itertools.permutations(["blimp", "blimp-nl", "turblimp", "jblimp"], 2)))
def test_minimal_pairs_come_back_from_another_format_as_they_were(
    tmp_path: Path, study_folder: Path, pair: tuple[str, str]
) -> None:
    """Through two formats, texts, ids, paradigms and language stay; regions may not."""
    materials = stimuli.read(study_folder / "items.csv")
    for format in pair:
        stimuli.write(materials, tmp_path / format, format=format)
        again = stimuli.read(tmp_path / format)
        assert texts(again) == texts(materials)
        assert [(i.paradigm, i.language) for i in again.items] == [(i.paradigm, i.language) for i in materials.items]
        materials = again


PARADIGMS = [  # of the example study
    "npi_ever",
    "npi_at_all",
    "agreement_across_pp",
    "agreement_across_relative",
    "reflexive_number",
    "reciprocal_number",
    "wh_that_with_gap",
    "wh_that_subject_gap",
    "demonstrative_noun_number",
    "quantifier_noun_number",
    "double_object_verb",
    "passive_auxiliary",
]
LOST = {
    "items": [],
    "source": [],
    "blimp": ["regions of 240 sentences"],
    "blimp-nl": [],
    "pairs": ["regions of 240 sentences"],
    "clams": [
        "names of paradigms, other than the file's name",
        *(f"paradigm {p}" for p in PARADIGMS),
        "ids of 120 items, as 'materials-1' for 'npi-01'",
        "regions of 240 sentences",
        "language en of 120 items",
    ],
    "multiblimp": ["regions of 240 sentences"],
    "turblimp": [],
    "rublimp": ["regions of 240 sentences"],
    "sling": ["regions of 240 sentences"],
    "climp": ["regions of 240 sentences"],
    "jblimp": ["regions of 240 sentences"],
    "syntaxgym": ["regions of 240 sentences"],
    # these have the same critical words in both members, where an agreement table has two forms of one verb
    "gulordava": [*(f"paradigm {p}" for p in PARADIGMS), *(f"10 items of paradigm {p}" for p in PARADIGMS)],
    "linzen": [*(f"paradigm {p}" for p in PARADIGMS), *(f"10 items of paradigm {p}" for p in PARADIGMS)],
    "pcibex": ["regions of 240 sentences"],
    "turktools": [
        *(f"phenomenon of paradigm {p}" for p in PARADIGMS),
        "ids of 120 items, as 'npi_ever-01' for 'npi-01'",
        "regions of 240 sentences",
        "language en of 120 items",
    ],
}


@pytest.mark.parametrize("format", [module.NAME for module in formats.FORMATS])
def test_what_a_format_cannot_hold_of_the_example_study_is_listed(study_folder: Path, tmp_path: Path, format: str) -> None:
    materials = stimuli.read(study_folder / "items.csv")
    assert stimuli.write(materials, tmp_path / "written", format=format) == LOST[format]
    again, _ = stimuli.examine(tmp_path / "written", format=format)
    assert holds(again, materials) == (not LOST[format])
    if format not in ("linzen", "gulordava"):
        assert [list(t.values()) for t in texts(again).values()] == [list(t.values()) for t in texts(materials).values()]


@pytest.mark.parametrize("target", [module for module in formats.FORMATS if module.NAME != "source"])
@pytest.mark.parametrize("name", ["items.jsonl", "syntaxgym.json", "pcibex.csv", "turktools.txt", "agreement.tsv"])
def test_materials_that_are_no_minimal_pairs_lose_what_is_listed_or_nothing(name: str, target, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    before = fixture(name)
    lost = stimuli.write(before, tmp_path / name, format=target.NAME)
    assert lost or holds(stimuli.read(tmp_path / name, format=target.NAME), before)


def test_blimp_keeps_every_field_with_its_json_type(tmp_path: Path) -> None:
    for name in ("blimp.jsonl", "blimp-hub.jsonl", "sling.jsonl", "jblimp.jsonl"):
        stimuli.write(fixture(name), tmp_path / name, format=FILES[name][0])
        lines = [[json.loads(line) for line in (d / name).read_text().splitlines()] for d in (FIXTURES, tmp_path)]
        assert lines[0] == lines[1]


def test_prefix_fields_that_the_sentences_do_not_bear_out_mark_nothing() -> None:
    materials = fixture("blimp.jsonl")
    assert regions(materials, "goat_agreement-0", "ungrammatical") == {"critical": "were"}
    assert regions(materials, "goat_agreement-1", "grammatical") == {}
    assert regions(materials, "goat_npi-0", "grammatical") == {"critical": "ever"}


def test_words_given_as_text_are_marked_where_they_occur_once() -> None:
    dutch = fixture("blimp-nl.csv")
    assert regions(dutch, "hoed_enkelvoud-1", "grammatical") == {"cue": "De geit", "critical": "draagt"}
    assert regions(dutch, "hoed_enkelvoud-2", "grammatical") == {"cue": "die"}
    assert regions(dutch, "hoed_volgorde-3", "ungrammatical") == {"critical": "een hoed hij"}
    turkish = fixture("turblimp_base.csv")
    assert regions(turkish, "turblimp_base-2", "grammatical") == {"cue": "Irmakta"}, "a dotless capital is I"
    russian = fixture("rublimp.csv")
    assert regions(russian, "goat_number-4", "ungrammatical") == {"critical": "Сама"}, "a capital tells two words apart"


def test_a_verb_is_marked_after_its_prefix_or_by_its_index() -> None:
    german = fixture("multiblimp.tsv")
    assert regions(german, "deu_SV-#_PL_SG_SV_verb-5", "ungrammatical") == {"critical": "Schläft", "cue": "Ziegen"}
    assert regions(german, "deu_SV-#_PL_SG_SV_verb-7", "grammatical") == {"critical": "sehen"}
    assert {item.language for item in german.items} == {"de"}
    assert german.items[0].extra["child_features"] == "{'Number': 'Plur', 'lemma': 'Ziegen'}"
    english = fixture("agreement.tsv")
    assert regions(english, "agreement-1", "grammatical") == {"cue": "owner", "critical": "is"}
    assert english.items[1].sentences["grammatical"].text == '" the goats eat " , he bleated'


def test_an_index_that_repeats_itself_gives_way_to_the_row() -> None:
    assert [item.id for item in fixture("SG_PL_SV_verb_2+.tsv").items] == ["SG_PL_SV_verb_2+-0", "SG_PL_SV_verb_2+-1"]


def test_a_suite_keeps_numbers_names_empty_regions_and_formulas() -> None:
    materials = fixture("syntaxgym.json")
    paradigm = materials.paradigms[0]
    assert paradigm.factors == {"condition": ("nocomma", "comma")}
    assert paradigm.predictions[0] == "(4;%nocomma%) > (4;%comma%)"
    assert paradigm.references == ("Doe 2020",)
    sentence = materials.items[0].sentences["nocomma"]
    assert sentence.text == "As the goat ate the hat fell ."
    assert sentence.regions[1:3] == (Region("2 verb", 12, 15), Region("3 comma", 15, 15))
    assert [w.region for w in sentence.list_words()][3:5] == ["2 verb", "4 end"]
    assert materials.items[0].sentences["comma"].text == "As the goat ate , the hat fell ."


def test_rows_of_a_pair_are_joined_in_either_order() -> None:
    assert texts(fixture("climp.csv")) == {
        "hat_classifier-0": {"grammatical": "山羊有一顶帽子", "ungrammatical": "山羊有一只帽子"},
        "hat_classifier-4": {"grammatical": "山羊买了一顶帽子", "ungrammatical": "山羊买了一把帽子"},
    }
    assert list(texts(fixture("ba_hats.csv"))) == ["ba_hats-0", "ba_hats-2"]


def test_a_paradigm_under_two_phenomena_is_two() -> None:
    names = [p.id for p in fixture("jblimp.jsonl").paradigms]
    assert names == ["case (argument structure)", "case (scrambling)", "person"]


def test_a_pcibex_table_gives_context_question_and_what_differs_between_conditions() -> None:
    materials = fixture("pcibex.csv")
    item = materials.items[0]
    assert item.context == "It rained, hard."
    assert item.question == stimuli.Question("Did the goat eat?", {"short": "yes", "long": "no"})
    assert item.extra == {
        "Item": "1",
        "Group (short)": "A",
        "Group (long)": "B",
        "Audio (short)": "a1.wav",
        "Audio (long)": "b1.wav",
    }
    assert [p.id for p in materials.paradigms] == ["hats", "fill (easy)", "fill (hard)"]
    assert fixture("pcibex-list.csv").paradigms[0].factors == {"condition": ("A", "B")}


def test_a_pcibex_table_in_small_letters_is_not_taken_for_the_source_format(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,group,condition,sentence\n1,A,a,One ran.\n1,B,b,One runs.\n")
    assert texts(stimuli.read(tmp_path / "t.csv")) == {"t-1": {"a": "One ran.", "b": "One runs."}}


def test_sections_of_turktools_are_paradigms_and_further_lines_are_kept() -> None:
    materials = fixture("turktools.txt")
    assert [(p.id, tuple(p.list_conditions())) for p in materials.paradigms] == [
        ("target", ("embedded", "simple")),
        ("filler (catch)", ("catch",)),
        ("filler (filler)", ("filler",)),
    ]
    assert materials.items[1].extra == {"number": "2", "field 2": "yes", "field 4": "no"}
    assert materials.items[0].extra["field 2 (simple)"] == "Has the goat left?"


def test_pairs_of_any_corpus_have_the_names_that_their_columns_say() -> None:
    said = {
        name: [(item.id, item.paradigm, dict(item.extra)) for item in fixture(name).items]
        for name in ("pairs-corpus.jsonl", "pairs-table.csv")
    }
    assert said == {
        "pairs-corpus.jsonl": [
            ("goat_aspect-0", "goat_aspect", {"idx": "0", "tokens": "[1, 2]"}),
            ("goat_aspect-1", "goat_aspect", {"idx": "1", "tokens": "[3]"}),
            ("goat_classifier-0", "goat_classifier", {"idx": "0", "tokens": "[]"}),
        ],
        "pairs-table.csv": [
            ("goat_number-1", "goat_number", {"source": "hand"}),
            ("goat_number-2", "goat_number", {"source": 'a "model"'}),
            ("goat_ne-3", "goat_ne", {"source": "hand"}),
        ],
    }
    assert [p.phenomenon for p in fixture("pairs-table.csv").paradigms] == ["agreement", "negation"]


def test_an_id_is_its_text_whether_the_file_writes_a_number_or_a_text(tmp_path: Path) -> None:
    pair = {"good_sentence": "x", "bad_sentence": "y", "phenomenon": "f", "paradigm": "p"}
    (tmp_path / "j.jsonl").write_text("".join(json.dumps({"ID": n, **pair}) + "\n" for n in (1, "2", "b3")))
    materials = stimuli.read(tmp_path / "j.jsonl")
    assert [item.id for item in materials.items] == ["p-1", "p-2", "p-b3"]
    assert stimuli.write(materials, tmp_path / "again.jsonl", format="jblimp") == []
    assert [json.loads(line)["ID"] for line in (tmp_path / "again.jsonl").open()] == [1, "2", "b3"]


def test_a_column_that_numbers_something_else_names_no_items(tmp_path: Path) -> None:
    lines = ["good,bad,paradigm,id", "Goats eat.,Goats eats.,goats,7", "Hats fall.,Hats falls.,goats,7"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert [item.id for item in stimuli.read(tmp_path / "t.csv").items] == ["goats-1", "goats-2"]


def test_the_verb_is_the_region_of_gulordavas_rows_and_the_rest_of_the_sentence_follows_it() -> None:
    materials = fixture("generated.tab")
    assert list(texts(materials).values()) == [
        {"grammatical": "the goat near the hats sleeps here .", "ungrammatical": "the goat near the hats sleep here ."},
        {"grammatical": "six moons eat a hat", "ungrammatical": "six moons eats a hat"},
    ]
    assert regions(materials, "generated-N_V!12-7-0", "ungrammatical") == {"critical": "sleep"}
    assert materials.items[0].extra["freq wrong"] == "140"


def test_a_gold_file_is_read_with_the_sentences_beside_it(tmp_path: Path) -> None:
    (tmp_path / "goats.text").write_text("the goat sleeps here . <eos>\nsix goats near it eat <eos>\nit is\n")
    gold = tmp_path / "goats.gold"
    gold.write_text("2\tsleeps\tsleep\t0\n4\teat\teats\t1\n1\twas\twere\t0\n2\tis\tare\t0\n")
    materials, findings = stimuli.examine(gold)
    assert list(texts(materials).values()) == [
        {"grammatical": "the goat sleeps here .", "ungrammatical": "the goat sleep here ."},
        {"grammatical": "six goats near it eat", "ungrammatical": "six goats near it eats"},
    ]
    assert regions(materials, "goats-2", "grammatical") == {"critical": "eat"}
    assert [(f.line, "word 1 of its sentence is 'is'" in f.message) for f in findings] == [(3, True), (4, False)]
    (tmp_path / "goats.text").unlink()
    with pytest.raises(study.DataError, match=r"expected them in goats\.text"):
        stimuli.read(gold)


def test_the_region_of_a_blimp_pair_is_found_where_the_word_has_a_space(tmp_path: Path) -> None:
    record = {"sentence_good": "Tina revealed Margaret.", "sentence_bad": "The horse revealed Margaret.", "UID": "u"}
    record |= {"two_prefix_prefix_good": "Tina", "two_prefix_prefix_bad": "The horse", "two_prefix_word": " revealed"}
    (tmp_path / "u.jsonl").write_text(json.dumps(record | {"linguistics_term": "t", "pairID": "0"}))
    materials = stimuli.read(tmp_path / "u.jsonl")
    assert [regions(materials, "u-0", condition) for condition in ("grammatical", "ungrammatical")] == [
        {"critical": "revealed"}
    ] * 2


@pytest.mark.data
def test_every_pair_of_blimps_prefix_files_has_its_region(real_data: Path) -> None:
    unmarked = {}
    for path in sorted((real_data / "blimp").glob("*.jsonl")):
        first = json.loads(path.read_text().partition("\n")[0])
        if first["one_prefix_method"] or first["two_prefix_method"]:
            materials = stimuli.read(path)
            marked = sum(all(s.regions for s in item.sentences.values()) for item in materials.items)
            unmarked[path.stem] = 1000 - marked
    assert len(unmarked) == 40
    assert not any(unmarked.values())


def test_two_columns_without_a_header_are_read_when_the_format_is_named(tmp_path: Path) -> None:
    (tmp_path / "hats.txt").write_text("Goats eat.\tGoats eats.\nHats fall.\tHats falls.\n")
    materials = stimuli.read(tmp_path / "hats.txt", format="pairs")
    assert texts(materials)["hats-1"] == {"grammatical": "Goats eat.", "ungrammatical": "Goats eats."}
    assert materials.find_source_line("hats-2", "grammatical").line == 2


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["3", "true", "NaN", '"', "3.10", "1e5"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(VALUES)
def test_json_values_come_back_from_their_text(value: object) -> None:
    assert csv_and_jsonl.parse_json_value(csv_and_jsonl.format_json_value(value)) == value


@given(st.lists(st.lists(st.text("ab \";,\t\n'", max_size=6).map(str.strip), min_size=3, max_size=3), max_size=6))
def test_tables_come_back_whatever_their_cells_hold(lines: list[list[str]]) -> None:
    rows = [dict(zip("xyz", ["0" + line[0], *line[1:]], strict=True)) for line in lines]
    for separator in ",;\t":
        found = SentenceRows()
        text = csv_and_jsonl.format_table(rows, ["x", "y", "z"], separator)
        assert [record for _, _, record in csv_and_jsonl.read_table_rows(found, text, "f", "xyz", separator)] == rows
        assert found.findings == []


def test_a_further_corpus_is_one_entry_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = corpora.Corpus("toy", ".csv", "is", good="rétt", bad="rangt", phenomenon="kind", separators=",;")
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, toy))
    (tmp_path / "geitur.csv").write_text("rétt;rangt;kind;source\nGeitin sefur.;Geitin sofa.;number;heard\n")
    before = stimuli.read(tmp_path / "geitur.csv")
    assert [(i.id, i.language, i.extra) for i in before.items] == [("geitur-1", "is", {"source": "heard"})]
    assert stimuli.write(before, tmp_path / "geitur.csv", format="toy") == []
    assert stimuli.read(tmp_path / "geitur.csv") == before
