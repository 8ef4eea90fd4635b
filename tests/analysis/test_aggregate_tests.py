"""Effects tested by participants and by items, where a mixed model could not have its slopes: R's t tests, by hand, and in results."""

import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.fitting.aggregate_tests import compute_aggregate_tests
from gardenpath.analysis.fitting.plan_tables import fit_plan
from gardenpath.analysis.model_results import join_results
from gardenpath.analysis.modelling.coding import Coded, coded
from gardenpath.analysis.plan import StudyTrials, resolve_plan
from gardenpath.analysis.reporting.wording.optimism import describe_optimistic_effects
from gardenpath.study import TABLES, AnalysisSection

from .test_binomial import nearly_all_right

CODES = {"a": ("a", {"x": -0.5, "z": 0.5}), "b": ("b", {"u": -0.5, "v": 0.5}), "g": ("g", {"m": -0.5, "n": 0.5})}


def make(seed: int = 3) -> pd.DataFrame:
    """Answers of 16 participants, in two groups, to 12 items in 2 x 2 conditions, three trials a cell for everybody."""
    random = np.random.default_rng(seed)
    rows = [
        (f"P{p}", f"i{i}", a, b, p % 2 - 0.5, int(random.random() < 0.75 + 0.2 * a * (1 + b) * (0.5 + p % 2)))
        for p, i in product(range(16), range(12))
        for a, b in [((p // 2 + i) % 4 // 2 - 0.5, (p // 2 + i) % 2 - 0.5)]
    ]
    return pd.DataFrame(rows, columns=["participant", "item", "a", "b", "g", "y"])


def design(frame: pd.DataFrame) -> Coded:
    formula = parse_formula("y ~ a*b*g + (1|participant) + (1|item)")
    return Coded(frame, formula, CODES, {"a": "z minus x", "b": "v minus u", "g": "n minus m"})


def by_hand(frame: pd.DataFrame, group: str, code: str) -> list[float]:
    """Each unit's contrast of empirical log odds, by a loop over its cells."""
    scores = []
    for _, unit in frame.groupby(group):
        score = 0.0
        for (a, b), cell in unit.groupby(["a", "b"]):
            right, n = cell["y"].sum(), len(cell)
            weight = {"a": a, "a:b": 2 * a * b * 2}[code]
            score += weight * np.log((right + 0.5) / (n - right + 0.5))
        scores.append(score)
    return scores


@pytest.mark.parametrize("term", ["a", "a:b"])
def test_over_participants_they_are_t_tests_of_contrasts_computed_by_hand(term: str) -> None:
    frame = make().drop(columns="g")
    formula = parse_formula("y ~ a*b + (1|participant) + (1|item)")
    two = Coded(frame, formula, {name: CODES[name] for name in "ab"}, {})
    first, second, both = compute_aggregate_tests(two, term, "y", is_binary=True)
    for row, group in ((first, "participant"), (second, "item")):
        scores = np.array(by_hand(frame, group, term))
        t = scores.mean() / (scores.std(ddof=1) / np.sqrt(len(scores)))
        assert row["statistic"] == pytest.approx(t, rel=1e-9)
        assert (row["df"], row["n_units"]) == (len(scores) - 1, len(scores))
    f1, f2 = first["statistic"] ** 2, second["statistic"] ** 2
    assert both["statistic"] == pytest.approx(f1 * f2 / (f1 + f2))
    assert both["df"] == pytest.approx((f1 + f2) ** 2 / (f1**2 / 11 + f2**2 / 15))


@pytest.mark.r
def test_they_are_those_of_r_with_a_factor_between_participants(tmp_path: Path) -> None:
    frame = make()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    code = """
    rows <- read.csv("rows.csv", stringsAsFactors = TRUE)
    elogit <- function(y) log((sum(y) + .5) / (sum(1 - y) + .5))
    cells <- aggregate(y ~ participant + a + b + g, rows, elogit)
    wide <- sapply(split(cells, cells$participant, drop = TRUE), function(one) c(
      a = mean(one$y[one$a > 0]) - mean(one$y[one$a < 0]), g = one$g[1]))
    both <- t.test(wide["a", wide["g", ] > 0], wide["a", wide["g", ] < 0], var.equal = TRUE)
    alone <- summary(lm(wide["a", ] ~ wide["g", ]))$coefficients
    cat(format(c(both$statistic, both$p.value, both$parameter, alone[1, 3], alone[1, 4]), digits = 17), sep = "\\n")
    """
    ran = subprocess.run(["Rscript", "-e", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    theirs = dict(zip(("inter", "p", "df", "a", "ap"), map(float, ran.stdout.split()), strict=True))
    interaction, *_ = compute_aggregate_tests(design(frame), "a:g", "y", is_binary=True)
    assert interaction["statistic"] == pytest.approx(theirs["inter"], rel=1e-9)
    assert interaction["p"] == pytest.approx(theirs["p"], rel=1e-7)
    assert interaction["df"] == theirs["df"]
    main, *_ = compute_aggregate_tests(design(frame), "a", "y", is_binary=True)
    assert (main["statistic"], main["p"]) == (pytest.approx(theirs["a"], rel=1e-9), pytest.approx(theirs["ap"], rel=1e-7))


def test_a_factor_of_three_levels_has_its_differences() -> None:
    """Averages of cells by participant and the difference of neighbouring levels, whatever the columns' codes are."""
    random = np.random.default_rng(1)
    rows = [(f"P{p}", f"i{i}", "abc"[(p + i) % 3], random.normal()) for p in range(9) for i in range(12)]
    frame = pd.DataFrame(rows, columns=["participant", "item", "level", "y"])
    found = coded(frame, parse_formula("y ~ level + (1|participant) + (1|item)"), {"level": ("repeated", ["a", "b", "c"])})
    test, *_ = compute_aggregate_tests(found, "level_c_b", "y", is_binary=False)
    means = frame.pivot_table(index="participant", columns="level", values="y")
    difference = means["c"] - means["b"]
    assert test["estimate"] == pytest.approx(difference.mean())
    assert test["statistic"] == pytest.approx(difference.mean() / (difference.std(ddof=1) / 3))


def test_who_lacks_a_condition_is_left_out_and_too_few_have_no_statistic() -> None:
    frame = make()
    lacking = frame[~((frame["participant"] == "P3") & (frame["a"] > 0))]
    test, *_ = compute_aggregate_tests(design(lacking), "a", "y", is_binary=True)
    assert (test["n_units"], test["n_excluded_units"]) == (15, 1)
    few = frame[frame["participant"].isin(["P0", "P1"])]
    first, _, both = compute_aggregate_tests(design(few), "a", "y", is_binary=True)
    assert "statistic" not in first
    assert "statistic" not in both


def test_constant_scores_have_no_statistic() -> None:
    frame = make().assign(y=1)
    assert "statistic" not in compute_aggregate_tests(replace(design(frame)), "a", "y", is_binary=True)[0]


@pytest.fixture(scope="module")
def few_answers() -> dict[str, pd.DataFrame]:
    """A study whose answers are too few, and too nearly all right, for slopes."""
    rows = nearly_all_right(1)
    names = ["participant", "session", "experiment", "list", "trial", "role", "paradigm", "item", "condition"]
    trials = rows.assign(
        session="s" + rows["participant"], experiment="E1", list="L1", role="target", paradigm="who", phenomenon="who", prompt="ask",
        condition=np.where(rows["x"] > 0, "late", "early"), trial=rows.groupby("participant").cumcount(), measure="correct",
        region="sentence", event="right", response=rows["y"], question_accuracy=0.9, log_trial=0.0,
    )  # fmt: skip
    empty = {name: pd.DataFrame(columns=TABLES[name].column_names) for name in ("rating_scores", "region_times")}
    items = trials[["paradigm", "item", "condition"]].drop_duplicates()
    levels = [("who", "early", "place", "early"), ("who", "late", "place", "late")]
    conditions = pd.DataFrame(levels, columns=["paradigm", "condition", "factor", "level"])
    assert {*names} <= {*trials}
    made = StudyTrials(empty["rating_scores"], empty["region_times"], trials, items, conditions)
    return fit_plan(resolve_plan(AnalysisSection(), made), made)


def test_a_p_whose_slope_could_not_be_estimated_is_optimistic_and_has_tests_beside_it(few_answers: dict[str, pd.DataFrame]) -> None:
    effects = few_answers["effects"].query("headline and factors == 'place'")
    assert effects["optimistic"].tolist() == [True]
    random = few_answers["random_effects"]
    model = effects["model_id"].iloc[0]
    tests = few_answers["aggregate_tests"].set_index("grouping")
    assert {*tests["model_id"]} == {model}
    assert [*tests.index] == ["participant", "item", "both: min F'"]
    assert tests["p"].notna().all()
    told = describe_optimistic_effects(join_results(few_answers), few_answers["aggregate_tests"], random)
    assert len(told) == 1
    assert "is optimistic" in told[0]
    assert f"by participants t({tests.loc['participant', 'df']:.0f}) = " in told[0]
    assert "min F'(1, " in told[0]
    assert {source.table for source in told[0].sources} >= {"effects", "aggregate_tests"}
    lacking = random[(random["model_id"] == model) & (random["status"] == "not estimated")]
    assert lacking["sd"].isna().all()


def test_what_could_be_estimated_is_not_called_optimistic(few_answers: dict[str, pd.DataFrame]) -> None:
    effects = few_answers["effects"].query("not headline")
    assert not effects["optimistic"].any()
    assert {*few_answers["random_effects"]["status"].dropna()} <= {"estimated", "zero", "not estimated", "not needed"}
