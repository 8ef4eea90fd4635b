"""Power of a planned model: studies are simulated from the formula that is fitted first, and fitted as `analyse` fits them."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import pandas as pd

from gardenpath.study import DataError
from gardenpath.study.config import COVARIATES, ParticipantMeasureSection
from gardenpath.study.participant_measures import compute_quantile, require_distribution
from gardenpath.study.plans import PlannedModel

from ..engines import ordinal_engine
from ..engines.estimates import Cells, ModelEstimate
from ..engines.formulas import parse_formula
from ..grammatical_status import GRAMMATICALITY, GRAMMATICALITY_CODES
from ..modelling.mixed_models import build_search
from ..modelling.policies import REDUCTIONS, Search, Steps
from ..modelling.power import AT_ONCE, BINOMIAL, FAILED, LINEAR, ORDINAL, Batch, Fitted, Study
from ..modelling.separation import require_overlap
from ..modelling.simulated_trials import GROUPS, Array, Assumptions, Layout
from ..plan.trials import code_trials

FAMILY_NAMES = {"gaussian": LINEAR, "cumulative": ORDINAL, "binomial": BINOMIAL}
AS_PLANNED = "planned"  # in the column slopes of the table power
ACCURACY_QUESTIONS = 20  # by which the accuracy of simulated participants is known, where a model has it
SPAN = 1e-9  # by which what is expected may differ from what the model can say
Effects = Mapping[str, float]


@dataclass(frozen=True)
class PlannedScenario:
    """What is simulated and fitted of a planned model.

    `layout` has the factors, those between participants among them, and of `measures`, the measures of participants that its
    formula names, the texts. `terms` are tested in every study: coefficients as the plan has them, by their factors where one
    coefficient is all that these have, and simple effects `a@level`. `effects` are their sizes; where `are_joint`, all of these
    terms' effects are there at once, differences of levels, and for 1 of a measure, as `[simulate]` states them.
    """

    model: PlannedModel
    layout: Layout
    response: str
    terms: tuple[str, ...]
    effects: Effects
    are_joint: bool
    assumptions: Assumptions
    engine: str
    measures: Mapping[str, ParticipantMeasureSection]

    @property
    def family(self) -> str:
        """Linear, ordinal or binomial."""
        return FAMILY_NAMES[self.model.family]

    def list_row_keys(self, people: int, sentences: int, runs: int) -> list[dict[str, object]]:
        """Return the cells of the row of each term by which it is known."""
        made = SimulatedDesign(self, people, sentences)
        return [
            {
                "response": self.response,
                "term": term,
                "effect": round(made.find_size(term), 12),
                "n_participants": people,
                "n_items": sentences,
                "family": self.family,
                "slopes": AS_PLANNED,
                "assumptions": self.assumptions.name,
                "formula": self.model.formula,
                "n_simulations": runs,
            }
            for term in self.terms
        ]

    def batches(self, people: int, sentences: int, runs: int, seed: int) -> Iterator[Batch]:
        """Yield the studies of this size in batches, each with the generator as it is before the first of them."""
        import numpy as np

        made = SimulatedDesign(self, people, sentences)
        generator = np.random.default_rng([seed, people, sentences])
        for start in range(0, runs, AT_ONCE):
            size = min(AT_ONCE, runs - start)
            yield Batch(self, people, sentences, generator.bit_generator.state, size)
            for _ in range(size if start + size < runs else 0):
                made.draw(generator)

    def batch(self, people: int, sentences: int, generator: Any, runs: int) -> list[Study]:
        """Return what the next studies of this generator find of each term, with its effect and without it."""
        made = SimulatedDesign(self, people, sentences)
        return [made.run_study(made.draw(generator)) for _ in range(runs)]


class SimulatedDesign:
    """The trials of so many participants with so many items, as a planned model has them."""

    def __init__(self, scenario: PlannedScenario, people: int, sentences: int) -> None:
        self.scenario = scenario
        self.trials = scenario.layout.assign_trials(people, sentences)
        self.start = parse_formula(scenario.model.first_fit)
        self.design = code_trials(scenario.model, self._build_rows(people, sentences))
        names = [name for name in self.start.column_names if name != self.start.response]
        self.columns: dict[str, Cells] = {
            name: self.design.frame[name].astype(str).tolist()
            if name in self.start.group_columns
            else self.design.frame[name].astype("float64").tolist()
            for name in names
        }

    def _build_rows(self, people: int, sentences: int) -> pd.DataFrame:
        """Return the trials with participants, items, levels, covariates and measures; numeric predictors but codes are centred."""
        import numpy as np

        scenario, trials = self.scenario, self.trials
        levels = {
            name: np.array(list(scenario.layout.factors[name]), dtype=object)[trials.levels[name]]
            for name in scenario.layout.factors
        }
        rows = pd.DataFrame(
            {"participant": [f"P{n}" for n in trials.participant], "item": [f"i{n}" for n in trials.item], **levels}, dtype=object
        )
        rows[scenario.model.response] = 0.0
        if scenario.model.is_of_pairs:
            rows[GRAMMATICALITY] = rows[GRAMMATICALITY].map(GRAMMATICALITY_CODES).astype("float64")
        for name in self._list_numbers(rows):
            numbers = self._make_numbers(name, people, sentences)
            rows[name] = numbers - numbers.mean()
        return rows

    def _list_numbers(self, rows: pd.DataFrame) -> list[str]:
        formula = parse_formula(self.scenario.model.formula)
        return [name for name in formula.column_names[1:] if name not in rows]

    def _make_numbers(self, name: str, people: int, sentences: int) -> Array:
        """Return a numeric predictor, the same in all studies of this size; its order has nothing to do with conditions."""
        import numpy as np

        generator = np.random.default_rng([people, sentences, *name.encode()])
        person, item = self.trials.participant, self.trials.item
        if name == "log_trial":
            order = np.argsort(generator.random((people, sentences)), axis=1)
            return np.log1p(order[person, item])
        if name == "position":
            return generator.integers(0, 3, (sentences, 2))[item, person % 2].astype("float64")
        if name == "question_accuracy":
            return (generator.binomial(ACCURACY_QUESTIONS, 0.9, people) / ACCURACY_QUESTIONS)[person]
        measure = self.scenario.measures.get(name)
        if measure is None:
            raise DataError(
                f"model {self.scenario.model.name!r}: --power does not simulate the column {name!r} of its formula; expected "
                f"factors, measures of participants, {', '.join(COVARIATES)} or question_accuracy"
            )
        require_distribution(name, measure)
        # Evenly spaced quantiles: a sample as the distribution has them, whatever the number of participants.
        numbers = [compute_quantile(measure, (n + 0.5) / people) for n in range(people)]
        Random(f"{name}-{people}").shuffle(numbers)
        return np.array(numbers)[person]

    # -------------------------------------------------------------------------------------------- effects

    @cached_property
    def _columns_by_term(self) -> dict[str, Array]:
        """The number of each trial in each fixed effect of the model that is fitted."""
        return {("intercept" if term == "1" else term): self._multiply(term.split(":")) for term in self.start.fixed}

    def _multiply(self, parts: Sequence[str]) -> Array:
        import numpy as np

        product = np.ones(len(self.trials))
        for part in parts:
            if part != "1":
                product = product * self.design.frame[part].to_numpy(dtype="float64")
        return product

    @cached_property
    def weights(self) -> dict[str, Mapping[str, float]]:
        """What each tested term is of the coefficients."""
        return {term: self._weigh(term) for term in self.scenario.terms}

    def _weigh(self, term: str) -> Mapping[str, float]:
        name, _, level = term.partition("@")
        if not level:
            return {find_coefficient(self.scenario.model, self.scenario.layout, term): 1.0}
        factor, other, value = _split_simple_effect(self.scenario.layout, name, level)
        terms = list(self._columns_by_term)
        first, second = self.scenario.layout.factors[factor]
        upper, lower = (self.design.cell(terms, {other: value, factor: one}) for one in (second, first))
        return {one: upper[one] - lower[one] for one in terms if upper[one] != lower[one]}

    def _expect(self, term: str) -> Array:
        """Return what the effect of a term adds to each trial."""
        import numpy as np

        size, layout = self.scenario.effects[term], self.scenario.layout
        name, _, level = term.partition("@")
        if level:
            factor, other, value = _split_simple_effect(layout, name, level)
            index = list(layout.factors[other]).index(value)
            return size * self.trials.product(factor) * (self.trials.levels[other] == index)
        if not self.scenario.are_joint:
            return size * self._columns_by_term[find_coefficient(self.scenario.model, layout, term)]
        product = np.ones(len(self.trials))
        for part in term.split(":"):
            product = product * self._code_part(part)
        return size * product

    def _code_part(self, part: str) -> Array:
        """Return a factor as a difference of levels, or a measure from the middle of its distribution."""
        measure = self.scenario.measures.get(part)
        if measure is None or measure.levels:
            return self.trials.product(part)
        people = int(self.trials.participant.max()) + 1
        numbers = self._make_numbers(part, people, int(self.trials.item.max()) + 1)
        return numbers - (measure.centre or 0.0)

    @cached_property
    def _nothing(self) -> Array:
        return self._multiply([]) * 0.0

    @cached_property
    def _expected(self) -> dict[str, Array]:
        """What is expected of each trial where a term is tested: by all effects, or by its own."""
        scenario = self.scenario
        if not scenario.are_joint:
            return {term: self._expect(term) for term in scenario.terms}
        return dict.fromkeys(scenario.terms, sum((self._expect(one) for one in scenario.effects), self._nothing))

    @cached_property
    def _expected_without(self) -> dict[str, Array]:
        """The same without the tested term."""
        if not self.scenario.are_joint:
            return dict.fromkeys(self.scenario.terms, self._nothing)
        return {
            term: expected - sum((self._sizes[term][one] * self._columns_by_term[one] for one in self.weights[term]), self._nothing)
            for term, expected in self._expected.items()
        }

    @cached_property
    def _sizes(self) -> dict[str, dict[str, float]]:
        """The true coefficients of the model where a term is tested."""
        import numpy as np

        matrix = np.column_stack(list(self._columns_by_term.values()))
        sizes = {}
        for term, expected in self._expected.items():
            found, *_ = np.linalg.lstsq(matrix, expected, rcond=None)
            sizes[term] = dict(zip(self._columns_by_term, map(float, found), strict=True))
        return sizes

    def find_size(self, term: str) -> float:
        """Return what a term is where the effects are as stated: a sum of coefficients."""
        return sum(weight * self._sizes[term][one] for one, weight in self.weights[term].items())

    def _is_shiftable(self, term: str) -> bool:
        """Whether what is expected is a sum of the model's effects, of a linear model of responses that are not cut into points."""
        import numpy as np

        said = sum((size * self._columns_by_term[one] for one, size in self._sizes[term].items()), self._nothing)
        return self.scenario.response == "log_rt" and bool(np.abs(said - self._expected[term]).max() < SPAN)

    # -------------------------------------------------------------------------------------------- studies

    @cached_property
    def _random_effects(self) -> list[tuple[float, Array, Array]]:
        """Every random effect that is simulated: its s.d., each trial's unit and its number; those of the model's first fit.

        A slope is of a difference between two levels, and of 1 s.d. of a numeric predictor. Where ratings are standardised within
        participants their means differ all the same.
        """
        assumed, layout = self.scenario.assumptions, self.scenario.layout
        found = []
        for group in GROUPS:
            units = self.trials.units(group)
            terms = {term for random in self.start.random if random.group == group for term in random.terms}
            if self.scenario.response == "rating":
                terms |= {"1"}
            slopes: dict[tuple[str, ...], None] = {}
            for term in sorted(terms, key=lambda term: (term.count(":"), term)):
                if term == "1":
                    sd = assumed.slope(group, layout.terms[0]) if layout.choice else assumed.intercept(group)
                    found.append((sd, units, self._multiply([])))
                else:
                    slopes[tuple(self._name_part(part) for part in term.split(":"))] = None
            for parts in slopes:
                found += [(sd, units, numbers) for sd, numbers in self._list_slopes(group, parts)]
        return found

    def _name_part(self, part: str) -> str:
        return self.design.codes[part][0] if part in self.design.codes else part

    def _list_slopes(self, group: str, parts: Sequence[str]) -> Iterator[tuple[float, Array]]:
        """Yield the s.d. and the numbers of the slopes of factors and numeric predictors, one for each difference of levels."""
        layout = self.scenario.layout
        factors = [part for part in parts if part in layout.factors]
        numbers = self._multiply([])
        for name in (part for part in parts if part not in factors):
            column = self._multiply([name])
            numbers = numbers * column / (column.std() or 1.0)
        columns = [[column for column, (of, _) in layout.columns.items() if of == factor] for factor in factors]
        for chosen in itertools.product(*columns):
            term = ":".join(sorted(chosen, key=list(layout.columns).index))
            yield self.scenario.assumptions.slope(group, term), numbers * (self.trials.product(term) if term else 1.0)

    def draw(self, generator: Any) -> tuple[Array, Array]:
        """Return what random effects add to each trial, and what is drawn for it alone."""
        import numpy as np

        total = np.zeros(len(self.trials))
        for sd, units, numbers in self._random_effects:
            total += numbers * generator.normal(0, sd, int(units.max()) + 1)[units]
        if self.scenario.response in ("correct", "chosen"):
            return total, generator.random(len(total))
        return total, generator.normal(0, self.scenario.assumptions.residual, len(total))

    def respond(self, expected: Array, chance: tuple[Array, Array]) -> Array:
        """Return the responses of a study, as the model has them; ratings standardised within participants may be empty."""
        import numpy as np

        random, own = chance
        assumed, response = self.scenario.assumptions, self.scenario.model.response
        location = assumed.mean + expected + random
        if self.scenario.response in ("correct", "chosen"):
            return (own < 1 / (1 + np.exp(-location))).astype("float64")
        if self.scenario.response != "rating":
            return location + own
        points = np.searchsorted(assumed.thresholds, location + own) + (response != "yes")
        return _standardise(points.astype("float64"), self.trials.participant) if response == "z" else points.astype("float64")

    def run_study(self, chance: tuple[Array, Array]) -> Study:
        """Return what one study finds of each term, with its effect and without it.

        Of a linear model of responses that are not cut into points one fit says all: restricted likelihood does not change where
        effects of the model are added to the response, so neither do variances, standard errors and degrees of freedom.
        """
        fits: dict[bytes, ModelEstimate | None] = {}

        def fit(expected: Array) -> ModelEstimate | None:
            key = expected.tobytes()
            if key not in fits:
                fits[key] = self.fit(self.respond(expected, chance))
            return fits[key]

        study: Study = []
        for term, expected in self._expected.items():
            size = self.find_size(term)
            if self._is_shiftable(term):
                alone = self.test(fit(self._nothing), term)
                study.append((alone.shift(size), alone.p))
            else:
                found = self.test(fit(expected), term)
                study.append((found, found.p if size == 0 else self.test(fit(self._expected_without[term]), term).p))
        return study

    def fit(self, values: Array) -> ModelEstimate | None:
        """Return the model of these responses with random effects reduced by its policy, None where it cannot be fitted."""
        import numpy as np

        model = self.scenario.model
        kept = np.isfinite(values)
        columns: dict[str, Any] = {self.start.response: values[kept].tolist()}
        for name, cells in self.columns.items():
            columns[name] = cells if kept.all() else list(itertools.compress(cells, kept))
        try:
            if model.family == "binomial":
                frame = self.design.frame.assign(**{model.response: values})
                require_overlap(frame, parse_formula(model.formula), self.design.formula, columns)
            _, estimated = REDUCTIONS[model.policy](self.start, self._search(columns))
        except DataError:
            return None
        return estimated

    def _search(self, columns: Mapping[str, Cells]) -> Search:
        model = self.scenario.model
        if model.family == "cumulative":
            return Search(
                lambda wanted: ordinal_engine.estimate_model(columns, wanted, model.link),
                ordinal_engine.describe_unsupported,
                Steps(ORDINAL),
            )
        engine = self.scenario.engine
        return build_search(engine, columns, model.family, model.policy, Steps(engine))

    def test(self, estimated: ModelEstimate | None, term: str) -> Fitted:
        """Return what a fit says of a term."""
        if estimated is None:
            return FAILED
        weights = self.weights[term]
        if set(weights.values()) == {1.0} and len(weights) == 1:
            rows = estimated.coefficients.set_index("term")
            found = {name: float(rows[name].to_numpy()[rows.index.get_loc(*weights)]) for name in ("estimate", "se", "df", "p")}
        else:
            found = estimated.combine_effects(weights)
        return Fitted(found["estimate"], found["se"], found["df"], found["p"], estimated.singular)


def _standardise(points: Array, units: Array) -> Array:
    """Return ratings in s.d. (ddof 1) from each participant's mean; empty of one who gave one rating throughout."""
    ratings = pd.Series(points).groupby(units)
    spread = ratings.transform("std")
    return ((points - ratings.transform("mean")) / spread.where(spread > 0, math.nan)).to_numpy()


def find_coefficient(model: PlannedModel, layout: Layout, term: str) -> str:
    """Return which coefficient of a planned model a term is: by its own name, or by its factors where these have one alone.

    In a choice the factor chosen by is the intercept. Raises `DataError` where it is none.
    """
    names = list_coefficients(model, layout)
    wanted = {*term.split(":")}
    for name, coefficient in names.items():
        if wanted in ({*name.split(":")}, {*coefficient.split(":")}):
            return coefficient
    raise DataError(f"term {term!r} is not in the model {model.name!r}; expected one of {', '.join(names)}")


def list_coefficients(model: PlannedModel, layout: Layout) -> dict[str, str]:
    """Return the coefficients of a planned model that power can be of, by what a study calls them.

    That is their factors, where one coefficient is all that these have, else the coefficient's own name; covariates are none.
    """
    tested = [one for one in model.effects if one.term not in ("intercept", *COVARIATES, "question_accuracy")]
    named = {}
    for effect in tested:
        factors = effect.factors or effect.term
        alone = sum((other.factors or other.term) == factors for other in tested) == 1
        named[factors if alone and "/" not in factors else effect.term] = effect.term
    if layout.choice:
        inside = next(name for name in layout.factors if name not in layout.between)
        named = {inside: "intercept"} | {f"{inside}:{name}": term for name, term in named.items()}
    return named


def _split_simple_effect(layout: Layout, name: str, level: str) -> tuple[str, str, str]:
    """Return the factor, the other one, and its level, of the simple effect of a factor of two levels at a level of another."""
    tested = layout.test(f"{name}@{level}")
    of, other, index = tested.nested[tested.column]
    return of, other, layout.factors[other][index]


def build_planned_layout(
    model: PlannedModel, layout: Layout, measures: Mapping[str, ParticipantMeasureSection]
) -> tuple[Layout, dict[str, ParticipantMeasureSection]]:
    """Return a layout with the measures of participants that a model's formula names and that are texts as factors between
    participants, and all the measures that it names.

    Of minimal pairs the levels stand in the order in which the plan has them.
    """
    named = {name: one for name, one in measures.items() if name in parse_formula(model.formula).column_names}
    factors = {name: tuple(levels) for name, levels in layout.factors.items()}
    if model.is_of_pairs:
        factors |= {name: coding.levels for name, coding in model.coding.items()}
    factors |= {name: one.levels for name, one in named.items() if one.levels}
    between = [*layout.between, *(name for name, one in named.items() if one.levels)]
    # A ratio is by conditions, which the materials name by their own factors.
    endings = [
        "".join(f".{level}" for level in levels) for levels in itertools.product(*(m.levels for m in named.values() if m.levels))
    ]
    ratio = {condition + ending: share for condition, share in layout.ratio.items() for ending in endings}
    return Layout(factors, ratio, between, layout.choice), named
