"""Lexical decision: the string stands above its two answers, and a column or a factor says which is right."""

from pathlib import Path

import pytest

from gardenpath import experiment, study

from .task_studies import stated, tables, trial_screens

STRINGS = "paradigm,phenomenon,item,condition,sentence,lexicality\n" + "".join(
    f"{kind},strings,{kind}{n},{condition},{string},{kind}\n"
    for kind, strings in (("word", ["house", "river"] * 4), ("nonword", ["flurp", "brone"] * 4))
    for n, string in enumerate(strings)
    for condition in ("grammatical", "ungrammatical")
)
DECIDED = '[procedure.target]\nshow = "with_task"\nask = ["lexical_decision"]\n'
SET = DECIDED.replace('["lexical_decision"]', '["decision"]') + '[procedure.tasks.decision]\nkind = "lexical_decision"\n'
PRACTICE = 'practice = [{ sentence = "tree", columns = { lexicality = "word" } }]'


def test_what_is_right_is_the_column_of_the_item(tmp_path: Path) -> None:
    made = stated(tmp_path, DECIDED, items=STRINGS)
    for (screen,) in trial_screens(made):
        assert screen.above.text in ("house", "river", "flurp", "brone")
        assert screen.right == (("word",) if screen.above.text in ("house", "river") else ("nonword",))
        assert [(one.value, one.label, one.side) for one in screen.answers] == [
            ("word", "word", "left"),
            ("nonword", "not a word", "right"),
        ]
        assert not screen.is_judged_by_player
    responses = tables(made, participants=10)["responses"]
    assert len(responses) == 160
    kinds = responses["paradigm"]
    assert (responses["correct"] == (responses["response"] == kinds)).all()
    assert responses["correct"].mean() == pytest.approx(0.9, abs=0.08)
    assert responses["rt"].groupby(kinds).mean().diff().abs().max() > 40, "nonwords take longer"


def test_the_level_of_a_factor_says_it_as_well(tmp_path: Path) -> None:
    items = 'paradigm,phenomenon,item,condition,sentence,factors\ns,s,i0,word,house,"lexicality: word, nonword"\ns,s,i0,nonword,flurp,\n'
    items += items.split("\n", 1)[1].replace("i0", "i1")
    design = "ratio = { word = 1, nonword = 1 }"
    made = stated(tmp_path, DECIDED, items=items)
    path = made.path
    path.write_text(path.read_text().replace("ratio = { grammatical = 1, ungrammatical = 1 }", design))
    shown = {screen.above.text: screen.right for (screen,) in trial_screens(study.load(path))}
    assert shown == {"house": ("word",), "flurp": ("nonword",)}


def test_a_lexicality_that_is_neither_is_refused_by_item(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match="item word0: its lexicality is 'noun'; expected word or nonword"):
        experiment.build_list_files(stated(tmp_path, DECIDED, items=STRINGS.replace("house,word", "house,noun", 2)))


def test_materials_without_the_column_are_refused(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match="of sentences that have lexicality, but no sentence does"):
        experiment.build_list_files(stated(tmp_path, DECIDED))


def test_settings_change_what_it_says_and_feedback_names_the_label(tmp_path: Path) -> None:
    settings = 'prompt = "Real?"\nword = "real"\nnonword = "made up"\nfeedback = "always"\ndeadline = 800\n'
    made = stated(tmp_path, SET + settings, items=STRINGS, design=PRACTICE)
    for screen, *said in trial_screens(made):
        assert (screen.prompt, screen.deadline, screen.is_judged_by_player) == ("Real?", 800, True)
        assert [one.label for one in screen.answers] == ["real", "made up"]
        label = "real" if screen.right == ("word",) else "made up"
        assert [page.paragraphs[0].endswith(f"answer is: {label}") for page in said] == [False, True, True]
    (practice,) = trial_screens(made, "practice")
    assert practice[0].right == ("word",)
