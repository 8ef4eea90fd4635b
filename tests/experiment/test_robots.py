"""Robots answer every task as they were told to, in this process and over HTTP."""

import re
from pathlib import Path

import pytest

from gardenpath import experiment, study
from gardenpath.stimuli import UNGRAMMATICAL

from .conftest import ROBOT_KEY, serve

ROOT = Path(__file__).parents[2]
ATTENTION = """
[[design.attention]]
kind = "instruction"
sentence = "Please press 2 for this sentence."
expected_responses = { acceptability = ["2"] }

[[design.attention]]
kind = "nonsense"
sentence = "I swim to the moon."
expected_responses = { acceptability = ["1-3"] }
"""


@pytest.fixture(scope="module")
def relative_clauses() -> tuple[study.Study, list[experiment.ListFile]]:
    stated = study.load(ROOT / "examples" / "relative-clauses")
    return stated, experiment.build_list_files(stated)


def test_questions_are_asked_on_half_of_the_trials_and_answered_with_the_stated_accuracy(
    relative_clauses: tuple[study.Study, list[experiment.ListFile]], tmp_path: Path
) -> None:
    _, list_files = relative_clauses
    effects = experiment.Effects(comprehension=0.8)
    experiment.simulate(list_files, tmp_path / "data", participants=40, seed=1, effects=effects)
    tables = experiment.collect(tmp_path / "data")
    asked = tables["responses"].query("task == 'question'")
    assert asked.groupby("session").size().eq(24).all()
    assert asked["correct"].notna().all()
    # 960 answers: three standard errors are 0.039.
    assert asked["correct"].astype(bool).mean() == pytest.approx(0.8, abs=0.04)
    answers = {(trial.item.id, trial.condition): trial.get_answer() for file in list_files for trial in file.trial_list.trials}
    for row in asked.itertuples():
        assert row.correct == (row.response == answers[row.item, row.condition])
    assert tables["responses"].query("task == 'rating'").groupby("session").size().eq(50).all()
    order = tables["responses"].query("trial == 10")
    assert set(order["prompt"]) <= {"comprehension", "acceptability"}


def test_the_same_robot_leaves_the_same_events_over_http(
    relative_clauses: tuple[study.Study, list[experiment.ListFile]], tmp_path: Path
) -> None:
    stated, list_files = relative_clauses
    robot = experiment.create_robot(list_files, seed=5)
    experiment.simulate(list_files, tmp_path / "simulated", participants=1, seed=5)
    for running in serve(stated, list_files, tmp_path / "data"):
        experiment.run_robot_session(robot, experiment.HttpTransport(running.address, ROBOT_KEY), "sim-0001")
        served = experiment.collect(running.folder)
    simulated = experiment.collect(tmp_path / "simulated")
    for name in ("readings", "responses"):
        dropped = ["session", "participant"]
        assert served[name].drop(columns=dropped).equals(simulated[name].drop(columns=dropped))
    assert served["sessions"]["complete"].tolist() == [True]


def test_processes_beside_each_other_write_the_same_sessions(example: study.Study, tmp_path: Path) -> None:
    list_files = experiment.build_list_files(example)
    for name, workers in (("one", None), ("two", study.executors.LocalExecutor(2))):
        assert experiment.simulate(list_files, tmp_path / name, participants=23, seed=4, workers=workers) == 23
    one, two = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")} for name in ("one", "two")
    )
    assert len(one) > 2 * 23
    assert one == two


def test_attention_items_are_answered_as_expected_by_who_attends(study_folder: Path, tmp_path: Path) -> None:
    path = study_folder / "study.toml"
    path.write_text(path.read_text() + ATTENTION)
    list_files = experiment.build_list_files(study.load(path))
    for attention, share in ((1.0, 1.0), (0.0, None)):
        folder = tmp_path / str(attention)
        effects = experiment.Effects(attention=attention)
        experiment.simulate(list_files, folder, participants=18, seed=2, effects=effects)
        responses = experiment.collect(folder)["responses"].query("role == 'attention'")
        assert len(responses) == 36
        if share is None:
            assert responses["correct"].mean() < 0.8
        else:
            assert responses["correct"].all()
            assert set(responses["response"]) <= {"1", "2", "3"}


def test_of_a_pair_one_sentence_is_chosen_by_its_distance_in_log_odds(study_folder: Path, tmp_path: Path) -> None:
    """Both members differ by 1.5, which are log odds: 1 / (1 + exp(-1.5)) = 0.818 choose the grammatical one."""
    path = study_folder / "study.toml"
    text = path.read_text()
    head, _, rest = text.partition("practice = [")
    _, _, after = rest.partition("]\n")
    text = head.replace("grammatical = 2", "grammatical = 1").replace("lists = 3", 'lists = 2\ntrial = "pair"')
    # Without a presentation of its own, a pair is not read before the choice.
    text = text.replace("items = 9", "items = 8") + re.sub(r"\[procedure\.target\].*?\n\n", "", after, flags=re.S)
    path.write_text(text)
    list_files = experiment.build_list_files(study.load(path))
    assert all(trial.prompts == ("choice",) for file in list_files for trial in file.trial_list.trials)
    experiment.simulate(list_files, tmp_path / "data", participants=36, seed=4)
    tables = experiment.collect(tmp_path / "data")
    chosen = tables["responses"]
    assert set(chosen["task"]) == {"choice"}
    assert tables["readings"].empty
    assert len(chosen) > 1000
    assert chosen["correct"].astype(bool).mean() == pytest.approx(0.818, abs=0.03)
    assert chosen["side"].value_counts(normalize=True)["left"] == pytest.approx(0.5, abs=0.03)
    first = chosen["condition"].str.split("+").str[0]
    left_is_wrong = first == UNGRAMMATICAL
    assert (chosen["correct"].astype(bool) == ((chosen["side"] == "left") != left_is_wrong)).all()


@pytest.mark.parametrize(("kind", "values"), [("slider", range(101)), ("yes_no", range(2))])
def test_ratings_lie_on_their_scale(study_folder: Path, tmp_path: Path, kind: str, values: range) -> None:
    path = study_folder / "study.toml"
    path.write_text(path.read_text().replace("points = 7", f'scale = "{kind}"'))
    stated = study.load(path)
    experiment.simulate(experiment.build_list_files(stated), tmp_path / "data", participants=6, seed=4)
    ratings = experiment.collect(tmp_path / "data")["responses"].query("role == 'target'")
    numbers = ratings["response"].astype(int)
    assert numbers.isin(values).all()
    means = numbers.groupby(ratings["condition"]).mean()
    assert means["grammatical"] > means["ungrammatical"] + len(values) / 5
