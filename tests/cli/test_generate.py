"""gardenpath generate: from a grammar to items that the other commands take."""

import json
from pathlib import Path

import pytest

from ..conftest import ROOT, run_here

GRAMMAR = ROOT / "tests" / "stimuli" / "grammar" / "en" / "grammar.toml"


def test_items_are_written_with_what_they_come_from(tmp_path: Path) -> None:
    line = f"gardenpath generate {GRAMMAR} -n 12 --seed 4 -o items.jsonl --paradigm anaphor_gender --paradigm verb_agreement"
    ran = run_here(line, tmp_path)
    assert ran.code == 0, ran.said
    assert "anaphor_gender: 4779 assignments, 12 items" in ran.printed
    assert "assignments that each line excludes" in ran.printed
    assert "one-prefix" in ran.printed
    meta = json.loads((tmp_path / "items.jsonl.meta.json").read_text())
    assert meta["seed"] == 4
    assert set(meta["grammar"]) >= {"grammar.toml", "nouns.csv"}
    assert meta["rewriting"] == ["a -> an"]
    assert [record["assignments"] for record in meta["paradigms"]] == [4779, 74141760]
    slots = meta["paradigms"][0]["slots"]
    assert slots["R"] == {"category": 3, "restricted": 3, "used": 2}
    before = (tmp_path / "items.jsonl").read_bytes()
    assert "give --force" in run_here(line, tmp_path).said
    assert run_here(f"{line} --force --brief", tmp_path).code == 0
    assert (tmp_path / "items.jsonl").read_bytes() == before


def test_json_all_and_splits(tmp_path: Path) -> None:
    ran = run_here(f"gardenpath generate {GRAMMAR} --all --seed 1 -o all.jsonl --paradigm npi --brief --json", tmp_path)
    [record] = json.loads(ran.printed)["paradigms"]
    assert record["assignments"] == record["items"] + record["collisions"] == 192
    assert "slots" not in record
    ran = run_here(
        f"gardenpath generate {GRAMMAR} --splits train=20,test=5 --seed 1 -o parts.jsonl --paradigm irregular_past --brief",
        tmp_path,
    )
    assert ran.code == 0, ran.said
    items = [json.loads(text) for text in (tmp_path / "parts.jsonl").read_text().splitlines()[1:]]
    assert [item["extra"]["split"] for item in items] == ["train"] * 20 + ["test"] * 5


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("-n 200 --paradigm npi", "line 82: paradigm npi: 200 asked for, but there are 192"),
        ("--all --paradigm verb_agreement", "74141760 assignments are too many to write them all"),
        ("-n 5 --paradigm nip", "unknown paradigm 'nip'; did you mean 'npi'?"),
        ("-n 5 --all", "expected one of -n N, --all and --splits"),
        ("--splits train", "expected names that differ, as in train=800,test=200"),
    ],
)
def test_what_cannot_be_generated_is_said(tmp_path: Path, options: str, says: str) -> None:
    ran = run_here(f"gardenpath generate {GRAMMAR} {options} --seed 1 -o items.jsonl", tmp_path)
    assert ran.code == 2
    assert says in ran.said
    assert not (tmp_path / "items.jsonl").exists()


STUDY = """name = "generated"
title = "Reading sentences"
language = "en"
seed = 7
[materials]
files = ["items.jsonl"]
[design]
lists = 2
[procedure.target]
show = "centred"
ask = ["acceptability"]
[procedure.tasks.acceptability]
kind = "rating"
prompt = "How good does this sentence sound to you?"
low = "very bad"
high = "very good"
points = 7
"""


def test_generated_items_are_checked_dealt_and_served_as_any_others(tmp_path: Path) -> None:
    line = (
        f"gardenpath generate {GRAMMAR} -n 12 --seed 2 -o items.jsonl --paradigm anaphor_gender --paradigm irregular_past --brief"
    )
    assert run_here(line, tmp_path).code == 0
    checked = run_here("gardenpath check items.jsonl --json", tmp_path)
    assert checked.code == 0
    assert not [f for f in json.loads(checked.printed)["findings"] if f["severity"] == "error"]
    (tmp_path / "study.toml").write_text(STUDY)
    assert (ran := run_here("gardenpath design study.toml", tmp_path)).code == 0, ran.said
    assert len(list((tmp_path / "lists").glob("*.json"))) >= 2
    assert (ran := run_here("gardenpath simulate study.toml --participants 4 -o data", tmp_path)).code == 0, ran.said
    assert (ran := run_here("gardenpath collect data -o tables", tmp_path)).code == 0, ran.said
    ran = run_here("gardenpath report study.toml --no-figures -o report.html", tmp_path)
    assert ran.code == 0, ran.said
    page = (tmp_path / "report.html").read_text()
    assert "items.jsonl from grammar.toml" in page
    assert "seed 2: anaphor_gender 12 of 4,779, irregular_past 12 of" in page
