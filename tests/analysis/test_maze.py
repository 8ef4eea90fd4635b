"""Maze: who chooses at random is left out, and on request the words after a wrong choice."""

import pandas as pd
import pytest

from gardenpath.analysis.cleaning.exclusions import apply_exclusions
from gardenpath.analysis.exclusion_log import ExclusionLog
from gardenpath.study import TABLES, DataError, ExcludeSection, check

from .test_exclusions import ITEMS, answered, sat

NONE = answered([])


def chosen(choices: dict[str, list[list[bool | None]]], role: str = "target") -> pd.DataFrame:
    """Return readings of these first choices: of each participant, a list of trials, each a list of words."""
    rows = [
        (name, trial, word, right)
        for name, trials in choices.items()
        for trial, words in enumerate(trials)
        for word, right in enumerate(words)
    ]
    frame = pd.DataFrame(rows, columns=["participant", "trial", "word", "correct"])
    frame = frame.assign(
        session="s-" + frame["participant"], experiment="E1", list="L1", role=role, paradigm="npi", item="npi0",
        condition="grammatical", text="w", region=None, line=None, rt=900.0, rt_first=800.0, rt_onset=None, duration=None,
        quality_flags=None,
    )  # fmt: skip
    return check(frame[TABLES["readings"].column_names], "readings")


def test_who_chooses_at_random_is_left_out_with_the_rule_in_the_ledger() -> None:
    good, clicker = [[True] * 9 + [False]] * 4, [[True] + [True, False] * 5] * 4
    ledger = ExclusionLog()
    kept, _, people, *_ = apply_exclusions(chosen({"a": good, "b": clicker}), NONE, sat("a", "b"), ITEMS, exclusion_log=ledger)
    assert set(kept["participant"]) == {"a"}
    assert people.set_index("participant")["exclusion_rule"].dropna().to_dict() == {"b": "less than 80% of first choices right"}
    [step] = [row for row in ledger.rows if "first choices" in str(row["rule"]) and row["condition"] == "all"
              and row["table"] == "readings"]  # fmt: skip
    assert (step["n_before"], step["n_excluded"]) == (40 + 44, 44)


def test_the_first_word_and_practice_do_not_count() -> None:
    """Of 5 choices 4 are right but for the first words, which would make 9 of 10 or bring it below."""
    trials = [[False, True, True, True, True, False]]
    kept, *_ = apply_exclusions(chosen({"a": trials}), NONE, sat("a"), ITEMS)
    assert len(kept) == 6, "4 of 5 are 80 %"
    practice = chosen({"a": [[True, False, False]]}, role="practice")
    assert len(apply_exclusions(practice, NONE, sat("a"), ITEMS)[0]) == 3


def test_other_presentations_have_no_choices_and_keep_everybody() -> None:
    ledger = ExclusionLog()
    kept, *_ = apply_exclusions(chosen({"a": [[None, None]]}), NONE, sat("a"), ITEMS, exclusion_log=ledger)
    assert len(kept) == 2
    assert not [row for row in ledger.rows if "choice" in str(row["rule"])]


def test_the_rule_can_be_lowered_and_left_out() -> None:
    half = chosen({"a": [[True, True, False]]})
    for least, left in ((0.5, 3), (0.0, 3)):
        kept, *_ = apply_exclusions(half, NONE, sat("a"), ITEMS, exclude=ExcludeSection(min_maze_accuracy=least))
        assert len(kept) == left
    with pytest.raises(DataError, match="leave none of 1 participants"):
        apply_exclusions(half, NONE, sat("a"), ITEMS, exclude=ExcludeSection(min_maze_accuracy=0.6))


LEFT = {None: [0, 1, 2, 3, 4, 5, 6, 7], 0: [0, 1, 3, 4, 6, 7], 1: [0, 1, 4, 7], 2: [0, 1], 9: [0, 1]}


@pytest.mark.parametrize(("after", "words"), LEFT.items())
def test_words_after_a_wrong_choice_are_left_out_within_its_sentence(after: int | None, words: list[int]) -> None:
    """Wrong at 2 and 5; with two after each, 2, 3, 4 and 5, 6, 7 go. The next sentence stays whole."""
    wrong = [word not in (2, 5) for word in range(8)]
    rules = ExcludeSection(min_maze_accuracy=0, after_error=after)
    kept, *_ = apply_exclusions(chosen({"a": [wrong, [True] * 8]}), NONE, sat("a"), ITEMS, exclude=rules)
    assert kept.loc[kept["trial"] == 0, "word"].tolist() == words
    assert kept.loc[kept["trial"] == 1, "word"].tolist() == list(range(8))


@pytest.mark.parametrize(("name", "value"), [("min_maze_accuracy", 1.2), ("after_error", -1)])
def test_what_no_rule_can_be_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} is {value}"):
        ExcludeSection(**{name: value})  # type: ignore[arg-type]
