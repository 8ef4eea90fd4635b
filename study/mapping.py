"""A mapping file: what a researcher states about a platform's or another lab's files, so that odd studies need no code.

[columns]                     # our column = theirs
participant = "subject"
item = "item"
condition = "condition"
word = "word_position"
rt = "rawRT"

# condition = ["relative", "animacy"]   several columns, joined by a point

[roles]                       # what an item or its condition is called, as a regular expression
filler = "F[0-9]+"

[constants]                   # the same in every row
experiment = "E1"
paradigm = "relative_clauses"

[units]                       # ms where not stated
rt = "s"

[[responses]]                   # rows, or cells of a trial's rows, that hold an answer
task = "question"
where = { word_position = "?" }
columns = { response = "word", correct = "correct", rt = "rt" }

[survey]                      # Qualtrics: what the names and the headings of the columns with ratings say
columns = "Q(?P<list>[23])\\.(?P<item>\\d+)_1"
headings = "(?P<paradigm>.+)_(?P<condition>good|bad)"

[demographics]                # question = their column
age = "Q5"

[[regions]]
name = "critical"
where = { condition = "objgap", word_position = "6" }

[[exclude_rows]]              # rows that are no data; each is reported with its number of rows
where = { experiment = "practice" }
reason = "practice sentences"

[[repairs]]                   # what is known to be wrong in the file; each is reported with its number of rows
where = { subject = "40", item = "0" }
set = { item = "9" }
reason = "one row is keyed item 0"
"""

import logging
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from . import config, files
from .errors import DataError
from .schemas import COMPUTED_COLUMN_NAMES, TABLES

log = logging.getLogger("gardenpath")
STRICT_VALIDATION: Any = {"extra": "forbid", "strict": True}
# How many ms one of each unit is.
MS_PER_UNIT = {"ms": 1.0, "s": 1000.0}
# What an answer has of its own; the rest stands where the trial's does.
RESPONSE_COLUMNS = ("task", "prompt", "side", "response", "correct", "outcome", "rt", "rt_first")
# Times, which may have a unit.
TIME_COLUMNS = ("rt", "rt_first", "rt_onset", "duration")
TIME_UNITS = dict.fromkeys(TIME_COLUMNS, tuple(MS_PER_UNIT))
MAPPABLE_COLUMNS = tuple(
    dict.fromkeys(
        [name for table in ("readings", "responses") for name in TABLES[table].column_names if name not in COMPUTED_COLUMN_NAMES]
        + ["started", "finished", "device", "n_readings"]
    )
)
# What the columns of a survey can say.
SURVEY_COLUMNS = ("item", "condition", "paradigm", "role", "list", "experiment", "prompt", "sentence")
Row = dict[str, Any]


@dataclass(frozen=True)
class RegionRule:
    """Rows whose cells equal `where` (their columns) lie in region `name`."""

    __pydantic_config__ = STRICT_VALIDATION
    name: str
    where: dict[str, str]


@dataclass(frozen=True)
class Repair:
    """In rows whose cells equal `where`, put the cells of `set`; the reason is reported."""

    __pydantic_config__ = STRICT_VALIDATION
    where: dict[str, str]
    set: dict[str, str]
    reason: str


@dataclass(frozen=True)
class RowExclusion:
    """Rows whose cells equal `where` are no data; the reason is reported."""

    __pydantic_config__ = STRICT_VALIDATION
    where: dict[str, str]
    reason: str


@dataclass(frozen=True)
class ResponseRule:
    """Where answers stand: in rows of their own, which `where` finds, or, without it, in cells that a trial's rows repeat.

    `columns` says which of theirs are response, correct, rt, side, outcome, rt_first; `prompt` is the task's name where not stated.
    """

    __pydantic_config__ = STRICT_VALIDATION
    columns: dict[str, str]
    task: str = "rating"
    prompt: str | None = None
    where: dict[str, str] = field(default_factory=dict)

    @property
    def prompt_name(self) -> str:
        """The prompt's name."""
        return self.prompt or self.task


@dataclass(frozen=True)
class SurveyRule:
    """A survey's wide matrix: which columns hold ratings, and what their names and headings say, as regular expressions.

    Named groups are what is said: item, condition, paradigm, role, list, experiment, prompt, or the sentence itself. Both have
    to match where both are stated.
    """

    __pydantic_config__ = STRICT_VALIDATION
    columns: str = ".*"
    headings: str | None = None
    task: str = "rating"


@dataclass(frozen=True)
class ColumnMapping:
    """How their columns become ours; `separator` "space" means any run of blanks, `missing_values` what stands for no value.

    `first_word_position` is their number of a sentence's first word; it has to be stated where their smallest is neither 0 nor 1.

    `roles` says by a regular expression for each role what its items, or their conditions, are called. `joined` names columns
    that are made of several of theirs; in a file, [columns] states them: condition = ["relative", "animacy"].
    With `rows_are_means`, a row is a word with its mean reading time over readers.

    `fill_down` names columns of theirs whose empty cells take what the row before has, where only a trial's first row names
    its item.
    """

    __pydantic_config__ = STRICT_VALIDATION
    columns: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    responses: tuple[ResponseRule, ...] = ()
    regions: tuple[RegionRule, ...] = ()
    exclude_rows: tuple[RowExclusion, ...] = ()
    repairs: tuple[Repair, ...] = ()
    survey: SurveyRule | None = None
    demographics: dict[str, str] = field(default_factory=dict)
    fill_down: tuple[str, ...] = ()
    missing_values: tuple[str, ...] = ()
    separator: str = ","
    first_word_position: int | None = None
    rows_are_means: bool = False
    roles: dict[str, str] = field(default_factory=dict)
    joined: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def prepare_rows(self, rows: Iterable[Mapping[str, Any]], where: str) -> list[Row]:
        """Return rows with repairs made, carried cells filled and rows left out, each of it said on the log."""
        prepared_rows = [dict(row) for row in rows]
        columns = {name for row in prepared_rows for name in row}
        named = [name for name in self.columns.values() if name not in self.joined]
        named += [*chain(*self.joined.values()), *self.demographics.values(), *self.fill_down]
        found = [one.where for part in (self.responses, self.regions, self.exclude_rows, self.repairs) for one in part]
        named += [*chain(*found), *chain(*(rule.columns.values() for rule in self.responses))]
        if absent := [name for name in dict.fromkeys(named) if name not in columns]:
            log.warning("%s: has no column %s, which the mapping names", where, ", ".join(map(repr, absent)))
        for repair in self.repairs:
            repaired = [row for row in prepared_rows if is_matching_row(row, repair.where)]
            for row in repaired:
                row.update(repair.set)
            log_repair = log.info if repaired else log.warning
            log_repair("%s: repaired %d rows where %s: %s", where, len(repaired), repair.where, repair.reason)
        for column in self.fill_down:
            before: Any = None
            for row in prepared_rows:
                if is_empty_cell(row.get(column)):
                    row[column] = before
                before = row[column]
        for rule in self.exclude_rows:
            kept = [row for row in prepared_rows if not is_matching_row(row, rule.where)]
            log.info("%s: left out %d rows where %s: %s", where, len(prepared_rows) - len(kept), rule.where, rule.reason)
            prepared_rows = kept
        for row in prepared_rows if self.joined else ():
            for name, parts in self.joined.items():
                cells = [row.get(part) for part in parts]
                row[name] = None if any(map(self.is_missing, cells)) else ".".join(map(format_cell, cells))
        return prepared_rows

    def find_role(self, item: str, condition: str) -> str | None:
        """Return the role that a pattern gives an item."""
        fits = (role for role, pattern in self.roles.items() if any(re.fullmatch(pattern, id) for id in (item, condition)))
        return next(fits, None)

    def get_value(self, row: Mapping[str, Any], column: str, *default_columns: str) -> Any:
        """Return the cell of our column `column`: of the column that the mapping names, its constant, or else of the first
        of their `default_columns` columns that is filled; None where there is none."""
        source_columns = [self.columns[column]] if column in self.columns else [] if column in self.constants else default_columns
        cell = next((row[c] for c in source_columns if c in row and not self.is_missing(row[c])), None)
        return self.constants.get(column) if cell is None else cell

    def get_text(self, row: Mapping[str, Any], column: str, *default_columns: str) -> str | None:
        """Return `get_value` as text."""
        cell = self.get_value(row, column, *default_columns)
        return None if cell is None else format_cell(cell)

    def find_response_rules(self, row: Mapping[str, Any]) -> list[ResponseRule]:
        """Return the rules whose answer a row holds; raises `DataError` where two of them take one column."""
        rules = [
            rule
            for rule in self.responses
            if is_matching_row(row, rule.where) and not self.is_missing(row.get(rule.columns["response"]))
        ]
        for n, rule in enumerate(rules):
            if any(rule.columns["response"] == other.columns["response"] for other in rules[:n]):
                asked = " and ".join(one.prompt_name for one in rules)
                raise DataError(
                    f"[[responses]]: {asked} take column {rule.columns['response']!r} of the same row; one column gives one "
                    "answer: state in which rows ( where = { ... } )"
                )
        return rules

    def extract_response(self, row: Mapping[str, Any], rule: ResponseRule) -> dict[str, Any]:
        """Return the cells that a rule takes of a row, by our names; those without a value are not among them."""
        return {
            column: row[source_column]
            for column, source_column in rule.columns.items()
            if not self.is_missing(row.get(source_column))
        }

    def is_missing(self, cell: Any) -> bool:
        """Return whether a cell holds no value."""
        return is_empty_cell(cell) or (isinstance(cell, (str, int, float)) and format_cell(cell) in self.missing_values)

    def convert_to_ms(self, column: str, value: float) -> float:
        """Return a time of our column `column` in ms, whatever unit the file has it in."""
        return value * MS_PER_UNIT[self.units.get(column, "ms")]


def is_matching_row(row: Mapping[str, Any], where: Mapping[str, str]) -> bool:
    """Return whether the row's cells are these."""
    return all(column in row and format_cell(row[column]) == value for column, value in where.items())


def is_empty_cell(cell: Any) -> bool:
    """Return whether a cell is None, empty text, or a CSV's word for null."""
    return cell is None or cell == "" or cell == "null"


def format_cell(cell: Any) -> str:
    """Return a cell as people write it in a mapping file: text; a whole number without a point.

    >>> format_cell(3.0), format_cell(True), format_cell("a")
    ('3', 'true', 'a')
    """
    if isinstance(cell, bool):
        return str(cell).lower()
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def read_mapping(
    path: str | Path, names: Sequence[str] | None = MAPPABLE_COLUMNS, units: Mapping[str, Sequence[str]] = TIME_UNITS
) -> ColumnMapping:
    """Return the mapping that a TOML file states; raises `study.DataError` with every fault.

    `names` are the columns of ours that there are, None where any may be; `units` those of them that have one, with the units.
    """
    try:
        table = tomllib.loads(files.read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path}: not valid TOML: {error}") from None
    if not table:
        raise DataError(f'{path}: states nothing; expected a mapping, such as  [columns]  with  item = "their name"')
    columns = table.get("columns", {})
    combined_columns = (
        {ours: theirs for ours, theirs in columns.items() if isinstance(theirs, list)} if isinstance(columns, dict) else {}
    )
    if combined_columns:
        # Its own name: no column of a file is called so.
        table["joined"] = {".".join(map(str, theirs)): theirs for theirs in combined_columns.values()}
        table["columns"] = columns | {ours: ".".join(map(str, theirs)) for ours, theirs in combined_columns.items()}
    mapping = config.parse_dataclass(ColumnMapping, table, where=str(path), file_kind="mapping")
    stated = (("columns", mapping.columns), ("constants", mapping.constants)) if names is not None else ()
    faults = [fault for part, of in stated for fault in _find_unknown_columns(part, of, names or ())]
    faults += _find_survey_faults(mapping.survey) if mapping.survey else []
    faults += [
        f"roles: {r!r} is no role; expected one of {', '.join(config.ROLES)}" for r in mapping.roles.keys() - {*config.ROLES}
    ]
    faults += [fault for role, pattern in mapping.roles.items() if (fault := _find_pattern_fault(f"roles.{role}", pattern))]
    faults += _find_unknown_columns("units", mapping.units, [*units])
    faults += [
        f"units.{column}: {unit!r} is not a unit; expected {' or '.join(units[column])}"
        for column, unit in mapping.units.items()
        if column in units and unit not in units[column]
    ]
    for rule in mapping.responses:
        faults += _find_unknown_columns("answers.columns", rule.columns, RESPONSE_COLUMNS)
        if "response" not in rule.columns:
            faults.append(
                f"answers: the {rule.task} has no column for its response; expected  columns = {{ response = ... }} (where a file "
                "says no more than whether it was right, that column for response and correct)"
            )
    if faults:
        raise DataError(f"{path}: {fault}" for fault in faults)
    return mapping


def _find_survey_faults(rule: SurveyRule) -> list[str]:
    faults = []
    for name, pattern in (("survey.columns", rule.columns), ("survey.headings", rule.headings or "")):
        if fault := _find_pattern_fault(name, pattern):
            faults.append(fault)
        else:
            faults += _find_unknown_columns(name, re.compile(pattern).groupindex, SURVEY_COLUMNS)
    return faults


def _find_pattern_fault(name: str, pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except re.error as error:
        return f"{name}: {pattern!r} is not a regular expression: {error}"
    return None


def _find_unknown_columns(part: str, names: Iterable[str], known: Sequence[str]) -> list[str]:
    return [f"{part}: {name!r} is not a column of gardenpath; expected {', '.join(known)}" for name in names if name not in known]
