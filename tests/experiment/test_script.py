"""Trials become screens once a list: what a study states is what its sessions show."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.scripts.script import build_script, build_timeline, strip_correct_answers
from gardenpath.experiment.sessions.records import find_outcome_fault
from gardenpath.experiment.tasks import load_tasks
from gardenpath.stimuli import Item, Ordering, Question, Sentence, Trial, TrialList
from gardenpath.study.events import build_ended
from gardenpath.study.screens import Answers, Slider, Stimulus, Text, Whole, Words

from .task_studies import sentences
from .task_studies import stated as small

QUESTION = Question("Did he sing?", {"a": "yes", "b": "no"})
SENTENCES = {"a": Sentence("He sang."), "b": Sentence("He slept.")}
ITEM = Item("i", "p", SENTENCES, context="It was late.", question=QUESTION)
ASKED = """
[procedure.target]
ask = ["comprehension", "acceptability"]
[procedure.tasks.comprehension]
kind = "question"
[procedure.tasks.acceptability]
kind = "rating"
prompt = "How good?"
low = "bad"
high = "good"
"""


def stated(folder: Path, more: str = ASKED, design: str = "ratio = { a = 1, b = 1 }\nlists = 2\n") -> study.Study:
    """A study with no materials of its own."""
    path = folder / "study.toml"
    path.write_text(f'name = "s"\nlanguage = "en"\nseed = 1\n[materials]\nfiles = ["x"]\n[design]\n{design}{more}')
    return study.load(path)


def shown(folder: Path, trial: Trial, more: str = ASKED, **change: Any) -> list[Any]:
    """The screens of one trial in a study."""
    of = stated(folder, more)
    made = build_script(of, load_tasks(of), TrialList("L1", "E1", (trial,), Ordering(), 1))
    return list(made.trials[0].screens)


TARGET = Trial("target", ITEM, (("a", SENTENCES["a"]),), ("comprehension", "acceptability"))


def test_a_trial_is_its_context_its_sentence_and_what_is_asked(tmp_path: Path) -> None:
    context, words, question, rating = shown(tmp_path, TARGET)
    assert isinstance(context, Whole)
    assert (context.text, context.sentence) == ("It was late.", None)
    assert isinstance(words, Words)
    assert (words.words, words.gaps, words.arrangement) == (("He", "sang."), (" ",), "centred")
    assert isinstance(question, Answers)
    assert (question.task, question.name, question.prompt) == ("question", "comprehension", "Did he sing?")
    assert [(one.label, one.keys, one.side) for one in question.answers] == [
        ("yes", ("KeyF", "ArrowLeft", "1"), "left"),
        ("no", ("KeyJ", "ArrowRight", "2"), "right"),
    ]
    assert isinstance(rating, Answers)
    assert (rating.task, rating.name, len(rating.answers), rating.arrangement) == ("rating", "acceptability", 7, "points")


def test_a_right_answer_leaves_for_players_only_where_they_have_to_judge(tmp_path: Path) -> None:
    of = stated(tmp_path, ASKED)
    trials = (TARGET, dataclasses.replace(TARGET, role="practice"))
    made = build_script(of, load_tasks(of), TrialList("L1", "E1", trials, Ordering(), 1))
    stored = [next(s for s in step.screens if s.name == "comprehension").right for step in made.trials]  # type: ignore[union-attr]
    sent = [next(s for s in step.screens if s.name == "comprehension").right for step in strip_correct_answers(made).trials]  # type: ignore[union-attr]
    assert (stored, sent) == ([("yes",), ("yes",)], [(), ("yes",)])
    feedback = [screen for screen in made.trials[1].screens if isinstance(screen, Text)]
    assert [screen.when.outcomes for screen in feedback if screen.when] == [("right",), ("wrong",)]


def test_both_sentences_of_a_pair_stand_in_the_order_of_their_sides(tmp_path: Path) -> None:
    pair = Trial("target", ITEM, (("b", SENTENCES["b"]), ("a", SENTENCES["a"])), ("choice",))
    for arrangement, sides in (("side_by_side", ["left", "right"]), ("stacked", ["upper", "lower"])):
        more = f'trial = "pair"\n[procedure.tasks.choice]\nkind = "choice"\narrangement = "{arrangement}"\n'
        *_, choice = shown(tmp_path, pair, more)
        assert [(one.value, one.label, one.side) for one in choice.answers] == [
            ("b", "He slept.", sides[0]),
            ("a", "He sang.", sides[1]),
        ]


def test_a_sentence_that_is_not_read_before_stands_above_what_is_asked(tmp_path: Path) -> None:
    _, question, rating = shown(tmp_path, TARGET, ASKED.replace("ask =", 'show = "with_task"\nask ='))
    assert question.above == rating.above == Stimulus("He sang.")


def test_words_stand_apart_only_where_the_author_wrote_a_space(tmp_path: Path) -> None:
    chinese = Sentence("他 在家睡覺。", segmentation=((0, 1), (2, 3), (3, 4), (4, 7)))
    item = Item("z", "p", {"a": chinese}, language="zh")
    [words] = shown(tmp_path, Trial("target", item, (("a", chinese),)), "")
    assert (words.words, words.gaps) == (("他", "在", "家", "睡覺。"), (" ", "", ""))


def test_breaks_part_the_trials_after_practice_into_equal_blocks(list_files: list[experiment.ListFile]) -> None:
    file = list_files[0]
    steps = build_timeline(file.script, file.trial_list.order_trials(0))
    names = [placed.step.name for placed in steps]
    assert names == [
        *("device", "consent", "instructions", "instructions", "instructions"),
        *["trial"] * 3,
        "practice_over",
        *["trial"] * 18,
        "break",
        *["trial"] * 18,
    ]
    assert [placed.number for placed in steps] == [*range(len(steps))]
    assert [placed.position for placed in steps if placed.position is not None] == [*range(39)]


def test_practice_to_a_criterion_is_a_bounded_repeat_written_out(tmp_path: Path) -> None:
    more = ASKED + "[procedure.practice]\ncriterion = 0.8\nmax_rounds = 3\n"
    of = stated(tmp_path, more)
    practice = dataclasses.replace(TARGET, role="practice")
    made = build_script(of, load_tasks(of), TrialList("L1", "E1", (practice, TARGET), Ordering(), 1))
    steps = [placed.step for placed in build_timeline(made, [0, 1])]
    told = [(step.name, step.block, step.when and (step.when.block, step.when.below)) for step in steps][-7:]
    assert told == [
        ("trial", "practice", None),
        ("practice_again", "", ("practice", 0.8)),
        ("trial", "practice 2", ("practice", 0.8)),
        ("practice_again", "", ("practice 2", 0.8)),
        ("trial", "practice 3", ("practice 2", 0.8)),
        ("practice_over", "", None),
        ("trial", "", None),
    ]
    assert all(
        screen.is_judged_by_player for step in steps for screen in step.screens if screen.name == "comprehension" and step.block
    )


def test_a_page_comes_before_its_block(study_folder: Path) -> None:
    path = study_folder / "study.toml"
    text = path.read_text().replace("[ordering]", "[ordering]\nblocks = 2").replace("breaks = 1", "breaks = 0")
    path.write_text(text + '\n[[procedure.pages]]\nblock = 2\ntext = "Now the second half."\n')
    file = experiment.build_list_files(study.load(path))[0]
    steps = build_timeline(file.script, file.trial_list.order_trials(0))
    [page] = [placed for placed in steps if placed.step.name == "page"]
    assert (page.step.screens[0].paragraphs, steps[page.number + 1].position) == (("Now the second half.",), 3 + 18)  # type: ignore[union-attr]
    path.write_text(path.read_text().replace("block = 2\n", "block = 3\n"))
    with pytest.raises(study.DataError, match="names block 3; the order has 2"):
        experiment.build_list_files(study.load(path))


def _changed(folder: Path, change: dict[str, str]) -> study.Study:
    path = folder / "study.toml"
    text = path.read_text()
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return study.load(path)


def _pages(file: experiment.ListFile) -> list[str]:
    return [
        "\n\n".join(screen.paragraphs)
        for step in file.script.front
        for screen in step.screens
        if isinstance(screen, Text) and screen.name == "instructions"
    ]


def test_instructions_tell_what_this_study_shows_and_asks(study_folder: Path) -> None:
    of = _changed(study_folder, {'"centred"': '"moving_window"', "points = 7": 'scale = "slider"'})
    pages = _pages(experiment.build_list_files(of)[0])
    assert ["hidden behind a line" in page for page in pages] == [True, False, False]
    assert ["moving a slider" in page for page in pages] == [False, True, False]
    assert pages[-1].endswith("practice.")


def test_roles_of_which_nothing_is_stated_are_shown_and_asked_as_targets_are(study_folder: Path) -> None:
    of = _changed(study_folder, {'"centred"': '"whole"', "[online]": '[procedure.practice]\nshow = "centred"\n[online]'})
    tasks = load_tasks(of)
    assert tasks.presentation_by_role == dict.fromkeys(study.config.ROLES, "whole") | {"practice": "centred"}
    assert tasks.tasks_by_role == {role: ["acceptability"] for role in study.config.ROLES}


def test_reading_with_questions_and_no_rating_is_a_study(tmp_path: Path) -> None:
    more = '[procedure.target]\nask = ["question"]\n'
    assert [screen.kind for screen in shown(tmp_path, dataclasses.replace(TARGET, prompts=("question",)), more)] == [
        *("whole", "words", "answers")
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {'"centred"': '"centered"'},
            "procedure.target.show names 'centered'; expected a task of [procedure.tasks.NAME] or one of",
        ),
        ({"[procedure.target]": "[procedure.targets]"}, "key 'procedure.targets' is not known; did you mean 'target'"),
        (
            {"points = 7": 'scale = "stars"'},
            "procedure.tasks.acceptability: key 'scale' is 'stars': input should be 'keys', 'slider' or",
        ),
        ({'low = "very bad"\n': ""}, "low is '' and high 'very good'; expected what the two ends mean"),
        ({"points = 7": "pionts = 7"}, "procedure.tasks.acceptability: key 'pionts' is not known; did you mean 'points'?"),
        ({'kind = "rating"': 'kind = "ratting"'}, "task 'ratting' is not known; expected one of centred, moving_window"),
        ({'kind = "rating"\n': ""}, "procedure: tasks.acceptability has no kind"),
        ({'ask = ["acceptability"]': 'ask = ["plausibility"]'}, "procedure.target.ask names 'plausibility'"),
        ({'ask = ["acceptability"]': 'ask = ["centred"]'}, "procedure.target.ask names centred, which shows"),
        ({"lists = 3": "lists = 3\ntask_shares = { x = 0.5 }"}, "design.task_shares names 'x', which no role asks"),
        ({'show = "centred"\nask = ["acceptability"]': 'show = "with_task"\nask = []'}, "with the task and asks nothing"),
        (
            {"[online]": '[[procedure.demographics]]\nname = "age"\nlabel = "Age"\nkind = "choice"\n[online]'},
            "expected choices with kind = 'choice' alone",
        ),
        (
            {"[online]": '[procedure.tasks.pair]\nkind = "choice"\narrangement = "round"\n[online]'},
            "procedure.tasks.pair: key 'arrangement' is 'round'",
        ),
    ],
)
def test_a_procedure_that_cannot_be_is_refused_by_its_key(study_folder: Path, change: dict[str, str], message: str) -> None:
    with pytest.raises(study.DataError, match=re.escape(message)):
        experiment.build_list_files(_changed(study_folder, change))


def test_all_faults_of_all_tasks_are_told_at_once(study_folder: Path) -> None:
    of = _changed(study_folder, {"points = 7": "points = 12\n[procedure.tasks.other]\nkind = 'nothing'\n"})
    with pytest.raises(study.DataError) as refused:
        experiment.build_list_files(of)
    assert [re.search(r"tasks\.(\w+)", one)[1] for one in refused.value.faults] == ["acceptability", "other"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[procedure.rating]\nprompt = 'x'\n", "'procedure.rating' is now [procedure.tasks.NAME] with kind"),
        ("[procedure.choice]\n", "'procedure.choice' is now [procedure.tasks.NAME]"),
        ("[procedure]\npresentation = 'whole'\n", "'procedure.presentation' is now [procedure.target] show"),
        ("questions = 0.5\n", "'design.questions' is now [design.task_shares] NAME"),
    ],
)
def test_an_old_key_is_refused_with_the_name_of_the_new_one(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(study.DataError, match=re.escape(new)):
        stated(tmp_path, old)


@pytest.mark.parametrize(
    ("kind", "right", "wrong"), [("keys", 7, 8), ("keys", 1, 0), ("slider", 0, 101), ("yes_no", 0, 2), ("keys", 3, "3")]
)
def test_an_answer_that_no_player_gives_is_found(study_folder: Path, kind: str, right: int, wrong: object) -> None:
    of = _changed(study_folder, {"points = 7": f'points = 7\nscale = "{kind}"'})
    screen = experiment.build_list_files(of)[0].script.trials[0].screens[-1]
    assert isinstance(screen, (Answers, Slider))
    assert find_outcome_fault(screen, build_ended("answered", answer=right)) is None
    assert "expected " in str(find_outcome_fault(screen, build_ended("answered", answer=wrong)))
    assert "the outcome 'right'" in str(find_outcome_fault(screen, build_ended("right", answer=right)))
    assert "the outcome 'timeout'" in str(find_outcome_fault(screen, build_ended("timeout")))


def test_texts_of_ones_own_stand_in_place_of_the_standard(study_folder: Path) -> None:
    own = 'consent = "One.\\n\\nTwo."\ninstructions = ["Read."]\ndebriefing = "Bye."\n'
    of = _changed(study_folder, {"[procedure]\n": f"[procedure]\n{own}"})
    file = experiment.build_list_files(of)[0]
    assert _pages(file) == ["Read."]
    consent = file.script.front[file.script.consent or 0].screens[0]
    assert isinstance(consent, Text)
    assert (consent.paragraphs, consent.lab) == (("One.", "Two."), None)
    assert file.script.texts["debriefing"] == "Bye."


def test_a_page_without_buttons_is_left_by_a_key_and_by_what_stands_aside(tmp_path: Path) -> None:
    of = stated(tmp_path)
    device = build_script(of, load_tasks(of), TrialList("L1", "E1", (TARGET,), Ordering(), 1)).front[0].screens[0]
    assert find_outcome_fault(device, build_ended("continued")) is None
    assert find_outcome_fault(device, build_ended("unsuitable")) is None
    assert "expected continued or unsuitable" in str(find_outcome_fault(device, build_ended("accepted")))


@pytest.mark.parametrize(
    ("show", "context"), [("centred", ""), ("moving_window", ""), ("whole", ""), ("maze", ""), ("with_task", "Before.")]
)
def test_what_goes_on_by_keys_alone_is_refused_where_no_keyboard_is_asked_for(tmp_path: Path, show: str, context: str) -> None:
    tasks = '[procedure.tasks.maze]\nkind = "maze"\n' if show == "maze" else ""
    procedure = f'[procedure.device]\nkeyboard = false\n[procedure.target]\nshow = "{show}"\nask = ["good"]\n{GOOD}{tasks}'
    items = sentences() if not context else with_context(sentences(), context)
    plan = small(tmp_path, procedure, items=items)
    with pytest.raises(study.DataError, match=r"keyboard is false, and \w+ goes on by keys alone; expected keyboard = true"):
        experiment.build_list_files(plan)


GOOD = '[procedure.tasks.good]\nkind = "rating"\nprompt = "Good?"\nlow = "no"\nhigh = "yes"\n'


def with_context(items: str, context: str) -> str:
    heading, *rows = items.splitlines()
    return "\n".join([f"{heading},context", *(f"{row},{context}" for row in rows)]) + "\n"


def test_without_a_keyboard_no_page_speaks_of_keys(tmp_path: Path) -> None:
    procedure = f'[procedure.device]\nkeyboard = false\n[procedure.target]\nshow = "with_task"\nask = ["good"]\n{GOOD}'
    script = experiment.build_list_files(small(tmp_path, procedure))[0].script
    labels = {button.label for step in script.front for screen in step.screens for button in screen.buttons}  # type: ignore[union-attr]
    assert "Continue" in labels
    assert not any("space bar" in label for label in labels)
