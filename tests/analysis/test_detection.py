"""Power by simulation against the non-central t, where that is exact, and against the level where there is no effect."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import Spread, power_curve
from gardenpath.analysis.modelling.grammaticality import CORRELATED

PLAIN = Spread(participant_slope=0, item_slope=0)


def test_power_is_that_of_the_non_central_t_where_effects_do_not_vary() -> None:
    """In equal shares without slopes the effect's standard error is 2 sd / sqrt(n)."""
    table = power_curve(0.06, participants=[12, 24], items=[12], ratio=(1, 1), spread=PLAIN, runs=300)
    for row in table.itertuples():
        n = row.participants * row.n_items
        se = 2 * PLAIN.residual / np.sqrt(n)
        df = n - row.participants - row.n_items
        exact = stats.nct.sf(stats.t.ppf(0.975, df), df, 0.06 / se)
        assert row.se == pytest.approx(se, rel=0.03)
        low, high = stats.binom.ppf([0.005, 0.995], 300, exact) / 300
        assert low <= row.power <= high
        assert row.power_low < row.power < row.power_high


def test_no_effect_is_found_in_a_twentieth_and_more_often_when_the_model_lacks_slopes_that_are_there() -> None:
    alone = {"participants": [20], "items": [12], "runs": 200}
    null = power_curve(0.0, spread=PLAIN, **alone)["power"].item()
    assert null <= stats.binom.ppf(0.995, 200, 0.05) / 200
    steep = Spread(participant_slope=0.1, item_slope=0.15)
    without, within = (
        power_curve(0.0, spread=steep, random=form, **alone)["power"].item()
        for form in ("(1|participant) + (1|item)", CORRELATED)
    )
    assert without > 0.2
    assert within < without / 2


def test_the_same_seed_gives_the_same_curve_and_more_of_either_finds_more() -> None:
    given = {"participants": [9, 36], "items": [6, 18], "runs": 40}
    first, second = (power_curve(0.08, **given) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    power = first.set_index(["participants", "n_items"])["power"]
    assert power[36, 18] > power[9, 6]
    cell = power_curve(0.08, participants=[36], items=[18], runs=40)["power"].item()
    assert cell == power[36, 18]  # a cell does not depend on those beside it


@pytest.mark.parametrize("change", [{"participants": []}, {"items": [1]}, {"runs": 0}])
def test_what_cannot_be_simulated_is_a_sentence(change: dict) -> None:
    with pytest.raises(ValueError, match="expected at least 2 of each, and at least one run"):
        power_curve(0.1, **({"participants": [10], "items": [6], "runs": 5} | change))


def test_a_curve_that_was_cut_short_goes_on_and_comes_out_the_same() -> None:
    given = {"participants": [9, 12], "items": [6, 9], "runs": 10}
    whole = power_curve(0.08, **given)
    seen: list[tuple[int, int]] = []
    tables: list[pd.DataFrame] = []
    again = power_curve(
        0.08, **given, known=whole.iloc[:3], progress=lambda done, total: seen.append((done, total)), each=tables.append
    )
    pd.testing.assert_frame_equal(again, whole)
    assert seen == [(30 + k + 1, 40) for k in range(10)]  # only the last cell was simulated
    assert [len(table) for table in tables] == [1, 2, 3, 4]
    other = power_curve(0.10, **given, known=whole)
    np.testing.assert_allclose(other["se"], whole["se"], rtol=1e-4)  # the same noise
    assert (other["effect"] == 0.10).all()  # yet another effect is not taken from it
