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
SLACK = 1e-6  # s.d., or items: below what numbers of covariates state
NODES = 500  # of one try
TRIES = 3


@dataclass(frozen=True)
class Demand:
    """What is asked of a choice: each row's sum over chosen columns between `low` and `high`; with a
    `width`, all rows within that of each other instead.
    """

    name: str
    rows: Array  # rows x columns
    low: float = 0.0
    high: float = 0.0
    width: float | None = None

    def excess(self, chosen: Array) -> float:
        """Return by how much a choice misses it; 0 where it is met."""
        sums = self.rows @ chosen
        if not len(sums):
            return 0.0
        if self.width is not None:
            return max(0.0, float(sums.max() - sums.min()) - self.width)
        return max(0.0, float(self.low - sums.min()), float(sums.max() - self.high))


@dataclass(frozen=True)
class Outcome:
    """What came of a search: a choice (0 or 1 for each column) where one was found, its objective, and a proven bound on that."""

    status: Status
    chosen: Array = None
    value: float = 0.0
    bound: float = 0.0
    nodes: int = 0


@dataclass(frozen=True)
class Conflict:
    """Demands that cannot be met together, and for each whether the others were shown to be met without it (None: undecided)."""

    names: tuple[str, ...]
    without: tuple[bool | None, ...] = ()

    @property
    def minimal(self) -> bool:
        """Whether every one of them was shown to be needed."""
        return all(self.without)


@dataclass(frozen=True)
class Program:
    """So many columns of 0 and 1: `always` is demanded in any case, `demands` are those that may be given up."""

    columns: int
    always: Sequence[Demand]
    demands: Sequence[Demand]
    seed: int = 1
    effort: float = 1.0

    def met(self, chosen: Array, demands: Sequence[Demand] | None = None) -> bool:
        """Whether a choice meets all demands, by their own arithmetic."""
        asked = self.demands if demands is None else demands
        return all(demand.excess(chosen) <= SLACK for demand in (*self.always, *asked))

    def search(
        self,
        demands: Sequence[Demand] | None = None,
        *,
        maximise: Array = None,
        narrowest: Sequence[Array] = (),
        gap: float = 0.0,
        start: Array = None,
        tries: int = TRIES,
    ) -> Outcome:
        """Return a choice that meets the demands, or that there is none.

        With `maximise`, a weight of each column, one whose weights sum to the most; with `narrowest`, groups of rows, one whose
        widest range of any group is the least; to within `gap`, where the limits allow.
        """
        asked = self.demands if demands is None else demands
        best = None if start is None or not self.met(start, asked) else start
        nodes, bounds = 0, []
        for one in range(tries):
            outcome = self._solved(asked, maximise, narrowest, gap, best, self.seed + 1000 * one)
            nodes += outcome.nodes
            if outcome.status == "infeasible":
                # A start that meets the demands is the better witness where numbers are at the edge.
                return Outcome("infeasible" if best is None else "undecided", best, nodes=nodes)
            bounds.append(outcome.bound)
            if outcome.chosen is not None and self.met(outcome.chosen, asked):
                best = outcome.chosen
                if maximise is None and not narrowest:
                    return Outcome("met", best, nodes=nodes)
                if outcome.status == "met":
                    break
        if best is None:
            return Outcome("undecided", nodes=nodes)
        value = self._value(best, maximise, narrowest)
        bound = min(bounds) if maximise is not None else max([0.0, *bounds])
        return Outcome("met", best, value, bound, nodes)

    def _value(self, chosen: Array, maximise: Array, narrowest: Sequence[Array]) -> float:
        if maximise is not None:
            return float(maximise @ chosen)
        return max((float((rows @ chosen).max() - (rows @ chosen).min()) for rows in narrowest), default=0.0)

    def _solved(
        self,
        demands: Sequence[Demand],
        maximise: Array,
        narrowest: Sequence[Array],
        gap: float,
        start: Array,
        seed: int,
    ) -> Outcome:
        """Return what one run of HiGHS says."""
        import numpy as np
        from scipy import sparse

        highspy = require("highspy", "selection")
        draw = np.random.default_rng(seed)
        order = draw.permutation(self.columns)
        n, infinite = self.columns, highspy.kHighsInf
        free = [d for d in (*self.always, *demands) if d.width is not None]
        extra = len(free) + len(narrowest) + bool(narrowest)
        widest = n + extra - 1
        blocks, low, high = [], [], []

        def add(rows: Array, least: float, most: float, beside: Mapping[int, float]) -> None:
            rows = sparse.csr_matrix(rows)[:, order]
            more = np.zeros((rows.shape[0], extra))
            for column, weight in beside.items():
                more[:, column - n] = weight
            blocks.append(sparse.hstack([rows, sparse.csr_matrix(more)]))
            low.extend([least] * rows.shape[0])
            high.extend([most] * rows.shape[0])

        middle = n
        for demand in (*self.always, *demands):
            if demand.width is None:
                add(demand.rows, demand.low - SLACK / 2, demand.high + SLACK / 2, {})
            else:
                add(demand.rows, -(demand.width + SLACK) / 2, (demand.width + SLACK) / 2, {middle: -1.0})
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
        model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = (
            matrix.indptr,
            matrix.indices,
            matrix.data,
        )
        kinds = highspy.HighsVarType
        model.integrality_ = [kinds.kInteger] * n + [kinds.kContinuous] * extra
        solver = highspy.Highs()
        options = {
            "output_flag": False,
            "threads": 1,
            "random_seed": seed % 2**31,
            "mip_max_nodes": max(1, round(NODES * self.effort)),
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

    def conflict(self, witness: Any = None) -> Conflict:
        """Return demands that cannot be met together, as few of them as can be shown: each is given up in turn, and stays away
        where the rest is still infeasible. `witness(demands)` may find a choice that meets some (an exchange), before HiGHS is
        asked.
        """
        left = list(self.demands)
        for demand in self.demands:
            rest = [other for other in left if other is not demand]
            if self.search(rest, tries=1).status == "infeasible":
                left = rest
        without: list[bool | None] = []
        for demand in left:
            rest = [other for other in left if other is not demand]
            found = witness(rest) if witness else None
            met = found is not None and self.met(found, rest)
            without.append(True if met or self.search(rest).status == "met" else None)
        return Conflict(tuple(demand.name for demand in left), tuple(without))
