"""A broken row is named with its line and the rest is read; a warning keeps nothing from being read; pickles are refused."""

import contextlib
import json
import logging
import pickle
from pathlib import Path
from random import Random

import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli import formats

FIXTURES = Path(__file__).parent / "fixtures"
BROKEN = {  # file: a line to put in as the second but one, what is said of it, and the items left
    "blimp.jsonl": ('{"sentence_good": "A.", "UID": 7}', "sentence_bad, UID, linguistics_term, pairID missing", 3),
    "blimp-nl.csv": ("1,Hoeden,1,hoed,7,Grammatical,Een geit, zegt men, slaapt.,slaapt,,", "12 cells, expected 10", 4),
    "turblimp_base.csv": ("Keçi gördü.;Keçi;gördü", "3 cells, expected 6", 4),
    "turblimp_experimental.csv": ('"Keçi, gördü.,Keçiyi gördü.,x,y,gördü,a,b', "the quotes of a cell are not closed", 2),
    "rublimp.csv": ("9,,Коза,а,б,S,A,goat_number,g,news,3", "source_sentence is empty", 2),
    "multiblimp.tsv": ("12\tone cell", "2 cells, expected 23", 4),
    "sling.jsonl": ('{"sentence_good": ', "not valid JSON", 2),
    "climp.csv": ("6,hats,hat_classifier,山羊,2", "index '6' and label '2'; expected a number, and 1 or 0", 2),
    "jblimp.jsonl": ("[1, 2]", "'[1, 2]' is not a JSON object", 3),
    "jblimp-raw.csv": ("1,2006", "2 cells, expected 19", 1),
    "syntaxgym-table.csv": ("3,plain,x,end,slept", "region_number is not a number", 2),
    "agreement.tsv": ("no\ttabs", "2 cells, expected 18", 3),
    "pairs.tsv": ("Goats sleep.\t", "a sentence is empty", 2),
    "pairs-corpus.jsonl": ('{"sentence_good": "山羊。", "sentence_bad": ""}', "a sentence is empty", 3),
    "goat_agrmt.txt": ("Maybe\tthe goat sleeps .", "is not a label and a sentence", 2),
    "generated.tab": ("no\ttabs", "2 cells, expected 11", 2),
    "pcibex.csv": ("A,3,hats,short,,,,,", "Sentence is empty", 4),
    "turktools.txt": ("#target 3", "'#target 3' is not a header; expected  # section number condition", 4),
}


@pytest.mark.parametrize(("name", "case"), BROKEN.items(), ids=BROKEN)
def test_a_broken_row_costs_itself_only(tmp_path: Path, name: str, case: tuple[str, str, int]) -> None:
    broken, message, items = case
    lines = (FIXTURES / name).read_text(encoding="utf-8").splitlines()
    # after the last record, and for turktools before the first
    at = 0 if name == "turktools.txt" else len(lines)
    (tmp_path / name).write_text("\n".join([*lines[:at], broken, *lines[at:]]) + "\n", encoding="utf-8")
    materials, findings = stimuli.examine(tmp_path / name, format=None if at else "turktools")
    errors = [f for f in findings if f.severity == "error"]
    assert [f.line for f in errors] == [at + 1]
    assert message in errors[0].message
    assert len(materials.items) == items
    with pytest.raises(study.DataError, match=f"line {at + 1}: "):
        stimuli.read(tmp_path / name, format=None if at else "turktools")


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("goat_agrmt.txt", "False\tthe goat sleep .", "a False sentence without a True one of its own"),
        ("goat_agrmt.txt", "True\tthe goat sleeps .", "a True sentence without a False one of its own"),
        ("generated.tab", "N\t8\t0\tsing\tis\tcorrect\tx\tthe\t0\t1\tthe is", "only the correct form of this sentence is there"),
        ("generated.tab", "N\t8\t0\tsing\tis\tbest\tx\tthe\t0\t1\tthe is", "class 'best' and form 'is'; expected correct or wrong"),
        ("generated.tab", "N\t8\t0\tsing\tis\twrong\tx\ta\t0\t1\tthe is", "'the is' does not begin with its prefix 'a'"),
        ("generated.tab", "N_V!12\t7\t1\tplur\teat\twrong\tx\ta\t0\t1\ta eat", "a second wrong form of this sentence"),
    ],
)
def test_half_a_pair_is_named_and_costs_itself_only(tmp_path: Path, name: str, row: str, message: str) -> None:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(f"{text}{row}\n", encoding="utf-8")
    materials, findings = stimuli.examine(tmp_path / name)
    assert [(f.line, f.severity) for f in findings] == [(text.count("\n") + 1, "error")]
    assert message in findings[0].message
    assert len(materials.items) == 2


def test_a_quote_that_is_never_closed_costs_its_own_line(tmp_path: Path) -> None:
    text = (FIXTURES / "turblimp_experimental.csv").read_text(encoding="utf-8").replace('baktı."', "baktı.", 1)
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    materials, findings = stimuli.examine(tmp_path / "t.csv")
    assert ([f.line for f in findings], [item.id for item in materials.items]) == ([2], ["t-2"])


def test_a_cell_over_two_lines_is_one_cell_and_later_lines_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text('good\tbad\n"One\ntwo."\tTwo.\nThree.\t\n')
    materials, findings = stimuli.examine(tmp_path / "p.tsv")
    assert materials.items[0].sentences["grammatical"].text == "One\ntwo."
    assert [f.line for f in findings] == [4]


HEADERS = {
    "a missing column": ("id,source_sentence\n", "rublimp", "column 'target_sentence', 'source_word'"),
    "a doubled column": ((FIXTURES / "rublimp.csv").read_text().replace("level", "domain"), "rublimp", "'domain' is there twice"),
    "no sentence column": ("Item,Group\n1,A\n", "pcibex", "no column Sentence or Stimulus"),
    "no suite": ('{"items": []}', "syntaxgym", "a suite has no meta with a name"),
    "no JSON": ("{", "syntaxgym", "not valid JSON"),
    "text before the first header": ("Goats.\n# a 1 b\nGoats.\n", "turktools", "comes before the first header"),
}


@pytest.mark.parametrize(("text", "format", "message"), HEADERS.values(), ids=HEADERS)
def test_a_file_of_another_shape_is_an_error_and_no_traceback(tmp_path: Path, text: str, format: str, message: str) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(study.DataError) as caught:
        stimuli.read(tmp_path / "file", format=format)
    assert message in str(caught.value)


def test_an_item_without_a_pair_row_is_named(tmp_path: Path) -> None:
    lines = (FIXTURES / "climp.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "c.csv").write_text("\n".join([*lines[:2], *lines[3:]]) + "\n", encoding="utf-8")
    materials, findings = stimuli.examine(tmp_path / "c.csv")
    assert [item.id for item in materials.items] == ["hat_classifier-4"]
    assert "rows 0 and 1 have labels 1" in findings[0].message


SUITE = json.loads((FIXTURES / "syntaxgym.json").read_text(encoding="utf-8"))
SUITES = {
    "no content": (lambda s: s["items"][0]["conditions"][0]["regions"][1].pop("content"), "a condition is malformed"),
    "no conditions": (lambda s: s["items"][0].pop("conditions"), "an item has no item_number or no conditions"),
    "no name of a condition": (lambda s: s["items"][0]["conditions"][1].pop("condition_name"), "a condition is malformed"),
    "a condition less": (lambda s: s["items"][0]["conditions"].pop(), "no sentence for condition 'comma'"),
}


@pytest.mark.parametrize(("change", "message"), SUITES.values(), ids=SUITES)
def test_a_broken_item_of_a_suite_is_named_with_its_line(tmp_path: Path, change, message: str) -> None:  # type: ignore[no-untyped-def]
    suite = json.loads(json.dumps(SUITE))
    change(suite)
    text = json.dumps(suite, indent=1)
    (tmp_path / "s.json").write_text(text)
    materials, findings = stimuli.examine(tmp_path / "s.json")
    errors = [f for f in findings if f.severity == "error"]
    assert any(message in f.message for f in errors)
    assert {f.line for f in errors} == {text[: text.index('"item_number"')].count("\n") + 1}
    assert [item.id for item in materials.items] == ["goat_gap-2"]


def test_results_in_a_suite_are_not_dropped_without_a_word(tmp_path: Path) -> None:
    suite = json.loads(json.dumps(SUITE))
    suite["items"][0]["conditions"][0]["regions"][0]["metric_value"] = {"sum": 3.1}
    (tmp_path / "s.json").write_text(json.dumps(suite))
    _, findings = stimuli.examine(tmp_path / "s.json")
    assert [f.message for f in findings] == ["metric_value of conditions or regions are not kept"]


def test_warnings_go_to_the_log_and_do_not_raise(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="gardenpath"):
        assert len(stimuli.read(FIXTURES / "blimp-nl.csv").items) == 4
    assert [record.message.rpartition("(")[2] for record in caplog.records] == [
        "2 cases of region-ambiguous in this file)",
        "2 cases of region-not-found in this file)",
    ]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_before_it_is_read_with_a_way_to_convert_it(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "simple_agrmt.pickle"
    path.write_bytes(pickle.dumps({"sing_MS_MV": [("the goat eats", "the goat eat")]}, protocol))
    with pytest.raises(study.DataError, match="a pickle, as of Marvin and Linzen's templates, is not read") as caught:
        stimuli.read(path)
    assert "two columns" in str(caught.value)
    assert str(caught.value).count("\n") == 1


def test_two_formats_that_both_claim_a_file_are_named(tmp_path: Path) -> None:
    record = {"sentence_good": "A.", "sentence_bad": "B.", "UID": "u", "phenomenon": "p", "paradigm": "q", "pair_id": 1}
    record["linguistics_term"] = "p"
    (tmp_path / "x.jsonl").write_text(json.dumps(record) + "\n")
    with pytest.raises(study.DataError, match="this may be blimp or sling; name the format"):
        stimuli.read(tmp_path / "x.jsonl")


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir()))
def test_a_damaged_file_is_read_in_part_or_refused_and_never_breaks_the_reader(tmp_path: Path, name: str) -> None:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    format = formats.recognise_format(text, name).NAME
    random = Random(f"damage-{name}")
    for _ in range(40):
        damaged = list(text)
        for _ in range(random.randint(1, 4)):
            at = random.randrange(len(damaged))
            damaged[at : at + random.randint(0, 2)] = random.choice(['"', "\n", "null", "[]", "{}", "0", ",", ";", "\t", "#"])
        (tmp_path / name).write_text("".join(damaged), encoding="utf-8")
        with contextlib.suppress(study.DataError):
            materials, findings = stimuli.examine(tmp_path / name, format=format)
            assert materials.items or findings


def test_a_folder_is_answered_with_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("x")
    with pytest.raises(IsADirectoryError, match=r"a folder; expected files of materials: it holds items\.csv"):
        stimuli.read(tmp_path)


def test_contexts_that_differ_between_the_conditions_of_an_item_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text(
        "paradigm,phenomenon,item,condition,context,sentence,factors\n"
        'p,f,i1,neutral,It was late.,The man [left] at noon.,"story: neutral, telling"\n'
        "p,f,i1,telling,His bags were packed.,The man [left] at noon.,\n"
    )
    with pytest.raises(study.DataError) as caught:
        stimuli.read(path)
    assert f"{path}, line 3" in str(caught.value)
    assert "the context is not that of condition 'neutral'" in str(caught.value)
