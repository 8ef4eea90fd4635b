"""Files without a word or a row: no command takes them for data and ends well."""

import shutil
from pathlib import Path

import pytest

from ..conftest import run_here

ITEMS = "paradigm,phenomenon,item,condition,sentence\np,p,1,grammatical,The dog [barks].\np,p,1,ungrammatical,The dog [bark].\n"
MAP = '[columns]\nparticipant = "s"\nitem = "item"\ncondition = "condition"\nword = "word"\nrt = "rt"\n'
COMMANDS = (
    "check FILE",
    "convert FILE out.jsonl",
    "evaluate FILE --model pocket -o out",
    "score FILE --model pocket -o out",
    "maze FILE --pseudowords -o out",
    "select FILE --items 1 --covariate letters:critical -o out",
    "split FILE --lists 2 -o out",
    "select items.csv --items 1 --covariate bigram:critical --bigrams FILE -o out",
    "select items.csv --items 1 --covariate n:critical --norm n FILE Word AoA -o out",
    "select items.csv --items 1 --covariate surprisal:critical --scores FILE -o out",
    "check items.csv --mapping FILE",
    "collect FILE -o out",
    "collect FILE --platform table --mapping map.toml -o out",
    "collect FILE --platform pcibex -o out",
    "analyse FILE -o out",
    "align FILE FILE -o out",
    "simulate FILE -o out",
)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_file_without_content_is_no_data(tmp_path: Path, line: str) -> None:
    pytest.importorskip("highspy")
    pytest.importorskip("torch")
    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "map.toml").write_text(MAP)
    for name, content in (("zero.csv", b""), ("spaces.csv", b" \n\t\n"), ("zero.xlsx", b""), ("zero.jsonl", b"")):
        (tmp_path / name).write_bytes(content)
        ran = run_here(f"gardenpath {line.replace('FILE', name)}", tmp_path)
        assert ran.code not in (0, None), (name, ran.printed)
        assert "unexpected" not in ran.said, (name, ran.said)
        assert ran.said.strip(), name


def test_tables_without_rows_are_named(study_folder: Path, tmp_path: Path) -> None:
    for line in ("simulate study.toml --participants 1 --seed 1 -o sessions", "collect sessions -o tables"):
        assert run_here(f"gardenpath {line}", study_folder).code == 0
    for names in (["sessions"], ["items"], ["words"], ["conditions"], ["readings", "responses"]):
        folder = tmp_path / "-".join(names)
        shutil.copytree(study_folder / "tables", folder)
        for name in names:
            path = folder / f"{name}.csv"
            path.write_text(path.read_text().partition("\n")[0] + "\n")
        ran = run_here(f"gardenpath analyse {folder} --seed 1 -o out", tmp_path)
        assert ran.code == 1
        assert [line.partition(": no rows")[0] for line in ran.said.splitlines() if "no rows" in line] == [
            str(folder / f"{name}.csv") for name in names
        ]
