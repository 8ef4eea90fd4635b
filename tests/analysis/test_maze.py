"""Maze: who chooses at random is left out, wrong first choices and what follows them have no reading time, accuracy is modelled."""

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import analyse, report
from gardenpath.analysis.cleaning.exclusions import apply_exclusions
from gardenpath.analysis.exclusion_log import ExclusionLog
from gardenpath.analysis.measuring.maze_errors import drop_errors, is_after_error
from gardenpath.analysis.measuring.trial_measures import measure_trials
from gardenpath.analysis.reporting.manuscript import ready_to_paste
from gardenpath.study import TABLES, AnalysisSection, DataError, ExcludeSection, check
from gardenpath.study.config import parse_dataclass

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
        condition="grammatical", text="w", region=None, line=None, rt=900.0, rt_first=800.0, task="maze", rt_onset=None, duration=None,
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


LEFT = {"sentence": [0, 1], 0: [0, 1, 3, 4, 6, 7], 1: [0, 1, 4, 7], 2: [0, 1], 9: [0, 1]}


@pytest.mark.parametrize(("after", "words"), LEFT.items())
def test_words_after_a_wrong_choice_are_left_out_within_its_sentence(after: int | str, words: list[int]) -> None:
    """Wrong at 2 and 5; with two after each, 2, 3, 4 and 5, 6, 7 go. The next sentence stays whole."""
    wrong = [word not in (2, 5) for word in range(8)]
    kept = drop_errors(chosen({"a": [wrong, [True] * 8]}), after)
    assert kept.loc[kept["trial"] == 0, "word"].tolist() == words
    assert kept.loc[kept["trial"] == 1, "word"].tolist() == list(range(8))


def test_what_was_not_read_in_maze_comes_back_as_it_is() -> None:
    ledger = ExclusionLog()
    read = chosen({"a": [[None, None]]})
    assert drop_errors(read, "sentence", ledger) is read
    assert not ledger.rows


@pytest.mark.parametrize("after", [-1, 1.5, "trial"])
def test_an_unknown_error_policy_is_refused(after: object) -> None:
    with pytest.raises((ValueError, DataError), match="after_error"):
        parse_dataclass(ExcludeSection, {"after_error": after}, where="study.toml")


def read_in_maze(seed: int = 4) -> dict[str, pd.DataFrame]:
    """Return a study in Maze with redo, of 24 participants and 16 items in 2 conditions, whose true effect at the fourth word is 8 %.

    The slow condition has fewer wrong choices there; each costs a pause of 500 ms and a second press, which hides the effect.
    """
    random = np.random.default_rng(seed)
    rows = []
    for person in range(24):
        own = random.normal(0, 0.15)
        for item in range(16):
            condition = ("plain", "odd")[(person + item) % 2]
            for word in range(7):
                effect = 0.08 * (condition == "odd") * (word == 3)
                first = float(np.exp(6.6 + own + effect + random.normal(0, 0.18)))
                p_wrong = 0.0 if word == 0 else {"plain": 0.22, "odd": 0.06}[condition] if word == 3 else 0.02
                right = bool(random.random() >= p_wrong)
                rt = first if right else first + 500 + float(np.exp(6.0 + random.normal(0, 0.2)))
                rows.append((f"P{person:02}", item, condition, word, right, rt, first))
    frame = pd.DataFrame(rows, columns=["participant", "number", "condition", "word", "correct", "rt", "rt_first"])
    readings = frame.assign(
        session="s-" + frame["participant"], experiment="E1", list="L1", trial=frame["number"], role="target", paradigm="odd",
        item="i" + frame["number"].astype(str), task="maze", text="w", region=frame["word"].map({3: "critical"}), line=None,
        rt_onset=None, duration=None, quality_flags=None,
    )  # fmt: skip
    items = readings.drop_duplicates(["item", "condition"])[["item", "condition", "paradigm"]]
    items = items.assign(phenomenon="oddity", language="en", sentence="A b c d e f g.", regions="[]")
    levels = [("odd", "plain", "oddity", "plain"), ("odd", "odd", "oddity", "odd")]
    return {
        "readings": check(readings[TABLES["readings"].column_names], "readings"),
        "responses": NONE,
        "sessions": sat(*sorted({*frame["participant"]})),
        "items": items.reindex(columns=TABLES["items"].column_names),
        "conditions": pd.DataFrame(levels, columns=["paradigm", "condition", "factor", "level"]),
    }


@pytest.fixture(scope="module")
def maze_study() -> dict[str, pd.DataFrame]:
    return read_in_maze()


@pytest.fixture(scope="module")
def analysed(maze_study: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return {**analyse(maze_study, AnalysisSection())}


def find_effect(tables: dict[str, pd.DataFrame], response: str, region: str) -> pd.Series:
    effects = tables["effects"].query("response == @response and region == @region and headline and factors == 'oddity'")
    assert len(effects) == 1
    return effects.iloc[0]


def test_an_effect_that_errors_hide_is_found_and_is_that_of_right_first_choices(
    maze_study: dict[str, pd.DataFrame], analysed: dict[str, pd.DataFrame]
) -> None:
    found = find_effect(analysed, "log_rt", "critical")
    assert abs(found["estimate"] - 0.08) < 3 * found["se"]
    assert found["t"] > 2.5
    # With wrong choices, their pauses and second presses, as before, the effect is hidden.
    readings = maze_study["readings"]
    spoilt = analyse({**maze_study, "readings": readings.assign(correct=pd.array([None] * len(readings), dtype="boolean"))})
    assert abs(find_effect({**spoilt}, "log_rt", "critical")["t"]) < 2
    # By hand: a double loop over sentences keeps what comes before the first error.
    kept = []
    for _, trial in readings.groupby(["session", "trial"]):
        for word in trial.sort_values("word").itertuples():
            if not word.correct:
                break
            if word.word == 3 and 100 <= word.rt <= 3000:
                kept.append((word.participant, word.item, word.rt))
    times = analysed["region_times"].query("region == 'critical'")
    assert sorted(zip(times["participant"], times["item"], times["rt"], strict=True)) == sorted(kept)


def test_accuracy_by_condition_is_a_response_with_its_models(analysed: dict[str, pd.DataFrame]) -> None:
    planned = analysed["planned_models"].query("response == 'first_choice'")
    assert {*planned["region"]} == {"critical", "critical+1", "critical+2"}
    assert {*planned["family"]} == {"binomial"}
    answers = analysed["binary_responses"].query("measure == 'first_choice' and region == 'critical'")
    shares = answers.groupby("condition")["response"].mean()
    assert shares["odd"] > shares["plain"]
    assert find_effect(analysed, "first_choice", "critical")["estimate"] > 0


def test_words_lost_after_errors_are_counted_by_condition(
    maze_study: dict[str, pd.DataFrame], analysed: dict[str, pd.DataFrame]
) -> None:
    counts = analysed["first_choices"].set_index(["condition", "region"])
    for condition, rows in maze_study["readings"].groupby("condition"):
        lost, wrong_sentences, lost_regions, wrong_regions = 0, 0, 0, 0
        for _, trial in rows.groupby(["session", "trial"]):
            errors = sorted(trial.loc[~trial["correct"].astype(bool), "word"])
            wrong_sentences += bool(errors)
            for word in trial.itertuples():
                lost += bool(errors and word.word > errors[0] and word.correct)
            lost_regions += bool(errors and errors[0] < 3)
            wrong_regions += bool(errors and errors[0] == 3)
        whole, critical = counts.loc[(condition, "sentence")], counts.loc[(condition, "critical")]
        assert (whole["n_words_lost"], whole["n_wrong"], whole["n_trials"]) == (lost, wrong_sentences, 192)
        assert (critical["n_lost"], critical["n_wrong"]) == (lost_regions, wrong_regions)
        assert critical["n_right"] == 192 - lost_regions - wrong_regions


def test_text_names_the_task_its_measure_and_its_errors(analysed: dict[str, pd.DataFrame]) -> None:
    text = ready_to_paste(analysed)
    assert "in the Maze task (Forster et al., 2009)" in text
    assert "The reading time of a word is the time to the first choice, where that was right." in text
    assert "After a wrong first choice the later words of the sentence were left out." in text
    assert "Trials lost to an earlier error, critical region" in text
    assert "self-paced" not in text
    assert {*analysed["reading_curves"]["task"]} == {"maze"}
    page = report(analysed, title="Maze")
    assert page.count("Reading time: time to the right word in Maze.") == 2, "beside the interaction plot and the means"
    assert "self-paced" not in page


@pytest.mark.parametrize(("after", "said"), [(0, "were kept where the sentence went on"), (1, "1 more word was left out")])
def test_the_policy_that_is_set_is_the_one_said(maze_study: dict[str, pd.DataFrame], after: int, said: str) -> None:
    tables = analyse(maze_study, AnalysisSection(exclude=ExcludeSection(after_error=after)))
    assert said in ready_to_paste({**tables})


def test_where_a_wrong_choice_ends_the_sentence_what_was_not_reached_is_lost(maze_study: dict[str, pd.DataFrame]) -> None:
    readings = maze_study["readings"]
    ended = readings[~is_after_error(readings, "sentence")]
    whole, classic = (measure({**maze_study, "readings": rows}) for rows in (readings, ended))
    pd.testing.assert_frame_equal(whole[0], classic[0])
    columns = ["n_trials", "n_right", "n_wrong", "n_lost"]
    pd.testing.assert_frame_equal(whole[1][columns], classic[1][columns])


def measure(tables: dict[str, pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return region times and counts of first choices."""
    made = measure_trials(tables, tables["readings"], tables["responses"], tables["conditions"], AnalysisSection())
    return made.times.reset_index(drop=True), made.first_choices
