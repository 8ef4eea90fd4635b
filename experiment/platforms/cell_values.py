"""What the cells of other platforms' files say: numbers, and whether an answer was right."""

import math
from typing import Any

WORDS = {"true": True, "yes": True, "correct": True, "1": True, "1.0": True}
WORDS |= {"false": False, "no": False, "incorrect": False, "0": False, "0.0": False}


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
