"""Figures of ratings and reading times: means, effects, what they depend on, and power."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study.config import FiguresSection
from gardenpath.study.responses import RESPONSES, get_label, is_standardised
from gardenpath.study.task_methods import TASK_METHODS, TaskMethod

from ...measuring.region_spans import SENTENCE_REGION
from ...model_results import is_intercepts_form, select_pairs
from ...modelling.pilot import UPPER
from ...prompts import select_prompt
from ...row_dicts import list_rows
from ..wording.labels import asked, coefficient, label, mean_rating, region_name
from ..wording.numbers import Row
from .figure_style import (
    DASHED,
    GREY,
    GROUND,
    INK,
    bars,
    common_labels,
    compute_heights,
    dots,
    figure_legend,
    filled,
    grid,
    legend,
    line,
    named_rows,
    ordered,
    panel,
    style,
    whiskers,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CRITICAL = "critical"
DASHES = ("-", "--", ":", "-.")
HEADLINE, INTERCEPTS_FORM = "headline", "beside"
FORMS = {HEADLINE: "headline: with slopes", INTERCEPTS_FORM: "intercepts alone"}


def condition_figure(condition_means: pd.DataFrame, measure: str = "rating", prompt: str | None = None) -> "Figure":
    """Return a dot for each phenomenon and condition: the mean of `measure` with one standard error to each side.

    Reading times (measure "rt") are those of the critical region. Of ratings under several prompts, `prompt` names one.

    A table without rows of this measure is a `DataError`; several prompts of which none is named are a `ValueError`.

    >>> rows = [("npi", "grammatical", 310.0, 5.0), ("npi", "ungrammatical", 355.0, 7.0)]
    >>> means = pd.DataFrame(rows, columns=["phenomenon", "condition", "mean_value", "se"])
    >>> figure = condition_figure(means.assign(measure="rt", region="critical", prompt=None), "rt")
    >>> figure.axes[0].get_xlabel()
    'mean reading time (ms)'
    """
    region = CRITICAL if measure == "rt" else SENTENCE_REGION
    rows = condition_means[(condition_means["measure"] == measure) & (condition_means["region"] == region)]
    rows = filled(select_prompt(rows, prompt), f"condition_means, measure {measure!r}")
    phenomena, conditions = ordered(rows["phenomenon"]), sorted(rows["condition"].unique())
    with style():
        figure, axes = named_rows(phenomena, each=max(0.42, 0.2 + 0.13 * len(conditions)))
        for k, condition in enumerate(conditions):
            part = rows[rows["condition"] == condition]
            at = compute_heights(part["phenomenon"], phenomena, k, len(conditions))
            dots(axes, part["mean_value"], at, part["se"].fillna(0), k, condition)
        means = {"z": mean_rating(prompt), "rt": "mean reading time (ms)"}
        axes.set_xlabel(means.get(measure) or f"mean {get_label(measure)}{asked(prompt)}")
        legend(axes, len(conditions))
    return figure


def coefficient_figure(
    results: pd.DataFrame, response: str = "log_rt", prompt: str | None = None, figures: FiguresSection | None = None
) -> "Figure":
    """Return the grammaticality coefficient of each phenomenon with its 95 % interval, and stars after `p_adjusted`.

    The headline is filled and has the stars: the model with slopes wherever the data allow it. Hollow beside it stands the
    published form, with intercepts alone. Reading times are those of the critical region and the words after it. Of several
    prompts, `prompt` names one. `figures`, as study.toml has it, states other stars, and bars of one standard error.

    `results` is the table effects. One without estimates of this response is a `DataError`.

    >>> row = {"estimate": -0.05, "ci_low": -0.08, "ci_high": -0.02, "p": 0.001, "p_adjusted": 0.002, "random": "intercepts"}
    >>> model = {"unit": "phenomenon", "model": "npi", "response": "log_rt", "family": "gaussian", "region": "critical"}
    >>> effect = {"policy": "declared", "contrast": "grammaticality: grammatical minus ungrammatical", "prompt": None}
    >>> figure = coefficient_figure(pd.DataFrame([{**model, **effect, **row, "headline": True}]))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['npi']
    """
    figures = figures or FiguresSection()
    pairs = select_pairs(results)
    rows = select_prompt(pairs[pairs["response"] == response], prompt)
    rows = rows.assign(beside=is_intercepts_form(rows)).dropna(subset=["estimate"])
    rows = filled(rows, f"effects, response {response!r}")
    phenomena, regions = ordered(rows["model"]), sorted(rows["region"].unique())
    # What is published of later words would crowd the drawing; the table has it.
    series = [(region, form) for region in regions for form in FORMS if form == HEADLINE or region == regions[0]]
    series = [(region, form) for region, form in series if rows.loc[rows["region"] == region, form].any()]
    with style():
        figure, axes = named_rows(phenomena, each=0.2 + 0.15 * len(series))
        axes.axvline(0, color=GREY, linewidth=1)
        for k, (region, form) in enumerate(series):
            part = rows[(rows["region"] == region) & rows[form]]
            at = compute_heights(part["model"], phenomena, k, len(series))
            name = FORMS[form] if len(regions) == 1 else region_name(region)
            name = f"{name}, {FORMS[form]}" if len(regions) > 1 and form == INTERCEPTS_FORM else name
            dots(axes, part["estimate"], at, bars(part, figures), regions.index(region), name, hollow=form == INTERCEPTS_FORM)
            if form == INTERCEPTS_FORM:
                continue
            ends = part["estimate"] + part["se"] if figures.bars == "se" else part["ci_high"]
            starred = part["p_adjusted"].mask(part.get("optimistic", pd.Series(False, part.index)).astype(bool))
            for y, end, p in zip(at, ends.fillna(part["estimate"]), starred, strict=True):
                axes.annotate(_stars(p, figures.stars), (end, y), (4, -3), textcoords="offset points", va="center", color=INK)
        axes.set_xlabel(f"grammatical minus ungrammatical\n({name_scale(response, prompt)})")
        legend(axes, len(series), columns=2)
    return figure


def name_scale(response: str, prompt: str | None) -> str:
    """Return how the scale of an effect is called on an axis, of a z score by the prompt where there are several.

    >>> name_scale("z", None), name_scale("z", "how_likely"), name_scale("log_rt", None)
    ('rating, z', 'how likely, z', 'log reading time')
    """
    if is_standardised(response):
        return f"{RESPONSES[response].raw_label if prompt is None else label(prompt)}, z"
    return RESPONSES[response].label


@dataclass(frozen=True)
class Look:
    """How a condition is drawn: the place of its colour and marker among the others', its dashes, and its name."""

    k: int
    dashes: str
    name: str


def looks(conditions: pd.DataFrame) -> dict[str, Look]:
    """Return how conditions of several factors are drawn, in the order of the materials: as in the interaction plot.

    The first factor has the dashes, the others the colour. `conditions` is the table of that name.

    >>> rows = [("p", "s.a", "e", "s"), ("p", "s.a", "n", "a"), ("p", "o.b", "e", "o"), ("p", "o.b", "n", "b")]
    >>> table = pd.DataFrame(rows, columns=["paradigm", "condition", "factor", "level"])
    >>> [(name, look.k, look.dashes, look.name) for name, look in looks(table).items()]
    [('s.a', 0, '-', 's, a'), ('o.b', 1, '--', 'o, b')]
    """
    drawn: dict[str, Look] = {}
    for _, rows in conditions.groupby("paradigm", sort=True):
        levels = {str(name): tuple(part["level"]) for name, part in rows.groupby("condition", sort=False)}
        first, others = ([*dict.fromkeys(part)] for part in ([c[0] for c in levels.values()], [c[1:] for c in levels.values()]))
        for name, (level, *rest) in levels.items():
            look = Look(others.index(tuple(rest)), DASHES[first.index(level) % len(DASHES)], label(", ".join([level, *rest])))
            if rest:
                drawn.setdefault(name, look)
    return drawn


def get_time_label(rows: pd.DataFrame) -> str:
    """Return what an axis calls the time of a word, by the task of the rows of reading_curves."""
    methods = {TASK_METHODS[task].time_label for task in rows["task"].dropna() if task in TASK_METHODS}
    return methods.pop() if len(methods) == 1 else TaskMethod(done="").time_label


def curve_figure(reading_curves: pd.DataFrame, looks: Mapping[str, Look] | None = None) -> "Figure":
    """Return mean reading times word by word around the critical region (place 0), a panel for each phenomenon.

    Conditions stand in the order of `looks`, the others after them by name.
    """
    rows, looks = filled(reading_curves, "reading_curves"), looks or {}
    present = set(rows["condition"])
    phenomena = ordered(rows["phenomenon"])
    conditions = [*(name for name in looks if name in present), *sorted(present - set(looks))]
    with style():
        figure, panels = grid(len(phenomena), 1.55)
        for axes, phenomenon in zip(panels, phenomena, strict=False):
            axes.axvspan(-0.5, 0.5, color=GROUND, zorder=0)
            for k, condition in enumerate(conditions):
                part = rows[(rows["phenomenon"] == phenomenon) & (rows["condition"] == condition)].sort_values("relative_position")
                look = looks.get(condition, Look(k, "-", condition))
                line(
                    axes,
                    part["relative_position"],
                    part["mean_value"],
                    part["se"].fillna(0),
                    look.k,
                    look.name,
                    linestyle=look.dashes,
                )
            panel(axes, wrapped(phenomenon))
            axes.locator_params(axis="y", nbins=4)
            axes.set_xticks(range(int(rows["relative_position"].min()), int(rows["relative_position"].max()) + 1))
        common_labels(figure, "word, from the critical region (0)", f"{get_time_label(rows)} (ms a word)")
        figure_legend(figure, panels[0], len(conditions))
    return figure


def power_figure(power: pd.DataFrame) -> "Figure":
    """Return how often each coefficient is found, by participants: a panel for each response, model, term and size, a line for each
    number of items; what the upper limits of a pilot's spreads would leave of it is dashed.
    """
    rows = filled(power, "power")
    places = [_panel_place(row) for row in list_rows(rows)]
    rows = rows.iloc[sorted(range(len(rows)), key=places.__getitem__)]
    numbers = sorted(rows["n_items"].unique())
    titles = rows.apply(power_panel, axis="columns")
    with style():
        figure, panels = grid(titles.nunique(), 2.6)
        for axes, (title, part) in zip(panels, rows.groupby(titles, sort=False), strict=False):
            axes.axhline(0.8, **DASHED)
            for k, items in enumerate(numbers):
                here = part[part["n_items"] == items].sort_values("n_participants")
                for assumed, curve in here.groupby("assumptions", sort=True):
                    least: dict[str, Any] = {"linestyle": "--", "alpha": 0.6} if assumed == UPPER else {}
                    name = f"{items} items{', upper limits of spreads' if least else ''}"
                    error = whiskers(curve, "power", "power_low", "power_high")
                    line(axes, curve["n_participants"], curve["power"], error, k, name, markersize=5, linewidth=1.6, **least)
            axes.set_xticks(sorted(part["n_participants"].unique()))
            axes.set_ylim(-0.03, 1.03)
            panel(axes, str(title))
        common_labels(figure, "participants", "studies that find it")
        figure_legend(figure, max(panels, key=lambda one: len(one.get_legend_handles_labels()[1])), 2)
    return figure


def power_panel(row: Row) -> str:
    """Return the title of the panel in which a row of the table power is drawn, in lines that are no wider than the panel.

    >>> power_panel({"response": "log_rt", "family": "linear", "slopes": "tested", "term": "number:attractor", "effect": 0.03})
    'log RT, effect 0.03\\nnumber × attractor'
    """
    model = [row["family"]] if row["response"] == "rating" else []
    fitted = {"none": ["without slopes"], "maximal": ["with all slopes"]}.get(row["slopes"], [])
    first = ", ".join([row["response"].replace("log_rt", "log RT"), *model, *fitted, f"effect {row['effect']:.3g}"])
    return "\n".join([*textwrap.wrap(first, 28), *textwrap.wrap(coefficient(row["term"]), 28)])


def _panel_place(row: Row) -> tuple[str, str, str, int, str]:
    """Return where a row's panel stands: terms are in the order of the formula, simple effects behind them."""
    terms = row["formula"].partition(" ~ ")[2].partition(" + (")[0].split(" + ")
    place = terms.index(row["term"]) if row["term"] in terms else len(terms)
    return row["response"], row["family"], row["slopes"], place, row["term"]


def _stars(p: float, bounds: Sequence[float]) -> str:
    return "*" * sum(p < bound for bound in bounds)
