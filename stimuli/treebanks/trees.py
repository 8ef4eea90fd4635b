"""Trees of Universal Dependencies, one after the other, each with its sentence as printed and where each word stands in it.

CoNLL-U: https://universaldependencies.org/format.html. Multiword tokens are no words of a tree but say how its words are
written; empty nodes are left out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gardenpath import study
from gardenpath.study.files import read_text

MAX_WORDS = 64  # words
# Sentences with one of these in a column (DEPREL, FEATS, MISC) are left out.
EXCLUSION_MARKS = (
    (7, "reparandum", "reparandum"),
    (5, "Typo=Yes", "typo"),
    (5, "Style=", "style"),
    (5, "Foreign=", "foreign"),
    (9, "Correct", "correction"),
)
N_COLUMNS = 10  # of CoNLL-U
TEXT_COMMENT, SENT_ID_COMMENT = "# text = ", "# sent_id = "

Features = Mapping[str, frozenset[str]]


class MultiwordToken(NamedTuple):
    """A multiword token: its form, its characters in the sentence, and whether it is the forms of its words put together."""

    form: str
    start: int
    end: int
    is_concatenated: bool


class Token(NamedTuple):
    """A word of a tree; `id` and `head` count from 1, `head` is 0 for the root.

    `start` and `end` are characters of the sentence, end excluded. A word inside a multiword token (`multiword_token`) has its own
    where the token is `is_concatenated`, else those of the token.
    """

    id: int
    form: str
    lemma: str
    upos: str
    features: Features
    head: int
    deprel: str
    start: int
    end: int
    multiword_token: MultiwordToken | None


class Tree(NamedTuple):
    """A sentence of a treebank; the word with the id i is `tokens[i - 1]`."""

    sent_id: str
    text: str
    treebank: str
    tokens: tuple[Token, ...]


def read_trees(path: str | Path, treebank: str, dropped: Counter[str]) -> Iterator[Tree]:
    """Yield the trees of a CoNLL-U file; sentences that are left out are counted in `dropped` by reason.

    The reasons, of which the first that holds is counted: `no-text`, `long` (more than 64 words), `reparandum`, `typo`, `style`,
    `foreign` (features), `correction` (`Correct...` in MISC), and `text-mismatch` where the forms are not those of the text.
    Raises `study.DataError` with file and line for a line that is not CoNLL-U, for a file that ends inside a sentence, and for
    bytes that are not UTF-8.
    """
    lines: list[str] = []
    number = 0
    try:
        with open(path, encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, start=1):
                if line != "\n":
                    lines.append(line)
                elif lines:
                    tree = _parse_tree(lines, path, number - len(lines), treebank, dropped)
                    lines.clear()
                    if tree is not None:
                        yield tree
    except UnicodeDecodeError:
        read_text(path)  # says in which line, and how to convert the file
        raise
    if lines:
        name = next((line[len(SENT_ID_COMMENT) :].strip() for line in lines if line.startswith(SENT_ID_COMMENT)), "unknown")
        raise study.DataError(
            f"{path}, line {number}: the file ends inside a sentence (sent_id {name}); "
            "expected an empty line after each: the file is cut short, download it again"
        )


def _parse_tree(lines: list[str], path: str | Path, first: int, treebank: str, dropped: Counter[str]) -> Tree | None:
    text: str | None = None
    sent_id = ""
    words: list[list[str]] = []
    spans: dict[int, tuple[int, str]] = {}  # first word of a multiword token: its last word and its form
    for number, line in enumerate(lines, start=first):
        if line.startswith("#"):
            if line.startswith(TEXT_COMMENT):
                text = line[len(TEXT_COMMENT) :].rstrip("\n")
            elif line.startswith(SENT_ID_COMMENT):
                sent_id = line[len(SENT_ID_COMMENT) :].rstrip("\n")
            continue
        cells = line.rstrip("\n").split("\t")
        if len(cells) != N_COLUMNS:
            raise study.DataError(
                f"{path}, line {number}: {len(cells)} columns; expected the {N_COLUMNS} of CoNLL-U, with a tab between each two"
            )
        name = cells[0]
        if name == str(len(words) + 1) and cells[6].isdecimal():
            words.append(cells)
        elif match := re.fullmatch(r"([0-9]+)-([0-9]+)", name):
            spans[int(match[1])] = int(match[2]), cells[1]
        elif not re.fullmatch(r"[0-9]+\.[0-9]+", name):
            raise study.DataError(
                f"{path}, line {number}: ID {name!r} and HEAD {cells[6]!r}; expected the word {len(words) + 1} of the sentence "
                "and the number of its head (0 for the root)"
            )
    heads = [int(cells[6]) for cells in words]
    if heads and max(heads) > len(words):
        word = heads.index(max(heads)) + 1
        number = first + next(n for n, line in enumerate(lines) if line.startswith(f"{word}\t"))
        raise study.DataError(
            f"{path}, line {number}: HEAD {max(heads)} in a sentence of {len(words)} words; expected one of its words, or 0"
        )
    reason = "no-text" if text is None else _find_exclusion_reason(words, "".join(lines))
    if reason or text is None:
        dropped[reason] += 1
        return None
    tokens = _locate_words(words, heads, spans, text)
    if tokens is None:
        dropped["text-mismatch"] += 1
        return None
    return Tree(sent_id or f"{Path(path).name}:{first}", text, treebank, tokens)


def _find_exclusion_reason(words: list[list[str]], lines: str) -> str:
    """Return why a sentence is left out; '' for one that is not."""
    if len(words) > MAX_WORDS:
        return "long"
    for column, mark, reason in EXCLUSION_MARKS:
        if mark in lines and any(part.startswith(mark) for cells in words for part in cells[column].split("|")):
            return reason
    return ""


@cache
def parse_features(cell: str) -> Features:
    """Return what a FEATS cell says; several values, with commas, are a set. Layered features keep their layer in their name.

    >>> parse_features("Number[psor]=Plur|Person=1,3")["Person"] == {"1", "3"}
    True
    >>> "Number" in parse_features("Number[psor]=Plur|Person=1,3")
    False
    """
    pairs = (part.partition("=") for part in cell.split("|") if part != "_")
    return {name: frozenset(values.split(",")) for name, _, values in pairs}


def _locate_words(
    words: list[list[str]], heads: list[int], spans: dict[int, tuple[int, str]], text: str
) -> tuple[Token, ...] | None:
    """Return the words with their characters of the text, over any white space; None where they are not those of the text."""
    tokens: list[Token] = []
    position, last, fused = 0, 0, None
    for index, cells in enumerate(words, start=1):
        if index in spans:
            last, form = spans[index]
            start, position = _find_form(form, text, position)
            whole = form == "".join(inner[1] for inner in words[index - 1 : last])
            fused, inside = MultiwordToken(form, start, position, whole), start
        elif index > last:
            fused = None
            start, position = _find_form(cells[1], text, position)
        if position < 0:
            return None
        if fused is None:
            where = start, position
        elif fused.is_concatenated:
            where, inside = (inside, inside + len(cells[1])), inside + len(cells[1])
        else:
            where = fused.start, fused.end
        tokens.append(
            Token(index, cells[1], cells[2], cells[3], parse_features(cells[5]), heads[index - 1], cells[7], *where, fused)
        )
    return None if text[position:].strip() else tuple(tokens)


def _find_form(form: str, text: str, position: int) -> tuple[int, int]:
    """Return where the form stands, white space before it left out; (-1, -1) where the text goes on otherwise."""
    while text[position : position + 1].isspace():
        position += 1
    if text.startswith(form, position):
        return position, position + len(form)
    if len(parts := form.split()) > 1:  # a form with a space, which the text may print as another kind of space
        match = re.compile(r"\s+".join(map(re.escape, parts))).match(text, position)
        if match:
            return match.span()
    return -1, -1
