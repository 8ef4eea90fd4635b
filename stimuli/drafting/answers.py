"""Pairs read out of what a chat model wrote, and the lines that were none."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .requests import Wording

# Labels that models write whatever they are asked for, in lower case.
GOOD = (
    *("correct", "grammatical", "acceptable", "good"),
    *("goed", "juist", "correct", "grammaticaal"),
    *("richtig", "korrekt", "grammatisch"),
    *("correcto", "correcta", "gramatical", "bien"),
    *("correcte", "acceptable", "corretto", "corretta", "giusto", "correto", "correta", "certo"),
    *("rätt", "riktig", "rigtig", "poprawnie", "poprawne", "správně", "helyes", "doğru"),
    *("правильно", "верно", "正确", "正確", "正しい", "正", "صحيح", "נכון", "सही"),
)
BAD = (
    *("incorrect", "ungrammatical", "unacceptable", "bad", "wrong"),
    *("fout", "onjuist", "ongrammaticaal"),
    *("falsch", "inkorrekt", "ungrammatisch"),
    *("incorrecto", "incorrecta", "agramatical", "inaceptable", "mal"),
    *("incorrecte", "inacceptable", "scorretto", "scorretta", "sbagliato", "incorreto", "incorreta", "errado"),
    *("fel", "feil", "forkert", "niepoprawnie", "niepoprawne", "špatně", "helytelen", "yanlış"),
    *("неправильно", "неверно", "错误", "錯誤", "不正确", "不正確", "誤り", "誤", "خطأ", "לא נכון", "गलत"),
)
MARKS = "✓✔✅"
CROSSES = "✗✘❌"
BEFORE = r"(?:\s|[-–•>#]|\*\s+|\*{2,}|\(?\d+\s*[.):]|\(?[a-zA-Z][.)])*"  # bullets, numbers, bold
MISSING = "the other member is missing"
UNLABELLED, STARRED = "neither label", "starred"
QUOTES = "\"“”„«»'‘’*_` "
SPLITS = (re.compile(r"\s+\|\s+"), re.compile(r"\s+/\s+"), re.compile(r"\s+(?:vs\.?|->|→|⇒)\s+"))
FINAL = ".?!…。？！؟।"


class DraftedPair(NamedTuple):
    """A pair as it was written, and the line of the answer where it begins."""

    good: str
    bad: str
    line: int


class Unread(NamedTuple):
    """A line that gave no pair, and why."""

    line: int
    text: str
    reason: str


def pairs_in(answer: str, words: Wording, *, final: bool = True) -> tuple[list[DraftedPair], list[Unread]]:
    """Return the pairs of an answer in order, and the lines that gave none, with the reason.

    Read are lines with labels (those asked for, and common others), numbered or not, in bold or in quotes; lines that hold both
    members (`A | B`, `A / B`, rows of a table); and lines of which the second begins with an asterisk. `final` says that the
    paradigm's own sentences end in punctuation: a last sentence without is taken to be cut off.

    >>> asked = Wording("Correct", "Incorrect", "", "", "", "", "")
    >>> pairs, unread = pairs_in("Sure!\\n1. **Correct:** Dogs bark.\\n**Incorrect:** Dogs barks.\\nCorrect: Cats", asked)
    >>> [(pair.good, pair.bad) for pair in pairs], [(line.line, line.reason) for line in unread]
    ([('Dogs bark.', 'Dogs barks.')], [(1, 'neither label'), (4, 'the other member is missing')])
    """
    pairs: list[DraftedPair] = []
    unread: list[Unread] = []
    waiting: tuple[str, str, int, str] | None = None  # label, sentence, line, as written
    lines = answer.splitlines()
    for number, line in enumerate(lines, start=1):
        for label, sentence in _members(line, words):
            if not label:
                if line.strip(" -|:=*_#`") and not _heading(line):
                    unread.append(Unread(number, line.strip(), UNLABELLED))
                continue
            if not sentence:
                if waiting:
                    unread.append(Unread(waiting[2], waiting[3], MISSING))
                waiting = None
                unread.append(Unread(number, line.strip(), "a label without a sentence"))
                continue
            if label == STARRED:
                label = "bad"
                if (
                    not waiting
                    and unread
                    and unread[-1].reason == UNLABELLED
                    and not "".join(lines[unread[-1].line : number - 1]).strip()
                ):
                    before = unread.pop()
                    waiting = "good", _bare(re.sub(rf"^{BEFORE}", "", before.text)), before.line, before.text
            if waiting and waiting[0] != label:
                good, bad = (waiting[1], sentence) if label == "bad" else (sentence, waiting[1])
                last = number == _last(lines)
                if last and final and sentence[-1] not in FINAL:
                    unread.append(Unread(number, line.strip(), "the sentence is cut off"))
                elif good == bad:
                    unread.append(Unread(waiting[2], good, "both members are the same"))
                else:
                    pairs.append(DraftedPair(good, bad, waiting[2]))
                waiting = None
            else:
                if waiting:
                    unread.append(Unread(waiting[2], waiting[3], MISSING))
                waiting = label, sentence, number, line.strip()
    if waiting:
        unread.append(Unread(waiting[2], waiting[3], MISSING))
    return pairs, sorted(unread)


def _members(line: str, words: Wording) -> Iterator[tuple[str, str]]:
    """Yield label ('good', 'bad' or '') and sentence of each member on a line."""
    text = line.strip()
    for label, names in (("bad", (words.bad, *BAD)), ("good", (words.good, *GOOD))):
        longest_first = sorted({name.lower() for name in names}, key=len, reverse=True)
        pattern = (
            rf"^{BEFORE}\**\(?(?:{'|'.join(map(re.escape, longest_first))})(?:\s+\d+)?\)?\**\s*[:：=–-]+\s*\**\s*(.*)$"
        )
        if match := re.match(pattern, text, re.IGNORECASE):
            yield from _both(label, match[1], words)
            return
    bare = re.sub(rf"^{BEFORE}", "", text)
    if bare[:1] in MARKS and bare:
        yield "good", _bare(bare[1:])
        return
    if bare[:1] in CROSSES and bare:
        yield "bad", _bare(bare[1:])
        return
    if re.match(r"\*[^\s*]", bare) and not bare.rstrip().endswith("*"):
        yield STARRED, _bare(bare[1:])
        return
    cells = [_bare(cell) for cell in text.strip("|").split("|")] if text.startswith("|") else []
    cells = [cell for cell in cells if cell and not cell.isdigit()]
    if len(cells) == 2:
        if not {cell.lower() for cell in cells} & {*GOOD, *BAD, words.good.lower(), words.bad.lower()}:
            yield "good", cells[0]
            yield "bad", cells[1]
        return
    for split in SPLITS:
        halves = [_bare(half) for half in split.split(bare)]
        if len(halves) == 2 and all(len(half.split()) > 1 or len(half) > 4 for half in halves):
            yield "good", halves[0]
            yield "bad", halves[1].removeprefix("*")
            return
    yield "", text


def _both(label: str, rest: str, words: Wording) -> Iterator[tuple[str, str]]:
    """Yield the member after a label, and the other one where its label follows on the same line."""
    other = (words.bad, *BAD) if label == "good" else (words.good, *GOOD)
    pattern = (
        rf"[\s|;/(*]+(?:{'|'.join(re.escape(name) for name in sorted(other, key=len, reverse=True))})\)?\**\s*[:：]\s*"
    )
    halves = re.split(pattern, rest, maxsplit=1, flags=re.IGNORECASE)
    yield label, _bare(halves[0])
    if len(halves) == 2:
        yield ("bad" if label == "good" else "good"), _bare(halves[1])


def _bare(text: str) -> str:
    """Return a sentence without quotes and marks around it."""
    bare = text.strip().strip("|").strip()
    while len(bare) > 1 and bare[0] in QUOTES and bare[-1] in QUOTES:
        bare = bare[1:-1].strip()
    return bare.removesuffix("**").removesuffix("\\").strip()


def _heading(line: str) -> bool:
    """Whether a line is the head of a table or only numbers a pair."""
    bare = line.strip(" |-:*#")
    return not bare or bool(
        re.fullmatch(r"\(?(?:pair|paar|example|voorbeeld|beispiel)?\s*\d+[.):]?", bare, re.IGNORECASE)
    )


def _last(lines: Sequence[str]) -> int:
    """Return the number of the last line that says something."""
    return max((number for number, line in enumerate(lines, start=1) if line.strip()), default=0)
