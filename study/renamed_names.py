"""Names that studies, tables and command lines had before (renamed.csv), and the messages that name the new ones."""

import csv
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from .schemas import TABLES

# The kinds of names: what they are together, and what `Renaming.where` says of one.
KINDS: Mapping[str, tuple[str, str]] = {
    "key": ("Keys of files", "file and section"),
    "option": ("Options", "command"),
    "command": ("Commands", ""),
    "table": ("Tables", ""),
    "column": ("Columns of tables", "table"),
    "statistic": ("Statistics in rules", "file"),
    "free column": ("Free columns of items", "file"),
    "log": ("Keys of logs", "file"),
    "folder": ("Folders", "of"),
    "label": ("Labels", "of"),
}


@dataclass(frozen=True)
class Renaming:
    """A name that is no longer used: `where` is the file and section of a key, the command of an option, the table of a column.

    A section may hold `*` for any name, and end with `[key=value]`: only such tables have the key. A table whose rows stand in
    others now has these, and behind a comma which rows they are.
    """

    kind: str
    where: str
    old: str
    new: str

    @property
    def new_tables(self) -> tuple[str, ...]:
        """The tables that have the rows of a table now.

        >>> Renaming("table", "", "simple_effects", "effects and models, where kind is simple effect").new_tables
        ('effects', 'models')
        """
        return tuple(self.new.partition(",")[0].split(" and "))


@functools.cache
def read_renamings(kind: str) -> tuple[Renaming, ...]:
    """Return the renamings of one of `KINDS`.

    >>> [renaming.new for renaming in read_renamings("key") if renaming.old == "smallest"]
    ['sesoi']
    """
    text = (files("gardenpath.study") / "renamed.csv").read_text("utf-8")
    return tuple(renaming for row in csv.DictReader(text.splitlines()) if (renaming := Renaming(**row)).kind == kind)


def find_new_name(kind: str, where: str, old: str) -> str | None:
    """Return what a name is called now, None where it was not renamed; `where` as `Renaming` has it.

    >>> find_new_name("option", "design", "--despite-errors")
    '--ignore-errors'
    """
    return next((one.new for one in read_renamings(kind) if (one.where, one.old) == (where, old)), None)


def describe_renamed_table(renaming: Renaming, path: Path) -> str:
    """Return the line on a file of a table with its old name, which is refused.

    >>> describe_renamed_table(Renaming("table", "", "coverage", "judgment_counts"), Path("coverage.csv"))
    'coverage.csv: the table coverage is now judgment_counts; name the file judgment_counts.csv'
    """
    is_same_table = renaming.new_tables == (renaming.new,)
    producer = TABLES[renaming.new_tables[0]].producer
    again = f"run  gardenpath {'analyse' if producer is None else producer.command}  again"
    what_to_do = f"name the file {renaming.new}{path.suffix}" if is_same_table else again
    return f"{path}: the table {renaming.old} is now {renaming.new}; {what_to_do}"


def describe_renamed_keys(content: Mapping[str, Any], file_kind: str) -> list[str]:
    """Return a line for each key that a file of a kind (study.toml, norm.toml ...) has under its old name.

    Of a key whose old name is one of today's with another meaning, only a table is the old one.

    >>> describe_renamed_keys({"analysis": {"smallest": {"z": 0.2}}}, "study.toml")
    ["key 'analysis.smallest' is now 'analysis.sesoi'"]
    """
    keys = read_renamings("key")
    reused = {(one.where, one.new) for one in keys}
    lines = []
    for renaming in keys:
        name, _, section = renaming.where.partition(" ")
        if name != file_kind:
            continue
        section, _, condition = section.rstrip("]").partition("[")
        key, _, expected = condition.partition("=")
        for path, table in _find_sections(content, section.split(".") if section else []):
            value = table.get(renaming.old)
            if renaming.old not in table or (key and table.get(key) != expected):
                continue
            if (renaming.where, renaming.old) in reused and not isinstance(value, Mapping):
                continue
            new_path = [*_rename_sections(path, file_kind), renaming.new]
            new = renaming.new if " " in renaming.new else repr(".".join(new_path))
            lines.append(f"key {'.'.join([*path, renaming.old])!r} is now {new}")
    return lines


def _rename_sections(path: Sequence[str], file_kind: str) -> Iterator[str]:
    """Yield the sections of a path under their new names."""
    for n, name in enumerate(path):
        new = find_new_name("key", " ".join([file_kind, ".".join(path[:n])]).strip(), name)
        yield name if new is None or " " in new else new


def _find_sections(
    content: object, parts: list[str], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield the tables at a path of keys, with the path as it is; `*` is any key, and lists of tables are gone through."""
    if isinstance(content, list):
        for number, entry in enumerate(content):
            yield from _find_sections(entry, parts, (*path, str(number)))
    elif isinstance(content, Mapping):
        if not parts:
            yield path, content
        for name, value in content.items():
            if parts and parts[0] in (name, "*"):
                yield from _find_sections(value, parts[1:], (*path, name))
