"""The trials that models are about: who sees which item in which condition, and what is measured of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import pandas as pd

from gardenpath.study import DataError
from gardenpath.study.config import COVARIATES, parse_region_name
from gardenpath.study.plans import PlannedModel
from gardenpath.study.responses import PRIMARY_RESPONSES, RATINGS_TABLE, RESPONSES, TIMES_TABLE, find_primary

from ..engines.formulas import Formula, parse_formula
from ..exclusion_log import ALL_CONDITIONS
from ..factor_levels import tabulate_levels
from ..grammatical_status import GRAMMATICALITY, GRAMMATICALITY_CODES, find_minimal_pair_paradigms
from ..measuring.binary_responses import CHOICE_MEASURE, find_pair_levels
from ..measuring.participant_measures import find_participant_factors, select_known_measures
from ..measuring.ratings_and_times import select_rating_response
from ..measuring.region_spans import SENTENCE_REGION
from ..modelling.coding import Coded, coded
from ..prompts import filter_prompt

if TYPE_CHECKING:
    import numpy as np

POPULATION, POPULATIONS = "population", ["people", "model"]  # who answered: a column where both did
Levels = Mapping[str, pd.DataFrame]  # of a paradigm: the level of each factor by condition
PairMeasure = tuple[str, str, str | None]  # response, region, and of ratings the prompt
# Columns of trials that models of pairs need beside their responses: parts of few columns are cut faster.
PAIR_COLUMNS = ("participant", "item", "n_words", *COVARIATES)


@dataclass(frozen=True)
class StudyTrials:
    """The tables rating_scores, region_times and binary_responses, of trials that a design prescribes, whose values say nothing, or
    of those that there are; `conditions` has the level of every factor.

    >>> from gardenpath.study import TABLES
    >>> names = ("rating_scores", "region_times", "binary_responses", "items", "conditions")
    >>> trials = StudyTrials(*(pd.DataFrame(columns=TABLES[name].column_names) for name in names))
    >>> trials.resolved_from, trials.levels, trials.pair_measures
    ('data', {}, {})
    """

    scores: pd.DataFrame
    times: pd.DataFrame
    answers: pd.DataFrame
    items: pd.DataFrame
    conditions: pd.DataFrame
    resolved_from: Literal["design", "data"] = "data"
    _positions: dict[object, tuple[pd.DataFrame, Mapping[str, "np.ndarray"]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @cached_property
    def levels(self) -> Levels:
        """The level of each factor by condition, in each paradigm."""
        return tabulate_levels(self.conditions)

    @cached_property
    def choice_levels(self) -> Levels:
        """The levels that both members of a pair share, by the condition of the pair."""
        return find_pair_levels(self.answers, self.levels)

    @cached_property
    def pair_measures(self) -> dict[PairMeasure, pd.DataFrame]:
        """The trials of minimal pairs by what is measured of them: z or its like under each prompt, log reading time by region.

        Each with the codes of grammaticality and with both covariates, which are not centred.
        """

        paradigms = find_minimal_pair_paradigms(self.items)
        is_critical = self.times["region"].map(lambda region: parse_region_name(region)[0] == "critical").astype(bool)
        measured: dict[PairMeasure, pd.DataFrame] = {}
        for name in PRIMARY_RESPONSES:
            if RESPONSES[name].has_regions:
                by_region = self.times[is_critical].groupby("region", sort=True)
                measured |= {(name, str(region), None): rows for region, rows in by_region}
            else:
                by_prompt = self.select_response(name).groupby("prompt", sort=True)
                measured |= {(name, SENTENCE_REGION, str(prompt)): rows for prompt, rows in by_prompt}
        trials = {}
        for measure, frame in measured.items():
            rows = frame[frame["paradigm"].isin(paradigms)]
            # Hundreds of fits count the levels of these: twice as fast with objects.
            rows = rows.astype({"participant": object, "item": object})
            trials[measure] = rows.assign(
                **{GRAMMATICALITY: rows["condition"].map(GRAMMATICALITY_CODES).astype("float64")}, **compute_covariates(rows)
            )
        return {measure: rows for measure, rows in trials.items() if len(rows)}

    def select_response(self, response: str) -> pd.DataFrame:
        """Return the target trials that have a response, under its name."""
        table = RESPONSES[response].table
        if table == TIMES_TABLE:
            return self.times
        if table == RATINGS_TABLE:
            return select_rating_response(self.scores[self.scores["role"] == "target"].dropna(subset="z"), response)
        return self.answers[self.answers["measure"] == response].rename(columns={"response": response})

    def get_levels(self, response: str) -> Levels:
        """Return the levels that vary between the trials of a response: of choices, those of whole pairs."""
        return self.choice_levels if response == CHOICE_MEASURE else self.levels

    def list_levels(self, model: PlannedModel, factor: str) -> list[str]:
        """Return the levels of a factor of a model in the order in which the materials state them."""
        if factor == POPULATION:
            return POPULATIONS
        if of_people := find_participant_factors(self.select_response(model.response), [factor]):
            return of_people[factor]
        return order_levels(factor, model.paradigms, self.get_levels(model.response))

    def select(self, model: PlannedModel) -> pd.DataFrame:
        """Return the trials of a model, with its response, factors and covariates; numeric predictors but codes are centred.

        Raises `DataError` where the formula names a column that there is not.
        """
        formula = parse_formula(model.formula)
        rows = self._select_rows(model)
        if not model.is_of_pairs:
            rows = self._add_levels(model, rows).assign(**compute_covariates(rows))
        if absent := [name for name in formula.column_names if name not in rows]:
            raise DataError(
                f"analysis.models, {model.name!r}: {', '.join(map(repr, absent))} is no column; expected some of "
                f"{', '.join(sorted(rows.columns))}"
            )
        rows = select_known_measures(rows, formula.column_names)
        numbers = self.list_numeric_predictors(model, rows)
        return rows.assign(**{name: rows[name].astype("float64") - rows[name].mean() for name in numbers})

    def list_numeric_predictors(self, model: PlannedModel, rows: pd.DataFrame) -> list[str]:
        """Return the numeric predictors of a model, which are centred; codes of factors are none."""
        names = parse_formula(model.formula).column_names[1:]
        return [name for name in names if name not in model.coding and pd.api.types.is_numeric_dtype(rows[name])]

    def _select_rows(self, model: PlannedModel) -> pd.DataFrame:
        """Return the trials of a model's paradigms, in the order of their table."""
        import numpy as np

        place = (model.is_of_pairs, RESPONSES[model.response].table, model.response, model.region, model.prompt)
        if place not in self._positions:
            frame = self._select_pairs(model) if model.is_of_pairs else self._select_measured(model)
            found = {str(name): np.asarray(places) for name, places in frame.groupby("paradigm").indices.items()}
            self._positions[place] = (frame[_list_pair_columns(model, frame)] if model.is_of_pairs else frame), found
        frame, positions = self._positions[place]
        parts = [positions[paradigm] for paradigm in model.paradigms if paradigm in positions]
        return frame.iloc[np.sort(np.concatenate(parts))] if parts else frame.head(0)

    def _select_pairs(self, model: PlannedModel) -> pd.DataFrame:
        frame = self.pair_measures.get((find_primary(model.response).name, model.region, model.prompt))
        if frame is None:
            empty = self.select_response(model.response).head(0)
            return empty.assign(**{GRAMMATICALITY: 0.0}, **dict.fromkeys(COVARIATES, 0.0))
        return frame

    def _select_measured(self, model: PlannedModel) -> pd.DataFrame:
        frame = self.select_response(model.response)
        frame = frame if model.region == SENTENCE_REGION else frame[frame["region"] == model.region]
        frame = filter_prompt(frame, None if model.prompt == ALL_CONDITIONS else model.prompt)
        return frame.astype({"participant": object, "item": object})

    def _add_levels(self, model: PlannedModel, rows: pd.DataFrame) -> pd.DataFrame:
        """Return trials with the level of each factor in their condition."""
        levels = self.get_levels(model.response)
        # A paradigm of one condition may have a factor of that name, which is the column itself.
        parts = [levels[p].drop(columns="condition", errors="ignore").reset_index().assign(paradigm=p) for p in model.paradigms]
        factors = pd.concat(parts or [rows.head(0)])
        new = factors[["paradigm", "condition", *(name for name in factors if name not in rows)]]
        return rows.merge(new, on=["paradigm", "condition"], how="left", validate="m:1")


def _list_pair_columns(model: PlannedModel, frame: pd.DataFrame) -> list[str]:
    kept = {*PAIR_COLUMNS, GRAMMATICALITY, model.response, RESPONSES[model.response].raw}
    return [name for name in frame if name in kept]


def order_levels(factor: str, paradigms: Iterable[str], levels: Levels) -> list[str]:
    """Return the levels of a factor in paradigms, in the order in which the materials state them."""
    return list(dict.fromkeys(str(level) for paradigm in paradigms for level in levels[paradigm][factor]))


def code_trials(model: PlannedModel, rows: pd.DataFrame) -> Coded:
    """Return the trials and the formula of a model with numeric columns for factors.

    Raises `DataError` where a level, or a combination of levels that an interaction needs, is not there.
    """
    formula = parse_formula(model.formula)
    return describe_pairs(formula, rows) if model.is_of_pairs else coded(rows, formula, model.contrasts)


def describe_pairs(formula: Formula, rows: pd.DataFrame | None = None) -> Coded:
    """Return a model of pairs with its trials, where there are some, whose codes of grammaticality are there already."""
    compared = " minus ".join(GRAMMATICALITY_CODES)
    codes = {GRAMMATICALITY: (GRAMMATICALITY, GRAMMATICALITY_CODES)}
    return Coded(pd.DataFrame() if rows is None else rows, formula, codes, {GRAMMATICALITY: compared})


def compute_covariates(rows: pd.DataFrame) -> "dict[str, np.ndarray | pd.Series[float] | float]":
    """Return log trial number, and the position of the region in its sentence."""
    import numpy as np

    return {
        "log_trial": np.log1p(rows["trial"].to_numpy(dtype="float64")),
        "position": rows["word"].astype("float64") if "word" in rows else 0.0,
    }
