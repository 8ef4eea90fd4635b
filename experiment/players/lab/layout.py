"""Where everything on a screen stands: a display becomes marks in pixels, x to the right and y upwards from the middle."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

from gardenpath.study.config import DisplaySection
from gardenpath.study.screens import Answer, Answers, Slider, Whole

from .displays import Asked, Blank, Display, Lines, Page, Pair, Word
from .typesetting import Typeface, broken

if TYPE_CHECKING:
    from PIL.Image import Image

INK, SOFT, LINE, SHEET = "#1c2024", "#5a626b", "#c9ced4", "#ffffff"
PAPER, ACCENT, WRONG = "#f7f7f5", "#1f5f8b", "#a3261b"
LEADING = 1.5  # height of a line, in sizes of its letters
LINES_APART = 2.2  # of words that are uncovered one by one, in sizes
SMALLEST = 10.0  # px


@dataclass(frozen=True)
class Text:
    """One line of text: `align` says whether x is its left end, its middle or its right end; y is its middle."""

    text: str
    x: float
    y: float
    size: float
    color: str = INK
    align: str = "center"


@dataclass(frozen=True)
class Box:
    """A rectangle around (x, y); a click on it is a click on `answer`."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = SHEET
    border: str | None = LINE
    answer: int | None = None


Mark = Text | Box


@dataclass(frozen=True)
class Room:
    """The screen: its size and the size of letters in px, the reading direction, and how wide a text is at a size.

    The words of a pair stand `apart` from the middle, all of them. Sentences on lines have letters of `line_size`, and begin where
    a line of `line_width` would.
    """

    width: float
    height: float
    size: float
    word_size: float
    direction: str
    measure: Callable[[str, float], float]
    apart: float = 0.0
    line_size: float = 0.0
    line_width: float = 0.0

    def text_width(self, size: float) -> Callable[[str], float]:
        return lambda text: self.measure(text, size)

    @property
    def column(self) -> float:
        """Width of a text, which stays when it is written smaller."""
        return min(0.86 * self.width, 42 * _size(self.height))

    @property
    def start(self) -> int:
        """Which way reading begins: -1 at the left, 1 at the right."""
        return 1 if self.direction == "rtl" else -1


@dataclass(frozen=True)
class Row:
    """Marks around y = 0 that take `height` px."""

    height: float
    marks: tuple[Mark, ...] = ()


def room(
    width: float,
    height: float,
    direction: str,
    words: Sequence[str],
    measure: Callable[[str, float], float],
    paired: Sequence[str] = (),
    sentences: Sequence[Sequence[str]] = (),
    display: DisplaySection | None = None,
) -> Room:
    """Return a screen on which the widest word fits, the widest of a pair on its half, and the widest line of a sentence: one size
    for the whole session.

    Raises `ValueError` where nobody could read words of that size, or lines would be smaller than the study allows.
    """
    size, display = _size(height), display or DisplaySection()
    word_size = display.size or 1.6 * size
    shares = [
        (max(measure(word, word_size), 1.0), share, word)
        for of, share in ((words, 0.92), (paired, 0.42))
        for word in of
    ]
    needed, word = max(((wide / (share * width), word) for wide, share, word in shares), default=(0.0, ""))
    fitting = word_size / max(needed, 1.0)
    if fitting < SMALLEST:
        raise ValueError(
            f"the word {f'{word[:30]}...'!r} has {len(word)} characters: for it to fit, all words would have to be "
            f"{fitting:.1f} px high; expected at least {SMALLEST:.0f}: divide it into words, or use a wider screen"
        )
    widest = max((measure(word, fitting) for word in paired), default=0.0)
    line_size, line_width = _line_size(width, height, display.size or 1.25 * size, sentences, measure, display.min_size)
    return Room(width, height, size, fitting, direction, measure, widest / 2 + 1.5 * size, line_size, line_width)


def _line_size(
    width: float,
    height: float,
    wanted: float,
    sentences: Sequence[Sequence[str]],
    measure: Callable[[str, float], float],
    smallest: float,
) -> tuple[float, float]:
    """Return the size of letters at which all lines of sentences fit, and how wide the widest is then."""
    widths = {line: measure(line, wanted) for lines in sentences for line in lines}
    widest = max(widths, key=lambda line: widths[line], default="")
    across = wanted * min(1.0, 0.92 * width / max(widths.get(widest, 0.0), 1.0))
    if across < smallest:
        raise ValueError(
            f"the line {f'{widest[:40]}...'!r} has {len(widest)} letters: for it to fit, sentences would have to be "
            f"{across:.1f} px high; expected at least {smallest:g} (procedure.display.min_size): use a wider screen, or a smaller "
            "procedure.display.width"
        )
    # What is said below is not reached.
    down = 0.62 * height / (LINES_APART * max(map(len, sentences), default=1))
    fitting = max(SMALLEST, min(across, down))
    return fitting, measure(widest, fitting) if widest else 0.0


def _size(height: float) -> float:
    return min(34.0, max(16.0, height / 34))


def marks(display: Display, room: Room) -> tuple[Mark, ...]:
    """Return what is drawn; a page that is too high for the screen is written smaller."""
    match display:
        case Word():
            color = SOFT if display.mark else INK
            return Text(display.text, 0, 0, room.word_size, color), *_below(display.hint, room)
        case Pair():
            both = ((display.left, -room.apart), (display.right, room.apart))
            return *(Text(text, x, 0, room.word_size) for text, x in both), *_below(display.hint, room)
        case Lines():
            return *_lines(display, room), *_below(display.hint, room)
        case Asked() | Blank() if display.progress is not None:
            return *_progress(display.progress, room), *_stacked(display, room)
        case _:
            return tuple(_stacked(display, room))


def picture(drawn: Sequence[Mark], face: Typeface) -> tuple["Image", tuple[int, int]]:
    """Return marks as one opaque picture, as large as they need, and where its middle stands on the screen."""
    from PIL import Image, ImageDraw

    ends = [_ends_of(mark, face) for mark in drawn] or [(-1.0, -1.0, 1.0, 1.0)]
    left, bottom = (ceil(max(-end[side] for end in ends)) + 2 for side in (0, 1))
    right, top = (ceil(max(end[side] for end in ends)) + 2 for side in (2, 3))
    # Of even size: the middle lies between two pixels, as that of the screen does.
    right, top = right + (left + right) % 2, top + (bottom + top) % 2
    image = Image.new("RGB", (left + right, bottom + top), PAPER)
    canvas = ImageDraw.Draw(image)
    for mark in drawn:
        x, y = left + mark.x, top - mark.y
        if isinstance(mark, Text):
            face.write(canvas, mark.text, (x, y), mark.size, mark.color, mark.align)
        else:
            half = mark.width / 2, mark.height / 2
            corners = [round(one) for one in (x - half[0], y - half[1], x + half[0] - 1, y + half[1] - 1)]
            if corners[2] >= corners[0] and corners[3] >= corners[1]:
                canvas.rectangle(corners, mark.fill, mark.border)
    return image, ((right - left) // 2, (top - bottom) // 2)


def _ends_of(mark: Mark, face: Typeface) -> tuple[float, float, float, float]:
    """Left, lower, right and upper end of a mark, with what letters hang over."""
    if isinstance(mark, Box):
        return mark.x - mark.width / 2, mark.y - mark.height / 2, mark.x + mark.width / 2, mark.y + mark.height / 2
    width, high = face.width(mark.text, mark.size), 1.3 * mark.size
    left = mark.x - width * {"left": 0.0, "center": 0.5, "right": 1.0}[mark.align]
    return left - mark.size, mark.y - high, left + width + mark.size, mark.y + high


def _stacked(display: Page | Whole | Asked | Blank, room: Room) -> Iterator[Mark]:
    """Yield rows one below another, in the middle of the screen."""
    rows = tuple(_rows(display, room))
    height = sum(row.height for row in rows)
    if height > 0.94 * room.height and room.size > SMALLEST:
        yield from _stacked(display, replace(room, size=0.92 * room.size, word_size=0.92 * room.word_size))
        return
    top = height / 2
    for row in rows:
        yield from (replace(mark, y=mark.y + top - row.height / 2) for mark in row.marks)
        top -= row.height


def _rows(display: Page | Whole | Asked | Blank, room: Room) -> Iterator[Row]:
    size, column = room.size, room.column
    match display:
        case Page():
            measure = room.text_width(size)
            lines = [line for text in display.paragraphs for line in broken(text, column, measure)]
            block = max([room.measure(display.heading, 1.35 * size), *map(measure, lines)])
            yield from _written(display.heading, room, 1.35 * size, min(block, column), after=0.8)
            for paragraph in display.paragraphs:
                yield from _written(paragraph, room, size, min(block, column), after=0.7)
            if display.answers:
                yield Row(0.6 * size)
                yield from _stack(display.answers, room, column)
            yield from _hint(display.hint, room, column)
        case Whole():
            yield from _written(display.text, room, 1.2 * size, column, align="block")
            yield from _hint(display.hint, room, column)
        case Asked():
            screen = display.screen
            yield from _written(getattr(screen.above, "text", ""), room, 1.2 * size, column, align="block", after=1.6)
            yield from _written(screen.prompt, room, 1.1 * size, column, align="center", after=1.4)
            if isinstance(screen, Slider):
                yield from _slider(screen, display.value, room)
                yield from _hint(screen.lab_hint or screen.hint, room, column)
            elif screen.arrangement == "points":
                yield from _points(screen, room)
            elif {one.side for one in screen.answers} != {"left", "right"}:
                yield from _stack(screen.answers, room, column)
            else:
                yield from _side_by_side(screen.answers, room)
        case Blank():
            yield from _blank(display, room, column)


def _written(
    text: str,
    room: Room,
    size: float,
    width: float,
    *,
    color: str = INK,
    align: str = "start",
    after: float = 0.0,
) -> Iterator[Row]:
    """Yield a text's lines and the space after them: from where reading begins, centred, or as a block in the middle."""
    if not text:
        return
    measure = room.text_width(size)
    lines = broken(text, width, measure)
    taken = max(map(measure, lines)) if align == "block" else width
    x = 0.0 if align == "center" else room.start * taken / 2
    side = "center" if align == "center" else "right" if room.start > 0 else "left"
    for line in lines:
        yield Row(LEADING * size, (Text(line, x, 0, size, color, side),))
    yield Row(after * size)


def _hint(text: str, room: Room, width: float) -> Iterator[Row]:
    if text:
        yield Row(1.2 * room.size)
        yield from _written(text, room, 0.85 * room.size, width, color=SOFT, align="center")


def _below(text: str, room: Room) -> Iterator[Mark]:
    """Yield what to do, in the lower part of the screen, where it moves no word."""
    size, y = 0.85 * room.size, -0.34 * room.height
    for line in broken(text, 0.86 * room.width, room.text_width(size)):
        if line:
            yield Text(line, 0, y, size, SOFT)
        y -= LEADING * size


def _progress(share: float, room: Room) -> Iterator[Mark]:
    y, length = room.height / 2 - 4, share * room.width
    yield Box(0, y, room.width, 8, LINE, None)
    yield Box(room.start * (room.width - length) / 2, y, length, 8, ACCENT, None)


def _stack(answers: Sequence[Answer], room: Room, column: float, marked: str = "") -> Iterator[Row]:
    """Yield answers one below another, each with its key before it; more than nine stand closer together."""
    inner = min(column, max(room.measure(one.label, room.size) for one in answers) + 6 * room.size)
    margin, gap = (1.0, 0.5 * room.size) if len(answers) <= 9 else (0.1, 0.0)
    for n, answer in enumerate(answers):
        yield _answer(answer, n, room, 0, inner, marked=answer.value == marked, margin=margin)
        yield Row(gap)


def _side_by_side(answers: Sequence[Answer], room: Room) -> Iterator[Row]:
    """Yield answers beside each other, each on its side."""
    widest = max(room.measure(one.label, room.size) for one in answers) + 6 * room.size
    width = min(0.43 * room.width, max(widest, 8 * room.size))
    gap = width / 2 + 0.6 * room.size
    rows = [_answer(one, n, room, -gap if one.side == "left" else gap, width) for n, one in enumerate(answers)]
    height = max(row.height for row in rows)
    boxes = [replace(mark, height=height) if isinstance(mark, Box) else mark for row in rows for mark in row.marks]
    yield Row(height, tuple(boxes))


def _answer(
    answer: Answer, n: int, room: Room, x: float, width: float, *, marked: bool = False, margin: float = 1.0
) -> Row:
    """Return an answer in its box, after the cap of its first key."""
    size, cap = room.size, answer.keys[0].removeprefix("Key") if answer.keys else ""
    lines = broken(answer.label, width - 4.5 * size, room.text_width(size))
    height = LEADING * size * len(lines) + margin * size
    box = Box(x, 0, width, height, ACCENT if marked else SHEET, ACCENT if marked else LINE, n)
    edge = x + room.start * (width / 2 - 1.4 * size)
    caps = [Text(cap, edge, 0, 0.8 * size, SHEET if marked else ACCENT)] if cap else []
    middle = x - room.start * 0.9 * size
    color = SHEET if marked else INK
    texts = [
        Text(line, middle, (height - margin * size) / 2 - LEADING * size * (k + 0.5), size, color)
        for k, line in enumerate(lines)
    ]
    return Row(height, (box, *caps, *texts))


def _points(screen: Answers, room: Room) -> Iterator[Row]:
    """Yield the points as the number keys stand, from left to right in every language, and what the ends mean."""
    size, number = room.size, len(screen.answers)
    step = min(3.2 * size, 0.9 * room.width / number)
    left = -step * (number - 1) / 2
    boxes: list[Mark] = []
    for n, answer in enumerate(screen.answers):
        boxes += [
            Box(left + n * step, 0, 0.8 * step, 2.4 * size, answer=n),
            Text(answer.label, left + n * step, 0, size),
        ]
    yield Row(2.4 * size, tuple(boxes))
    yield from _ends(screen.low, screen.high, room, left - 0.4 * step)


def _ends(low: str, high: str, room: Room, left: float) -> Iterator[Row]:
    yield Row(0.5 * room.size)
    size, width = 0.85 * room.size, max(-0.9 * left, 8 * room.size)
    ends = [broken(text, width, room.text_width(size)) for text in (low, high)]
    for n in range(max(map(len, ends))):
        here = ((ends[0], left, "left"), (ends[1], -left, "right"))
        texts = tuple(Text(lines[n], x, 0, size, SOFT, side) for lines, x, side in here if n < len(lines))
        yield Row(LEADING * size, texts)


def _slider(screen: Slider, value: int | None, room: Room) -> Iterator[Row]:
    size, length = room.size, min(0.7 * room.width, 30 * room.size)
    marks = [Box(0, 0, length, 0.35 * size, LINE, None, 0)]
    if value is not None:
        share = (value - screen.least) / (screen.most - screen.least)
        marks.append(Box(length * (share - 0.5), 0, 0.7 * size, 1.7 * size, ACCENT, None))
    yield Row(2 * size, tuple(marks))
    yield from _ends(screen.low, screen.high, room, -length / 2)


def _blank(blank: Blank, room: Room, column: float) -> Iterator[Row]:
    size = room.size
    yield from _written(blank.heading, room, 1.35 * size, column, after=0.8)
    yield from _written(blank.above, room, 1.2 * size, column, after=0.9)
    yield from _written(blank.label, room, size, column, after=0.7)
    if blank.choices:
        choices = [Answer(one, one, (str(n),) if n <= 9 else ()) for n, one in enumerate(blank.choices, start=1)]
        yield from _stack(choices, room, column, blank.text)
    else:
        edge, side = room.start * (column / 2 - 0.6 * size), "right" if room.start > 0 else "left"
        lines = broken(blank.text + "|", column - 1.2 * size, room.text_width(size))
        top = LEADING * size * (len(lines) - 1) / 2
        texts = [Text(line, edge, top - LEADING * size * k, size, INK, side) for k, line in enumerate(lines)]
        height = LEADING * size * len(lines) + 0.7 * size
        yield Row(height + 0.2 * size, (Box(0, 0, column, height), *texts))
    yield from _written(blank.fault, room, 0.9 * size, column, color=WRONG)
    yield from _hint(blank.hint, room, column)
    yield from _written(blank.note, room, 0.85 * size, column, color=SOFT, align="center")


# ---------------------------------------------------------------------------------------------------------- lines


def numbers_of(count: int, breaks: Sequence[int]) -> list[list[int]]:
    """Return the words' numbers on each line, of so many words; `breaks` begin a further line.

    >>> numbers_of(5, (2, 4))
    [[0, 1], [2, 3], [4]]
    """
    starts = [0, *(n for n in breaks if 0 < n < count), count]
    return [list(range(*ends)) for ends in pairwise(starts)]


def places(count: int, breaks: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the line of each word, and its position on that line."""
    lines = enumerate(numbers_of(count, breaks))
    return tuple((line, column) for line, numbers in lines for column in range(len(numbers)))


def lines_of(words: Sequence[str], gaps: Sequence[str], breaks: Sequence[int]) -> tuple[str, ...]:
    """Return the text of each line of a sentence."""
    joined = [word + gap for word, gap in zip(words, (*gaps, ""), strict=True)]
    return tuple(
        "".join(joined[n] for n in line[:-1]) + words[line[-1]] for line in numbers_of(len(words), breaks) if line
    )


def _lines(display: Lines, room: Room) -> Iterator[Mark]:
    """Yield the words that are seen, and a rule in the place of each that is not."""
    size, lines = room.line_size, numbers_of(len(display.words), display.breaks)
    measure = room.text_width(size)
    spans = [sum(measure(display.words[n]) for n in line) + _gaps(line[:-1], display, measure) for line in lines]
    y = LINES_APART / 2 * size * (len(lines) - 1)
    for line in lines:
        x = room.start * max(room.line_width, *spans) / 2
        for n in line:
            width = measure(display.words[n])
            middle = x - room.start * width / 2
            if n == display.shown or (display.cumulative and n < display.shown):
                yield Text(display.words[n], middle, y, size)
            else:
                yield Box(middle, y - 0.62 * size, width - 4, 3, LINE, None)
            x -= room.start * (width + _gaps([n], display, measure))
        y -= LINES_APART * size


def _gaps(numbers: Sequence[int], display: Lines, measure: Callable[[str], float]) -> float:
    return sum(measure(display.gaps[n]) for n in numbers if n < len(display.gaps) and display.gaps[n])
