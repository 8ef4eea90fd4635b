"""Maze: words beside their alternatives on drawn sides; both choices are timed, and an error ends the trial or is corrected."""

from collections import Counter
from pathlib import Path

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.scripts.script import build_timeline
from gardenpath.experiment.sessions.records import find_outcome_fault
from gardenpath.experiment.sessions.sessions import build_payload, check_events, open_session, replay_session_events

from .task_studies import sentences, stated, tables, trial_screens

ONCE = '[procedure.target]\nshow = "maze"\nask = ["comprehension"]\n[procedure.tasks.comprehension]\nkind = "question"\n'
REDO = ONCE.replace('"maze"', '"g_maze"') + '[procedure.tasks.g_maze]\nkind = "maze"\nredo = true\ndelay = 700\n'


def test_sides_are_balanced_in_each_trial_and_the_same_wherever_a_sentence_is_shown(tmp_path: Path) -> None:
    files = experiment.build_list_files(stated(tmp_path, ONCE, items=sentences(12)))
    drawn = {}
    for file in files:
        for trial, step in zip(file.trial_list.trials, file.script.trials, strict=True):
            sides = tuple(pair.side for pair in step.screens[0].pairs)
            assert Counter(sides) == {"left": 5, "right": 5}
            drawn[trial.item.id, trial.condition] = sides
    assert len({*drawn.values()}) > 15, "24 draws of one of 252"
    again = experiment.build_list_files(stated(tmp_path / "again", ONCE, items=sentences(12)))
    assert [file.script for file in again] == [file.script for file in files]


def test_each_word_stands_beside_its_alternative_and_the_first_beside_none(tmp_path: Path) -> None:
    made = stated(tmp_path, ONCE)
    for screens in trial_screens(made):
        pairs = screens[0].pairs
        assert [pair.word for pair in pairs[:4]] == ["The", "key", "near", "number"]
        assert [pair.alternative for pair in pairs[:4]] == ["x-x-x", "upon", "when", "sue"]


def test_sentences_without_alternatives_are_refused_by_item(tmp_path: Path) -> None:
    items = sentences().replace("x-x-x upon when sue thirds nor hers beg hi lace.", "", 2)
    with pytest.raises(study.DataError) as caught:
        experiment.build_list_files(stated(tmp_path, ONCE, items=items))
    assert [fault.partition(": ")[2] for fault in caught.value.faults] == [
        f"item i0: its sentence ({caught.value.faults[0].split('(')[1].split(')')[0]}) has no alternatives; maze needs one for each word"
    ]


@pytest.mark.parametrize(
    ("setting", "message"),
    [("delay = -1\nredo = true", "delay is -1; expected ms"), ("delay = 500", "delay is 500 and redo false")],
)
def test_settings_that_cannot_be_are_refused(tmp_path: Path, setting: str, message: str) -> None:
    tasks = ONCE.replace('"maze"', '"m"') + f'[procedure.tasks.m]\nkind = "maze"\n{setting}\n'
    with pytest.raises(study.DataError, match=message):
        experiment.build_list_files(stated(tmp_path, tasks))


def test_an_error_ends_the_trial_with_the_time_of_the_first_choice_alone(tmp_path: Path) -> None:
    effects = experiment.Effects(slips=0.1)
    made = stated(tmp_path, ONCE, items=sentences(12))
    found = tables(made, participants=6, effects=effects)
    readings = found["readings"]
    trials = readings.groupby(["session", "trial"])
    ended = trials["correct"].transform("min") == 0
    assert 0.3 < trials["correct"].min().eq(0).mean() < 0.9, "1 - 0.9 ** 9 = 0.61 of the trials"
    wrong = readings[readings["correct"] == False]  # noqa: E712
    assert (trials["word"].max().loc[list(zip(wrong["session"], wrong["trial"], strict=True))] == wrong["word"].values).all()
    assert wrong["rt"].isna().all()
    assert (wrong["rt_first"] > 0).all()
    right = readings[readings["correct"] == True]  # noqa: E712
    assert (right["rt"] == right["rt_first"]).all()
    assert trials.size()[trials["correct"].min() == 1].eq(10).all()
    asked = found["responses"].set_index(["session", "trial"]).index
    assert {*asked} == {*readings[~ended].set_index(["session", "trial"]).index}, "no question after an error"


def test_a_corrected_error_keeps_both_times(tmp_path: Path) -> None:
    found = tables(stated(tmp_path, REDO, items=sentences(12)), participants=8, effects=experiment.Effects(slips=0.1))
    readings = found["readings"]
    assert readings.groupby(["session", "trial"]).size().eq(10).all()
    wrong = readings["correct"] == False  # noqa: E712
    assert wrong.mean() == pytest.approx(0.09, abs=0.03), "the first word is never mistaken"
    assert not wrong[readings["word"] == 0].any()
    assert (readings["rt"] - readings["rt_first"])[wrong].min() >= 700
    assert (readings["rt"] == readings["rt_first"])[~wrong].all()
    assert len(found["responses"]) == readings.groupby(["session", "trial"]).ngroups


def test_robots_read_with_the_effects_that_they_are_given(tmp_path: Path) -> None:
    tasks = REDO.replace('ask = ["comprehension"]\n', "").replace('[procedure.tasks.comprehension]\nkind = "question"\n', "")
    effects = experiment.Effects(slips=0, critical=0.5, residual_sd=0.05)
    readings = tables(stated(tmp_path, tasks, items=sentences(12)), participants=4, effects=effects)["readings"]
    critical = readings[readings["region"] == "critical"].groupby("condition")["rt"].mean()
    assert critical["ungrammatical"] - critical["grammatical"] > 100
    # A choice takes longer than reading would, by a factor that leaves log effects as they are.
    assert readings["rt"].min() > 300


def test_what_is_said_of_an_error_depends_on_what_it_does(tmp_path: Path) -> None:
    pairs, ended, asked, *_ = trial_screens(stated(tmp_path / "once", ONCE))[0]
    assert (pairs.redo, pairs.error, pairs.again) == (False, "", "")
    assert ended.when.outcomes == ("wrong",)
    assert [(leave.outcome, leave.to) for leave in ended.exits] == [("continued", "skip")]
    assert asked.task == "question"
    pairs, asked, *_ = trial_screens(stated(tmp_path / "redo", REDO))[0]
    assert (pairs.redo, pairs.delay) == (True, 700)
    assert "wait" in pairs.error
    assert "other" in pairs.again
    assert asked.task == "question"


@pytest.mark.parametrize("procedure", [ONCE, REDO])
def test_the_server_takes_what_a_robot_does(tmp_path: Path, procedure: str) -> None:
    (file, *_) = experiment.build_list_files(stated(tmp_path, procedure))
    robot = experiment.create_robot([file], seed=2, effects=experiment.Effects(slips=0.2))
    session = open_session(file, 0, id="s", participant="anna", started="x", source="robot")
    made = build_payload(session, file, replay_session_events(session, file), token="", visit=0, next_seq=0)
    events = check_events(list(robot.simulate_events(made, "anna")))
    steps = build_timeline(file.script, session.order)
    ended = [event for event in events if event.kind == "outcome"]
    assert not [
        find_outcome_fault(steps[e.step].step.screens[e.screen], e.value)
        for e in ended
        if find_outcome_fault(steps[e.step].step.screens[e.screen], e.value)
    ]
    assert replay_session_events(session, file, tuple(events)).location is None


@pytest.mark.parametrize(("slips", "rounds"), [(0.0, 1), (1.0, 3)])
@pytest.mark.parametrize("tasks", [ONCE, REDO])
def test_practice_is_over_when_enough_sentences_had_no_wrong_choice(tmp_path: Path, tasks: str, slips: float, rounds: int) -> None:
    practice = f'show = "{"maze" if tasks == ONCE else "g_maze"}"\nask = []\ncriterion = 0.5\nmax_rounds = 3\n'
    design = 'practice = [{ sentence = "She slept very well.", alternatives = "x-x-x upon hers lace." }]\n'
    made = stated(tmp_path, f"{tasks}[procedure.practice]\n{practice}", design=design)
    readings = tables(made, effects=experiment.Effects(slips=slips))["readings"]
    practised = readings[readings["role"] == "practice"].groupby("session")["trial"].nunique()
    assert practised.to_list() == [rounds] * 2
