"""Scores beside ratings, level by level, against R and plain loops."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import compute_noise_ceilings, compute_rating_correlations
from gardenpath.analysis.intervals import weighted_correlation
from gardenpath.study import TABLES, DataError, check
from gardenpath.study.formula_columns import add_formula_columns

from .conftest import sentence_scores

GOOD, BAD = "grammatical", "ungrammatical"


@pytest.fixture(scope="module")
def ratings() -> pd.DataFrame:
    """Ratings of 12 phenomena of one paradigm with four items by six people."""
    rng = np.random.default_rng(4)
    rows = []
    for k in range(48):
        for condition in (GOOD, BAD):
            for p in range(6):
                z = (condition == GOOD) * (0.3 + k % 12 / 10) + rng.normal(0, 0.5)
                row = {"participant": f"P{p}", "session": f"s{p}", "trial": 2 * k + (condition == BAD), "item": f"i{k}"}
                rows.append(row | {"condition": condition, "phenomenon": f"f{k % 12}", "paradigm": f"f{k % 12}-1", "z": z})
    frame = pd.DataFrame(rows).assign(experiment="E1", list="L1", role="target", task="rating", prompt="acceptability", rating=4.0)
    return check(add_formula_columns(frame)[TABLES["rating_scores"].column_names], "rating_scores")


@pytest.fixture(scope="module")
def scores(ratings: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    sentences = ratings[["item", "condition"]].drop_duplicates()
    gain = (sentences["condition"] == GOOD).astype(float) * 0.4
    frame = sentences.assign(
        model="m", protocol="causal", n_tokens=8, n_unknown_tokens=0, n_windows=1, lp=rng.normal(-30, 3, len(sentences)) + gain,
        slor=rng.normal(0, 0.5, len(sentences)) + gain,
    )  # fmt: skip
    return sentence_scores(frame)


def by_hand(ratings: pd.DataFrame, scores: pd.DataFrame, measure: str) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each level, sentence by sentence."""
    score = {(r["item"], r["condition"]): r[measure] for r in scores.to_dict("records")}
    rated: dict[tuple[str, str], list[float]] = {}
    home = {}
    for r in ratings.to_dict("records"):
        rated.setdefault((r["item"], r["condition"]), []).append(r["z"])
        home[r["item"]] = r["phenomenon"]
    mean = {place: sum(z) / len(z) for place, z in rated.items()}
    levels: dict[str, list[tuple[float, float]]] = {"sentences": [(mean[p], score[p]) for p in mean]}
    for condition in (GOOD, BAD):
        levels[condition] = [(mean[p], score[p]) for p in mean if p[1] == condition]
    gaps = {i: (mean[i, GOOD] - mean[i, BAD], score[i, GOOD] - score[i, BAD]) for i in home}
    levels["pairs"] = list(gaps.values())
    levels["phenomena"] = [
        tuple(np.mean([gaps[i] for i in home if home[i] == name], axis=0)) for name in dict.fromkeys(home.values())
    ]
    levels["relative"] = [(mean[i, c], gaps[i][1] * (1 if c == GOOD else -1)) for i, c in mean]
    return levels


def test_a_two_by_two_is_correlated_over_its_own_conditions(ratings: pd.DataFrame, scores: pd.DataFrame) -> None:
    """Against sums by hand; two of the four conditions are those of other items."""
    names = {GOOD: "subject.name", BAD: "object.name"}
    odd = ratings["item"].str[1:].astype(int) % 2 == 1
    crossed = ratings.assign(condition=ratings["condition"].map(names))
    more = scores.assign(condition=scores["condition"].map(names))
    table = compute_rating_correlations(more, crossed, measures=["slor"], draws=50).set_index(["level", "method"])
    assert table.index.unique("level").to_list() == ["sentences", "object.name", "subject.name", "items"]
    mean = crossed.groupby(["item", "condition"])["z"].mean()
    score = more.set_index(["item", "condition"])["slor"]
    points = []
    for item, rated in mean.groupby("item"):
        middle, other = rated.mean(), score[item].mean()
        points += [(rated[item, c] - middle, score[item, c] - other) for c in names.values()]
    x, y = zip(*points, strict=True)
    assert table.loc[("items", "pearson"), "n_points"] == len(points)
    assert table.loc[("items", "pearson"), "r"] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-12)
    mixed = pd.concat([ratings[~odd], crossed[odd]], ignore_index=True)
    both = pd.concat([scores, more], ignore_index=True)
    levels = compute_rating_correlations(both, mixed, measures=["slor"], draws=50)["level"].unique().tolist()
    assert levels[:3] == ["sentences", GOOD, BAD]
    assert levels[-1] == "items"
    ceilings = compute_noise_ceilings(mixed, splits=10)
    assert ceilings["level"].tolist() == [level for level in levels if level != "relative"]
    assert ceilings["ceiling"].dropna().between(0, 1).all()


def test_each_level_is_that_of_the_papers(ratings: pd.DataFrame, scores: pd.DataFrame) -> None:
    table = compute_rating_correlations(scores, ratings, draws=50).set_index(["measure", "level", "method"])
    for measure in ("lp", "slor"):
        for level, points in by_hand(ratings, scores, measure).items():
            x, y = zip(*points, strict=True)
            row = table.loc[(measure, level, "pearson")]
            assert row["n_points"] == len(points)
            assert row["r"] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-12)
            ranks = np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1]
            assert table.loc[(measure, level, "spearman"), "r"] == pytest.approx(ranks, abs=1e-12)
    assert table.loc[("slor", "paradigms", "pearson"), "r"] == table.loc[("slor", "phenomena", "pearson"), "r"]
    assert "critical_lp" not in table.index.get_level_values("measure")  # these items have none


@pytest.mark.r
def test_correlations_are_rs(ratings: pd.DataFrame, scores: pd.DataFrame, rscript: Callable[..., pd.DataFrame]) -> None:
    theirs = rscript(
        """
        means <- aggregate(z ~ item + condition, ratings, mean)
        both <- merge(means, scores, by = c("item", "condition"))
        result <- data.frame(method = c("pearson", "spearman"),
          r = c(cor(both$z, both$slor), cor(both$z, both$slor, method = "spearman")))
        """,
        ratings=ratings,
        scores=scores,
    )
    ours = compute_rating_correlations(scores, ratings, measures=["slor"], draws=10).query("level == 'sentences'")
    assert ours["r"].to_list() == pytest.approx(theirs["r"].to_list(), abs=1e-12)


def test_the_relative_method_comes_with_its_warning_and_holds_the_mean_effect(ratings: pd.DataFrame, scores: pd.DataFrame) -> None:
    table = (
        compute_rating_correlations(scores, ratings, measures=["slor"], draws=10).query("method == 'pearson'").set_index("level")
    )
    assert "do not compare it with the others" in table.loc["relative", "note"]
    assert table.drop(index="relative")["note"].isna().all()
    constant = scores.assign(slor=(scores["condition"] == GOOD).astype(float))  # knows grammaticality and nothing else
    alone = compute_rating_correlations(constant, ratings, measures=["slor"], draws=10).query("method == 'pearson'")
    alone = alone.set_index("level")
    assert alone.loc["relative", "r"] > 0.5
    assert alone.loc["pairs", "note"] == "No correlation: scores are all the same."


@pytest.mark.parametrize("ranks", [False, True], ids=["pearson", "spearman"])
def test_correlations_of_drawn_rows_are_scipys(ranks: bool) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 6, 20).astype(float), rng.normal(0, 1, 20).round(1)  # with ties
    times = rng.multinomial(20, np.full(20, 0.05), size=30)
    found = weighted_correlation(x, y, times, ranks=ranks)
    for line, r in zip(times, found, strict=True):
        rows = np.repeat(np.arange(20), line)
        expected = (stats.spearmanr if ranks else stats.pearsonr)(x[rows], y[rows]).statistic
        assert r == pytest.approx(expected, abs=1e-12)


def test_intervals_draw_items_with_both_their_sentences(ratings: pd.DataFrame, scores: pd.DataFrame) -> None:
    table = compute_rating_correlations(scores, ratings, measures=["slor"]).set_index(["level", "method"])
    means = ratings.groupby(["item", "condition"])["z"].mean()
    score = scores.set_index(["item", "condition"])["slor"]
    items = sorted(ratings["item"].unique())
    rng, loop = np.random.default_rng(3), []
    for _ in range(2000):
        chosen = [items[k] for k in rng.integers(0, len(items), len(items))]
        places = [(item, condition) for item in chosen for condition in (GOOD, BAD)]
        loop.append(np.corrcoef(means[places], score[places])[0, 1])
    row = table.loc[("sentences", "pearson")]
    assert (row["unit"], row["n_units"]) == ("item", 48)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(np.quantile(loop, [0.025, 0.975])), abs=0.02)
    phenomena = table.loc[("phenomena", "pearson")]
    assert (phenomena["unit"], phenomena["n_units"]) == ("phenomenon", 12)
    again = compute_rating_correlations(scores, ratings, measures=["slor"]).set_index(["level", "method"])
    pd.testing.assert_frame_equal(again, table)


def test_a_ceiling_is_what_the_correlation_is_held_against(ratings: pd.DataFrame, scores: pd.DataFrame) -> None:
    ceilings = pd.DataFrame({"prompt": "acceptability", "level": ["sentences", "pairs"], "ceiling": [0.8, np.nan]})
    table = compute_rating_correlations(scores, ratings, measures=["slor"], ceilings=ceilings, draws=10).query(
        "method == 'pearson'"
    )
    table = table.set_index("level")
    assert table.loc["sentences", "share_of_ceiling"] == pytest.approx(table.loc["sentences", "r"] / 0.8)
    assert table["share_of_ceiling"].isna().sum() == len(table) - 1


def test_few_units_and_constant_or_infinite_values_are_said(ratings: pd.DataFrame, scores: pd.DataFrame) -> None:
    few = ratings[ratings["item"].isin([f"i{k}" for k in range(9)])]
    table = compute_rating_correlations(scores, few, measures=["lp"], draws=10).set_index(["level", "method"])
    assert table.loc[("sentences", "pearson"), "note"] == "No interval: 9 units, under 10."
    assert np.isnan(table.loc[("sentences", "pearson"), "ci_low"])
    one = compute_rating_correlations(scores, ratings[ratings["item"] == "i0"], measures=["lp"], draws=10)
    assert one.loc[one["level"] == "pairs", "note"].str.startswith("No correlation: fewer than 3 points").all()
    same = compute_rating_correlations(scores, ratings.assign(z=0.0), measures=["lp"], draws=10)
    assert same["note"].str.contains("ratings are all the same").all()
    wild = scores.assign(lp=scores["lp"].mask(scores["item"] == "i0", -np.inf))
    told = compute_rating_correlations(wild, ratings, measures=["lp"], draws=10).set_index(["level", "method"])
    assert told.loc[("sentences", "pearson"), "note"] == "2 scores are not finite and were left out."
    assert np.isfinite(told.loc[("sentences", "pearson"), "r"])


def test_nothing_in_common_is_a_sentence(ratings: pd.DataFrame, scores: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="no scored sentence in common"):
        compute_rating_correlations(scores.assign(item="x" + scores["item"]), ratings)
    with pytest.raises(DataError, match="no z of a target sentence"):
        compute_rating_correlations(scores, ratings.assign(z=np.nan))


def test_p_is_of_as_many_points_as_there_are(ratings: pd.DataFrame, scores: pd.DataFrame) -> None:
    table = compute_rating_correlations(scores, ratings, measures=["slor"], draws=10).set_index(["level", "method"])
    for level in ("sentences", "pairs", "phenomena"):
        row = table.loc[(level, "pearson")]
        t = row["r"] * np.sqrt((row["n_points"] - 2) / (1 - row["r"] ** 2))
        assert row["p"] == pytest.approx(2 * stats.t.sf(abs(t), row["n_points"] - 2), rel=1e-9)
    assert np.isnan(table.loc[("relative", "pearson"), "p"])
    assert set(table["rating_measure"]) == {"z"}


def test_ratings_as_given_and_scores_of_pairs_that_nobody_rated(ratings: pd.DataFrame, scores: pd.DataFrame) -> None:
    rng = np.random.default_rng(6)
    raw = ratings.assign(rating=rng.integers(1, 8, len(ratings)))
    rated = raw[raw["item"].isin([f"i{k}" for k in range(24)])]
    pairs = raw[["phenomenon", "paradigm", "item"]].drop_duplicates()
    table = compute_rating_correlations(scores, rated, measures=["slor"], rating_measure="rating", pairs=pairs, draws=10)
    of_z = pd.DataFrame([{"prompt": "rating", "level": "sentences", "ceiling": 0.8}])
    held = compute_rating_correlations(scores, rated, measures=["slor"], rating_measure="rating", ceilings=of_z, draws=10)
    assert held["ceiling"].isna().all()
    row = table[table["method"] == "pearson"].set_index("level").loc["phenomena, all pairs"]
    slor = scores.set_index(["item", "condition"])["slor"]
    x, y = [], []
    for _, items in pairs.groupby("phenomenon"):
        of = {name: rated[(rated["condition"] == name) & rated["item"].isin(items["item"])] for name in (GOOD, BAD)}
        means = {name: rows.groupby("item")["rating"].mean() for name, rows in of.items()}
        x.append(float((means[GOOD] - means[BAD]).mean()))
        y.append(float(np.mean([slor[item, GOOD] - slor[item, BAD] for item in items["item"]])))
    assert (row["n_points"], row["rating_measure"]) == (12, "rating")
    assert row["r"] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-12)
    with pytest.raises(ValueError, match="ratings 'raw'; expected z or rating"):
        compute_rating_correlations(scores, rated, rating_measure="raw")
