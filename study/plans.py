"""The statistical plan: which models a study is analysed by, resolved before there are data or from the data themselves.

`analysis.plan` resolves it; preregistration, power, analysis, report, deviations and bundle read it. A plan is JSON, and is
told from any other by its SHA-256.
"""

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

PLAN_SCHEMA = 2
INTERCEPTS, SLOPES, DECLARED = "intercepts", "slopes", "declared"  # random effects of a model


@dataclass(frozen=True)
class FactorCoding:
    """How a factor's levels become numeric columns: the contrasts by name, and the order of the levels."""

    contrasts: str
    levels: tuple[str, ...]


@dataclass(frozen=True)
class PlannedEffect:
    """A coefficient that a model has: its term as tables call it, what it compares, and its smallest effect of interest.

    `contrast` is empty of the intercept and of covariates, and of any other numeric predictor its name; `sesoi` is in the unit
    of the response, None where none is stated.
    """

    term: str
    contrast: str = ""
    factors: str = ""
    sesoi: float | None = None

    @property
    def is_tested(self) -> bool:
        """Whether it is an effect of factors or of a declared predictor, and no intercept or covariate."""
        return bool(self.contrast)


@dataclass(frozen=True)
class PlannedModel:
    """A model before it is fitted.

    `unit` is what has a model each: a phenomenon, a paradigm, or a model of a name of its own. `formula` is in the study's own
    factors; `first_fit` has their contrasts as columns and the random effects that are tried first. From there `policy` says how
    random effects are reduced: `declared` keeps them, `maximal` leaves out correlations and then slopes without variance until
    the model converges and is not singular, `parsimonious` goes backward by likelihood-ratio tests. `random` is intercepts,
    slopes or declared. Of several models of the same trials `is_headline` marks the one that is reported first.

    `correction` is how p is adjusted within the family of tests of a model's effects, empty where it is not. `crosscheck`: another
    engine has to find the same estimates.
    """

    name: str
    unit: Literal["phenomenon", "paradigm", "model"]
    response: str
    region: str
    prompt: str | None
    paradigms: tuple[str, ...]
    family: str
    link: str
    formula: str
    first_fit: str
    random: str
    policy: str = "declared"
    is_headline: bool = True
    effects: tuple[PlannedEffect, ...] = ()
    coding: Mapping[str, FactorCoding] = field(default_factory=dict)
    correction: str = ""
    crosscheck: bool = False
    note: str = ""

    @property
    def model_id(self) -> str:
        """What it is called in tables, unique in a plan.

        >>> from dataclasses import replace
        >>> model = PlannedModel("npi", "phenomenon", "z", "sentence", "ease", ("npi_1",), "gaussian", "identity", "", "", "slopes")
        >>> model.model_id, replace(model, family="cumulative", policy="maximal").model_id
        ('phenomenon npi, z sentence (ease), slopes', 'phenomenon npi, z sentence (ease), slopes, cumulative, maximal')
        """
        prompt = f" ({self.prompt})" if self.prompt else ""
        parts = [f"{self.unit} {self.name}", f"{self.response} {self.region}{prompt}", self.random]
        parts += [self.family] if self.family == "cumulative" else []
        return ", ".join([*parts, *([self.policy] if self.policy != "declared" else [])])

    @property
    def is_of_pairs(self) -> bool:
        """Whether it is of grammaticality in minimal pairs, whose conditions are its one factor."""
        return self.unit != "model"

    @property
    def contrasts(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The contrasts of each factor by name, and the order of its levels."""
        return {factor: (coding.contrasts, coding.levels) for factor, coding in self.coding.items()}


@dataclass(frozen=True)
class PlannedHypothesis:
    """A hypothesis about a coefficient of a model that is reported first.

    `direction` is positive or negative in terms of `contrast`, empty where either would do; the test has one or two `sides`.
    `sesoi` is the smallest effect that matters, in the unit of the response. `role` is primary, secondary (beside a primary one) or
    family: then p is adjusted by `correction` over the hypotheses of the same `family`.
    """

    name: str
    model_id: str
    term: str
    contrast: str
    direction: Literal["positive", "negative", ""] = ""
    sides: int = 2
    sesoi: float | None = None
    role: Literal["primary", "secondary", "family"] = "primary"
    family: str = ""
    correction: str = "none"


@dataclass(frozen=True)
class ExclusionRules:
    """Rules of exclusion in place of those of the analysis, `settings` by the keys of study.toml; none: those themselves."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Specification:
    """A choice of each kind, under which a model is fitted; `number` counts from 0, the planned one."""

    number: int
    exclusions: str
    transformation: str
    random_effects: str
    covariates: tuple[str, ...]
    region: str


@dataclass(frozen=True)
class PlannedMultiverse:
    """The choices under which a model is fitted beside the planned one, for its effects of these `terms`: of each kind the planned
    choice comes first. `exclusions` are names of the plan's `exclusion_rules`.
    """

    model_id: str
    terms: tuple[str, ...]
    exclusions: tuple[str, ...]
    transformations: tuple[str, ...]
    random_effects: tuple[str, ...]
    covariates: tuple[tuple[str, ...], ...]
    regions: tuple[str, ...]

    def list_specifications(self) -> list[Specification]:
        """Return every combination of choices, the planned one first.

        >>> kinds = (("as planned", "no cut-offs"), ("log", "ms"), ("as planned",), ((),), ("critical",))
        >>> [(one.exclusions, one.transformation) for one in PlannedMultiverse("m", ("a",), *kinds).list_specifications()][:3]
        [('as planned', 'log'), ('as planned', 'ms'), ('no cut-offs', 'log')]
        """
        kinds = (self.exclusions, self.transformations, self.random_effects, self.covariates, self.regions)
        return [Specification(number, *choices) for number, choices in enumerate(itertools.product(*kinds))]


@dataclass(frozen=True)
class Plan:
    """The models of a study, in the order of its results, the engine that fits them, its hypotheses, and the choices under which
    effects are estimated again (`multiverse`).

    A coefficient is tested at `alpha`, two-sided unless a hypothesis says otherwise, and has an interval of 1 - alpha; that of
    equivalence tests, two one-sided ones at alpha, is of 1 - 2 alpha.

    `resolved_from` is `design` where who sees which item in which condition was known from the lists, `data` where it was
    taken from trials.

    >>> Plan("glmm", "design").sha256[:12]
    '6b2c373abb54'
    """

    engine: str
    resolved_from: Literal["design", "data"]
    models: tuple[PlannedModel, ...] = ()
    hypotheses: tuple[PlannedHypothesis, ...] = ()
    exclusion_rules: tuple[ExclusionRules, ...] = ()
    multiverse: tuple[PlannedMultiverse, ...] = ()
    alpha: float = 0.05
    schema: int = PLAN_SCHEMA

    def format_json(self) -> str:
        """Return the plan as JSON, the same bytes for the same plan."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"

    @property
    def sha256(self) -> str:
        """The hash of what is planned, however it was resolved: a plan from the data that is that of the design has the same."""
        content = asdict(self) | {"resolved_from": ""}
        return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def parse_plan(content: Mapping[str, Any], where: str) -> Plan:
    """Return the plan that JSON holds; raises `DataError` where it holds none, or one of another schema."""
    from .config import parse_dataclass
    from .errors import DataError

    if content.get("schema") != PLAN_SCHEMA:
        raise DataError(
            f"{where}: a plan of schema {content.get('schema')!r}; expected {PLAN_SCHEMA}: make it again by  gardenpath plan"
        )
    return parse_dataclass(Plan, content, where=where)
