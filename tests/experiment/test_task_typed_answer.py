"""Typed answers: which are right a column of the items says, however they are written."""

from pathlib import Path

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.sessions.records import judge_outcome

from .task_studies import stated, tables, trial_screens

ITEMS = "paradigm,phenomenon,item,condition,sentence,right_answers\n" + "".join(
    f"voice,voice,i{n},{condition},{sentence},{right}\n"
    for n in range(8)
    for condition, sentence, right in (
        ("grammatical", "Then the baker scolded a clerk.", "baker | the baker"),
        ("ungrammatical", "Then a clerk was scolded by the baker.", "baker | the baker"),
    )
)
ASKED = (
    '[procedure.target]\nshow = "whole"\nask = ["agent"]\n[procedure.tasks.agent]\nkind = "typed_answer"\nprompt = "Who acted?"\n'
)


@pytest.mark.parametrize(
    ("typed", "outcome"),
    [
        ("baker", "right"),
        (" The BAKER. ", "right"),
        ("the  baker", "right"),
        ("bakers", "wrong"),
        ("clerk", "wrong"),
        (".", "wrong"),
    ],
)
def test_capitals_and_what_stands_around_an_answer_make_no_difference(typed: str, outcome: str, tmp_path: Path) -> None:
    [_, screen] = trial_screens(stated(tmp_path, ASKED, items=ITEMS))[0]
    assert (screen.right, screen.prompt) == (("baker", "the baker"), "Who acted?")
    assert judge_outcome(screen, "answered", typed) == outcome


def test_right_answers_are_as_many_as_robots_know_and_are_modelled(tmp_path: Path) -> None:
    made = stated(tmp_path, ASKED, items=ITEMS)
    responses = tables(made, participants=12)["responses"]
    responses = responses[responses["task"] == "typed_answer"]
    assert len(responses) == 12 * 8
    by_hand = responses["response"].str.lower().isin(["baker", "the baker"])
    assert (responses["correct"] == by_hand).all()
    assert responses["correct"].mean() == pytest.approx(0.9, abs=0.08)


def test_an_empty_answer_among_those_that_are_right_is_refused(tmp_path: Path) -> None:
    made = stated(tmp_path, ASKED, items=ITEMS.replace("baker | the baker", "baker |"))
    with pytest.raises(study.DataError, match="expected answers with bars between, none of them empty"):
        experiment.build_list_files(made)


def test_no_sentence_with_right_answers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match="right_answers"):
        experiment.build_list_files(stated(tmp_path, ASKED))
