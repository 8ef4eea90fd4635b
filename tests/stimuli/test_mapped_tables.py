"""Tables of other labs, read by a mapping file."""

import logging
from pathlib import Path

import pytest

from gardenpath import stimuli, study

from ..conftest import run_here

LAB = """StimNr;Struktur;Belebtheit;Reg1;Reg2;Reg3;Cloze;Condition_old
1;SR;an;Der Mann, der;die Frau sah,;lachte.;0.4;x
1;SR;in;Der Mann, der;den Ball [sah],;lachte.;0.1;x
X9;SR;an;Test;test;test;1;z

1;OR;an;Der Mann, den;die Frau sah,;lachte.;NA;x
1;OR;in;Der Mann, den;der Ball traf,;lachte.;0.3;x
F01;-;-;Die Sonne;scheint;hell.;5;y
"""
MAP = """
missing_values = ["NA", "-"]
[columns]
item = "StimNr"
condition = ["Struktur", "Belebtheit"]
sentence = ["Reg1", "Reg2", "Reg3"]
critical = "Reg2"
[constants]
paradigm = "rc"
phenomenon = "relative clauses"
language = "de"
factors = "structure: SR, OR | animacy: an, in"
[roles]
filler = "F[0-9]+"
[[exclude_rows]]
where = { StimNr = "X9" }
reason = "practice"
[[repairs]]
where = { Reg2 = "der Ball traf," }
set = { Reg2 = "der Ball rollte," }
reason = "as shown"
"""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "lab.csv").write_text(LAB, encoding="utf-8")
    (tmp_path / "map.toml").write_text(MAP, encoding="utf-8")
    return tmp_path


def test_a_table_of_another_lab_is_read_by_a_mapping(lab: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        read = stimuli.read(lab / "lab.csv", mapping=lab / "map.toml")
    item, filler = read.items
    assert (filler.id, filler.paradigm, [*filler.sentences], filler.language) == ("F01", "filler", ["only"], "de")
    assert [*item.sentences] == ["SR.an", "SR.in", "OR.an", "OR.in"]
    assert item.sentences["SR.in"].text == "Der Mann, der den Ball [sah], lachte."
    assert [w.text for w in item.sentences["OR.in"].list_region_words("critical")] == ["der", "Ball", "rollte,"]
    assert [region.name for region in item.sentences["OR.in"].regions] == ["Reg1", "critical", "Reg3"]
    assert item.extra == {"Cloze (SR.an)": "0.4", "Cloze (SR.in)": "0.1", "Cloze (OR.in)": "0.3"}
    assert read.find_source_line("1", "OR.an").line == 6
    assert read.find_source_line("1", "OR.in").line == 7
    for said in ("left out 1 rows", "repaired 1 rows", "names are nearly ours: Condition_old"):
        assert said in caplog.text
    table = stimuli.compute_covariates(read, ["Cloze"])
    assert table["value"].fillna(-1).tolist() == [0.4, 0.1, -1, 0.3, 5]


def test_the_language_of_another_lab_is_not_guessed(lab: Path) -> None:
    """Unless somebody states it: in the mapping, by the command, or in study.toml."""
    (lab / "map.toml").write_text(MAP.replace('language = "de"\n', ""), encoding="utf-8")
    assert {one.language for one in stimuli.read(lab / "lab.csv", mapping=lab / "map.toml").items} == {"und"}
    for stated, language in (("", "und"), (" --language de-AT", "de-AT")):
        ran = run_here(f"gardenpath convert lab.csv lab.csv.jsonl --mapping map.toml --force{stated}", lab)
        assert ran.code == 0, ran.said
        assert {one.language for one in stimuli.read(lab / "lab.csv.jsonl").items} == {language}
    assert {one.language for one in stimuli.read(lab / "lab.csv.jsonl", language="nl").items} == {"de-AT"}


def test_a_table_of_fillers_needs_no_conditions_and_one_of_items_does(tmp_path: Path) -> None:
    rows = ["paradigm,phenomenon,item,sentence", "filler,filler,f1,The cat slept.", "filler,filler,f2,The dog barked."]
    (tmp_path / "fillers.csv").write_text("\n".join(rows))
    assert [[*item.sentences] for item in stimuli.read(tmp_path / "fillers.csv").items] == [["only"], ["only"]]
    (tmp_path / "items.csv").write_text("\n".join([*rows, "filler,filler,f2,The dogs barked."]))
    with pytest.raises(study.DataError, match=r"line 1: column 'condition' is missing; .* only where each item is one"):
        stimuli.read(tmp_path / "items.csv")


def test_a_table_of_unknown_columns_is_told_of_mappings(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("Ítem,Oración\n1,El gato durmió.\n")
    with pytest.raises(study.DataError, match="a table with other columns is read by a mapping file"):
        stimuli.read(tmp_path / "items.csv")


def test_a_mapping_in_commands_and_in_study_toml(lab: Path) -> None:
    assert run_here("gardenpath convert lab.csv lab.jsonl --mapping map.toml", lab).code == 0
    assert stimuli.read(lab / "lab.jsonl") == stimuli.read(lab / "lab.csv", mapping=lab / "map.toml")
    assert run_here("gardenpath check lab.csv --mapping map.toml", lab).code == 0
    more = [
        line.replace("1;", f"{n};", 1).replace("Mann", f"Mann {n}")
        for n in (2, 3, 4)
        for line in LAB.splitlines()
        if line.startswith("1;")
    ]
    (lab / "lab.csv").write_text("\n".join([LAB, *more]), encoding="utf-8")
    (lab / "study.toml").write_text(
        'name = "s"\nlanguage = "de"\nseed = 1\n[materials]\nfiles = ["lab.csv"]\nmapping = "map.toml"\n'
        '[design]\nlists = 4\nfillers = ["filler"]\n'
        "[procedure.tasks.acceptability]\nkind = 'rating'\nprompt = 'Gut?'\nlow = 'nein'\nhigh = 'ja'\n"
    )
    assert run_here("gardenpath check study.toml", lab).code == 0
    ran = run_here("gardenpath design study.toml -o v", lab)
    assert ran.code == 0, ran.said
    roles = {t.role for v in stimuli.design(study.load(lab / "study.toml")) for t in v.trials}
    assert roles == {"target", "filler"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("den;der Ball", "den;der;Ball", "lab.csv, line 7: 9 cells, expected 8"),
        ("Belebtheit", "Struktur", "column 'Struktur' is there twice"),
        ("Reg3;", "Reg4;", "no column 'Reg3' for the sentence"),
        ("hell.", '"hell.', "line 8: a cell is not closed|line 8: a quote opens|line 8"),
        (LAB, "", "lab.csv: an empty file"),
        (LAB, '{"a": 1}\n', "a mapping names the columns of a table"),
        ("1;SR;in", "1;SR;on", "line 3: 1 .SR.on.: condition 'SR.on' is not known"),
    ],
)
def test_what_a_mapping_cannot_make_a_table_of_is_named(lab: Path, old: str, new: str, said: str) -> None:
    (lab / "lab.csv").write_text(LAB.replace(old, new), encoding="utf-8")
    with pytest.raises(study.DataError, match=said):
        stimuli.read(lab / "lab.csv", mapping=lab / "map.toml")
