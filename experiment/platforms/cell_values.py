"""What the cells of other platforms' files say: numbers, whether an answer was right, and which of them name a person."""

import logging
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

log = logging.getLogger("gardenpath")

BOOLEAN_WORDS = {"true": True, "yes": True, "correct": True, "1": True, "1.0": True}
BOOLEAN_WORDS |= {"false": False, "no": False, "incorrect": False, "0": False, "0.0": False}


def strip_cells(lines: Iterable[Sequence[Any]], where: str) -> list[list[Any]]:
    """Return the lines of a table, heading first, without the blanks around their texts; where rows had some is said.

    >>> strip_cells([["item", " participant"], ["1", "anna"]], "a.csv")
    [['item', 'participant'], ['1', 'anna']]
    """
    stripped_lines, blanks = [], []
    for n, line in enumerate(lines):
        cells = [cell.strip() if isinstance(cell, str) else cell for cell in line]
        blanks += [old for old, new in zip(line, cells, strict=True) if n and old != new and new != ""]
        stripped_lines.append(cells)
    if blanks:
        log.info("%s: blanks around the texts of %d cells are left off, the first is %r", where, len(blanks), blanks[0][:60])
    return stripped_lines


def parse_boolean(cell: Any) -> bool | None:
    """Return what a cell says; None where it says neither.

    >>> parse_boolean("1"), parse_boolean("FALSE"), parse_boolean("")
    (True, False, None)
    """
    return BOOLEAN_WORDS.get(str(cell).strip().lower())


def parse_number(cell: Any) -> float | None:
    """Return the finite number that a cell holds; None where it holds none.

    >>> parse_number("3.5"), parse_number("nan"), parse_number(None), parse_number(["x"])
    (3.5, None, None, None)
    """
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


PARTICIPANT_WORDS = "participant|prolific|subject|worker|mturk|sona"
IDENTIFIER_FIELD = re.compile(
    rf"(?:^|[\W_])(?i:p?id)(?![a-z])|(?<=[a-z])P?I[dD](?![a-z])|(?i:^(?:{PARTICIPANT_WORDS})[\W_]?(?:p?id|code|number|name)?$|^e-?mail|^name$)"
)
PROLIFIC_ID = re.compile(r"[0-9a-f]{24}")


def is_identifying(field: str, answer: str = "") -> bool:
    """Return whether a field holds an id, or another thing by which people are known, as its name or the answer says.

    >>> [is_identifying(field) for field in ("inputID", "prolific_pid", "E-mail", "paid", "home")]
    [True, True, True, False, False]
    """
    return bool(IDENTIFIER_FIELD.search(field) or PROLIFIC_ID.fullmatch(answer))
