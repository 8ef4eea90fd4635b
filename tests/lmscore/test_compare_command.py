"""evaluate compares its models with each other, and with those of an earlier run."""

from pathlib import Path

import pandas as pd
from click.testing import CliRunner, Result

from gardenpath.cli.main import cli
from gardenpath.study import DataError, read

CORPUS = "the cat sleeps .\nthe cats sleep .\nthe dog sleeps .\nthe dogs sleep .\na cat sleeps .\n"
PAIRS = [("cat", "sleeps", "sleep"), ("cats", "sleep", "sleeps"), ("dog", "sleeps", "sleep"), ("dogs", "sleep", "sleeps")]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def materials(folder: Path) -> Path:
    lines = ["paradigm,phenomenon,item,condition,sentence"]
    for paradigm in ("p1", "p2"):
        for k, (noun, good, bad) in enumerate(PAIRS):
            lines += [f"{paradigm},agreement,{paradigm}-{k},grammatical,the {noun} [{good}] ."]
            lines += [f"{paradigm},agreement,{paradigm}-{k},ungrammatical,the {noun} [{bad}] ."]
    path = folder / "items.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_models_of_one_run_and_of_an_earlier_one_are_compared(tmp_path: Path) -> None:
    items = materials(tmp_path)
    for name, corpus in (("good", CORPUS), ("poor", CORPUS.replace("cats sleep", "cats sleeps")), ("flat", "the .\na .\n")):
        (tmp_path / name).write_text(corpus)
    models = {name: f"ngram:{tmp_path / name}:2" for name in ("good", "poor", "flat")}
    assert run("evaluate", items, "--model", models["flat"], "-o", tmp_path / "early").exit_code == 0
    assert not (tmp_path / "early" / "model_comparisons.csv").exists()
    told = run("score", items, "--model", models["good"], "-o", tmp_path / "scores")
    assert told.exit_code == 0, told.output
    both = ["--model", models["good"], "--model", models["poor"], "--compare-with", tmp_path / "early"]
    told = run("evaluate", items, *both, "-o", tmp_path / "out")
    assert told.exit_code == 0, told.output
    table = read(tmp_path / "out", "model_comparisons")
    assert len(table) == 3
    pairs = pd.concat([read(tmp_path / "out", "pairs"), read(tmp_path / "early", "pairs")])
    won = {m: (rows["correct"] & ~rows["tie"]).mean() + rows["tie"].mean() / 2 for m, rows in pairs.groupby("model")}
    for row in table.itertuples():
        assert (row.accuracy_a, row.accuracy_b) == (won[row.model_a], won[row.model_b])
    assert "McNemar, these paradigms only" in told.stdout
    assert len(read(tmp_path / "out", "rankings")) == 3
    alone = ["evaluate", items, "--model", models["good"], "--scores", tmp_path / "scores", "-o", tmp_path / "more"]
    told = run(*alone)
    assert told.exit_code == 0, told.output
    assert set(read(tmp_path / "more", "accuracy_bins")["predictor"]) == {"confidence", "length", "perplexity", "lp"}
    assert len(read(tmp_path / "more", "length_bias")) == 1
    doubled = run("evaluate", items, "--model", models["flat"], "--compare-with", tmp_path / "early", "-o", tmp_path / "twice")
    assert isinstance(doubled.exception, DataError)


def test_a_model_that_fails_takes_none_of_the_others_with_it(tmp_path: Path) -> None:
    items = materials(tmp_path)
    (tmp_path / "good").write_text(CORPUS)
    models = ["--model", f"ngram:{tmp_path / 'nothing'}:2", "--model", f"ngram:{tmp_path / 'good'}:2"]
    told = run("evaluate", items, *models, "-o", tmp_path / "out")
    assert told.exit_code == 1
    assert "1 of 2 models could not be used" in str(told.exception)
    [left] = set(read(tmp_path / "out", "pairs")["model"])
    assert left.endswith("good:2")
