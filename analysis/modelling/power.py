"""How many participants and items an effect takes: power by simulation, from a declared smallest effect of interest."""

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pandas as pd

from gardenpath.study import TABLES, DataError, check, executors
from gardenpath.study.executors import Executor
from gardenpath.study.responses import RESPONSES, SIMULATED_RESPONSES

from ..engines import ordinal_engine, r_session
from ..engines.estimates import Cells, ModelEstimate
from ..engines.formulas import Formula
from ..grammatical_status import GRAMMATICALITY
from ..intervals import ALPHA, wilson_interval
from .mixed_models import engine_named
from .ordinal import CATEGORIES
from .simulated_trials import (
    CHOSEN,
    CORRECT,
    GROUPS,
    LOG_RT,
    NONE,
    PAIR,
    RATING,
    SLOPES,
    TESTED,
    Array,
    Assumptions,
    Layout,
    Tested,
    Trials,
    standard,
)

LINEAR, ORDINAL, BINOMIAL = "linear", "ordinal", "binomial"
FAMILIES = {
    name: (BINOMIAL,) if RESPONSES[name].family == "binomial" else (LINEAR, ORDINAL) if RESPONSES[name].categories else (LINEAR,)
    for name in SIMULATED_RESPONSES
}
RUNS = {LINEAR: 1000, ORDINAL: 200, BINOMIAL: 200}
AT_ONCE = 10  # studies that a worker is given together


class Scenario(Protocol):
    """What is simulated and fitted: studies of any size, in each of which several coefficients may be tested."""

    @property
    def family(self) -> str:
        """Linear, ordinal or binomial."""

    def list_row_keys(self, people: int, sentences: int, runs: int) -> "list[dict[str, object]]":
        """Return the cells of the row of each tested coefficient by which it is known."""

    def batches(self, people: int, sentences: int, runs: int, seed: int) -> "Iterator[Batch]":
        """Yield the studies of a size in batches."""

    def batch(self, people: int, sentences: int, generator: Any, runs: int) -> "list[Study]":
        """Return what the next studies of a generator find."""


@dataclass(frozen=True)
class Fitted:
    """What one fit says of the tested coefficient."""

    estimate: float
    se: float
    df: float
    p: float
    singular: bool

    def p_without(self, effect: float) -> float:
        """Return the p of a linear model of the same data without the effect: all else in the fit stays as it is."""
        from scipy import special

        return float(2 * special.stdtr(self.df, -abs(self.estimate - effect) / self.se))

    def shift(self, effect: float) -> "Fitted":
        """Return what a linear model of the same data with this effect added finds."""
        estimate = self.estimate + effect
        return replace(self, estimate=estimate, p=replace(self, estimate=estimate).p_without(0.0))


FAILED = Fitted(math.nan, math.nan, math.nan, math.nan, False)


@dataclass(frozen=True)
class PowerScenario:
    """A coefficient whose power is simulated: what is true, and the model in which it is tested.

    `effects` are those of terms, in units of the response (latent for ratings, log odds for answers and choices); with a number
    for the tested one alone.
    """

    layout: Layout
    response: str
    tested: Tested
    effects: Mapping[str, float] | float
    assumptions: Assumptions
    family: str
    slopes: str
    engine: str

    def list_row_keys(self, people: int, sentences: int, runs: int) -> list[dict[str, object]]:
        """Return the cells of its one row by which it is known."""
        key = {
            "response": self.response,
            "term": self.tested.name,
            "effect": self._effect(self.layout.assign_trials(people, sentences)),
            "n_participants": people,
            "n_items": sentences,
            "family": self.family,
            "slopes": self.slopes,
            "assumptions": self.assumptions.name,
            "formula": str(self.formula(self.layout.assign_trials(people, sentences))),
            "n_simulations": runs,
        }
        return [key]

    def formula(self, trials: Trials) -> Formula:
        """Return the model that is fitted."""
        return trials.formula(self.response, self.tested, self.slopes)

    def expected(self, trials: Trials) -> Array:
        """Return what the effects add to each trial."""
        import numpy as np

        if not isinstance(self.effects, Mapping):
            return self.effects * trials.product(self.tested.column, self.tested)
        return sum((size * trials.product(term) for term, size in self.effects.items()), np.zeros(len(trials)))

    def _effect(self, trials: Trials) -> float:
        """Return the true value of the tested coefficient."""
        import numpy as np

        if not isinstance(self.effects, Mapping):
            return self.effects
        columns = [trials.product(term, self.tested) for term in self.tested.terms]
        if not trials.layout.choice:
            columns.append(np.ones(len(trials)))
        found, *_ = np.linalg.lstsq(np.column_stack(columns), self.expected(trials), rcond=None)
        return round(float(found[self.tested.terms.index(self.tested.column)]), 12)

    def batches(self, people: int, sentences: int, runs: int, seed: int) -> "Iterator[Batch]":
        """Yield the studies of this size in batches, each with the generator as it is before the first of them."""
        import numpy as np

        trials = self.layout.assign_trials(people, sentences)
        generator = np.random.default_rng([seed, people, sentences])
        for start in range(0, runs, AT_ONCE):
            size = min(AT_ONCE, runs - start)
            yield Batch(self, people, sentences, generator.bit_generator.state, size)
            for _ in range(size if start + size < runs else 0):
                self._chance(trials, generator)

    def batch(self, people: int, sentences: int, generator: Any, runs: int) -> "list[Study]":
        """Return what the next studies of this generator find with the effect and without it."""
        trials = self.layout.assign_trials(people, sentences)
        effect, expected = self._effect(trials), self.expected(trials)
        without = expected - effect * trials.product(self.tested.column, self.tested)
        fit = _Fits(self, trials)
        found = []
        for _ in range(runs):
            chance = self._chance(trials, generator)
            fitted = fit(self._responses(expected, chance))
            if self.family == LINEAR and self.response != RATING:
                null = fitted.p_without(effect)
            elif effect == 0:
                null = fitted.p
            else:
                null = fit(self._responses(without, chance)).p
            found.append([(fitted, null)])
        return found

    def _chance(self, trials: Trials, generator: Any) -> tuple[Array, Array]:
        """Return what random effects add to each trial, and what is drawn for it alone."""
        random = trials.draw(self.assumptions, generator)
        if self.response in (CORRECT, CHOSEN):
            return random, generator.random(len(trials))
        return random, generator.normal(0, self.assumptions.residual, len(trials))

    def _responses(self, expected: Array, chance: tuple[Array, Array]) -> list[float]:
        import numpy as np

        random, own = chance
        location = self.assumptions.mean + expected + random
        values: Array
        if self.response in (CORRECT, CHOSEN):
            values = own < 1 / (1 + np.exp(-location))
        elif self.response == RATING:
            values = np.searchsorted(self.assumptions.thresholds, location + own)
            values = values + (self.family != BINOMIAL)  # points count from 1, yes is 1
        else:
            values = location + own
        listed: list[float] = values.astype("float64").tolist()
        return listed


Study = list[tuple[Fitted, float]]  # of each tested coefficient what is found of the effect, and the p where there is none


@dataclass(frozen=True)
class Batch:
    """Some studies of one size: those that follow a state of the random generator."""

    scenario: Scenario
    participants: int
    sentences: int
    state: Mapping[str, Any]
    runs: int


def simulated(batch: Batch) -> list[Study]:
    """Return what the studies of a batch find."""
    import numpy as np

    generator = np.random.default_rng()
    generator.bit_generator.state = batch.state
    return batch.scenario.batch(batch.participants, batch.sentences, generator, batch.runs)


def run_studies(scenario: Scenario, people: int, sentences: int, runs: int, seed: int) -> list[dict[str, float]]:
    """Return how so many simulated studies of this size came out, for each tested coefficient."""
    studies = [one for batch in scenario.batches(people, sentences, runs, seed) for one in simulated(batch)]
    return [_came_out(tests) for tests in zip(*studies, strict=True)]


def _came_out(tests: Sequence[tuple[Fitted, float]]) -> dict[str, float]:
    """Return the shares of studies in which the effect is found, with it and without it."""
    import numpy as np

    found, null = [fit for fit, _ in tests], np.array([p for _, p in tests])
    p, se = (np.array([getattr(one, name) for one in found]) for name in ("p", "se"))
    return {
        "power": float((p < ALPHA).mean()),
        "false_positives": float((null < ALPHA).mean()),
        "se": float(se[~np.isnan(se)].mean()) if not np.isnan(se).all() else math.nan,
        "share_singular": float(np.mean([one.singular for one in found])),
        "share_failed": float(np.isnan(p).mean()),
    }


class _Fits:
    """Fits of one model to responses of the same trials, whose predictors are laid out once."""

    def __init__(self, plan: PowerScenario, trials: Trials) -> None:
        self.plan, self.formula = plan, plan.formula(trials)
        shown = trials.shown(plan.tested.column)
        self.term = "intercept" if shown == "1" else shown
        self.cells = _cells(trials)
        self.columns: dict[str, Cells] = {group: [str(n) for n in trials.units(group)] for group in GROUPS}
        for name in self.formula.column_names[1:]:
            if name not in self.columns:
                self.columns[name] = trials.product(name, plan.tested).tolist()

    def __call__(self, responses: list[float]) -> Fitted:
        if self.plan.family == BINOMIAL and self._separated(responses):
            return FAILED
        try:
            estimated = self._estimate({self.formula.response: responses, **self.columns})
        except DataError:
            return FAILED
        at = estimated.coefficients["term"].tolist().index(self.term)
        estimate, se, df, p = (float(estimated.coefficients[name].to_numpy()[at]) for name in ("estimate", "se", "df", "p"))
        return Fitted(estimate, se, df, p, estimated.singular)

    def _estimate(self, columns: Mapping[str, Cells]) -> ModelEstimate:
        if self.plan.family == ORDINAL:
            return ordinal_engine.estimate_model(columns, self.formula, "probit")
        family = "binomial" if self.plan.family == BINOMIAL else "gaussian"
        return engine_named(self.plan.engine).estimate(columns, self.formula, "", family)

    def _separated(self, responses: list[float]) -> bool:
        """Whether some condition has one answer only: in a model of all interactions its log odds have no finite estimate."""
        import numpy as np

        ones = np.bincount(self.cells, weights=responses)
        return bool(((ones == 0) | (ones == np.bincount(self.cells))).any())


def _cells(trials: Trials) -> Array:
    """Return the number of each trial's condition, of a choice the group of participants."""
    import numpy as np

    inside = [trials.levels[name] for name in trials.levels if not trials.layout.choice or name in trials.layout.between]
    if not inside:
        return np.zeros(len(trials), dtype="int64")
    return np.unique(np.column_stack(inside), axis=0, return_inverse=True)[1].ravel()


def build_scenario(
    effect: float | Mapping[str, float],
    *,
    term: str = GRAMMATICALITY,
    response: str = LOG_RT,
    factors: Mapping[str, Sequence[str]] = PAIR,
    ratio: Mapping[str, int] | None = None,
    between: Sequence[str] = (),
    assumptions: Assumptions | None = None,
    family: str | None = None,
    slopes: str | None = None,
    engine: str = "glmm",
) -> PowerScenario:
    """Return what is to be simulated and fitted, arguments as in `power_curve`."""
    assumed = assumptions or standard(response)
    families = families_of(response, assumed)
    family = family or families[0]
    slopes = slopes or (NONE if family == ORDINAL else TESTED)
    for name, value, known in (("family", family, families), ("slopes", slopes, SLOPES)):
        if value not in known:
            raise ValueError(f"{name} {value!r} is not known for {response}; expected one of {', '.join(known)}")
    layout = Layout(factors, ratio or {}, between, choice=response == CHOSEN)
    engine_named(engine)
    if isinstance(effect, Mapping):
        effect = {layout.test(name).column: size for name, size in effect.items()}
    return PowerScenario(layout, response, layout.test(term), effect, assumed, family, slopes, engine)


def families_of(response: str, assumed: Assumptions) -> tuple[str, ...]:
    """Return the families of models that fit a response: ratings of two points are yes and no, those of many no categories."""
    points = len(assumed.thresholds) + 1
    if response == RATING and points == 2:
        return (BINOMIAL,)
    if response == RATING and points not in CATEGORIES:
        return (LINEAR,)
    return FAMILIES[response]


def power_curve(
    effect: float | Mapping[str, float],
    *,
    participants: Sequence[int],
    items: Sequence[int],
    term: str = GRAMMATICALITY,
    response: str = LOG_RT,
    factors: Mapping[str, Sequence[str]] = PAIR,
    ratio: Mapping[str, int] | None = None,
    between: Sequence[str] = (),
    assumptions: Assumptions | None = None,
    family: str | None = None,
    slopes: str | None = None,
    runs: int | None = None,
    seed: int = 1,
    engine: str = "glmm",
    known: pd.DataFrame | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    each: Callable[[pd.DataFrame], None] = lambda table: None,
    workers: Executor | None = None,
) -> pd.DataFrame:
    """Return how often a coefficient of this size is found at .05, for each number of participants and of items.

    `effect` is that of `term`, or several terms' own: declare the smallest one of interest, never the one observed, whose power
    says nothing that its p does not. `term` is a main effect, an interaction `a:b`, or a simple effect `a@level`, of `factors`
    with their levels in order; the first of two levels is -1/2, the second +1/2. Each simulated participant sees each item in
    one condition, in a Latin square with the shares `ratio` of conditions, and one level of factors `between` participants.

    `response` is log_rt, rating (points of one latent scale), correct (a question's answer) or chosen (a forced choice);
    `assumptions` says what is true of it, else its defaults. Slopes of every term that the design allows are simulated; fitted
    are, by `slopes`, those of the term alone (Barr 2013, doi 10.3389/fpsyg.2013.00328), all (maximal) or none. `family` is linear,
    ordinal (ratings, in R; without slopes unless asked for) or binomial. `runs` studies are simulated, else 1000, or 200 of
    models that are not linear, the same ones for every term, family and size of effect.

    `power`, a share of studies, has its 95 % Wilson interval (doi 10.1080/01621459.1927.10502953); `false_positives` is the
    share in which the coefficient is found in the same studies without it. Fewer than two participants or items are a
    `ValueError`, an unknown term is a `DataError`.

    A cell depends on the seed and its own numbers alone, so those of a table `known` are not simulated again; of other
    assumptions under the same name it must not be. `each` gets the table after each cell, `progress` the studies done and all.
    With `workers`, such as `study.executors.LocalExecutor(2)`, studies are spread over processes, and the table is the same.

    >>> factors = {"extraction": ("subject", "object"), "noun_phrase": ("name", "description")}
    >>> table = power_curve(0.2, participants=[12], items=[8], factors=factors, term="noun_phrase:extraction", runs=5)
    >>> table["formula"].item().partition(" + (")[0]
    'log_rt ~ extraction + noun_phrase + extraction:noun_phrase'
    """
    plan = build_scenario(
        effect,
        term=term,
        response=response,
        factors=factors,
        ratio=ratio,
        between=between,
        assumptions=assumptions,
        family=family,
        slopes=slopes,
        engine=engine,
    )
    runs = RUNS[plan.family] if runs is None else runs
    return curve(plan, participants, items, runs, seed, known=known, progress=progress, each=each, workers=workers)


def curve(
    plan: Scenario,
    participants: Sequence[int],
    items: Sequence[int],
    runs: int,
    seed: int,
    *,
    known: pd.DataFrame | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    each: Callable[[pd.DataFrame], None] = lambda table: None,
    workers: Executor | None = None,
) -> pd.DataFrame:
    """Return the table power of a scenario; arguments as in `power_curve`."""
    if runs < 1 or not participants or not items or min(*participants, *items) < 2:
        raise ValueError(
            f"participants {list(participants)}, items {list(items)}, runs {runs}: "
            "expected at least 2 of each, and at least one run"
        )
    cells = list(itertools.product(participants, items))
    places = {cell: plan.list_row_keys(*cell, runs) for cell in cells}
    rows = {cell: look_up_rows(known, keys) for cell, keys in places.items()}
    missing = [cell for cell in dict.fromkeys(cells) if rows[cell].empty]
    batches = [batch for cell in missing for batch in plan.batches(*cell, runs, seed)]
    left = Counter((batch.participants, batch.sentences) for batch in batches)
    done = (len(rows) - len(missing)) * runs
    found: dict[int, list[Study]] = {}

    def table() -> pd.DataFrame:
        there = [row for row in rows.values() if len(row)]
        there = there or [pd.DataFrame(columns=TABLES["power"].column_names)]
        return check(pd.concat(there, ignore_index=True)[TABLES["power"].column_names], "power")

    for outcome in executors.map_in_parallel(simulated, batches, workers):
        found[outcome.index] = outcome.get_value()
        done += batches[outcome.index].runs
        progress(done, len(rows) * runs)
        cell = batches[outcome.index].participants, batches[outcome.index].sentences
        left[cell] -= 1
        if not left[cell]:
            of_cell = [n for n, batch in enumerate(batches) if (batch.participants, batch.sentences) == cell]
            studies = [study for n in of_cell for study in found.pop(n)]
            came_out = [{**key, **_came_out(tests)} for key, tests in zip(places[cell], zip(*studies, strict=True), strict=True)]
            frame = pd.DataFrame(came_out)
            low, high = wilson_interval(frame["power"] * runs, pd.Series(float(runs), index=frame.index))
            rows[cell] = frame.assign(power_low=low, power_high=high)
            each(table())
    return table()


def look_up_rows(known: pd.DataFrame | None, row_keys: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Return the rows of these places in a table of earlier results; none where one of them is lacking."""
    if known is None:
        return pd.DataFrame()
    found = [known[(known[list(key)] == pd.Series(key)).all(axis=1)] for key in row_keys]
    return pd.concat(found) if all(map(len, found)) else pd.DataFrame()


def seconds(plan: Scenario, cells: Iterable[tuple[int, int]], runs: int, seed: int) -> float:
    """Return how long so many studies of each size, participants and items, will take here, from one study of each."""
    if plan.family == ORDINAL:
        r_session.get_session()  # whose start is no part of a study
    needed = 0.0
    for people, sentences in cells:
        started = time.perf_counter()
        run_studies(plan, people, sentences, 1, seed)
        needed += runs * (time.perf_counter() - started)
    return needed
