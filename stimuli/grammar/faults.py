"""Places in grammar files, and faults of them: every fault of a grammar is collected, and all are reported at once."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from gardenpath import study

KEY_PATTERN = re.compile(r"\s*([\w\"'.*-]+)\s*=")


@dataclass(frozen=True, order=True)
class Line:
    """A line of a grammar or a lexicon, as written, and where it stands.

    >>> print(Line("grammar.toml", 12, "V(S, O)"))
    grammar.toml, line 12: V(S, O)
    """

    file: str
    number: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}, line {self.number}" + (f": {self.text}" if self.text else "")


class Fault(ValueError):
    """What is wrong with one piece of notation; where it stands is added by the reader of the file."""


@dataclass
class Faults:
    """The faults found so far, each once; with `raise_all` they become one `DataError`."""

    lines_by_message: dict[str, Line] = field(default_factory=dict)

    def add(self, line: Line, message: str) -> None:
        """Note a fault at that line."""
        self.lines_by_message.setdefault(f"{line.file}, line {line.number}: {message}", line)

    def raise_all(self) -> None:
        """Raise a `DataError` with every fault, by file and line; do nothing where there is none."""
        if self.lines_by_message:
            raise study.DataError(
                sorted(
                    self.lines_by_message, key=lambda text: (self.lines_by_message[text].file, self.lines_by_message[text].number)
                )
            )


def build_unknown_fault(what: str, name: str, known: Iterable[str]) -> Fault:
    """Return the fault of a name that is not known, with the nearest one, or all where none is near.

    >>> print(build_unknown_fault("feature", "numbr", ["number", "gender"]))
    unknown feature 'numbr'; did you mean 'number'?
    """
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=1) or [n for n in names if n.lower() == name.lower()]
    expected = f"did you mean {near[0]!r}?" if near else f"expected {format_choices(names)}"
    return Fault(f"unknown {what} {name!r}; {expected}")


def format_choices(names: Iterable[str], limit: int = 12) -> str:
    """Return names as a message lists them.

    >>> format_choices(["a", "b", "c"])
    'one of a, b, c'
    """
    listed = list(names)
    if not listed:
        return "none, since none is declared"
    more = f" ... ({len(listed)} in all)" if len(listed) > limit else ""
    return f"one of {', '.join(listed[:limit])}{more}" if len(listed) > 1 else listed[0]


class TomlLines:
    """Finds the line of a TOML file on which a key or a text of a table stands; the parser does not keep it.

    >>> TomlLines('language = "en"\\n[paradigm.x]\\ngood = "<S>."\\n').find_line(("paradigm", "x"), "<S>.")
    3
    """

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.tables: list[tuple[tuple[str, ...], int]] = [((), 0)]
        for number, line in enumerate(self.lines):
            if match := re.match(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$", line):
                name = tuple(part.strip().strip("\"'") for part in match[1].split("."))
                self.tables.append((name, number))

    def find_line(self, table: tuple[str, ...], *texts: str) -> int:
        """Return the number of the first line of the table that holds the first text that is found; else its header's."""
        spans = [
            (start, self.tables[n + 1][1] if n + 1 < len(self.tables) else len(self.lines))
            for n, (name, start) in enumerate(self.tables)
            if name[: len(table)] == table
        ]
        for text in texts:
            written = {text, text.replace("\\", "\\\\").replace('"', '\\"')}
            # A key is a whole word: `O` is not in `Obj`.
            whole = rf"(?<![\w*])(?:{'|'.join(map(re.escape, sorted(written)))})(?![\w*])"
            for start, end in spans:
                for number in range(start, end):
                    line = self.lines[number]
                    if any(form in line for form in written) and re.search(whole, line):
                        return number + 1
                    if text in line and not re.match(r"[\w*]+$", text):
                        return number + 1
        return spans[0][0] + 1 if spans else 1


def describe_toml_fault(text: str, error: ValueError) -> str:
    """Return what is wrong with a TOML file, a key or table that stands there twice with both its lines.

    >>> import tomllib
    >>> text = 'n = 1\\n[a]\\ngood = "x"\\ngood = "y"\\n'
    >>> try: tomllib.loads(text)
    ... except tomllib.TOMLDecodeError as error: describe_toml_fault(text, error)
    "lines 3 and 4: key 'good' is there twice; expected it once"
    """
    lines = text.split("\n")
    line_match = re.search(r"at line (\d+)", str(error))
    last = min(int(line_match[1]), len(lines)) if line_match else len(lines)
    if "twice" in str(error):  # a table
        header = lines[last - 1].split("#")[0].strip()
        found = [n for n, line in enumerate(lines, 1) if line.split("#")[0].strip() == header]
        if len(found) > 1:
            return f"lines {found[0]} and {found[1]}: table {header} is there twice; expected it once, or another name"
    elif "inline table key" in str(error):
        key = str(error).split("'")[1]
        return f"line {last}: key {key!r} is there twice in one table; expected it once"
    elif "Cannot overwrite" in str(error):
        keys = [(n, match[1]) for n, line in enumerate(lines[:last], 1) if (match := KEY_PATTERN.match(line))]
        same = [n for n, key in keys if keys and key == keys[-1][1]]
        if len(same) > 1:
            return f"lines {same[-2]} and {same[-1]}: key {keys[-1][1]!r} is there twice; expected it once"
    return f"not valid TOML: {error}"
