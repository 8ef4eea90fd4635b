"""Answers that count only within a time (speeded judgment)."""

from ..standard_texts import standard_texts

LEAST = 100  # ms
COMMA = ("de", "nl", "tr")  # languages that write 1,5 for one and a half


def check(deadline: float | None) -> None:
    """Raise `ValueError` where nobody could answer in time."""
    if deadline is not None and deadline < LEAST:
        raise ValueError(f"deadline is {deadline:g}; expected ms, {LEAST} or more")


def quick(deadline: float | None, language: str) -> str:
    """Return the paragraph that asks to be quick, after an empty line; nothing without a deadline."""
    if deadline is None:
        return ""
    seconds = f"{deadline / 1000:g}".replace(".", "," if language.partition("-")[0] in COMMA else ".")
    return "\n\n" + str(standard_texts("deadline", language)["quick"]).replace("{seconds}", seconds)
