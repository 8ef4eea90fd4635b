"""Tables are checked column by column, and every fault of a table is named at once."""

import csv
import hashlib
import io
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gardenpath import study
from gardenpath.study.formula_columns import add_formula_columns

GOOD = {"paradigm": ["npi", "npi"], "condition": ["a", "b"], "factor": ["f", "f"], "level": ["x", "y"]}

FAULTS = {
    "a missing column": ({k: v for k, v in GOOD.items() if k != "level"}, "column 'level' is missing"),
    "an unknown column": ({**GOOD, "colour": ["r", "g"]}, "column 'colour' is not known"),
    "an empty cell": ({**GOOD, "level": ["x", ""]}, "column 'level', line 3: empty, expected string"),
    "two rows with one key": ({**GOOD, "condition": ["a", "a"]}, "2 rows share a key with another, first lines 2, 3"),
}


@pytest.mark.parametrize(("cells", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_named_with_its_place(cells: dict[str, list[str]], message: str) -> None:
    with pytest.raises(study.DataError, match=message):
        study.check(pd.DataFrame(cells), "conditions")


def test_a_doubled_column_is_named() -> None:
    frame = pd.DataFrame([["npi", "a", "f", "x", "y"]], columns=["paradigm", "condition", "factor", "level", "level"])
    with pytest.raises(study.DataError, match="column 'level' is there 2 times; expected once"):
        study.check(frame, "conditions")


def test_all_faults_of_a_table_come_at_once() -> None:
    frame = pd.DataFrame({"item": ["i"], "condition": ["c"], "word": ["one"], "text": ["x"], "start": [0.5]})
    frame = frame.assign(end=[1], region=[""], length=["?"], zipf=[""])
    with pytest.raises(study.DataError) as caught:
        study.check(frame, "words")
    assert len(caught.value.faults) == 3
    assert "'one', expected int" in str(caught.value)
    assert "'0.5', expected int" in str(caught.value)


def test_columns_come_back_in_declared_order_and_type() -> None:
    frame = study.check(pd.DataFrame(dict(reversed(GOOD.items()))), "conditions")
    assert list(frame.columns) == study.TABLES["conditions"].column_names


@pytest.mark.parametrize("parquet", [False, True])
def test_a_table_is_the_same_after_writing_and_reading(tmp_path: Path, parquet: bool) -> None:
    frame = study.check(pd.DataFrame(GOOD), "conditions")
    study.write(frame, "conditions", tmp_path, command="test", parquet=parquet)
    pd.testing.assert_frame_equal(study.read(tmp_path, "conditions"), frame)


SOME = {
    "phenomenon": ["npi", "npi"], "paradigm": ["ever", "any"], "item": ["i1", "i2"], "measure": "lp", "model": "m", "protocol": "p",
    "score_grammatical": 1.5, "score_ungrammatical": [0.5, 1.5], "correct": [True, False], "tie": [False, True],
}  # fmt: skip


def test_truth_is_written_as_r_reads_it_and_read_however_it_is_written(tmp_path: Path) -> None:
    path = study.write(pd.DataFrame(SOME), "pairs", tmp_path, command="test")
    assert [line.split(",")[-3:-1] for line in path.read_text().splitlines()[1:]] == [["TRUE", "FALSE"], ["FALSE", "TRUE"]]
    for cells in ("TRUE", "FALSE"), ("True", "False"), ("true", "false"), ("1", "0"):
        path.write_text(path.read_text().replace("TRUE", cells[0]).replace("FALSE", cells[1]))
        assert study.read(tmp_path, "pairs")["correct"].tolist() == [True, False]
        path.write_text(path.read_text().replace(f"{cells[0]},{cells[1]}", "TRUE,FALSE"))
        path.write_text(path.read_text().replace(f"{cells[1]},{cells[0]}", "FALSE,TRUE"))


def test_an_empty_truth_stays_empty(tmp_path: Path) -> None:
    rows = {"participant": ["P1", "P2"], "task": "rating", "prompt": "x", "flagged": [True, None]}
    numbers = dict.fromkeys(("n_responses", "n_missing_responses", "n_grammatical", "n_ungrammatical", "n_scored_responses"), 0)
    rest = {name: None for name in study.TABLES["participant_prompts"].column_names if name not in {*rows, *numbers}}
    study.write(pd.DataFrame({**rows, **numbers, **rest}), "participant_prompts", tmp_path, command="test")
    cells = study.table_files.read_csv(tmp_path / "participant_prompts.csv")["flagged"]
    assert cells.tolist() == ["TRUE", ""]
    assert study.read(tmp_path, "participant_prompts")["flagged"].isna().tolist() == [False, True]


@pytest.mark.parametrize("name", study.TABLES)
def test_no_column_hides_behind_a_method_of_a_data_frame(name: str) -> None:
    assert not {*study.TABLES[name].column_names} & {*dir(pd.DataFrame)}


def test_the_sidecar_names_command_lists_inputs_and_seed(tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    source.write_text("x")
    path = study.write(pd.DataFrame(GOOD), "conditions", tmp_path, command="gardenpath x", inputs=[source], seed=3)
    meta = study.files.read_sidecar(path)
    assert meta["command"] == "gardenpath x"
    assert meta["seed"] == 3
    assert meta["inputs"] == {"source.csv": study.files.hash_file(source)}
    assert isinstance(meta["versions"], dict)
    assert {"python", "pandas", "numpy"} <= meta["versions"].keys()


def test_a_sidecar_has_the_hash_that_an_input_has_now(tmp_path: Path) -> None:
    source, output = tmp_path / "given.csv", tmp_path / "made.csv"
    for text in ("a\n", "b\n"):
        study.files.write_text(source, text)
        study.files.write_sidecar(output, command="by hand", inputs=[source])
        hashes = study.files.read_sidecar(output)["inputs"]
        assert hashes == {"given.csv": hashlib.sha256(text.encode()).hexdigest()}


def test_a_ragged_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "conditions.csv"
    path.write_text("paradigm,condition,factor,level\nnpi,a,f,x\nnpi,b,f,y,z\n")
    with pytest.raises(study.DataError, match=r"conditions.csv, line 3: 5 cells, expected 4 as in the header"):
        study.read(tmp_path, "conditions")


CELLS = st.text("a1 '#\\=é𝄞\x0b\u2028\x85", max_size=3) | st.sampled_from(["NA", "nan", "010"])
ROWS = st.integers(2, 4).flatmap(lambda k: st.lists(st.lists(CELLS, min_size=k, max_size=k), min_size=2, max_size=4))


@given(ROWS, st.sampled_from(",;\t"), st.sampled_from(["", "\n"]))
def test_a_file_without_quotes_is_read_as_the_same_file_with_them(rows: list[list[str]], separator: str, end: str) -> None:
    tables = []
    for mark in ("", '"'):
        text = "\n".join(separator.join(f"{mark}{cell}{mark}" for cell in ["h", *row]) for row in rows) + end
        with tempfile.TemporaryDirectory() as folder:
            study.files.write_text(f"{folder}/cells.csv", text)
            tables.append(study.table_files.read_csv(f"{folder}/cells.csv", separator))
    pd.testing.assert_frame_equal(*tables)


def test_a_missing_table_is_named_with_what_a_row_of_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="expected the table 'words' \\(a word of a sentence\\)"):
        study.read(tmp_path, "words")


def trials(*conditions: str) -> pd.DataFrame:
    """Return trials of one participant in these conditions of paradigm `key`."""
    frame = pd.DataFrame({"condition": conditions, "participant": "P1", "paradigm": "key"})
    return frame.assign(trial=range(len(frame)))


def levels(**factors: dict[str, str]) -> pd.DataFrame:
    """Return the table conditions: for each factor its level by condition."""
    rows = [("key", condition, factor, level) for factor, by in factors.items() for condition, level in by.items()]
    return pd.DataFrame(rows, columns=["paradigm", "condition", "factor", "level"])


def test_factors_stand_beside_trials_and_a_pair_has_the_levels_that_both_have() -> None:
    stated = levels(head={"sg.sg": "sg", "sg.pl": "sg", "pl.pl": "pl"}, other={"sg.sg": "sg", "sg.pl": "pl", "pl.pl": "pl"})
    made = add_formula_columns(trials("sg.pl", "sg.sg+sg.pl", "sg.pl+pl.pl", "only"), conditions=stated)
    assert made["head"].fillna("").tolist() == ["sg", "sg", "", ""]
    assert made["other"].fillna("").tolist() == ["pl", "", "pl", ""]
    assert made["log_trial"].tolist() == pytest.approx([0, 0.693147, 1.098612, 1.386294], abs=1e-6)
    assert made["question_accuracy"].isna().all()


def test_question_accuracy_is_of_the_questions_that_a_participant_answered_but_for_practice() -> None:
    rows = [
        ("P1", "question", "target", "yes", True), ("P1", "question", "filler", "no", False), ("P1", "question", "filler", "no", True),
        ("P1", "question", "practice", "no", False), ("P1", "question", "target", None, False), ("P1", "rating", "target", "7", None),
        ("P2", "rating", "target", "7", None),
    ]  # fmt: skip
    responses = pd.DataFrame(rows, columns=["participant", "task", "role", "response", "correct"]).assign(
        trial=0, paradigm="key", condition="a"
    )
    made = add_formula_columns(responses, responses)
    assert made["question_accuracy"].iloc[:-1].tolist() == pytest.approx([2 / 3] * 6)
    assert made["question_accuracy"].isna().iloc[-1]


def test_a_factor_called_condition_is_the_column_of_that_name() -> None:
    alone = add_formula_columns(trials("a", "b"), conditions=levels(condition={"a": "a", "b": "b"}))
    assert [*alone.columns].count("condition") == 1


@pytest.mark.parametrize(
    "name", ["participant", "condition", "region", "log_rt", "position", "function", "noun phrase", "2nd", "_a"]
)
def test_a_factor_that_no_formula_could_name_is_left_out_and_said_so(name: str, caplog: pytest.LogCaptureFixture) -> None:
    made = add_formula_columns(trials("a.x"), conditions=levels(**{name: {"a.x": "a"}, "kind": {"a.x": "x"}}))
    assert made.iloc[0].to_dict().items() >= {"condition": "a.x", "participant": "P1", "kind": "x"}.items()
    assert list(made.columns).count(name) == (name in ("participant", "condition"))
    assert f"factor '{name}' " in caplog.text


@pytest.mark.parametrize("name", ["attractor", "Übereinstimmung", "noun.phrase", "size"])
def test_other_names_are_taken(name: str) -> None:
    assert add_formula_columns(trials("a"), conditions=levels(**{name: {"a": "x"}}))[name].tolist() == ["x"]


def test_factors_are_kept_in_a_table_that_has_them_and_named_in_the_dictionary(tmp_path: Path) -> None:
    names = ("participant", "session", "experiment", "list", "role", "paradigm", "item", "phenomenon", "task")
    place = dict.fromkeys(names, "a")
    row = {**place, "condition": "sg", "trial": 0, "prompt": "p", "rating": 3, "z": None, "log_trial": 0, "question_accuracy": 1}
    study.write(pd.DataFrame([row | {"head": "sg"}]), "rating_scores", tmp_path, command="test")
    back = study.read(tmp_path, "rating_scores")
    assert [*back.columns][-1] == "head"
    assert back["head"].tolist() == ["sg"]
    said = study.table_files.format_data_dictionary({"rating_scores": back}).splitlines()[-1]
    assert said.startswith('rating_scores,"a rating, standardised",head,string,')
    with pytest.raises(study.DataError, match="column 'head' is there 2 times"):
        study.check(pd.concat([back, back[["head"]]], axis=1), "rating_scores")


FORMULAS = ("=HYPERLINK(1)", "+voice", "-voice", "@SUM(1)", "'=quoted", "\t=1", "-", "'-", "''", "- No, he said.")


def test_no_text_of_a_csv_file_begins_a_formula_and_each_comes_back(tmp_path: Path) -> None:
    levels = [*FORMULAS, "-1.5", "+3", "-1e3", "plain", "it's", "'tis"]
    conditions = [f"c{n}" for n in range(len(levels))]
    frame = pd.DataFrame({"paradigm": "p", "condition": conditions, "factor": "f", "level": levels})
    path = study.table_files.write(frame, "conditions", tmp_path, command="by hand")
    with path.open(encoding="utf-8", newline="") as file:
        written = [row["level"] for row in csv.DictReader(file)]
    dangerous = [cell for cell in written if cell[0] in "=+-@\t\r"]
    assert dangerous == ["-1.5", "+3", "-1e3"], "numbers alone"
    assert written[0] == "'=HYPERLINK(1)"
    assert study.table_files.read(tmp_path, "conditions")["level"].tolist() == levels


def test_a_csv_table_is_what_pythons_own_writer_makes_of_its_rows(tmp_path: Path) -> None:
    levels = ["plain", 'a "quoted" word', "one, two", "two\nlines", " ", "1.5", "Ωmega"]
    frame = pd.DataFrame({"paradigm": "p", "condition": list("abcdefg"), "factor": "f", "level": levels})
    path = study.table_files.write(frame, "conditions", tmp_path, command="by hand")
    expected = io.StringIO(newline="")
    csv.writer(expected, lineterminator="\n").writerows([frame.columns, *frame.itertuples(index=False)])
    assert path.read_bytes().decode() == expected.getvalue()
    returned = study.table_files.write(frame.assign(level="a\rb"), "conditions", tmp_path, command="by hand")
    assert study.table_files.read(returned, "conditions")["level"].tolist() == ["a\nb"] * 7


def test_numbers_stay_as_they_are(tmp_path: Path) -> None:
    frame = pd.DataFrame({"model": ["m"], "delta": [-0.5], "answer": ["-7"], "note": pd.Series(["=1"], dtype="category")})
    safe = study.table_files.escape_formulas(frame)
    assert safe.to_csv(index=False) == "model,delta,answer,note\nm,-0.5,-7,'=1\n"
