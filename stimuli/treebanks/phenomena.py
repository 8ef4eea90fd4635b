"""What agrees with a subject, in which feature."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Phenomenon:
    """What agrees with the subject: in which feature, and whether it is a participle or a finite word."""

    feature: str
    is_participle: bool


PHENOMENA: Mapping[str, Phenomenon] = {
    "sv-number": Phenomenon("Number", False),
    "sv-person": Phenomenon("Person", False),
    "sv-gender": Phenomenon("Gender", False),
    "sp-number": Phenomenon("Number", True),
    "sp-gender": Phenomenon("Gender", True),
}


def order_phenomena(phenomena: Iterable[str]) -> list[str]:
    """Return phenomena in our order; none given are all. Raises `ValueError` for one that is not known."""
    given = [*phenomena]
    for name in given:
        if name not in PHENOMENA:
            raise ValueError(f"phenomenon {name!r} is not known; expected one of {', '.join(PHENOMENA)}")
    return [name for name in PHENOMENA if name in given or not given]
