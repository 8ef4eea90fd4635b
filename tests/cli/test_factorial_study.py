"""A 2 x 2 with fillers, questions and ratings goes through every command of README's sequence."""

import shutil
from pathlib import Path

import pytest

from gardenpath import study

from ..conftest import ROOT, Ran, run_here

SEQUENCE = (
    "check items.jsonl",
    "design study.toml",
    "simulate study.toml --participants 16 --seed 1 -o data",
    "collect data -o tables",
    "analyse tables --study study.toml -o results --no-figures",
    "score items.jsonl --model ngram:corpus.txt:2 -o scores",
    "align tables scores --study study.toml -o results --no-slopes --folds 2",
    "report study.toml -o report.html --no-figures",
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Ran]]:
    folder = Path(shutil.copytree(ROOT / "examples" / "relative-clauses", tmp_path_factory.mktemp("rc") / "study"))
    texts = [line for line in (folder / "items.jsonl").read_text().splitlines() if '"record": "item"' in line]
    (folder / "corpus.txt").write_text("\n".join(text for line in texts for text in _sentences(line)))
    done = [run_here(f"gardenpath {line}", folder) for line in SEQUENCE]
    return folder, {one.line.split()[1]: one for one in done}


def _sentences(line: str) -> list[str]:
    import json

    return [sentence["text"] for sentence in json.loads(line)["sentences"].values()]


@pytest.mark.slow
@pytest.mark.parametrize("command", [line.split()[0] for line in SEQUENCE])
def test_each_command_ends_well(ran: tuple[Path, dict[str, Ran]], command: str) -> None:
    one = ran[1][command]
    assert one.code == 0, f"{one.line}\n{one.printed}{one.said}"


@pytest.mark.slow
def test_scores_and_ratings_are_correlated_over_the_conditions_of_the_study(ran: tuple[Path, dict[str, Ran]]) -> None:
    table = study.read(ran[0] / "results", "rating_correlations")
    assert set(table["level"]) == {
        "sentences", "items", "object.description", "object.name", "subject.description", "subject.name",
    }  # fmt: skip
    assert table.loc[table["measure"] == "lp", "r"].notna().all()
    assert "items r = " in ran[1]["align"].printed
    assert len(study.read(ran[0] / "results", "factorial_models"))


def test_design_says_where_nobody_is_asked_as_many_questions_as_a_rule_needs(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ROOT / "examples" / "relative-clauses", tmp_path / "study"))
    text = (folder / "study.toml").read_text()
    assert "can be excluded" not in run_here("gardenpath design study.toml", folder).said
    (folder / "study.toml").write_text(text + "\n[analysis.exclude]\nquestions = 30\n")
    said = run_here("gardenpath design study.toml --force", folder).said
    assert "analysis.exclude.questions is 30, but a version asks 24: nobody can be excluded by accuracy" in said
