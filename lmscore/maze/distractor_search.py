"""Which candidate each place gets: the best match that is improbable enough in every sentence that shares the place."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..models.interface import Progress
from .positions import Position, Site
from .surprisals import SurprisalScorer

FIRST_ROUND_CANDIDATES = 2  # candidates of a place that are scored exactly in the first round; twice as many in each that follows


@dataclass(frozen=True)
class SurprisalCriteria:
    """How improbable a distractor is, in bits: at least `surprisal`, and `margin` more than the word beside it."""

    surprisal: float = 25.0
    margin: float = 10.0

    def compute_shortfall(self, distractor: float, word: float) -> float:
        """Return by how many bits a distractor falls short; 0 or less where it does not, and inf where it has no surprisal."""
        short = max(self.surprisal, word + self.margin) - distractor
        return math.inf if math.isnan(short) else short


@dataclass
class UsedDistractors:
    """The distractors given so far: none twice in a sentence, and none more often than `max_repeats` in the materials."""

    max_repeats: int | None = None
    words_by_sentence: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    counts: Counter[str] = field(default_factory=Counter)

    def is_free(self, position: Position, word: str) -> bool:
        """Whether a place may have a word."""
        word = word.casefold()
        used = any(word in self.words_by_sentence[site.item, site.condition] for site in position.sites)
        return not used and (self.max_repeats is None or self.counts[word] < self.max_repeats)

    def add_word(self, position: Position, word: str) -> None:
        """Note that a place has a word."""
        self.counts[word.casefold()] += 1
        for site in position.sites:
            self.words_by_sentence[site.item, site.condition].add(word.casefold())


@dataclass
class DistractorSearch:
    """A place with its candidates, what is known of them, and what was found: a word, or why there is none."""

    position: Position
    candidates: Sequence[str] = ()
    lower_bounds: dict[Site, np.ndarray] = field(default_factory=dict)
    surprisals: dict[tuple[Site, int], float] = field(default_factory=dict)
    distractor: str | None = None
    reason: str | None = None

    def take_first_free(self, words: Iterable[str], used: UsedDistractors) -> None:
        """Take the first of some words that the place may have."""
        self.distractor = next((word for word in words if used.is_free(self.position, word)), None)
        if self.distractor is None:
            self.reason = "no pseudoword was found within the bound of length that is no known word"
        else:
            used.add_word(self.position, self.distractor)

    def take_or_request(
        self, demands: SurprisalCriteria, own: dict[Site, float], used: UsedDistractors, most: int
    ) -> list[tuple[Site, int]]:
        """Take the first candidate that is known to pass, or return what has to be scored before that can be told.

        Candidates are looked at in their order, up to the first that passes by its bounds; that one is scored as well, at every
        site. Of the others, up to `most`, only the sites where the bound leaves it open.
        """
        asked: list[tuple[Site, int]] = []
        open_, shortest = 0, (math.inf, "")
        for k, word in enumerate(self.candidates):
            if not used.is_free(self.position, word):
                continue
            known = {site: self.surprisals[site, k] for site in self.position.sites if (site, k) in self.surprisals}
            short, where = max(
                ((demands.compute_shortfall(value, own[site]), site.condition) for site, value in known.items()), default=(0.0, "")
            )
            if short > 0:
                shortest = min(shortest, (short, where))
                continue
            if len(known) == len(self.position.sites):
                if not asked:
                    self.distractor = word
                    used.add_word(self.position, word)
                return asked
            missing = [site for site in self.position.sites if site not in known]
            doubtful = [site for site in missing if demands.compute_shortfall(self.lower_bounds[site][k], own[site]) > 0]
            asked += [(site, k) for site in doubtful or missing]
            open_ += 1
            if not doubtful or open_ == most:
                return asked
        if not asked:
            self.reason = _explain_failure(len(self.candidates), *shortest)
        return asked


def choose_distractors(
    searches: Sequence[DistractorSearch],
    surprisals: SurprisalScorer,
    demands: SurprisalCriteria,
    used: UsedDistractors,
    progress: Progress | None = None,
) -> None:
    """Give each search its word, or why there is none; each round scores what all of them ask for, in one batch."""
    forms = {
        site: [site.format_distractor(word) for word in search.candidates] for search in searches for site in search.position.sites
    }
    own, below = surprisals.compute_bounds(forms)
    for search in searches:
        search.lower_bounds = {site: below[site] for site in search.position.sites}
    most = FIRST_ROUND_CANDIDATES
    open_ = [*searches]
    while open_:
        asked = [(search, *one) for search in open_ for one in search.take_or_request(demands, own, used, most)]
        values = surprisals.compute_surprisals([(site, forms[site][k]) for _, site, k in asked])
        for (search, site, k), value in zip(asked, values, strict=True):
            search.surprisals[site, k] = value
        open_ = [search for search in open_ if search.distractor is None and search.reason is None]
        most *= 2
        if progress:
            progress(len(searches) - len(open_), len(searches))


def _explain_failure(candidates: int, short: float, condition: str) -> str:
    if not math.isfinite(short):
        return f"all {candidates} candidates stand in the sentence already, or as often as they may in the materials"
    return f"none of {candidates} candidates is improbable enough: the best falls {_format_tenths(short)} bits short ({condition})"


def _format_tenths(bits: float) -> str:
    """Return bits with one decimal, rounded up: what falls short does not fall short by 0.0."""
    return f"{math.ceil(bits * 10) / 10:.1f}"
