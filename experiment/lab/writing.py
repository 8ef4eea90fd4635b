"""How text is written on a screen that draws characters from left to right: joined, ordered, broken into lines, in a font."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Set

OPENING = "（「『《〈【〔“‘"
CLOSING = "）」』》〉】〕”’、。，．：；？！…ー"
IDEOGRAPHS = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
# What stays together on a line: a word, or one character of a script that is written without spaces.
UNIT = re.compile(
    rf"\s*(?:[{OPENING}]*[{IDEOGRAPHS}][{CLOSING}]*|[{OPENING}]*[^\s{IDEOGRAPHS}{OPENING}]+[{CLOSING}]*|[{OPENING}]+)"
)
RIGHT_TO_LEFT = ("R", "AL")

# Tried first, by language; then every font of the machine. A Chinese text is not to be drawn with Japanese forms.
PREFERRED = {
    "ar": ("Noto Naskh Arabic", "Noto Sans Arabic", "Segoe UI", "Geeza Pro", "DejaVu Sans"),
    "he": ("Noto Sans Hebrew", "Segoe UI", "Arial Hebrew", "DejaVu Sans"),
    "ja": ("Noto Sans CJK JP", "Noto Sans JP", "Yu Gothic", "Hiragino Sans", "IPAGothic", "Droid Sans Fallback"),
    "ko": ("Noto Sans CJK KR", "Noto Sans KR", "Malgun Gothic", "Apple SD Gothic Neo", "Droid Sans Fallback"),
    "zh": ("Noto Sans CJK SC", "Noto Sans SC", "Microsoft YaHei", "PingFang SC", "WenQuanYi Zen Hei", "Droid Sans Fallback"),
}  # fmt: skip
UPRIGHT = ("Book", "Normal", "Regular", "Roman")
USUAL = ("Noto Sans", "Segoe UI", "Helvetica Neue", "Arial", "DejaVu Sans")


def broken(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Return the lines of a text that are no wider than `width`, but for a single word that is.

    >>> broken("one two three", 8, len)
    ['one two', 'three']
    >>> broken("我们昨天看了电影。", 4, len)
    ['我们昨天', '看了电', '影。']
    """
    lines = [""]
    for unit in UNIT.findall(re.sub(r"\s+", " ", text)):
        if lines[-1] and measure(lines[-1] + unit) > width:
            lines.append("")
        lines[-1] += unit if lines[-1] else unit.lstrip()
    return lines


def visual(text: str, direction: str) -> str:
    """Return one line of text as it is drawn from left to right: Arabic letters joined, right-to-left runs turned round.

    >>> visual("rusty.", "ltr")
    'rusty.'
    """
    if not any(unicodedata.bidirectional(one) in RIGHT_TO_LEFT for one in text):
        return text
    from gardenpath import study

    reshaped = study.require("arabic_reshaper", "lab").reshape(text)
    ordered: str = study.require("bidi", "lab").get_display(reshaped, base_dir="R" if direction == "rtl" else "L")
    return ordered


def font_for(texts: Iterable[str], language: str, wanted: str | None = None) -> str:
    """Return the family of a font that has every character of these texts as drawn; raises `ValueError` where none does."""
    needed = {ord(one) for text in texts for one in text if unicodedata.category(one)[0] not in "ZC"}
    fonts = _fonts()
    if wanted is not None and wanted not in fonts:
        raise ValueError(f"--font {wanted}: there is no such font; expected the family of one that is installed")
    usual = (*PREFERRED.get(language.partition("-")[0], ()), *USUAL, *sorted(fonts))
    missing = needed
    for family in [wanted] if wanted else [family for family in usual if family in fonts]:
        lacks = needed - fonts[family]
        if not lacks:
            return family
        missing = min(missing, lacks, key=len)
    shown = " ".join(chr(code) for code in sorted(missing)[:10])
    raise ValueError(
        f"{f'--font {wanted}: it lacks' if wanted else 'every font of this machine lacks'} characters of the study, such as "
        f"{shown}; "
        "install a font that has them (Debian: fonts-noto-core, fonts-noto-cjk), or name one with --font"
    )


def _fonts() -> dict[str, Set[int]]:
    """The characters of each family of fonts on this machine, of its upright face of usual weight."""
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    fonts: dict[str, Set[int]] = {}
    for path in sorted(font_manager.findSystemFonts()):
        # Before matplotlib 3.11 only the first font of a collection can be seen.
        faces = [first := FT2Font(path)]
        faces += [FT2Font(path, face_index=n) for n in range(1, getattr(first, "num_faces", 1))]
        for face in faces:
            if face.style_name in UPRIGHT:
                fonts[face.family_name] = face.get_charmap().keys()
    return fonts
