"""The studies that docs/tasks.md shows are taken by robots, on the page, and in the lab."""

import re
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, stimuli, study
from gardenpath.experiment import tasks
from gardenpath.experiment.simulation.browser_robot import run_session_on_page
from gardenpath.experiment.simulation.robots import FolderTransport
from gardenpath.study.screens import WordPairs

from .pages import browser, opened, robot_takes, served  # noqa: F401
from .test_export_page import HOOK, address, in_jatos, tables_from

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text("utf-8")
ONLINE = '\n[online]\ncompletion_code = "DONE-1"\n'
PLACES = ("page", "jspsych", "jatos")


def _examples() -> dict[str, tuple[str, str]]:
    """The materials and the study of each section that has some."""
    found = {}
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        blocks = dict(re.findall(r"^```(csv|toml)\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL))
        if blocks:
            found[section.partition("\n")[0]] = blocks["csv"], blocks["toml"]
    return found


EXAMPLES = _examples()


@pytest.fixture(params=EXAMPLES)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> study.Study:
    materials, text = EXAMPLES[request.param]
    (tmp_path / "items.csv").write_text(materials)
    (tmp_path / "study.toml").write_text(text + ONLINE)
    return study.load(tmp_path / "study.toml")


def _kinds(made: study.Study) -> set[str]:
    (file, *_) = experiment.build_list_files(made)
    return {screen.task for step in file.script.trials for screen in step.screens} - {"page"}


def _holds(made: study.Study, tables: dict[str, Any]) -> None:
    """Every task of the study has left rows, and every session is complete."""
    shows = {kind for kind in _kinds(made) if tasks.find_task(kind).IS_PRESENTATION}
    left = set(tables["responses"]["task"]) | (shows if len(tables["readings"]) else set())
    assert left >= _kinds(made) - {"whole"}
    assert tables["sessions"]["complete"].all()


def test_every_task_has_a_section_with_its_kind_and_its_settings() -> None:
    for task in tasks.TASKS:
        for kind in task.KINDS:
            assert f"`{kind}`" in PAGE or f'"{kind}"' in PAGE, kind
        for name in task.Settings.__dataclass_fields__:  # type: ignore[attr-defined]
            assert name == "kind" or f"`{name}`" in PAGE, (task.KINDS, name)


def test_a_robot_takes_it_in_this_process(made: study.Study, tmp_path: Path) -> None:
    assert not [
        f for f in stimuli.check(stimuli.read(*made.list_material_paths())) if f.severity == "error" and "region" not in f.rule
    ]
    experiment.simulate(experiment.build_list_files(made), tmp_path / "data", participants=4, seed=1)
    _holds(made, experiment.collect(tmp_path / "data"))


@pytest.fixture
def place(request: pytest.FixtureRequest, made: study.Study, full: bool) -> str:
    """Where a task is taken: at one of the places, in turn, without --full: all have our page, and none knows a task."""
    names = [text for _, text in EXAMPLES.values()]
    if not full and PLACES[names.index(made.path.read_text().removesuffix(ONLINE)) % len(PLACES)] != request.param:
        pytest.skip("in its full size, make test-all, each task is run at each place")
    return str(request.param)


@pytest.mark.browser
@pytest.mark.parametrize("place", PLACES[:1], indirect=True)
def test_a_robot_at_the_keyboard_takes_it_on_the_page(
    made: study.Study,
    tmp_path: Path,
    browser: Any,  # noqa: F811
    place: str,
) -> None:
    (tmp_path / "site").mkdir()
    materials = (tmp_path / "items.csv").read_text()
    with served(tmp_path / "site", (tmp_path / "study.toml").read_text(), materials) as site:
        robot = experiment.create_robot(site.list_files, seed=3)
        assert robot_takes(robot, site, "anna", browser, pace=20) == "DONE-1"
        _holds(made, experiment.collect(site.folder))


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES[1:], indirect=True)
def test_what_a_robot_does_in_an_export_comes_back_as_from_home(
    made: study.Study,
    tmp_path: Path,
    browser: Any,  # noqa: F811
    place: str,
) -> None:
    files, out = experiment.build_list_files(made), tmp_path / "out"
    experiment.export(made, place, out, 1)
    robot, home = experiment.create_robot(files, seed=3), FolderTransport(tmp_path / "home", files)
    session = home.begin_session("anna")  # the first list in its first order: place 0
    if place == "jspsych":
        with opened(browser, address(out, "assignment=0&participant=anna&source=robot"), (HOOK,)) as reader:
            assert run_session_on_page(robot, reader.page, session, "anna", pace=20) == "DONE-1"
            [[text, _]] = reader.page.evaluate("window.saved")
    else:
        with in_jatos(out) as jatos:
            with opened(browser, f"{jatos.address}/run-1/index.html?participant=anna&source=robot") as reader:
                assert run_session_on_page(robot, reader.page, session, "anna", pace=20) == "DONE-1"
            text = jatos.data["run-1"]
    experiment.run_robot_session(robot, FolderTransport(tmp_path / "home", files), "anna")
    expected, found = experiment.collect(tmp_path / "home"), tables_from(text, out, place)
    _holds(made, found)
    for name, columns in (
        ("readings", ["trial", "item", "condition", "word", "text", "correct"]),
        ("responses", ["trial", "item", "condition", "task", "prompt", "side", "response", "outcome", "correct"]),
    ):
        assert found[name][columns].to_json() == expected[name][columns].to_json()


def test_a_reader_takes_it_in_the_lab(made: study.Study, tmp_path: Path) -> None:
    from gardenpath.experiment.players.lab import session_launch
    from gardenpath.experiment.players.lab.displays import Blank, Display, FrameTimes, Pair

    from .test_lab import Machine, take

    class Chooser(Machine):
        """A reader who takes the left one of two words, and the other one when that was wrong, and types in each empty field."""

        def show(self, display: Display) -> FrameTimes:
            before = self.displays[-1] if self.displays else None
            painted = super().show(display)
            if isinstance(display, Blank) and isinstance(before, Blank) and before.text and not display.text:
                self.answered = False
            return painted

        def answer(self, display: Display) -> None:
            if isinstance(display, Pair):
                self.press("KeyJ" if display.hint else "KeyF")
            else:
                super().answer(display)

    sat = take(tmp_path / "lab", session_launch.read_list_files(made.path), Chooser())
    assert sat.ending == "finished"
    tables = experiment.collect(tmp_path / "lab")
    _holds(made, tables)
    (file, *_) = experiment.build_list_files(made)
    if any(isinstance(screen, WordPairs) for step in file.script.trials for screen in step.screens):
        assert 0 < tables["readings"]["correct"].mean() < 1
