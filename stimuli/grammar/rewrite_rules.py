"""What happens where words meet: rewriting rules (*a* becomes *an*), capitals and spaces, with the regions moved along."""

import functools
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from ..items import Region, Sentence
from .faults import Faults, Line

ONSETS = ("vowel", "consonant")
ONSET_PREFIX = "onset="  # begins the name of a span that says how its word begins
# Spaces that go where a word or an optional part is not there; and marks that stand at the word before them.
EXTRA_SPACES_PATTERN = re.compile(r" {2,}")
LOOSE_PUNCTUATION_PATTERN = re.compile(r" +(?=[.,;:?!…)\]”»])")
LETTER_PATTERN = re.compile(r"[^\W\d_]")
WORD_PATTERN = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")


@dataclass
class MarkedText:
    """A text under way, with spans that are moved along as it changes: of regions, and of words whose onset is stated.

    >>> text = MarkedText("a old cat", [["critical", 2, 5]])
    >>> text.replace(0, 1, "an"); text.text, text.spans
    ('an old cat', [['critical', 3, 6]])
    """

    text: str
    spans: list[list[Any]] = field(default_factory=list)

    def replace(self, start: int, end: int, new: str) -> None:
        """Put `new` in the place of these characters; a boundary inside them goes to the side that keeps the whole."""
        change = len(new) - (end - start)
        for span in self.spans:
            if span[1] >= end:
                span[1] += change
            elif span[1] > start:
                span[1] = start
            if span[2] >= end:
                span[2] += change
            elif span[2] > start:
                span[2] = start + len(new)
        self.text = self.text[:start] + new + self.text[end:]

    def substitute(self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str | None]) -> None:
        """Replace every match by what `new` returns; None leaves it."""
        if pattern.search(self.text) is None:
            return
        for match in reversed(list(pattern.finditer(self.text))):
            put = new(match)
            if put is not None:
                self.replace(match.start(), match.end(), put)


@dataclass(frozen=True)
class RewriteRule:
    """Words become others, everywhere or before an onset."""

    words: str
    replacement: str
    onset: str | None = None

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches the words as whole words, not inside longer ones."""
        written = r"\s+".join(re.escape(word) for word in self.words.split())
        return re.compile(rf"(?<![\w'’\-]){written}(?![\w\-])", re.IGNORECASE)


@dataclass(frozen=True)
class Language:
    """How a language joins words: the separator, its vowels, its rules in order, and capitals that are not the usual ones."""

    code: str
    separator: str = " "
    vowels: str = "aeiou"
    onsets: Mapping[str, str] = field(default_factory=dict)
    capitals: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[RewriteRule, ...] = ()

    def classify_onset(self, word: str) -> str:
        """Return how a word begins, by its letters.

        >>> [find_language("en").classify_onset(word) for word in ("owl", "one-eyed", "uniform", "hour")]
        ['vowel', 'consonant', 'consonant', 'vowel']
        """
        for onset in ONSETS:
            if onset in self.onsets and re.match(self.onsets[onset], word, re.IGNORECASE):
                return onset
        return "vowel" if word[:1].lower() in self.vowels else "consonant"

    def rewrite(self, text: MarkedText) -> None:
        """Apply the rules in order. Spans named `onset=...` say how the word there begins."""
        for rule in self.rules:
            text.substitute(rule.pattern, functools.partial(self._apply_rule, rule, text))

    def _apply_rule(self, rule: RewriteRule, text: MarkedText, match: re.Match[str]) -> str | None:
        if rule.onset is not None:
            following = WORD_PATTERN.search(text.text, match.end())
            if following is None or text.text[match.end() : following.start()].strip(" \"'“‘«("):
                return None
            stated = (
                s[0].removeprefix(ONSET_PREFIX) for s in text.spans if s[1] == following.start() and s[0].startswith(ONSET_PREFIX)
            )
            if next(stated, self.classify_onset(following[0])) != rule.onset:
                return None
        return rule.replacement[:1].upper() + rule.replacement[1:] if match[0][:1].isupper() else rule.replacement

    def capitalise(self, text: MarkedText) -> None:
        """Give the first letter a capital, as the language writes it."""
        first = LETTER_PATTERN.search(text.text)
        if first is None:
            return
        start, letter = first.start(), first[0]
        if start and WORD_PATTERN.search(text.text) and text.text[:start].strip(" \"'“‘«(¿¡"):
            return
        for small, capital in self.capitals.items():
            if text.text.startswith(small, start):
                text.replace(start, start + len(small), capital)
                return
        if letter.islower() and len(letter.upper()) == 1:
            text.text = text.text[:start] + letter.upper() + text.text[start + 1 :]

    def build_sentence(self, text: MarkedText) -> Sentence:
        """Return the text as a sentence of the language: rewritten, spaced, with a capital, regions trimmed to their words."""
        if "  " in text.text:
            text.substitute(EXTRA_SPACES_PATTERN, lambda match: " ")
        text.substitute(LOOSE_PUNCTUATION_PATTERN, lambda match: "")
        if text.text != text.text.strip():
            text.replace(len(text.text.rstrip()), len(text.text), "")
            text.replace(0, len(text.text) - len(text.text.lstrip()), "")
        self.rewrite(text)
        self.capitalise(text)
        segmentation = None
        if self.separator != " ":
            size = len(self.separator)
            spaces = [match.start() for match in re.finditer(" ", text.text)]
            starts = [0, *(at + size + (size - 1) * n for n, at in enumerate(spaces))]
            text.substitute(re.compile(" "), lambda match: self.separator)
            ends = [*(start - size for start in starts[1:]), len(text.text)]
            segmentation = tuple(zip(starts, ends, strict=True))
        regions = []
        for name, start, end in text.spans:
            if not name.startswith(ONSET_PREFIX):
                inside = text.text[start:end]
                start += len(inside) - len(inside.lstrip()) if inside.strip() else 0
                regions.append(Region(name, start, start + len(inside.strip())))
        return Sentence(text.text, tuple(sorted(regions, key=lambda r: (r.start, -r.end))), segmentation)


@functools.cache
def _read_languages() -> dict[str, Any]:
    text = (files("gardenpath.stimuli.grammar") / "languages.toml").read_text("utf-8")
    return tomllib.loads(text)


@functools.cache
def find_language(code: str) -> Language:
    """Return what is known of a language by its code; of one that is not listed, nothing.

    >>> find_language("nl").capitals
    {'ij': 'IJ'}
    """
    return read_language(code, " ", [], [], Faults())


def read_language(
    code: str, separator: str, rewrite: Sequence[Mapping[str, Any]], lines: Sequence[Line], faults: Faults
) -> Language:
    """Return a language with the rules of a grammar after its own; a rule whose tests fail is a fault."""
    known = _read_languages().get(code.split("-")[0], {})
    rules = [_build_rule(rule) for rule in known.get("rewrite", [])]
    language = Language(
        code, separator, known.get("vowels", "aeiou"), known.get("onsets", {}), known.get("capitals", {}), tuple(rules)
    )
    for stated, line in zip(rewrite, lines, strict=True):
        unknown = set(stated) - {"words", "to", "onset", "tests"}
        if unknown or not {"words", "to"} <= set(stated) or stated.get("onset", "vowel") not in ONSETS:
            faults.add(line, 'a rewrite rule has words and to, onset ("vowel" or "consonant") and tests; got ' + repr(dict(stated)))
            continue
        rules.append(_build_rule(stated))
        language = Language(code, separator, language.vowels, language.onsets, language.capitals, tuple(rules))
        for before, after in stated.get("tests", {}).items():
            text = MarkedText(before)
            language.rewrite(text)
            if text.text != after:
                faults.add(line, f"the rule makes {text.text!r} of {before!r}; its tests expect {after!r}")
    return language


def _build_rule(stated: Mapping[str, Any]) -> RewriteRule:
    return RewriteRule(stated["words"], stated["to"], stated.get("onset"))
