"""Items dealt to lists, experiments or groups of participants, alike in their covariates; of a pool larger than a list in turn."""

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gardenpath import study

from ..items import Materials
from .choice import Certificate, find_largest_difference
from .exchange import Bins, CategoryQuota, MatchCriterion, list_pairs
from .matching import CellGroup, compute_matching
from .pool import Pool, build_pool
from .program import Constraint, Program
from .settings import Division, resolve_item_groups

if TYPE_CHECKING:
    import pandas as pd

Array = Any
EXCHANGE_STEPS = 8_000
N_STARTS = 3


@dataclass(frozen=True)
class DivisionResult:
    """What came of a division: the materials of each list, the tables `item_lists`, `covariates`, `matching` and
    `words_not_found`, and a certificate.

    >>> from dataclasses import fields
    >>> [field.name for field in fields(DivisionResult)]
    ['certificate', 'lists', 'item_lists', 'covariates', 'matching', 'words_not_found']
    """

    certificate: Certificate
    lists: tuple[Materials, ...]
    item_lists: "pd.DataFrame"
    covariates: "pd.DataFrame"
    matching: "pd.DataFrame"
    words_not_found: "pd.DataFrame"


def split(materials: Materials, division: Division, *, surprisal: "pd.DataFrame | None" = None) -> DivisionResult:
    """Return the items dealt to so many lists, whose covariates are alike within tolerances, as far as the certificate says.

    Each item is in one list; with `items` a list each item is in as many lists as any other, or in one more. No two items that
    have a sentence in common are in one list. `balance_on` spreads phenomena, paradigms or a column of items over the lists. Raises
    `study.DataError` where values are not known, or there are fewer items than places in a list.

    >>> from gardenpath import stimuli
    >>> items = tuple(
    ...     stimuli.Item(f"i{n}", "p", {"a": stimuli.Sentence(f"x {n}")}, extra={"cloze": str(n)}) for n in range(8)
    ... )
    >>> pool = stimuli.Materials((stimuli.Paradigm("p", "p", {"f": ("a",)}),), items)
    >>> asked = stimuli.Division(lists=2, covariates={"cloze": stimuli.CovariateSection(tolerance=0.0)})
    >>> dealt = stimuli.split(pool, asked)
    >>> dealt.certificate.verdict, [sum(int(i.extra["cloze"]) for i in one.items) for one in dealt.lists]
    ('met', [14, 14])
    """
    pool = build_pool(materials, division, surprisal)
    search = _DivisionSearch(pool, division)
    where, certificate = search.certify()
    members = [
        [] if where is None else [search.item_of_copy[n] for n in range(len(where)) if where[n] == k] for k in range(division.lists)
    ]
    groups = [
        CellGroup(f"list {k + 1}" + (f", {c}" if len(pool.conditions) > 1 else ""), [(n, at) for n in some], f"list {k + 1}", c)
        for k, some in enumerate(members)
        for at, c in enumerate(pool.conditions)
        if some
    ]
    matching = compute_matching(pool, division, [("after", groups)] if groups else [])
    import pandas as pd

    rows = [(k + 1, pool.items[n].paradigm, pool.items[n].id) for k, some in enumerate(members) for n in sorted(some)]
    lists = tuple(
        Materials(
            tuple(p for p in pool.materials.paradigms if p.id in {pool.items[n].paradigm for n in some}),
            tuple(pool.items[n] for n in sorted(some)),
            pool.materials.source_lines,
        )
        for some in members
        if some
    )
    return DivisionResult(
        replace(certificate, largest=find_largest_difference(matching)),
        lists,
        study.check(pd.DataFrame(rows, columns=study.TABLES["item_lists"].column_names), "item_lists"),
        pool.table,
        matching,
        pool.words_not_found,
    )


class _DivisionSearch:
    """A division as exchanges and as a program; an item that is in several lists is there as many times."""

    def __init__(self, pool: Pool, division: Division) -> None:
        import numpy as np

        self.pool, self.division, self.n_lists = pool, division, division.lists
        n = len(pool.items)
        each, more = divmod(n, self.n_lists) if division.items is None else (division.items, 0)
        if not each or each > n:
            raise study.DataError(
                f"{n} items cannot be assigned to {self.n_lists} lists of {each or 'one or more'}; expected fewer or shorter lists"
            )
        self.sizes = np.array([each + (k < more) for k in range(self.n_lists)])
        times, over = divmod(int(self.sizes.sum()), n)
        draw = np.random.default_rng(division.seed)
        # Which items are in one list more is drawn; every item has its turn before any has a second one.
        extra = {int(i) for i in draw.permutation(n)[:over]}
        self.item_of_copy = [i for i in range(n) for _ in range(times + (i in extra))]
        if times + bool(extra) > self.n_lists:
            raise study.DataError(f"{self.n_lists} lists of {each} have more trials than {n} items may fill, each once a list")
        self.copies: dict[int, list[int]] = {}
        for copy, i in enumerate(self.item_of_copy):
            self.copies.setdefault(i, []).append(copy)
        self.separated_groups = [
            *self.copies.values(),
            *self._list_copies(pool.find_repeated_groups()),
            *self._list_copies(resolve_item_groups(division.keep_apart, pool.positions, "keep_apart")),
        ]
        self.joint_groups = [
            [self.copies[i][0] for i in group]
            for group in resolve_item_groups(division.keep_together, pool.positions, "keep_together")
            if all(i in self.copies for i in group)
        ]
        if self.joint_groups and (times > 1 or over):
            raise study.DataError("together is of lists that have every item once; expected items left out, or no together")
        self.quotas = [(name, *self._build_quota(name)) for name in division.balance_on]
        self.criteria = [
            MatchCriterion(f.name, f.values[self.item_of_copy], f.tolerance, f.across)
            for _, f in pool.build_criteria(division, int(self.sizes.min()))
        ]

    def _list_copies(self, groups: list[list[int]]) -> list[list[int]]:
        return [[copy for i in group for copy in self.copies.get(i, [])] for group in groups]

    def _build_quota(self, name: str) -> tuple[list[str], CategoryQuota]:
        import numpy as np

        names, of = np.unique(np.asarray(self.pool.list_categories(name))[self.item_of_copy], return_inverse=True)
        counts = np.bincount(of) / self.n_lists
        return list(names), CategoryQuota(of, np.floor(counts), np.ceil(counts))

    def certify(self) -> tuple[Array, Certificate]:
        """Return the list of each place, or None, with the certificate."""

        program = self._build_program()
        n = len(self.item_of_copy)
        structure = [constraint for constraint in program.constraints if constraint.max_range is None]
        first = Program(program.columns, program.fixed_constraints, structure, program.seed, program.effort).search()
        if first.choice is None:
            conflict = program.find_conflict() if first.status == "infeasible" else None
            conflict_fields: dict[str, Any] = {} if conflict is None else {"conflict": conflict.names, "minimal": conflict.minimal}
            return None, Certificate(first.status, seed=self.division.seed, nodes=first.nodes, **conflict_fields)
        where = first.choice.reshape(self.n_lists, n).argmax(0)
        closest, least = where, float("inf")
        for one in range(N_STARTS if self.criteria else 0):
            bins = Bins(
                where,
                self.n_lists,
                [*itertools.combinations(range(self.n_lists), 2)],
                [*range(self.n_lists)],
                self.criteria,
                [kind for _, _, kind in self.quotas],
                sorted({tuple(sorted(pair)) for pair in list_pairs(self.separated_groups)}),  # type: ignore[misc]
                list_pairs(self.joint_groups),
            )
            found, energy = bins.exchange_items(round(EXCHANGE_STEPS * self.division.effort), self.division.seed + one)
            chosen = self._encode_lists(found)
            if energy < least and program.is_met(chosen, structure):
                closest, least = found, energy
            if program.is_met(chosen):
                return found, Certificate("met", seed=self.division.seed)
        if program.is_met(self._encode_lists(where)):
            return where, Certificate("met", seed=self.division.seed)
        outcome = program.search()
        if outcome.status == "met":
            where = outcome.choice.reshape(self.n_lists, n).argmax(0)
            return where, Certificate("met", nodes=outcome.nodes, seed=self.division.seed)
        if outcome.status == "infeasible":
            conflict = program.find_conflict()
            return closest, Certificate(
                "infeasible", None, conflict=conflict.names, minimal=conflict.minimal, nodes=outcome.nodes, seed=self.division.seed
            )
        return closest, Certificate("undecided", nodes=outcome.nodes, seed=self.division.seed)

    def _encode_lists(self, where: Array) -> Array:
        import numpy as np

        return np.concatenate([(where == k).astype(float) for k in range(self.n_lists)])

    def _build_program(self) -> Program:
        import numpy as np
        from scipy import sparse

        n, k = len(self.item_of_copy), self.n_lists

        def build_list_row(row: Array, one: int) -> Array:
            return sparse.csr_matrix((np.asarray(row, float), (np.zeros(n, int), one * n + np.arange(n))), shape=(1, n * k))

        identity = sparse.identity(n, format="csr")
        always = [Constraint("an item in one list", sparse.hstack([identity] * k).tocsr(), 1, 1)]
        always += [
            Constraint(f"{size} items in list {one + 1}", build_list_row(np.ones(n), one), size, size)
            for one, size in enumerate(self.sizes)
        ]
        constraints = []
        for group in self.separated_groups:
            inside = np.isin(np.arange(n), group)
            rows = sparse.vstack([build_list_row(inside, one) for one in range(k)]).tocsr()
            names = list(dict.fromkeys(self.pool.items[self.item_of_copy[copy]].id for copy in group))
            constraints.append(Constraint(f"not in one list: {', '.join(names)}", rows, 0, 1))
        always += [constraint for constraint in constraints if "," not in constraint.name]
        constraints = [constraint for constraint in constraints if "," in constraint.name]
        for group in self.joint_groups:
            rows = sparse.vstack(
                [
                    build_list_row((np.arange(n) == group[0]) * 1.0 - (np.arange(n) == other), one)
                    for other in group[1:]
                    for one in range(k)
                ]
            ).tocsr()
            constraints.append(
                Constraint(f"in one list: {', '.join(self.pool.items[self.item_of_copy[p]].id for p in group)}", rows)
            )
        for name, values, kind in self.quotas:
            for number, value in enumerate(values):
                rows = sparse.vstack([build_list_row(kind.codes == number, one) for one in range(k)]).tocsr()
                constraints.append(
                    Constraint(f"{name} {value} spread evenly", rows, float(kind.low[number]), float(kind.high[number]))
                )
        for criterion in self.criteria:
            cells = {
                (one, c): build_list_row(criterion.values[:, c] / self.sizes[one], one)
                for one in range(k)
                for c in range(criterion.values.shape[1])
            }
            for key, chosen in self._group_cells(criterion, list(cells)):
                rows = sparse.vstack([cells[cell] for cell in chosen]).tocsr()
                constraints.append(Constraint(criterion.name + (f" in {key}" if key else ""), rows, max_range=criterion.tolerance))
        return Program(n * k, always, constraints, self.division.seed, self.division.effort)

    def _group_cells(self, criterion: MatchCriterion, cells: list[tuple[int, int]]) -> list[tuple[str, list[tuple[int, int]]]]:
        groups: dict[str, list[tuple[int, int]]] = {}
        for one, c in cells:
            key = {"cells": "", "levels": self.pool.conditions[c], "conditions": f"list {one + 1}"}[criterion.across]
            groups.setdefault(key, []).append((one, c))
        return [(key, some) for key, some in groups.items() if len(some) > 1]
