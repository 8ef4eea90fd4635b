"""Surprisal that was computed elsewhere: units, positions and words are held against the materials, and nothing is guessed."""

import json
import logging
import math
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import lmscore, stimuli, study

from ..conftest import run_here

ITEMS = """paradigm,phenomenon,item,condition,factors,sentence
rc,rc,i1,s,"gap: s, o",The [keys] are old.
rc,rc,i1,o,,"Keys, [they] say, rust."
"""
MAPPING = """
first_word_position = 1
[columns]
item = "sentence_id"
condition = "cond"
word = "zone"
text = "token"
surprisal = "gpt2"
[constants]
model = "gpt2"
[units]
surprisal = "nats"
"""
NATS = [2.5, 6.25, 1.0, 4.0, None, 3.0, 2.0, 8.0]  # a first word has none where nothing is fed before it
WORDS = ["the", "keys", "are", "old", "Keys,", "they", "say,", "rust."]


def table(words: list[str] | None = None, nats: list[float | None] | None = None) -> str:
    cells = zip("iiiiiiii", "ssssoooo", [1, 2, 3, 4] * 2, words or WORDS, nats or NATS, strict=True)
    rows = [f'{i}1,{c},{n},"{w}",{"NA" if v is None else v}' for i, c, n, w, v in cells]
    return "\n".join(["sentence_id,cond,zone,token,gpt2", *rows]) + "\n"


def taken(folder: Path, text: str, mapping: str = MAPPING, materials: str = " --materials items.csv"):  # type: ignore[no-untyped-def]
    (folder / "items.csv").write_text(ITEMS)
    (folder / "gpt2.csv").write_text(text)
    (folder / "map.toml").write_text('missing_values = ["NA"]\n' + mapping)
    return run_here(f"gardenpath score gpt2.csv --input-format table --mapping map.toml{materials} -o scores --force", folder)


def test_a_published_table_becomes_the_table_that_score_writes(tmp_path: Path) -> None:
    ran = taken(tmp_path, table())
    assert ran.code == 0, ran.said
    made = study.read(tmp_path / "scores", "surprisal")
    assert made["text"].tolist() == ["The", "keys", "are", "old.", "Keys,", "they", "say,", "rust."]
    assert made["word"].tolist() == [0, 1, 2, 3] * 2
    assert made["region"].fillna("").tolist() == ["", "critical", "", ""] * 2
    assert made["surprisal"].fillna(-1).tolist() == [-1 if v is None else pytest.approx(math.log2(math.e) * v) for v in NATS]
    assert {*made["model"]} == {"gpt2"}
    assert {*made["protocol"]} == {"imported"}
    assert "1 of 8 words have no surprisal" in ran.said
    side = json.loads((tmp_path / "scores" / "surprisal.csv.meta.json").read_text())
    assert {*side["inputs"]} == {"gpt2.csv", "items.csv", "map.toml"}
    assert side["model"]["units"]["surprisal"] == "nats"


@pytest.mark.parametrize(
    ("unit", "value"),
    [("bits", 2.0), ("nats", math.log(4)), ("log10", math.log10(4)), ("ln p", math.log(0.25)), ("log10 p", math.log10(0.25))],
)
def test_every_unit_of_a_probability_of_a_quarter_is_two_bits(unit: str, value: float) -> None:
    row = pd.DataFrame([{"model": "m", "item": "i", "condition": "c", "word": 0, "text": "a", "surprisal": value}])
    assert lmscore.import_surprisal(row, units={"surprisal": unit})["surprisal"].item() == pytest.approx(2)


FAULTS = {
    "no unit": (table(), MAPPING.replace('[units]\nsurprisal = "nats"', ""), "does not say the unit of surprisal"),
    "an unknown unit": (table(), MAPPING.replace("nats", "nits"), "units.surprisal: 'nits' is not a unit; expected bits or nats"),
    "log-probabilities": (table(nats=[-1.0] * 8), MAPPING, "gpt2.csv, line 2: surprisal is -1 nats, which is .* is the unit another?"),
    "words shifted by one": (
        table([*WORDS[1:], "end"]),
        MAPPING,
        r"gpt2.csv, line 2: word 0 \(from 0\) is 'keys', expected 'The': The keys are old.",
    ),
    "counted from 0": (table(), MAPPING.replace("first_word_position = 1", "first_word_position = 0"), r"word 4 \(from 0\) of item i1, s; it has 4 words"),
    "a token a row": (table().replace("i1,s,2", "i1,s,1"), MAPPING, "line 3: word 1 of item i1 is there a second time"),
    "another item": (table().replace("i1,s,2", "i7,s,2"), MAPPING, "line 3: item 'i7' is not in the materials"),
    "no condition": (table(), MAPPING.replace('condition = "cond"\n', ""), "a second time; expected one row a word"),
    "no model": (table(), MAPPING.replace('[constants]\nmodel = "gpt2"\n', ""), "columns: 'model' is missing"),
    "a column that is not there": (table(), MAPPING.replace('"zone"', '"pos"'), "column 'pos' is missing; the file has sentence_id"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "mapping", "said"), FAULTS.values(), ids=FAULTS)
def test_what_a_table_does_not_say_is_asked(text: str, mapping: str, said: str, tmp_path: Path) -> None:
    ran = taken(tmp_path, text, mapping)
    assert ran.code == 1
    assert pd.Series([ran.said]).str.contains(said).all(), ran.said
    assert not (tmp_path / "scores").exists()


def test_without_materials_words_are_the_tables_and_gaps_stay_gaps(tmp_path: Path) -> None:
    text = "\n".join(line for line in table().split("\n") if not line.startswith("i1,s,2"))
    assert taken(tmp_path, text, materials="").code == 0
    made = study.read(tmp_path / "scores", "surprisal")
    assert made["word"].tolist() == [0, 2, 3, 0, 1, 2, 3]
    assert made["text"].tolist() == [word for word in WORDS if word != "keys"]


def test_sentences_without_a_row_and_words_without_one_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = pd.DataFrame({"model": "m", "item": "i1", "condition": "s", "word": [0, 3], "surprisal": 1.0})
    (tmp_path / "items.csv").write_text(ITEMS)
    with caplog.at_level(logging.WARNING, "gardenpath"):
        made = lmscore.import_surprisal(rows, stimuli.read(tmp_path / "items.csv"), units={"surprisal": "bits"})
    assert made["surprisal"].fillna(-1).tolist() == [1, -1, -1, 1]
    assert "2 of 4 words have no surprisal" in caplog.text
    assert "1 of 2 sentences of the materials have no row, the first is i1 (o)" in caplog.text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--input-format table", "--input-format table needs --mapping"),
        ("--input-format table --mapping map.toml --model gpt2", "--model is for scoring by a model"),
        ("--mapping map.toml --model gpt2", "--mapping belongs to --input-format table"),
        ("", "Missing option '--model', or --input-format table"),
    ],
)
def test_options_of_models_and_of_tables_are_kept_apart(options: str, said: str, tmp_path: Path) -> None:
    ran = run_here(f"gardenpath score gpt2.csv {options} -o scores", tmp_path)
    assert ran.code == 2
    assert said in ran.said
