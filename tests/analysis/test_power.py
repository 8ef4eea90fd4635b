"""Power by simulation against exact distributions where there are any, and its false positives against the level of the test."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import Assumptions, fit, power_curve
from gardenpath.analysis.modelling.power import build_scenario, run_studies
from gardenpath.analysis.modelling.simulated_trials import Layout, standard
from gardenpath.study import DataError

PLAIN = Assumptions(participant_slope=0, item_slope=0, residual=0.22)
STEEP = Assumptions(participant_slope=0.2, item_slope=0.2, residual=0.3)
FACTORS = {"grammaticality": ("grammatical", "ungrammatical"), "attractor": ("match", "mismatch")}
INTERACTION = "grammaticality:attractor"


def limits(runs: int) -> tuple[float, float]:
    """The exact central 99 % of the share that a test at .05 finds where there is nothing."""
    low, high = stats.binom.ppf([0.005, 0.995], runs, 0.05) / runs
    return low, high


def test_power_is_that_of_the_non_central_t_where_effects_do_not_vary() -> None:
    """In equal shares without slopes the effect's standard error is 2 sd / sqrt(n)."""
    table = power_curve(0.06, participants=[12, 24], items=[12], assumptions=PLAIN, slopes="none", runs=300)
    for row in table.itertuples():
        n = row.n_participants * row.n_items
        se = 2 * PLAIN.residual / np.sqrt(n)
        df = n - row.n_participants - row.n_items
        exact = stats.nct.sf(stats.t.ppf(0.975, df), df, 0.06 / se)
        assert row.se == pytest.approx(se, rel=0.03)
        low, high = stats.binom.ppf([0.005, 0.995], 300, exact) / 300
        assert low <= row.power <= high
        assert row.power_low < row.power < row.power_high


def test_the_standard_error_of_an_interaction_holds_what_slopes_add() -> None:
    """A product of halves has the variance 1/16; slopes of people and of items add theirs over their number."""
    assumed = replace(PLAIN, slopes={INTERACTION: (0.2, 0.3)})  # of the others there are none
    table = power_curve(0.1, participants=[24], items=[16], factors=FACTORS, term=INTERACTION, assumptions=assumed, runs=40)
    known = np.sqrt(16 * PLAIN.residual**2 / (24 * 16) + 0.2**2 / 24 + 0.3**2 / 16)
    assert table["se"].item() == pytest.approx(known, rel=0.08)


def found_without_an_effect(participants: int, items: int, runs: int, **given: object) -> float:
    table = power_curve(0.1, participants=[participants], items=[items], factors=FACTORS, term="attractor", runs=runs, **given)
    return float(table["false_positives"].item())


def test_false_positives_do_not_exceed_the_level_of_the_test() -> None:
    assert found_without_an_effect(16, 12, 120) <= limits(120)[1]


def test_slopes_that_are_there_and_not_fitted_are_found_as_effects() -> None:
    low, high = limits(120)
    assert low <= found_without_an_effect(20, 16, 120, assumptions=STEEP) <= high
    assert found_without_an_effect(40, 24, 120, assumptions=STEEP, slopes="none") > 0.3


@pytest.mark.slow
def test_false_positives_at_full_size(full: bool) -> None:
    """1,000 studies of 40 participants with 24 items: with the default spreads, and with slopes of s.d. .2."""
    if not full:
        pytest.skip("a thousand studies are run by  make test-all")
    low, high = limits(1000)
    assert found_without_an_effect(40, 24, 1000) <= high
    assert low <= found_without_an_effect(40, 24, 1000, assumptions=STEEP) <= high
    assert found_without_an_effect(40, 24, 1000, assumptions=STEEP, slopes="none") > 0.3


def test_a_linear_model_of_the_same_study_without_the_effect_needs_no_second_fit() -> None:
    given = {"participants": [12], "items": [8], "factors": FACTORS, "term": INTERACTION, "runs": 30}
    with_one, without = (power_curve(effect, assumptions=PLAIN, **given) for effect in (0.3, 0.0))
    assert with_one["power"].item() > without["power"].item()
    assert with_one["false_positives"].item() == without["power"].item()


def test_a_study_is_the_one_that_analyse_would_fit() -> None:
    """The p of a simulated study is that of `fit` for a table of the same trials, by hand."""
    plan = build_scenario(0.2, factors=FACTORS, term="attractor:grammaticality", assumptions=STEEP)
    trials = plan.layout.assign_trials(8, 8)
    rng = np.random.default_rng([3, 8, 8])
    random, own = plan._chance(trials, rng)
    rows = pd.DataFrame({"participant": trials.participant.astype(str), "item": trials.item.astype(str)}, dtype=object)
    for name in FACTORS:  # numbers, since a factor's slopes without those of its parts are another model
        rows[name] = np.where(trials.levels[name] == 1, 0.5, -0.5)
    rows["log_rt"] = 0.2 * rows["grammaticality"] * rows["attractor"] + random + own
    slopes = "(1 + grammaticality:attractor|participant) + (1 + grammaticality:attractor|item)"
    by_hand = fit(rows, f"log_rt ~ grammaticality*attractor + {slopes}").set_index("term")
    term = next(name for name in by_hand.index if ":" in name)
    [came_out] = run_studies(plan, 8, 8, 1, seed=3)
    assert came_out["se"] == pytest.approx(by_hand["se"][term], rel=1e-6)
    assert came_out["power"] == (by_hand["p"][term] < 0.05)


def test_the_same_seed_gives_the_same_curve_and_more_of_either_finds_more() -> None:
    given = {"participants": [9, 24], "items": [6, 12], "assumptions": PLAIN, "runs": 15}
    first, second = (power_curve(0.08, **given) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    power = first.set_index(["n_participants", "n_items"])["power"]
    assert power[24, 12] > power[9, 6]
    cell = power_curve(0.08, **{**given, "participants": [24], "items": [12]})["power"].item()
    assert cell == power[24, 12]  # a cell does not depend on those beside it


def test_a_curve_that_was_cut_short_goes_on_and_comes_out_the_same() -> None:
    given = {"participants": [9, 12], "items": [6, 9], "slopes": "none", "runs": 10}
    whole = power_curve(0.08, **given)
    seen: list[tuple[int, int]] = []
    tables: list[pd.DataFrame] = []
    again = power_curve(
        0.08, **given, known=whole.iloc[:3], progress=lambda done, total: seen.append((done, total)), each=tables.append
    )
    pd.testing.assert_frame_equal(again, whole)
    assert seen == [(40, 40)]  # only the last cell was simulated
    assert [len(table) for table in tables] == [4]
    other = power_curve(0.10, **given, known=whole)
    np.testing.assert_allclose(other["se"], whole["se"], rtol=1e-4)  # the same noise
    assert (other["effect"] == 0.10).all()  # yet another effect is not taken from it


@pytest.mark.parametrize("change", [{"participants": []}, {"items": [1]}, {"runs": 0}])
def test_what_cannot_be_simulated_is_a_sentence(change: dict) -> None:
    with pytest.raises(ValueError, match="expected at least 2 of each, and at least one run"):
        power_curve(0.1, **({"participants": [10], "items": [6], "runs": 5} | change))


@pytest.mark.parametrize(
    ("term", "told"),
    [
        ("number", "not in the model; expected one of grammaticality, attractor, grammaticality:attractor, or a simple"),
        ("attractor@plural", "expected a factor of two levels at a level of one other"),
    ],
)
def test_an_unknown_term_is_answered_with_those_that_there_are(term: str, told: str) -> None:
    with pytest.raises(DataError, match=told):
        build_scenario(0.1, factors=FACTORS, term=term)


def test_each_item_is_seen_once_by_everybody_in_conditions_of_equal_or_stated_shares() -> None:
    trials = Layout(FACTORS).assign_trials(8, 12)
    rows = pd.DataFrame({"person": trials.participant, "item": trials.item, **trials.levels})
    assert len(rows) == 96
    assert not rows.duplicated(["person", "item"]).any()
    for unit, each in (("person", 3), ("item", 2)):
        assert (rows.groupby([unit, "grammaticality", "attractor"]).size() == each).all()
    shared = Layout({"status": ("good", "bad")}, {"good": 2, "bad": 1}).assign_trials(6, 9)
    assert (np.bincount(shared.participant, weights=shared.levels["status"] == 0) == 6).all()
    between = Layout(FACTORS, between=["attractor"]).assign_trials(8, 12)
    people = pd.DataFrame({"person": between.participant, "attractor": between.levels["attractor"]})
    assert len(people.drop_duplicates()) == 8
    assert people.drop_duplicates()["attractor"].tolist() == [0, 1] * 4


def test_slopes_are_those_that_the_design_allows() -> None:
    trials = Layout(FACTORS, between=["attractor"]).assign_trials(8, 12)
    tested = trials.layout.test(INTERACTION)
    assert str(trials.formula("log_rt", tested, "maximal")) == (
        "log_rt ~ grammaticality + attractor + grammaticality:attractor + (1 + grammaticality|participant) + "
        "(1 + grammaticality + attractor + grammaticality:attractor|item)"
    )
    assert str(trials.formula("log_rt", tested, "tested")).endswith("+ (1|participant) + (1 + grammaticality:attractor|item)")


def test_a_simple_effect_is_the_difference_of_two_cells() -> None:
    """Stated main effects and interactions come to the difference at that level, as means of cells have it."""
    stated = {"grammaticality": 0.05, "attractor": 0.02, INTERACTION: 0.04}
    plan = build_scenario(stated, factors=FACTORS, term="attractor@ungrammatical")
    trials = plan.layout.assign_trials(8, 8)
    means = pd.Series(plan.expected(trials)).groupby([trials.levels[name] for name in FACTORS]).mean()
    assert plan.list_row_keys(8, 8, 1)[0]["effect"] == pytest.approx(means[1, 1] - means[1, 0])
    assert plan.list_row_keys(8, 8, 1)[0]["effect"] == pytest.approx(0.02 + 0.04 / 2)
    formula = str(plan.list_row_keys(8, 8, 1)[0]["formula"])
    assert formula.startswith("log_rt ~ grammaticality + attractor_in_grammatical + attractor_in_ungrammatical + (1 + attr")
    named = build_scenario(stated, factors=FACTORS, term="attractor@grammaticality=grammatical").list_row_keys(8, 8, 1)[0]
    assert named["effect"] == pytest.approx(0.02 - 0.04 / 2)


def test_three_levels_are_compared_each_with_the_one_before() -> None:
    layout = Layout({"load": ("none", "low", "high")})
    assert layout.terms == ("load_low_none", "load_high_low")
    stated = {"load_low_none": 0.1, "load_high_low": 0.3}
    plan = build_scenario(stated, factors=layout.factors, term="load_high_low")
    trials = plan.layout.assign_trials(6, 6)
    means = pd.Series(plan.expected(trials)).groupby(trials.levels["load"]).mean()
    np.testing.assert_allclose(np.diff(means), [0.1, 0.3])


def test_points_of_a_rating_are_cuts_of_one_latent_scale() -> None:
    """Without an effect, shares of points are those of the normal distribution of all that varies."""
    assumed = replace(standard("rating", points=5), item=0.4)
    plan = build_scenario(0.0, response="rating", assumptions=assumed)
    trials = plan.layout.assign_trials(600, 60)
    drawn = np.array(plan._responses(plan.expected(trials), plan._chance(trials, np.random.default_rng(1))))
    slopes = (assumed.participant_slope**2 + assumed.item_slope**2) / 4
    spread = np.sqrt(1 + assumed.participant**2 + assumed.item**2 + slopes)
    known = np.diff(stats.norm.cdf([-np.inf, *assumed.thresholds, np.inf], assumed.mean, spread))
    np.testing.assert_allclose(np.bincount(drawn.astype(int))[1:] / len(drawn), known, atol=0.03)


def test_linear_models_of_ratings_find_a_latent_effect_and_little_else() -> None:
    table = power_curve(0.8, participants=[16], items=[12], response="rating", runs=25)
    row = table.iloc[0]
    assert (row["family"], row["response"]) == ("linear", "rating")
    assert row["power"] > 0.9
    assert row["false_positives"] <= limits(25)[1]


@pytest.mark.r
def test_ordinal_models_are_fitted_to_the_same_ratings() -> None:
    from gardenpath.analysis import cumulative

    given = {"participants": [10], "items": [8], "response": "rating", "runs": 1, "seed": 2}
    assumed = standard("rating", points=4)
    row = power_curve(1.5, **given, assumptions=assumed, family="ordinal").iloc[0]
    assert row["slopes"] == "none"
    plan = build_scenario(1.5, response="rating", assumptions=assumed)
    trials = plan.layout.assign_trials(10, 8)
    rated = plan._responses(plan.expected(trials), plan._chance(trials, np.random.default_rng([2, 10, 8])))
    rows = pd.DataFrame({"participant": trials.participant.astype(str), "item": trials.item.astype(str), "rating": rated})
    rows = rows.assign(grammaticality=trials.product("grammaticality"))
    by_hand = cumulative(rows, "rating ~ grammaticality + (1|participant) + (1|item)").iloc[0]
    assert row["se"] == pytest.approx(by_hand["se"], rel=1e-6)
    assert row["power"] == (by_hand["p"] < 0.05)


def test_an_answer_is_fitted_as_a_table_of_answers_would_be() -> None:
    even = replace(standard("correct"), mean=0.5)
    plan = build_scenario(1.0, factors=FACTORS, term="attractor", response="correct", assumptions=even, slopes="none")
    trials = plan.layout.assign_trials(16, 8)
    answers = plan._responses(plan.expected(trials), plan._chance(trials, np.random.default_rng([5, 16, 8])))
    rows = pd.DataFrame({"participant": trials.participant.astype(str), "item": trials.item.astype(str)}, dtype=object)
    rows = rows.assign(correct=answers, **{name: trials.product(name) for name in FACTORS})
    by_hand = fit(rows, "correct ~ grammaticality*attractor + (1|participant) + (1|item)", family="binomial")
    [came_out] = run_studies(plan, 16, 8, 1, seed=5)
    assert came_out["share_failed"] == 0
    assert came_out["se"] == pytest.approx(by_hand.set_index("term")["se"]["attractor"], rel=1e-6)


def test_nine_of_ten_answers_are_right_and_where_all_are_nothing_is_found() -> None:
    alone = replace(standard("correct"), participant=0, item=0, participant_slope=0, item_slope=0)
    plan = build_scenario(0.0, response="correct", assumptions=alone)
    trials = plan.layout.assign_trials(200, 50)
    answers = plan._responses(plan.expected(trials), plan._chance(trials, np.random.default_rng(1)))
    assert np.mean(answers) == pytest.approx(0.9, abs=0.01)
    sure = replace(alone, mean=12.0)
    row = power_curve(1.0, participants=[8], items=[6], response="correct", assumptions=sure, runs=3).iloc[0]
    assert (row["power"], row["share_failed"]) == (0, 1)
    assert np.isnan(row["se"])


def test_a_choice_has_its_effect_as_the_intercept() -> None:
    """Without random effects the standard error of log odds is 1 / sqrt(n p q)."""
    alone = replace(standard("chosen"), participant_slope=0, item_slope=0)
    row = power_curve(0.5, participants=[20], items=[12], response="chosen", assumptions=alone, runs=12).iloc[0]
    assert row["formula"] == "chosen ~ 1 + (1|participant) + (1|item)"
    share = stats.logistic.cdf(0.5)
    assert row["se"] == pytest.approx(1 / np.sqrt(240 * share * (1 - share)), rel=0.15)  # some variance is estimated
    assert row["power"] > 0.7
    assert row["false_positives"] <= 0.25
    layout = Layout(FACTORS, between=["attractor"], choice=True)
    assert layout.terms == ("grammaticality", INTERACTION)
    tested = layout.test(INTERACTION)
    shown = str(layout.assign_trials(8, 6).formula("chosen", tested, "tested"))
    assert shown == "chosen ~ attractor + (1|participant) + (1 + attractor|item)"
