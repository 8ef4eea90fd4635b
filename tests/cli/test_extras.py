"""Without an extra, what needs it says so in one line; what does not need it works."""

import subprocess
import sys
from pathlib import Path

import pytest


def run_without(modules: list[str], folder: Path, *words: str) -> tuple[int, str]:
    """Run a command in a Python in which these modules cannot be imported, as where their extras are not installed."""
    code = f"import sys; sys.modules |= dict.fromkeys({modules!r}); sys.argv = {['gardenpath', *words]!r}; from gardenpath.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("module", "extra", "words"),
    [
        ("torch", "lm", ["score", "items.csv", "--model", "pocket", "--no-cache", "-o", "scores"]),
        ("transformers", "lm", ["evaluate", "items.csv", "--model", "pocket", "--no-cache", "-o", "results"]),
        ("starlette", "online", ["serve", "study.toml"]),
        ("uvicorn", "online", ["serve", "study.toml"]),
        ("starlette", "online", ["demo"]),
        ("sqlalchemy", "online", ["collect", "sqlite:///x.sqlite", "-o", "tables"]),
        ("pyarrow", "parquet", ["score", "items.csv", "--model", "nothing", "-o", "s", "--parquet"]),
    ],
)
def test_an_absent_extra_is_named_in_one_line(study_folder: Path, module: str, extra: str, words: list[str]) -> None:
    before = sorted(study_folder.rglob("*"))
    code, said = run_without([module], study_folder, *words)
    assert code == 2
    assert said.rstrip().splitlines()[-1].endswith(f"it belongs to the extra '{extra}': pip install 'gardenpath[{extra}]'")
    assert "Traceback" not in said
    assert sorted(study_folder.rglob("*")) == before


def test_lists_are_built_without_any_extra(study_folder: Path) -> None:
    extras = ["torch", "transformers", "starlette", "sqlalchemy", "psycopg", "playwright", "pyarrow", "openpyxl", "psychopy"]
    for words in (["check", "items.csv"], ["design", "study.toml"]):
        code, said = run_without(extras, study_folder, *words)
        assert code == 0, said
