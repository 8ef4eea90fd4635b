"""Materials are read from each format with every fault named by file and line, and written back the same."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gardenpath import stimuli, study
from gardenpath.stimuli import Region, Sentence
from gardenpath.stimuli.formats import marked_csv

HEADER = "paradigm,phenomenon,item,condition,sentence\n"
PAIR = 'npi,n,i1,grammatical,"{No} one, I say, has [ever] come here."\nnpi,n,i1,ungrammatical,{The} one has [ever] come here.\n'


def write(tmp_path: Path, text: str, name: str = "items.csv", encoding: str = "utf-8") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def test_marks_show_the_regions_inside_the_sentence(tmp_path: Path) -> None:
    item = stimuli.read(write(tmp_path, HEADER + PAIR)).items[0]
    assert item.sentences["grammatical"] == Sentence(
        "No one, I say, has ever come here.", (Region("cue", 0, 2), Region("critical", 19, 23))
    )


FAULTS = {
    "a missing column": ("paradigm,phenomenon,item,sentence\n", ["line 1: column 'condition' is missing"]),
    "a doubled column": (HEADER.replace("item,", "item,item,") + PAIR, ["line 1: column 'item' is there 2 times"]),
    "an unknown column": (HEADER.replace("item,", "item,itm,"), ["line 1: column 'itm' is not known"]),
    "an unknown condition": (
        HEADER + PAIR + PAIR.replace("i1,ung", "i2,ung").replace("i1", "i2").replace("ungrammatical", "ungramatical"),
        ["line 5: i2 (ungramatical): condition 'ungramatical' is not known in paradigm npi"],
    ),
    "an empty sentence": (
        HEADER + "npi,n,i1,grammatical,\n" + PAIR.splitlines()[1],
        ["line 2: i1 (grammatical): the sentence is empty"],
    ),
    "an unquoted comma": (HEADER + "npi,n,i1,grammatical,Yes, he did.\n", ["line 2: 6 cells, expected 5"]),
    "an unclosed region": (HEADER + PAIR.replace("[ever]", "[ever", 1), ["region 'critical' is opened and never closed"]),
    "a doubled item": (HEADER + PAIR + PAIR, ["line 4: i1 (grammatical): item i1 has this condition already"]),
    "two phenomena": (HEADER + PAIR.replace("npi,n,i1,u", "npi,m,i1,u"), ["phenomenon 'm', but paradigm npi belongs to 'n' above"]),
    "a missing member": (
        HEADER + PAIR.splitlines()[0] + "\n",
        ["line 2: i1 (ungrammatical): no sentence for condition 'ungrammatical'"],
    ),
    "no rows": (HEADER, ["line 1: no sentences"]),
}


@pytest.mark.parametrize(("text", "messages"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_named_with_file_line_and_item(tmp_path: Path, text: str, messages: list[str]) -> None:
    path = write(tmp_path, text)
    with pytest.raises(study.DataError) as caught:
        stimuli.read(path)
    for message in messages:
        assert message in str(caught.value)
    assert all(fault.startswith(str(path)) for fault in caught.value.faults)


def test_one_broken_row_does_not_hide_the_others(tmp_path: Path) -> None:
    materials, findings = stimuli.examine(write(tmp_path, HEADER + "npi,n,i0,grammatical,\n" + PAIR))
    assert [item.id for item in materials.items] == ["i1"]
    assert len(findings) == 1


@pytest.mark.parametrize("separator", [";", "\t"])
def test_semicolons_and_tabs_separate_as_well(tmp_path: Path, separator: str) -> None:
    lines = (HEADER + "p,f,i,grammatical,A [b] c.\np,f,i,ungrammatical,A [c] c.\n").replace(",", separator)
    assert len(stimuli.read(write(tmp_path, lines)).items) == 1


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r"), lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n")])
def test_old_line_ends_and_byte_order_marks_are_read(tmp_path: Path, change) -> None:  # type: ignore[no-untyped-def]
    assert stimuli.read(write(tmp_path, change(HEADER + PAIR))) == stimuli.read(write(tmp_path, HEADER + PAIR, "b.csv"))


def test_a_format_that_is_not_recognised_is_asked_for_by_name(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match=r"the format is not recognised .* name it: items, source, blimp"):
        stimuli.read(write(tmp_path, "just some text\n"))


def test_materials_are_the_same_after_each_round_trip(study_folder: Path) -> None:
    materials = stimuli.read(study_folder / "items.csv")
    for name in ("again.jsonl", "again.csv"):
        assert stimuli.write(materials, study_folder / name) == []
        assert stimuli.read(study_folder / name) == materials


def test_what_a_format_cannot_hold_is_listed(study_folder: Path) -> None:
    lost = stimuli.write(stimuli.read(study_folder / "items.csv"), study_folder / "b.jsonl", format="blimp")
    assert lost == ["regions of 240 sentences"]


RECORDS = {
    "broken JSON": ('{"record": "item"', "not valid JSON"),
    "an unknown record": ('{"record": "list"}', "record is 'list'; expected 'paradigm' or 'item'"),
    "an undeclared paradigm": (
        '{"record": "item", "id": "i", "paradigm": "p", "sentences": {"a": {"text": "x"}}}',
        "paradigm 'p' is not declared above",
    ),
    "a region outside": (
        '{"record": "paradigm", "id": "p", "phenomenon": "f", "factors": {"c": ["a"]}}\n'
        '{"record": "item", "id": "i", "paradigm": "p", "sentences": {"a": {"text": "x", "regions": [["critical", 0, 5]]}}}',
        "region 'critical' spans characters 0 to 5, outside the sentence of 1 characters",
    ),
    "a misspelt key": ('{"record": "paradigm", "id": "p", "phenomenom": "f"}', "did you mean 'phenomenon'?"),
}


@pytest.mark.parametrize(("text", "message"), RECORDS.values(), ids=RECORDS.keys())
def test_a_broken_record_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(study.DataError, match=r"items.jsonl, line \d") as caught:
        stimuli.read(write(tmp_path, text + "\n", "items.jsonl"), format="items")
    assert message in str(caught.value)


@given(st.text(alphabet="ab []{}|\\é", min_size=1, max_size=20).filter(str.strip), st.data())
def test_marking_and_parsing_are_inverse(text: str, data: st.DataObject) -> None:
    """Nested spans, any characters: what `mark_regions` writes `parse_marked_sentence` reads back."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4)))
    outer, inner = (cuts[0], cuts[3]), (cuts[1], cuts[2])
    regions = tuple(Region(n, *span) for n, span in (("outer", outer), ("critical", inner)) if span[0] < span[1])
    regions = tuple(sorted(regions, key=lambda r: (r.start, -r.end)))
    assert marked_csv.parse_marked_sentence(marked_csv.mark_regions(Sentence(text, regions))) == (text, regions)


def test_questions_display_text_and_notes_survive_both_formats_of_ours(tmp_path: Path) -> None:
    header = HEADER.replace("sentence", "sentence,context,question,answer,display,notes")
    rows = [
        "npi,n,i1,grammatical,{No} man has [ever] come to us.,It was late.,Did a man come?,no,No man has EVER come to us.,first",
        "npi,n,i1,ungrammatical,{The} man has [ever] come to us.,It was late.,Did a man come?,yes,,first",
    ]
    materials = stimuli.read(write(tmp_path, header + "\n".join(rows) + "\n"))
    item = materials.items[0]
    assert item.question == stimuli.Question("Did a man come?", {"grammatical": "no", "ungrammatical": "yes"})
    assert item.sentences["grammatical"].list_displayed_words()[3] == "EVER"
    assert (item.context, item.notes) == ("It was late.", "first")
    for name in ("again.jsonl", "again.csv"):
        assert stimuli.write(materials, tmp_path / name) == []
        assert stimuli.read(tmp_path / name) == materials


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("Did he?,maybe,", "answer 'maybe'; expected the item's question 'Did he?' and an answer out of yes, no"),
        ("Did he?,yes,One two", "2 words to display, expected 7, one for each word"),
    ],
)
def test_a_question_without_its_answer_and_a_display_of_other_length_are_faults(tmp_path: Path, cells: str, message: str) -> None:
    rows = [f"npi,n,i1,{c},A man has [ever] come to us.,{cells}" for c in ("grammatical", "ungrammatical")]
    with pytest.raises(study.DataError) as caught:
        stimuli.read(write(tmp_path, HEADER.replace("sentence", "sentence,question,answer,display") + "\n".join(rows) + "\n"))
    assert message in str(caught.value)


def test_a_factorial_study_is_written_by_hand_with_its_factors_on_one_row(tmp_path: Path) -> None:
    stated = '"extraction: s, o | phrase: name, noun"'
    rows = [
        f"rc,relatives,i1,{condition},The man that {condition} [left] the old house.,{stated if condition == 's.name' else ''}"
        for condition in ("s.name", "s.noun", "o.name", "o.noun")
    ]
    text = HEADER.replace("sentence", "sentence,factors") + "\n".join(rows) + "\n"
    materials = stimuli.read(write(tmp_path, text))
    (paradigm,) = materials.paradigms
    assert paradigm.factors == {"extraction": ("s", "o"), "phrase": ("name", "noun")}
    assert list(materials.items[0].sentences) == ["s.name", "s.noun", "o.name", "o.noun"]
    assert stimuli.write(materials, tmp_path / "again.csv") == []
    assert stimuli.read(tmp_path / "again.csv") == materials


def test_factors_that_cannot_be_read_or_are_stated_twice_are_faults(tmp_path: Path) -> None:
    header = HEADER.replace("sentence", "sentence,factors")
    with pytest.raises(study.DataError, match="factors is 'extraction'; expected  factor: level, level"):
        stimuli.read(write(tmp_path, header + "rc,r,i1,s,One two.,extraction\n"))
    two = 'rc,r,i1,s,One two.,"e: s, o"\nrc,r,i1,o,One three.,"e: s, p"\n'
    with pytest.raises(study.DataError, match=r"line 3: i1 .o.: the factors of paradigm rc differ from those above"):
        stimuli.read(write(tmp_path, header + two))


MISREAD = {
    "other levels": ('"gap: subj, obj"', ["condition 's' is not known in paradigm rc; expected subj or obj (and 39 more rows)"]),
    "a level too few": ('"gap: s"', ["condition 'o' is not known in paradigm rc; expected s (and 39 more rows)"]),
    "semicolons": ('"gap: s; o"', ["factors is 'gap: s; o'; expected  factor: level, level"]),
    "a condition": ("s", ["factors is 's'; expected  factor: level, level", "(and 79 more rows)"]),
}


@pytest.mark.parametrize("everywhere", [False, True], ids=["on one row", "on every row"])
@pytest.mark.parametrize(("cell", "said"), MISREAD.values(), ids=MISREAD)
def test_factors_that_are_misread_are_said_in_three_lines(cell: str, said: list[str], everywhere: bool, tmp_path: Path) -> None:
    rows = [
        f"rc,r,i{n},{condition},One two.,{cell if everywhere or (n == 0 and condition == 's') else ''}\n"
        for n in range(40)
        for condition in "so"
    ]
    with pytest.raises(study.DataError) as caught:
        stimuli.read(write(tmp_path, HEADER.replace("sentence", "sentence,factors") + "".join(rows)))
    assert len(caught.value.faults) <= 3
    assert all(part in str(caught.value) for part in said if everywhere or "79" not in part)


def test_a_corpus_with_some_of_blimps_fields_is_read_as_pairs_in_the_language_of_its_study(tmp_path: Path) -> None:
    record = {"sentence_good": "Die Hunde schlafen.", "sentence_bad": "Die Hunde schläft.", "UID": "kongruenz", "pair_id": 1}
    (tmp_path / "x.jsonl").write_text(json.dumps(record | {"phenomenon": "Kongruenz", "source": "hand"}) + "\n")
    alone, stated = (stimuli.read(tmp_path / "x.jsonl", language=tag).items[0] for tag in (None, "de"))
    assert (alone.id, alone.language, alone.extra["source"]) == ("kongruenz-1", "und", "hand")
    assert stated.language == "de"
    ours = "paradigm,phenomenon,item,condition,sentence\np,p,i,grammatical,A dog.\np,p,i,ungrammatical,Dog a.\n"
    (tmp_path / "ours.csv").write_text(ours)
    assert stimuli.read(tmp_path / "ours.csv").items[0].language == "en"
