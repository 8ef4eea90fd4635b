"""Matched sets: one item of each level, each within tolerances of the set's null, as LexOPS generates them (Taylor et al. 2020,
doi 10.3758/s13428-020-01389-1).

A difference from the null is at least the lowest and at most the highest of `difference_range`, both ends included. LexOPS draws
sets until it finds no more; here they are the solution of one program, so that where
it finds fewer than were asked for, there are no more.
"""

import itertools
from collections.abc import Sequence
from typing import Any

from gardenpath import study

from .pool import Pool
from .program import Constraint, Outcome, Program
from .settings import NULL_MODES, Selection, resolve_item_groups

Array = Any
MAX_SET_PAIRS = 400_000  # possible members of sets: what a program of them may hold


def find_matched_sets(
    pool: Pool, selection: Selection, levels: Sequence[str], each: int, weights: Array
) -> tuple[Outcome, dict[int, int], dict[str, Any]]:
    """Return the choice, the number of each chosen item's set, and what is in conflict where there is none."""
    import numpy as np

    names = sorted(set(levels))
    if selection.null not in (*NULL_MODES, *names):
        raise study.DataError(f"null is {selection.null!r}; expected one of {', '.join((*NULL_MODES, *names))}")
    of = np.array([names.index(level) for level in levels])
    within = np.array([selection.covariates[name].difference_range for name in pool.names], dtype=float).reshape(-1, 2)
    fits = _find_fits(pool.values, within)
    nulls = _count_nulls(selection.null, names, each)
    columns: list[tuple[int, int]] = []  # null, member; of a null itself twice the same
    for k, count in nulls.items():
        for i in np.flatnonzero(of == k) if count else ():
            if fits[i, i]:
                columns.append((int(i), int(i)))
                columns += [(int(i), int(j)) for j in np.flatnonzero((of != k) & fits[i] & fits.diagonal())]
    if len(columns) > MAX_SET_PAIRS:
        raise study.DataError(
            f"{len(columns)} pairs of items are within the tolerances, more than {MAX_SET_PAIRS}; expected narrower ones or "
            f"a smaller pool"
        )
    program = _build_program(pool, selection, of, names, nulls, columns, fits)
    weight = None if weights is None else np.array([weights[member] for _, member in columns])
    outcome = program.search(maximise=weight)
    if outcome.status == "infeasible":
        found = program.find_conflict()
        tolerances = ", ".join(f"{name} within {low:g} to {high:g}" for name, (low, high) in zip(pool.names, within, strict=True))
        conflict = (f"{each} sets of {len(names)} ({selection.null} null) with {tolerances or 'no covariates'}", *found.names)
        return outcome, {}, {"conflict": conflict, "minimal": found.minimal}
    if outcome.choice is None:
        return outcome, {}, {}
    numbers: dict[int, int] = {}
    sets: dict[int, int] = {}
    for (null, member), one in zip(columns, outcome.choice, strict=True):
        if one > 0.5:
            sets[member] = numbers.setdefault(null, len(numbers))
    chosen = np.zeros(len(levels))
    chosen[[*sets]] = 1
    return Outcome(outcome.status, chosen, outcome.value, outcome.bound, outcome.nodes), sets, {}


def _find_fits(values: Array, within: Array) -> Array:
    """Return which items (columns) are within the tolerances of which nulls (rows), in every two conditions."""
    import numpy as np

    n, conditions, _ = values.shape
    fits = np.ones((n, n), dtype=bool)
    edge = 1e-9 * (1 + np.abs(values).max(initial=0.0))
    for c, e in itertools.product(range(conditions), repeat=2):
        for k, (low, high) in enumerate(within):
            difference = values[None, :, e, k] - values[:, None, c, k]
            fits &= (difference >= low - edge) & (difference <= high + edge)
    return fits


def _count_nulls(null: str, names: Sequence[str], each: int) -> dict[int, int]:
    """Return how many sets have their null of each level."""
    if null == "balanced":
        share, more = divmod(each, len(names))
        return {k: share + (k < more) for k in range(len(names))}
    return {0 if null in ("first", "inclusive") else names.index(null): each}


def _build_program(
    pool: Pool,
    selection: Selection,
    of: Array,
    names: Sequence[str],
    nulls: dict[int, int],
    columns: Sequence[tuple[int, int]],
    fits: Array,
) -> Program:
    """Return the program over pairs of null and member."""
    import numpy as np
    from scipy import sparse

    null, member = np.array(columns, dtype=int).reshape(-1, 2).T
    position = np.arange(len(columns))
    items = sparse.csr_matrix((np.ones(len(columns)), (member, position)), shape=(len(of), len(columns)))
    own = {int(i): int(p) for p, (i, j) in enumerate(zip(null, member, strict=True)) if i == j}
    always = [Constraint("an item in one set", items, 0, 1)]
    for k, count in nulls.items():
        row = ((null == member) & (of[null] == k)).astype(float)[None]
        always.append(Constraint(f"{count} nulls of {names[k] or 'the pool'}", row, count, count))
    rows, cells = 0, []
    for i, k in itertools.product(own, range(len(names))):
        if of[i] != k:  # a set has one member of every other level where its null is chosen, none where it is not
            of_set = position[(null == i) & (of[member] == k)]
            cells += [(rows, int(p), 1.0) for p in of_set] + [(rows, own[i], -1.0)]
            rows += 1
    if rows:
        r, c, v = zip(*cells, strict=True)
        always.append(Constraint("a member of each level in a set", sparse.csr_matrix((v, (r, c)), shape=(rows, len(columns)))))
    if selection.null == "inclusive":
        rows, cells = 0, []
        for i, k in itertools.product(own, range(len(names))):
            for p in position[(null == i) & (of[member] == k) & (member != i)]:
                j = member[p]
                other = position[(null == i) & (of[member] > k) & ~(fits[j, member] & fits[member, j])]
                for level in set(of[member[other]].tolist()):
                    cells += [(rows, int(p), 1.0), *((rows, int(q), 1.0) for q in other[of[member[other]] == level])]
                    rows += 1
            for p in position[(null == i) & (member != i) & ~fits[member, i]]:
                cells.append((rows, int(p), 2.0))  # a member that is not within the tolerances the other way round
                rows += 1
        if rows:
            r, c, v = zip(*cells, strict=True)
            always.append(Constraint("every two members alike", sparse.csr_matrix((v, (r, c)), shape=(rows, len(columns))), 0, 1))
    constraints = []
    for what, groups in (
        ("keep_apart", resolve_item_groups(selection.keep_apart, pool.positions, "keep_apart")),
        ("no sentence in common", pool.find_repeated_groups()),
    ):
        for group in groups:
            constraints.append(
                Constraint(f"{what}: {', '.join(pool.items[n].id for n in group)}", np.asarray(items[group].sum(0)), 0, 1)
            )
    for group in resolve_item_groups(selection.keep_together, pool.positions, "keep_together"):
        label = f"keep_together: {', '.join(pool.items[n].id for n in group)}"
        constraints.append(Constraint(label, sparse.vstack([items[group[0]] - items[n] for n in group[1:]])))
    for name in selection.balance_on:
        from .exchange import build_category_quota

        kind = build_category_quota(pool.list_categories(name), selection.items)
        by = sparse.csr_matrix((kind.codes[None] == np.arange(len(kind.low))[:, None]).astype(float))
        constraints.append(Constraint(f"{name} spread evenly", by @ items, float(kind.low[0]), float(kind.high[0])))
    return Program(len(columns), always, constraints, selection.seed, selection.effort)
