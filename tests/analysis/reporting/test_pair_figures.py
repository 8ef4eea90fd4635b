"""Figures of language models on minimal pairs show the numbers of their tables."""

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import compute_accuracy, compute_rankings
from gardenpath.analysis.comparing.all_comparisons import ComparisonData, compute_comparisons
from gardenpath.analysis.reporting.figures import figure_style, pair_figures
from gardenpath.study import DataError

Tables = dict[str, pd.DataFrame]
PHENOMENA, PARADIGMS, ITEMS = 3, 12, 10


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    """Three models of different strength on twelve paradigms, under two measures."""
    rng = np.random.default_rng(5)
    rows = []
    for model, skill in (("strong", 1.5), ("middling", 0.6), ("weak", 0.1)):
        for measure in ("lp", "slor"):
            for k in range(PARADIGMS * ITEMS):
                paradigm, gap = k // ITEMS, round(rng.normal(skill - 0.05 * (k // ITEMS), 1), 2)
                place = (f"phenomenon {paradigm % PHENOMENA}", f"paradigm {paradigm}", f"i{k}")
                rows.append((model, "causal", *place, measure, -20.0, -20.0 - gap, gap > 0, gap == 0))
    names = [
        "model",
        "protocol",
        "phenomenon",
        "paradigm",
        "item",
        "measure",
        "score_grammatical",
        "score_ungrammatical",
        "correct",
        "tie",
    ]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture(scope="module")
def found(pairs: pd.DataFrame) -> Tables:
    return {"accuracy": compute_accuracy(pairs), **compute_comparisons(pairs, ComparisonData())}


def test_a_map_has_each_paradigm_and_each_model_with_its_percentage(found: Tables) -> None:
    axes = pair_figures.heat_figure(found["accuracy"], "slor").axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["middling", "strong", "weak"]
    rows = found["accuracy"].query("measure == 'slor' and paradigm.str.startswith('paradigm')")
    cells = rows.pivot_table("accuracy", ["phenomenon", "paradigm"], "model", sort=False)[["middling", "strong", "weak"]]
    np.testing.assert_allclose(np.asarray(axes.images[0].get_array()), cells.to_numpy() * 100)
    assert [text.get_text() for text in axes.texts] == [f"{100 * cell:.0f}" for cell in cells.to_numpy().ravel()]


def test_phenomena_have_wilson_intervals_and_the_mean_over_paradigms_has_none(found: Tables) -> None:
    axes = pair_figures.phenomenon_accuracy_figure(found["accuracy"], "lp").axes[0]
    pooled = found["accuracy"].query("measure == 'lp' and model == 'strong' and paradigm == 'pooled' and phenomenon != 'all'")
    strong = next(drawn for drawn in axes.containers if drawn.get_label() == "strong")
    ends = np.array([segment[:, 0] for segment in strong[2][0].get_segments()])
    np.testing.assert_allclose(ends[:-1], pooled[["wilson_low", "wilson_high"]])
    assert ends[-1][0] == ends[-1][1]
    assert axes.get_yticklabels()[-1].get_text() == "mean over paradigms"


def test_comparisons_have_one_interval_over_pairs_and_one_over_paradigms(found: Tables) -> None:
    table = found["model_comparisons"].query("measure == 'lp'")
    axes = pair_figures.comparison_figure(found["model_comparisons"], "lp").axes[0]
    ends = [container[2][0].get_segments()[0][:, 0] for container in axes.containers]
    wanted = table[["ci_low", "ci_high", "paradigm_ci_low", "paradigm_ci_high"]].to_numpy() * 100
    np.testing.assert_allclose(np.array(ends).reshape(len(table), 4), wanted)


def test_ranks_are_lines_over_measures_with_the_first_on_top(found: Tables) -> None:
    axes = pair_figures.rank_figure(found["rankings"]).axes[0]
    for line in axes.lines:
        own = found["rankings"].query(f"model == '{line.get_label()}'").set_index("measure")["model_rank"]
        np.testing.assert_allclose(line.get_ydata(), own.loc[["lp", "slor"]])
    bottom, top = axes.get_ylim()
    assert bottom > top
    with pytest.raises(DataError, match="one measure or one model"):
        pair_figures.rank_figure(compute_rankings(found["accuracy"].query("measure == 'lp'")))


def test_bins_are_points_of_the_table(found: Tables) -> None:
    axes = pair_figures.bin_figure(found["accuracy_bins"], "lp").axes[0]
    rows = found["accuracy_bins"].query("measure == 'lp' and model == 'weak' and predictor == 'confidence'")
    weak = next(drawn for drawn in axes.containers if drawn.get_label() == "weak")
    np.testing.assert_allclose(weak[0].get_xydata(), rows[["mean_value", "accuracy"]])


def test_people_come_first_in_the_map_of_correlations(found: Tables) -> None:
    table = found["accuracy_correlations"].query("measure == 'lp'")
    people = table.assign(model_a="people", pearson=0.5).drop_duplicates("model_b")
    axes = pair_figures.accuracy_correlation_figure(pd.concat([table, people]), "lp").axes[0]
    assert axes.get_xticklabels()[0].get_text() == "people"
    assert [text.get_text() for text in axes.texts].count("0.50") == len(people)
    with pytest.raises(DataError, match="needs no map"):
        pair_figures.accuracy_correlation_figure(table.head(1), "lp")


def test_a_model_has_one_colour_in_every_figure_and_pictures_are_the_same_bytes(found: Tables) -> None:
    def colour(axes: object) -> str:
        return next(drawn for drawn in axes.containers if drawn.get_label() == "weak")[0].get_color()  # type: ignore[attr-defined]

    figures = [
        pair_figures.phenomenon_accuracy_figure(found["accuracy"], "lp"),
        pair_figures.bin_figure(found["accuracy_bins"], "lp"),
    ]
    assert len({colour(figure.axes[0]) for figure in figures}) == 1
    again = pair_figures.heat_figure(found["accuracy"], "lp")
    assert figure_style.svg(again, "m") == figure_style.svg(pair_figures.heat_figure(found["accuracy"], "lp"), "m")
