"""Surprisal that was computed elsewhere becomes the table that `score` makes, held against the materials."""

import logging
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gardenpath import study
from gardenpath.stimuli import Materials
from gardenpath.stimuli.external_words import MAX_FAULTS_SHOWN, locate_words

if TYPE_CHECKING:
    import pandas as pd

# Bits in one of each unit; p is a probability, whose logarithm is never above 0.
BITS_PER_UNIT = {"bits": 1.0, "nats": 1 / math.log(2), "log10": math.log2(10)}
BITS_PER_UNIT |= {"log2 p": -1.0, "ln p": -1 / math.log(2), "log10 p": -math.log2(10)}
SURPRISAL_COLUMNS = ("surprisal", "surprisal_naive", "entropy")
IMPORTED_PROTOCOL = "imported"

log = logging.getLogger("gardenpath")


def import_surprisal(
    rows: "pd.DataFrame", materials: Materials | None = None, *, units: Mapping[str, str], where: str = "row"
) -> "pd.DataFrame":
    """Return the table `surprisal` (bits) of surprisal that was computed elsewhere.

    `rows` has a row a word: model, item, word (from 0) and surprisal; condition, unless each item of the materials has one alone;
    text, unless there are `materials`; protocol, surprisal_naive and entropy where they are known. `units` names a unit of
    `BITS_PER_UNIT` for surprisal, and for the two others where theirs is another. A row's label stands after `where` in messages.

    With materials, words have their texts and regions; a text of the rows that differs by more than case and punctuation is an
    error, and words of a sentence that have no row have no surprisal. Raises `study.DataError` with every fault.

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"model": "gpt2", "item": "i1", "condition": "a", "word": [0, 1], "text": ["A", "dog"]})
    >>> import_surprisal(rows.assign(surprisal=[2.0, 6.0]), units={"surprisal": "log2 p"})
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: row 0: surprisal is 2 log2 p, which is -2 bits; expected 0 or more: is the unit another?
    row 1: surprisal is 6 log2 p, which is -6 bits; expected 0 or more: is the unit another?
    >>> import_surprisal(rows.assign(surprisal=[2.0, 6.0]), units={"surprisal": "nats"})["surprisal"].round(3).tolist()
    [2.885, 8.656]
    """
    if unknown := [unit for unit in units.values() if unit not in BITS_PER_UNIT]:
        raise ValueError(f"unit is {unknown[0]!r}; expected one of {', '.join(BITS_PER_UNIT)}")
    protocol = rows["protocol"].fillna(IMPORTED_PROTOCOL) if "protocol" in rows else IMPORTED_PROTOCOL
    named = rows.assign(protocol=protocol, item=rows["item"].astype("string"))
    for name in SURPRISAL_COLUMNS:
        named[name] = _convert_to_bits(rows, name, units, where)
    words = locate_words(named, materials, where=where, key_columns=("model", "protocol"))
    if missing := int(words["surprisal"].isna().sum()):
        log.warning("%d of %d words have no surprisal; their cells stay empty", missing, len(words))
    words = words.assign(n_words=1, renyi=None, n_tokens=None)
    return study.check(words[study.TABLES["surprisal"].column_names], "surprisal")


def _convert_to_bits(rows: "pd.DataFrame", name: str, units: Mapping[str, str], where: str) -> "pd.Series[float]":
    """Return a measure in bits, empty where there is none."""
    import pandas as pd

    if name not in rows:
        return pd.Series(float("nan"), index=rows.index)
    unit = units.get(name, units["surprisal"])
    stated = rows[name].astype("float64")
    bits = stated * BITS_PER_UNIT[unit]
    wrong = bits[bits < 0]
    if len(wrong):
        faults = [
            f"{where} {label}: {name} is {given:g} {unit}, which is {value:g} bits; expected 0 or more: is the unit another?"
            for (label, value), given in zip(wrong.head(MAX_FAULTS_SHOWN).items(), stated[bits < 0], strict=False)
        ]
        raise study.DataError(
            [*faults, *([f"and {len(wrong) - MAX_FAULTS_SHOWN} more rows"] if len(wrong) > MAX_FAULTS_SHOWN else [])]
        )
    return bits.abs()
