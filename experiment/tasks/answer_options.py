"""Answers with their keys and sides, as screens hold them."""

from collections.abc import Sequence

from gardenpath.study.screens import Answer, ResponseValue, Side

# By the place of the key on the keyboard, whatever the layout types there.
KEYS_BY_SIDE: dict[Side, tuple[str, ...]] = {
    "left": ("KeyF", "ArrowLeft"),
    "right": ("KeyJ", "ArrowRight"),
    "upper": ("KeyF", "ArrowUp"),
    "lower": ("KeyJ", "ArrowDown"),
}


def get_sides(direction: str, *, stacked: bool = False) -> tuple[Side, Side]:
    """Return where the first and the second of two answers stand: the first one where reading begins.

    >>> get_sides("rtl"), get_sides("rtl", stacked=True)
    (('right', 'left'), ('upper', 'lower'))
    """
    if stacked:
        return "upper", "lower"
    return ("right", "left") if direction == "rtl" else ("left", "right")


def build_answers(
    labels: Sequence[str], values: Sequence[ResponseValue], direction: str, *, stacked: bool = False
) -> tuple[Answer, ...]:
    """Return an answer for each label: two are given by F and J as they stand, more by their number; numbers always do.

    >>> [(one.keys, one.side) for one in build_answers(["yes", "no"], [1, 0], "ltr")]
    [(('KeyF', 'ArrowLeft', '1'), 'left'), (('KeyJ', 'ArrowRight', '2'), 'right')]
    """
    if len(labels) != 2:
        return tuple(Answer(label, value, (str(n),)) for n, (label, value) in enumerate(zip(labels, values, strict=True), start=1))
    return tuple(
        Answer(label, value, (*KEYS_BY_SIDE[side], str(n)), side)
        for n, (label, value, side) in enumerate(zip(labels, values, get_sides(direction, stacked=stacked), strict=True), 1)
    )


def build_scale_points(number: int) -> tuple[Answer, ...]:
    """Return the points of a scale from 1, each answered by its number on the top row or the keypad."""
    return tuple(Answer(str(n), n, (str(n),)) for n in range(1, number + 1))
