"""Hypotheses: what may be stated, which coefficient each is about, and what the table and the text say of it."""

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import StudyTrials, fit, fit_plan, resolve_plan
from gardenpath.analysis.fitting.hypothesis_tests import EQUIVALENT, OPPOSITE, SMALL, SUPPORTED, UNDECIDED, judge
from gardenpath.analysis.model_results import join_results
from gardenpath.analysis.reporting.manuscript import ready_to_paste
from gardenpath.analysis.reporting.wording.hypothesis_answers import answer_hypotheses, describe_scale_dependence
from gardenpath.study import TABLES, AnalysisSection, DataError, HypothesisSection, load

STUDY = """name = "s"
language = "en"
seed = 1
[materials]
files = ["items.csv"]
[design]
lists = 4
"""


def state(folder: Path, text: str) -> tuple[HypothesisSection, ...]:
    (folder / "study.toml").write_text(STUDY + text)
    return load(folder).hypotheses


def test_one_hypothesis_needs_no_rank_and_several_need_one(tmp_path: Path) -> None:
    one = '[[hypotheses]]\neffect = "a"\nresponse = "log_rt"\n'
    assert state(tmp_path, one)[0].label == "a"
    two = one + '[[hypotheses]]\neffect = "a:b"\nresponse = "log_rt"\n'
    with pytest.raises(DataError, match=r"of 2 none is primary, and 'a', 'a:b' have no correction; expected primary = true of one"):
        state(tmp_path, two)
    assert [h.primary for h in state(tmp_path, two + "primary = true\n")] == [False, True]
    corrected = two.replace('response = "log_rt"\n', 'response = "log_rt"\ncorrection = "holm"\n')
    assert {h.correction for h in state(tmp_path, corrected)} == {"holm"}


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("sides = 1", "has sides = 1 and no direction"),
        ("sides = 3\ndirection = 'positive'", "has sides = 3; expected 1 or 2"),
        ("sesoi = 0", "sesoi is 0.*; expected more than 0"),
        ('correction = "bonferroni"', "correction is 'bonferroni'; expected one of none, holm, benjamini-hochberg"),
        ('primary = true\ncorrection = "holm"', "is primary and has a correction"),
        ('direction = "up"', "direction"),
    ],
)
def test_what_cannot_be_meant_is_refused(stated: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        state(tmp_path, f'[[hypotheses]]\neffect = "a"\nresponse = "log_rt"\n{stated}\n')


LIMITS = [-0.3, -0.15, -0.05, 0.05, 0.15, 0.3]


@pytest.mark.parametrize("direction", ["", "positive", "negative"])
def test_verdicts_are_those_of_the_intervals(direction: str) -> None:
    """With a normal test, p < .05 says that 0 is outside the 95 % interval; by enumeration of both intervals and a bound of 0.2."""
    seen = set()
    for low, high in itertools.combinations(LIMITS, 2):
        estimate, se = (low + high) / 2, (high - low) / 2 / 1.959964
        p = math.erfc(abs(estimate / se) / math.sqrt(2))
        within = estimate - 1.644854 * se > -0.2 and estimate + 1.644854 * se < 0.2
        found = judge(estimate, p, p, direction, within=within)
        outside = low > 0 or high < 0
        as_stated = not direction or (low > 0 and direction == "positive") or (high < 0 and direction == "negative")
        if outside and as_stated:
            expected = SMALL if within else SUPPORTED
        elif outside:
            expected = OPPOSITE
        else:
            expected = EQUIVALENT if within else UNDECIDED
        assert found == expected, (low, high)
        assert judge(estimate, p, p, direction) not in (SMALL, EQUIVALENT), "nothing is equivalent without a smallest effect"
        seen.add(found)
    assert len(seen) >= 4


def make_trials(seed: int = 2, *, additive_in_ms: bool = False) -> StudyTrials:
    """Return reading times of 30 participants and 24 items in a 2 x 2: effects of a and b in log ms, or in ms alone."""
    rng = np.random.default_rng(seed)
    rows = []
    for p, i in itertools.product(range(30), range(24)):
        cell = (p + i) % 4
        a, b = cell // 2, cell % 2
        noise = rng.normal(0, 0.08)
        log_rt = 6 + 0.2 * a + 0.6 * b + noise
        if additive_in_ms:
            log_rt = math.log(400 + 150 * a + 350 * b) + noise
        rows.append((f"P{p}", f"i{i}", f"{'xy'[a]}.{'uv'[b]}", i, log_rt))
    frame = pd.DataFrame(rows, columns=["participant", "item", "condition", "trial", "log_rt"])
    frame = frame.assign(
        session="s" + frame["participant"], experiment="E1", list="L1", role="target", paradigm="p", phenomenon="p", region="critical",
        word=3, n_words=1, rt=np.exp(frame["log_rt"]), log_trial=np.log1p(frame["trial"]), question_accuracy=1.0,
    )  # fmt: skip
    empty = {name: pd.DataFrame(columns=TABLES[name].column_names) for name in ("rating_scores", "binary_responses")}
    levels = [("p", f"{a}.{b}", name, level) for a in "xy" for b in "uv" for name, level in (("a", a), ("b", b))]
    conditions = pd.DataFrame(levels, columns=["paradigm", "condition", "factor", "level"])
    items = frame[["paradigm", "item", "condition"]].drop_duplicates()
    return StudyTrials(empty["rating_scores"], frame, empty["binary_responses"], items, conditions)


TRIALS = make_trials()
SLOWER = HypothesisSection(effect="a", response="log_rt", name="slower", direction="positive", sesoi=0.05)


def test_a_hypothesis_is_answered_by_the_headline_and_in_a_sentence() -> None:
    plan = resolve_plan(AnalysisSection(), TRIALS, [SLOWER])
    [planned] = plan.hypotheses
    assert (planned.term, planned.contrast, planned.role) == ("a_y_x", "a: y minus x", "primary")
    tables = fit_plan(plan, TRIALS)
    row = tables["hypotheses"].iloc[0]
    effect = tables["effects"].query("headline and term == 'a_y_x'").iloc[0]
    for name in ("estimate", "se", "df", "p", "ci_low", "low_90", "high_90", "p_equivalence"):
        assert row[name] == effect[name]
    assert (row["verdict"], row["smallest"]) == ("supported", 0.05)
    [sentence] = answer_hypotheses(tables["hypotheses"])
    assert sentence.startswith("Slower (primary): a (y − x), log reading time, critical region, expected positive: 95% CI [")
    assert "the smallest effect that matters is 0.05, 90% CI [" in sentence
    assert sentence.endswith(": supported.")
    text = ready_to_paste(tables)
    assert text.index("## Hypotheses") < text.index("## What was tested")


def test_sides_and_corrections_are_those_of_the_plan() -> None:
    stated = [
        replace(SLOWER, correction="holm", sides=1),
        HypothesisSection(effect="b:a", response="log_rt", name="both", correction="holm"),
        HypothesisSection(effect="b", response="log_rt", name="faster", direction="negative", correction="holm"),
    ]
    tables = fit_plan(resolve_plan(AnalysisSection(), TRIALS, stated), TRIALS)
    found = tables["hypotheses"].set_index("name")
    effects = tables["effects"].query("headline").set_index("term")
    assert found.loc["slower", "p"] == pytest.approx(effects.loc["a_y_x", "p"] / 2)
    assert found.loc["faster", "verdict"] == "opposite"
    # Holm by hand: the smallest times three, the next times two, never falling.
    p = found["p"].sort_values()
    by_hand = np.maximum.accumulate([min(1.0, value * (3 - n)) for n, value in enumerate(p)])
    assert found.loc[p.index, "p_adjusted"].to_list() == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        (
            HypothesisSection(effect="c", response="log_rt"),
            r"no model tests 'c' of log_rt there; there are a \(a: y minus x; model p",
        ),
        (HypothesisSection(effect="a", response="z"), "no model that is reported first is of 'z'; there are log_rt"),
        (HypothesisSection(effect="a", response="log_rt", region="spill"), "no model tests 'a' of log_rt there"),
    ],
)
def test_a_hypothesis_about_no_effect_is_refused_with_what_there_is(stated: HypothesisSection, message: str) -> None:
    with pytest.raises(DataError, match=message):
        resolve_plan(AnalysisSection(), TRIALS, [stated])


def test_the_same_smallest_effect_is_stated_once() -> None:
    with pytest.raises(DataError, match=r"sesoi is 0.05, and analysis.sesoi states 0.03 of the same effect; expected it once"):
        resolve_plan(AnalysisSection(sesoi={"log_rt": 0.03}), TRIALS, [SLOWER])


def test_hypotheses_are_part_of_the_plan_and_of_its_hash() -> None:
    plans = [resolve_plan(AnalysisSection(), TRIALS, stated) for stated in ([], [SLOWER], [replace(SLOWER, direction="negative")])]
    assert len({plan.sha256 for plan in plans}) == 3


def test_an_interaction_that_holds_on_one_scale_alone_is_said() -> None:
    trials = make_trials(additive_in_ms=True)
    tables = fit_plan(resolve_plan(AnalysisSection(), trials), trials)
    effect = tables["effects"].query("headline and term == 'a_y_x:b_v_u'").iloc[0]
    formula = tables["models"].query("model_id == @effect.model_id and kept")["formula"].iloc[0]
    rows = trials.times.assign(
        a_y_x=np.where(trials.times["condition"].str.startswith("y"), 0.5, -0.5),
        b_v_u=np.where(trials.times["condition"].str.endswith("v"), 0.5, -0.5),
        log_trial=trials.times["log_trial"] - trials.times["log_trial"].mean(),
    )
    in_ms = fit(rows, formula.replace("log_rt ~", "rt ~", 1)).set_index("term").loc["a_y_x:b_v_u"]
    assert effect["raw"] == pytest.approx(in_ms["estimate"], rel=1e-9)
    assert effect["raw_p"] == pytest.approx(in_ms["p"], rel=1e-9)
    assert effect["p"] < 0.05 < effect["raw_p"]
    [sentence] = describe_scale_dependence(join_results(tables))
    assert "is there in log ms (b = " in sentence
    assert "and not shown in ms (b = " in sentence
