"""Agreement against published values, R's analysis of variance, and plain loops."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import compute_noise_ceilings, compute_rating_scores, compute_reliability, icc
from gardenpath.analysis.measuring.reliability import compute_choice_agreement, compute_rating_counts, icc_interval
from gardenpath.analysis.reporting.wording import raters
from gardenpath.study import TABLES, check
from gardenpath.study.formula_columns import add_formula_columns

Tables = dict[str, pd.DataFrame]
RScript = Callable[..., pd.DataFrame]
# Shrout & Fleiss (1979), table 2: six targets, four judges.
SHROUT = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float)


def test_icc_is_that_of_shrout_and_fleiss() -> None:
    """Their table 4: ICC(2,1) = .29, ICC(2,4) = .62."""
    found = icc(SHROUT)
    assert round(found.icc, 2) == 0.62
    assert round(found.sentence_variance / (found.sentence_variance + found.rater_variance + found.residual_variance), 2) == 0.29
    assert found.raters_per_sentence == 4


def test_icc_is_that_of_rs_analysis_of_variance(rscript: RScript) -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=(9, 1)) + rng.normal(size=(1, 10)) + rng.normal(size=(9, 10))
    rows = pd.DataFrame([(f"i{i}", f"r{r}", y[i, r]) for i in range(9) for r in range(10)], columns=["i", "r", "y"])
    code = """
    ms <- summary(aov(y ~ i + r, rows))[[1]][['Mean Sq']]
    result <- data.frame(icc = (ms[1] - ms[3]) / (ms[1] + (ms[2] - ms[3]) / 9))
    """
    assert icc(y).icc == pytest.approx(rscript(code, rows=rows)["icc"].item(), rel=1e-10)


def test_with_cells_missing_the_variances_are_hendersons_third_method_on_rs_sums_of_squares(rscript: RScript) -> None:
    rng = np.random.default_rng(6)
    y = rng.normal(size=(9, 1)) + 0.5 * rng.normal(size=(1, 12)) + rng.normal(size=(9, 12))
    y[rng.random(y.shape) < 0.35] = np.nan
    rows = pd.DataFrame([(f"i{i}", f"r{r}", y[i, r]) for i in range(9) for r in range(12)], columns=["i", "r", "y"]).dropna()
    code = """
    i <- anova(lm(y ~ r + i, rows)); r <- anova(lm(y ~ i + r, rows))
    e <- i['Residuals', 'Mean Sq']; n <- nrow(rows)
    vi <- (i['i', 'Sum Sq'] - i['i', 'Df'] * e) / (n - length(unique(rows$r)))
    vr <- (r['r', 'Sum Sq'] - r['r', 'Df'] * e) / (n - length(unique(rows$i)))
    k <- 1 / mean(1 / table(rows$i))
    result <- data.frame(vi, vr, e, k, icc = vi / (vi + (vr + e) / k))
    """
    found = icc(y)
    ours = [found.sentence_variance, found.rater_variance, found.residual_variance, found.raters_per_sentence, found.icc]
    np.testing.assert_allclose(ours, rscript(code, rows=rows).iloc[0], rtol=1e-9)


def test_a_rater_of_nothing_changes_nothing_and_too_few_cells_have_no_icc() -> None:
    empty = np.full((6, 1), np.nan)
    assert icc(np.hstack([SHROUT, empty])).icc == pytest.approx(icc(SHROUT).icc)
    for few in (SHROUT[:1], SHROUT[:, :1], np.full((3, 3), np.nan), np.eye(2) + 0 * np.nan, np.full((3, 3), 4.0)):
        assert np.isnan(icc(few).icc)
    apart = np.full((4, 4), np.nan)  # two pairs of raters without a sentence in common
    apart[:2, :2], apart[2:, 2:] = [[1, 2], [3, 5]], [[1, 4], [2, 2]]
    assert np.isnan(icc(apart).icc)
    assert np.isnan(icc_interval(apart, seed=1)).all()


def test_the_interval_covers_the_true_reliability_about_as_often_as_it_says() -> None:
    """k = 8 raters, sentence variance 1, rater .5, rest 2: true ICC(2,k) = 1 / (1 + 2.5 / 8)."""
    rng = np.random.default_rng(8)
    true, inside = 1 / (1 + 2.5 / 8), 0
    for n in range(200):
        y = rng.normal(size=(20, 1)) + np.sqrt(0.5) * rng.normal(size=(1, 8)) + np.sqrt(2) * rng.normal(size=(20, 8))
        low, high = icc_interval(y, seed=n, draws=200)
        inside += low <= true <= high
    assert 170 <= inside <= 200  # percentile intervals of a ratio fall somewhat short of 95 %


def test_complete_and_almost_complete_cells_have_almost_the_same_interval() -> None:
    """The two ways to draw: mean squares from chi-squares, and whole data sets."""
    rng = np.random.default_rng(9)
    y = rng.normal(size=(9, 1)) + rng.normal(size=(1, 20)) + rng.normal(size=(9, 20))
    whole = icc_interval(y, seed=1, draws=4000)
    y[0, 0] = np.nan
    np.testing.assert_allclose(icc_interval(y, seed=1, draws=4000), whole, atol=0.03)


@pytest.fixture(scope="module")
def scores(tables: Tables) -> pd.DataFrame:
    return compute_rating_scores(tables["responses"], tables["items"])


def test_agreement_is_over_the_sentences_of_a_paradigm_in_a_list_overall_and_within_condition(scores: pd.DataFrame) -> None:
    table = compute_reliability(scores, draws=50, splits=20)
    assert set(table["condition"]) == {"all", "grammatical", "ungrammatical"}
    assert len(table) == 2 * 3 * 3
    row = table.query("list == 'L1' and paradigm == 'islands 1' and condition == 'all'").iloc[0]
    part = scores[(scores["role"] == "target") & (scores["list"] == "L1") & (scores["paradigm"] == "islands 1")]
    wide = part.pivot_table(index=["item", "condition"], columns="participant", values="rating")
    assert row["icc"] == pytest.approx(icc(wide.to_numpy()).icc)
    assert row["k"] == pytest.approx(1 / (1 / wide.notna().sum(axis=1)).mean())
    assert (row["n_sentences"], row["n_ratings"]) == (len(wide), len(part))
    assert row["icc_low"] < row["icc"] < row["icc_high"]


def test_split_halves_are_the_mean_over_halves_of_the_correlation_of_sentence_means() -> None:
    """Four raters have three ways into halves: the mean over many random halves nears the mean over the three."""
    rng = np.random.default_rng(1)
    ratings = (rng.normal(size=(7, 1)) + rng.normal(size=(7, 4))).round(3)
    rows = [(f"r{r}", f"i{i}", ratings[i, r]) for r in range(4) for i in range(7)]
    frame = pd.DataFrame(rows, columns=["participant", "item", "rating"]).assign(
        session="s", experiment="E1", list="L1", trial=range(28), role="target", paradigm="p", condition="grammatical",
        phenomenon="f", prompt="acceptability", z=0.0,
    )  # fmt: skip
    halves = [(0, 1), (0, 2), (0, 3)]
    each = [np.corrcoef(ratings[:, h].mean(axis=1), np.delete(ratings, h, axis=1).mean(axis=1))[0, 1] for h in map(list, halves)]
    row = compute_reliability(frame, draws=10, splits=6000).iloc[0]
    assert row["split_half"] == pytest.approx(np.mean(each), abs=0.01)
    r = row["split_half"]
    assert row["spearman_brown"] == pytest.approx(2 * r / (1 + r))
    assert row["ceiling"] == pytest.approx(np.sqrt(2 * r / (1 + r)))


def test_the_ceiling_is_what_the_truth_correlates_with_the_means_of_people() -> None:
    """Simulated: true values known, so the correlation that a perfect model reaches is known too."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=300)
    y = truth[:, None] + 2 * rng.normal(size=(300, 20))
    rows = [(f"r{r}", f"i{i // 2}", ("grammatical", "ungrammatical")[i % 2], y[i, r]) for i in range(300) for r in range(20)]
    frame = pd.DataFrame(rows, columns=["participant", "item", "condition", "z"]).assign(
        experiment="E1", list="L1", role="target", paradigm="p", phenomenon="f", prompt="acceptability", rating=0.0
    )
    table = compute_noise_ceilings(frame, splits=50).set_index("level")
    assert table.loc["sentences", "ceiling"] == pytest.approx(np.corrcoef(truth, y.mean(axis=1))[0, 1], abs=0.02)
    differences = (truth[::2] - truth[1::2], (y[::2] - y[1::2]).mean(axis=1))
    assert table.loc["pairs", "ceiling"] == pytest.approx(np.corrcoef(*differences)[0, 1], abs=0.03)
    assert table["n_units"].to_dict() == {
        "sentences": 300, "grammatical": 150, "ungrammatical": 150, "pairs": 150, "paradigms": 1, "phenomena": 1,
    }  # fmt: skip
    assert pd.isna(table.loc["phenomena", "ceiling"])  # one phenomenon has no correlation


def test_halves_are_of_raters_within_their_list(scores: pd.DataFrame) -> None:
    """A list of one rater has an empty half: its sentences are in no correlation."""
    one = scores[(scores["list"] == "L1") | (scores["participant"] == "P01")]
    table = compute_noise_ceilings(one, splits=20).set_index("level")
    alone = compute_noise_ceilings(scores[scores["list"] == "L1"], splits=20).set_index("level")
    assert table.loc["grammatical", "split_half"] == pytest.approx(alone.loc["grammatical", "split_half"])


def test_ratings_are_counted_one_by_one(scores: pd.DataFrame) -> None:
    table = compute_rating_counts(scores)
    part = scores[(scores["role"] == "target") & (scores["paradigm"] == "islands 1") & (scores["condition"] == "ungrammatical")]
    ours = table.query("paradigm == 'islands 1' and condition == 'ungrammatical'").set_index("rating")["n_ratings"].to_dict()
    assert ours == {rating: sum(part["rating"] == rating) for rating in sorted(set(part["rating"]))}


def chosen(rows: list[tuple[str, str, str, str]]) -> pd.DataFrame:
    """Return choices from (participant, paradigm, item, response)."""
    frame = pd.DataFrame(rows, columns=["participant", "paradigm", "item", "response"])
    frame["trial"] = frame.groupby("participant").cumcount()
    frame = frame.assign(
        session=frame["participant"], experiment="E1", list="L1", role="target", condition="grammatical", task="choice",
        prompt="preference", side="left", correct=None, outcome="answered", rt=1.0, rt_first=None,
    )  # fmt: skip
    return check(add_formula_columns(frame, frame)[TABLES["responses"].column_names], "responses")


def test_majority_and_individual_agreement_are_kept_apart_and_four_of_five_pairs_keep_a_paradigm() -> None:
    """Five pairs, three people: 2 of 3 choose well on four pairs, nobody on the fifth: 8 of 15, but 4 of 5."""
    g, u = "grammatical", "ungrammatical"
    rows = [(f"P{p}", "a", f"a{i}", u if p == i % 3 or i == 4 else g) for i, p in itertools.product(range(5), range(3))]
    rows += [(f"P{p}", "b", f"b{i}", g if p else u) for i, p in itertools.product(range(2), range(2))]
    items = pd.DataFrame([(f"{k}{i}", k, "f", c) for k in "ab" for i in range(5) for c in (g, u)],
                         columns=["item", "paradigm", "phenomenon", "condition"])  # fmt: skip
    table = compute_choice_agreement(chosen(rows), items).set_index("paradigm")
    shares = ["majority", "majority_strict", "n_ties", "meets_majority_rule"]
    assert table.loc["a", ["individual", *shares]].to_list() == [8 / 15, 0.8, 0.8, 0, True]
    assert table.loc["b", ["individual", *shares]].to_list() == [0.5, 0.5, 0.0, 2, False]
    assert table.loc["all", ["n_pairs", "n_choices", "n_participants"]].to_list() == [7, 19, 3]


def test_blimps_majorities_are_strict_and_ties_as_half_stand_beside_them() -> None:
    """Its 67 paradigms of 5 pairs: 323 of 335 with a strict majority is its 96.4 %, and 5 ties as half would be 97.2 %."""
    g, u = "grammatical", "ungrammatical"
    good = [2] * 323 + [1] * 5 + [0] * 7  # of two people, who choose well
    rows = [(f"P{person}", f"p{pair % 67}", f"i{pair}", g if person < n else u) for pair, n in enumerate(good) for person in (0, 1)]
    items = pd.DataFrame([(f"i{pair}", f"p{pair % 67}", "f", c) for pair in range(335) for c in (g, u)],
                         columns=["item", "paradigm", "phenomenon", "condition"])  # fmt: skip
    table = compute_choice_agreement(chosen(rows), items)
    whole = table.set_index("paradigm").loc["all"]
    assert whole["majority_strict"] == pytest.approx(323 / 335)
    assert [round(whole["majority_strict"], 3), round(whole["majority"], 3), whole["n_ties"]] == [0.964, 0.972, 5]
    [said] = raters.agreement(pd.DataFrame(columns=TABLES["reliability"].column_names),
                              pd.DataFrame(columns=TABLES["noise_ceilings"].column_names), table)  # fmt: skip
    assert "a strict majority chose it in 96.4% of 335 pairs (97.2% with 5 ties as half)" in said


def test_the_paradigms_that_blimp_kept_are_kept(real_data: Path) -> None:
    """Its released counts of pairs with a strict majority, of five: 323 of 335 in 67 of 69 paradigms."""
    released = pd.read_csv(real_data / "blimp-released" / "human_validation_summary.csv")
    g, u = "grammatical", "ungrammatical"
    counted = zip(released["Condition"], released["accepted"], strict=True)
    pairs = [(name, f"{name}{k}", g if k < accepted else u) for name, accepted in counted for k in range(5)]
    items = pd.DataFrame([(item, name, "f", c) for name, item, _ in pairs for c in (g, u)],
                         columns=["item", "paradigm", "phenomenon", "condition"])  # fmt: skip
    table = compute_choice_agreement(chosen([("P0", *pair) for pair in pairs]), items).query(
        "paradigm != 'all' and meets_majority_rule"
    )
    assert len(table) == 67
    assert (table["majority_strict"] * table["n_pairs"]).sum() == pytest.approx(323)


def test_without_choices_or_ratings_the_tables_are_empty_but_whole(tables: Tables, scores: pd.DataFrame) -> None:
    assert compute_choice_agreement(tables["responses"], tables["items"]).empty
    for table in (
        compute_reliability(scores.head(0)),
        compute_noise_ceilings(scores.head(0)),
        compute_rating_counts(scores.head(0)),
    ):
        assert table.empty
