"""Whether an answer was right, in the words of other platforms."""

from typing import Any

WORDS = {"true": True, "yes": True, "correct": True, "1": True, "1.0": True}
WORDS |= {"false": False, "no": False, "incorrect": False, "0": False, "0.0": False}


def truth(cell: Any) -> bool | None:
    """Return what a cell says; None where it says neither.

    >>> truth("1"), truth("FALSE"), truth("")
    (True, False, None)
    """
    return WORDS.get(str(cell).strip().lower())
