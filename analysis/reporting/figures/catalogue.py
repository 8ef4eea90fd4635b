"""All figures of a study's results, by name."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study import DataError
from gardenpath.study.config import FiguresSection
from gardenpath.study.responses import RESPONSES, STANDARDISED_RESPONSES

from ...exclusion_log import ALL_CONDITIONS
from ...measuring.binary_responses import BINARY_MEASURES
from ...measuring.reliability import select_poor_agreement
from ...model_results import select_factors
from ...prompts import build_file_suffixes, list_prompts, list_rated_prompts
from .effect_figures import coefficient_figure, condition_figure, curve_figure
from .factor_figures import choice_figure, factorial_figure, interaction_figure
from .pooled_figures import forest_figures
from .rater_figures import rating_figure, reliability_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def result_figures(tables: Mapping[str, pd.DataFrame], figures: FiguresSection | None = None) -> Iterator[tuple[str, "Figure"]]:
    """Yield a name and a figure of each result that there is something to draw of, from the tables of `analyse`.

    `figures` states stars and bars of coefficients, as study.toml does.
    """
    drawings: dict[str, tuple[str, Callable[[pd.DataFrame], Any]]] = {
        "reading_times": ("condition_means", partial(condition_figure, measure="rt")),
        "reading_time_effects": ("effects", partial(coefficient_figure, figures=figures)),
        "factorial_reading_times": ("effects", partial(factorial_figure, figures=figures)),
        "reading_curves": ("reading_curves", curve_figure),
    }
    for response in STANDARDISED_RESPONSES:
        name = RESPONSES[response].raw
        for prompt, ending in build_file_suffixes(list_rated_prompts(tables, response)).items():
            means = partial(condition_figure, measure=name, prompt=prompt)
            effects = partial(coefficient_figure, response=response, prompt=prompt, figures=figures)
            drawings |= {f"{name}s{ending}": ("condition_means", means), f"{name}_effects{ending}": ("effects", effects)}
    for prompt, ending in build_file_suffixes(list_rated_prompts(tables)).items():
        drawings |= {
            f"reliability{ending}": ("reliability", partial(reliability_figure, prompt=prompt)),
            f"rating_distributions{ending}": ("rating_counts", partial(rating_figure, prompt=prompt)),
        }
    if "effects" in tables:
        factorial = select_factors(tables["effects"])
        names = {name: f"{RESPONSES[name].raw}s" for name in STANDARDISED_RESPONSES}
        for response, name in {**names, **{answer: answer for answer in BINARY_MEASURES}}.items():
            for prompt, ending in build_file_suffixes(list_prompts(factorial[factorial["response"] == response])).items():
                of_prompt = partial(factorial_figure, response=response, prompt=prompt, figures=figures)
                drawings[f"factorial_{name}{ending}"] = ("effects", of_prompt)
    if (cells := tables.get("factorial_means")) is not None:
        drawings["choices"] = ("factorial_means", choice_figure)
        for number, factors in enumerate(dict.fromkeys(cells.loc[cells["factors"] != ALL_CONDITIONS, "factors"]), start=1):
            name = "interaction" if number == 1 else f"interaction-{number}"
            drawings[name] = ("factorial_means", partial(interaction_figure, factors=factors))
    counts, agreed = tables.get("rating_counts"), tables.get("reliability")
    if counts is not None and agreed is not None:
        tables = {**tables, "rating_counts": select_poor_agreement(counts, agreed)}
    if (pooled := tables.get("pooled_effects")) is not None:
        yield from forest_figures(pooled)
    for name, (table, draw) in drawings.items():
        if table in tables:
            try:
                yield name, draw(tables[table])
            except DataError:  # nothing to draw of this; the tables say so
                continue
