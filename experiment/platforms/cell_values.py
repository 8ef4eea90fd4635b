"""What the cells of other platforms' files say: numbers, whether an answer was right, and which of them name a person."""

import logging
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

log = logging.getLogger("gardenpath")

WORDS = {"true": True, "yes": True, "correct": True, "1": True, "1.0": True}
WORDS |= {"false": False, "no": False, "incorrect": False, "0": False, "0.0": False}


def stripped(lines: Iterable[Sequence[Any]], where: str) -> list[list[Any]]:
    """Return the lines of a table, heading first, without the blanks around their texts; where rows had some is said.

    >>> stripped([["item", " participant"], ["1", "anna"]], "a.csv")
    [['item', 'participant'], ['1', 'anna']]
    """
    bare, blanks = [], []
    for n, line in enumerate(lines):
        cells = [cell.strip() if isinstance(cell, str) else cell for cell in line]
        blanks += [old for old, new in zip(line, cells, strict=True) if n and old != new and new != ""]
        bare.append(cells)
    if blanks:
        log.info(
            "%s: blanks around the texts of %d cells are left off, the first is %r", where, len(blanks), blanks[0][:60]
        )
    return bare


def truth(cell: Any) -> bool | None:
    """Return what a cell says; None where it says neither.

    >>> truth("1"), truth("FALSE"), truth("")
    (True, False, None)
    """
    return WORDS.get(str(cell).strip().lower())


def as_number(cell: Any) -> float | None:
    """Return the finite number that a cell holds; None where it holds none.

    >>> as_number("3.5"), as_number("nan"), as_number(None), as_number(["x"])
    (3.5, None, None, None)
    """
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


PEOPLE = "participant|prolific|subject|worker|mturk|sona"
PERSON = re.compile(
    rf"(?:^|[\W_])(?i:p?id)(?![a-z])|(?<=[a-z])P?I[dD](?![a-z])|(?i:^(?:{PEOPLE})[\W_]?(?:p?id|code|number|name)?$|^e-?mail|^name$)"
)
PROLIFIC = re.compile(r"[0-9a-f]{24}")


def names_person(field: str, answer: str = "") -> bool:
    """Return whether a field holds an id, or another thing by which people are known, as its name or the answer says.

    >>> [names_person(field) for field in ("inputID", "prolific_pid", "E-mail", "paid", "home")]
    [True, True, True, False, False]
    """
    return bool(PERSON.search(field) or PROLIFIC.fullmatch(answer))
