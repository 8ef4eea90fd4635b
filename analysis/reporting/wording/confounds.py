"""What the levels of a factor differ in beside the factor, said beside its effect."""

import pandas as pd

from gardenpath.study.balance import PART_LABELS
from gardenpath.study.responses import RESPONSES

from ...row_dicts import list_rows
from .labels import label, listed
from .numbers import Row, signed
from .sources import Sentence, read_off

OF_REGIONS, OF_SENTENCES = ("before", "critical", "after"), ("rest", "sentence")  # what bears on a response
NOUNS = {"letters": "length", "zipf": "frequency"}
MEASURES = {"letters": "letters", "zipf": "Zipf frequency"}
FEW = 6  # paradigms that have a sentence each


def confounds(table: pd.DataFrame, models: pd.DataFrame) -> list[str]:
    """Return for each factor of these effects and each two levels that differ in length or frequency what the difference is, in
    the parts of the sentence that bear on the effects' responses; of many paradigms, in how many there is one.
    """
    factors = {name for names in models["factors"].dropna() for name in names.split(":")}
    bearing = [OF_REGIONS if RESPONSES[name].has_regions else OF_SENTENCES for name in models["response"].unique()]
    parts = [part for parts in bearing for part in parts]
    found = table[table["factor"].isin(factors) & table["region"].isin(parts)]
    sentences: list[str] = []
    for factor, rows in found.groupby("factor", sort=False):
        count = rows["paradigm"].nunique()
        if count > FEW:
            name = label(factor)
            text = (
                f"{name[0].upper()}{name[1:]}: in {count} paradigms its levels also differ in length or frequency, so an effect of "
                f"{name} may be one of these."
            )
            sentences.append(read_off(text, "confounds", rows, "distinct paradigm"))
            continue
        several = len({*table["paradigm"]}) > 1
        groups = rows.groupby(["paradigm", "level_a", "level_b"], sort=False)
        sentences += [_sentence(one, several) for _, one in groups]
    return sentences


def _sentence(rows: pd.DataFrame, several: bool) -> Sentence:
    first = list_rows(rows)[0]
    factor, levels = label(first["factor"]), f"{label(first['level_a'])}, {label(first['level_b'])}"
    where = f" in {label(first['paradigm'])}" if several else ""
    of = " or ".join(noun for measure, noun in NOUNS.items() if (rows["measure"] == measure).any())
    parts = [
        f"{PART_LABELS[str(region)]} ({'; '.join(map(_difference, list_rows(part)))})"
        for region, part in rows.groupby("region", sort=False)
    ]
    text = f"{factor[0].upper()}{factor[1:]} ({levels}){where}: the levels also differ in {listed(parts)}"
    return read_off(f"{text}, so an effect of {factor} may be one of {of}.", "confounds", rows)


def _difference(row: Row) -> str:
    size: str = "the same in all items" if pd.isna(row["cohens_d"]) else f"d = {signed(row['cohens_d'], 2)}"
    return f"{MEASURES[row['measure']]} {row['mean_a']:.2f} and {row['mean_b']:.2f}, {size}"
