"""What tasks share: deadlines, feedback, and practice with what a task needs."""

import re
from pathlib import Path

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.texts.standard_texts import Texts

from .task_studies import sentences, stated, tables, trial_screens

ASKED = '[procedure.target]\nask = ["comprehension"]\n[procedure.tasks.comprehension]\nkind = "question"\n'
RATED = (
    '[procedure.target]\nask = ["speeded"]\n[procedure.tasks.speeded]\nkind = "rating"\nscale = "yes_no"\n'
    'prompt = "Good?"\ndeadline = 1500\n'
)


def _instructions(made: study.Study) -> str:
    (file, *_) = experiment.build_list_files(made)
    return "\n".join(text for step in file.script.front for screen in step.screens for text in screen.paragraphs)


@pytest.mark.parametrize(("language", "time"), [("en", "1.5"), ("de", "1,5"), ("ja", "1.5"), ("tr", "1,5")])
def test_a_deadline_is_told_in_seconds(tmp_path: Path, language: str, time: str) -> None:
    made = stated(tmp_path, RATED, language=language)
    assert time in _instructions(made)
    assert time not in _instructions(stated(tmp_path, RATED.replace("deadline = 1500", ""), language=language))


def test_who_is_too_slow_has_given_no_judgment(tmp_path: Path) -> None:
    """A robot takes 700 to 1500 ms, so that about half of its answers come too late for 1100."""
    made = stated(tmp_path, RATED.replace("1500", "1100"))
    responses = tables(made, participants=10)["responses"]
    late = responses[responses["outcome"] == "timeout"]
    given = responses[responses["outcome"] == "answered"]
    assert len(late) + len(given) == len(responses) == 40
    assert 5 < len(late) < 35
    assert late["response"].isna().all()
    assert late["rt"].isna().all()
    assert (given["rt"] < 1100).all()
    assert set(given["response"]) <= {"0", "1"}


def test_a_deadline_that_nobody_can_meet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match="deadline is 20; expected ms, 100 or more"):
        experiment.build_list_files(stated(tmp_path, RATED.replace("1500", "20")))


@pytest.mark.parametrize(("when", "told"), [("practice", False), ("always", True), ("never", False)])
def test_feedback_comes_after_trials_or_practice_or_never(tmp_path: Path, when: str, told: bool) -> None:
    practice = 'practice = [{ sentence = "She slept.", question = "Did she sleep?", answer = "yes" }]'
    made = stated(tmp_path, ASKED + f'feedback = "{when}"\n', design=practice)
    for role, pages in (("target", told), ("practice", when != "never")):
        for screens in trial_screens(made, role):
            _, asked, *said = screens
            assert asked.is_judged_by_player is pages
            assert [page.when.outcomes for page in said] == [("right",), ("wrong",)] * pages
            assert all(page.when.screen == 1 for page in said)


def test_feedback_names_the_right_answer_and_says_what_came_too_late(tmp_path: Path) -> None:
    made = stated(tmp_path, ASKED + 'feedback = "always"\ndeadline = 1000\n')
    _, asked, right, wrong, late = trial_screens(made)[0]
    texts = Texts("en")["session"]
    (answer,) = asked.right
    assert right.paragraphs == (texts["right"],)
    assert wrong.paragraphs == (f"That was not the right answer. The right answer is: {answer}",)
    assert late.paragraphs == (f"That was too slow. The right answer is: {answer}",)
    assert late.when.outcomes == ("timeout",)
    responses = tables(made, participants=10)["responses"]
    assert {*responses["outcome"]} == {"right", "wrong", "timeout"}


def test_a_practice_sentence_has_columns_of_its_own(tmp_path: Path) -> None:
    entry = '{ sentence = "She slept well.", alternatives = "x-x-x nor thirds.", columns = { list = "A" } }'
    made = stated(tmp_path, ASKED, design=f"practice = [{entry}]")
    trial = next(t for t in experiment.build_list_files(made)[0].trial_list.trials if t.role == "practice")
    assert trial.shown_sentences[0][1].alternatives == ("x-x-x", "nor", "thirds.")
    assert trial.get_value("list") == "A"
    assert trial.prompts == ()


BROKEN = {
    '{ sentence = "She slept.", question = "Who?" }': "expected both, or neither",
    '{ sentence = "She slept.", alternatives = "x-x-x" }': "1 alternatives, expected 2",
}


@pytest.mark.parametrize(("entry", "message"), BROKEN.items())
def test_a_practice_sentence_that_lacks_something_is_refused(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(study.DataError, match=re.escape(message)):
        experiment.build_list_files(stated(tmp_path, ASKED, design=f"practice = [{entry}]"))


def test_a_sentence_that_stands_with_its_task_and_is_asked_nothing_is_refused(tmp_path: Path) -> None:
    shown = ASKED.replace("ask =", 'show = "with_task"\nask =')
    with pytest.raises(
        study.DataError, match=r"item practice-1: show is .with_task. for practice, but no task is asked of its sentence"
    ):
        experiment.build_list_files(stated(tmp_path, shown, design='practice = ["She slept."]'))


def test_a_task_that_no_item_can_be_asked_is_refused(tmp_path: Path) -> None:
    items = "".join(line.rsplit(",", 2)[0] + "\n" for line in sentences().splitlines())
    with pytest.raises(study.DataError, match="procedure asks comprehension of sentences that have question, but no sentence does"):
        experiment.build_list_files(stated(tmp_path, ASKED, items=items))
