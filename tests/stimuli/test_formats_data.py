"""The published corpora are read with the counts of their raw lines, and come back from their own format item for item."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from gardenpath import stimuli
from gardenpath.stimuli import formats

pytestmark = pytest.mark.data


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8-sig").split("\n") if line.strip()]


def rows(path: Path, separator: str) -> list[dict[str, str]]:
    with open(path, encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream, delimiter=separator))


# Folder and pattern: format, files (a paradigm each), items, and paradigms with regions; of BLiMP those of one prefix and of two.
CORPORA = {
    "blimp/*.jsonl": ("blimp", 67, 67_000, 40),
    "turblimp/data/base/*.csv": ("turblimp", 16, 16_000, 16),
    "turblimp/data/experimental/*.csv": ("turblimp", 22, 2_200, 22),
    "syntaxgym/*.json": ("syntaxgym", 10, 262, 10),
    "sling/*/*.jsonl": ("sling", 7, 7_000, 0),
    "rublimp/*.csv": ("rublimp", 2, 2_000, 2),
}


def count(path: Path) -> int:
    """Return the number of items in a file, without our reader."""
    if path.suffix == ".json":
        return len(json.loads(path.read_text(encoding="utf-8"))["items"])
    return len(lines(path)) - (path.suffix == ".csv")


@pytest.mark.parametrize(("pattern", "case"), CORPORA.items(), ids=CORPORA)
def test_a_corpus_is_read_with_the_counts_of_its_lines(real_data: Path, pattern: str, case: tuple[str, int, int, int]) -> None:
    format, files, items, regional = case
    paths = sorted(real_data.glob(pattern))
    texts = [path.read_text(encoding="utf-8-sig") for path in paths]
    assert [formats.recognise_format(text, "").NAME for text in texts[:3]] == [format] * min(3, files)
    materials, findings = stimuli.examine(*paths)
    assert (len(paths), len(materials.items), sum(map(count, paths))) == (files, items, items)
    assert len(materials.paradigms) == files
    marked = {item.paradigm for item in materials.items if any(s.regions for s in item.sentences.values())}
    assert len(marked) == regional
    assert not [f for f in findings if f.severity == "error"]


@pytest.mark.parametrize("pattern", CORPORA)
def test_a_file_of_each_corpus_comes_back_item_for_item(real_data: Path, tmp_path: Path, pattern: str) -> None:
    path = sorted(real_data.glob(pattern))[-1]
    before = stimuli.read(path)
    assert stimuli.write(before, tmp_path / path.name, format=CORPORA[pattern][0]) == []
    assert stimuli.read(tmp_path / path.name) == before


def test_blimp_is_written_with_the_fields_it_was_read_from(real_data: Path, tmp_path: Path) -> None:
    for path in sorted((real_data / "blimp").glob("*.jsonl"))[::9]:
        stimuli.write(stimuli.read(path), tmp_path / path.name, format="blimp")
        assert [json.loads(x) for x in lines(tmp_path / path.name)] == [json.loads(x) for x in lines(path)]


def test_each_word_that_turblimp_gives_is_marked_or_reported(real_data: Path) -> None:
    paths = sorted((real_data / "turblimp" / "data").glob("*/*.csv"))
    materials, findings = stimuli.examine(*paths)
    named = Counter()
    for path in paths:
        for row in rows(path, ";" if path.parent.name == "base" else ","):
            for member in ("good", "bad"):
                named["cue"] += row[f"{member}_cue"].strip() not in ("", "-", "∅")
                named["critical"] += row["critical_region"].strip() not in ("", "-", "∅")
    marked = Counter(r.name for item in materials.items for s in item.sentences.values() for r in s.regions)
    missed = Counter(f.message.split()[1] for f in findings)
    assert marked + missed == named
    assert Counter(f.rule for f in findings) == {"region-not-found": 218, "region-ambiguous": 126}


def test_suites_have_the_regions_and_formulas_of_their_files(real_data: Path) -> None:
    for path in sorted((real_data / "syntaxgym").glob("*.json")):
        suite = json.loads(path.read_text(encoding="utf-8"))
        materials = stimuli.read(path)
        assert list(materials.paradigms[0].predictions) == [p["formula"] for p in suite["predictions"]]
        for item, given in zip(materials.items, suite["items"], strict=True):
            for condition in given["conditions"]:
                sentence = item.sentences[condition["condition_name"]]
                contents = [region["content"].strip() for region in condition["regions"]]
                assert [sentence.text[r.start : r.end] for r in sentence.regions] == contents
                assert sentence.text == " ".join(filter(None, contents))
                assert [int(r.name.split()[0]) for r in sentence.regions] == [
                    region["region_number"] for region in condition["regions"]
                ]
