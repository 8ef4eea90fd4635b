"""The models of grammaticality: coding, correction, and phenomena that cannot be fitted."""

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import StudyTrials, analyse, compute_rating_scores, compute_region_times, resolve_plan
from gardenpath.analysis.fitting.autocorrelation import autocorrelation
from gardenpath.analysis.grammatical_status import find_minimal_pair_paradigms
from gardenpath.analysis.intervals import benjamini_hochberg
from gardenpath.analysis.model_results import select_pairs
from gardenpath.study import AnalysisSection

from .conftest import build_trials, fit_trials, measure_pairs

Tables = dict[str, pd.DataFrame]
Simulate = Callable[..., Tables]
RScript = Callable[..., pd.DataFrame]


def models(trials: StudyTrials, **settings: object) -> pd.DataFrame:
    """Return the effects of phenomena beside their fits."""
    return fit_trials(trials, **settings)["results"].query("unit == 'phenomenon'")


@pytest.fixture(scope="module")
def found(tables: Tables) -> Tables:
    """What is fitted to the study of three phenomena."""
    return fit_trials(measure_pairs(tables))


def by_hand(p: "pd.Series[float]") -> list[float]:
    """Return p after Benjamini and Hochberg, by its definition: the least p m / rank of those that are not smaller."""
    return [min(1, *(q * len(p) / sum(p <= q) for q in p if q >= own)) for own in p]


def test_benjamini_hochberg_is_over_units_of_one_response_and_region_and_over_all_regions_beside(found: Tables) -> None:
    tests = select_pairs(found["results"]), select_pairs(found["results"], "paradigm")
    tests = pd.concat(tests).query("factors == 'grammaticality'")
    families = tests.groupby(["unit", "response", "region", "random"])
    assert families.size().eq(3).all()
    assert len(families) == 2 * 2 + 2 * 2 + 2  # slopes of reading times by phenomenon alone
    for _, rows in families:
        assert rows["p_adjusted"].to_list() == pytest.approx(by_hand(rows["p"]))
    for _, rows in tests.groupby(["unit", "response", "random"]):
        assert rows["p_adjusted_all"].to_list() == pytest.approx(by_hand(rows["p"]))
    others = found["effects"].drop(tests.index)
    assert others[["p_adjusted", "p_adjusted_all"]].isna().all(axis=None)
    assert set(tests["adjustment"]) == {
        f"Benjamini-Hochberg over the {units} of one response, region, prompt and form of random effects"
        for units in ("phenomena", "paradigms")
    }


def test_benjamini_hochberg_is_that_of_r(rscript: RScript) -> None:
    p = pd.Series(np.random.default_rng(3).uniform(size=22) ** 3)
    theirs = rscript("result <- data.frame(p = p.adjust(tests$p, 'BH'))", tests=p.to_frame("p"))
    np.testing.assert_allclose(benjamini_hochberg(p), theirs["p"], rtol=1e-10)


def test_the_coefficient_is_grammatical_minus_ungrammatical(tables: Tables, found: Tables) -> None:
    of_phenomena = found["effects"].query("unit == 'phenomenon'")
    found = of_phenomena.set_index(["model", "region", "random", "term"])["estimate"]
    assert found[("agreement", "sentence", "intercepts", "grammaticality")] > 0
    assert found[("agreement", "critical", "intercepts", "grammaticality")] < 0
    mean = compute_region_times(tables["readings"], tables["items"]).query("phenomenon == 'agreement' and region == 'critical'")
    assert found[("agreement", "critical", "intercepts", "intercept")] == pytest.approx(mean["log_rt"].mean(), abs=0.05)


def test_known_effects_on_reading_times_are_recovered(simulate: Simulate) -> None:
    tables = simulate(participants=60, items=16, seed=7)
    rows = models(measure_pairs(tables)).query("term == 'grammaticality' and random == 'intercepts'")
    times = rows[rows["region"] == "critical"]
    assert ((times["ci_low"] < -0.08) & (times["ci_high"] > -0.08)).all()
    ratings = rows[rows["response"] == "z"].set_index("model")
    assert ratings.loc["agreement", "estimate"] > ratings.loc["islands", "estimate"] > 0.2
    assert ratings.loc["null effect", "p_adjusted"] > 0.05
    assert (ratings.drop("null effect")["p_adjusted"] < 0.001).all()


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
    assert all(found[name].empty for name in ("planned_models", "models", "effects", "random_effects"))
    assert set(found["condition_means"]["condition"]) == {"subject", "object"}


def test_a_phenomenon_that_cannot_be_fitted_keeps_a_row_that_says_why(tables: Tables) -> None:
    one = {name: tables[name] for name in ("readings", "responses", "items")}
    for name in ("readings", "responses"):
        one[name] = one[name][one[name]["participant"] == "P00"]
    table = models(measure_pairs(one))
    assert table["estimate"].isna().all()
    assert table["note"].str.startswith("Not fitted: there is only one participant (P00)").all()


def test_fillers_shape_z_but_are_not_in_the_models(tables: Tables) -> None:
    responses = tables["responses"].copy()
    responses.loc[responses["paradigm"] == "islands 1", "role"] = "filler"
    trials = measure_pairs(tables | {"responses": responses})
    assert set(trials.pair_measures["z", "sentence", "acceptability"]["phenomenon"]) == {"agreement", "null effect"}


def test_a_slope_model_stands_beside_each_declared_one_and_says_what_was_fitted(found: Tables) -> None:
    found = select_pairs(found["results"]).set_index(["response", "random"])["formula"]
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
    plan = resolve_plan(AnalysisSection(), build_trials(times=times, items=tables["items"]))
    terms = {model.name: [effect.term for effect in model.effects] for model in plan.models if model.region == "critical"}
    assert terms["islands"] == ["intercept", "grammaticality", "log_trial", "position"]
    assert terms["agreement"] == ["intercept", "grammaticality", "log_trial"]


def test_without_covariates_the_models_are_the_published_ones_of_r(tables: Tables, rscript: Callable[..., pd.DataFrame]) -> None:
    """lmerTest on sums by hand of the region, which has two words, and the word after it."""
    items = tables["items"]
    readings = tables["readings"].query("paradigm == 'islands 1' and role == 'target'")
    times = compute_region_times(readings, items, regions="cumulative")
    table = models(build_trials(times=times, items=items), covariates=()).query("random == 'intercepts'")
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


def test_the_minimum_detectable_effect_is_found_in_eight_of_ten_repetitions(found: Tables) -> None:
    """By its definition: the non-central t of such an effect exceeds the critical value with about that probability."""
    row = select_pairs(found["results"]).query("region == 'critical' and random == 'intercepts'").iloc[0]
    df, effect = row["df"], row["mde"] / row["se"]
    found = stats.nct.sf(stats.t.ppf(0.975, df), df, effect)
    assert found == pytest.approx(0.80, abs=0.005)


def test_the_raw_scale_is_fitted_beside(tables: Tables, found: Tables) -> None:
    rows = select_pairs(found["results"]).query("random == 'intercepts'").set_index(["model", "region"])
    scores = compute_rating_scores(tables["responses"], tables["items"]).query("role == 'target' and phenomenon == 'agreement'")
    means = scores.groupby("condition")["rating"].mean()
    assert rows.loc[("agreement", "sentence"), "raw"] == pytest.approx(means["grammatical"] - means["ungrammatical"], abs=0.2)
    assert rows.loc[("agreement", "critical"), "raw"] == pytest.approx(rows.loc[("agreement", "critical"), "ms"], rel=0.3)


def test_milliseconds_are_the_delta_method_on_the_covariances_of_lme4(tables: Tables, rscript: RScript) -> None:
    times = compute_region_times(tables["readings"], tables["items"]).query("phenomenon == 'agreement' and region == 'critical'")
    # Twice as many grammatical trials: then intercept and slope covary.
    times = times.drop(times[times["condition"] == "ungrammatical"].index[::2]).reset_index(drop=True)
    results = models(build_trials(times=times, items=tables["items"]))
    row = results.query("term == 'grammaticality' and random == 'intercepts'").iloc[0]
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


def test_residual_autocorrelation_is_that_of_least_squares_residuals_in_trial_order(tables: Tables, found: Tables) -> None:
    rows = measure_pairs(tables).pair_measures["log_rt", "critical", None]
    cell = rows["phenomenon"] + rows["condition"]
    design = pd.get_dummies(pd.DataFrame({"p": rows["participant"], "i": rows["item"], "c": cell}), dtype=float)
    x = np.column_stack([np.ones(len(rows)), rows["log_trial"], design.to_numpy()])
    y = rows["log_rt"].to_numpy()
    residual = dict(zip(zip(rows["session"], rows["trial"], strict=True), y - x @ np.linalg.lstsq(x, y)[0], strict=True))
    pairs = []
    for session in sorted(set(rows["session"])):
        trials = sorted(t for s, t in residual if s == session)
        pairs += [(residual[session, a], residual[session, b]) for a, b in itertools.pairwise(trials)]
    ours = select_pairs(found["results"]).query("region == 'critical'")["autocorrelation"]
    np.testing.assert_allclose(ours, np.corrcoef(np.array(pairs).T)[0, 1], atol=1e-6)


def test_autocorrelated_residuals_are_seen() -> None:
    rng = np.random.default_rng(5)
    noise = np.zeros((40, 60))
    for t in range(1, 60):
        noise[:, t] = 0.6 * noise[:, t - 1] + rng.normal(size=40)
    frame = pd.DataFrame([(f"p{p}", t, f"i{(7 * t + p) % 60}", noise[p, t]) for p in range(40) for t in range(60)],
                         columns=["participant", "trial", "item", "z"])  # fmt: skip
    frame = frame.assign(session=frame["participant"], phenomenon="a", condition="grammatical", log_trial=np.log1p(frame["trial"]))
    assert autocorrelation(frame, "z") == pytest.approx(0.55, abs=0.06)  # below .6: 60 trials have a mean of their own


@pytest.mark.parametrize("constant", ["rating", "time"])
def test_a_constant_response_is_a_row_that_says_so(tables: Tables, constant: str) -> None:
    if constant == "rating":
        scores = compute_rating_scores(tables["responses"].assign(response="4"), tables["items"])
        assert models(build_trials(scores=scores, items=tables["items"])).empty  # constant raters have no z at all
    else:
        times = measure_pairs(tables).times.assign(rt=300.0, log_rt=np.log(300.0))
        assert models(build_trials(times=times, items=tables["items"]))["note"].str.contains("in each of").all()


def test_an_empty_cell_is_a_row_that_says_so(tables: Tables) -> None:
    scores = compute_rating_scores(tables["responses"], tables["items"])
    scores = scores[(scores["phenomenon"] != "islands") | (scores["condition"] == "grammatical")]
    table = models(build_trials(scores=scores, items=tables["items"])).set_index("model")
    assert table.loc["islands", "note"].str.contains("grammaticality' is 0.5 in each of").all()
    assert table.loc["agreement", "estimate"].notna().all()
