"""Items chosen of a pool so that their covariates are alike, with a certificate: met, within a gap, infeasible, or undecided."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gardenpath import study

from ..items import Materials
from .exchange import Bins, Form, Kind, kind_of, pairs
from .expected_effects import differences
from .matched_sets import matched_sets
from .matching import Group, matching_table
from .pool import Pool, pool_of, standardised
from .program import Demand, Outcome, Program
from .settings import Selection, links

if TYPE_CHECKING:
    import pandas as pd

Array = Any
STEPS = 20_000  # exchanges of a try
STARTS = 3
NARROWED = 12  # tries more, of twice as many exchanges, among the items nearest the pool's mean
NEAR = 0.5  # of each level
GAP = 0.01  # ms: of the largest expected effect


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
        said = f"{self.verdict}: the widest difference of means is {self.largest:.3f} s.d. of the pool"
        if self.value is not None and self.bound is not None:
            return f"{said}; expected effect {self.value:.2f} ms, no choice has more than {self.bound:.2f} ms"
        return f"{said}; no choice has less than {self.bound:.3f}" if self.bound is not None else said


@dataclass(frozen=True)
class Selected:
    """What came of a selection: `materials` are the chosen items, None where there are none; `covariates` is of the whole pool,
    `matching` compares cells before and after, `sets` says which items belong together, and `not_found` which words norms lack.

    >>> from dataclasses import fields
    >>> [field.name for field in fields(Selected)]
    ['certificate', 'materials', 'covariates', 'matching', 'sets', 'not_found']
    """

    certificate: Certificate
    materials: Materials | None
    covariates: "pd.DataFrame"
    matching: "pd.DataFrame"
    sets: "pd.DataFrame"
    not_found: "pd.DataFrame"


def select(materials: Materials, selection: Selection, *, surprisal: "pd.DataFrame | None" = None) -> Selected:
    """Return the items that `selection` asks for, chosen of the materials, with a certificate; the same seed gives the same choice.

    `surprisal` is the table of that name, for covariates of surprisal. Raises `study.DataError` where the pool has too few items,
    or values are not known; what is infeasible or undecided is no error but the certificate's verdict.

    >>> from gardenpath import stimuli
    >>> items = tuple(
    ...     stimuli.Item(f"i{n}", "p", {"a": stimuli.Sentence(f"x {n}")}, extra={"kind": "uv"[n % 2], "cloze": str(n)})
    ...     for n in range(8)
    ... )
    >>> pool = stimuli.Materials((stimuli.Paradigm("p", "p", {"f": ("a",)}),), items)
    >>> asked = stimuli.Selection(items=4, between=("kind",), covariates={"cloze": stimuli.CovariateSection(tolerance=0.0)})
    >>> chosen = stimuli.select(pool, asked)
    >>> chosen.certificate.verdict, chosen.certificate.conflict
    ('met', ())
    """
    pool = pool_of(materials, selection, surprisal)
    levels = pool.cells(selection.between)
    names = sorted(set(levels))
    each, more = divmod(selection.items, len(names))
    if more:
        raise study.DataError(
            f"{selection.items} items cannot be taken equally from {len(names)} levels ({', '.join(names)})"
        )
    counts = Counter(levels)
    few = [f"{counts[name]} of {name or 'the pool'}" for name in names if counts[name] < each]
    if few:
        raise study.DataError(f"items = {selection.items} asks for {each} of each level; there are {', '.join(few)}")
    weights = None
    if selection.effect is not None and selection.maximise:
        weights = differences(pool.materials, selection.effect, surprisal, selection.model) / selection.items
    sets: dict[int, int] = {}
    if selection.match == "sets":
        outcome, sets, conflict = matched_sets(pool, selection, levels, each, weights)
        certificate = Certificate(outcome.status, nodes=outcome.nodes, seed=selection.seed, **conflict)
    else:
        outcome, certificate = _Choice(pool, selection, levels, names, each).certified(weights)
    found = outcome.chosen if certificate.verdict in ("met", "within gap") or selection.match == "best" else None
    chosen = None if found is None else [bool(one) for one in found > 0.5]
    before = _groups(pool, levels, None)
    after = [] if chosen is None else _groups(pool, levels, chosen)
    table = pool.table.assign(
        chosen=False if chosen is None else pool.table["item"].map(dict(zip(pool.at, chosen, strict=True)))
    )
    matching = matching_table(pool, selection, [("before", before), *([("after", after)] if after else [])])
    if found is not None and selection.match != "best":
        certificate = replace(certificate, largest=largest(matching))
    if found is not None and weights is not None:
        certificate = replace(certificate, value=outcome.value, bound=outcome.bound)
    return Selected(
        certificate,
        None if chosen is None else _only(pool.materials, chosen),
        study.check(table, "covariates"),
        matching,
        _sets_table(pool, sets, levels),
        pool.not_found,
    )


def _only(materials: Materials, chosen: Sequence[bool]) -> Materials:
    items = tuple(item for item, one in zip(materials.items, chosen, strict=True) if one)
    named = {item.paradigm for item in items}
    return Materials(tuple(p for p in materials.paradigms if p.id in named), items, materials.places)


def _groups(pool: Pool, levels: Sequence[str], chosen: Sequence[bool] | None) -> list[Group]:
    """Return the cells: the conditions of each level."""
    return [
        Group(
            ", ".join(filter(None, (level, condition if len(pool.conditions) > 1 else ""))) or condition,
            [(n, c) for n, own in enumerate(levels) if own == level and (chosen is None or chosen[n])],
            level,
            condition,
        )
        for level in sorted(set(levels))
        for c, condition in enumerate(pool.conditions)
    ]


def largest(matching: "pd.DataFrame") -> float | None:
    """Return the widest difference after the choice between cells that were to be alike, in s.d. of the pool."""
    asked = matching[(matching["stage"] == "after") & matching["alike"]]["d"].abs()
    return float(asked.max()) if len(asked) else None


def _sets_table(pool: Pool, sets: dict[int, int], levels: Sequence[str]) -> "pd.DataFrame":
    import pandas as pd

    rows = sorted((number + 1, levels[n] or "all", pool.items[n].id) for n, number in sets.items())
    return study.check(pd.DataFrame(rows, columns=study.TABLES["matched_sets"].names), "matched_sets")


class _Choice:
    """A choice by means, as a program and as exchanges."""

    def __init__(
        self, pool: Pool, selection: Selection, levels: Sequence[str], names: Sequence[str], each: int
    ) -> None:
        import numpy as np

        self.pool, self.asked, self.each = pool, selection, each
        self.level = np.array([names.index(level) for level in levels])
        self.names, self.levels = names, levels
        self.n = len(levels)
        self.forms = [form for _, form in pool.forms(selection, each)]
        self.kinds = {name: kind_of(pool.kinds(name), selection.items) for name in selection.even}
        self.together = links(selection.together, pool.at, "together")
        self.apart = links(selection.apart, pool.at, "apart")
        self.repeated = pool.repeated()
        always = [
            Demand(f"{each} items of {name or 'the pool'}", self._row(self.level == k), each, each)
            for k, name in enumerate(names)
        ]
        self.program = Program(self.n, always, [*self._structure(), *self._means()], selection.seed, selection.effort)

    @staticmethod
    def _row(inside: Array) -> Array:
        import numpy as np

        return np.asarray(inside, dtype=float)[None]

    def _structure(self) -> list[Demand]:
        import numpy as np

        demands = []
        for name, kind in self.kinds.items():
            rows = (kind.of[None] == np.arange(len(kind.low))[:, None]).astype(float)
            demands.append(Demand(f"{name} spread evenly", rows, float(kind.low[0]), float(kind.high[0])))
        for what, groups in (("apart", self.apart), ("no sentence in common", self.repeated)):
            for group in groups:
                inside = np.isin(np.arange(self.n), group)
                demands.append(
                    Demand(f"{what}: {', '.join(self.pool.items[n].id for n in group)}", self._row(inside), 0, 1)
                )
        for group in self.together:
            rows = np.zeros((len(group) - 1, self.n))
            rows[:, group[0]] = 1
            rows[np.arange(len(group) - 1), group[1:]] = -1
            demands.append(Demand(f"together: {', '.join(self.pool.items[n].id for n in group)}", rows))
        return demands

    def ranges(self, form: Form) -> list[tuple[str, Array]]:
        """Return the cells' means that are to be alike, as rows over items; several groups where not all cells are compared."""
        import numpy as np

        cells = {
            (k, c): form.values[:, c] * (self.level == k) / self.each
            for k in range(len(self.names))
            for c in range(form.values.shape[1])
        }
        groups: dict[str, list[Array]] = {}
        for (k, c), row in cells.items():
            key = {"cells": "", "levels": self.pool.conditions[c], "conditions": self.names[k]}[form.across]
            groups.setdefault(key, []).append(row)
        return [(key, np.stack(rows)) for key, rows in groups.items() if len(rows) > 1]

    def _means(self) -> list[Demand]:
        return [
            Demand(form.name + (f" in {key}" if key else ""), rows, width=form.tolerance)
            for form in self.forms
            for key, rows in self.ranges(form)
        ]

    def _near(self) -> Array:
        """Return which items are nearest the pool's mean: the half of each level, of which at least twice as many as are chosen.

        Means of these vary less between choices, so that far more choices are alike.
        """
        import numpy as np

        z = np.stack([standardised(self.pool.values[:, :, k]) for k in range(self.pool.values.shape[2])])
        far = (z * z).sum((0, 2))
        near = np.zeros(self.n, dtype=bool)
        for level in range(len(self.names)):
            members = np.flatnonzero(self.level == level)
            kept = max(round(NEAR * len(members)), 2 * self.each)
            near[members[np.argsort(far[members], kind="stable")[:kept]]] = True
        return near

    def _drawn(self, near: Array, structure: Sequence[Demand], seed: int) -> Array | None:
        """Return a choice of near items at random, where it meets what is no mean."""
        import numpy as np

        draw, chosen = np.random.default_rng(seed), np.zeros(self.n)
        for level in range(len(self.names)):
            members = np.flatnonzero(near & (self.level == level))
            chosen[draw.choice(members, min(self.each, len(members)), replace=False)] = 1.0
        return chosen if self.program.met(chosen, structure) else None

    def exchanged(self, demands: Sequence[Demand], scale: float | None = None, *, narrowed: int = 0) -> Array | None:
        """Return a choice that meets demands, found by exchanges from one that meets what is no mean; None where none was found.

        So many tries more are `narrowed` to the items nearest the pool's mean.
        """
        import numpy as np

        names = {demand.name for demand in demands}
        structure = [demand for demand in demands if demand.width is None]
        start = self.program.search(structure, tries=1).chosen
        if start is None:
            return None
        forms = [
            form
            for form in self.forms
            if any(name == form.name or name.startswith(f"{form.name} in ") for name in names)
        ]
        if scale is not None:
            forms = [Form(form.name, form.values, scale, form.across) for form in forms]
        if not forms:
            return start
        levels = range(len(self.names))
        kinds = [kind for name, kind in self.kinds.items() if f"{name} spread evenly" in names]
        for one in range(STARTS + narrowed):
            steps, aside, first = STEPS, np.zeros(self.n, dtype=bool), start
            if one >= STARTS:
                near = self._near()
                drawn = self._drawn(near, structure, self.asked.seed + one)
                first = start if drawn is None else drawn
                steps, aside = 2 * STEPS, ~near & (first < 0.5)
            where = np.where(first > 0.5, self.level, self.level + len(self.names))
            bins = Bins(
                np.where(aside, 2 * len(self.names), where),
                len(self.names),
                [(k, k + len(self.names)) for k in levels],
                [0] * len(self.names),
                forms,
                kinds,
                pairs([*self.apart, *self.repeated]),
                pairs(self.together),
            )
            where, energy = bins.exchanged(round(steps * self.asked.effort), self.asked.seed + one)
            chosen = (where < len(self.names)).astype(float)
            if energy == 0.0 and (scale is not None or self.program.met(chosen, demands)):
                return chosen
        return None

    def certified(self, weights: Array) -> tuple[Outcome, Certificate]:
        """Return the choice with its certificate."""
        demands = self.program.demands
        if self.asked.match == "best":
            return self._best()
        # What is infeasible is most often so without branching; what is feasible is most often found by exchanges.
        if self._root_says_no():
            outcome = Outcome("infeasible")
        else:
            # Where each item has one value, an exchange is cheap.
            start = self.exchanged(demands, narrowed=NARROWED if len(self.pool.conditions) == 1 else 0)
            found = start is not None and weights is None
            outcome = Outcome("met", start) if found else self.program.search(maximise=weights, start=start, gap=GAP)
        conflict: dict[str, Any] = {}
        if outcome.status == "infeasible":
            shown = self.program.conflict(self.exchanged)
            conflict = {"conflict": shown.names, "minimal": shown.minimal}
        return outcome, Certificate(outcome.status, nodes=outcome.nodes, seed=self.asked.seed, **conflict)

    def _root_says_no(self) -> bool:
        """Whether HiGHS finds it infeasible at its root."""
        return replace(self.program, effort=1e-9).search(tries=1).status == "infeasible"

    def _close(self, outcome: Outcome) -> bool:
        """Whether a choice is shown to be within the gap of the best."""
        return outcome.chosen is not None and outcome.value - outcome.bound <= self.asked.gap + 1e-6

    def _best(self) -> tuple[Outcome, Certificate]:
        """Return the choice whose widest difference is least, to within the gap where that is shown."""
        means = [rows for form in self.forms for _, rows in self.ranges(form)]
        demands = [demand for demand in self.program.demands if demand.width is None]
        outcome = self.program.search(demands, narrowest=means, gap=self.asked.gap, tries=1)
        if outcome.status != "infeasible" and not self._close(outcome):
            matched = [*demands, *(demand for demand in self.program.demands if demand.width is not None)]
            start, scale = outcome.chosen, 0.4
            while scale > self.asked.gap / 8 and (closer := self.exchanged(matched, scale)) is not None:
                start, scale = closer, scale / 2
            outcome = self.program.search(demands, narrowest=means, start=start, gap=self.asked.gap)
        if outcome.status == "infeasible":
            found = replace(self.program, demands=demands).conflict()
            return outcome, Certificate(
                "infeasible", conflict=found.names, minimal=found.minimal, nodes=outcome.nodes, seed=self.asked.seed
            )
        if outcome.chosen is None:
            return outcome, Certificate("undecided", nodes=outcome.nodes, seed=self.asked.seed)
        verdict = "within gap" if self._close(outcome) else "undecided"
        return outcome, Certificate(
            verdict, outcome.value, bound=outcome.bound, nodes=outcome.nodes, seed=self.asked.seed
        )


__all__ = ["Certificate", "Kind", "Selected", "largest", "select"]
