"""Items chosen of a pool so that their covariates are alike, with a certificate: met, within a gap, infeasible, or undecided."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gardenpath import study

from ..items import Materials
from .exchange import Bins, CategoryQuota, MatchCriterion, build_category_quota, list_pairs
from .expected_effects import compute_signed_effects
from .matched_sets import find_matched_sets
from .matching import CellGroup, compute_matching
from .pool import Pool, build_pool, standardise
from .program import Constraint, Outcome, Program
from .settings import Selection, resolve_item_groups

if TYPE_CHECKING:
    import pandas as pd

Array = Any
EXCHANGE_STEPS = 20_000  # exchanges of a try
N_STARTS = 3
NARROWED_TRIES = 12  # tries more, of twice as many exchanges, among the items nearest the pool's mean
NEAR_SHARE = 0.5  # of each level
EFFECT_GAP = 0.01  # ms: of the largest expected effect


@dataclass(frozen=True)
class Certificate:
    """What was shown of a choice: `verdict` is met, within gap, infeasible or undecided.

    `largest` is the widest difference of means between any two cells, in s.d. of the pool. Of the best choice `bound` is what no
    choice can be below, of `maximise` what none can be above (`value`, in ms, is what this one has). `conflict` are demands that
    cannot be met together; `minimal` says that without any one of them the others can, each shown by a choice.

    >>> str(Certificate("infeasible", conflict=("means of cloze within 0.05 s.d.",), minimal=True)).partition(" (")[0]
    'infeasible, proven: no choice meets these together'
    """

    verdict: str
    largest: float | None = None
    value: float | None = None
    bound: float | None = None
    conflict: tuple[str, ...] = ()
    minimal: bool | None = None
    nodes: int = 0
    seed: int = 1

    def __str__(self) -> str:
        if self.verdict == "infeasible":
            needed = "without any one of them the others can be met" if self.minimal else "not shown to be the fewest"
            return f"infeasible, proven: no choice meets these together ({needed}): {'; '.join(self.conflict)}"
        if self.largest is None:
            if self.verdict != "undecided":
                return f"{self.verdict}: nothing is compared"
            return "undecided: no choice was found, and none was shown to be impossible; expected wider tolerances or more effort"
        summary = f"{self.verdict}: the widest difference of means is {self.largest:.3f} s.d. of the pool"
        if self.value is not None and self.bound is not None:
            return f"{summary}; expected effect {self.value:.2f} ms, no choice has more than {self.bound:.2f} ms"
        return f"{summary}; no choice has less than {self.bound:.3f}" if self.bound is not None else summary


@dataclass(frozen=True)
class SelectionResult:
    """What came of a selection: `materials` are the chosen items, None where there are none; `covariates` is of the whole pool,
    `matching` compares cells before and after, `sets` says which items belong together, and `words_not_found` which words norms
    lack.

    >>> from dataclasses import fields
    >>> [field.name for field in fields(SelectionResult)]
    ['certificate', 'materials', 'covariates', 'matching', 'sets', 'words_not_found']
    """

    certificate: Certificate
    materials: Materials | None
    covariates: "pd.DataFrame"
    matching: "pd.DataFrame"
    sets: "pd.DataFrame"
    words_not_found: "pd.DataFrame"


def select(materials: Materials, selection: Selection, *, surprisal: "pd.DataFrame | None" = None) -> SelectionResult:
    """Return the items that `selection` asks for, chosen of the materials, with a certificate; the same seed gives the same choice.

    `surprisal` is the table of that name, for covariates of surprisal. Raises `study.DataError` where the pool has too few items,
    or values are not known; what is infeasible or undecided is no error but the certificate's verdict.

    >>> from gardenpath import stimuli
    >>> items = tuple(
    ...     stimuli.Item(f"i{n}", "p", {"a": stimuli.Sentence(f"x {n}")}, extra={"kind": "uv"[n % 2], "cloze": str(n)})
    ...     for n in range(8)
    ... )
    >>> pool = stimuli.Materials((stimuli.Paradigm("p", "p", {"f": ("a",)}),), items)
    >>> asked = stimuli.Selection(items=4, between_items=("kind",), covariates={"cloze": stimuli.CovariateSection(tolerance=0.0)})
    >>> chosen = stimuli.select(pool, asked)
    >>> chosen.certificate.verdict, chosen.certificate.conflict
    ('met', ())
    """
    pool = build_pool(materials, selection, surprisal)
    levels = pool.list_levels(selection.between_items)
    names = sorted(set(levels))
    each, more = divmod(selection.items, len(names))
    if more:
        raise study.DataError(f"{selection.items} items cannot be taken equally from {len(names)} levels ({', '.join(names)})")
    counts = Counter(levels)
    few = [f"{counts[name]} of {name or 'the pool'}" for name in names if counts[name] < each]
    if few:
        raise study.DataError(f"items = {selection.items} asks for {each} of each level; there are {', '.join(few)}")
    weights = None
    if selection.effect is not None and selection.maximise:
        weights = compute_signed_effects(pool.materials, selection.effect, surprisal, selection.model) / selection.items
    sets: dict[int, int] = {}
    if selection.match == "sets":
        outcome, sets, conflict = find_matched_sets(pool, selection, levels, each, weights)
        certificate = Certificate(outcome.status, nodes=outcome.nodes, seed=selection.seed, **conflict)
    else:
        outcome, certificate = _ChoiceSearch(pool, selection, levels, names, each).certify(weights)
    found = outcome.choice if certificate.verdict in ("met", "within gap") or selection.match == "best" else None
    chosen = None if found is None else [bool(one) for one in found > 0.5]
    before = _build_groups(pool, levels, None)
    after = [] if chosen is None else _build_groups(pool, levels, chosen)
    table = pool.table.assign(
        selected=False if chosen is None else pool.table["item"].map(dict(zip(pool.positions, chosen, strict=True)))
    )
    matching = compute_matching(pool, selection, [("before", before), *([("after", after)] if after else [])])
    if found is not None and selection.match != "best":
        certificate = replace(certificate, largest=find_largest_difference(matching))
    if found is not None and weights is not None:
        certificate = replace(certificate, value=outcome.value, bound=outcome.bound)
    return SelectionResult(
        certificate,
        None if chosen is None else _keep_chosen(pool.materials, chosen),
        study.check(table, "covariates"),
        matching,
        _build_sets_table(pool, sets, levels),
        pool.words_not_found,
    )


def _keep_chosen(materials: Materials, chosen: Sequence[bool]) -> Materials:
    items = tuple(item for item, one in zip(materials.items, chosen, strict=True) if one)
    named = {item.paradigm for item in items}
    return Materials(tuple(p for p in materials.paradigms if p.id in named), items, materials.source_lines)


def _build_groups(pool: Pool, levels: Sequence[str], chosen: Sequence[bool] | None) -> list[CellGroup]:
    """Return the cells: the conditions of each level."""
    return [
        CellGroup(
            ", ".join(filter(None, (level, condition if len(pool.conditions) > 1 else ""))) or condition,
            [(n, c) for n, own in enumerate(levels) if own == level and (chosen is None or chosen[n])],
            level,
            condition,
        )
        for level in sorted(set(levels))
        for c, condition in enumerate(pool.conditions)
    ]


def find_largest_difference(matching: "pd.DataFrame") -> float | None:
    """Return the widest difference after the choice between cells that were to be alike, in s.d. of the pool."""
    asked = matching[(matching["stage"] == "after") & matching["should_match"]]["standardised_difference"].abs()
    return float(asked.max()) if len(asked) else None


def _build_sets_table(pool: Pool, sets: dict[int, int], levels: Sequence[str]) -> "pd.DataFrame":
    import pandas as pd

    rows = sorted((number + 1, levels[n] or "all", pool.items[n].id) for n, number in sets.items())
    return study.check(pd.DataFrame(rows, columns=study.TABLES["matched_sets"].column_names), "matched_sets")


class _ChoiceSearch:
    """A choice by means, as a program and as exchanges."""

    def __init__(self, pool: Pool, selection: Selection, levels: Sequence[str], names: Sequence[str], each: int) -> None:
        import numpy as np

        self.pool, self.selection, self.n_per_level = pool, selection, each
        self.level_codes = np.array([names.index(level) for level in levels])
        self.names, self.levels = names, levels
        self.n = len(levels)
        self.criteria = [criterion for _, criterion in pool.build_criteria(selection, each)]
        self.quotas = {name: build_category_quota(pool.list_categories(name), selection.items) for name in selection.balance_on}
        self.joint_groups = resolve_item_groups(selection.keep_together, pool.positions, "keep_together")
        self.separated_groups = resolve_item_groups(selection.keep_apart, pool.positions, "keep_apart")
        self.repeated_groups = pool.find_repeated_groups()
        always = [
            Constraint(f"{each} items of {name or 'the pool'}", self._build_row(self.level_codes == k), each, each)
            for k, name in enumerate(names)
        ]
        self.program = Program(
            self.n,
            always,
            [*self._build_structure_constraints(), *self._build_mean_constraints()],
            selection.seed,
            selection.effort,
        )

    @staticmethod
    def _build_row(inside: Array) -> Array:
        import numpy as np

        return np.asarray(inside, dtype=float)[None]

    def _build_structure_constraints(self) -> list[Constraint]:
        import numpy as np

        constraints = []
        for name, kind in self.quotas.items():
            rows = (kind.codes[None] == np.arange(len(kind.low))[:, None]).astype(float)
            constraints.append(Constraint(f"{name} spread evenly", rows, float(kind.low[0]), float(kind.high[0])))
        for what, groups in (("keep_apart", self.separated_groups), ("no sentence in common", self.repeated_groups)):
            for group in groups:
                inside = np.isin(np.arange(self.n), group)
                constraints.append(
                    Constraint(f"{what}: {', '.join(self.pool.items[n].id for n in group)}", self._build_row(inside), 0, 1)
                )
        for group in self.joint_groups:
            rows = np.zeros((len(group) - 1, self.n))
            rows[:, group[0]] = 1
            rows[np.arange(len(group) - 1), group[1:]] = -1
            constraints.append(Constraint(f"keep_together: {', '.join(self.pool.items[n].id for n in group)}", rows))
        return constraints

    def build_ranges(self, criterion: MatchCriterion) -> list[tuple[str, Array]]:
        """Return the cells' means that are to be alike, as rows over items; several groups where not all cells are compared."""
        import numpy as np

        cells = {
            (k, c): criterion.values[:, c] * (self.level_codes == k) / self.n_per_level
            for k in range(len(self.names))
            for c in range(criterion.values.shape[1])
        }
        groups: dict[str, list[Array]] = {}
        for (k, c), row in cells.items():
            key = {"cells": "", "levels": self.pool.conditions[c], "conditions": self.names[k]}[criterion.across]
            groups.setdefault(key, []).append(row)
        return [(key, np.stack(rows)) for key, rows in groups.items() if len(rows) > 1]

    def _build_mean_constraints(self) -> list[Constraint]:
        return [
            Constraint(criterion.name + (f" in {key}" if key else ""), rows, max_range=criterion.tolerance)
            for criterion in self.criteria
            for key, rows in self.build_ranges(criterion)
        ]

    def _find_near_items(self) -> Array:
        """Return which items are nearest the pool's mean: the half of each level, of which at least twice as many as are chosen.

        Means of these vary less between choices, so that far more choices are alike.
        """
        import numpy as np

        z = np.stack([standardise(self.pool.values[:, :, k]) for k in range(self.pool.values.shape[2])])
        far = (z * z).sum((0, 2))
        near = np.zeros(self.n, dtype=bool)
        for level in range(len(self.names)):
            members = np.flatnonzero(self.level_codes == level)
            kept = max(round(NEAR_SHARE * len(members)), 2 * self.n_per_level)
            near[members[np.argsort(far[members], kind="stable")[:kept]]] = True
        return near

    def _draw_near_choice(self, near: Array, structure: Sequence[Constraint], seed: int) -> Array | None:
        """Return a choice of near items at random, where it meets what is no mean."""
        import numpy as np

        draw, chosen = np.random.default_rng(seed), np.zeros(self.n)
        for level in range(len(self.names)):
            members = np.flatnonzero(near & (self.level_codes == level))
            chosen[draw.choice(members, min(self.n_per_level, len(members)), replace=False)] = 1.0
        return chosen if self.program.is_met(chosen, structure) else None

    def search_by_exchange(
        self, constraints: Sequence[Constraint], scale: float | None = None, *, narrowed: int = 0
    ) -> Array | None:
        """Return a choice that meets demands, found by exchanges from one that meets what is no mean; None where none was found.

        So many tries more are `narrowed` to the items nearest the pool's mean.
        """
        import numpy as np

        names = {constraint.name for constraint in constraints}
        structure = [constraint for constraint in constraints if constraint.max_range is None]
        start = self.program.search(structure, tries=1).choice
        if start is None:
            return None
        criteria = [
            criterion
            for criterion in self.criteria
            if any(name == criterion.name or name.startswith(f"{criterion.name} in ") for name in names)
        ]
        if scale is not None:
            criteria = [MatchCriterion(criterion.name, criterion.values, scale, criterion.across) for criterion in criteria]
        if not criteria:
            return start
        levels = range(len(self.names))
        kinds = [kind for name, kind in self.quotas.items() if f"{name} spread evenly" in names]
        for one in range(N_STARTS + narrowed):
            steps, aside, first = EXCHANGE_STEPS, np.zeros(self.n, dtype=bool), start
            if one >= N_STARTS:
                near = self._find_near_items()
                drawn = self._draw_near_choice(near, structure, self.selection.seed + one)
                first = start if drawn is None else drawn
                steps, aside = 2 * EXCHANGE_STEPS, ~near & (first < 0.5)
            where = np.where(first > 0.5, self.level_codes, self.level_codes + len(self.names))
            bins = Bins(
                np.where(aside, 2 * len(self.names), where),
                len(self.names),
                [(k, k + len(self.names)) for k in levels],
                [0] * len(self.names),
                criteria,
                kinds,
                list_pairs([*self.separated_groups, *self.repeated_groups]),
                list_pairs(self.joint_groups),
            )
            where, energy = bins.exchange_items(round(steps * self.selection.effort), self.selection.seed + one)
            chosen = (where < len(self.names)).astype(float)
            if energy == 0.0 and (scale is not None or self.program.is_met(chosen, constraints)):
                return chosen
        return None

    def certify(self, weights: Array) -> tuple[Outcome, Certificate]:
        """Return the choice with its certificate."""
        constraints = self.program.constraints
        if self.selection.match == "best":
            return self._find_best()
        # What is infeasible is most often so without branching; what is feasible is most often found by exchanges.
        if self._is_infeasible_at_root():
            outcome = Outcome("infeasible")
        else:
            # Where each item has one value, an exchange is cheap.
            start = self.search_by_exchange(constraints, narrowed=NARROWED_TRIES if len(self.pool.conditions) == 1 else 0)
            found = start is not None and weights is None
            outcome = Outcome("met", start) if found else self.program.search(maximise=weights, start=start, gap=EFFECT_GAP)
        conflict: dict[str, Any] = {}
        if outcome.status == "infeasible":
            shown = self.program.find_conflict(self.search_by_exchange)
            conflict = {"conflict": shown.names, "minimal": shown.minimal}
        return outcome, Certificate(outcome.status, nodes=outcome.nodes, seed=self.selection.seed, **conflict)

    def _is_infeasible_at_root(self) -> bool:
        """Whether HiGHS finds it infeasible at its root."""
        return replace(self.program, effort=1e-9).search(tries=1).status == "infeasible"

    def _is_within_gap(self, outcome: Outcome) -> bool:
        """Whether a choice is shown to be within the gap of the best."""
        return outcome.choice is not None and outcome.value - outcome.bound <= self.selection.optimality_gap + 1e-6

    def _find_best(self) -> tuple[Outcome, Certificate]:
        """Return the choice whose widest difference is least, to within the gap where that is shown."""
        means = [rows for criterion in self.criteria for _, rows in self.build_ranges(criterion)]
        constraints = [constraint for constraint in self.program.constraints if constraint.max_range is None]
        outcome = self.program.search(constraints, narrowest=means, gap=self.selection.optimality_gap, tries=1)
        if outcome.status != "infeasible" and not self._is_within_gap(outcome):
            matched = [*constraints, *(constraint for constraint in self.program.constraints if constraint.max_range is not None)]
            start, scale = outcome.choice, 0.4
            while scale > self.selection.optimality_gap / 8 and (closer := self.search_by_exchange(matched, scale)) is not None:
                start, scale = closer, scale / 2
            outcome = self.program.search(constraints, narrowest=means, start=start, gap=self.selection.optimality_gap)
        if outcome.status == "infeasible":
            found = replace(self.program, constraints=constraints).find_conflict()
            return outcome, Certificate(
                "infeasible", conflict=found.names, minimal=found.minimal, nodes=outcome.nodes, seed=self.selection.seed
            )
        if outcome.choice is None:
            return outcome, Certificate("undecided", nodes=outcome.nodes, seed=self.selection.seed)
        verdict = "within gap" if self._is_within_gap(outcome) else "undecided"
        return outcome, Certificate(verdict, outcome.value, bound=outcome.bound, nodes=outcome.nodes, seed=self.selection.seed)


__all__ = ["CategoryQuota", "Certificate", "SelectionResult", "find_largest_difference", "select"]
