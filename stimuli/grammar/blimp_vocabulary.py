"""BLiMP's vocabulary.csv (github.com/alexwarstadt/data_generation), read as a lexicon from the user's own copy; it has no licence.

A row is a form. Its category is `category_2`, or `category` where that is empty; `root`, or else `singularform`, is the lemma;
1 and 0 are yes and no. `arg_1`, `arg_2` and so on are restrictions: `;` is or, `^` is and. An empty one means no argument where the
whole category has none, and any argument otherwise. Brackets and slashes become `_` in names: `(S\\NP)/NP` is `S_NP_NP`.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .faults import Fault, Faults, Line
from .lexicon import NULL_FORM, read_rows

REQUIRED_COLUMNS = ("expression", "category", "category_2", "arg_1", "arg_2")
EXCLUSION_COLUMN = "OOV_inductive_biases"
LEMMA_COLUMNS = ("root", "singularform", "expression")
RENAMED_COLUMNS = {"expression": "form", "root": "lemma", "category_2": "category"}
NON_FEATURE_COLUMNS = ("form", "lemma", "category")
MAX_FEATURE_VALUES = 12  # a column with more values than that, and in no restriction, is only there to be printed

log = logging.getLogger("gardenpath")

Row = dict[str, str]
DisjunctiveTests = list[list[tuple[str, str]]]  # alternatives, each of tests that hold together


@dataclass(frozen=True)
class BlimpVocabulary:
    """Rows as a lexicon has them, and what their columns are: features with their values, restrictions, and free ones."""

    rows: list[tuple[Line, Row]]
    features: Mapping[str, tuple[str, ...]]
    demand_columns: tuple[str, ...]
    free_columns: frozenset[str]


def recognises(text: str) -> bool:
    """Whether the first line names the columns of BLiMP's vocabulary."""
    return set(REQUIRED_COLUMNS) <= set(text.split("\n", 1)[0].strip().split(","))


def read_vocabulary(text: str, file: str, faults: Faults) -> BlimpVocabulary:
    """Return the entries of a vocabulary.csv without the rows that have `OOV_inductive_biases`; faults are noted with their line.

    Alternatives of restrictions that no entry meets are left out with a warning, since the published file has some.
    """
    found = [(line, row) for line, row in read_rows(text, file) if row.get(EXCLUSION_COLUMN) != "1" and _find_category(row)]
    names = dict.fromkeys(name for _, row in found for name in row if name.startswith("arg_"))
    rows = [(line, _rename_columns({name: cell for name, cell in row.items() if name not in names})) for line, row in found]
    conditions: dict[str, DisjunctiveTests] = {}
    for line, row in found:
        for cell in {row[name] for name in names if row.get(name)} - set(conditions):
            try:
                conditions[cell] = _parse_tests(cell)
            except Fault as fault:
                conditions[cell] = []
                faults.add(line, str(fault))
    bundles = {frozenset(row.items()): row for _, row in rows}.values()
    unmet = []
    for cell, either in conditions.items():
        conditions[cell] = [both for both in either if any(_has_values(row, both) for row in bundles)]
        unmet += [_format_tests([both]) for both in either if both not in conditions[cell]]
    if unmet:
        log.warning("%s: no entry meets %s, which restrictions ask for", file, "; ".join(sorted(set(unmet))))
    taking = {(_find_category(row), name) for _, row in found for name in names if row.get(name)}
    for (_, row), (_, given) in zip(rows, found, strict=True):
        for name in names:
            anything = "*" if (row["category"], name) in taking else ""
            row[name] = _format_tests(conditions[given[name]]) if given.get(name) else anything
    asked = {name for either in conditions.values() for both in either for name, _ in both}
    values: dict[str, set[str]] = {}
    for _, row in rows:
        for name in row.keys() - {*NON_FEATURE_COLUMNS, *names}:
            values.setdefault(name, set()).update(row[name].split("/"))
    features = {
        name: tuple(sorted(some)) for name, some in sorted(values.items()) if name in asked or len(some) <= MAX_FEATURE_VALUES
    }
    return BlimpVocabulary(rows, features, tuple(names), frozenset(values.keys() - features))


def _find_category(row: Mapping[str, str]) -> str:
    return _standardise_name(row.get("category_2") or row.get("category", ""))


def _standardise_name(text: str) -> str:
    """Return a category or a value as restrictions can name it."""
    return {"1": "yes", "0": "no"}.get(text) or re.sub(r"[\s&|()!=/\\]+", "_", text).strip("_")


def _rename_columns(row: Row) -> Row:
    """Return the form, its lemma and category, and the cells that are not empty with their values as ours are named."""
    form = row["expression"].replace("!", "'") or NULL_FORM
    lemma = next((row[name] for name in LEMMA_COLUMNS if row.get(name)), form).replace("!", "'")
    cells = {
        name: cell
        for name, cell in row.items()
        if cell and name not in (*LEMMA_COLUMNS, EXCLUSION_COLUMN, "category", "category_2")
    }
    values = {name: "/".join(filter(None, map(_standardise_name, cell.split(";")))) for name, cell in cells.items()}
    return {"form": form, "lemma": lemma, "category": _find_category(row), **values}


def _parse_tests(cell: str) -> DisjunctiveTests:
    """Return `animate=1^sg=1;institution=1` as tests under our names."""
    either = [[part.strip() for part in both.split("^")] for both in cell.split(";") if both.strip()]
    for part in (part for both in either for part in both):
        if not re.fullmatch(r"[^\s=]+=[^=]+", part):
            raise Fault(f"{part!r} in {cell!r}; expected column=value, joined by ^ (and) or ; (or)")
    pairs = [[part.split("=") for part in both] for both in either]
    return [
        [
            (RENAMED_COLUMNS.get(name, name), value.replace("!", "'") if name == "expression" else _standardise_name(value))
            for name, value in both
        ]
        for both in pairs
    ]


def _has_values(row: Mapping[str, str], both: list[tuple[str, str]]) -> bool:
    return all(value in row.get(name, "").split("/") for name, value in both)


def _format_tests(either: DisjunctiveTests) -> str:
    """Return tests as a restriction."""
    return " | ".join(" & ".join(f"{name}={value}" for name, value in both) for both in either)
