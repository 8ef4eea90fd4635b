"""Places of an item: the words of its conditions that share a distractor, and how a distractor is written beside a word."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from gardenpath import study
from gardenpath.stimuli import Item, Sentence
from gardenpath.stimuli.region_checks import EDGE_PUNCTUATION
from gardenpath.stimuli.text_checks import get_initial_case

from ..tokens.encoding import build_lead_in
from ..tokens.protocols import Protocol

LABELS_COLUMN = "labels"  # the free column that names each word's place
START_NAME, AFTER_PREFIX = "start", "after"


@dataclass(frozen=True)
class Site:
    """A word of a sentence: `preceding_text` is all that a model reads before it, `gap` what stands between the two."""

    item: str
    condition: str
    index: int
    text: str
    display_text: str
    preceding_text: str
    gap: str

    def format_distractor(self, distractor: str) -> str:
        """Return a distractor with the marks around the word, its first letter capital or small as the word's.

        >>> Site("i1", "a", 3, "Rome,", "Rome,", "She went to", " ").format_distractor("oven")
        'Oven,'
        """
        core = self.display_text.strip(EDGE_PUNCTUATION)
        start = self.display_text.index(core)
        case = get_initial_case(core) if core else None
        first = distractor[0] if case is None else distractor[0].upper() if case else distractor[0].lower()
        return f"{self.display_text[:start]}{first}{distractor[1:]}{self.display_text[start + len(core) :]}"


@dataclass(frozen=True)
class Position:
    """The words of an item that stand at the same place in its conditions; they share one distractor."""

    item: str
    language: str
    name: str
    sites: tuple[Site, ...]

    @property
    def words(self) -> list[str]:
        """The words, each once, without the marks around them."""
        return list(dict.fromkeys(site.display_text.strip(EDGE_PUNCTUATION) for site in self.sites))


def find_positions(item: Item, protocol: Protocol) -> list[Position]:
    """Return the places of an item, in the order of its words; first words stand beside x-x-x and have none.

    Words of different conditions are at one place where they have the same label in the free column `labels`, and without it where
    they are the same word, by number, of the same region, or of the words that follow the same region. Raises `study.DataError` for
    labels that are not one for each word.
    """
    found: dict[str, list[Site]] = {}
    labelled = any(_read_labels(item, condition) for condition in item.sentences)
    lead = build_lead_in(item.context, joiner=protocol.get_joiner(item.language))
    for condition, sentence in item.sentences.items():
        names = _check_labels(item, condition, sentence) if labelled else _label_by_region(sentence)
        words, shown = sentence.list_words(), sentence.list_displayed_words()
        for word, name in zip(words[1:], names[1:], strict=True):
            end = words[word.index - 1].end
            site = Site(
                item.id,
                condition,
                word.index,
                word.text,
                shown[word.index],
                lead + sentence.text[:end],
                sentence.text[end : word.start],
            )
            found.setdefault(name, []).append(site)
    along = sorted(found.items(), key=lambda one: sum(site.index for site in one[1]) / len(one[1]))
    return [Position(item.id, item.language, name, tuple(sites)) for name, sites in along]


def _read_labels(item: Item, condition: str) -> str:
    return item.extra.get(f"{LABELS_COLUMN} ({condition})") or item.extra.get(LABELS_COLUMN) or ""


def _check_labels(item: Item, condition: str, sentence: Sentence) -> list[str]:
    names, count = _read_labels(item, condition).split(), len(sentence.list_words())
    fault = f"{len(names)} labels, expected {count}" if len(names) != count else ""
    twice = [name for name, n in Counter(names).items() if n > 1]
    if fault or twice:
        what = fault or f"the label {twice[0]!r} is given to several words, expected each once"
        raise study.DataError(
            f"item {item.id} ({condition}): {what}; the column {LABELS_COLUMN!r} names each word's position, with spaces between"
        )
    return names


def _label_by_region(sentence: Sentence) -> list[str]:
    """Return for each word its region, or after which it stands, and its number there."""
    return [f"{run} {number}" for run, number in _number_words(sentence)]


def _number_words(sentence: Sentence) -> Iterator[tuple[str, int]]:
    seen: Counter[str] = Counter()
    run, last, number = "", "", 0
    for word in sentence.list_words():
        name = word.region or (f"{AFTER_PREFIX} {last}" if last else START_NAME)
        if name != run:
            run, number = name, 0
            seen[name] += 1
        number += 1
        last = word.region or last
        yield (run if seen[run] == 1 else f"{run} ({seen[run]})"), number
