"""Which candidate each place gets: the best match that is improbable enough in every sentence that shares the place."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..models.interface import Progress
from .places import Place, Site
from .surprisals import Surprisals

FIRST = 2  # candidates of a place that are scored exactly in the first round; twice as many in each that follows


@dataclass(frozen=True)
class Demands:
    """How improbable a distractor is, in bits: at least `surprisal`, and `margin` more than the word beside it."""

    surprisal: float = 25.0
    margin: float = 10.0

    def short(self, distractor: float, word: float) -> float:
        """Return by how many bits a distractor falls short; 0 or less where it does not, and inf where it has no surprisal."""
        short = max(self.surprisal, word + self.margin) - distractor
        return math.inf if math.isnan(short) else short


@dataclass
class Taken:
    """The distractors given so far: none twice in a sentence, and none more often than `repeats` in the materials."""

    repeats: int | None = None
    by_sentence: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    times: Counter[str] = field(default_factory=Counter)

    def free(self, place: Place, word: str) -> bool:
        """Whether a place may have a word."""
        word = word.casefold()
        used = any(word in self.by_sentence[site.item, site.condition] for site in place.sites)
        return not used and (self.repeats is None or self.times[word] < self.repeats)

    def take(self, place: Place, word: str) -> None:
        """Note that a place has a word."""
        self.times[word.casefold()] += 1
        for site in place.sites:
            self.by_sentence[site.item, site.condition].add(word.casefold())


@dataclass
class Search:
    """A place with its candidates, what is known of them, and what was found: a word, or why there is none."""

    place: Place
    candidates: Sequence[str] = ()
    below: dict[Site, np.ndarray] = field(default_factory=dict)
    exact: dict[tuple[Site, int], float] = field(default_factory=dict)
    found: str | None = None
    why: str | None = None

    def take_first(self, words: Iterable[str], taken: Taken) -> None:
        """Take the first of some words that the place may have."""
        self.found = next((word for word in words if taken.free(self.place, word)), None)
        if self.found is None:
            self.why = "no pseudoword was found within the bound of length that is no known word"
        else:
            taken.take(self.place, self.found)

    def step(self, demands: Demands, own: dict[Site, float], taken: Taken, most: int) -> list[tuple[Site, int]]:
        """Take the first candidate that is known to pass, or return what has to be scored before that can be told.

        Candidates are looked at in their order, up to the first that passes by its bounds; that one is scored as well, at every
        site. Of the others, up to `most`, only the sites where the bound leaves it open.
        """
        asked: list[tuple[Site, int]] = []
        open_, shortest = 0, (math.inf, "")
        for k, word in enumerate(self.candidates):
            if not taken.free(self.place, word):
                continue
            known = {site: self.exact[site, k] for site in self.place.sites if (site, k) in self.exact}
            short, where = max(
                ((demands.short(value, own[site]), site.condition) for site, value in known.items()),
                default=(0.0, ""),
            )
            if short > 0:
                shortest = min(shortest, (short, where))
                continue
            if len(known) == len(self.place.sites):
                if not asked:
                    self.found = word
                    taken.take(self.place, word)
                return asked
            missing = [site for site in self.place.sites if site not in known]
            doubtful = [site for site in missing if demands.short(self.below[site][k], own[site]) > 0]
            asked += [(site, k) for site in doubtful or missing]
            open_ += 1
            if not doubtful or open_ == most:
                return asked
        if not asked:
            self.why = _why(len(self.candidates), *shortest)
        return asked


def choose(
    searches: Sequence[Search],
    surprisals: Surprisals,
    demands: Demands,
    taken: Taken,
    progress: Progress | None = None,
) -> None:
    """Give each search its word, or why there is none; each round scores what all of them ask for, in one batch."""
    forms = {
        site: [site.dressed(word) for word in search.candidates] for search in searches for site in search.place.sites
    }
    own, below = surprisals.bounds(forms)
    for search in searches:
        search.below = {site: below[site] for site in search.place.sites}
    most = FIRST
    open_ = [*searches]
    while open_:
        asked = [(search, *one) for search in open_ for one in search.step(demands, own, taken, most)]
        values = surprisals.exact([(site, forms[site][k]) for _, site, k in asked])
        for (search, site, k), value in zip(asked, values, strict=True):
            search.exact[site, k] = value
        open_ = [search for search in open_ if search.found is None and search.why is None]
        most *= 2
        if progress:
            progress(len(searches) - len(open_), len(searches))


def _why(candidates: int, short: float, condition: str) -> str:
    if not math.isfinite(short):
        return f"all {candidates} candidates stand in the sentence already, or as often as they may in the materials"
    return f"none of {candidates} candidates is improbable enough: the best falls {_tenths(short)} bits short ({condition})"


def _tenths(bits: float) -> str:
    """Return bits with one decimal, rounded up: what falls short does not fall short by 0.0."""
    return f"{math.ceil(bits * 10) / 10:.1f}"
