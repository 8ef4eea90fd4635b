"""How text is written: broken into lines, in a font that has its characters, and drawn with the marks and joins of its script.

PsychoPy's own text leaves out every mark that stands on another letter, such as Arabic and Hebrew vowels; Pillow's does not,
where it has Raqm and FriBiDi.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from gardenpath import study

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

OPENING_PUNCTUATION = "（「『《〈【〔“‘"
CLOSING_PUNCTUATION = "）」』》〉】〕”’、。，．：；？！…ー"
IDEOGRAPHS = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
# What stays together on a line: a word, or one character of a script that is written without spaces.
LINE_UNIT = re.compile(
    rf"\s*(?:[{OPENING_PUNCTUATION}]*[{IDEOGRAPHS}][{CLOSING_PUNCTUATION}]*|[{OPENING_PUNCTUATION}]*[^\s{IDEOGRAPHS}{OPENING_PUNCTUATION}]+[{CLOSING_PUNCTUATION}]*|[{OPENING_PUNCTUATION}]+)"
)
RIGHT_TO_LEFT_CLASSES = ("R", "AL")

# Tried first, by language; then every font of the machine. A Chinese text is not to be drawn with Japanese forms.
PREFERRED_FONTS = {
    "ar": ("Noto Naskh Arabic", "Noto Sans Arabic", "Segoe UI", "Geeza Pro", "DejaVu Sans"),
    "he": ("Noto Sans Hebrew", "Segoe UI", "Arial Hebrew", "DejaVu Sans"),
    "ja": ("Noto Sans CJK JP", "Noto Sans JP", "Yu Gothic", "Hiragino Sans", "IPAGothic", "WenQuanYi Micro Hei"),
    "ko": ("Noto Sans CJK KR", "Noto Sans KR", "Malgun Gothic", "Apple SD Gothic Neo", "UnDotum"),
    "zh": ("Noto Sans CJK SC", "Noto Sans SC", "Microsoft YaHei", "PingFang SC", "WenQuanYi Micro Hei"),
}  # fmt: skip
UPRIGHT_STYLES = ("Book", "Normal", "Regular", "Roman")
FALLBACK_FONTS = ("Noto Sans", "Segoe UI", "Helvetica Neue", "Arial", "DejaVu Sans")


def break_lines(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Return the lines of a text that are no wider than `width`; a word that is wider goes on in the next line.

    >>> break_lines("one two three", 8, len)
    ['one two', 'three']
    >>> break_lines("我们昨天看了电影。", 4, len)
    ['我们昨天', '看了电', '影。']
    >>> break_lines("an interminable word", 7, len)
    ['an', 'intermi', 'nable', 'word']
    """
    lines = [""]
    for unit in LINE_UNIT.findall(re.sub(r"\s+", " ", text)):
        if lines[-1] and measure(lines[-1] + unit) > width:
            lines.append("")
        lines[-1] += unit if lines[-1] else unit.lstrip()
        while (end := _count_fitting_characters(lines[-1], width, measure)) < len(lines[-1]):
            lines[-1:] = [lines[-1][:end], lines[-1][end:]]
    return lines


def _count_fitting_characters(line: str, width: float, measure: Callable[[str], float]) -> int:
    """Return how many characters of a line fit: one at least, and a mark stays with its letter."""
    if measure(line) <= width:
        return len(line)
    ends = [n for n in range(1, len(line)) if not unicodedata.category(line[n]).startswith("M")]
    return max((n for n in ends if measure(line[:n]) <= width), default=min(ends, default=len(line)))


@dataclass(frozen=True)
class Typeface:
    """A font for the texts of one study. `has_shaping`: letters are joined and marks set by Raqm; else as far as characters go."""

    family: str
    path: str
    index: int
    language: str
    direction: str
    has_shaping: bool

    def measure_width(self, text: str, size: float) -> float:
        """Return how wide a text is at a size, px."""
        drawn, direction = self._prepare_text(text)
        return float(_load_font(self, round(size)).getlength(drawn, direction=direction, language=self._get_shaping_language()))

    def draw_text(self, canvas: "ImageDraw", text: str, point: tuple[float, float], size: float, color: str, align: str) -> None:
        """Write a line: `point` is its left end, middle or right end, half as high as its small letters.

        The baseline is at the same height whatever letters there are.
        """
        drawn, direction = self._prepare_text(text)
        anchor = {"left": "ls", "center": "ms", "right": "rs"}[align]
        baseline_point = round(point[0]), round(point[1] + 0.33 * size)
        font = _load_font(self, round(size))
        canvas.text(baseline_point, drawn, color, font, anchor, direction=direction, language=self._get_shaping_language())

    def _prepare_text(self, text: str) -> tuple[str, str | None]:
        """Return what is given to Pillow, and from where it is to read that."""
        direction = "rtl" if self.direction == "rtl" and _is_right_to_left(text) else "ltr"
        return (text, direction) if self.has_shaping else (order_visually(text, direction), None)

    def _get_shaping_language(self) -> str | None:
        return self.language if self.has_shaping else None


@cache
def _load_font(face: Typeface, size: int) -> "FreeTypeFont":
    from PIL import ImageFont

    layout = ImageFont.Layout.RAQM if face.has_shaping else ImageFont.Layout.BASIC
    return ImageFont.truetype(face.path, size, face.index, layout_engine=layout)


def _is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(one) in RIGHT_TO_LEFT_CLASSES for one in text)


def order_visually(text: str, direction: str) -> str:
    """Return one line as it stands from left to right: Arabic letters joined, right-to-left runs turned round.

    >>> order_visually("rusty.", "ltr")
    'rusty.'
    """
    if not _is_right_to_left(text):
        return text
    shaper = study.errors.require("arabic_reshaper", "lab").ArabicReshaper({"delete_harakat": False})
    ordered: str = study.errors.require("bidi", "lab").get_display(
        shaper.reshape(text), base_dir="R" if direction == "rtl" else "L"
    )
    return ordered


def choose_typeface(
    texts: Iterable[str], language: str, direction: str, required: str | None = None, preferred: str | None = None
) -> Typeface:
    """Return a font that can draw these texts; raises `ValueError` where this machine has none.

    `required` is one that it has to be; the first of those that the study has `preferred` is taken before others.
    """
    from PIL import features

    texts = [unicodedata.normalize("NFC", text) for text in texts]
    has_shaping = bool(features.check("raqm"))
    if not has_shaping and (marked := next((text for text in texts if _needs_shaping(text)), None)):
        raise ValueError(
            f"{marked[:40]!r} has marks that cannot be set without FriBiDi; install it (Debian: libfribidi0; macOS: brew install "
            "fribidi; Windows: fribidi.dll beside python.exe)"
        )
    characters = "".join(texts if has_shaping else [order_visually(text, direction) for text in texts])
    family = choose_font([characters], language, required, preferred)
    path, index, _ = _list_fonts()[family]
    return Typeface(family, path, index, language, direction, has_shaping)


def _needs_shaping(text: str) -> bool:
    """Whether characters stand on others, or change with those beside them in ways that no character of its own shows."""
    return any(unicodedata.combining(one) or unicodedata.category(one) in ("Mn", "Mc") for one in text)


def choose_font(texts: Iterable[str], language: str, required: str | None = None, preferred: str | None = None) -> str:
    """Return the family of a font that has every character of these texts as drawn; raises `ValueError` where none does."""
    needed = {ord(one) for text in texts for one in text if unicodedata.category(one)[0] not in "ZC"}
    fonts = _list_fonts()
    if required is not None and required not in fonts:
        raise ValueError(f"--font {required}: there is no such font; expected the family of one that is installed")
    first = [name.strip(" \"'") for name in (preferred or "").split(",")]
    candidates = (*first, *PREFERRED_FONTS.get(language.partition("-")[0], ()), *FALLBACK_FONTS, *sorted(fonts))
    missing = needed
    for family in [required] if required else [family for family in candidates if family in fonts]:
        absent = needed - fonts[family][2]
        if not absent:
            return family
        missing = min(missing, absent, key=len)
    examples = " ".join(chr(code) for code in sorted(missing)[:10])
    raise ValueError(
        f"{f'--font {required}: it lacks' if required else 'every font of this machine lacks'} characters of the study, such as "
        f"{examples}; "
        "install a font that has them (Debian: fonts-noto-core, fonts-noto-cjk), or name one with --font"
    )


@cache
def _list_fonts() -> dict[str, tuple[str, int, Set[int]]]:
    """File, number in the file and characters of each family of fonts on this machine: its upright face of usual weight."""
    return {family: (path, index, codes) for family, path, index, codes in _find_faces()}


def _find_faces() -> Iterator[tuple[str, str, int, Set[int]]]:
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    for path in sorted(font_manager.findSystemFonts()):
        # Before matplotlib 3.11 only the first font of a collection can be seen.
        faces = [first := FT2Font(path)]
        faces += [FT2Font(path, face_index=n) for n in range(1, getattr(first, "num_faces", 1))]
        for index, face in enumerate(faces):
            if face.style_name in UPRIGHT_STYLES:
                yield face.family_name, path, index, face.get_charmap().keys()
