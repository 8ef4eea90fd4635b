"""Surprisal that was computed elsewhere becomes the table that `score` makes, held against the materials."""

import logging
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gardenpath import study
from gardenpath.stimuli import Item, Materials, Sentence

if TYPE_CHECKING:
    import pandas as pd

# Bits in one of each unit; p is a probability, whose logarithm is never above 0.
UNITS = {"bits": 1.0, "nats": 1 / math.log(2), "log10": math.log2(10)}
UNITS |= {"log2 p": -1.0, "ln p": -1 / math.log(2), "log10 p": -math.log2(10)}
PROTOCOL = "imported"
SHOWN = 10  # so many faults are named; the rest is counted

log = logging.getLogger("gardenpath")
Row = dict[str, Any]


def scores_from(
    rows: "pd.DataFrame",
    materials: Materials | None = None,
    *,
    units: Mapping[str, str],
    where: str = "row",
) -> "pd.DataFrame":
    """Return the table `surprisal` (bits) of surprisal that was computed elsewhere.

    `rows` has a row a word: model, item, word (from 0) and surprisal; condition, unless each item of the materials has one alone;
    text, unless there are `materials`; protocol, surprisal_naive and entropy where they are known. `units` names a unit of
    `UNITS` for surprisal, and for the two others where theirs is another. A row's label stands after `where` in messages.

    With materials, words have their texts and regions; a text of the rows that differs by more than case and punctuation is an
    error, and words of a sentence that have no row have no surprisal. Raises `study.DataError` with every fault.

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"model": "gpt2", "item": "i1", "condition": "a", "word": [0, 1], "text": ["A", "dog"]})
    >>> scores_from(rows.assign(surprisal=[2.0, 6.0]), units={"surprisal": "log2 p"})
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: row 0: surprisal is 2 log2 p, which is -2 bits; expected 0 or more: is the unit another?
    row 1: surprisal is 6 log2 p, which is -6 bits; expected 0 or more: is the unit another?
    >>> scores_from(rows.assign(surprisal=[2.0, 6.0]), units={"surprisal": "nats"})["surprisal"].round(3).tolist()
    [2.885, 8.656]
    """
    import pandas as pd

    if unknown := [unit for unit in units.values() if unit not in UNITS]:
        raise ValueError(f"unit is {unknown[0]!r}; expected one of {', '.join(UNITS)}")
    items = None if materials is None else {item.id: item for item in materials.items}
    faults: list[str] = []
    sentences: dict[tuple[str, str, str, str], dict[int, Row]] = {}
    for label, cells in zip(rows.index, rows.astype(object).where(rows.notna(), None).to_dict("records"), strict=True):
        row: Row = {str(name): cell for name, cell in cells.items()}
        place = f"{where} {label}"
        scored = {name: _bits(row, name, units, place, faults) for name in ("surprisal", "surprisal_naive", "entropy")}
        fault, condition = _misplaced(row, items)
        if fault:
            faults.append(f"{place}: {fault}")
            continue
        key = (str(row["model"]), str(row.get("protocol") or PROTOCOL), str(row["item"]), condition)
        sentences.setdefault(key, {})[int(row["word"])] = {"text": row.get("text"), "place": place} | scored
    made: list[Row] = []
    differing: list[str] = []
    for (model, protocol, item, condition), words in sentences.items():
        named = {"model": model, "protocol": protocol, "item": item, "condition": condition}
        for word in (
            _stated(words) if items is None else _held(words, items[item].sentences[condition], faults, differing)
        ):
            made.append(named | word)
    if faults:
        more = [f"and {len(faults) - SHOWN} more faults"] if len(faults) > SHOWN else []
        raise study.DataError([*faults[:SHOWN], *more])
    _say(made, {key[2:] for key in sentences}, materials, differing)
    frame = pd.DataFrame(made).assign(words=1, renyi=None, tokens=None)
    return study.check(frame[study.TABLES["surprisal"].names], "surprisal")


def _bits(row: Row, name: str, units: Mapping[str, str], place: str, faults: list[str]) -> float | None:
    """Return a measure in bits; None where there is none."""
    value, unit = row.get(name), units.get(name, units["surprisal"])
    if value is None:
        return None
    bits = float(value) * UNITS[unit]
    if not bits >= 0:
        faults.append(
            f"{place}: {name} is {value:g} {unit}, which is {bits:g} bits; expected 0 or more: is the unit another?"
        )
    return abs(bits)


def _misplaced(row: Row, items: Mapping[str, Item] | None) -> tuple[str | None, str]:
    """Return what is wrong with a row's place, or None, and the row's condition."""
    condition = row.get("condition")
    if items is None:
        lacking = [name for name in ("condition", "text") if row.get(name) is None]
        return (
            f"names no {' and no '.join(lacking)}; name the column, or give the materials" if lacking else None
        ), str(condition)
    item = items.get(str(row["item"]))
    if item is None:
        return f"item {row['item']!r} is not in the materials", ""
    if condition is None and len(item.sentences) == 1:
        condition = next(iter(item.sentences))
    if condition is None or condition not in item.sentences:
        return f"condition is {condition!r}; expected one of item {item.id}: {', '.join(item.sentences)}", ""
    count = len(item.sentences[condition].words())
    if not 0 <= int(row["word"]) < count:
        return f"word {row['word']} (from 0) of item {item.id}, {condition}; it has {count} words", ""
    return None, str(condition)


def _stated(words: Mapping[int, Row]) -> Iterable[Row]:
    """Yield words as their rows have them."""
    for n in sorted(words):
        yield {"word": n, "region": None} | {name: cell for name, cell in words[n].items() if name != "place"}


def _held(words: Mapping[int, Row], sentence: Sentence, faults: list[str], differing: list[str]) -> Iterable[Row]:
    """Yield every word of a sentence with what its row says."""
    none = {"surprisal": None, "surprisal_naive": None, "entropy": None}
    for word in sentence.words():
        row = words.get(word.index, none)
        theirs = row.get("text")
        if theirs is not None and _bare(theirs) != _bare(word.text):
            faults.append(
                f"{row['place']}: word {word.index} (from 0) is {theirs!r}, expected {word.text!r}: {sentence.text[:80]}"
            )
        elif theirs is not None and unicodedata.normalize("NFC", theirs) != unicodedata.normalize("NFC", word.text):
            differing.append(f"{theirs!r} for {word.text!r}")
        yield {"word": word.index, "text": word.text, "region": word.region} | {name: row[name] for name in none}


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFC", text).casefold())


def _say(made: list[Row], scored: set[tuple[str, str]], materials: Materials | None, differing: list[str]) -> None:
    """Say on the log what the rows lack of the materials, and where they write words otherwise."""
    if lacking := sum(row["surprisal"] is None for row in made):
        log.warning("%d of %d words have no surprisal; their cells stay empty", lacking, len(made))
    if differing:
        log.info(
            "%d words are written otherwise than in the materials (case, punctuation), such as %s",
            len(differing),
            differing[0],
        )
    of_materials = [(item.id, name) for item in materials.items for name in item.sentences] if materials else []
    if absent := [place for place in of_materials if place not in scored]:
        log.warning(
            "%d of %d sentences of the materials have no row, the first is %s (%s)",
            len(absent),
            len(of_materials),
            *absent[0],
        )
