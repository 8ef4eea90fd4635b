"""What is asked of a selection or a division of items: the tables of a selection.toml, which stands before there is a study."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from gardenpath import study
from gardenpath.study.config import STRICT_VALIDATION, NormSection, parse_dataclass

T = TypeVar("T")
MatchMode = Literal["means", "sets", "best"]
AcrossScope = Literal["cells", "levels", "conditions"]
NULL_MODES = ("balanced", "first", "inclusive")


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


@dataclass(frozen=True)
class CovariateSection:
    """What is asked of a covariate: of means in s.d. of the pool (`tolerance`), of the second moment about the pool's mean in
    s.d. of that (`spread_tolerance`), of counts in so many quantile `bins` of the pool; in matched sets `difference_range`
    (lowest and highest difference from the null, in the covariate's own units).

    `match_across` says which cells are to be alike: all of them, the levels of items in each condition, or the conditions in
    each level.

    >>> CovariateSection(tolerance=0.02).bins is None
    True
    """

    __pydantic_config__ = STRICT_VALIDATION
    tolerance: float | None = None
    spread_tolerance: float | None = None
    bins: int | None = None
    difference_range: tuple[float, float] | None = None
    match_across: AcrossScope | None = None

    def __post_init__(self) -> None:
        for name in ("tolerance", "spread_tolerance"):
            value = getattr(self, name)
            _expect(value is None or value >= 0, f"{name} is {value}; expected s.d. of the pool, 0 or more")
        _expect(self.bins is None or self.bins >= 2, f"bins is {self.bins}; expected 2 or more")
        _expect(
            self.difference_range is None or self.difference_range[0] <= 0 <= self.difference_range[1],
            f"difference_range is {self.difference_range}; expected the lowest and the highest difference from the "
            "null, such as [-0.2, 0.2]",
        )


Covariates = Mapping[str, CovariateSection]


@dataclass(frozen=True)
class ExpectedEffectSection:
    """What a bit of surprisal costs a reader, in ms, and where that is published (a DOI); `mean_rt` is the ms that a word takes.

    >>> ExpectedEffectSection(ms_per_bit=4.0, source="10.1016/j.cognition.2013.02.013").region
    'critical'
    """

    __pydantic_config__ = STRICT_VALIDATION
    ms_per_bit: float
    source: str  # DOI
    region: str = "critical"
    term: str | None = None  # the paradigm's first factor, where it has one alone
    mean_rt: float = 350.0  # ms, a word

    def __post_init__(self) -> None:
        _expect(self.ms_per_bit > 0, f"ms_per_bit is {self.ms_per_bit}; expected ms a bit, more than 0")
        _expect("10." in self.source, f"source is {self.source!r}; expected the DOI of the publication that states ms_per_bit")
        _expect(self.mean_rt > 0, f"mean_rt is {self.mean_rt}; expected ms a word, more than 0")


@dataclass(frozen=True)
class MatchingSettings:
    """What a selection and a division have in common.

    `scores` is a folder or file of the table surprisal and `model` whose surprisal is meant where it has several; `bigrams` a
    corpus (a text, counted) or a table with the columns first, second and count; `norms` are tables of words, each a measure of
    its name; `mapping` says what the columns of a table of another lab are. `balance_on` names what is to be spread evenly:
    phenomenon, paradigm, or a column of items. `keep_together` and `keep_apart` are groups of items. Items without a value are an
    error unless `skip_bad`. `effort` multiplies how long is searched, in steps and nodes, never in seconds.
    """

    __pydantic_config__ = STRICT_VALIDATION
    covariates: dict[str, CovariateSection] = field(default_factory=dict)
    materials: tuple[str, ...] = ()
    tolerance: float = 0.05
    spread_tolerance: float | None = None
    balance_on: tuple[str, ...] = ()
    keep_together: tuple[tuple[str, ...], ...] = ()
    keep_apart: tuple[tuple[str, ...], ...] = ()
    scores: str | None = None
    model: str | None = None
    bigrams: str | None = None
    norms: dict[str, NormSection] = field(default_factory=dict)
    mapping: str | None = None
    language: str | None = None
    skip_bad: bool = False
    seed: int = 1
    effort: float = 1.0

    def __post_init__(self) -> None:
        _expect(self.tolerance >= 0, f"tolerance is {self.tolerance}; expected s.d. of the pool, 0 or more")
        _expect(self.effort > 0, f"effort is {self.effort}; expected more than 0")

    @property
    def default_across(self) -> AcrossScope:
        """Which cells are alike where a covariate does not say: lists in each condition, of a choice all cells."""
        return "cells"

    def get_across(self, name: str) -> AcrossScope:
        """Return which cells are to be alike in a covariate."""
        return self.covariates[name].match_across or self.default_across

    def get_tolerance(self, name: str) -> float:
        """Return the tolerance of a covariate's means."""
        own = self.covariates[name].tolerance
        return self.tolerance if own is None else own

    def get_spread(self, name: str) -> float | None:
        """Return the tolerance of its second moment, if it is to be alike."""
        own = self.covariates[name].spread_tolerance
        return self.spread_tolerance if own is None else own


@dataclass(frozen=True)
class Selection(MatchingSettings):
    """How many items are chosen of a pool, and what of them is to be alike: a selection.toml.

    `match` is "means" (within tolerances, proven), "sets" (each set within tolerances, as in LexOPS) or "best" (the largest
    difference as small as can be, to within `optimality_gap` s.d.). `between_items` names columns in whose levels items differ:
    as many of each are chosen. `null` says what the members of a set are held against: each level in turn ("balanced"), the
    "first", every other member ("inclusive"), or a level. `maximise` = "power" takes, of all choices that match, one with the
    largest expected effect.

    >>> Selection(items=48, covariates={"letters:critical": CovariateSection()}).get_tolerance("letters:critical")
    0.05
    """

    items: int = 0
    match: MatchMode = "means"
    optimality_gap: float = 0.05
    between_items: tuple[str, ...] = ()
    null: str = "balanced"
    maximise: Literal["power"] | None = None
    effect: ExpectedEffectSection | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _expect(self.items > 0, f"items is {self.items}; expected how many are to be chosen")
        _expect(self.optimality_gap >= 0, f"optimality_gap is {self.optimality_gap}; expected s.d. of the pool, 0 or more")
        _expect(
            self.maximise is None or self.effect is not None,
            "maximise = 'power' needs [effect] with ms_per_bit and source, the DOI that states it",
        )
        _expect(
            self.maximise is None or self.match != "best",
            "match = 'best' and maximise ask for two different optima; expected one of them",
        )
        for name, covariate in self.covariates.items() if self.match == "sets" else ():
            _expect(
                covariate.difference_range is not None,
                f"covariate {name} has no difference_range; sets expect it, such as [-0.2, 0.2]",
            )
        for name, covariate in self.covariates.items() if self.match != "sets" else ():
            _expect(
                covariate.difference_range is None,
                f"covariate {name} has difference_range, which is of sets; expected match = 'sets'",
            )


@dataclass(frozen=True)
class Division(MatchingSettings):
    """How items are dealt to `lists`: all of them, or `items` in each, in turn.

    >>> Division(lists=4).items is None
    True
    """

    lists: int = 0
    items: int | None = None

    @property
    def default_across(self) -> AcrossScope:
        return "levels"

    def __post_init__(self) -> None:
        super().__post_init__()
        _expect(self.lists > 1, f"lists is {self.lists}; expected 2 or more")
        _expect(self.items is None or self.items > 0, f"items is {self.items}; expected items a list, 1 or more")
        sets = [name for name, covariate in self.covariates.items() if covariate.difference_range is not None]
        _expect(not sets, f"covariate {', '.join(sets)} has difference_range, which is of sets; lists are matched in their means")


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return what a TOML file states; raises `study.DataError` where it is not TOML."""
    try:
        return tomllib.loads(study.files.read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise study.DataError(f"{path}: not valid TOML: {error}") from None


def build_settings(content: Mapping[str, Any], kind: type[T], *, where: str) -> T:
    """Return settings as `kind`, or raise `study.DataError` with every fault."""
    return parse_dataclass(kind, content, where=where, file_kind="selection")


def resolve_item_groups(groups: Sequence[Sequence[str]], known: Mapping[str, int], what: str) -> list[list[int]]:
    """Return groups of items as positions; raises `study.DataError` for one that is not there."""
    if unknown := [name for group in groups for name in group if name not in known]:
        raise study.DataError(f"{what} names item {unknown[0]!r}, which is not in the pool of {len(known)} items")
    return [[known[name] for name in group] for group in groups]
