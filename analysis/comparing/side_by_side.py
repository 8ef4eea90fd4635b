"""Models on the same pairs: what each won, in arrays, so that any two of a hundred are compared without joining tables."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gardenpath.study import DataError

from .pair_accuracy import MODEL, PAIR, won

Array = Any  # numpy is imported inside functions


@dataclass(frozen=True)
class Duel:
    """Two models on the pairs that both were given: what each won (1, 0, or 1/2), and whether neither ties."""

    place: dict[str, str]
    rows: Array  # of `Beside.pairs`
    won_a: Array
    won_b: Array
    clear: Array

    def alone(self) -> tuple[Array, Array]:
        """Return, of each pair, whether one of the models wins it alone; a tie of either counts for neither."""
        return self.clear & (self.won_a > self.won_b), self.clear & (self.won_b > self.won_a)


@dataclass(frozen=True)
class SideBySide:
    """What models won under a measure: `won` and `tie` are pairs x models, NaN where a model was not given the pair."""

    measure: str
    models: tuple[tuple[str, str], ...]
    pairs: pd.DataFrame  # the columns of PAIR, and language where it is known, a row a pair
    won: Array
    tie: Array

    def duels(self) -> Iterator[Duel]:
        """Yield every two models, in their order."""
        import numpy as np

        given = ~np.isnan(self.won)
        for a, b in itertools.combinations(range(len(self.models)), 2):
            rows = np.flatnonzero(given[:, a] & given[:, b])
            place = {"measure": self.measure}
            for end, at in (("a", a), ("b", b)):
                place |= {f"{name}_{end}": value for name, value in zip(MODEL, self.models[at], strict=True)}
            clear = ~(self.tie[rows, a] | self.tie[rows, b])
            yield Duel(place, rows, self.won[rows, a], self.won[rows, b], clear)


def side_by_side(pairs: pd.DataFrame) -> Iterator[SideBySide]:
    """Yield the models of each measure side by side, all in the order of the table; a pair given twice is a `DataError`."""
    import numpy as np

    columns = [*PAIR, "language"] if "language" in pairs else PAIR
    for measure, rows in pairs.groupby("measure", sort=False):
        of_model = rows.groupby(MODEL, sort=False)
        of_pair = rows.groupby(PAIR, sort=False)
        place = of_pair.ngroup().to_numpy(), of_model.ngroup().to_numpy()
        if rows.duplicated([*PAIR, *MODEL]).any():
            twice = rows[rows.duplicated([*PAIR, *MODEL])].iloc[0]
            raise DataError(f"item {twice['item']!r} has several rows of {twice['model']} by {measure}; expected one")
        shares = np.full((of_pair.ngroups, of_model.ngroups), np.nan, dtype=np.float32)
        ties = np.zeros(shares.shape, dtype=bool)
        shares[place], ties[place] = won(rows).to_numpy(dtype=np.float32), rows["tie"].to_numpy(dtype=bool)
        models = tuple((str(model), str(protocol)) for model, protocol in rows[MODEL].drop_duplicates().to_numpy())
        yield SideBySide(str(measure), models, rows.drop_duplicates(PAIR)[columns], shares, ties)
