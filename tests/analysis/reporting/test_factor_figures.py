"""Figures of a study's own factors: what is drawn is in the tables, in the order of the materials."""

import itertools

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import interaction_figure, svg
from gardenpath.analysis.reporting.figures.factor_figures import choice_figure, factorial_figure
from gardenpath.study import DataError

CELLS = ["subject x name", "subject x group", "object x name", "object x group"]


def means(**more: object) -> pd.DataFrame:
    """Return the table factorial_means of a 2 x 2, read at two regions and rated."""
    rows = []
    for measure, region, base in (("z", "sentence", -0.2), ("log_rt", "critical", 5.8), ("log_rt", "critical+1", 5.6)):
        for k, levels in enumerate(CELLS):
            mean = base + (0.1, 0.02)[region == "critical+1"] * k
            row = {"model": "relatives", "response": measure, "region": region, "prompt": None, "levels": levels}
            rows.append({**row, "factors": "extraction x noun_phrase", "mean_value": mean, "ci_low": mean - 0.05,
                         "ci_high": mean + 0.05, "n_excluded_participants": 0, **more})  # fmt: skip
    return pd.DataFrame(rows)


def test_dots_and_bars_are_means_and_intervals_in_the_order_of_the_materials() -> None:
    table = means()
    figure = interaction_figure(table)
    assert [axes.get_title("left") for axes in figure.axes[:3]] == [
        "rating (z)", "critical region\nreading time (ms)", "critical + 1\nreading time (ms)",
    ]  # fmt: skip
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["subject", "object"]
    assert [text.get_text() for text in figure.legends[0].texts] == ["name", "group"]
    assert figure.legends[0].get_title().get_text() == "noun phrase"
    for axes, (_, rows) in zip(figure.axes, table.groupby("region", sort=False), strict=False):
        for container, noun in zip(axes.containers, ("name", "group"), strict=True):
            part = rows[rows["levels"].str.endswith(noun)]
            np.testing.assert_allclose(container[0].get_ydata(orig=False), part["mean_value"])
            ends = np.array([segment[:, 1] for segment in container[2][0].get_segments()])
            np.testing.assert_allclose(ends, part[["ci_low", "ci_high"]])


def test_panels_of_log_reading_times_span_the_same_ratio_and_are_labelled_in_ms() -> None:
    figure = interaction_figure(means())
    (_, first, second) = figure.axes[:3]
    spans = [float(np.ptp(axes.get_ylim())) for axes in (first, second)]
    assert spans[0] == pytest.approx(spans[1])
    for axes in (first, second):
        ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
        assert all(np.exp(at) == pytest.approx(float(text.get_text())) for at, text in ticks)


def test_one_factor_has_one_line_and_three_have_a_line_for_each_combination_of_the_others() -> None:
    one = means(factors="extraction").query("response == 'z'").assign(levels=["w", "x", "y", "z"])
    figure = interaction_figure(one)
    assert len(figure.axes[0].containers) == 1
    assert figure.legends == []
    cells = [" x ".join(cell) for cell in itertools.product(["subject", "object"], ["a", "b"], ["sg", "pl"])]
    three = pd.DataFrame({"levels": cells, "mean_value": np.arange(8.0)}).assign(
        model="m", response="z", region="sentence", prompt=None, factors="e x n x number", ci_low=0.0, ci_high=9.0
    )
    figure = interaction_figure(three)
    assert [text.get_text() for text in figure.legends[0].texts] == ["a, sg", "a, pl", "b, sg", "b, pl"]
    assert figure.legends[0].get_title().get_text() == "n and number"


def test_factors_of_different_models_are_not_mixed_and_no_means_are_a_sentence() -> None:
    both = pd.concat([means(), means(model="other", factors="voice x noun_phrase")])
    with pytest.raises(ValueError, match="expected one, as in  factors='extraction x noun_phrase'"):
        interaction_figure(both)
    assert len(interaction_figure(both, "voice x noun_phrase").axes) == 4  # one of a grid of four is empty
    with pytest.raises(DataError, match="no rows to draw"):
        interaction_figure(means(mean_value=None))


def test_the_svg_is_the_same_bytes_each_time() -> None:
    assert svg(interaction_figure(means()), "i") == svg(interaction_figure(means()), "i")


def test_choices_are_percentages_with_their_intervals_beside_no_preference() -> None:
    rows = [("islands", 0.8, 0.7, 0.9), ("agreement", 0.5, 0.4, 0.6)]
    table = pd.DataFrame(rows, columns=["model", "probability", "probability_low", "probability_high"])
    table = table.assign(response="chosen", levels="all", factors="all")
    axes = choice_figure(pd.concat([means(), table])).axes[0]
    (container,) = axes.containers
    np.testing.assert_allclose(container[0].get_xdata(orig=False), [80, 50])
    ends = np.array([segment[:, 0] for segment in container[2][0].get_segments()])
    np.testing.assert_allclose(ends, [[70, 90], [40, 60]])
    assert [text.get_text() for text in axes.get_yticklabels()] == ["islands", "agreement"]
    with pytest.raises(DataError, match="no rows to draw"):
        choice_figure(means(probability=None))


def models() -> pd.DataFrame:
    """Return the effects of a contrast at two regions, with intercepts and with slopes; at one these failed."""
    rows = []
    for region, random in itertools.product(("critical", "critical+1"), ("intercepts", "slopes")):
        failed = region == "critical+1" and random == "slopes"
        estimate = np.nan if failed else 0.1 + 0.01 * (random == "slopes")
        place = {"unit": "model", "model": "relatives", "response": "log_rt", "family": "gaussian", "kind": "coefficient"}
        place |= {"region": region, "prompt": None, "random": random, "headline": (random == "slopes") == (region == "critical")}
        rows.append({**place, "term": "noun_a_b", "contrast": "noun_phrase: a minus b", "estimate": estimate, "p": estimate,
                     "ci_low": estimate - 0.2, "ci_high": estimate + 0.2, "converged": not failed, "singular": False})  # fmt: skip
    return pd.DataFrame(rows)


def test_the_headline_is_filled_and_the_published_form_hollow_beside_it() -> None:
    axes = factorial_figure(models()).axes[0]
    drawn = [
        (container[0].get_xdata(orig=False)[0], container[0].get_markerfacecolor() == "white")
        for container in axes.containers
        if len(container[0].get_xdata(orig=False))
    ]
    assert drawn == [(0.11, False), (0.1, True), (0.1, False)]
    assert axes.get_yticklabels()[0].get_text().replace("\xa0", " ").replace("\n", " ") == "noun phrase (a − b)"


@pytest.mark.parametrize(
    ("low", "high"), [(0.5, 0.999), (0.001, 0.999), (0.3, 0.99), (0.62, 0.71), (0.913, 0.934), (0.0008, 0.02), (0.95, 0.9995)]
)
def test_the_percentages_of_an_axis_in_log_odds_do_not_print_over_each_other(low: float, high: float) -> None:
    ends = np.log([low / (1 - low), high / (1 - high)])
    table = means(response="correct", region="sentence")
    table = pd.concat([table.head(4).assign(mean_value=ends.mean(), ci_low=ends[0], ci_high=ends[1], model=k) for k in range(4)])
    figure = interaction_figure(table)
    figure.canvas.draw()
    for axes in figure.axes:
        texts = [text for text in axes.get_yticklabels() if text.get_text()]
        assert len(texts) >= 2, "an axis has two labels at least"
        boxes = sorted((text.get_window_extent() for text in texts), key=lambda box: box.y0)
        assert all(one.y1 <= other.y0 for one, other in itertools.pairwise(boxes)), [text.get_text() for text in texts]
        for text in texts:
            share = float(text.get_text())
            assert text.get_position()[1] == pytest.approx(np.log(share / (100 - share)))
