"""Trials of a study that nobody has taken yet: who sees which condition, and what is drawn for it under stated assumptions."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gardenpath.study import DataError
from gardenpath.study.responses import RESPONSES, SIMULATED_RESPONSES, is_standardised

from ..engines.formulas import Formula, RandomEffects
from ..grammatical_status import GRAMMATICALITY
from .coding import matrix

if TYPE_CHECKING:
    import numpy as np

Array = Any  # numpy is imported inside functions

PAIR: Mapping[str, Sequence[str]] = {GRAMMATICALITY: ("ungrammatical", "grammatical")}  # so that +1/2 is grammatical, as in CODES
GROUPS = ("participant", "item")
TESTED, MAXIMAL, NONE = "tested", "maximal", "none"
SLOPES = (TESTED, MAXIMAL, NONE)  # random slopes that are fitted
LOG_RT, RATING, CORRECT, CHOSEN = "log_rt", "rating", "correct", "chosen"
DEFAULT = "default"


@dataclass(frozen=True)
class Assumptions:
    """What is taken to be true of participants, items and trials when a response is simulated.

    Standard deviations of participants, items, the slopes of every term over each of them, and a single trial: of `log_rt` in log
    ms; of `rating` and its like on a latent scale on which that of a single one is 1; of `correct` and `chosen` in log odds,
    which have no residual. A slope is of a difference between two levels. `slopes` has those of terms of which they are known, by
    participant and by item. `mean` is the grand mean of a latent rating or of log odds; a latent rating is the first point below
    `thresholds[0]`, the second below `thresholds[1]`, and so on. Random effects are drawn without correlations.

    >>> Assumptions(residual=0.3).participant_slope
    0.12
    """

    participant: float = 0.25
    item: float = 0.20
    participant_slope: float = 0.12
    item_slope: float = 0.08
    residual: float = 0.52
    slopes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    mean: float = 0.0
    thresholds: tuple[float, ...] = ()
    name: str = DEFAULT

    def slope(self, group: str, term: str) -> float:
        """Return the s.d. of a term's slopes over participants or items."""
        general = (self.participant_slope, self.item_slope)
        return self.slopes.get(term, general)[GROUPS.index(group)]

    def unit(self, scale: str) -> float:
        """Return how much of the response's scale a unit of another is: of a latent rating a point of the scale (`rating`), and an
        s.d. of one participant's ratings (`z` and its like); 1 for any other.
        """
        if scale == "rating" and len(self.thresholds) > 1:
            return (self.thresholds[-1] - self.thresholds[0]) / (len(self.thresholds) - 1)
        return math.hypot(self.residual, self.item) if is_standardised(scale) else 1.0

    def intercept(self, group: str) -> float:
        """Return the s.d. of the means of participants or items."""
        return (self.participant, self.item)[GROUPS.index(group)]


SOURCES = {
    LOG_RT: "one word in self-paced reading, 37 readers of 15 items: Sorensen, Hohenstein & Vasishth 2016, "
    "doi 10.20982/tqmp.12.3.p175 (their contrast is -1 and 1, so their slopes are doubled)",
    RATING: "means of participants and items as those of simulated participants; slopes in the same proportion to a single "
    "trial's s.d. as in log reading time",
    CORRECT: "as for ratings, in units of the logistic distribution's s.d.; nine of ten answers are right",
    CHOSEN: "as for ratings, in units of the logistic distribution's s.d.; what differs between participants and between items "
    "is how much they prefer one sentence",
}
LOGISTIC = 1.8138  # the s.d. of the standard logistic distribution, pi / sqrt(3)
POINTS = 7
CENTRE, REACH = 0.7, 2.0  # of the latent scale of simulated participants: points are equal steps over -2 to 2


def find_source(response: str) -> str:
    """Return where the default assumptions about a response are from; of numbers on the latent scale as of ratings."""
    return SOURCES.get(response) or SOURCES[RATING]


def standard(response: str, points: int = POINTS) -> Assumptions:
    """Return the default assumptions about a response; a rating has so many `points`. `find_source` says where they are from.

    >>> standard("log_rt").residual, len(standard("rating", points=5).thresholds)
    (0.52, 4)
    """
    if response not in SIMULATED_RESPONSES:
        raise ValueError(f"response {response!r} is not known; expected one of {', '.join(SIMULATED_RESPONSES)}")
    reading = Assumptions()
    if response == LOG_RT:
        return reading
    is_latent = RESPONSES[response].family == "gaussian"
    scale = 1.0 if is_latent else LOGISTIC
    spread = Assumptions(
        participant=0.5 * scale,
        item=0.3 * scale,
        participant_slope=round(reading.participant_slope / reading.residual * scale, 3),
        item_slope=round(reading.item_slope / reading.residual * scale, 3),
        residual=scale,
    )
    if not is_latent:
        return Assumptions(**{**vars(spread), "mean": 2.197 if response == CORRECT else 0.0})
    has_points = RESPONSES[response].categories == response
    steps = tuple(-REACH + 2 * REACH * k / points for k in range(1, points)) if has_points else ()
    return Assumptions(**{**vars(spread), "mean": CENTRE, "thresholds": steps})


@dataclass(frozen=True)
class Tested:
    """A coefficient: its name, its column, the terms of its model, and what columns nested in a level of another factor are."""

    name: str
    column: str
    terms: tuple[str, ...]
    nested: Mapping[str, tuple[str, str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """The factors of a study with their levels in order, and how conditions, levels joined by a dot, are dealt: in a Latin square,
    `ratio` being shares of conditions, equal where not stated; of `between` factors a participant sees one level.

    In a `choice` a trial shows both levels of the one factor that is not between participants, and what is modelled is which of
    them is chosen: that factor's effect is the intercept, and its interactions are the effects of the others.

    >>> Layout({"a": ("x", "y"), "b": ("u", "v")}).terms
    ('a', 'b', 'a:b')
    """

    factors: Mapping[str, Sequence[str]]
    ratio: Mapping[str, int] = field(default_factory=dict)
    between: Sequence[str] = ()
    choice: bool = False

    def __post_init__(self) -> None:
        inside = self._inside
        if self.choice and (len(inside) != 1 or len(self.factors[inside[0]]) != 2):
            raise DataError(f"a choice is between the two levels of one factor; there are {self._listed()}")

    @property
    def _inside(self) -> list[str]:
        return [name for name in self.factors if name not in self.between]

    @cached_property
    def columns(self) -> Mapping[str, tuple[str, tuple[float, ...]]]:
        """The factor of each numeric column and its codes by level: -1/2 and +1/2, or each level against the one before."""
        columns: dict[str, tuple[str, tuple[float, ...]]] = {}
        for factor, levels in self.factors.items():
            codes = matrix("repeated", len(levels))
            for k, (before, after) in enumerate(itertools.pairwise(map(_word, levels))):
                column = factor if len(levels) == 2 else f"{factor}_{after}_{before}"
                columns[column] = factor, tuple(float(code) for code in codes[:, k])
        return columns

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """All coefficients of the model: main effects first, interactions after them."""
        sets = cross_columns(self.columns)
        return tuple(":".join(parts) for parts in sets if not self.choice or {*self._inside} <= {*parts})

    def test(self, term: str) -> Tested:
        """Return how a term is tested: `a`, `a:b` in either order, or `a@level`, the simple effect of `a` at a level of another.

        A name that is none of these is a `DataError` that lists what there is.
        """
        name, _, level = term.partition("@")
        if level:
            return self._simple(name, level)
        known = next((one for one in self.terms if {*one.split(":")} == {*term.split(":")}), None)
        if known is None:
            raise DataError(f"term {term!r} is not in the model; expected one of {', '.join(self.terms)}{self._example()}")
        return Tested(known, known, self.terms)

    def _simple(self, name: str, level: str) -> Tested:
        factor, _, value = level.rpartition("=")
        others = [other for other in self.factors if other != name and value in self.factors[other]]
        others = [other for other in others if factor in ("", other)]
        if len(others) != 1 or len(self.factors.get(name, ())) != 2 or self.choice:
            raise DataError(
                f"term {name}@{level}: expected a factor of two levels at a level of one other (FACTOR@LEVEL, or "
                f"FACTOR@OTHER=LEVEL); there are {self._listed()}"
            )
        other = others[0]
        nested = {f"{name}_in_{_word(each)}": (name, other, n) for n, each in enumerate(self.factors[other])}
        rest = {column: of for column, of in self.columns.items() if of[0] != name}
        free = cross_columns({column: of for column, of in rest.items() if of[0] != other})
        terms = [*cross_columns(rest), *((*parts, column) for column in nested for parts in ((), *free))]
        tested = f"{name}_in_{_word(value)}"
        return Tested(f"{name}@{value}", tested, tuple(":".join(parts) for parts in sorted(terms, key=len)), nested)

    def _example(self) -> str:
        two = [name for name, levels in self.factors.items() if len(levels) == 2]
        return f", or a simple effect such as {two[0]}@{self.factors[two[1]][-1]}" if len(two) > 1 else ""

    def _listed(self) -> str:
        return "; ".join(f"{name} with {', '.join(levels)}" for name, levels in self.factors.items())

    def assign_trials(self, people: int, sentences: int) -> "Trials":
        """Return the trials of so many participants, each of whom sees so many items."""
        import numpy as np

        person, item = (codes.ravel() for codes in np.meshgrid(np.arange(people), np.arange(sentences), indexing="ij"))
        groups = list(itertools.product(*(range(len(self.factors[name])) for name in self.between)))
        assigned_levels = np.zeros((len(person), len(self.factors)), dtype="int64")
        for n, group in enumerate(groups):
            cycle = np.array(self._cycle(dict(zip(self.between, group, strict=True))))
            is_in_group = person % len(groups) == n
            assigned_levels[is_in_group] = cycle[(person[is_in_group] // len(groups) + item[is_in_group]) % len(cycle)]
        return Trials(self, person, item, {name: assigned_levels[:, k] for k, name in enumerate(self.factors)})

    def _cycle(self, fixed: Mapping[str, int]) -> list[list[int]]:
        """Return the levels of every factor in the order in which a participant comes by them, each as often as its share."""
        cycle = []
        for levels in itertools.product(*(range(len(self.factors[name])) for name in self._inside)):
            place = {**fixed, **dict(zip(self._inside, levels, strict=True))}
            condition = ".".join(self.factors[name][place[name]] for name in self.factors)
            cycle += [[place[name] for name in self.factors]] * self.ratio.get(condition, 1)
        return cycle


@dataclass(frozen=True)
class Trials:
    """Trials: the number of their participant and of their item, and the number of each factor's level."""

    layout: Layout
    participant: Array
    item: Array
    levels: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.participant)

    def units(self, group: str) -> Array:
        """Return the number of each trial's participant or item."""
        return self.participant if group == GROUPS[0] else self.item

    def product(self, term: str, tested: Tested | None = None) -> Array:
        """Return a term's numbers, those of an interaction being the product of its parts'."""
        import numpy as np

        product = np.ones(len(self))
        for part in term.split(":"):
            product = product * self._column(part, tested)
        return product

    def _column(self, name: str, tested: Tested | None) -> Array:
        import numpy as np

        if tested is not None and name in tested.nested:
            of, other, level = tested.nested[name]
            return self._column(of, None) * (self.levels[other] == level)
        factor, codes = self.layout.columns[name]
        if self.layout.choice and factor not in self.layout.between:
            return np.ones(len(self))
        return np.array(codes)[self.levels[factor]]

    def is_random(self, term: str, group: str, tested: Tested | None = None) -> bool:
        """Whether the design lets a term's effect differ over participants, or over items, beside their means."""
        import numpy as np

        if group == GROUPS[0] and any(of in self.layout.between for of in self._factors(term, tested)):
            return False
        values, units = self.product(term, tested), self.units(group)
        lowest, highest = np.full(units.max() + 1, np.inf), np.full(units.max() + 1, -np.inf)
        np.minimum.at(lowest, units, values)
        np.maximum.at(highest, units, values)
        return bool((lowest < highest).any())

    def _factors(self, term: str, tested: Tested | None) -> set[str]:
        parts = term.split(":")
        nested = tested.nested if tested else {}
        return {name for part in parts for name in (nested[part][:2] if part in nested else (self.layout.columns[part][0],))}

    @cached_property
    def effects(self) -> "list[tuple[str, str, Array, Array]]":
        """Every random effect that is simulated: its group, its term ("1" for means), each trial's unit and number."""
        import numpy as np

        found = []
        for group in GROUPS:
            units = self.units(group)
            if not self.layout.choice:
                found.append((group, "1", units, np.ones(len(self))))
            for term in self.layout.terms:
                if self.is_random(term, group) or self.shown(term) == "1":
                    found.append((group, term, units, self.product(term)))
        return found

    def draw(self, assumed: Assumptions, generator: "np.random.Generator") -> Array:
        """Return what participants, items and their slopes add to each trial's expected value."""
        import numpy as np

        total = np.zeros(len(self))
        for group, term, units, values in self.effects:
            sd = assumed.intercept(group) if term == "1" else assumed.slope(group, term)
            total += values * generator.normal(0, sd, int(units.max()) + 1)[units]
        return total

    def shown(self, term: str) -> str:
        """Return how a term stands in a formula: in a choice without the factor chosen by, whose effect is the intercept."""
        parts = [part for part in term.split(":") if not self.layout.choice or part in self.layout.between]
        return ":".join(parts) or "1"

    def formula(self, response: str, tested: Tested, slopes: str) -> Formula:
        """Return the model in which a coefficient is tested: with intercepts, and slopes of it alone, of all terms, or none."""
        wanted = {TESTED: (tested.column,), MAXIMAL: tested.terms, NONE: ()}[slopes]
        random = [
            RandomEffects(("1", *(self.shown(term) for term in wanted if self.is_random(term, group, tested))), group)
            for group in GROUPS
        ]
        fixed = tuple(shown for shown in map(self.shown, tested.terms) if shown != "1")
        return Formula(response, ("1", *fixed), tuple(random))


def cross_columns(columns: Mapping[str, tuple[str, Any]]) -> list[tuple[str, ...]]:
    """Return every set of columns of different factors, the smallest first."""
    sets = (parts for size in range(1, len(columns) + 1) for parts in itertools.combinations(columns, size))
    return [parts for parts in sets if len({columns[column][0] for column in parts}) == len(parts)]


def _word(level: str) -> str:
    return re.sub(r"\W+", "_", level)
