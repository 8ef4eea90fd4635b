"""Short lists from design to report: what was planned is printed, and what is short is told."""

from pathlib import Path

import pytest

from gardenpath import study

from ..conftest import run_here
from ..experiment.test_lists import stated


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    stated(tmp_path, sessions=3)
    return tmp_path


def test_the_plan_is_counted_and_so_is_what_is_there(folder: Path) -> None:
    made = run_here("gardenpath design study.toml", folder)
    assert made.code == 0, made.said
    assert (
        "12 short lists of 3, 36 judgments; 12 items with 3 participants each; 1 to 2 of them grammatical+ungrammatical"
        in made.printed
    )
    assert "0 short lists with a paradigm twice; 12 trials of attention" in made.printed
    lists = study.read(folder / "lists", "design_short_lists")
    assert set(lists[lists["role"] == "target"].groupby("item").size()) == {3}

    assert run_here("gardenpath simulate study.toml --participants 3 --seed 1 -o data", folder).code == 0
    collected = run_here("gardenpath collect data -o tables", folder)
    counts = study.read(folder / "tables", "judgment_counts")
    there = len(study.read(folder / "tables", "sessions")) * 3
    assert counts["n_judgments"].sum() == there < 36 == counts["n_planned"].sum()
    assert f"{there} of 36 planned judgments are there, of 12 items; short of what was planned: p" in collected.said
    assert run_here("gardenpath report study.toml -o report.html", folder).code == 0
    page = (folder / "report.html").read_text()
    assert f"{there} of 36 planned judgments are there, of 12 items" in page
    assert "Items of lists short of the judgments that were planned." in page


def test_what_knows_lists_of_a_latin_square_alone_refuses_short_lists(folder: Path) -> None:
    power = run_here("gardenpath simulate study.toml --power -o power", folder)
    assert power.code == 1
    assert "--power does not know design.short_lists; expected lists = N to simulate" in power.said
    orders = run_here("gardenpath export study.toml --platform jspsych --orders 3 -o out", folder)
    assert "orders is 3 beside design.short_lists; expected none: each short list goes out once" in orders.said


def test_fewer_sessions_than_participants_asked_for_are_explained(folder: Path) -> None:
    taken = run_here("gardenpath simulate study.toml --participants 20 --seed 1 -o data", folder)
    assert taken.code == 0, taken.said
    assert "data: 12 simulated sessions of 12 participants" in taken.printed
    assert (
        "fewer than 20 participants x 3 sessions: each of the 12 short lists has one participant (see design.short_lists.ratings_per_item"
        in taken.said
    )
    few = run_here("gardenpath simulate study.toml --participants 1 --seed 1 -o one", folder)
    assert few.code == 0
    assert "fewer than" not in few.said
