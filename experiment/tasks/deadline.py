"""Answers that count only within a time (speeded judgment)."""

from ..standard_texts import Texts

LEAST = 100  # ms
# Languages that write 1.5 for one and a half; most others write 1,5.
POINT = ("ar", "en", "he", "hi", "ja", "ko", "th", "zh")


def check(deadline: float | None) -> None:
    """Raise `ValueError` where nobody could answer in time."""
    if deadline is not None and deadline < LEAST:
        raise ValueError(f"deadline is {deadline:g}; expected ms, {LEAST} or more")


def quick(deadline: float | None, texts: Texts) -> str:
    """Return the paragraph that asks to be quick, after an empty line; nothing without a deadline."""
    if deadline is None:
        return ""
    seconds = f"{deadline / 1000:g}".replace(".", "." if texts.language.partition("-")[0] in POINT else ",")
    return "\n\n" + str(texts["deadline"]["quick"]).replace("{seconds}", seconds)
