"""Items dealt to lists, experiments or groups of participants, alike in their covariates; of a pool larger than a list in turn."""

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gardenpath import study

from ..items import Materials
from .choosing import Certificate, largest
from .exchange import Bins, Form, Kind, pairs
from .matching import Group, matching_table
from .pool import Pool, pool_of
from .program import Demand, Program
from .settings import Division, links

if TYPE_CHECKING:
    import pandas as pd

Array = Any
STEPS = 8_000
STARTS = 3


@dataclass(frozen=True)
class Divided:
    """What came of a division: the materials of each list, the tables `item_lists`, `covariates`, `matching` and
    `words_not_found`, and a certificate.

    >>> from dataclasses import fields
    >>> [field.name for field in fields(Divided)]
    ['certificate', 'lists', 'item_lists', 'covariates', 'matching', 'not_found']
    """

    certificate: Certificate
    lists: tuple[Materials, ...]
    item_lists: "pd.DataFrame"
    covariates: "pd.DataFrame"
    matching: "pd.DataFrame"
    not_found: "pd.DataFrame"


def split(materials: Materials, division: Division, *, surprisal: "pd.DataFrame | None" = None) -> Divided:
    """Return the items dealt to so many lists, whose covariates are alike within tolerances, as far as the certificate says.

    Each item is in one list; with `items` a list each item is in as many lists as any other, or in one more. No two items that
    have a sentence in common are in one list. `even` spreads phenomena, paradigms or a column of items over the lists. Raises
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
    pool = pool_of(materials, division, surprisal)
    deal = _Deal(pool, division)
    where, certificate = deal.certified()
    members = [
        [] if where is None else [deal.item[n] for n in range(len(where)) if where[n] == k]
        for k in range(division.lists)
    ]
    groups = [
        Group(
            f"list {k + 1}" + (f", {c}" if len(pool.conditions) > 1 else ""),
            [(n, at) for n in some],
            f"list {k + 1}",
            c,
        )
        for k, some in enumerate(members)
        for at, c in enumerate(pool.conditions)
        if some
    ]
    matching = matching_table(pool, division, [("after", groups)] if groups else [])
    import pandas as pd

    rows = [(k + 1, pool.items[n].paradigm, pool.items[n].id) for k, some in enumerate(members) for n in sorted(some)]
    dealt = tuple(
        Materials(
            tuple(p for p in pool.materials.paradigms if p.id in {pool.items[n].paradigm for n in some}),
            tuple(pool.items[n] for n in sorted(some)),
            pool.materials.places,
        )
        for some in members
        if some
    )
    return Divided(
        replace(certificate, largest=largest(matching)),
        dealt,
        study.check(pd.DataFrame(rows, columns=study.TABLES["item_lists"].names), "item_lists"),
        pool.table,
        matching,
        pool.not_found,
    )


class _Deal:
    """A division as exchanges and as a program; an item that is in several lists is there as many times."""

    def __init__(self, pool: Pool, division: Division) -> None:
        import numpy as np

        self.pool, self.asked, self.k = pool, division, division.lists
        n = len(pool.items)
        each, more = divmod(n, self.k) if division.items is None else (division.items, 0)
        if not each or each > n:
            raise study.DataError(
                f"{n} items cannot be dealt to {self.k} lists of {each or 'one or more'}; expected fewer or shorter lists"
            )
        self.sizes = np.array([each + (k < more) for k in range(self.k)])
        times, over = divmod(int(self.sizes.sum()), n)
        draw = np.random.default_rng(division.seed)
        # Which items are in one list more is drawn; every item has its turn before any has a second one.
        extra = {int(i) for i in draw.permutation(n)[:over]}
        self.item = [i for i in range(n) for _ in range(times + (i in extra))]
        if times + bool(extra) > self.k:
            raise study.DataError(
                f"{self.k} lists of {each} have more places than {n} items may fill, each once a list"
            )
        self.copies: dict[int, list[int]] = {}
        for place, i in enumerate(self.item):
            self.copies.setdefault(i, []).append(place)
        self.apart = [
            *self.copies.values(),
            *self._placed(pool.repeated()),
            *self._placed(links(division.apart, pool.at, "apart")),
        ]
        self.together = [
            [self.copies[i][0] for i in group]
            for group in links(division.together, pool.at, "together")
            if all(i in self.copies for i in group)
        ]
        if self.together and (times > 1 or over):
            raise study.DataError(
                "together is of lists that have every item once; expected items left out, or no together"
            )
        self.kinds = [(name, *self._kinds(name)) for name in division.even]
        self.forms = [
            Form(f.name, f.values[self.item], f.tolerance, f.across)
            for _, f in pool.forms(division, int(self.sizes.min()))
        ]

    def _placed(self, groups: list[list[int]]) -> list[list[int]]:
        return [[place for i in group for place in self.copies.get(i, [])] for group in groups]

    def _kinds(self, name: str) -> tuple[list[str], Kind]:
        import numpy as np

        names, of = np.unique(np.asarray(self.pool.kinds(name))[self.item], return_inverse=True)
        counts = np.bincount(of) / self.k
        return list(names), Kind(of, np.floor(counts), np.ceil(counts))

    def certified(self) -> tuple[Array, Certificate]:
        """Return the list of each place, or None, with the certificate."""

        program = self._program()
        n = len(self.item)
        structure = [demand for demand in program.demands if demand.width is None]
        first = Program(program.columns, program.always, structure, program.seed, program.effort).search()
        if first.chosen is None:
            conflict = program.conflict() if first.status == "infeasible" else None
            named: dict[str, Any] = (
                {} if conflict is None else {"conflict": conflict.names, "minimal": conflict.minimal}
            )
            return None, Certificate(first.status, seed=self.asked.seed, nodes=first.nodes, **named)
        where = first.chosen.reshape(self.k, n).argmax(0)
        closest, least = where, float("inf")
        for one in range(STARTS if self.forms else 0):
            bins = Bins(
                where,
                self.k,
                [*itertools.combinations(range(self.k), 2)],
                [*range(self.k)],
                self.forms,
                [kind for _, _, kind in self.kinds],
                sorted({tuple(sorted(pair)) for pair in pairs(self.apart)}),  # type: ignore[misc]
                pairs(self.together),
            )
            found, energy = bins.exchanged(round(STEPS * self.asked.effort), self.asked.seed + one)
            chosen = self._columns(found)
            if energy < least and program.met(chosen, structure):
                closest, least = found, energy
            if program.met(chosen):
                return found, Certificate("met", seed=self.asked.seed)
        if program.met(self._columns(where)):
            return where, Certificate("met", seed=self.asked.seed)
        outcome = program.search()
        if outcome.status == "met":
            where = outcome.chosen.reshape(self.k, n).argmax(0)
            return where, Certificate("met", nodes=outcome.nodes, seed=self.asked.seed)
        if outcome.status == "infeasible":
            conflict = program.conflict()
            return closest, Certificate(
                "infeasible",
                None,
                conflict=conflict.names,
                minimal=conflict.minimal,
                nodes=outcome.nodes,
                seed=self.asked.seed,
            )
        return closest, Certificate("undecided", nodes=outcome.nodes, seed=self.asked.seed)

    def _columns(self, where: Array) -> Array:
        import numpy as np

        return np.concatenate([(where == k).astype(float) for k in range(self.k)])

    def _program(self) -> Program:
        import numpy as np
        from scipy import sparse

        n, k = len(self.item), self.k

        def within(row: Array, one: int) -> Array:
            return sparse.csr_matrix(
                (np.asarray(row, float), (np.zeros(n, int), one * n + np.arange(n))), shape=(1, n * k)
            )

        identity = sparse.identity(n, format="csr")
        always = [Demand("an item in one place", sparse.hstack([identity] * k).tocsr(), 1, 1)]
        always += [
            Demand(f"{size} items in list {one + 1}", within(np.ones(n), one), size, size)
            for one, size in enumerate(self.sizes)
        ]
        demands = []
        for group in self.apart:
            inside = np.isin(np.arange(n), group)
            rows = sparse.vstack([within(inside, one) for one in range(k)]).tocsr()
            names = list(dict.fromkeys(self.pool.items[self.item[place]].id for place in group))
            demands.append(Demand(f"not in one list: {', '.join(names)}", rows, 0, 1))
        always += [demand for demand in demands if "," not in demand.name]
        demands = [demand for demand in demands if "," in demand.name]
        for group in self.together:
            rows = sparse.vstack(
                [
                    within((np.arange(n) == group[0]) * 1.0 - (np.arange(n) == other), one)
                    for other in group[1:]
                    for one in range(k)
                ]
            ).tocsr()
            demands.append(Demand(f"in one list: {', '.join(self.pool.items[self.item[p]].id for p in group)}", rows))
        for name, values, kind in self.kinds:
            for number, value in enumerate(values):
                rows = sparse.vstack([within(kind.of == number, one) for one in range(k)]).tocsr()
                demands.append(
                    Demand(f"{name} {value} spread evenly", rows, float(kind.low[number]), float(kind.high[number]))
                )
        for form in self.forms:
            cells = {
                (one, c): within(form.values[:, c] / self.sizes[one], one)
                for one in range(k)
                for c in range(form.values.shape[1])
            }
            for key, chosen in self._groups(form, list(cells)):
                rows = sparse.vstack([cells[cell] for cell in chosen]).tocsr()
                demands.append(Demand(form.name + (f" in {key}" if key else ""), rows, width=form.tolerance))
        return Program(n * k, always, demands, self.asked.seed, self.asked.effort)

    def _groups(self, form: Form, cells: list[tuple[int, int]]) -> list[tuple[str, list[tuple[int, int]]]]:
        groups: dict[str, list[tuple[int, int]]] = {}
        for one, c in cells:
            key = {"cells": "", "levels": self.pool.conditions[c], "conditions": f"list {one + 1}"}[form.across]
            groups.setdefault(key, []).append((one, c))
        return [(key, some) for key, some in groups.items() if len(some) > 1]
