"""gardenpath extract: what it writes, says and refuses, in one language and in many; and where the pairs go from there."""

import json
import shutil
from pathlib import Path

import pytest

from gardenpath import stimuli, study

from ..conftest import ROOT, run_here

EXAMPLE = ROOT / "examples" / "agreement-pairs"
GERMAN = "gardenpath extract --ud ud --unimorph unimorph --language deu --phenomenon sv-number --minimum 3"
TABLES = ("agreement_tests", "rejected_subjects", "conditions_by_language")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE / "ud", tmp_path / "ud")
    shutil.copytree(EXAMPLE / "unimorph", tmp_path / "unimorph")
    return tmp_path


def test_pairs_pool_and_tables_are_written_with_what_was_read_and_used(folder: Path) -> None:
    ran = run_here(f"{GERMAN} --cap 2 -o pairs", folder)
    assert ran.code == 0, ran.said
    assert "28 pairs, 12 drawn" in ran.said
    assert ran.printed.splitlines()[0].split() == [
        "phenomenon",
        "value",
        "other_value",
        "order",
        "type",
        "certainty",
        "n_found",
        "n_drawn",
    ]
    assert len(stimuli.read(folder / "pairs" / "items.jsonl").items) == 12
    assert len(stimuli.read(folder / "pairs" / "pool.jsonl").items) == 28
    for name in TABLES:
        study.read(folder / "pairs", name)
    said = study.files.read_sidecar(folder / "pairs" / "items.jsonl")
    assert said["seed"] == 1
    assert {*said["inputs"]} >= {"de_garden-ud-test.conllu", "deu"}
    assert said["asked"]["cap"] == 2
    [bank] = said["treebanks"]
    assert (bank["licence"], bank["trees"]) == ("Apache-2.0", 28)
    again = run_here(f"{GERMAN} --cap 2 -o again", folder)
    assert again.code == 0
    for name in ("items.jsonl", "pool.jsonl", *(f"{table}.csv" for table in TABLES)):
        assert (folder / "pairs" / name).read_bytes() == (folder / "again" / name).read_bytes()
    refused = run_here(f"{GERMAN} -o pairs", folder)
    assert refused.code == 2
    assert "exists already" in refused.said


def test_the_pairs_go_on_to_models_and_to_a_study_in_any_language(folder: Path) -> None:
    assert run_here(f"{GERMAN} -o pairs", folder).code == 0
    checked = run_here("gardenpath check pairs/items.jsonl", folder)
    assert checked.code == 0
    assert "0 errors" in checked.said
    (folder / "corpus.txt").write_text("Die Rosen blühen .\nDer Hund schläft .\n" * 3, "utf-8")
    line = "gardenpath evaluate pairs/items.jsonl --model ngram:corpus.txt:2 --measure lp --measure one_prefix -o R"
    assert run_here(line, folder).code == 0
    pairs = study.read(folder / "R", "pairs")
    assert {*pairs["measure"]} == {"lp", "one_prefix"}
    assert {*pairs["language"]} == {"de"}
    assert run_here("gardenpath new choices --kind forced-choice --language de --items pairs/items.jsonl", folder).code == 0
    dealt = run_here("gardenpath design choices/study.toml", folder)
    assert dealt.code == 0
    assert "12 trials" in dealt.printed
    lithuanian = (folder / "pairs" / "items.jsonl").read_text("utf-8").replace('"language": "de"', '"language": "lt"')
    (folder / "lt.jsonl").write_text(lithuanian, "utf-8")
    assert run_here("gardenpath new valia --kind forced-choice --language lt --items lt.jsonl", folder).code == 0
    dealt = run_here("gardenpath design valia/study.toml", folder)
    assert dealt.code == 0
    assert "still in English" in dealt.said


def test_a_licence_is_a_gate(folder: Path) -> None:
    assert run_here(f"{GERMAN} --licence Apache-2.0 -o pairs", folder).code == 0
    refused = run_here(f"{GERMAN} --licence 'CC BY-SA 4.0' -o none", folder)
    assert refused.code == 1
    assert "Apache-2.0" in refused.said
    readme = folder / "ud" / "UD_German-Garden" / "README.md"
    readme.unlink()
    unknown = run_here(f"{GERMAN} --licence Apache-2.0 -o none", folder)
    assert unknown.code == 1
    assert not (folder / "none").exists()
    assert run_here(f"{GERMAN} -o unknown", folder).code == 0


def test_conditions_below_the_minimum_are_named(folder: Path) -> None:
    ran = run_here(f"{GERMAN.replace('--minimum 3', '')} -o pairs", folder)
    assert ran.code == 1
    assert "no condition has 10 pairs, the largest 7; take smaller ones with  --minimum 7" in ran.said
    assert len(stimuli.read(folder / "pairs" / "pool.jsonl").items) == 28


def test_one_language_or_all(folder: Path) -> None:
    ran = run_here("gardenpath extract --ud ud -o pairs", folder)
    assert ran.code == 2
    assert "--language CODE or --all" in ran.said


def test_all_languages_are_counted_and_what_is_done_is_not_done_again(folder: Path) -> None:
    trees = (folder / "ud" / "UD_German-Garden" / "de_garden-ud-test.conllu").read_text("utf-8")
    for name, text in {"UD_Dutch-Copy/nl_copy": trees, "UD_English-Broken/en_broken": trees[:-5]}.items():
        path = folder / "ud" / f"{name}-ud-test.conllu"
        path.parent.mkdir()
        path.write_text(text, "utf-8")
    (folder / "families.csv").write_text("language,family,resource\nde,Germanic,high\nnld,Germanic,low\n")
    line = (
        "gardenpath extract --all --ud ud --unimorph unimorph --phenomenon sv-number --minimum 3 --languages families.csv -o pairs"
    )
    ran = run_here(line, folder)
    assert ran.code == 1
    assert "1 of 3 languages were left out" in ran.said
    assert "en_broken" in ran.said
    counts = study.read(folder / "pairs", "language_counts").set_index(["grouping", "level"])
    assert counts["n_languages"].to_dict() == {
        ("all", "all"): 2,
        ("family", "Germanic"): 2,
        ("resource", "high"): 1,
        ("resource", "low"): 1,
    }
    assert {*study.read(folder / "pairs", "conditions_by_language")["language"]} == {"deu", "nld"}
    written = {path: path.stat().st_mtime_ns for path in folder.glob("pairs/*/*")}
    again = run_here(line, folder)
    assert {path: path.stat().st_mtime_ns for path in folder.glob("pairs/*/*")} == written
    assert again.printed == ran.printed
    (folder / "unimorph" / "deu" / "deu").write_text((folder / "unimorph" / "deu" / "deu").read_text("utf-8") + "\n", "utf-8")
    run_here(line, folder)
    anew = {path.parent.name for path in folder.glob("pairs/*/*") if path.stat().st_mtime_ns != written[path]}
    assert anew == {"deu"}


def test_one_bad_treebank_does_not_take_the_others_of_its_language(folder: Path) -> None:
    broken = folder / "ud" / "UD_German-Broken" / "de_broken-ud-test.conllu"
    broken.parent.mkdir()
    broken.write_text("1\tzu\twenig\n\n", "utf-8")
    ran = run_here(f"{GERMAN} -o pairs", folder)
    assert ran.code == 1
    assert f"{broken.name}, line 1: 3 columns" in ran.said
    assert not (folder / "pairs").exists()
    skipped = run_here(f"{GERMAN} --skip-bad -o pairs", folder)
    assert skipped.code == 0
    assert "left out: " in skipped.said
    assert "28 pairs" in skipped.said
    assert any(
        "3 columns" in reason
        for reason in json.loads((folder / "pairs" / "items.jsonl.meta.json").read_text())["not_taken"].values()
    )
