"""A 2 x 2 with fillers, questions and ratings goes through every command of the tutorial."""

import shutil
from pathlib import Path

import pytest

from gardenpath import stimuli, study

from ..conftest import ROOT, Ran, commands, run_here

STUDY = ROOT / "examples" / "agreement-attraction"  # German, from a spreadsheet, in a moving window
# The tutorial's commands, of a sixth of the participants, a model that needs no download, and without what takes long.
INSTEAD = {
    "--participants 48": "--participants 8",
    "--model dbmdz/german-gpt2": "--model ngram:corpus.txt:2",
    "--study study.toml -o results": "--study study.toml -o results --no-figures",
    "-o report.html": "-o report.html --no-figures",
}
ALIGNED = "--no-slopes --folds 2"


def _lighter(line: str) -> str:
    for text, instead in INSTEAD.items():
        line = line.replace(text, instead)
    return line.replace("--no-figures", ALIGNED) if " align " in line else line


SEQUENCE = [_lighter(line) for line in commands(ROOT / "docs" / "tutorial.md")]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Ran]]:
    folder = Path(shutil.copytree(STUDY, tmp_path_factory.mktemp("attraction") / "study"))
    items = stimuli.read(folder / "items.csv").items
    (folder / "corpus.txt").write_text("\n".join(one.text for item in items for one in item.sentences.values()))
    done = [run_here(line, folder) for line in SEQUENCE]
    return folder, {one.line.split()[1]: one for one in done}


@pytest.mark.slow
@pytest.mark.parametrize("command", [line.split()[1] for line in SEQUENCE])
def test_each_command_ends_well(ran: tuple[Path, dict[str, Ran]], command: str) -> None:
    one = ran[1][command]
    assert one.code == 0, f"{one.line}\n{one.printed}{one.said}"


@pytest.mark.slow
def test_scores_and_ratings_are_correlated_over_the_conditions_of_the_study(ran: tuple[Path, dict[str, Ran]]) -> None:
    table = study.read(ran[0] / "results", "rating_correlations")
    assert set(table["level"]) == {
        "sentences", "items", "grammatical.plural", "grammatical.singular", "ungrammatical.plural", "ungrammatical.singular",
    }  # fmt: skip
    assert table.loc[table["measure"] == "lp", "r"].notna().all()
    assert "within items, r = " in ran[1]["align"].printed
    assert (study.read(ran[0] / "results", "effects")["unit"] == "model").any()


def test_design_says_where_nobody_is_asked_as_many_questions_as_a_rule_needs(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STUDY, tmp_path / "study"))
    text = (folder / "study.toml").read_text()
    assert "can be excluded" not in run_here("gardenpath design study.toml", folder).said
    (folder / "study.toml").write_text(text.replace("questions = 16", "questions = 30"))
    said = run_here("gardenpath design study.toml --force", folder).said
    assert "analysis.exclude.min_questions is 30, but a list asks 16: nobody can be excluded by accuracy" in said
