"""docs/papers.md: its commands run as they stand, and what it names is there, for as many results as the papers have."""

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click
import pandas as pd
import pytest

from gardenpath import analysis, study
from gardenpath.cli.main import cli

from ..conftest import ROOT, run_here
from .paper_folders import FOLDERS, PARADIGM

INTRODUCTION, *SECTIONS = (ROOT / "docs" / "papers.md").read_text("utf-8").split("\n## ")
ROWS = {  # of each paper: where, result, by
    section.split(" ", 1)[0]: [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("| ")][1:]
    for section in SECTIONS
}
MODELS = {"M": "ngram:corpus.txt:3", "N": "ngram:corpus.txt:1"}
NETWORK = {"M": "gpt2", "N": "gpt2"}  # a folder of that name: a small network, where an n-gram model will not do
NEEDS_NETWORK = ("--unigrams", "--protocol", " judge ")
NOT_RUN = {
    "gardenpath serve STUDY": "waits for participants; tests/experiment/test_serve.py",
    "gardenpath generate en/blimp.toml -n 1000 --seed 1 -o generated.jsonl": "tests/stimuli/test_grammar_english.py has 67,000 pairs",
    "gardenpath evaluate ITEMS --model M --quantization 4bit -o R": "needs bitsandbytes and its graphics card",
}
NONE = pd.Series(dtype=object)
WITHOUT_RESULT = {
    "new",
    "select",
    "split",
    "norm",
    "simulate",
    "lab",
    "links",
    "forget",
    "backup",
    "prolific",
    "export",
    "report",
    "multiverse",
    "bundle",
    "plan",
    "pool",
    "preregister",
    "deviations",
    "demo",
    "maze",
    "sweep",
}


def codes(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def commands(text: str) -> list[str]:
    return [code for code in codes(text) if code.startswith("gardenpath ")]


def named(by: str) -> list[str]:
    """Return the tables that a row names."""
    return [name for names in re.findall(r"tables? ((?:`\w+`(?:, | and )?)+)", by) for name in codes(names)]


def files(folder: Path, table: str) -> list[Path]:
    return sorted(folder.rglob(f"{table}.csv"))


def read(folder: Path, table: str) -> pd.DataFrame:
    """Return all that was written of a table, which may be nothing."""
    return pd.concat([pd.DataFrame(), *map(pd.read_csv, files(folder, table))])


def run(line: str, folder: Path) -> str:
    """Run a command of the page; return what is wrong with it, if anything."""
    if line in NOT_RUN:
        return ""
    network = any(option in line for option in NEEDS_NETWORK)
    if network and importlib.util.find_spec("transformers") is None:
        return ""
    for letter, model in (NETWORK if network else MODELS).items():
        line = line.replace(f"--model {letter} ", f"--model {model} ")
    line = line.replace("--paradigm P ", f"--paradigm {PARADIGM} ")
    if "--model gpt2" in line and not (folder / "gpt2").exists():
        from ..lmscore.conftest import gpt2

        gpt2(folder / "gpt2", window=512)
    done = run_here(line if " -o " not in line and " design " not in line else f"{line} --force", folder)
    return f"{line}: exit code {done.code}, {done.said[-300:]}" if done.code else ""


def faults(folder: Path, rows: list[list[str]]) -> Iterator[str]:
    """Run the commands of each row, and say what of it is not there afterwards."""
    for where, _, by in rows:
        for path in (path for table in named(by) if commands(by) for path in files(folder, table)):
            path.unlink()
        for line in commands(by):
            yield run(line, folder)
        written = {table: read(folder, table) for table in named(by)}
        yield from (f"{where}: no rows of {table}" for table, rows_of in written.items() if not len(rows_of))
        for table, listed in re.findall(r"table `(\w+)`: ((?:`\w+`(?:, )?)+)", by):
            yield from (f"{where}: no {column}" for column in codes(listed) if not written[table].get(column, NONE).any())
        for level in re.findall(r"level `([^`]+)`", by):
            if level not in set(written["rating_correlations"].get("level", NONE)):
                yield f"{where}: no level {level}"
        if "--rating-measure rating" in by and {*written["rating_correlations"]["rating_measure"]} != {"rating"}:
            yield f"{where}: not of ratings as given"
        for region in re.findall(r"`(critical\S+)`", by):
            if region not in set(read(folder, "effects").get("region", NONE)):
                yield f"{where}: no region {region}"


def test_every_result_has_a_row_and_those_to_come_are_counted() -> None:
    assert {paper: len(rows) for paper, rows in ROWS.items()} == {"BLiMP-NL": 29, "BLiMP": 14, "Ide": 13, "MultiBLiMP": 12}
    to_come = sum("not yet" in by for rows in ROWS.values() for *_, by in rows)
    verb = "is" if to_come == 1 else "are"
    assert f'Of {sum(map(len, ROWS.values()))} results {to_come} {verb} "not yet" there' in INTRODUCTION


@pytest.mark.parametrize("paper", ROWS)
def test_the_commands_of_a_paper_give_the_tables_it_names(paper: str, tmp_path: Path) -> None:
    FOLDERS[paper](tmp_path)
    begun = [run(line, tmp_path) for line in commands(INTRODUCTION) if " A " not in line or (tmp_path / "A").exists()]
    assert [fault for fault in (*begun, *faults(tmp_path, ROWS[paper])) if fault] == []
    if paper == "BLiMP-NL":
        of_people = study.read(tmp_path / "R", "effects")
        assert len(analysis.compute_usable_phenomena(study.read(tmp_path / "R", "accuracy"), of_people)) == 3
    if paper == "MultiBLiMP":  # from the columns of the published tables
        terms = {*read(tmp_path, "score_difference_regressions")["term"]}
        assert {"distance", "congruent", "incongruent", "frequency"} <= terms


def test_a_row_says_by_what_it_is_given_or_why_it_is_not() -> None:
    for rows in ROWS.values():
        for where, _, by in rows:
            assert codes(by) or "not yet" in by or "left out on purpose" in by or by.strip() == "the same", where


def test_a_command_gives_a_result_of_the_papers_or_is_known_to_give_none() -> None:
    """A new command comes onto the page, and so is run above, or into the list here."""
    page = "\n".join([INTRODUCTION, *SECTIONS])
    assert {line.split()[1] for line in commands(page)} | WITHOUT_RESULT == {*cli.list_commands(click.Context(cli))}
    assert {*NOT_RUN} <= {*commands(page)}


def test_functions_and_keys_of_the_page_are_there() -> None:
    keys = {field.name for field in fields(study.AnalysisSection)}
    for code in codes("\n".join(SECTIONS)):
        if match := re.match(r"analysis\.(\w+)", code):
            assert match[1] in keys or hasattr(analysis, match[1]), code
