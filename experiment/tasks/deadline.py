"""Answers that count only within a time (speeded judgment)."""

from ..texts.standard_texts import Texts

MIN_DEADLINE_MS = 100  # ms
# Languages that write 1.5 for one and a half; most others write 1,5.
DECIMAL_POINT_LANGUAGES = ("ar", "en", "he", "hi", "ja", "ko", "th", "zh")


def check_deadline(deadline: float | None) -> None:
    """Raise `ValueError` where nobody could answer in time."""
    if deadline is not None and deadline < MIN_DEADLINE_MS:
        raise ValueError(f"deadline is {deadline:g}; expected ms, {MIN_DEADLINE_MS} or more")


def write_speed_paragraph(deadline: float | None, texts: Texts) -> str:
    """Return the paragraph that asks to be quick, after an empty line; nothing without a deadline."""
    if deadline is None:
        return ""
    seconds = f"{deadline / 1000:g}".replace(".", "." if texts.language.partition("-")[0] in DECIMAL_POINT_LANGUAGES else ",")
    return "\n\n" + str(texts["deadline"]["quick"]).replace("{seconds}", seconds)
