"""Contrast matrices as a supplement prints them."""

from fractions import Fraction

import pandas as pd

from .coefficients import Coefficients
from .labels import label
from .sources import Sentence, read_off
from .terms import terms

CONTRAST = "Contrast matrix of {model}: what stands for each cell in the model matrix."
HYPOTHESIS = "Hypothesis matrix of {model}: what each coefficient is, in weights of the cells' means (Schad et al., 2020)."


def matrices(table: pd.DataFrame) -> list[tuple[Sentence, Coefficients]]:
    """Return for each model its contrast matrix and its hypothesis matrix, each with its caption."""
    shown = []
    for model, rows in table.groupby("model", sort=False):
        names = dict(zip(rows["term"].unique(), terms(rows.drop_duplicates("term")), strict=True))
        cells = list(rows["cell"].unique())
        code, weight = (
            {key: exact(value) for key, value in rows.set_index(["term", "cell"])[name].items()} for name in ("code", "weight")
        )
        by_cell = [(label(cell), *(code[term, cell] for term in names)) for cell in cells]
        by_term = [(name, *(weight[term, cell] for cell in cells)) for term, name in names.items()]
        shown += [
            (
                read_off(CONTRAST.format(model=label(model)), "contrast_matrices", rows),
                Coefficients(("cell", *names.values()), tuple(by_cell), 1),
            ),
            (
                read_off(HYPOTHESIS.format(model=label(model)), "contrast_matrices", rows),
                Coefficients(("effect", *map(label, cells)), tuple(by_term), 1),
            ),
        ]
    return shown


def exact(value: float) -> str:
    """Return a code or weight as a fraction.

    >>> exact(-0.5), exact(2 / 3), exact(0.0), exact(1.0)
    ('−1/2', '2/3', '0', '1')
    """
    return str(Fraction(value).limit_denominator(1000)).replace("-", "−")
