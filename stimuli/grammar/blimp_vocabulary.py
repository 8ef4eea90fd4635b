"""BLiMP's vocabulary.csv (github.com/alexwarstadt/data_generation), read as a lexicon from the user's own copy; it has no licence, so none comes with this.

A row is a form. Its category is `category_2`, or `category` where that is empty, and `category` is the feature `ccg`
too; `root`, or else `singularform`, is the lemma; 1 and 0 are yes and no. `arg_1`, `arg_2` and so on become restrictions: `;` is
or, `^` is and. An empty one is no argument where the whole category has none, and any argument otherwise. Marks
that restrictions are written with become `_` in names of categories and values: `(S\\NP)/NP` is `S_NP_NP`.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .faults import Fault, Faults, Line
from .lexicon import NULL, read_rows

NEEDED = ("expression", "category", "category_2", "arg_1", "arg_2")
DROPPED = "OOV_inductive_biases"
LEMMA = ("root", "singularform", "expression")
RENAMED = {"expression": "form", "category_2": "category", "category": "ccg", "root": "lemma"}
FEATURES = ("category", "gender")  # with words as values; a column of other words is free, unless a condition names it
YES_AND_NO = {"1": "yes", "0": "no"}

log = logging.getLogger("gardenpath")

Row = dict[str, str]


@dataclass(frozen=True)
class BlimpVocabulary:
    """Rows as a lexicon has them, and what their columns are: features with their values, restrictions, and free ones."""

    rows: list[tuple[Line, Row]]
    features: Mapping[str, tuple[str, ...]]
    demands: tuple[str, ...]
    free: frozenset[str]


def recognises(text: str) -> bool:
    """Whether the first line names the columns of BLiMP's vocabulary."""
    return set(NEEDED) <= set(text.split("\n", 1)[0].strip().split(","))


def read_vocabulary(text: str, file: str, faults: Faults) -> BlimpVocabulary:
    """Return the entries of a vocabulary.csv; rows with `OOV_inductive_biases` are dropped, and faults noted with their line.

    Some conditions of the published file name a column that it does not have; such a condition never holds, and is warned about.
    """
    found = [(line, row) for line, row in read_rows(text, file) if row.get(DROPPED) != "1" and _category(row)]
    names = {name for _, row in found for name in row if name and name != DROPPED}
    demands = tuple(sorted(name for name in names if name.startswith("arg_")))
    words = {name for name in names - {*demands, *LEMMA, *FEATURES, "category_2"}} - {
        name for name in names if all(row.get(name, "") in ("", "0", "1") for _, row in found)
    }
    taking = {(_category(row), name) for _, row in found for name in demands if row.get(name)}
    values: dict[str, set[str]] = {}
    conditions: dict[str, list[list[tuple[str, str]]]] = {}
    for line, row in found:
        for cell in {row[name] for name in demands if row.get(name)} - set(conditions):
            try:
                conditions[cell] = _conditions(cell)
            except Fault as fault:
                faults.add(line, str(fault))
                conditions[cell] = []
    tests = [test for either in conditions.values() for both in either for test in both]
    for name, value in tests:
        if name not in ("form", "lemma", "category"):
            values.setdefault(name, set()).add(value)
    if absent := sorted(set(values) - names - {"ccg"}):
        log.warning("%s: conditions name %s, which is no column; they never hold", file, ", ".join(absent))
    words -= set(values)
    rows = [(line, _row(row, demands, words, taking, conditions)) for line, row in found]
    for _, row in rows:
        for name in row.keys() - {"form", "lemma", "category", *demands, *words}:
            values.setdefault(name, set()).update(row[name].split("/"))
    features = {name: tuple(sorted(values[name], key=lambda value: (value != "yes", value))) for name in sorted(values)}
    return BlimpVocabulary(rows, features, demands, frozenset(words))


def _category(row: Mapping[str, str]) -> str:
    return _name(row.get("category_2") or row.get("category", ""))


def _name(text: str) -> str:
    """Return a category or a value as restrictions can name it."""
    return YES_AND_NO.get(text) or re.sub(r"[\s&|()!=/\\]+", "_", text).strip("_")


def _conditions(cell: str) -> list[list[tuple[str, str]]]:
    """Return `animate=1^sg=1;institution=1` as alternatives, each a list of tests under our names."""
    either = [[part.strip() for part in both.split("^")] for both in cell.split(";") if both.strip()]
    for part in (part for both in either for part in both):
        if not re.fullmatch(r"[^\s=]+=[^=]+", part):
            raise Fault(f"{part!r} in {cell!r}; expected column=value, joined by ^ (and) or ; (or)")
    pairs = [[part.split("=") for part in both] for both in either]
    return [
        [(RENAMED.get(name, name), value if name in ("expression", "root") else _name(value)) for name, value in both]
        for both in pairs
    ]


def _row(
    row: Row, demands: tuple[str, ...], words: set[str], taking: set[tuple[str, str]],
    conditions: Mapping[str, list[list[tuple[str, str]]]],
) -> Row:
    """Return a row of a lexicon: the form, its lemma and category, features, restrictions and free columns."""
    category = _category(row)
    form = row["expression"].replace("!", "'") or NULL
    lemma = next((row[name] for name in LEMMA if row.get(name)), form).replace("!", "'")
    made = {"form": form, "lemma": lemma, "category": category}
    for name, cell in row.items():
        if name in demands:
            either = conditions.get(cell, [])
            restriction = " | ".join(" & ".join(f"{test}={value}" for test, value in both) for both in either)
            made[name] = restriction or ("*" if (category, name) in taking else "")
        elif name in words:
            made[name] = cell
        elif cell and name and name not in (*LEMMA, DROPPED, "category_2"):
            made[RENAMED.get(name, name)] = "/".join(filter(None, (_name(part) for part in cell.split(";"))))
    return made
