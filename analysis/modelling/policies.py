"""Which random effects a model has: as declared, maximal, or parsimonious. Fixed effects are never looked at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..engines.estimates import Columns, ModelEstimate
from ..engines.formulas import Formula, RandomEffects

ALPHA = 0.2  # of Matuschek et al.'s likelihood-ratio tests


ESTIMATED = "estimated"
ZERO, NOT_ESTIMATED, NOT_NEEDED = "zero", "not estimated", "not needed"  # why a slope is not in the model that was kept


@dataclass(frozen=True)
class LeftOut:
    """A slope that was left out on the way to the model that was kept, and why: its variance was estimated as zero in a fit that
    converged; it could not be estimated, since fits with it did not converge; or a likelihood-ratio test did not ask for it.
    """

    group: str
    term: str
    reason: str


@dataclass
class Steps:
    """The fits on the way to one model, in the order made, and the slopes that were left out; `code` writes the R code of the one
    that is kept.
    """

    engine: str
    code: Callable[[Formula, ModelEstimate], str] = lambda formula, estimated: ""
    rows: list[dict[str, object]] = field(default_factory=list)
    kept: ModelEstimate | None = None  # the fit of the results
    left_out: list[LeftOut] = field(default_factory=list)

    def leave_out(self, formula: Formula, smaller: Formula, estimated: ModelEstimate | None) -> None:
        """Note the slopes that a formula has and a smaller one has not, by how the fit of the larger one went."""
        zero = {(one.group, one.term) for one in estimated.zero_variances} if estimated else set()
        for before, after in zip(formula.random, smaller.random, strict=True):
            for term in before.terms:
                if term not in after.terms:
                    is_zero = estimated is not None and estimated.converged and (before.group, term) in zero
                    unknown = estimated is None or not estimated.converged
                    reason = ZERO if is_zero else NOT_ESTIMATED if unknown else NOT_NEEDED
                    self.left_out.append(LeftOut(before.group, term, reason))

    @property
    def reduced(self) -> bool:
        """Whether the model that was kept has fewer random effects than the first one had."""
        return any(row["kept"] and row["formula"] != self.rows[0]["formula"] for row in self.rows)

    def note(
        self, formula: Formula, estimated: ModelEstimate | None, decision: str, test: "Comparison | None" = None, kept: bool = False
    ) -> None:
        """Add a fit, or one that failed, and what followed from it."""
        self.kept = estimated if kept else self.kept
        self.rows.append(
            {
                "step": len(self.rows),
                "engine": self.engine,
                "optimizer": estimated.optimizer if estimated else None,
                "formula": str(formula),
                "parameters": estimated.parameters if estimated else None,
                "criterion": estimated.criterion if estimated else float("nan"),
                "converged": bool(estimated and estimated.converged),
                "singular": bool(estimated and estimated.singular),
                "chi2": test.chi2 if test else float("nan"),
                "df": test.df if test else None,
                "p": test.p if test else float("nan"),
                "kept": kept,
                "decision": decision,
                "sd": estimated.describe_variances() if estimated else None,
                "code": (self.code(formula, estimated) or None) if estimated and kept else None,
            }
        )

    def of(self, model: str) -> pd.DataFrame:
        """Return the steps as rows of a table, under the name of their model."""
        return pd.DataFrame(self.rows).assign(model=model)


def steps_table(parts: Sequence[pd.DataFrame], name: str = "alignment_steps") -> pd.DataFrame:
    """Return the declared table of these steps."""
    columns = TABLES[name].column_names
    rows = [part for part in parts if len(part)]
    table = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)
    return check(table.reindex(columns=columns), name)


class NotFitted(DataError):
    """No model could be fitted; `steps` are the fits that were tried."""

    def __init__(self, error: DataError, steps: Steps) -> None:
        super().__init__(error.faults)
        self.steps = steps


@dataclass(frozen=True)
class Comparison:
    """A likelihood-ratio test of a smaller set of random effects against a larger, both by REML."""

    chi2: float
    df: int
    p: float


@dataclass(frozen=True)
class Search:
    """How a formula is fitted (`DataError` where it cannot be), what the engine lacks, and where steps are noted."""

    estimate: Callable[[Formula], ModelEstimate]
    describe_unsupported: Callable[[Formula], str]
    steps: Steps

    def attempt(self, formula: Formula) -> tuple[ModelEstimate | None, str]:
        """Return the fit, or nothing and the reason."""
        try:
            return self.estimate(formula), ""
        except DataError as error:
            return None, str(error).replace("\n", "; ")


def declared(formula: Formula, search: Search) -> tuple[Formula, ModelEstimate]:
    """Return the fit of the formula as it is, singular or not."""
    estimated = search.estimate(formula)
    search.steps.note(
        formula, estimated, f"kept as declared{'' if estimated.is_usable else f', though {_trouble(estimated)}'}", kept=True
    )
    return formula, estimated


def maximal(formula: Formula, search: Search) -> tuple[Formula, ModelEstimate]:
    """Return the largest model that converges and is not singular (Barr et al. 2013, doi 10.1016/j.jml.2012.11.001).

    Correlations go first, then slopes whose variance is zero, of the highest order first; intercepts stay, even without
    variance, and so does a slope that has some: without it, its effect would be found too easily.
    """
    while True:
        estimated, reason = search.attempt(formula)
        if estimated and estimated.is_usable:
            search.steps.note(formula, estimated, "kept: it converged and is not singular", kept=True)
            return formula, estimated
        smaller, what = _next(formula, estimated, search)
        if smaller is None:
            if estimated is None:
                raise DataError(reason)
            search.steps.note(
                formula, estimated, f"kept, though {_trouble(estimated)}: no slope without variance is left", kept=True
            )
            return formula, estimated
        search.steps.note(formula, estimated, f"left: {_trouble(estimated) if estimated else reason}; without {what} next")
        search.steps.leave_out(formula, smaller, estimated)
        formula = smaller


def parsimonious(formula: Formula, search: Search) -> tuple[Formula, ModelEstimate]:
    """Return the model from which nothing more can be left out by likelihood-ratio tests at .2, backward.

    After Matuschek et al. 2017 (doi 10.1016/j.jml.2017.01.001): correlations first, then slopes, the interactions before
    their parts. A singular model is always reduced, by what costs least.
    """
    estimated, reason = search.attempt(formula)
    while estimated is None:
        smaller, what = _next(formula, None, search)
        if smaller is None:
            raise DataError(reason)
        search.steps.note(formula, None, f"left: {reason}; without {what} next")
        search.steps.leave_out(formula, smaller, None)
        formula = smaller
        estimated, reason = search.attempt(formula)
    search.steps.note(formula, estimated, "start" if estimated.is_usable else f"start: {_trouble(estimated)}, so it is reduced")
    costly = False
    while True:
        best = _best(_without_correlations(formula, search), estimated, search)
        if best is None or (best.test.p <= ALPHA and estimated.is_usable):
            best = _best(_without_slopes(formula), estimated, search)
            if best is not None and best.test.p <= ALPHA and estimated.converged:
                best, costly = None, True
        if best is None:
            left = f"each reduction costs too much (p <= {ALPHA:g})" if costly else "nothing is left to leave out"
            search.steps.note(formula, estimated, f"kept: {left}", kept=True)
            return formula, estimated
        best.row["decision"] = f"{best.row['decision']}, taken" + (
            "" if estimated.is_usable else f", since with them {_trouble(estimated)}"
        )
        search.steps.leave_out(formula, best.formula, estimated)
        formula, estimated = best.formula, best.estimated


REDUCTIONS: Mapping[str, Callable[[Formula, Search], tuple[Formula, ModelEstimate]]] = {
    "declared": declared,
    "maximal": maximal,
    "parsimonious": parsimonious,
}


def describe_kept(policy: str) -> str:
    """Return why a singular fit is kept."""
    return "the model is kept as declared" if policy == "declared" else "no slope without variance is left to leave out"


@dataclass(frozen=True)
class Candidate:
    """A smaller model with its test against the present one, and its row among the steps."""

    formula: Formula
    estimated: ModelEstimate
    test: Comparison
    row: dict[str, object]


def _best(smaller: Sequence[tuple[Formula, str]], present: ModelEstimate, search: Search) -> Candidate | None:
    """Return the smaller model that costs least, all of them noted; nothing where none can be fitted."""
    tried: list[Candidate] = []
    for formula, what in smaller:
        other, reason = search.attempt(formula)
        if other is None:
            search.steps.note(formula, None, f"without {what}: {reason}")
            continue
        test = _compared(present, other)
        search.steps.note(formula, other, f"without {what}: p {'>' if test.p > ALPHA else '<='} {ALPHA:g}", test)
        tried.append(Candidate(formula, other, test, search.steps.rows[-1]))
    return max(tried, key=lambda candidate: candidate.test.p, default=None)


def _compared(larger: ModelEstimate, smaller: ModelEstimate) -> Comparison:
    from scipy import stats

    chi2 = max(smaller.criterion - larger.criterion, 0.0)
    df = larger.parameters - smaller.parameters
    return Comparison(chi2, df, float(stats.chi2.sf(chi2, df)))


def _next(formula: Formula, estimated: ModelEstimate | None, search: Search) -> tuple[Formula | None, str]:
    """Return the next smaller model on the way of `maximal`, and what it does without."""
    if any(random.correlated and len(random.terms) > 1 for random in formula.random):
        without = formula.replace_random(replace(random, correlated=False) for random in formula.random)
        if not search.describe_unsupported(without):
            return without, "correlations"
    spread = {(v.group, v.term): v for v in estimated.variances} if estimated else {}
    zero = {(v.group, v.term) for v in estimated.zero_variances} if estimated else set()
    candidates = []
    for place, random in enumerate(formula.random):
        for term in _droppable(random):
            which = (random.group, term)
            if estimated and estimated.converged and which not in zero:
                continue  # the fit is singular elsewhere
            size = spread[which].sd if which in spread else 0.0
            candidates.append((which not in zero, -term.count(":"), size, place, term))
    if not candidates:
        return None, ""
    *_, place, term = min(candidates)
    return _without(formula, place, term), f"slopes of {term} by {formula.random[place].group}"


def _without_correlations(formula: Formula, search: Search) -> list[tuple[Formula, str]]:
    candidates = []
    for place, random in enumerate(formula.random):
        if random.correlated and len(random.terms) > 1:
            less = [replace(r, correlated=False) if k == place else r for k, r in enumerate(formula.random)]
            without = formula.replace_random(less)
            if not search.describe_unsupported(without):
                candidates.append((without, f"correlations by {random.group}"))
    return candidates


def _without_slopes(formula: Formula) -> list[tuple[Formula, str]]:
    return [
        (_without(formula, place, term), f"slopes of {term} by {random.group}")
        for place, random in enumerate(formula.random)
        for term in _droppable(random)
    ]


def _droppable(random: RandomEffects) -> list[str]:
    """Return the slopes that are no part of an interaction among them; the last effect of a group stays."""
    parts = {term: set(term.split(":")) for term in random.slopes}
    free = [term for term, factors in parts.items() if not any(factors < other for other in parts.values())]
    return free if len(random.terms) > 1 else []


def _without(formula: Formula, place: int, term: str) -> Formula:
    random = formula.random[place]
    less = replace(random, terms=tuple(t for t in random.terms if t != term))
    return formula.replace_random(less if k == place else r for k, r in enumerate(formula.random))


def _trouble(estimated: ModelEstimate) -> str:
    if estimated.converged:
        return "it is singular"
    return "it did not converge and is singular" if estimated.singular else "it did not converge"


def widest(formula: Formula, columns: Columns, slopes: Sequence[str] | None = None) -> Formula:
    """Return the formula with a correlated slope, by each group, of every fixed effect that varies within its levels; of an
    interaction, where all of its factors do: one between participants leaves nothing of it to vary over them beside the slopes of
    the others (Barr 2013, doi 10.3389/fpsyg.2013.00328).

    With `slopes`, of these columns and their interactions alone: covariates need none (Barr et al. 2013). A group whose intercepts
    the formula leaves out stays without.
    """
    effects = [term for term in formula.fixed if term != "1" and (slopes is None or set(term.split(":")) <= set(slopes))]
    named = [name for term in effects for name in term.split(":")]
    text = [name for name in dict.fromkeys(named) if isinstance(columns[name][0], str)]
    if text:
        raise ValueError(
            f"formula {str(formula)!r}: slopes of the factor {text[0]} need its contrasts, as in contrasts={{{text[0]!r}: 'sum'}}"
        )
    random = []
    for group in dict.fromkeys(r.group for r in formula.random):
        within = [
            term for term in effects if all(_varies(columns, part, group) for part in dict.fromkeys([*term.split(":"), term]))
        ]
        whole = any("1" in r.terms for r in formula.random if r.group == group)
        terms = ("1", *within) if whole or not within else tuple(within)
        random.append(RandomEffects(terms, group))
    return formula.replace_random(random)


def _varies(columns: Columns, term: str, group: str) -> bool:
    frame = pd.DataFrame({"value": 1.0, "group": ""}, index=range(len(next(iter(columns.values())))))
    for name in term.split(":"):
        frame["value"] *= pd.Series(columns[name], dtype="float64")
    frame["group"] = list(zip(*(columns[name] for name in group.split(":")), strict=True))
    spread = frame.groupby("group")["value"].agg(["min", "max"])
    return bool((spread["min"] < spread["max"]).any())
