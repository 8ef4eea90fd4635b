"""gardenpath sweep from the command line: prepare, a Slurm array imitated by a shell, status, merge, and what is refused."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from gardenpath import study

from ..conftest import Ran, blocks, run_here

PAIRS = "grammatical\tungrammatical\n" + "".join(
    f"The {a} barks {b}.\tThe {a} bark {b}.\n" for a in ("dog", "cat", "cow") for b in ("now", "here", "again", "loudly")
)
SWEEP = """
store = "store"
measures = ["lp", "mean_lp"]
unit_size = 600
[materials]
en = ["en.tsv"]
nl = ["nl.tsv"]
[[models]]
name = "ngram:small.txt:2"
[[models]]
name = "ngram:small.txt:3"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a sweep of two n-gram models on two languages."""
    (tmp_path / "small.txt").write_text("The dog barks now.\nThe cats bark here.\nThe cow barks loudly again.\n")
    for language in ("en", "nl"):
        (tmp_path / f"{language}.tsv").write_text(PAIRS)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path


def ran(place: Path, line: str, code: int = 0) -> Ran:
    done = run_here(f"gardenpath sweep {line}", place)
    assert done.code == code, done.printed + done.said
    return done


def test_from_a_plan_to_tables_by_a_slurm_array(place: Path) -> None:
    planned = ran(place, "prepare sweep.toml --calibrate 0.1")
    assert "2 models on 2 languages: 4 units" in planned.printed
    assert "calibrated by ngram:small.txt:2" in planned.printed
    script = (place / "slurm" / "cards-0.sh").read_text()
    assert "--gpus-per-task" not in script
    tasks = int(re.search(r"--array=0-(\d+)", script)[1]) + 1  # type: ignore[index]
    line = script.splitlines()[-1].removeprefix("exec gardenpath sweep ")
    assert tasks == 4
    # In whatever order a scheduler takes; one of them is not started at all.
    for task in (2, 0, 1):
        ran(place, shlex.join(shlex.split(line.replace("$SLURM_ARRAY_TASK_ID", str(task)))))
    status = ran(place, "status sweep.toml --json")
    assert [one["n_done"] for one in json.loads(status.printed)] == [2, 1]
    missing = ran(place, "merge sweep.toml -o some", 1)
    assert "ngram:small.txt:3: 1 missing of 2 units (nl)" in missing.said
    assert (place / "some" / "matrix.csv").read_text().splitlines()[-1] == "ngram:small.txt:3,done,missing"
    ran(place, "run sweep.toml")
    assert "100%" in ran(place, "status sweep.toml").printed
    merged = ran(place, "merge sweep.toml -o results")
    assert "4 done (models x languages)" in merged.printed
    pairs = study.read(place / "results", "pairs")
    assert len(pairs) == 2 * 2 * 24
    assert {"language_means", "model_comparisons", "accuracy"} <= {path.stem for path in (place / "results").iterdir()}
    page = (place / "results" / "leaderboard.html").read_text()
    assert page.count("<tbody>") == 2 * 2 + 1
    assert "http" not in page
    run_here("gardenpath evaluate en.tsv --model ngram:small.txt:2 --measure lp --measure mean_lp -o plain", place)
    plain = study.read(place / "plain", "pairs")
    found = pairs[(pairs["model"] == "ngram:small.txt:2") & (pairs["language"] == "en")].reset_index(drop=True)
    assert found.drop(columns="language").equals(plain.drop(columns="language"))


def test_two_processes_and_one_write_the_same_tables(place: Path, full: bool) -> None:
    if not full:
        pytest.skip("the command is run by two workers with --full; tests/lmscore/test_sweeps.py holds their bytes")
    ran(place, "run sweep.toml")
    ran(place, "merge sweep.toml -o one")
    (place / "two.toml").write_text(SWEEP.replace('"store"', '"other"'))
    said = ran(place, "run two.toml --workers 2").said
    assert "4 units done" in said
    assert int(re.search(r"loaded (\d+) times by 2 workers \(at most 4\)", said)[1]) <= 4  # type: ignore[index]
    ran(place, "merge two.toml -o two")
    for table in ("pairs", "accuracy", "language_means", "sweep_coverage"):
        assert (place / "one" / f"{table}.csv").read_bytes() == (place / "two" / f"{table}.csv").read_bytes()


def test_what_is_wrong_is_said_in_a_line(place: Path) -> None:
    assert "there is no manifest" in ran(place, "merge sweep.toml -o x", 2).said
    assert "expected I/N" in ran(place, "run sweep.toml --shard 2/2", 2).said
    assert "--address belongs to --ray" in ran(place, "run sweep.toml --address auto", 2).said
    assert "expected one of 0" in ran(place, "run sweep.toml --gpus 1", 2).said
    ran(place, "prepare sweep.toml --calibrate 0")
    (place / "sweep.toml").write_text(SWEEP.replace('"lp", ', ""))
    assert "prepare it again" in ran(place, "run sweep.toml", 1).said
    (place / "sweep.toml").write_text(SWEEP + 'colour = "red"\n')
    assert "key 'models.1.colour' is not known" in ran(place, "prepare sweep.toml", 1).said
    (place / "sweep.toml").write_text(SWEEP.replace('"nl.tsv"', '"en.tsv"'))
    assert "expected an id of its own" in ran(place, "prepare sweep.toml", 1).said
    (place / "sweep.toml").write_text(SWEEP.replace('"lp"', '"mean"'))
    assert "measures has 'mean'" in ran(place, "prepare sweep.toml", 1).said
    (place / "sweep.toml").write_text(SWEEP.replace(":3", ":2"))
    assert "is there twice" in ran(place, "prepare sweep.toml", 1).said
    assert "there is no such file" in ran(place, "prepare nothing.toml", 2).said


def test_the_sweep_of_the_documentation_is_planned(place: Path) -> None:
    [shown] = blocks(Path(__file__).parents[2] / "docs" / "scale.md", "toml")
    (place / "sweep.toml").write_text(shown)
    for name in ("nl", "de-1", "de-2"):
        (place / f"{name}.csv").write_text(PAIRS)
    printed = ran(place, "prepare sweep.toml --calibrate 0").printed
    assert "5 models on 2 languages: 20 units" in printed
    assert "140.0 GB" in printed
    assert sorted(path.name for path in (place / "slurm").iterdir()) == ["cards-1.sh", "cards-4.sh"]


def test_ray_that_is_not_installed_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "pip install 'gardenpath[cluster]'" in ran(place, "run sweep.toml --ray", 2).said


@pytest.mark.slow
def test_ray_writes_the_same_tables(place: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: the extra cluster")
    ran(place, "run sweep.toml --ray --workers 2")
    ran(place, "merge sweep.toml -o ray")
    (place / "two.toml").write_text(SWEEP.replace('"store"', '"other"'))
    ran(place, "run two.toml")
    ran(place, "merge two.toml -o local")
    assert (place / "ray" / "pairs.csv").read_bytes() == (place / "local" / "pairs.csv").read_bytes()
