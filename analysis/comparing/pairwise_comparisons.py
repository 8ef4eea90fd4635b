"""Models on the same pairs: what each won, in arrays, so that any two of a hundred are compared without joining tables."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gardenpath.study import DataError

from .pair_accuracy import MODEL_KEY, PAIR_KEY, compute_wins

Array = Any  # numpy is imported inside functions


@dataclass(frozen=True)
class PairwiseComparison:
    """Two models on the pairs that both were given: what each won (1, 0, or 1/2), and whether neither ties."""

    row_key: dict[str, str]
    pair_rows: Array  # of `Beside.pairs`
    won_a: Array
    won_b: Array
    is_untied: Array

    def find_sole_wins(self) -> tuple[Array, Array]:
        """Return, of each pair, whether one of the models wins it alone; a tie of either counts for neither."""
        return self.is_untied & (self.won_a > self.won_b), self.is_untied & (self.won_b > self.won_a)


@dataclass(frozen=True)
class ModelWins:
    """What models won under a measure: `compute_wins` and `tie` are pairs x models, NaN where a model was not given the pair."""

    measure: str
    models: tuple[tuple[str, str], ...]
    pairs: pd.DataFrame  # the columns of PAIR, and language where it is known, a row a pair
    won: Array
    tie: Array

    def compare_models(self) -> Iterator[PairwiseComparison]:
        """Yield every two models, in their order."""
        import numpy as np

        given = ~np.isnan(self.won)
        for a, b in itertools.combinations(range(len(self.models)), 2):
            rows = np.flatnonzero(given[:, a] & given[:, b])
            row_key = {"measure": self.measure}
            for end, column in (("a", a), ("b", b)):
                row_key |= {f"{name}_{end}": value for name, value in zip(MODEL_KEY, self.models[column], strict=True)}
            clear = ~(self.tie[rows, a] | self.tie[rows, b])
            yield PairwiseComparison(row_key, rows, self.won[rows, a], self.won[rows, b], clear)


def tabulate_model_wins(pairs: pd.DataFrame) -> Iterator[ModelWins]:
    """Yield the models of each measure side by side, all in the order of the table; a pair given twice is a `DataError`."""
    import numpy as np

    columns = [*PAIR_KEY, "language"] if "language" in pairs else PAIR_KEY
    for measure, rows in pairs.groupby("measure", sort=False):
        of_model = rows.groupby(MODEL_KEY, sort=False)
        of_pair = rows.groupby(PAIR_KEY, sort=False)
        cells = of_pair.ngroup().to_numpy(), of_model.ngroup().to_numpy()
        if rows.duplicated([*PAIR_KEY, *MODEL_KEY]).any():
            twice = rows[rows.duplicated([*PAIR_KEY, *MODEL_KEY])].iloc[0]
            raise DataError(f"item {twice['item']!r} has several rows of {twice['model']} by {measure}; expected one")
        shares = np.full((of_pair.ngroups, of_model.ngroups), np.nan, dtype=np.float32)
        ties = np.zeros(shares.shape, dtype=bool)
        shares[cells], ties[cells] = compute_wins(rows).to_numpy(dtype=np.float32), rows["tie"].to_numpy(dtype=bool)
        models = tuple((str(model), str(protocol)) for model, protocol in rows[MODEL_KEY].drop_duplicates().to_numpy())
        yield ModelWins(str(measure), models, rows.drop_duplicates(PAIR_KEY)[columns], shares, ties)
