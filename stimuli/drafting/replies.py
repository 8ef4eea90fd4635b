"""Pairs read out of what a chat model wrote, and the lines that were none."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .requests import Wording

# Labels that models write whatever they are asked for, in lower case.
GOOD_LABELS = (
    *("correct", "grammatical", "acceptable", "good"),
    *("goed", "juist", "correct", "grammaticaal"),
    *("richtig", "korrekt", "grammatisch"),
    *("correcto", "correcta", "gramatical", "bien"),
    *("correcte", "acceptable", "corretto", "corretta", "giusto", "correto", "correta", "certo"),
    *("rätt", "riktig", "rigtig", "poprawnie", "poprawne", "správně", "helyes", "doğru"),
    *("правильно", "верно", "正确", "正確", "正しい", "正", "صحيح", "נכון", "सही"),
)
BAD_LABELS = (
    *("incorrect", "ungrammatical", "unacceptable", "bad", "wrong"),
    *("fout", "onjuist", "ongrammaticaal"),
    *("falsch", "inkorrekt", "ungrammatisch"),
    *("incorrecto", "incorrecta", "agramatical", "inaceptable", "mal"),
    *("incorrecte", "inacceptable", "scorretto", "scorretta", "sbagliato", "incorreto", "incorreta", "errado"),
    *("fel", "feil", "forkert", "niepoprawnie", "niepoprawne", "špatně", "helytelen", "yanlış"),
    *("неправильно", "неверно", "错误", "錯誤", "不正确", "不正確", "誤り", "誤", "خطأ", "לא נכון", "गलत"),
)
CHECK_MARKS = "✓✔✅"
CROSS_MARKS = "✗✘❌"
LINE_PREFIX = r"(?:\s|[-–•>#]|\*\s+|\*{2,}|\(?\d+\s*[.):]|\(?[a-zA-Z][.)])*"  # bullets, numbers, bold
MISSING_MEMBER = "the other member is missing"
NO_LABEL, STARRED_LABEL = "neither label", "starred"
QUOTE_CHARACTERS = "\"“”„«»'‘’*_` "
PAIR_SEPARATORS = (re.compile(r"\s+\|\s+"), re.compile(r"\s+/\s+"), re.compile(r"\s+(?:vs\.?|->|→|⇒)\s+"))
FINAL_MARKS = ".?!…。？！؟।"


class DraftedPair(NamedTuple):
    """A pair as it was written, and the line of the answer where it begins."""

    good: str
    bad: str
    line: int


class UnreadLine(NamedTuple):
    """A line that gave no pair, and why."""

    line: int
    text: str
    reason: str


def parse_pairs(reply: str, words: Wording, *, final: bool = True) -> tuple[list[DraftedPair], list[UnreadLine]]:
    """Return the pairs of an answer in order, and the lines that gave none, with the reason.

    Read are lines with labels (those asked for, and common others), numbered or not, in bold or in quotes; lines that hold both
    members (`A | B`, `A / B`, rows of a table); and lines of which the second begins with an asterisk. `final` says that the
    paradigm's own sentences end in punctuation: a last sentence without is taken to be cut off.

    >>> asked = Wording("Correct", "Incorrect", "", "", "", "", "")
    >>> pairs, unread = parse_pairs("Sure!\\n1. **Correct:** Dogs bark.\\n**Incorrect:** Dogs barks.\\nCorrect: Cats", asked)
    >>> [(pair.good, pair.bad) for pair in pairs], [(line.line, line.reason) for line in unread]
    ([('Dogs bark.', 'Dogs barks.')], [(1, 'neither label'), (4, 'the other member is missing')])
    """
    pairs: list[DraftedPair] = []
    unread: list[UnreadLine] = []
    waiting: tuple[str, str, int, str] | None = None  # label, sentence, line, as written
    lines = reply.splitlines()
    for number, line in enumerate(lines, start=1):
        for label, sentence in _parse_members(line, words):
            if not label:
                if line.strip(" -|:=*_#`") and not _is_heading(line):
                    unread.append(UnreadLine(number, line.strip(), NO_LABEL))
                continue
            if not sentence:
                if waiting:
                    unread.append(UnreadLine(waiting[2], waiting[3], MISSING_MEMBER))
                waiting = None
                unread.append(UnreadLine(number, line.strip(), "a label without a sentence"))
                continue
            if label == STARRED_LABEL:
                label = "bad"
                if (
                    not waiting
                    and unread
                    and unread[-1].reason == NO_LABEL
                    and not "".join(lines[unread[-1].line : number - 1]).strip()
                ):
                    before = unread.pop()
                    waiting = ("good", _strip_quotes(re.sub(rf"^{LINE_PREFIX}", "", before.text)), before.line, before.text)
            if waiting and waiting[0] != label:
                good, bad = (waiting[1], sentence) if label == "bad" else (sentence, waiting[1])
                last = number == _find_last_line(lines)
                if last and final and sentence[-1] not in FINAL_MARKS:
                    unread.append(UnreadLine(number, line.strip(), "the sentence is cut off"))
                elif good == bad:
                    unread.append(UnreadLine(waiting[2], good, "both members are the same"))
                else:
                    pairs.append(DraftedPair(good, bad, waiting[2]))
                waiting = None
            else:
                if waiting:
                    unread.append(UnreadLine(waiting[2], waiting[3], MISSING_MEMBER))
                waiting = label, sentence, number, line.strip()
    if waiting:
        unread.append(UnreadLine(waiting[2], waiting[3], MISSING_MEMBER))
    return pairs, sorted(unread)


def _parse_members(line: str, words: Wording) -> Iterator[tuple[str, str]]:
    """Yield label ('good', 'bad' or '') and sentence of each member on a line."""
    text = line.strip()
    for label, names in (("bad", (words.bad, *BAD_LABELS)), ("good", (words.good, *GOOD_LABELS))):
        longest_first = sorted({name.lower() for name in names}, key=len, reverse=True)
        pattern = rf"^{LINE_PREFIX}\**\(?(?:{'|'.join(map(re.escape, longest_first))})(?:\s+\d+)?\)?\**\s*[:：=–-]+\s*\**\s*(.*)$"
        if match := re.match(pattern, text, re.IGNORECASE):
            yield from _split_members(label, match[1], words)
            return
    bare = re.sub(rf"^{LINE_PREFIX}", "", text)
    if bare[:1] in CHECK_MARKS and bare:
        yield "good", _strip_quotes(bare[1:])
        return
    if bare[:1] in CROSS_MARKS and bare:
        yield "bad", _strip_quotes(bare[1:])
        return
    if re.match(r"\*[^\s*]", bare) and not bare.rstrip().endswith("*"):
        yield STARRED_LABEL, _strip_quotes(bare[1:])
        return
    cells = [_strip_quotes(cell) for cell in text.strip("|").split("|")] if text.startswith("|") else []
    cells = [cell for cell in cells if cell and not cell.isdigit()]
    if len(cells) == 2:
        if not {cell.lower() for cell in cells} & {*GOOD_LABELS, *BAD_LABELS, words.good.lower(), words.bad.lower()}:
            yield "good", cells[0]
            yield "bad", cells[1]
        return
    for split in PAIR_SEPARATORS:
        halves = [_strip_quotes(half) for half in split.split(bare)]
        if len(halves) == 2 and all(len(half.split()) > 1 or len(half) > 4 for half in halves):
            yield "good", halves[0]
            yield "bad", halves[1].removeprefix("*")
            return
    yield "", text


def _split_members(label: str, rest: str, words: Wording) -> Iterator[tuple[str, str]]:
    """Yield the member after a label, and the other one where its label follows on the same line."""
    other = (words.bad, *BAD_LABELS) if label == "good" else (words.good, *GOOD_LABELS)
    pattern = rf"[\s|;/(*]+(?:{'|'.join(re.escape(name) for name in sorted(other, key=len, reverse=True))})\)?\**\s*[:：]\s*"
    halves = re.split(pattern, rest, maxsplit=1, flags=re.IGNORECASE)
    yield label, _strip_quotes(halves[0])
    if len(halves) == 2:
        yield ("bad" if label == "good" else "good"), _strip_quotes(halves[1])


def _strip_quotes(text: str) -> str:
    """Return a sentence without quotes and marks around it."""
    bare = text.strip().strip("|").strip()
    while len(bare) > 1 and bare[0] in QUOTE_CHARACTERS and bare[-1] in QUOTE_CHARACTERS:
        bare = bare[1:-1].strip()
    return bare.removesuffix("**").removesuffix("\\").strip()


def _is_heading(line: str) -> bool:
    """Whether a line is the head of a table or only numbers a pair."""
    bare = line.strip(" |-:*#")
    return not bare or bool(re.fullmatch(r"\(?(?:pair|paar|example|voorbeeld|beispiel)?\s*\d+[.):]?", bare, re.IGNORECASE))


def _find_last_line(lines: Sequence[str]) -> int:
    """Return the number of the last line that says something."""
    return max((number for number, line in enumerate(lines, start=1) if line.strip()), default=0)
