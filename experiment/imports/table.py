"""Reading times collected elsewhere: a long table and a small mapping file give the table `readings`.

[columns]                     # our column = theirs
participant = "subject"
item = "item"
condition = "condition"
word = "word_position"
rt = "rawRT"

[constants]                   # the same in every row
experiment = "E1"
paradigm = "relative_clauses"

[[regions]]
name = "critical"
where = { condition = "objgap", word_position = "6" }

[[repairs]]                   # what is known to be wrong in the file
where = { subject = "40", item = "0" }
set = { item = "9" }
reason = "one row is keyed item 0"
"""

import logging
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from gardenpath import study

log = logging.getLogger("gardenpath")
STRICT: Any = {"extra": "forbid", "strict": True}
NEEDED = ("participant", "item", "condition", "word", "rt")
# What a file need not say, since it follows from the rest or stands for nothing.
STANDARD = {"role": "target", "experiment": "E1", "version": "V1", "paradigm": "imported"}


@dataclass(frozen=True)
class RegionRule:
    """Rows whose cells equal `where` (their columns) lie in region `name`."""

    __pydantic_config__ = STRICT
    name: str
    where: dict[str, str]


@dataclass(frozen=True)
class Repair:
    """In rows whose cells equal `where`, put the cells of `set`; the reason is reported."""

    __pydantic_config__ = STRICT
    where: dict[str, str]
    set: dict[str, str]
    reason: str


@dataclass(frozen=True)
class ColumnMapping:
    """How a long table becomes `readings`; `separator` "space" means any run of blanks."""

    __pydantic_config__ = STRICT
    columns: dict[str, str]
    constants: dict[str, str] = field(default_factory=dict)
    regions: tuple[RegionRule, ...] = ()
    repairs: tuple[Repair, ...] = ()
    separator: str = ","


def read_mapping(path: str | Path) -> ColumnMapping:
    """Return the mapping that a TOML file states; raises `study.DataError` with every fault."""
    try:
        stated = tomllib.loads(study.read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise study.DataError(f"{path}: not valid TOML: {error}") from None
    mapping = study.structure(ColumnMapping, stated, where=str(path))
    known = study.TABLES["readings"].names
    faults = [f"columns: {c!r} is missing; expected {', '.join(NEEDED)}" for c in NEEDED if c not in mapping.columns]
    for part, names in (("columns", mapping.columns), ("constants", mapping.constants)):
        faults += [
            f"{part}: {c!r} is not a column of readings; expected {', '.join(known)}" for c in names if c not in known
        ]
    if faults:
        raise study.DataError(f"{path}: {fault}" for fault in faults)
    return mapping


def import_readings(path: str | Path, mapping: ColumnMapping) -> pd.DataFrame:
    """Return the table `readings` of a long file, one row for each word that a participant read.

    Words are numbered from 0 in the order of the file's positions within each sentence, so that a position which the
    file skips leaves no gap. What the file does not hold stays empty and is named on the log.
    """
    source = study.read_csv(path, mapping.separator)
    _check_columns(path, source, mapping)
    source = _repair(path, source, mapping)
    rows = pd.DataFrame({ours: source[theirs] for ours, theirs in mapping.columns.items()})
    for column, value in {**STANDARD, **mapping.constants}.items():
        if column not in rows:
            rows[column] = value
    rows["session"] = rows.get("session", rows["participant"])
    rows["word"] = _renumbered(path, rows)
    if "trial" not in rows:
        keys = rows[["item", "condition"]].agg("\t".join, axis=1)
        rows["trial"] = keys.groupby(rows["session"]).transform(lambda k: pd.factorize(k)[0])
        log.info("%s: holds no trial; trials are numbered in the order of the file, perhaps not as presented", path)
    rows["region"] = _regions(source, mapping) if "region" not in rows else rows["region"]
    absent = [c.name for c in study.TABLES["readings"].columns if c.name not in rows]
    for column in absent:
        rows[column] = None
    if absent:
        log.info("%s: holds no %s; these cells stay empty", path, ", ".join(absent))
    return study.check(rows[study.TABLES["readings"].names], "readings", where=str(path))


def _check_columns(path: str | Path, source: pd.DataFrame, mapping: ColumnMapping) -> None:
    named = {*mapping.columns.values()}
    for rule in mapping.regions:
        named |= {*rule.where}
    for repair in mapping.repairs:
        named |= {*repair.where, *repair.set}
    there = list(source.columns)
    faults = [f"column {c!r} is missing; the file has {', '.join(there)}" for c in sorted(named - {*there})]
    faults += [
        f"column {c!r} is there {there.count(c)} times; expected once" for c in sorted(named) if there.count(c) > 1
    ]
    if faults:
        raise study.DataError(f"{path}: {fault}" for fault in faults)


def _repair(path: str | Path, source: pd.DataFrame, mapping: ColumnMapping) -> pd.DataFrame:
    source = source.copy()
    for repair in mapping.repairs:
        rows = _matching(source, repair.where)
        for column, value in repair.set.items():
            source.loc[rows, column] = value
        log.info("%s: repaired %d rows where %s: %s", path, rows.sum(), repair.where, repair.reason)
    return source


def _matching(source: pd.DataFrame, where: dict[str, str]) -> "pd.Series[bool]":
    rows = pd.Series(True, index=source.index)
    for column, value in where.items():
        rows &= source[column] == value
    return rows


def _renumbered(path: str | Path, rows: pd.DataFrame) -> "pd.Series[int]":
    positions = pd.to_numeric(rows["word"], errors="coerce")
    if positions.isna().any():
        line = int(positions.index[positions.isna()][0]) + 2
        raise study.DataError(
            f"{path}, line {line}: word {rows['word'].iloc[line - 2]!r} is not a position; expected a number"
        )
    sentence = [rows["session"], rows["item"], rows["condition"]]
    twice = pd.concat([*sentence, positions], axis=1).duplicated()
    if twice.any():
        line = int(twice.index[twice][0]) + 2
        raise study.DataError(
            f"{path}, line {line}: participant {rows['participant'].iloc[line - 2]} reads position {positions.iloc[line - 2]:g} of "
            f"item {rows['item'].iloc[line - 2]} a second time; correct the file, or declare a repair in the mapping"
        )
    ranks = positions.groupby(
        positions.to_frame().assign(s=pd.factorize(pd.MultiIndex.from_arrays(sentence))[0])["s"]
    ).rank()
    return ranks.astype(int) - 1


def _regions(source: pd.DataFrame, mapping: ColumnMapping) -> "pd.Series[str]":
    regions = pd.Series(None, index=source.index, dtype="object")
    for rule in mapping.regions:
        regions[_matching(source, rule.where)] = rule.name
    return regions
