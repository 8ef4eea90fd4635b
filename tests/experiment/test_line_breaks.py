"""Sentences on lines are broken at the same word in all conditions of an item, on every screen."""

from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from gardenpath import experiment, study
from gardenpath.cli.main import cli
from gardenpath.experiment.tasks.line_breaks import count_columns, find_line_breaks
from gardenpath.stimuli import Sentence

ROOT = Path(__file__).parents[2]


def factorial(folder: Path, **display: object) -> Path:
    """The example with a moving window."""
    text = (ROOT / "examples" / "relative-clauses" / "study.toml").read_text()
    (folder / "items.jsonl").write_text((ROOT / "examples" / "relative-clauses" / "items.jsonl").read_text())
    stated = "".join(f"{name} = {value!r}\n" for name, value in display.items())
    text = text.replace('show = "centred"', 'show = "moving_window"')
    (folder / "study.toml").write_text(text.replace("[online]", f"[procedure.display]\n{stated}\n[online]"))
    return folder / "study.toml"


def shown(path: Path) -> dict[tuple[str, str], tuple[int, ...]]:
    """Where each sentence that is shown on lines is broken."""
    return {
        (file.trial_list.trials[step.trial].item.id, file.trial_list.trials[step.trial].condition): screen.breaks
        for file in experiment.build_list_files(study.load(path))
        for step in file.script.trials
        if step.trial is not None
        for screen in step.screens
        if screen.kind == "words"
    }


def test_by_default_sentences_stand_on_one_line(tmp_path: Path) -> None:
    assert set(shown(factorial(tmp_path)).values()) == {()}


def test_sentences_that_must_be_broken_are_broken_before_the_same_word_of_an_item(tmp_path: Path) -> None:
    found = shown(factorial(tmp_path, line_width=40))
    assert any(found.values())
    by_item: dict[str, set[tuple[int, ...]]] = {}
    for (item, _), where in found.items():
        by_item.setdefault(item, set()).add(where)
    assert all(len(where) == 1 for where in by_item.values())
    for file in experiment.build_list_files(study.load(tmp_path)):
        for trial in file.trial_list.trials:
            for _, sentence in trial.shown_sentences:
                words = sentence.list_displayed_words()
                starts = [0, *(n for n in found[trial.item.id, trial.condition] if n < len(words)), len(words)]
                lines = [" ".join(words[a:b]) for a, b in pairwise(starts)]
                assert all(count_columns(line) <= 40 for line in lines)


def test_design_names_the_items_that_are_broken_before_different_words(tmp_path: Path) -> None:
    """Descriptions have a word more than names: the same number is another word."""
    path = factorial(tmp_path, line_width=40)
    ran = CliRunner().invoke(cli, ["design", str(path), "-o", str(tmp_path / "lists")], catch_exceptions=False)
    assert "items of more than 40 letters a line are broken before different words in their conditions: rc-01" in ran.stderr
    path = factorial(tmp_path)
    ran = CliRunner().invoke(cli, ["design", str(path), "-o", str(tmp_path / "v"), "--force"], catch_exceptions=False)
    assert "broken before" not in ran.stderr


@pytest.mark.parametrize(
    ("texts", "width", "expected"),
    [(["a b c d"], 3, (2,)), (["a b c d", "a bbb c d"], 4, (1, 2)), (["aaaaaa b"], 3, (1,)), (["a b", "a b c d"], 3, (2,))],
)
def test_a_line_ends_before_the_first_word_that_does_not_fit_in_any_condition(
    texts: list[str], width: int, expected: tuple[int, ...]
) -> None:
    assert find_line_breaks([Sentence(text) for text in texts], width) == expected


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"line_width": 5}, "line_width is 5; expected letters on a line, 20 or more"),
        ({"font_size": 10.0}, r"font_size is 10; expected px, from min_font_size \(16\) to 200"),
        ({"font": "Arial; color: red"}, "expected names of fonts"),
    ],
)
def test_a_display_that_cannot_be_is_refused(stated: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match=message):
        study.load(factorial(tmp_path, **stated))
