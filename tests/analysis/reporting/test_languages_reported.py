"""Language models over languages, in figures and sentences: each number is that of its table."""

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import compute_language_tables
from gardenpath.analysis.reporting.figures import language_figures
from gardenpath.analysis.reporting.wording import languages as wording
from gardenpath.study import TABLES, DataError

from ..test_by_language import LANGUAGES, made

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def tables() -> Tables:
    frequency = [10.0 ** (2 + k * 6 / 19) for k in range(20)]
    return compute_language_tables(made({"a": 0.1, "b": 0.5}), pd.DataFrame({"language": LANGUAGES, "frequency": frequency}))


def test_each_language_and_each_split_has_a_row_with_the_interval_of_its_table(tables: Tables) -> None:
    axes = language_figures.language_figure(tables["language_accuracies"], "lp").axes[0]
    overall = tables["language_accuracies"].query("phenomenon == 'all'")
    means = overall.groupby("language")["accuracy"].mean()
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert means[names].is_monotonic_decreasing
    assert set(names) == set(LANGUAGES)
    drawn = next(part for part in axes.containers if part.get_label() == "b")
    ends = [segment[:, 0] for segment in drawn[2][0].get_segments()]
    of_b = overall[overall["model"] == "b"].set_index("language")
    np.testing.assert_allclose(ends, of_b.loc[names, ["wilson_low", "wilson_high"]])

    axes = language_figures.split_figure(tables["language_means"], "lp").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "all languages (20)", "low frequency (12)", "mid frequency (6)", "high frequency (2)",
    ]  # fmt: skip
    whole = tables["language_means"].query("phenomenon == 'all' and split == 'all' and model == 'a'").iloc[0]
    drawn = next(part for part in axes.containers if part.get_label() == "a")
    np.testing.assert_allclose(drawn[2][0].get_segments()[0][:, 0], [whole["ci_low"], whole["ci_high"]])
    with pytest.raises(DataError, match="one split"):
        language_figures.split_figure(tables["language_means"].query("split == 'all'"), "lp")


def test_the_curve_goes_through_what_the_table_states_and_names_the_farthest(tables: Tables) -> None:
    curves, residuals = tables["frequency_curves"], tables["frequency_residuals"]
    figure = language_figures.frequency_figure(curves, residuals, "lp")
    for axes, row in zip(figure.axes, curves.itertuples(), strict=True):
        of_model = residuals[residuals["model"] == row.model]
        _, points, curve = axes.lines
        np.testing.assert_allclose(points.get_xydata()[:, 1], of_model["accuracy"])
        there = np.interp(np.log10(of_model["frequency"]), curve.get_xdata(), curve.get_ydata())
        np.testing.assert_allclose(there, of_model["fitted"], atol=1e-3)
        far = of_model.reindex(of_model["residual"].abs().nlargest(4).index)
        assert {text.get_text() for text in axes.texts} == {*far["language"]}


def test_an_interval_over_languages_holds_the_mean_and_needs_ten(tables: Tables) -> None:
    rows = tables["language_means"].query("phenomenon == 'all'")
    assert rows["ci_low"].notna().tolist() == (rows["n_languages"] >= 10).tolist()
    known = rows.dropna(subset="ci_low")
    shares = tables["language_accuracies"].query("phenomenon == 'all' and model == 'a'")["accuracy"]
    normal = 1.96 * shares.std(ddof=1) / len(shares) ** 0.5
    first = known[known["model"] == "a"].iloc[0]
    assert (first["ci_high"] - first["ci_low"]) / 2 == pytest.approx(normal, rel=0.1)
    assert known["accuracy"].between(known["ci_low"], known["ci_high"]).all()


def test_sentences_say_what_the_tables_hold(tables: Tables) -> None:
    first = wording.means(tables["language_means"])[0]
    row = tables["language_means"].query("phenomenon == 'all' and split == 'all' and model == 'a'").iloc[0]
    assert first.startswith(f"a (p), lp: {100 * row['accuracy']:.1f}% of pairs won (95% CI [{100 * row['ci_low']:.1f}, ")
    assert f"the best model of {row['n_best']} language" in first
    assert " over the 12 of low frequency, " in first
    wins = tables["language_wins"].iloc[0]
    [won] = wording.wins(tables["language_wins"])
    assert (
        f"of 20 languages the first wins more in {wins['n_a_better']}, the second in {wins['n_b_better']} (McNemar, p < .05" in won
    )
    curve = tables["frequency_curves"].iloc[0]
    told = wording.frequencies(tables["frequency_curves"], tables["frequency_residuals"])[0]
    assert f"from 50% to {100 * curve['upper_asymptote']:.1f}%, halfway at {curve['midpoint']:.1f}" in told
    above = tables["frequency_residuals"].query("model == 'a'").nlargest(3, "residual")["language"]
    assert f"{', '.join(above)} above" in told
    without = tables["frequency_curves"].assign(slope=None, note="No curve: 3 languages, under 4.")
    assert wording.frequencies(without, tables["frequency_residuals"])[0] == "a (p), lp: No curve: 3 languages, under 4."


def test_a_regression_is_told_by_its_predictors_and_not_by_phenomena() -> None:
    row = dict.fromkeys(TABLES["score_difference_regressions"].column_names)
    row |= {"model": "m", "protocol": "p", "measure": "lp", "method": "mixed", "n_pairs": 50, "n_languages": 4, "note": ""}
    fitted = {"estimate": -0.42, "se": 0.1, "df": 30.0, "t": -4.2, "p": 0.0002, "ci_low": -0.62, "ci_high": -0.22}
    table = pd.DataFrame([row | fitted | {"term": term} for term in ("SV-#", "perplexity")])
    assert wording.regressions(pd.concat([table, table.assign(method="ols")])) == [
        "m (p), lp: difference in score (nats) of 50 pairs in 4 languages, by a mixed model with intercepts of language and paradigm: "
        "perplexity, b = −0.42, 95% CI [−0.62, −0.22], t(30.0) = −4.20, p < .001."
    ]
