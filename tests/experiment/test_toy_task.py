"""The recipe of CONTRIBUTING.md: a task of one Python file goes through script, page, lab, robot and tables, and nothing else is told of it."""

import ast
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment import tasks
from gardenpath.study.screens import Answers, Text

from . import toy_task
from .conftest import ROBOT_KEY
from .pages import served

ROOT = Path(__file__).parents[2]
ITEMS = "paradigm,phenomenon,item,condition,sentence,absent\n" + "".join(
    f"p,f,i{n},{condition},The key to the cabinets {verb} rusty.,shiny\n"
    for n in range(4)
    for condition, verb in (("grammatical", "is"), ("ungrammatical", "are"))
)
STUDY = """
name = "toy"
language = "en"
seed = 1
[materials]
files = ["items.csv"]
[design]
ratio = { grammatical = 1, ungrammatical = 1 }
lists = 2
practice = [{ sentence = "She slept well.", columns = { absent = "ill" } }]
[procedure.target]
ask = ["recall"]
[procedure.tasks.recall]
kind = "toy_recall"
feedback = "practice"
[online]
completion_code = "TOY-1"
"""


@pytest.fixture(autouse=True)
def extended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of tasks with one more."""
    monkeypatch.setattr(tasks, "TASKS", [*tasks.TASKS, toy_task])


@pytest.fixture
def made(tmp_path: Path) -> study.Study:
    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "study.toml").write_text(STUDY)
    return study.load(tmp_path / "study.toml")


def _holds(tables: dict[str, Any], trials: int) -> None:
    """The tables say what was chosen after each sentence, practice included."""
    responses = tables["responses"]
    assert len(responses) == trials
    assert set(responses["task"]) == {"toy_recall"}
    assert set(responses["prompt"]) == {"recall"}
    assert (responses["correct"] == ~responses["response"].isin(["shiny", "ill"])).all()
    assert tables["sessions"]["complete"].all()


def test_its_screens_stand_in_the_script(made: study.Study) -> None:
    (file, *_) = experiment.build_list_files(made)
    for trial, step in zip(file.trial_list.trials, file.script.trials, strict=True):
        _, asked, *said = step.screens
        assert isinstance(asked, Answers)
        assert [one.label for one in asked.answers] == (["rusty", "shiny"] if trial.role == "target" else ["well", "ill"])
        assert [isinstance(page, Text) for page in said] == [True, True] * (trial.role == "practice")
    said = [text for step in file.script.front for screen in step.screens for text in screen.paragraphs]  # type: ignore[union-attr]
    assert "After each sentence, choose the word that was in it." in said


def test_a_robot_takes_it_in_this_process(made: study.Study, tmp_path: Path) -> None:
    experiment.simulate(experiment.build_list_files(made), tmp_path / "data", participants=6, seed=1)
    _holds(experiment.collect(tmp_path / "data"), 6 * 5)


def test_without_its_file_it_is_not_known(made: study.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "TASKS", [task for task in tasks.TASKS if task is not toy_task])
    with pytest.raises(study.DataError, match="task 'toy_recall' is not known"):
        experiment.build_list_files(made)


@pytest.mark.browser
def test_a_robot_at_the_keyboard_takes_it_on_the_page(tmp_path: Path, chromium: str) -> None:
    with served(tmp_path, STUDY, ITEMS) as site:
        robot = experiment.create_robot(site.list_files, seed=3)
        assert experiment.run_session_in_browser(robot, site.address, "anna", key=ROBOT_KEY, chromium=chromium, pace=20) == "TOY-1"
        _holds(experiment.collect(site.folder), 5)


def test_a_reader_takes_it_in_the_lab(made: study.Study, tmp_path: Path) -> None:
    from gardenpath.experiment.players.lab import session_launch

    from .test_lab import Machine, take

    sat = take(tmp_path / "lab", session_launch.read_list_files(made.path), Machine())
    assert sat.ending == "finished"
    _holds(experiment.collect(tmp_path / "lab"), 5)


def test_no_player_platform_or_server_names_a_task() -> None:
    """Kinds of screens are all that they know: a name of a task in their code would be a second place to change."""
    kinds = {kind for task in tasks.TASKS for kind in task.KINDS} - {"whole", "centred", "moving_window", "cumulative"}
    named = {}
    for folder in ("players", "server"):
        for path in sorted((ROOT / "experiment" / folder).rglob("*.py")):
            texts = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
            if path.name == "migrations.py":  # it knows the tasks of a release before, whose settings it renames, and no new one
                continue
            if found := {text for text in texts if isinstance(text, str)} & kinds:
                named[path.name] = found
    assert not named
