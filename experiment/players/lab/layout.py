"""Where everything on a screen stands: a display becomes marks in pixels, x to the right and y upwards from the middle."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

from gardenpath.study.config import DisplaySection
from gardenpath.study.screens import Answer, Answers, Slider, Whole

from .displays import AnswerDisplay, Blank, Display, Lines, Page, Pair, Word
from .typesetting import Typeface, break_lines

if TYPE_CHECKING:
    from PIL.Image import Image

TEXT_COLOR, HINT_COLOR, LINE_COLOR, BOX_COLOR = "#1c2024", "#5a626b", "#c9ced4", "#ffffff"
BACKGROUND_COLOR, ACCENT_COLOR, FAULT_COLOR = "#f7f7f5", "#1f5f8b", "#a3261b"
LINE_HEIGHT = 1.5  # height of a line, in sizes of its letters
WORD_LINE_HEIGHT = 2.2  # of words that are uncovered one by one, in sizes
MIN_LETTER_SIZE = 10.0  # px


@dataclass(frozen=True)
class TextMark:
    """One line of text: `align` says whether x is its left end, its middle or its right end; y is its middle."""

    text: str
    x: float
    y: float
    size: float
    color: str = TEXT_COLOR
    align: str = "center"


@dataclass(frozen=True)
class BoxMark:
    """A rectangle around (x, y); a click on it is a click on `answer`."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = BOX_COLOR
    border: str | None = LINE_COLOR
    answer: int | None = None


Mark = TextMark | BoxMark


@dataclass(frozen=True)
class Rect:
    """The screen: its size and the size of letters in px, the reading direction, and how wide a text is at a size.

    The words of a pair stand `pair_offset` from the middle, all of them. Sentences on lines have letters of `line_size`, and
    begin where a line of `line_width` would.
    """

    width: float
    height: float
    size: float
    word_size: float
    direction: str
    measure: Callable[[str, float], float]
    pair_offset: float = 0.0
    line_size: float = 0.0
    line_width: float = 0.0

    def build_measure(self, size: float) -> Callable[[str], float]:
        return lambda text: self.measure(text, size)

    @property
    def column_width(self) -> float:
        """Width of a text, which stays when it is written smaller."""
        return min(0.86 * self.width, 42 * _compute_letter_size(self.height))

    @property
    def reading_start(self) -> int:
        """Which way reading begins: -1 at the left, 1 at the right."""
        return 1 if self.direction == "rtl" else -1


@dataclass(frozen=True)
class MarkRow:
    """Marks around y = 0 that take `height` px."""

    height: float
    marks: tuple[Mark, ...] = ()


def fit_rect(
    width: float,
    height: float,
    direction: str,
    words: Sequence[str],
    measure: Callable[[str, float], float],
    paired: Sequence[str] = (),
    sentences: Sequence[Sequence[str]] = (),
    display: DisplaySection | None = None,
) -> Rect:
    """Return a screen on which the widest word fits, the widest of a pair on its half, and the widest line of a sentence: one size
    for the whole session.

    Raises `ValueError` where nobody could read words of that size, or lines would be smaller than the study allows.
    """
    size, display = _compute_letter_size(height), display or DisplaySection()
    word_size = display.font_size or 1.6 * size
    shares = [
        (max(measure(word, word_size), 1.0), share, word) for group, share in ((words, 0.92), (paired, 0.42)) for word in group
    ]
    widest_share, word = max(((wide / (share * width), word) for wide, share, word in shares), default=(0.0, ""))
    fitting_size = word_size / max(widest_share, 1.0)
    if fitting_size < MIN_LETTER_SIZE:
        raise ValueError(
            f"the word {f'{word[:30]}...'!r} has {len(word)} characters: for it to fit, all words would have to be "
            f"{fitting_size:.1f} px high; expected at least {MIN_LETTER_SIZE:.0f}: divide it into words, or use a wider screen"
        )
    widest = max((measure(word, fitting_size) for word in paired), default=0.0)
    line_size, line_width = _fit_line_size(
        width, height, display.font_size or 1.25 * size, sentences, measure, display.min_font_size
    )
    return Rect(width, height, size, fitting_size, direction, measure, widest / 2 + 1.5 * size, line_size, line_width)


def _fit_line_size(
    width: float,
    height: float,
    wanted_size: float,
    sentences: Sequence[Sequence[str]],
    measure: Callable[[str, float], float],
    min_size: float,
) -> tuple[float, float]:
    """Return the size of letters at which all lines of sentences fit, and how wide the widest is then."""
    widths = {line: measure(line, wanted_size) for lines in sentences for line in lines}
    widest = max(widths, key=lambda line: widths[line], default="")
    fitting_width_size = wanted_size * min(1.0, 0.92 * width / max(widths.get(widest, 0.0), 1.0))
    if fitting_width_size < min_size:
        raise ValueError(
            f"the line {f'{widest[:40]}...'!r} has {len(widest)} letters: for it to fit, sentences would have to be "
            f"{fitting_width_size:.1f} px high; expected at least {min_size:g} (procedure.display.min_font_size): use a "
            "wider screen, or a smaller "
            "procedure.display.line_width"
        )
    # What is said below is not reached.
    fitting_height_size = 0.62 * height / (WORD_LINE_HEIGHT * max(map(len, sentences), default=1))
    fitting_size = max(MIN_LETTER_SIZE, min(fitting_width_size, fitting_height_size))
    return fitting_size, measure(widest, fitting_size) if widest else 0.0


def _compute_letter_size(height: float) -> float:
    return min(34.0, max(16.0, height / 34))


def build_marks(display: Display, rect: Rect) -> tuple[Mark, ...]:
    """Return what is drawn; a page that is too high for the screen is written smaller."""
    match display:
        case Word():
            color = HINT_COLOR if display.is_mark else TEXT_COLOR
            return TextMark(display.text, 0, 0, rect.word_size, color), *_build_lower_hint(display.hint, rect)
        case Pair():
            both = ((display.left, -rect.pair_offset), (display.right, rect.pair_offset))
            return *(TextMark(text, x, 0, rect.word_size) for text, x in both), *_build_lower_hint(display.hint, rect)
        case Lines():
            return *_build_lines(display, rect), *_build_lower_hint(display.hint, rect)
        case AnswerDisplay() | Blank() if display.progress is not None:
            return *_build_progress_bar(display.progress, rect), *_stack_rows(display, rect)
        case _:
            return tuple(_stack_rows(display, rect))


def draw_picture(marks: Sequence[Mark], face: Typeface) -> tuple["Image", tuple[int, int]]:
    """Return marks as one opaque picture, as large as they need, and where its middle stands on the screen."""
    from PIL import Image, ImageDraw

    ends = [_find_extent(mark, face) for mark in marks] or [(-1.0, -1.0, 1.0, 1.0)]
    left, bottom = (ceil(max(-end[side] for end in ends)) + 2 for side in (0, 1))
    right, top = (ceil(max(end[side] for end in ends)) + 2 for side in (2, 3))
    # Of even size: the middle lies between two pixels, as that of the screen does.
    right, top = right + (left + right) % 2, top + (bottom + top) % 2
    image = Image.new("RGB", (left + right, bottom + top), BACKGROUND_COLOR)
    canvas = ImageDraw.Draw(image)
    for mark in marks:
        x, y = left + mark.x, top - mark.y
        if isinstance(mark, TextMark):
            face.draw_text(canvas, mark.text, (x, y), mark.size, mark.color, mark.align)
        else:
            half = mark.width / 2, mark.height / 2
            corners = [round(one) for one in (x - half[0], y - half[1], x + half[0] - 1, y + half[1] - 1)]
            if corners[2] >= corners[0] and corners[3] >= corners[1]:
                canvas.rectangle(corners, mark.fill, mark.border)
    return image, ((right - left) // 2, (top - bottom) // 2)


def _find_extent(mark: Mark, face: Typeface) -> tuple[float, float, float, float]:
    """Left, lower, right and upper end of a mark, with what letters hang over."""
    if isinstance(mark, BoxMark):
        return mark.x - mark.width / 2, mark.y - mark.height / 2, mark.x + mark.width / 2, mark.y + mark.height / 2
    width, high = face.measure_width(mark.text, mark.size), 1.3 * mark.size
    left = mark.x - width * {"left": 0.0, "center": 0.5, "right": 1.0}[mark.align]
    return left - mark.size, mark.y - high, left + width + mark.size, mark.y + high


def _stack_rows(display: Page | Whole | AnswerDisplay | Blank, rect: Rect) -> Iterator[Mark]:
    """Yield rows one below another, in the middle of the screen."""
    rows = tuple(_build_rows(display, rect))
    height = sum(row.height for row in rows)
    if height > 0.94 * rect.height and rect.size > MIN_LETTER_SIZE:
        yield from _stack_rows(display, replace(rect, size=0.92 * rect.size, word_size=0.92 * rect.word_size))
        return
    top = height / 2
    for row in rows:
        yield from (replace(mark, y=mark.y + top - row.height / 2) for mark in row.marks)
        top -= row.height


def _build_rows(display: Page | Whole | AnswerDisplay | Blank, rect: Rect) -> Iterator[MarkRow]:
    size, column = rect.size, rect.column_width
    match display:
        case Page():
            measure = rect.build_measure(size)
            lines = [line for text in display.paragraphs for line in break_lines(text, column, measure)]
            block = max([rect.measure(display.heading, 1.35 * size), *map(measure, lines)])
            yield from _build_text_rows(display.heading, rect, 1.35 * size, min(block, column), after=0.8)
            for paragraph in display.paragraphs:
                yield from _build_text_rows(paragraph, rect, size, min(block, column), after=0.7)
            if display.answers:
                yield MarkRow(0.6 * size)
                yield from _build_stacked_answers(display.answers, rect, column)
            yield from _build_hint_rows(display.hint, rect, column)
        case Whole():
            yield from _build_text_rows(display.text, rect, 1.2 * size, column, align="block")
            yield from _build_hint_rows(display.hint, rect, column)
        case AnswerDisplay():
            screen = display.screen
            yield from _build_text_rows(getattr(screen.above, "text", ""), rect, 1.2 * size, column, align="block", after=1.6)
            yield from _build_text_rows(screen.prompt, rect, 1.1 * size, column, align="center", after=1.4)
            if isinstance(screen, Slider):
                yield from _build_slider(screen, display.value, rect)
                yield from _build_hint_rows(screen.lab_hint or screen.hint, rect, column)
            elif screen.arrangement == "points":
                yield from _build_points(screen, rect)
            elif {one.side for one in screen.answers} != {"left", "right"}:
                yield from _build_stacked_answers(screen.answers, rect, column)
            else:
                yield from _build_side_by_side_answers(screen.answers, rect)
        case Blank():
            yield from _build_blank(display, rect, column)


def _build_text_rows(
    text: str, rect: Rect, size: float, width: float, *, color: str = TEXT_COLOR, align: str = "start", after: float = 0.0
) -> Iterator[MarkRow]:
    """Yield a text's lines and the space after them: from where reading begins, centred, or as a block in the middle."""
    if not text:
        return
    measure = rect.build_measure(size)
    lines = break_lines(text, width, measure)
    used_width = max(map(measure, lines)) if align == "block" else width
    x = 0.0 if align == "center" else rect.reading_start * used_width / 2
    side = "center" if align == "center" else "right" if rect.reading_start > 0 else "left"
    for line in lines:
        yield MarkRow(LINE_HEIGHT * size, (TextMark(line, x, 0, size, color, side),))
    yield MarkRow(after * size)


def _build_hint_rows(text: str, rect: Rect, width: float) -> Iterator[MarkRow]:
    if text:
        yield MarkRow(1.2 * rect.size)
        yield from _build_text_rows(text, rect, 0.85 * rect.size, width, color=HINT_COLOR, align="center")


def _build_lower_hint(text: str, rect: Rect) -> Iterator[Mark]:
    """Yield what to do, in the lower part of the screen, where it moves no word."""
    size, y = 0.85 * rect.size, -0.34 * rect.height
    for line in break_lines(text, 0.86 * rect.width, rect.build_measure(size)):
        if line:
            yield TextMark(line, 0, y, size, HINT_COLOR)
        y -= LINE_HEIGHT * size


def _build_progress_bar(share: float, rect: Rect) -> Iterator[Mark]:
    y, length = rect.height / 2 - 4, share * rect.width
    yield BoxMark(0, y, rect.width, 8, LINE_COLOR, None)
    yield BoxMark(rect.reading_start * (rect.width - length) / 2, y, length, 8, ACCENT_COLOR, None)


def _build_stacked_answers(answers: Sequence[Answer], rect: Rect, column: float, marked_value: str = "") -> Iterator[MarkRow]:
    """Yield answers one below another, each with its key before it; more than nine stand closer together."""
    inner = min(column, max(rect.measure(one.label, rect.size) for one in answers) + 6 * rect.size)
    margin, gap = (1.0, 0.5 * rect.size) if len(answers) <= 9 else (0.1, 0.0)
    for n, answer in enumerate(answers):
        yield _build_answer_row(answer, n, rect, 0, inner, is_marked=answer.value == marked_value, margin=margin)
        yield MarkRow(gap)


def _build_side_by_side_answers(answers: Sequence[Answer], rect: Rect) -> Iterator[MarkRow]:
    """Yield answers beside each other, each on its side."""
    widest = max(rect.measure(one.label, rect.size) for one in answers) + 6 * rect.size
    width = min(0.43 * rect.width, max(widest, 8 * rect.size))
    gap = width / 2 + 0.6 * rect.size
    rows = [_build_answer_row(one, n, rect, -gap if one.side == "left" else gap, width) for n, one in enumerate(answers)]
    height = max(row.height for row in rows)
    boxes = [replace(mark, height=height) if isinstance(mark, BoxMark) else mark for row in rows for mark in row.marks]
    yield MarkRow(height, tuple(boxes))


def _build_answer_row(
    answer: Answer, n: int, rect: Rect, x: float, width: float, *, is_marked: bool = False, margin: float = 1.0
) -> MarkRow:
    """Return an answer in its box, after the cap of its first key."""
    size, cap = rect.size, answer.keys[0].removeprefix("Key") if answer.keys else ""
    lines = break_lines(answer.label, width - 4.5 * size, rect.build_measure(size))
    height = LINE_HEIGHT * size * len(lines) + margin * size
    box = BoxMark(x, 0, width, height, ACCENT_COLOR if is_marked else BOX_COLOR, ACCENT_COLOR if is_marked else LINE_COLOR, n)
    edge = x + rect.reading_start * (width / 2 - 1.4 * size)
    caps = [TextMark(cap, edge, 0, 0.8 * size, BOX_COLOR if is_marked else ACCENT_COLOR)] if cap else []
    middle = x - rect.reading_start * 0.9 * size
    color = BOX_COLOR if is_marked else TEXT_COLOR
    texts = [
        TextMark(line, middle, (height - margin * size) / 2 - LINE_HEIGHT * size * (k + 0.5), size, color)
        for k, line in enumerate(lines)
    ]
    return MarkRow(height, (box, *caps, *texts))


def _build_points(screen: Answers, rect: Rect) -> Iterator[MarkRow]:
    """Yield the points as the number keys stand, from left to right in every language, and what the ends mean."""
    size, number = rect.size, len(screen.answers)
    step = min(3.2 * size, 0.9 * rect.width / number)
    left = -step * (number - 1) / 2
    boxes: list[Mark] = []
    for n, answer in enumerate(screen.answers):
        boxes += [BoxMark(left + n * step, 0, 0.8 * step, 2.4 * size, answer=n), TextMark(answer.label, left + n * step, 0, size)]
    yield MarkRow(2.4 * size, tuple(boxes))
    yield from _build_end_labels(screen.low, screen.high, rect, left - 0.4 * step)


def _build_end_labels(low: str, high: str, rect: Rect, left: float) -> Iterator[MarkRow]:
    yield MarkRow(0.5 * rect.size)
    size, width = 0.85 * rect.size, max(-0.9 * left, 8 * rect.size)
    ends = [break_lines(text, width, rect.build_measure(size)) for text in (low, high)]
    for n in range(max(map(len, ends))):
        labels = ((ends[0], left, "left"), (ends[1], -left, "right"))
        texts = tuple(TextMark(lines[n], x, 0, size, HINT_COLOR, side) for lines, x, side in labels if n < len(lines))
        yield MarkRow(LINE_HEIGHT * size, texts)


def _build_slider(screen: Slider, value: int | None, rect: Rect) -> Iterator[MarkRow]:
    size, length = rect.size, min(0.7 * rect.width, 30 * rect.size)
    marks = [BoxMark(0, 0, length, 0.35 * size, LINE_COLOR, None, 0)]
    if value is not None:
        share = (value - screen.least) / (screen.most - screen.least)
        marks.append(BoxMark(length * (share - 0.5), 0, 0.7 * size, 1.7 * size, ACCENT_COLOR, None))
    yield MarkRow(2 * size, tuple(marks))
    yield from _build_end_labels(screen.low, screen.high, rect, -length / 2)


def _build_blank(blank: Blank, rect: Rect, column: float) -> Iterator[MarkRow]:
    size = rect.size
    yield from _build_text_rows(blank.heading, rect, 1.35 * size, column, after=0.8)
    yield from _build_text_rows(blank.text_above, rect, 1.2 * size, column, after=0.9)
    yield from _build_text_rows(blank.label, rect, size, column, after=0.7)
    if blank.choices:
        choices = [Answer(one, one, (str(n),) if n <= 9 else ()) for n, one in enumerate(blank.choices, start=1)]
        yield from _build_stacked_answers(choices, rect, column, blank.text)
    else:
        edge, side = rect.reading_start * (column / 2 - 0.6 * size), "right" if rect.reading_start > 0 else "left"
        lines = break_lines(blank.text + "|", column - 1.2 * size, rect.build_measure(size))
        top = LINE_HEIGHT * size * (len(lines) - 1) / 2
        texts = [TextMark(line, edge, top - LINE_HEIGHT * size * k, size, TEXT_COLOR, side) for k, line in enumerate(lines)]
        height = LINE_HEIGHT * size * len(lines) + 0.7 * size
        yield MarkRow(height + 0.2 * size, (BoxMark(0, 0, column, height), *texts))
    yield from _build_text_rows(blank.fault, rect, 0.9 * size, column, color=FAULT_COLOR)
    yield from _build_hint_rows(blank.hint, rect, column)
    yield from _build_text_rows(blank.note, rect, 0.85 * size, column, color=HINT_COLOR, align="center")


# ---------------------------------------------------------------------------------------------------------- lines


def number_line_words(count: int, breaks: Sequence[int]) -> list[list[int]]:
    """Return the words' numbers on each line, of so many words; `breaks` begin a further line.

    >>> number_line_words(5, (2, 4))
    [[0, 1], [2, 3], [4]]
    """
    starts = [0, *(n for n in breaks if 0 < n < count), count]
    return [list(range(*ends)) for ends in pairwise(starts)]


def locate_words(count: int, breaks: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the line of each word, and its position on that line."""
    lines = enumerate(number_line_words(count, breaks))
    return tuple((line, column) for line, numbers in lines for column in range(len(numbers)))


def join_lines(words: Sequence[str], gaps: Sequence[str], breaks: Sequence[int]) -> tuple[str, ...]:
    """Return the text of each line of a sentence."""
    joined = [word + gap for word, gap in zip(words, (*gaps, ""), strict=True)]
    return tuple("".join(joined[n] for n in line[:-1]) + words[line[-1]] for line in number_line_words(len(words), breaks) if line)


def _build_lines(display: Lines, rect: Rect) -> Iterator[Mark]:
    """Yield the words that are seen, and a rule in the place of each that is not."""
    size, lines = rect.line_size, number_line_words(len(display.words), display.breaks)
    measure = rect.build_measure(size)
    spans = [sum(measure(display.words[n]) for n in line) + _measure_gaps(line[:-1], display, measure) for line in lines]
    y = WORD_LINE_HEIGHT / 2 * size * (len(lines) - 1)
    for line in lines:
        x = rect.reading_start * max(rect.line_width, *spans) / 2
        for n in line:
            width = measure(display.words[n])
            middle = x - rect.reading_start * width / 2
            if n == display.visible_word or (display.is_cumulative and n < display.visible_word):
                yield TextMark(display.words[n], middle, y, size)
            else:
                yield BoxMark(middle, y - 0.62 * size, width - 4, 3, LINE_COLOR, None)
            x -= rect.reading_start * (width + _measure_gaps([n], display, measure))
        y -= WORD_LINE_HEIGHT * size


def _measure_gaps(numbers: Sequence[int], display: Lines, measure: Callable[[str], float]) -> float:
    return sum(measure(display.gaps[n]) for n in numbers if n < len(display.gaps) and display.gaps[n])
