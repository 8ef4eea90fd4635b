"""Figures: what is drawn comes from the table, and the SVG text is the same each time."""

import itertools
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from gardenpath.analysis import (
    accuracy_figure,
    coefficient_figure,
    compute_accuracy,
    condition_figure,
    report,
    surprisal_figure,
    svg,
)
from gardenpath.analysis.reporting.figures import catalogue, effect_figures, figure_style, rater_figures, surprisal_figures
from gardenpath.analysis.reporting.figures.multiverse_figures import specification_figure, specification_figures
from gardenpath.study import DataError
from gardenpath.study.config import FiguresSection

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def results(tables: Tables, analysed: Tables, aligned_whole: Tables, multiverse: pd.DataFrame) -> Tables:
    return analysed | aligned_whole | {"accuracy": compute_accuracy(tables["pairs"]), "multiverse": multiverse}


DRAW: dict[str, Callable[[Tables], object]] = {
    "ratings": lambda t: condition_figure(t["condition_means"]),
    "times": lambda t: condition_figure(t["condition_means"], "rt"),
    "effects": lambda t: coefficient_figure(t["effects"]),
    "surprisal": lambda t: surprisal_figure(t["aligned"]),
    "accuracy": lambda t: accuracy_figure(t["accuracy"]),
    "curves": lambda t: effect_figures.curve_figure(t["reading_curves"]),
    "reliability": lambda t: rater_figures.reliability_figure(t["reliability"]),
    "counts": lambda t: rater_figures.rating_figure(t["rating_counts"]),
    "specifications": lambda t: specification_figure(t["multiverse"].query("response == 'log_rt'")),
}


@pytest.mark.parametrize("name", DRAW)
def test_the_svg_is_the_same_bytes_each_time_and_well_formed(results: Tables, name: str) -> None:
    first, second = (svg(DRAW[name](results), name) for _ in range(2))
    assert first == second
    assert ET.fromstring(first).tag.endswith("svg")
    assert "<metadata" not in first
    assert all(id_.startswith(f"{name}-") for id_ in re.findall(r'id="([^"]+)"', first))


def test_references_inside_a_drawing_lead_to_its_own_ids(results: Tables) -> None:
    text = svg(DRAW["surprisal"](results), "s")
    ids = set(re.findall(r'id="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)) != set()
    assert {a or b for a, b in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)} <= ids


def test_dots_are_the_tables_means_and_bars_one_standard_error(results: Tables) -> None:
    means = results["condition_means"].query("measure == 'rating' and condition == 'grammatical'")
    axes = condition_figure(results["condition_means"]).axes[0]
    dots, _, bars = axes.containers[0]
    np.testing.assert_allclose(dots.get_xdata(orig=False), means["mean_value"])
    ends = np.array([segment[:, 0] for segment in bars[0].get_segments()])
    np.testing.assert_allclose(ends[:, 1] - ends[:, 0], 2 * means["se"])


def test_coefficients_carry_their_interval_and_stars_after_correction(results: Tables) -> None:
    models = results["effects"].query("unit == 'phenomenon' and region in ('critical', 'sentence')").copy()
    is_term = models["term"].eq("grammaticality") & models["response"].eq("log_rt") & models["random"].eq("slopes")
    models.loc[is_term, "p_adjusted"] = [0.0005, 0.03, 0.2]
    models.loc[is_term, "p"] = 1e-9
    axes = coefficient_figure(models).axes[0]
    assert [text.get_text() for text in axes.texts] == ["***", "*", ""]
    ends = np.array([segment[:, 0] for segment in axes.containers[0][2][0].get_segments()])
    np.testing.assert_allclose(ends, models.loc[is_term, ["ci_low", "ci_high"]].to_numpy())
    published = np.array([segment[:, 0] for segment in axes.containers[1][2][0].get_segments()])
    other = models["term"].eq("grammaticality") & models["response"].eq("log_rt") & models["random"].eq("intercepts")
    np.testing.assert_allclose(published, models.loc[other, ["ci_low", "ci_high"]].to_numpy())


def test_stars_and_bars_are_as_declared(results: Tables) -> None:
    """BLiMP-NL's figure: .025, .010, .001 and one standard error."""
    wanted = "unit == 'phenomenon' and region == 'critical' and random == 'slopes' and response == 'log_rt'"
    models = results["effects"].query(wanted).copy()
    term = models["term"] == "grammaticality"
    models.loc[term, "p_adjusted"] = [0.0009, 0.02, 0.03]
    figures = FiguresSection(stars=(0.025, 0.01, 0.001), bars="se")
    axes = coefficient_figure(models, figures=figures).axes[0]
    assert [text.get_text() for text in axes.texts] == ["***", "*", ""]
    ends = np.array([segment[:, 0] for segment in axes.containers[0][2][0].get_segments()])
    np.testing.assert_allclose(ends[:, 1] - ends[:, 0], 2 * models.loc[term, "se"])
    page = report({name: results[name] for name in ("effects", "models")}, title="t", figures=figures)
    assert "* p &lt; .025, ** p &lt; .01, *** p &lt; .001" in page
    assert "bars of one standard error" in page


def test_the_regression_line_is_least_squares_over_words(results: Tables) -> None:
    words = results["aligned"].groupby("token").agg(x=("surprisal", "first"), y=("log_rt", "mean"))
    slope, intercept = np.polyfit(words["x"], words["y"], 1)
    line = surprisal_figure(results["aligned"]).axes[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), intercept + slope * line.get_xdata())


def test_a_large_study_draws_a_bounded_number_of_words(results: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surprisal_figures, "DRAWN", 50)
    axes = surprisal_figure(results["aligned"]).axes[0]
    assert len(axes.collections[0].get_offsets()) <= 50


def test_chance_is_drawn_and_the_overall_rows_are_not(results: Tables) -> None:
    axes = accuracy_figure(results["accuracy"]).axes[0]
    assert [0.5, 0.5] in [list(line.get_xdata()) for line in axes.lines]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["agreement 1", "islands 1", "null effect 1"]


def test_no_figure_has_a_title(results: Tables) -> None:
    """The title of a panel is on its left."""
    assert not any(draw(results).axes[0].get_title() for draw in DRAW.values())


def test_pictures_are_the_same_bytes_each_time(results: Tables) -> None:
    first, second = (figure_style.png(condition_figure(results["condition_means"])) for _ in range(2))
    assert first == second
    assert first.startswith(b"\x89PNG")


def test_curves_are_the_tables_means_at_their_places(results: Tables) -> None:
    rows = results["reading_curves"].query("phenomenon == 'islands' and condition == 'ungrammatical'")
    panel = next(
        axes for axes in effect_figures.curve_figure(results["reading_curves"]).axes if axes.get_title("left") == "islands"
    )
    line = panel.containers[1][0]
    np.testing.assert_allclose(line.get_xdata(orig=False), rows["relative_position"].astype(float))
    np.testing.assert_allclose(line.get_ydata(orig=False), rows["mean_value"])


def test_words_after_the_region_are_series_and_only_headlines_have_stars(results: Tables) -> None:
    models = results["effects"].assign(p_adjusted=1e-9)
    times, ratings = coefficient_figure(models), coefficient_figure(models, "z")
    assert [text.get_text() for text in times.legends[0].texts] == [
        "critical region", "critical region, intercepts alone", "critical + 1",
    ]  # fmt: skip
    assert [text.get_text() for text in ratings.legends[0].texts] == ["headline: with slopes", "intercepts alone"]
    assert len(times.axes[0].texts) == 6
    assert len(ratings.axes[0].texts) == 3


def test_a_specification_curve_has_each_fit_in_order_with_its_choices_below(results: Tables) -> None:
    rows = results["multiverse"].query("response == 'log_rt'")
    distinct = rows[rows["same_as"].isna() & rows["estimate"].notna()].sort_values("ms")
    curve, matrix = specification_figure(rows).axes
    drawn = {}
    for container in curve.containers:
        line = container[0]
        drawn |= dict(zip(line.get_xdata(orig=False), line.get_ydata(orig=False), strict=True))
    np.testing.assert_allclose([drawn[place] for place in range(len(distinct))], distinct["ms"])
    names = [label.get_text() for label in matrix.get_yticklabels()]
    varied = [name for name in ("exclusions", "transformation", "random_effects") if len(distinct[name].unique()) > 1]
    assert len(names) == sum(1 + distinct[name].nunique() for name in varied)
    marks = sum(len(collection.get_offsets()) for collection in matrix.collections)
    assert marks == len(distinct) * len(varied)
    planned = next(one for one in curve.containers if one.get_label() == "as planned")
    assert planned[0].get_ydata(orig=False).tolist() == distinct.loc[distinct["declared"], "ms"].tolist()


def test_every_effect_with_an_estimate_has_a_curve(results: Tables) -> None:
    grid = results["multiverse"]
    names = [name for name, _ in specification_figures(grid)]
    assert names == [f"specifications_{k}" for k in range(1, 1 + len(grid.groupby(["model_id", "term"])))]
    assert [*specification_figures(grid.assign(estimate=np.nan))] == []


def test_text_of_each_figure_stays_inside_it(results: Tables) -> None:
    long = {
        "no cut-offs": "only participants who learned the language after the age of twelve",
        "islands": "determiner_noun_agreement_with_adj_irregular_2",
        "islands 1": "determiner_noun_agreement_with_adj_irregular_2",
    }
    renamed = {name: frame.replace(long) for name, frame in results.items()}
    for name, draw in DRAW.items():
        figure = draw(renamed)
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
        assert box.x0 > -0.05, name
        assert box.x1 < figure.get_figwidth() + 0.05, name


def test_all_results_are_drawn_but_those_without_data(results: Tables) -> None:
    names = [name for name, _ in catalogue.result_figures(results)]
    assert {"ratings", "rating_effects", "reading_times", "reading_curves", "reliability"} <= set(names)
    empty = {name: frame.head(0) for name, frame in results.items()}
    assert list(catalogue.result_figures(empty)) == []


def test_text_stays_inside_the_drawing_however_long_names_are(results: Tables) -> None:
    means = results["condition_means"].replace({"phenomenon": {"islands": "determiner_noun_agreement_with_adj_irregular_2"}})
    figure = condition_figure(means)
    figure.draw_without_rendering()
    box = figure.axes[0].get_tightbbox()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_labels_of_neighbouring_rows_stay_apart(results: Tables) -> None:
    """Twelve paradigms, each with a name of two lines, one measure: the closest that rows stand."""
    row = results["accuracy"].iloc[[0]]
    names = [f"demonstrative_noun_number_{n}" for n in range(12)]
    figure = accuracy_figure(pd.concat([row.assign(paradigm=name) for name in names]))
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    assert len(boxes) == 12
    assert all(upper.y0 - lower.y1 > 2 for upper, lower in itertools.pairwise(boxes))


def test_nothing_to_draw_is_a_sentence(results: Tables) -> None:
    with pytest.raises(DataError, match="no rows to draw"):
        condition_figure(results["condition_means"].head(0))


def test_one_word_or_one_surprisal_draws_no_line(results: Tables) -> None:
    one = results["aligned"].assign(surprisal=2.0)
    assert not [line for line in surprisal_figure(one).axes[0].lines if len(line.get_xdata()) == 60]


def test_power_has_a_panel_for_each_term_in_the_order_of_the_model_whose_title_fits() -> None:
    formula = "log_rt ~ grammaticality + attractor + grammaticality:attractor + (1|participant) + (1|item)"
    row = {"response": "log_rt", "effect": 0.03, "n_participants": 40, "n_items": 24, "family": "linear", "slopes": "tested",
           "assumptions": "default", "formula": formula, "power": 0.5, "power_low": 0.4, "power_high": 0.6}  # fmt: skip
    terms = ("attractor", "attractor@plural", "grammaticality", "grammaticality:attractor")
    figure = effect_figures.power_figure(pd.DataFrame([row | {"term": term} for term in terms]))
    named = [(axes, axes.get_title("left")) for axes in figure.axes]
    titles = [next(text for text in axes.findobj(Text) if text.get_text() == title) for axes, title in named]
    assert [title.get_text().partition("\n")[2] for title in titles] == [
        "grammaticality", "attractor", "grammaticality × attractor", "attractor at plural",
    ]  # fmt: skip
    figure.draw_without_rendering()
    assert all(title.get_window_extent().x1 <= figure.bbox.x1 for title in titles)
