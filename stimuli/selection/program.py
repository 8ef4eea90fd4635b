"""A choice of items as a program of 0 and 1: demands of it, whether they can be met together, and which conflict.

Solved by HiGHS (Huangfu & Hall 2018, doi 10.1007/s12532-017-0130-5) under limits of nodes, never of time, with columns and rows in
an order drawn from the seed: the same seed gives the same choice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gardenpath.study.errors import require

Array = Any  # numpy and scipy are imported inside functions
Status = Literal["met", "infeasible", "undecided"]
TOLERANCE = 1e-6  # s.d., or items: below what numbers of covariates state
MAX_NODES = 500  # of one try
MAX_TRIES = 3


@dataclass(frozen=True)
class Constraint:
    """What is asked of a choice: each row's sum over chosen columns between `low` and `high`; with a
    `max_range`, all rows within that of each other instead.
    """

    name: str
    rows: Array  # rows x columns
    low: float = 0.0
    high: float = 0.0
    max_range: float | None = None

    def measure_violation(self, chosen: Array) -> float:
        """Return by how much a choice misses it; 0 where it is met."""
        sums = self.rows @ chosen
        if not len(sums):
            return 0.0
        if self.max_range is not None:
            return max(0.0, float(sums.max() - sums.min()) - self.max_range)
        return max(0.0, float(self.low - sums.min()), float(sums.max() - self.high))


@dataclass(frozen=True)
class Outcome:
    """What came of a search: a choice (0 or 1 for each column) where one was found, its objective, and a proven bound on that."""

    status: Status
    choice: Array = None
    value: float = 0.0
    bound: float = 0.0
    nodes: int = 0


@dataclass(frozen=True)
class Conflict:
    """Demands that cannot be met together, and for each whether the others were shown to be met without it (None: undecided)."""

    names: tuple[str, ...]
    feasible_without: tuple[bool | None, ...] = ()

    @property
    def minimal(self) -> bool:
        """Whether every one of them was shown to be needed."""
        return all(self.feasible_without)


@dataclass(frozen=True)
class Program:
    """So many columns of 0 and 1: `fixed_constraints` is demanded in any case, `constraints` are those that may be given up."""

    columns: int
    fixed_constraints: Sequence[Constraint]
    constraints: Sequence[Constraint]
    seed: int = 1
    effort: float = 1.0

    def is_met(self, chosen: Array, constraints: Sequence[Constraint] | None = None) -> bool:
        """Whether a choice meets all demands, by their own arithmetic."""
        asked = self.constraints if constraints is None else constraints
        return all(constraint.measure_violation(chosen) <= TOLERANCE for constraint in (*self.fixed_constraints, *asked))

    def search(
        self,
        constraints: Sequence[Constraint] | None = None,
        *,
        maximise: Array = None,
        narrowest: Sequence[Array] = (),
        gap: float = 0.0,
        start: Array = None,
        tries: int = MAX_TRIES,
    ) -> Outcome:
        """Return a choice that meets the demands, or that there is none.

        With `maximise`, a weight of each column, one whose weights sum to the most; with `narrowest`, groups of rows, one whose
        widest range of any group is the least; to within `gap`, where the limits allow.
        """
        asked = self.constraints if constraints is None else constraints
        best = None if start is None or not self.is_met(start, asked) else start
        nodes, bounds = 0, []
        for one in range(tries):
            outcome = self._solve(asked, maximise, narrowest, gap, best, self.seed + 1000 * one)
            nodes += outcome.nodes
            if outcome.status == "infeasible":
                # A start that meets the demands is the better witness where numbers are at the edge.
                return Outcome("infeasible" if best is None else "undecided", best, nodes=nodes)
            bounds.append(outcome.bound)
            if outcome.choice is not None and self.is_met(outcome.choice, asked):
                best = outcome.choice
                if maximise is None and not narrowest:
                    return Outcome("met", best, nodes=nodes)
                if outcome.status == "met":
                    break
        if best is None:
            return Outcome("undecided", nodes=nodes)
        value = self._compute_objective(best, maximise, narrowest)
        bound = min(bounds) if maximise is not None else max([0.0, *bounds])
        return Outcome("met", best, value, bound, nodes)

    def _compute_objective(self, chosen: Array, maximise: Array, narrowest: Sequence[Array]) -> float:
        if maximise is not None:
            return float(maximise @ chosen)
        return max((float((rows @ chosen).max() - (rows @ chosen).min()) for rows in narrowest), default=0.0)

    def _solve(
        self, constraints: Sequence[Constraint], maximise: Array, narrowest: Sequence[Array], gap: float, start: Array, seed: int
    ) -> Outcome:
        """Return what one run of HiGHS says."""
        import numpy as np
        from scipy import sparse

        highspy = require("highspy", "selection")
        draw = np.random.default_rng(seed)
        order = draw.permutation(self.columns)
        n, infinite = self.columns, highspy.kHighsInf
        free = [d for d in (*self.fixed_constraints, *constraints) if d.max_range is not None]
        extra = len(free) + len(narrowest) + bool(narrowest)
        widest = n + extra - 1
        blocks, low, high = [], [], []

        def add(rows: Array, least: float, most: float, auxiliary_weights: Mapping[int, float]) -> None:
            rows = sparse.csr_matrix(rows)[:, order]
            more = np.zeros((rows.shape[0], extra))
            for column, weight in auxiliary_weights.items():
                more[:, column - n] = weight
            blocks.append(sparse.hstack([rows, sparse.csr_matrix(more)]))
            low.extend([least] * rows.shape[0])
            high.extend([most] * rows.shape[0])

        middle = n
        for constraint in (*self.fixed_constraints, *constraints):
            if constraint.max_range is None:
                add(constraint.rows, constraint.low - TOLERANCE / 2, constraint.high + TOLERANCE / 2, {})
            else:
                add(
                    constraint.rows, -(constraint.max_range + TOLERANCE) / 2, (constraint.max_range + TOLERANCE) / 2, {middle: -1.0}
                )
                middle += 1
        for rows in narrowest:
            add(rows, -infinite, 0.0, {middle: -1.0, widest: -0.5})
            add(rows, 0.0, infinite, {middle: -1.0, widest: 0.5})
            middle += 1
        matrix = sparse.vstack(blocks).tocsr()
        shuffled = draw.permutation(matrix.shape[0])
        matrix = sparse.csc_matrix(matrix[shuffled])
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = n + extra, matrix.shape[0]
        model.col_lower_ = np.concatenate([np.zeros(n), np.full(extra, -infinite)])
        model.col_upper_ = np.concatenate([np.ones(n), np.full(extra, infinite)])
        cost = np.zeros(n + extra)
        if maximise is not None:
            cost[:n] = -np.asarray(maximise, dtype=float)[order]
        if narrowest:
            cost[widest] = 1.0
            model.col_lower_ = np.concatenate([np.zeros(n), np.full(extra - 1, -infinite), [0.0]])
        model.col_cost_ = cost
        model.row_lower_, model.row_upper_ = np.array(low)[shuffled], np.array(high)[shuffled]
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = (matrix.indptr, matrix.indices, matrix.data)
        kinds = highspy.HighsVarType
        model.integrality_ = [kinds.kInteger] * n + [kinds.kContinuous] * extra
        solver = highspy.Highs()
        options = {
            "output_flag": False,
            "threads": 1,
            "random_seed": seed % 2**31,
            "mip_max_nodes": max(1, round(MAX_NODES * self.effort)),
            "mip_feasibility_tolerance": 1e-7,
            "primal_feasibility_tolerance": 1e-8,
            "mip_rel_gap": 0.0,
            "mip_abs_gap": max(gap, 1e-9),
        }
        for name, value in options.items():
            solver.setOptionValue(name, value)
        solver.passModel(model)
        if start is not None:
            solver.setSolution(n, np.arange(n, dtype=np.int32), np.asarray(start, dtype=float)[order])
        solver.run()
        info, status = solver.getInfo(), solver.getModelStatus()
        nodes = int(max(info.mip_node_count, 0))
        statuses = highspy.HighsModelStatus
        if status in (statuses.kInfeasible, statuses.kUnboundedOrInfeasible):
            return Outcome("infeasible", nodes=nodes)
        bound = float(info.mip_dual_bound)
        bound = -bound if maximise is not None else bound
        chosen = None
        if info.primal_solution_status == 2:  # feasible
            chosen = np.zeros(n)
            chosen[order] = np.round(np.array(solver.getSolution().col_value[:n]))
        return Outcome("met" if status == statuses.kOptimal else "undecided", chosen, 0.0, bound, nodes)

    def find_conflict(self, witness: Any = None) -> Conflict:
        """Return demands that cannot be met together, as few of them as can be shown: each is given up in turn, and stays away
        where the rest is still infeasible. `witness(constraints)` may find a choice that meets some (an exchange), before HiGHS is
        asked.
        """
        left = list(self.constraints)
        for constraint in self.constraints:
            rest = [other for other in left if other is not constraint]
            if self.search(rest, tries=1).status == "infeasible":
                left = rest
        feasible_without: list[bool | None] = []
        for constraint in left:
            rest = [other for other in left if other is not constraint]
            found = witness(rest) if witness else None
            met = found is not None and self.is_met(found, rest)
            feasible_without.append(True if met or self.search(rest).status == "met" else None)
        return Conflict(tuple(constraint.name for constraint in left), tuple(feasible_without))
