"""Spreads from a pilot: the truth is recovered, upper limits hold it as often as they say, and zeros take the default."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import Assumptions
from gardenpath.analysis.modelling.pilot import PILOT, UPPER, pilot, spreads_in
from gardenpath.analysis.modelling.power import PowerScenario, build_scenario
from gardenpath.analysis.modelling.simulated_trials import standard
from gardenpath.study import DataError

FACTORS = {"extraction": ("subject", "object")}
TRUTH = Assumptions(participant=0.25, item=0.2, participant_slope=0.3, item_slope=0.35, residual=0.4)


def taken(plan: PowerScenario, participants: int, items: int, rng: np.random.Generator) -> pd.DataFrame:
    """Trials of a pilot as the tables have them: people, items, conditions and responses."""
    trials = plan.layout.assign_trials(participants, items)
    levels = zip(plan.layout.factors.items(), strict=True)
    named = [[of[k] for k in trials.levels[name]] for ((name, of),) in levels]
    rows = {"participant": trials.participant.astype(str), "item": trials.item.astype(str)}
    rows |= {"condition": [".".join(each) for each in zip(*named, strict=True)]}
    return pd.DataFrame(rows | {plan.response: plan._responses(plan.expected(trials), plan._chance(trials, rng))})


def spread(one: Assumptions) -> list[float]:
    return [one.participant, one.item, *one.slopes["extraction"], one.residual]


def test_estimates_are_right_on_average_and_limits_hold_the_truth_as_often_as_they_say() -> None:
    plan, rng, runs = (build_scenario(0.05, factors=FACTORS, term="extraction", assumptions=TRUTH), np.random.default_rng(4), 60)
    known = np.array([0.25, 0.2, 0.3, 0.35, 0.4])
    pilots = [spreads_in(taken(plan, 16, 16, rng), plan.layout) for _ in range(runs)]
    np.testing.assert_allclose(np.mean([spread(one.estimated) for one in pilots], axis=0), known, rtol=0.1)
    held = (np.array([spread(one.upper) for one in pilots]) >= known).sum(axis=0)
    low, high = stats.binom.ppf([0.001, 0.999], runs, 0.8)
    assert ((held >= low) & (held <= high)).all()
    assert (pilots[0].estimated.name, pilots[0].upper.name) == (PILOT, UPPER)


def test_a_spread_that_is_estimated_as_zero_takes_the_default_and_says_so() -> None:
    plan = build_scenario(0.0, factors=FACTORS, term="extraction", assumptions=replace(TRUTH, item=0, item_slope=0))
    told = [spreads_in(taken(plan, 12, 8, np.random.default_rng(seed)), plan.layout) for seed in (5, 6, 11, 12)]
    zeros = [one for one in told if any("intercepts by item" in note for note in one.notes)]
    assert len(zeros) == 3
    for one in zeros:
        assert "pilot: the s.d. of the intercepts by item is estimated as zero; the default, 0.2, is taken" in one.notes
        assert one.estimated.item == standard("log_rt").item
        assert one.upper.item >= one.estimated.item


def test_ratings_give_the_latent_spreads_and_thresholds() -> None:
    truth = replace(standard("rating", points=5), participant=0.7, participant_slope=0.6, item_slope=0.5)
    plan = build_scenario(0.8, factors=FACTORS, term="extraction", response="rating", assumptions=truth)
    found = spreads_in(taken(plan, 80, 40, np.random.default_rng(2)), plan.layout, "rating").estimated
    assert found.residual == 1
    assert found.participant == pytest.approx(0.7, abs=0.15)
    assert found.slopes["extraction"] == (pytest.approx(0.6, abs=0.15), pytest.approx(0.5, abs=0.15))
    # thresholds are cuts of a scale whose mean is 0, without the effect's own variance
    np.testing.assert_allclose(np.array(found.thresholds), np.array(truth.thresholds) - truth.mean, atol=0.25)


def test_conditions_that_the_study_does_not_have_are_named() -> None:
    plan = build_scenario(0.0, factors=FACTORS, term="extraction")
    rows = taken(plan, 4, 4, np.random.default_rng(1)).replace({"condition": {"object": "passive"}})
    with pytest.raises(DataError, match="condition 'passive' of the pilot is not in the study; expected subject, object"):
        spreads_in(rows, plan.layout)


def test_tables_without_trials_of_these_paradigms_are_answered(tables: dict[str, pd.DataFrame]) -> None:
    layout = build_scenario(0.0, factors=FACTORS, term="extraction").layout
    with pytest.raises(DataError, match="no trial of nothing has log_rt; expected the tables of a pilot"):
        pilot(tables, layout, ["nothing"])


def test_answers_and_choices_give_their_spreads_in_log_odds() -> None:
    truth = replace(standard("correct"), participant=1.0, item=0.8, participant_slope=1.0, item_slope=0.9, mean=1.2)
    plan = build_scenario(0.5, factors=FACTORS, term="extraction", response="correct", assumptions=truth)
    found = spreads_in(taken(plan, 60, 40, np.random.default_rng(3)), plan.layout, "correct")
    assert found.estimated.participant == pytest.approx(1.0, abs=0.25)
    assert found.estimated.slopes["extraction"] == (pytest.approx(1.0, abs=0.35), pytest.approx(0.9, abs=0.35))
    assert found.estimated.mean == pytest.approx(1.2, abs=0.35)
    assert found.upper.slopes["extraction"][0] > found.estimated.slopes["extraction"][0]
    prefer = replace(standard("chosen"), participant_slope=0.8, item_slope=0.7)
    plan = build_scenario(0.5, factors=FACTORS, term="extraction", response="chosen", assumptions=prefer)
    rows = taken(plan, 40, 30, np.random.default_rng(3))
    rows = rows.assign(response=np.where(rows["chosen"] == 1, "object", "subject"))
    found = spreads_in(rows, plan.layout, "chosen")
    assert found.estimated.slopes["extraction"] == (pytest.approx(0.8, abs=0.25), pytest.approx(0.7, abs=0.25))
    assert found.estimated.mean == 0
