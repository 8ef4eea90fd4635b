"""The pool that is chosen from: its items with the values of their covariates, and what of these is to be alike."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gardenpath import study

from ..items import Item, Materials
from ..norms import compute_words_not_found, describe_words_not_found, read_norms
from .covariates import compute_covariates, count_bigrams, find_missing_values, shorten_faults
from .exchange import MatchCriterion
from .settings import MatchingSettings

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("gardenpath")

Array = Any


@dataclass(frozen=True)
class Pool:
    """Items of the same conditions, and the values of their covariates (item x condition x covariate)."""

    materials: Materials
    conditions: tuple[str, ...]
    names: tuple[str, ...]
    table: "pd.DataFrame"  # covariates
    values: Array
    words_not_found: "pd.DataFrame"  # words of norms

    @property
    def items(self) -> tuple[Item, ...]:
        return self.materials.items

    @property
    def positions(self) -> dict[str, int]:
        """The position of each item."""
        return {item.id: n for n, item in enumerate(self.items)}

    def list_categories(self, name: str) -> list[str]:
        """Return what each item is of: its phenomenon, its paradigm, or what a column of its own says."""
        if name == "phenomenon":
            of = {paradigm.id: paradigm.phenomenon for paradigm in self.materials.paradigms}
            return [of[item.paradigm] for item in self.items]
        if name == "paradigm":
            return [item.paradigm for item in self.items]
        if faults := [
            f"item {item.id} has no {name!r}; expected a column of that name" for item in self.items if name not in item.extra
        ]:
            raise study.DataError(shorten_faults(faults))
        return [item.extra[name] for item in self.items]

    def list_levels(self, columns: Sequence[str]) -> list[str]:
        """Return the level of each item, of several columns their combination."""
        each = [self.list_categories(name) for name in columns]
        return [".".join(levels) for levels in zip(*each, strict=True)] if each else [""] * len(self.items)

    def build_criteria(self, settings: MatchingSettings, count: int) -> list[tuple[str, MatchCriterion]]:
        """Return what is to be alike, each with its covariate; `count` items are in a cell, on whose numbers in bins it depends."""
        import numpy as np

        criteria = []
        for k, name in enumerate(self.names):
            section, values, across = settings.covariates[name], self.values[:, :, k], settings.get_across(name)
            z = standardise(values)
            within = settings.get_tolerance(name)
            criteria.append((name, MatchCriterion(f"means of {name} within {within:g} s.d.", z, within, across)))
            if (spread := settings.get_spread(name)) is not None:
                label = f"second moments of {name} within {spread:g} s.d."
                criteria.append((name, MatchCriterion(label, standardise(z * z), spread, across)))
            if section.bins:
                edges = np.unique(np.quantile(values, np.linspace(0, 1, section.bins + 1)[1:-1]))
                bins = np.searchsorted(edges, values, side="right")
                for b in range(len(edges) + 1):
                    label = f"numbers of {name} in bin {b + 1} of {len(edges) + 1} within one"
                    criteria.append((name, MatchCriterion(label, (bins == b).astype(float), 1 / count, across)))
        return criteria

    def find_repeated_groups(self) -> list[list[int]]:
        """Return groups of items that have a sentence in common."""
        having: dict[str, list[int]] = {}
        for n, item in enumerate(self.items):
            for text in {" ".join(sentence.text.split()) for sentence in item.sentences.values()}:
                having.setdefault(text, []).append(n)
        return [same for same in having.values() if len(same) > 1]


def standardise(values: Array) -> Array:
    """Return values as s.d. from the mean of all of them; zeros where they do not vary."""
    sd = values.std()
    return (values - values.mean()) / sd if sd > 1e-12 else values * 0.0


def build_pool(materials: Materials, settings: MatchingSettings, surprisal: "pd.DataFrame | None" = None) -> Pool:
    """Return the pool; raises `study.DataError` where conditions differ between paradigms, or a value is not known."""
    import numpy as np

    if not materials.items:
        raise study.DataError("the pool has no items; expected at least one")
    conditions = {p.id: tuple(p.list_conditions()) for p in materials.paradigms if any(i.paradigm == p.id for i in materials.items)}
    if len({frozenset(names) for names in conditions.values()}) > 1:
        listed = "; ".join(f"{name}: {', '.join(of)}" for name, of in [*conditions.items()][:4])
        raise study.DataError(
            f"paradigms have different conditions, whose means cannot be compared ({listed}); expected a file of paradigms "
            "with the same ones, such as targets without fillers"
        )
    own = next(iter(conditions.values()))
    names = tuple(settings.covariates)
    bigrams = count_bigrams(settings.bigrams) if settings.bigrams else None
    norms = read_norms(settings.norms)
    table = compute_covariates(materials, names, surprisal=surprisal, model=settings.model, bigrams=bigrams, norms=norms)
    absent = compute_words_not_found(materials, names, norms)
    for sentence in describe_words_not_found(absent, norms):
        log.warning(sentence)
    faults = {
        item.id: f"item {item.id} has no sentence in condition {', '.join(c for c in own if c not in item.sentences)}"
        for item in materials.items
        if any(c not in item.sentences for c in own)
    } | find_missing_values(table)
    if faults and not settings.skip_bad:
        raise study.DataError([*shorten_faults(list(faults.values())), "give these values, or leave such items out with skip_bad"])
    if faults:
        for fault in shorten_faults(list(faults.values())):
            log.warning("left out: %s", fault)
        kept = tuple(item for item in materials.items if item.id not in faults)
        materials = Materials(materials.paradigms, kept, materials.source_lines)
        table = table[~table["item"].isin(list(faults))].reset_index(drop=True)
        if not kept:
            raise study.DataError("no item has all values; expected at least one")
    by = table.set_index(["covariate", "item", "condition"])["value"].to_dict()
    values = np.array([[[by[name, item.id, c] for name in names] for c in own] for item in materials.items], dtype=float)
    return Pool(materials, own, names, table, values.reshape(len(materials.items), len(own), len(names)), absent)
