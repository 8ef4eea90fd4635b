"""Long tables of another lab become ours by a mapping, with nothing guessed and everything said."""

import logging
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import experiment, study

GRODNER = Path(__file__).parent / "grodner-gibson-2005.toml"
ITEMS = Path(__file__).parent / "fixtures" / "qualtrics" / "items.csv"

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


def test_stated_positions_are_kept_and_gaps_are_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    readings = imported(tmp_path)
    assert readings["word"].tolist() == [8, 10, 0, 1]
    assert readings["region"].fillna("").tolist() == ["", "critical", "", ""]
    assert readings["rt"].tolist() == [300, 310, 320, 330.5]
    assert "9 words have no row and count as not read, first word 0 of item 1, a, session 1" in caplog.text


FIVE = ["Nobody", "has", "ever", "come,", "you"]  # of six words
TEXTS = MAPPING.replace('rt = "RT"', 'rt = "RT"\ntext = "text"')


def read_words(
    tmp_path: Path, positions: list[int], texts: list[str] | None = None, first: int | None = None
) -> dict[str, pd.DataFrame]:
    """Return the tables of one trial of the item of six words, and of one that is there as a whole."""
    rows = [f"1,1,grammatical,{n},{300 + n},{texts[k] if texts else ''}" for k, n in enumerate(positions)]
    (tmp_path / "rt.csv").write_text("\n".join(["subj,item,cond,pos,RT,text", *rows]).replace("come,", '"come,"') + "\n")
    (tmp_path / "map.toml").write_text((f"first_word_position = {first}\n" if first is not None else "") + TEXTS)
    return experiment.collect(tmp_path / "rt.csv", platform="table", mapping=tmp_path / "map.toml", materials=ITEMS)


@pytest.mark.parametrize("texts", [["Nobody", "has", "come,", "you"], None], ids=["texts", "positions alone"])
def test_a_word_without_a_row_costs_no_other_word_of_the_trial(
    texts: list[str] | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    readings = read_words(tmp_path, [1, 2, 4, 5, 6][: len(texts or [0] * 5)], texts)["readings"]
    assert readings["word"].tolist() == [0, 1, 3, 4, 5][: len(readings)]
    assert readings["text"].tolist() == ["Nobody", "has", "come,", "you", "know."][: len(readings)]
    assert "count as not read, first word 2 of item 1, grammatical" in caplog.text


def test_a_text_at_another_position_than_its_own_leaves_the_trial_out(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match="word 2 is 'come,', expected 'ever'"):
        read_words(tmp_path, [1, 2, 3, 4], ["Nobody", "has", "come,", "you"])


def test_where_numbers_do_not_say_which_word_the_mapping_is_asked(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match=r"\(column 'pos'\) begin at 3; state in the mapping .* first_word_position = 1  or"):
        read_words(tmp_path, [3])
    with pytest.raises(study.DataError, match="begin at 1, and counted from there nobody read a sentence's last word"):
        read_words(tmp_path, [1, 2, 3, 4, 5])
    assert read_words(tmp_path, [1, 2, 3, 4, 5], FIVE)["readings"]["word"].tolist() == [0, 1, 2, 3, 4]
    assert read_words(tmp_path, [3], first=1)["readings"][["word", "text", "region"]].values.tolist() == [[2, "ever", "critical"]]
    assert read_words(tmp_path, [1, 2, 3, 4, 5], first=0)["readings"]["text"].tolist()[0] == "has"
    with pytest.raises(study.DataError, match="the word's position is 0, expected a whole number from 1"):
        read_words(tmp_path, [0, 1], first=1)


@pytest.mark.parametrize("first", [0, 1])
def test_texts_of_the_materials_say_from_which_number_words_count(
    first: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever word is the first of which there is a row."""
    for begin in (1, 2):
        texts = FIVE[begin:]
        positions = [n + first for n in range(begin, len(FIVE))]
        readings = read_words(tmp_path, positions, texts)["readings"]
        assert list(zip(readings["word"], readings["text"], strict=True)) == [*enumerate(FIVE)][begin:]
    assert f"by its texts, and those of the materials, a sentence's first word has the number {first}" in caplog.text


def test_texts_that_stand_nowhere_leave_the_question(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match="positions of words begin at 3, and no materials have its texts at them"):
        read_words(tmp_path, [3, 4], ["come,", "you"][::-1])


def test_files_that_count_from_different_numbers_are_asked_about(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name, first in {"a": 0, "b": 1}.items():
        rows = "".join(f"{name},1,a,{n + first},300\n" for n in range(3))
        (tmp_path / "data" / f"{name}.csv").write_text("subj,item,cond,pos,RT\n" + rows)
    (tmp_path / "map.toml").write_text(MAPPING)
    with pytest.raises(study.DataError, match=r"begin at 0 in .*a\.csv and at 1 in .*b\.csv; state in the mapping"):
        experiment.collect(tmp_path / "data", platform="table", mapping=tmp_path / "map.toml")


def test_a_table_of_regions_alone_has_the_words_of_the_materials(tmp_path: Path) -> None:
    table = "subj,item,cond,roi,RT\n1,1,grammatical,critical,412\n"
    (tmp_path / "rt.csv").write_text(table)
    (tmp_path / "map.toml").write_text(WHO + 'region = "roi"\nrt = "RT"\n')
    given = {"platform": "table", "mapping": tmp_path / "map.toml"}
    readings = experiment.collect(tmp_path / "rt.csv", **given, materials=ITEMS)["readings"]
    assert readings[["word", "text", "region", "rt"]].values.tolist() == [[2, "ever", "critical", 412]]
    with pytest.raises(study.DataError, match="names regions and no positions of words; give the materials"):
        experiment.collect(tmp_path / "rt.csv", **given)
    (tmp_path / "rt.csv").write_text(table.replace("critical", "verb"))
    with pytest.raises(study.DataError, match="region 'verb' is 0 words, expected one; name the column"):
        experiment.collect(tmp_path / "rt.csv", **given, materials=ITEMS)


def test_what_the_file_does_not_hold_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "gardenpath"):
        readings = imported(tmp_path)
    assert "holds no readings.text, readings.rt_onset, sessions.slot" in caplog.text
    assert "holds no trial" in caplog.text
    assert readings["text"].isna().all()


def tables_of(folder: Path, table: str, mapping: str):  # type: ignore[no-untyped-def]
    (folder / "table.csv").write_text(table)
    (folder / "map.toml").write_text(mapping)
    return experiment.collect(folder / "table.csv", platform="table", mapping=folder / "map.toml")


WHO = '[columns]\nparticipant = "subj"\nitem = "item"\ncondition = "cond"\n'


def test_a_table_of_ratings_becomes_responses(tmp_path: Path) -> None:
    mapping = WHO + 'response = "score"\ntask = "what"\nprompt = "ask"\nrt = "time"\nrole = "type"\n\n[units]\nrt = "s"\n'
    table = (
        "subj,item,cond,what,ask,score,time,type\n"
        "1,1,a,rating,acceptability,6,1.25,target\n"
        "1,1,a,question,who,yes,2,target\n"
        "1,2,b,rating,acceptability,2.5,,filler\n"
    )
    made = tables_of(tmp_path, table, mapping)
    assert made["responses"][["trial", "role", "item", "task", "prompt", "response"]].values.tolist() == [
        [0, "target", "1", "rating", "acceptability", "6"],
        [0, "target", "1", "question", "who", "yes"],
        [1, "filler", "2", "rating", "acceptability", "2.5"],
    ]
    assert made["responses"]["rt"].fillna(-1).tolist() == [1250, 2000, -1]
    assert len(made["readings"]) == 0
    assert made["sessions"]["n_trials"].tolist() == [2]


def test_answers_stand_in_rows_of_their_own_or_in_cells_that_rows_repeat(tmp_path: Path) -> None:
    mapping = (
        MAPPING
        + """
[[responses]]
task = "question"
where = { pos = "?" }
columns = { response = "RT", correct = "ok" }

[[responses]]
task = "rating"
prompt = "naturalness"
columns = { response = "nat" }
"""
    )
    table = "subj,item,cond,pos,RT,ok,nat\n1,1,a,1,300,,5\n1,1,a,2,310,,5\n1,1,a,?,no,1,\n"
    made = tables_of(tmp_path, table, mapping)
    assert made["readings"]["rt"].tolist() == [300, 310]
    assert made["responses"][["task", "prompt", "response"]].values.tolist() == [
        ["question", "question", "no"],
        ["rating", "naturalness", "5"],
    ]
    assert made["responses"]["correct"].fillna(False).tolist() == [True, False]
    with pytest.raises(study.DataError, match="the rows of one trial answer naturalness by '4' and '5'; expected one"):
        tables_of(tmp_path, table.replace("310,,5", "310,,4"), mapping)


def test_rows_are_left_out_and_cells_carried_and_missing_as_declared(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mapping = (
        'missing_values = ["NA"]\nfill_down = ["item"]\nseparator = ";"\n'
        + MAPPING
        + '\n[[exclude_rows]]\nwhere = { cond = "practice" }\nreason = "practice sentences"\n'
    )
    table = "subj;item;cond;pos;RT\n1;p;practice;1;200\n1;1;a;1;300\n1;;a;2;NA\n"
    with caplog.at_level(logging.INFO, "gardenpath"):
        readings = tables_of(tmp_path, table, mapping)["readings"]
    assert readings["item"].tolist() == ["1", "1"]
    assert readings["rt"].fillna(-1).tolist() == [300, -1]
    assert "left out 1 rows where {'cond': 'practice'}: practice sentences" in caplog.text


def test_labels_are_kept_unless_a_key_is_named(tmp_path: Path) -> None:
    imported(tmp_path)
    given = {"platform": "table", "mapping": tmp_path / "map.toml"}
    assert set(experiment.collect(tmp_path / "rt.csv", **given)["sessions"]["participant"]) == {"1", "2"}
    hashed = experiment.collect(tmp_path / "rt.csv", **given, key=tmp_path / "key")["sessions"]["participant"]
    assert all(len(name) == 16 for name in hashed)


FAULTS = {
    "a missing column": (
        TABLE.replace("cond", "condition"),
        MAPPING,
        "column 'cond' is missing; the file has subj, item, condition",
    ),
    "a doubled column": (TABLE.replace("subj,item", "item,item"), MAPPING, "column 'item' occurs 2 times"),
    "another separator": (
        TABLE.replace(",", ";"),
        MAPPING,
        "column 'cond' is missing; the file has subj;item;cond;pos;RT (separated by semicolon? state  separator = ",
    ),
    "a missing value that is not declared": (
        TABLE.replace("330.5", "NA"),
        MAPPING,
        """line 5: rt is 'NA', expected a number; for a missing value state  missing_values = ["NA"]""",
    ),
    "a file cut short": (TABLE[:-7], MAPPING, "line 5: 4 cells, expected 5 as in the header; the file is cut short"),
    "a header alone": (TABLE[:22], MAPPING, "the file holds no rows"),
    "an empty file": ("", MAPPING, "rt.csv: the file is empty; expected data of table"),
    "a role that is none": (TABLE, MAPPING.replace('rt = "RT"', 'rt = "RT"\nrole = "cond"'), "role is 'a', expected one of target"),
    "an error of a spreadsheet": (TABLE.replace("330.5", "#NAME?"), MAPPING, "line 5: #NAME?: an error of a spreadsheet"),
    "a unit that is none": (TABLE, MAPPING + '[units]\nrt = "sec"\n', "units.rt: 'sec' is not a unit; expected ms or s"),
    "a word read twice": (TABLE + "2,1,b,2,9\n", MAPPING, "line 6: participant 2 reads position 2 of item 1 a second time"),
    "a time that is none": (TABLE.replace("330.5", "fast"), MAPPING, "line 5: rt is 'fast', expected a number"),
    "a position that is none": (
        TABLE.replace("b,2,", "b,two,"),
        MAPPING,
        "line 5: the word's position is 'two', expected a number",
    ),
    "a mapping without a column": (TABLE, MAPPING.replace('rt = "RT"', ""), "columns: 'rt' is missing"),
    "an answer without a response": (
        TABLE,
        MAPPING + '[[responses]]\ntask = "question"\ncolumns = { correct = "RT" }\n',
        "the question has no column for its response; expected  columns = { response = ... } (where a file says no more",
    ),
    "a mapping with a misspelt part": (TABLE, MAPPING.replace("[columns]", "[colums]"), "did you mean 'columns'?"),
}


@pytest.mark.parametrize(("table", "mapping", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_named(tmp_path: Path, table: str, mapping: str, message: str) -> None:
    with pytest.raises(study.DataError) as caught:
        imported(tmp_path, table, mapping)
    assert message in str(caught.value)


@pytest.mark.data
def test_grodner_and_gibson_2005_are_imported_with_a_declared_repair(real_data: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = real_data / "grodner-gibson-2005" / "GrodnerGibson2005E1.csv"
    with caplog.at_level(logging.INFO, "gardenpath"):
        readings = experiment.collect(source, platform="table", mapping=GRODNER)["readings"]
    assert len(readings) == 10_332
    assert readings["participant"].nunique() == 42
    assert readings["item"].nunique() == 16
    assert (readings["region"] == "critical").sum() == 672
    # Position 10 is there in one item alone.
    assert readings.groupby("item")["word"].agg(lambda w: 9 in set(w)).sum() == 1
    assert "630 words have no row and count as not read" in caplog.text
    assert "repaired 1 rows" in caplog.text
    assert "CR only" in caplog.text


@pytest.mark.data
def test_lost_sentences_are_stood_in_for_by_items_with_as_many_words(real_data: Path, tmp_path: Path) -> None:
    """As docs/import.md says: the table of items is there, and the regions are those that the mapping names."""
    source = real_data / "grodner-gibson-2005" / "GrodnerGibson2005E1.csv"
    bare = experiment.collect(source, platform="table", mapping=GRODNER)["readings"]
    lines = ["paradigm,phenomenon,item,condition,factors,sentence"]
    for (item, condition), length in (bare.groupby(["item", "condition"])["word"].max() + 1).items():
        verb = 5 if condition == "objgap" else 3
        words = " ".join(f"[w{n}]" if n == verb else f"w{n}" for n in range(length))
        levels = '"relative: subjgap, objgap"' if len(lines) == 1 else ""
        lines.append(f"relative_clauses,relative_clauses,{item},{condition},{levels},{words}")
    (tmp_path / "items.csv").write_text("\n".join(lines) + "\n")
    tables = experiment.collect(source, platform="table", mapping=GRODNER, materials=tmp_path / "items.csv")
    assert len(tables["items"]) == 32
    assert tables["conditions"]["level"].unique().tolist() == ["subjgap", "objgap"]
    same = ["participant", "item", "condition", "word", "rt", "region"]
    assert tables["readings"][same].equals(bare[same])


@pytest.mark.data
def test_jaeger_2015_is_imported_with_its_words_and_questions(real_data: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = real_data / "jaeger-2015" / "expt1fulldata.txt"
    cells = [line.replace('"', "").split() for line in source.read_text("utf-8").splitlines()[1:]]
    asked = [row for row in cells if row[5] == "?"]
    read = [row for row in cells if row[5] != "?"]
    tables = experiment.collect(source, platform="table", mapping=GRODNER.parent / "jaeger-2015.toml")
    readings, responses = tables["readings"], tables["responses"]
    assert len(readings) + len(responses) == 6_780
    assert len(responses) == len(asked) == 600
    assert readings["participant"].nunique() == 60
    assert readings["item"].nunique() == 20
    assert sorted(readings["rt"]) == sorted(float(row[8]) for row in read)
    assert max(readings["rt"].max(), responses["rt"].max()) == 40_255
    assert sorted(readings["text"]) == sorted(row[6] for row in read)
    assert responses["correct"].sum() == sum(row[7] == "1" for row in asked) == 492


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
