"""Regions, words, sentences, paradigms, items: values that everything else is computed from."""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

CRITICAL = "critical"
CUE = "cue"
GRAMMATICAL = "grammatical"
UNGRAMMATICAL = "ungrammatical"
MINIMAL_PAIR: Mapping[str, tuple[str, ...]] = {"grammaticality": (GRAMMATICAL, UNGRAMMATICAL)}


@dataclass(frozen=True, slots=True)
class Region:
    """A named span of characters (code points) of a sentence, `end` excluded; it may be empty or nested.

    >>> Sentence("No dog has ever barked.", (Region("critical", 11, 15),)).list_region_words("critical")[0].text
    'ever'
    """

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence: position from 0, text, character span, and the innermost region that holds it."""

    index: int
    text: str
    start: int
    end: int
    region: str | None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text with its regions; words are separated by spaces unless `segmentation` gives the author's spans.

    `display` holds what a reader sees in place of each word, where that differs from the analysed text; `alternatives` holds for
    each word one that does not continue the sentence (the distractors of Maze).

    >>> s = Sentence("No student has ever complained.", (Region("cue", 0, 2), Region("critical", 15, 19)))
    >>> [(w.text, w.region) for w in s.list_words()][:4]
    [('No', 'cue'), ('student', None), ('has', None), ('ever', 'critical')]
    """

    text: str
    regions: tuple[Region, ...] = ()
    segmentation: tuple[tuple[int, int], ...] | None = None
    display: tuple[str, ...] | None = None
    alternatives: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        faults = [
            f"region {r.name!r} spans characters {r.start} to {r.end}, outside the sentence of {len(self.text)} characters"
            for r in self.regions
            if not 0 <= r.start <= r.end <= len(self.text)
        ]
        if self.segmentation is not None:
            faults += _find_segmentation_faults(self.text, self.segmentation)
        if not self.text.strip():
            faults.append("the sentence is empty; expected text")
        elif not faults:
            faults += self._find_word_faults()
        if faults:
            raise ValueError("; ".join(faults))

    def _find_word_faults(self) -> Iterator[str]:
        """Yield what is wrong with the words to display and the alternatives."""
        for what, words in (("words to display", self.display), ("alternatives", self.alternatives)):
            if words is not None and len(words) != len(self.list_words()):
                yield f"{len(words)} {what}, expected {len(self.list_words())}, one for each word of the sentence"
                return
        for n, (word, other) in enumerate(
            zip(self.list_displayed_words(), self.alternatives, strict=True) if self.alternatives else ()
        ):
            if not other.strip():
                yield f"the alternative of word {n} ({word!r}) is empty; expected another word"
            elif other == word:
                yield f"the alternative of word {n} is {other!r}, the word itself; expected another word"

    def list_words(self) -> list[Word]:
        """Return the words in order; a word belongs to the smallest region that overlaps it."""
        spans = self.segmentation or [m.span() for m in re.finditer(r"\S+", self.text)]
        return [Word(i, self.text[a:b], a, b, self._find_innermost_region(a, b)) for i, (a, b) in enumerate(spans)]

    def list_displayed_words(self) -> list[str]:
        """Return what a reader sees of each word."""
        return list(self.display) if self.display is not None else [word.text for word in self.list_words()]

    def find_region(self, name: str) -> Region | None:
        """Return the first region of that name, or None."""
        return next((r for r in self.regions if r.name == name), None)

    def list_region_words(self, name: str) -> list[Word]:
        """Return the words that overlap the region of that name, by position; empty where there is no such region."""
        region = self.find_region(name)
        return [w for w in self.list_words() if region and w.start < region.end and region.start < w.end]

    def _find_innermost_region(self, start: int, end: int) -> str | None:
        holding = [r for r in self.regions if r.start < end and start < r.end]
        return min(holding, key=lambda r: r.end - r.start).name if holding else None


def _find_segmentation_faults(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Return what is wrong with an author's words: they follow each other, none of them empty."""
    if not spans:
        return ["the segmentation holds no words; expected [start, end] for each word, or no segmentation"]
    covered, last = 0, ""
    for n, (start, end) in enumerate(spans):
        here = f"word {n} of the segmentation, [{start}, {end}],"
        if not 0 <= start < end <= len(text):
            return [f"{here} is empty or outside the sentence of {len(text)} characters; expected 0 <= start < end"]
        if start < covered:
            return [f"{here} overlaps the word before it, {last}; expected words that follow each other"]
        if not text[start:end].strip():
            return [f"{here} holds blanks only; expected a word"]
        covered, last = end, f"[{start}, {end}]"
    return []


@dataclass(frozen=True)
class Paradigm:
    """Items that make the same contrast; a condition is a combination of factor levels.

    `waivers` names rules of `check` that the paradigm may break, each with the reason; `predictions` are formulas over
    regions and conditions, as in SyntaxGym.

    >>> Paradigm("npi_no", "npi_licensing").list_conditions()
    {'grammatical': {'grammaticality': 'grammatical'}, 'ungrammatical': {'grammaticality': 'ungrammatical'}}
    """

    id: str
    phenomenon: str
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(MINIMAL_PAIR))
    references: tuple[str, ...] = ()
    waivers: Mapping[str, str] = field(default_factory=dict)
    predictions: tuple[str, ...] = ()

    def list_conditions(self) -> dict[str, dict[str, str]]:
        """Return each condition's name (its levels joined by a dot) and its level of every factor."""
        combinations = itertools.product(*self.factors.values())
        return {".".join(levels): dict(zip(self.factors, levels, strict=True)) for levels in combinations}

    def is_minimal_pair(self) -> bool:
        """Whether the contrast is grammatical against ungrammatical and nothing else."""
        return set(self.list_conditions()) == {GRAMMATICAL, UNGRAMMATICAL}


@dataclass(frozen=True)
class Question:
    """A comprehension question: its text, the right answer in each condition, and the answers to choose from.

    >>> Question("Did a dog bark?", {"grammatical": "no", "ungrammatical": "yes"}).choices
    ('yes', 'no')
    """

    text: str
    answers: Mapping[str, str]
    choices: tuple[str, ...] = ("yes", "no")


@dataclass(frozen=True, slots=True)
class Item:
    """One item: a sentence for each condition of its paradigm.

    `context` is read or fed before the sentence and never analysed; `extra` keeps what a format says beyond our fields.

    >>> item = Item("i1", "number", {"grammatical": Sentence("A dog barks."), "ungrammatical": Sentence("A dog bark.")})
    >>> list(item.sentences)
    ['grammatical', 'ungrammatical']
    """

    id: str
    paradigm: str
    sentences: Mapping[str, Sentence]
    language: str = "en"
    context: str | None = None
    question: Question | None = None
    notes: str | None = None
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The file and the line that a sentence was read from."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True)
class Materials:
    """Paradigms and items as read from files; `source_lines` remembers file and line of each (item, condition).

    >>> item = Item("i1", "number", {"grammatical": Sentence("A dog barks."), "ungrammatical": Sentence("A dog bark.")})
    >>> materials = Materials((Paradigm("number", "agreement"),), (item,))
    >>> materials.find_paradigm("number").phenomenon
    'agreement'
    >>> materials
    Materials(1 paradigm, 1 item, 2 sentences)
    """

    paradigms: tuple[Paradigm, ...]
    items: tuple[Item, ...]
    source_lines: Mapping[tuple[str, str], SourceLine] = field(default_factory=dict, compare=False, repr=False)

    def __repr__(self) -> str:
        counts = len(self.paradigms), len(self.items), sum(len(item.sentences) for item in self.items)
        named = [f"{n} {noun}{'s' * (n != 1)}" for n, noun in zip(counts, ("paradigm", "item", "sentence"), strict=True)]
        return f"Materials({', '.join(named)})"

    def _repr_html_(self) -> str:
        items = Counter(item.paradigm for item in self.items)
        rows = [(p.id, p.phenomenon, ", ".join(p.list_conditions()), items[p.id]) for p in self.paradigms]
        return format_html_table(("paradigm", "phenomenon", "conditions", "items"), rows)

    def find_paradigm(self, name: str) -> Paradigm:
        """Return the paradigm of that id."""
        return next(p for p in self.paradigms if p.id == name)

    def find_source_line(self, item: str, condition: str) -> SourceLine:
        """Return where a sentence was read from, or an unknown place."""
        return self.source_lines.get((item, condition), SourceLine("(no file)", 0))


def format_html_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as notebooks show it, its cells escaped.

    >>> format_html_table(["n"], [["<1"]])
    '<table><tr><th>n</th></tr><tr><td>&lt;1</td></tr></table>'
    """
    lines = [("th", header), *(("td", row) for row in rows)]
    cells = ("".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in row) for tag, row in lines)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
