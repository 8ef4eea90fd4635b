"""Reading times of another lab become `readings` by a mapping, with nothing guessed and everything said."""

import logging
from pathlib import Path

import pytest

from gardenpath import experiment, study

GRODNER = Path(__file__).parent / "grodner-gibson-2005.toml"

MAPPING = """
[columns]
participant = "subj"
item = "item"
condition = "cond"
word = "pos"
rt = "RT"

[[regions]]
name = "critical"
where = { cond = "a", pos = "11" }
"""
TABLE = "subj,item,cond,pos,RT\n1,1,a,9,300\n1,1,a,11,310\n2,1,b,1,320\n2,1,b,2,330.5\n"


def imported(tmp_path: Path, table: str = TABLE, mapping: str = MAPPING):  # type: ignore[no-untyped-def]
    (tmp_path / "rt.csv").write_text(table)
    (tmp_path / "map.toml").write_text(mapping)
    return experiment.collect(tmp_path / "rt.csv", platform="table", mapping=tmp_path / "map.toml")["readings"]


def test_positions_are_numbered_from_0_without_gaps(tmp_path: Path) -> None:
    readings = imported(tmp_path)
    assert readings["word"].tolist() == [0, 1, 0, 1]
    assert readings["region"].fillna("").tolist() == ["", "critical", "", ""]
    assert readings["rt"].tolist() == [300, 310, 320, 330.5]


def test_what_the_file_does_not_hold_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "gardenpath"):
        readings = imported(tmp_path)
    assert "holds no readings.text, readings.rt_onset, sessions.slot" in caplog.text
    assert "holds no trial" in caplog.text
    assert readings["text"].isna().all()


FAULTS = {
    "a missing column": (
        TABLE.replace("cond", "condition"),
        MAPPING,
        "column 'cond' is missing; the file has subj, item, condition",
    ),
    "a doubled column": (TABLE.replace("subj,item", "item,item"), MAPPING, "column 'item' is there 2 times"),
    "a word read twice": (
        TABLE + "2,1,b,2,9\n",
        MAPPING,
        "line 6: participant 2 reads position 2 of item 1 a second time",
    ),
    "a time that is none": (TABLE.replace("330.5", "fast"), MAPPING, "line 5: rt is 'fast', expected a number"),
    "a position that is none": (
        TABLE.replace("b,2,", "b,two,"),
        MAPPING,
        "line 5: the word's position is 'two', expected a number",
    ),
    "a mapping without a column": (TABLE, MAPPING.replace('rt = "RT"', ""), "columns: 'rt' is missing"),
    "a mapping with a misspelt part": (TABLE, MAPPING.replace("[columns]", "[colums]"), "did you mean 'columns'?"),
}


@pytest.mark.parametrize(("table", "mapping", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_named(tmp_path: Path, table: str, mapping: str, message: str) -> None:
    with pytest.raises(study.DataError) as caught:
        imported(tmp_path, table, mapping)
    assert message in str(caught.value)


@pytest.mark.data
def test_grodner_and_gibson_2005_are_imported_with_a_declared_repair(
    real_data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = real_data / "grodner-gibson-2005" / "GrodnerGibson2005E1.csv"
    with caplog.at_level(logging.INFO, "gardenpath"):
        readings = experiment.collect(source, platform="table", mapping=GRODNER)["readings"]
    assert len(readings) == 10_332
    assert readings["participant"].nunique() == 42
    assert readings["item"].nunique() == 16
    assert (readings["region"] == "critical").sum() == 672
    assert readings.groupby(["session", "item", "condition"])["word"].agg(lambda w: w.max() + 1 == len(w)).all()
    assert "repaired 1 rows" in caplog.text
    assert "CR only" in caplog.text


@pytest.mark.data
def test_the_published_contrast_comes_out_of_the_imported_table(real_data: Path) -> None:
    """R: lmer(log(rawRT) ~ c + (1|subject) + (1|item)): .12403, SE .02938, df 614.0, t 4.2216, on 672 rows."""
    import numpy as np

    from gardenpath import analysis

    source = real_data / "grodner-gibson-2005" / "GrodnerGibson2005E1.csv"
    verbs = experiment.collect(source, platform="table", mapping=GRODNER)["readings"].query("region == 'critical'")
    verbs = verbs.assign(log_rt=np.log(verbs["rt"]), relative=np.where(verbs["condition"] == "objgap", 0.5, -0.5))
    fitted = analysis.fit(verbs, "log_rt ~ relative + (1|participant) + (1|item)").set_index("term").loc["relative"]
    assert fitted["n"] == 672
    assert fitted["estimate"] == pytest.approx(0.12403, abs=5e-6)
    assert fitted["se"] == pytest.approx(0.02938, abs=5e-6)
    assert fitted["df"] == pytest.approx(614.0, abs=0.05)
    assert fitted["t"] == pytest.approx(4.2216, abs=5e-5)
    assert not fitted["singular"]
