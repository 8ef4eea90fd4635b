"""The models of grammaticality: coding, correction, and phenomena that cannot be fitted."""

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import analyse, compute_rating_scores, compute_region_times
from gardenpath.analysis.grammatical_status import find_minimal_pair_paradigms
from gardenpath.analysis.modelling.grammaticality import adjusted, autocorrelation, entering, phenomenon_models
from gardenpath.study import check

Tables = dict[str, pd.DataFrame]
Simulate = Callable[..., Tables]
RScript = Callable[..., pd.DataFrame]


def models(tables: Tables) -> pd.DataFrame:
    scores = compute_rating_scores(tables["responses"], tables["items"])
    return phenomenon_models(scores, compute_region_times(tables["readings"], tables["items"]), tables["items"])


def test_benjamini_hochberg_is_over_the_phenomena_of_one_measure_and_region_and_over_all_regions_beside() -> None:
    p = {
        ("z", "sentence", "p"): [0.01, 0.04, 0.03, 0.005],
        ("log_rt", "critical", None): [0.04, 0.5],
        ("log_rt", "critical+1", None): [0.01],
    }
    rows = [(*key, "intercepts", "grammaticality", value) for key, values in p.items() for value in values]
    of_z = ("z", "sentence", "p")
    rows += [(*of_z, "intercepts", "intercept", 0.001), (*of_z, "slopes", "grammaticality", 0.5)]
    table = adjusted(pd.DataFrame(rows, columns=["measure", "region", "prompt", "random", "term", "p"]))
    # z by hand: .005*4/1, .01*4/2, .03*4/3, .04*4/4 = .02 .02 .04 .04; critical: .04*2/1 and .5*2/2; +1 alone: .01
    np.testing.assert_allclose(table["p_bh"], [0.02, 0.04, 0.04, 0.02, 0.08, 0.5, 0.01, np.nan, 0.5])
    # all of log_rt: .01*3/1, .04*3/2, .5
    np.testing.assert_allclose(table["p_bh_all"], [0.02, 0.04, 0.04, 0.02, 0.06, 0.5, 0.03, np.nan, 0.5])


def test_benjamini_hochberg_is_that_of_r(rscript: RScript) -> None:
    p = np.random.default_rng(3).uniform(size=22) ** 3
    place = {"measure": "z", "region": "sentence", "prompt": "sense", "random": "intercepts", "term": "grammaticality"}
    table = pd.DataFrame({**place, "p": p})
    theirs = rscript("result <- data.frame(p = p.adjust(tests$p, 'BH'))", tests=table)
    np.testing.assert_allclose(adjusted(table)["p_bh"], theirs["p"], rtol=1e-10)


def test_the_coefficient_is_grammatical_minus_ungrammatical(tables: Tables) -> None:
    found = models(tables).set_index(["phenomenon", "region", "random", "term"])["estimate"]
    assert found[("agreement", "sentence", "intercepts", "grammaticality")] > 0
    assert found[("agreement", "critical", "intercepts", "grammaticality")] < 0
    mean = compute_region_times(tables["readings"], tables["items"]).query("phenomenon == 'agreement' and region == 'critical'")
    assert found[("agreement", "critical", "intercepts", "intercept")] == pytest.approx(mean["log_rt"].mean(), abs=0.05)


def test_known_effects_on_reading_times_are_recovered(simulate: Simulate) -> None:
    tables = simulate(participants=60, items=16, seed=7)
    rows = models(tables).query("term == 'grammaticality' and random == 'intercepts'")
    times = rows[rows["region"] == "critical"]
    assert ((times["ci_low"] < -0.08) & (times["ci_high"] > -0.08)).all()
    ratings = rows[rows["measure"] == "z"].set_index("phenomenon")
    assert ratings.loc["agreement", "estimate"] > ratings.loc["islands", "estimate"] > 0.2
    assert ratings.loc["null effect", "p_bh"] > 0.05
    assert (ratings.drop("null effect")["p_bh"] < 0.001).all()


def test_only_paradigms_of_grammatical_and_ungrammatical_enter(tables: Tables) -> None:
    items = tables["items"].assign(
        condition=tables["items"]["condition"].where(tables["items"]["paradigm"] != "islands 1", "object")
    )
    items = items.drop_duplicates(["item", "condition"])
    assert find_minimal_pair_paradigms(items) == ["agreement 1", "null effect 1"]


def test_without_minimal_pairs_the_table_is_empty_but_whole(tables: Tables) -> None:
    factorial = {"grammatical": "subject", "ungrammatical": "object"}
    renamed = {name: tables[name].replace({"condition": factorial}) for name in ("items", "readings", "responses")}
    found = analyse(renamed | {"sessions": tables["sessions"]})
    assert found["phenomenon_models"].empty
    assert found["families"].empty
    assert found["sensitivity"].empty
    assert set(found["condition_means"]["condition"]) == {"subject", "object"}


def test_a_phenomenon_that_cannot_be_fitted_keeps_a_row_that_says_why(tables: Tables) -> None:
    one = {name: tables[name] for name in ("readings", "responses", "items")}
    for name in ("readings", "responses"):
        one[name] = one[name][one[name]["participant"] == "P00"]
    table = check(models(one), "phenomenon_models")
    assert table["estimate"].isna().all()
    assert table["note"].str.startswith("Not fitted: there is only one participant (P00)").all()


def test_fillers_shape_z_but_are_not_in_the_models(tables: Tables) -> None:
    responses = tables["responses"].copy()
    responses.loc[responses["paradigm"] == "islands 1", "role"] = "filler"
    found = models(tables | {"responses": responses}).query("measure == 'z'")
    assert set(found["phenomenon"]) == {"agreement", "null effect"}


def test_a_slope_model_stands_beside_each_declared_one_and_says_what_was_fitted(tables: Tables) -> None:
    found = models(tables).query("term == 'grammaticality'").set_index(["measure", "random"])["formula"]
    assert set(found["z", "intercepts"]) == {"z ~ grammaticality + (1|participant) + (1|item)"}
    slopes = "(1 + grammaticality|participant) + (1 + grammaticality|item)"
    assert set(found["log_rt", "slopes"].str.replace(" ", "")) == {
        f"log_rt ~ grammaticality + log_trial + {slopes}".replace(" ", "")
    }
    assert set(found["z", "slopes"].str.replace(" ", "")) == {f"z ~ grammaticality + {slopes}".replace(" ", "")}


def test_position_is_a_covariate_only_where_the_members_of_a_pair_differ_in_it(tables: Tables) -> None:
    times = compute_region_times(tables["readings"], tables["items"])
    moved = (times["paradigm"] == "islands 1") & (times["condition"] == "ungrammatical")
    times.loc[moved, "word"] += 1
    scores = compute_rating_scores(tables["responses"], tables["items"])
    table = phenomenon_models(scores, times, tables["items"]).query("region == 'critical' and random == 'intercepts'")
    terms = table.groupby("phenomenon")["term"].agg(list)
    assert terms["islands"] == ["intercept", "grammaticality", "log_trial", "position"]
    assert terms["agreement"] == ["intercept", "grammaticality", "log_trial"]


def test_without_covariates_the_models_are_the_published_ones_of_r(tables: Tables, rscript: Callable[..., pd.DataFrame]) -> None:
    """lmerTest on sums by hand of the region, which has two words, and the word after it."""
    items = tables["items"]
    readings = tables["readings"].query("paradigm == 'islands 1' and role == 'target'")
    times = compute_region_times(readings, items, regions="cumulative")
    scores = compute_rating_scores(tables["responses"].head(0), items)
    table = phenomenon_models(scores, times, items, covariates=()).query("random == 'intercepts'")
    assert set(table["formula"]) == {"log_rt ~ grammaticality + (1|participant) + (1|item)"}
    found = table[table["term"] == "grammaticality"].set_index("region")
    assert list(found.index) == ["critical", "critical..+1"]
    rows = []
    for _, trial in readings.groupby(["session", "trial", "condition"]):
        rts, at = trial["rt"].to_list(), trial["region"].fillna("").to_list().index("critical")
        if all(100 <= rt <= 3000 for rt in rts[at : at + 3]):
            side = 0.5 if trial["condition"].iloc[0] == "grammatical" else -0.5
            rows.append((trial["participant"].iloc[0], trial["item"].iloc[0], side, np.log(sum(rts[at : at + 3]))))
    frame = pd.DataFrame(rows, columns=["participant", "item", "g", "y"])
    code = """
        m <- summary(lmerTest::lmer(y ~ g + (1|participant) + (1|item), rows))$coefficients
        result <- data.frame(estimate = m['g', 1], se = m['g', 2], p = m['g', 5])
        """
    [by_hand] = rscript(code, rows=frame).to_dict("records")
    ours = found.loc["critical..+1"]
    assert [ours["estimate"], ours["se"]] == pytest.approx([by_hand["estimate"], by_hand["se"]], rel=1e-4)
    assert ours["p"] == pytest.approx(by_hand["p"], rel=1e-2)


def test_the_minimum_detectable_effect_is_found_in_eight_of_ten_repetitions(tables: Tables) -> None:
    """By its definition: the non-central t of such an effect exceeds the critical value with about that probability."""
    row = models(tables).query("term == 'grammaticality' and region == 'critical' and random == 'intercepts'").iloc[0]
    df, effect = row["df"], row["mde"] / row["se"]
    found = stats.nct.sf(stats.t.ppf(0.975, df), df, effect)
    assert found == pytest.approx(0.80, abs=0.005)


def test_the_raw_scale_is_fitted_beside(tables: Tables) -> None:
    rows = models(tables).query("term == 'grammaticality' and random == 'intercepts'").set_index(["phenomenon", "region"])
    scores = compute_rating_scores(tables["responses"], tables["items"]).query("role == 'target' and phenomenon == 'agreement'")
    means = scores.groupby("condition")["rating"].mean()
    assert rows.loc[("agreement", "sentence"), "raw"] == pytest.approx(means["grammatical"] - means["ungrammatical"], abs=0.2)
    assert rows.loc[("agreement", "critical"), "raw"] == pytest.approx(rows.loc[("agreement", "critical"), "ms"], rel=0.3)


def test_milliseconds_are_the_delta_method_on_the_covariances_of_lme4(tables: Tables, rscript: RScript) -> None:
    times = compute_region_times(tables["readings"], tables["items"]).query("phenomenon == 'agreement' and region == 'critical'")
    # Twice as many grammatical trials: then intercept and slope covary.
    times = times.drop(times[times["condition"] == "ungrammatical"].index[::2]).reset_index(drop=True)
    scores = compute_rating_scores(tables["responses"].head(0), tables["items"])
    row = phenomenon_models(scores, times, tables["items"]).query("term == 'grammaticality' and random == 'intercepts'").iloc[0]
    data = times.assign(g=times["condition"].map({"grammatical": 0.5, "ungrammatical": -0.5}), lt=np.log1p(times["trial"]))
    data = data.assign(lt=data["lt"] - data["lt"].mean())[["log_rt", "g", "lt", "participant", "item"]]
    estimate, variance, df = rscript(
        """
        m <- lmerTest::lmer(log_rt ~ g + lt + (1|participant) + (1|item), rows)
        b <- lme4::fixef(m); V <- as.matrix(vcov(m))[1:2, 1:2]
        by <- c(exp(b[1] + b[2]/2) - exp(b[1] - b[2]/2), (exp(b[1] + b[2]/2) + exp(b[1] - b[2]/2)) / 2)
        result <- data.frame(ms = by[1], variance = as.numeric(t(by) %*% V %*% by), df = coef(summary(m))['g', 'df'])
        """,
        rows=data,
    ).iloc[0]
    half = stats.t.ppf(0.975, df) * np.sqrt(variance)
    np.testing.assert_allclose(
        row[["ms", "ms_low", "ms_high"]].astype(float), [estimate, estimate - half, estimate + half], rtol=1e-3
    )


def test_residual_autocorrelation_is_that_of_least_squares_residuals_in_trial_order(tables: Tables) -> None:
    times = compute_region_times(tables["readings"], tables["items"])
    scores = compute_rating_scores(tables["responses"].head(0), tables["items"])
    rows = entering(scores, times, tables["items"])["log_rt", "critical", None]
    cell = rows["phenomenon"] + rows["condition"]
    design = pd.get_dummies(pd.DataFrame({"p": rows["participant"], "i": rows["item"], "c": cell}), dtype=float)
    x = np.column_stack([np.ones(len(rows)), rows["log_trial"], design.to_numpy()])
    y = rows["log_rt"].to_numpy()
    residual = dict(zip(zip(rows["session"], rows["trial"], strict=True), y - x @ np.linalg.lstsq(x, y)[0], strict=True))
    pairs = []
    for session in sorted(set(rows["session"])):
        trials = sorted(t for s, t in residual if s == session)
        pairs += [(residual[session, a], residual[session, b]) for a, b in itertools.pairwise(trials)]
    assert autocorrelation(rows, "log_rt") == pytest.approx(np.corrcoef(np.array(pairs).T)[0, 1], abs=1e-6)


def test_autocorrelated_residuals_are_seen() -> None:
    rng = np.random.default_rng(5)
    noise = np.zeros((40, 60))
    for t in range(1, 60):
        noise[:, t] = 0.6 * noise[:, t - 1] + rng.normal(size=40)
    frame = pd.DataFrame([(f"p{p}", t, f"i{(7 * t + p) % 60}", noise[p, t]) for p in range(40) for t in range(60)],
                         columns=["participant", "trial", "item", "z"])  # fmt: skip
    frame = frame.assign(session=frame["participant"], phenomenon="a", condition="grammatical", log_trial=np.log1p(frame["trial"]))
    assert autocorrelation(frame, "z") == pytest.approx(0.55, abs=0.06)  # below .6: 60 trials have a mean of their own


def test_paradigm_models_are_a_family_of_their_own(analysed: Tables) -> None:
    rows = analysed["families"].set_index(["level", "region", "random"])
    assert rows["models"].eq(3).all()
    assert set(rows.index.get_level_values("level")) == {"phenomenon", "paradigm"}
    tests = analysed["paradigm_models"].query("term == 'grammaticality' and region == 'critical'")
    assert rows.loc[("paradigm", "critical", "intercepts"), "found"] == (tests["p_bh"] < 0.05).sum()
    ratings = analysed["paradigm_models"].query("term == 'grammaticality' and measure == 'z'")
    assert ratings.groupby("random").size().to_dict() == {"intercepts": 3, "slopes": 3}, "both forms, side by side"


@pytest.mark.parametrize("constant", ["rating", "time"])
def test_a_constant_response_is_a_row_that_says_so(tables: Tables, constant: str) -> None:
    scores, times = (
        compute_rating_scores(tables["responses"], tables["items"]),
        compute_region_times(tables["readings"], tables["items"]),
    )
    if constant == "rating":
        scores = compute_rating_scores(tables["responses"].assign(response="4"), tables["items"])
        table = phenomenon_models(scores, times.head(0), tables["items"])
        assert table.empty  # constant raters have no z at all
    else:
        table = phenomenon_models(scores.head(0), times.assign(rt=300.0, log_rt=np.log(300.0)), tables["items"])
        assert table["note"].str.contains("in each of").all()


def test_an_empty_cell_is_a_row_that_says_so(tables: Tables) -> None:
    scores = compute_rating_scores(tables["responses"], tables["items"])
    scores = scores[(scores["phenomenon"] != "islands") | (scores["condition"] == "grammatical")]
    times = compute_region_times(tables["readings"], tables["items"]).head(0)
    table = phenomenon_models(scores, times, tables["items"]).set_index("phenomenon")
    assert table.loc["islands", "note"].str.contains("grammaticality' is 0.5 in each of").all()
    assert table.loc["agreement", "estimate"].notna().all()
