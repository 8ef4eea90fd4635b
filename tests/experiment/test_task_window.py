"""The studies that docs/tasks.md shows are taken in a real PsychoPy window, by a robot at its keyboard."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.simulation.robots import FolderTransport

from .lab_robot import Participant, Screen, gardenpath, xvfb
from .test_task_docs import EXAMPLES
from .test_tasks import STEPS, what
from .window_robot import AtTheWindow, events

# What no section shows: a slider, questions about the participant, and a page between blocks; and a maze that an error ends.
BLOCKS = """
[procedure.target]
show = "whole"
ask = ["acceptability"]
[procedure.tasks.acceptability]
kind = "rating"
scale = "slider"
prompt = "How good does this sentence sound to you?"
low = "very bad"
high = "very good"
[[procedure.pages]]
block = 2
text = "The second half begins."
[[procedure.demographics]]
name = "age"
label = "How old are you?"
kind = "number"
[[procedure.demographics]]
name = "hand"
label = "Which hand do you write with?"
kind = "choice"
choices = ["left", "right"]
[ordering]
blocks = 2
"""
MATERIALS, WHOLE = EXAMPLES["Whole sentences"]
STUDIES = {
    **EXAMPLES,
    "Slider, page between blocks and form": (MATERIALS, WHOLE.partition("[procedure")[0] + BLOCKS),
    "Maze that an error ends": (EXAMPLES["Maze"][0], EXAMPLES["Maze"][1].partition("redo")[0]),
}
# Who errs so often is, with this seed, right and wrong in each study, and in time and too late.
CARELESS, SEED = experiment.Effects(slips=0.3, comprehension=0.5), 35
SIZE = "800x480"  # the smallest that studies take: each look at a large one costs
DEADLINE = ("deadline = 1500", "deadline = 1100")


@pytest.fixture(scope="module")
def screen() -> Iterator[Screen]:
    with xvfb(f"{SIZE}x24") as made:
        yield made


def _lists(folder: Path, name: str) -> list[experiment.ListFile]:
    """The first list of a study, alone."""
    materials, text = STUDIES[name]
    (folder / "items.csv").write_text(materials)
    (folder / "study.toml").write_text(text.replace(*DEADLINE))
    return experiment.build_list_files(study.load(folder / "study.toml"))[:1]


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_what_a_robot_does_at_the_window_comes_back_as_it_was_meant(name: str, tmp_path: Path, screen: Screen) -> None:
    files, data = _lists(tmp_path, name), tmp_path / "data"
    robot, home = experiment.create_robot(files, seed=SEED, effects=CARELESS), FolderTransport(tmp_path / "home", files)
    session = home.begin_session("anna")
    path = files[0].write(tmp_path / "lists")
    program = gardenpath("lab", path, "--participant", "anna", "-o", data, "--window", SIZE, screen=screen.name)
    with Participant(screen, program) as participant:
        AtTheWindow(participant, data).run(robot.simulate_screens(session, "anna"))
        assert participant.end().endswith("finished\n")
    meant = list(robot.simulate_events(session, "anna"))
    assert [what(e) for e in events(data) if e["kind"] in STEPS] == [what(e) for e in meant if e["kind"] in STEPS]
    experiment.run_robot_session(robot, FolderTransport(tmp_path / "home", files), "anna")
    expected, found = experiment.collect(tmp_path / "home"), experiment.collect(data)
    assert found["sessions"][["source", "complete"]].values.tolist() == [["lab", True]]
    assert found.keys() == expected.keys()
    for table, columns in (
        ("readings", ["trial", "item", "condition", "word", "text", "correct", "quality_flags"]),
        ("responses", ["trial", "item", "condition", "task", "prompt", "side", "response", "outcome", "correct"]),
        ("demographics", ["question", "response"]),
    ):
        if table in found:
            assert found[table][columns].to_json() == expected[table][columns].to_json()
    SHOWN.get(name, lambda tables: None)(found)


def _rsvp(tables: dict[str, pd.DataFrame]) -> None:
    """A word stands for its 225 ms, in whole frames, whatever the machine has to do."""
    assert tables["readings"]["rt"].isna().all()
    assert (tables["readings"]["duration"] > 13 * 1000 / 60).all()


def _maze(tables: dict[str, pd.DataFrame]) -> None:
    """After a wrong choice the keys are dead for half a second."""
    readings = tables["readings"]
    assert 0 < readings["correct"].mean() < 1
    assert ((readings["rt"] - readings["rt_first"] < 500) == readings["correct"]).all()


def _ended(tables: dict[str, pd.DataFrame]) -> None:
    """A wrong choice is the last one of its sentence."""
    readings = tables["readings"]
    assert 0 < readings["correct"].mean() < 1
    assert (readings["rt"].notna() == readings["correct"]).all()
    assert readings.groupby("trial")["correct"].agg(lambda chosen: chosen.iloc[:-1].all()).all()


def _speeded(tables: dict[str, pd.DataFrame]) -> None:
    speeded = tables["responses"].query("prompt == 'speeded'")
    assert set(speeded["outcome"]) == {"answered", "timeout"}
    assert (speeded["response"].isna() == (speeded["outcome"] == "timeout")).all()


def _typed(tables: dict[str, pd.DataFrame]) -> None:
    assert (tables["responses"]["rt_first"] < tables["responses"]["rt"]).all()


def _judged(tables: dict[str, pd.DataFrame]) -> None:
    assert set(tables["responses"]["outcome"]) == {"right", "wrong"}


SHOWN: dict[str, Any] = {
    "RSVP": _rsvp,
    "Maze": _maze,
    "Maze that an error ends": _ended,
    "Ratings and speeded judgments": _speeded,
    "Completion": _typed,
    "Comprehension questions": _judged,
    "Lexical decision": _judged,
}
