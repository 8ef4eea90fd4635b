"""Bad input ends with one or two lines and exit code 1 (the data) or 2 (the call), and leaves nothing half-written."""

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ..conftest import run_here


def run(folder: Path, *words: str) -> tuple[int, str]:
    """Run a command as typed in a folder; return its exit code and what it said on stderr."""
    call = [sys.executable, "-m", "gardenpath.cli.main", *words]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    return done.returncode, done.stderr


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return change


def latin_1(folder: Path) -> None:
    path = folder / "items.csv"
    path.write_bytes(path.read_text().replace("patient's", "café").encode("latin-1"))


CASES: dict[str, tuple[Callable[[Path], object], list[str], int, str]] = {
    "a missing column": (edit("items.csv", ",condition,", ",cond,"), ["check", "items.csv"], 1, ""),
    "an unknown condition": (edit("items.csv", ",ungrammatical,", ",ungramatical,"), ["design", "study.toml"], 1, "line 3: npi-01 (ungramatical): condition 'ungramatical' is not known"),
    "an empty sentence": (edit("items.csv", "{No} student in the seminar has [ever] complained about the weekly readings.", ""), ["design", "study.toml"], 1, "line 2: npi-01 (grammatical): the sentence is empty"),
    "Latin-1 bytes": (latin_1, ["check", "items.csv"], 1, "is not UTF-8 (in Latin-1 it would be 'é')"),
    "a misspelt key": (edit("study.toml", "lists = 3", "lits = 3"), ["design", "study.toml"], 1, "key 'design.lits' is not known; did you mean 'lists'?"),
    "an impossible design": (edit("study.toml", "items = 9", "items = 10"), ["design", "study.toml"], 1, "study.toml: design: 10 items of paradigm npi_ever cannot be split 2:1"),
    "rules that cannot hold together": (edit("study.toml", 'no_adjacent = "paradigm"', 'min_gap = { paradigm = 5 }'), ["design", "study.toml"], 1, "study.toml: ordering, list E1-L1: no order obeys these rules together: two trials of the same paradigm at least 5 positions apart"),
    "no such study": (lambda f: None, ["design", "nothing.toml"], 2, "nothing.toml: there is no such file"),
    "no such materials": (lambda f: None, ["check", "nothing.csv"], 2, "nothing.csv: No such file or directory"),
    "an unknown format": (lambda f: None, ["check", "items.csv", "--format", "xml"], 2, "format 'xml' is not known; expected one of items, source, blimp"),
    "an existing output": (lambda f: None, ["convert", "items.csv", "items.csv"], 2, "items.csv: exists already; give --force"),
    "a model that is none": (lambda f: (f / "model").mkdir(), ["score", "items.csv", "--model", "model", "-o", "scores"], 2, "model"),
    "no data": (lambda f: None, ["collect", "nothing", "-o", "tables"], 2, "nothing: there is no such file or folder"),
    "a mapping without a table": (lambda f: None, ["collect", "x", "--platform", "table", "-o", "t"], 2, "--platform table needs --mapping FILE.toml"),
    "no participants": (lambda f: None, ["simulate", "study.toml", "--participants", "0", "--seed", "1", "-o", "sim"], 2, "0 is not in the range x>=1"),
    "a slip in a command": (lambda f: None, ["analyze", "tables"], 2, "no command 'analyze'; did you mean 'analyse'?"),
    "an unknown command": (lambda f: None, ["xyz"], 2, "no command 'xyz'; expected one of new, generate, "),
    "a slip in an option": (lambda f: None, ["design", "study.toml", "--particpants", "3"], 2, "Did you mean"),
    "no tables": (lambda f: None, ["analyse", "nothing", "-o", "results"], 2, "nothing"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "words", "code", "message"), CASES.values(), ids=CASES.keys())
def test_bad_input_is_explained(
    study_folder: Path, change: Callable[[Path], object], words: list[str], code: int, message: str
) -> None:
    change(study_folder)
    before = sorted(study_folder.rglob("*"))
    done = run_here(shlex.join(["gardenpath", *words]), study_folder)
    assert done.code == code, done.said
    assert message in done.said
    assert "Traceback" not in done.said
    assert sorted(study_folder.rglob("*")) == before, "nothing half-written is left behind"


@pytest.mark.parametrize(
    ("odd", "note"),
    [(lambda t: t.replace("\n", "\r"), "items.csv: "), (lambda t: "\ufeff" + t, "")],
    ids=["CR-only line ends: with a note", "the byte-order mark of every Excel file: without a word"],
)
def test_odd_files_are_read(study_folder: Path, odd: Callable[[str], str], note: str) -> None:
    path = study_folder / "items.csv"
    path.write_bytes(odd(path.read_text()).encode())
    done = run_here("gardenpath check items.csv", study_folder)
    *notes, last = done.said.splitlines()
    assert (done.code, last) == (0, "12 paradigms, 120 items, 240 sentences: 0 errors, 0 warnings, 0 notes, 0 waived")
    assert [line[: len(note)] for line in notes] == [note] * bool(note)


def test_a_port_in_use_is_named(study_folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, said = run(study_folder, "serve", "study.toml", "--port", str(port))
    assert code == 2
    assert f"port {port} on 127.0.0.1: Address already in use; give another with --port" in said
    assert not (study_folder / "data").exists()


def test_a_fault_in_every_line_fills_no_screen(tmp_path: Path) -> None:
    rows = "".join(f"It was {k}.\tIt were {k}.\tone phenomenon {k}\n" for k in range(300))
    (tmp_path / "en.tsv").write_text("grammatical\tungrammatical\tphenomenon\n" + rows)
    ran = run_here("gardenpath convert en.tsv items.jsonl", tmp_path)
    said = ran.said.splitlines()
    assert ran.code == 1
    assert len(said) == 51
    assert said[-1] == "... and 548 more; --debug shows all 598"


def test_debug_shows_the_traceback(study_folder: Path) -> None:
    code, said = run(study_folder, "--debug", "design", "nothing.toml")
    assert code != 0
    assert "Traceback" in said
