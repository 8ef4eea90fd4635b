"""Whether effects are smaller than the smallest one of interest, beside what could have been found."""

import pandas as pd

from ...intervals import ALPHA
from ...measuring.region_spans import SENTENCE_REGION
from ...prompts import list_prompts
from ...row_dicts import list_rows
from .factors import describe_model, with_names
from .labels import asked, label, region_name
from .numbers import Row, decimals, minus, p_value
from .sources import read_off
from .terms import terms_by_model

TESTED = (
    "Equivalence was tested by two one-sided tests (Schuirmann, 1987) against the smallest effects of interest, on models with "
    "slopes."
)


def verdict(row: Row) -> str:
    """Return what two one-sided tests say of an effect, with its 90 % interval and the effect that could have been found.

    >>> row = {"p": 0.3, "p_equivalence": 0.004, "smallest": 0.05, "low_90": -0.01, "high_90": 0.02, "mde": 0.031, "se": 0.01}
    >>> verdict(row)
    'the effect is smaller than 0.05, equivalence (90% CI [−0.010, 0.020], p = .004; 0.031 would be found in 80% of repetitions)'
    >>> verdict({**row, "p_equivalence": 0.2}).partition(" (")[0]
    'the effect is neither different from zero nor equivalent to it, the smallest of interest being 0.05'
    >>> verdict({**row, "p": 0.01}).partition(" (")[0]
    'the effect differs from zero, but is smaller than 0.05, equivalence'
    """
    smallest, different, equivalent = f"{row['smallest']:g}", row["p"] < ALPHA, row["p_equivalence"] < ALPHA
    if equivalent:
        said = f"{'differs from zero, but ' if different else ''}is smaller than {smallest}, equivalence"
    elif different:
        said = f"differs from zero, and is not shown to be smaller than {smallest}"
    else:
        said = f"is neither different from zero nor equivalent to it, the smallest of interest being {smallest}"
    places = decimals(row["se"])
    ends = minus(f"90% CI [{row['low_90']:.{places}f}, {row['high_90']:.{places}f}]")
    found = f"{row['mde']:.{places}f} would be found in 80% of repetitions"
    return f"the effect {said} ({ends}, p {p_value(row['p_equivalence'])}; {found})"


def equivalences(phenomena: pd.DataFrame, factorial: pd.DataFrame) -> list[str]:
    """Return a sentence for each effect of which a smallest one of interest is stated: in phenomena, and of a study's factors."""
    sentences: list[str] = []
    several = len(list_prompts(phenomena)) > 1
    for row in list_rows(phenomena[phenomena["headline"]].dropna(subset="p_equivalence")):
        where = asked(row["prompt"] if several else None)
        where += "" if row["region"] == SENTENCE_REGION else f", {region_name(row['region'])}"
        sentences.append(read_off(f"{label(row['model'])}{where}: {verdict(row)}.", "effects", row))
    factorial = with_names(factorial)
    shown = factorial[factorial["headline"]].dropna(subset="p_equivalence")
    for row, name in zip(list_rows(shown), terms_by_model(factorial).loc[shown.index], strict=True):
        sentences.append(read_off(f"{describe_model(row)}, {name}: {verdict(row)}.", "effects", row))
    return sentences


def was_tested(effects: pd.DataFrame) -> bool:
    """Return whether some effects have tests of equivalence."""
    return bool(effects["p_equivalence"].notna().any())
