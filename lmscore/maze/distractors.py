"""Materials and a model become materials with distractors, the table to review them by, and what each costs the model."""

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gardenpath import study
from gardenpath.stimuli import Item, Materials, Sentence
from gardenpath.stimuli.item_tables import measure_word_length
from gardenpath.stimuli.region_checks import EDGE_PUNCTUATION
from gardenpath.stimuli.text_checks import find_word_list

from ..loading import load
from ..models.interface import Model, Progress
from ..tokens.protocols import DEFAULT_PROTOCOL, Protocol
from .distractor_search import DistractorSearch, SurprisalCriteria, UsedDistractors, choose_distractors
from .positions import Position, Site, find_positions
from .pseudowords import LetterModel
from .review import parse_review, read_review
from .surprisals import SurprisalScorer
from .word_lists import WordList, fold_case, load_wordfreq, read_words

if TYPE_CHECKING:
    import pandas as pd

NO_WORD = "x-x-x"
MAX_WORDS_SHOWN = 5  # words that a message names
BATCH_NOISE_BITS = 0.05  # bits by which the same word may cost more or less in another batch

log = logging.getLogger("gardenpath")


class Distractors(NamedTuple):
    """Materials whose sentences have their alternatives, and the tables `distractors` and `distractor_margins`.

    A sentence in which a word found no distractor has no alternatives.

    >>> from gardenpath import lmscore
    >>> from gardenpath.stimuli import Item, Materials, Paradigm, Sentence
    >>> pair = {"grammatical": Sentence("The dogs bark."), "ungrammatical": Sentence("The dogs barks.")}
    >>> materials = Materials((Paradigm("number", "agreement"),), (Item("i1", "number", pair),))
    >>> made = lmscore.add_distractors(materials, pseudowords=True)
    >>> made.materials.items[0].sentences["grammatical"].alternatives[0], len(made.distractor_margins)
    ('x-x-x', 4)
    """

    materials: Materials
    distractors: "pd.DataFrame"
    distractor_margins: "pd.DataFrame"


def add_distractors(
    materials: Materials,
    model: str | Path | Model | None = None,
    *,
    words: str | Path | None = None,
    pseudowords: bool = False,
    surprisal: float = 25.0,
    margin: float = 10.0,
    length: int = 1,
    zipf: float = 1.0,
    candidates: int = 100,
    repeats: int | None = None,
    exclude: Iterable[str] = (),
    reviewed: "str | Path | pd.DataFrame | None" = None,
    held_out: str | Path | Model | None = None,
    seed: int = 1,
    protocol: Protocol = DEFAULT_PROTOCOL,
    batch_tokens: int | None = None,
    progress: Progress | None = None,
) -> Distractors:
    """Return the materials with a distractor for every word after the first, and the tables that say how good each is.

    A distractor costs `model` at least `surprisal` bits and `margin` bits more than the word, in every condition that shares its
    place: the words with the same label in the free column `labels`, else the same word by number of the same region. So a
    difference between conditions is never the distractor's. It is a word of the list, as long as each of these words but for
    `length` letters and as frequent but for `zipf` on the Zipf scale, the best match of up to `candidates` that is improbable
    enough; it stands in no sentence of the item, once at most in any, in `repeats` places at most, and not in `exclude`. First
    letter's case and marks are the word's. See Boyce, Futrell & Levy (2020, doi 10.1016/j.jml.2019.104082), whose bounds of
    surprisal are the defaults.

    `words` is a file as `read_words` takes it, by default wordfreq's list of each item's language. With `pseudowords` distractors
    are strings of letters as in those words (L-maze) and need no model. `reviewed` is the table `distractors`, or its file, after
    somebody read it: what stands in its column `distractor` is kept, an empty cell is filled, never by a word of `rejected`.
    `held_out` is a second model, which chooses nothing and says what it makes of each distractor.

    Raises `study.DataError` for labels or a reviewed table that do not fit the materials; `ValueError` for a masked or n-gram
    model, for none where one is needed, and for a language without a list.

    >>> from gardenpath import lmscore
    >>> from gardenpath.stimuli import Item, Materials, Paradigm, Sentence
    >>> pair = {"grammatical": Sentence("The dogs bark."), "ungrammatical": Sentence("The dogs barks.")}
    >>> materials = Materials((Paradigm("number", "agreement"),), (Item("i1", "number", pair),))
    >>> made = lmscore.add_distractors(materials, pseudowords=True)
    >>> made.distractors[["position", "words", "distractor"]].values.tolist()
    [['start 2', 'dogs', '...'], ['start 3', 'bark | barks', '...']]
    """
    import pandas as pd

    demands = SurprisalCriteria(surprisal, margin)
    _check_numbers(length=length, zipf=zipf, candidates=candidates, repeats=repeats)
    asking, second = (
        None if one is None else SurprisalScorer(load(one) if isinstance(one, (str, Path)) else one, batch_tokens)
        for one in (model, held_out)
    )
    searches = [DistractorSearch(position) for item in materials.items for position in find_positions(item, protocol)]
    excluded, used = fold_case(exclude), UsedDistractors(repeats)
    review = [] if reviewed is None else read_review(reviewed)
    given, rejected = parse_review(review, [search.position for search in searches], excluded)
    for search in searches:
        if word := given.get((search.position.item, search.position.name)):
            search.distractor = word
            used.add_word(search.position, word)
    open_ = [search for search in searches if search.distractor is None]
    if open_ and asking is None and not pseudowords:
        raise ValueError(
            f"{len(open_)} positions have no distractor and there is no model to choose by; expected a causal model, such as gpt2 "
            "(--model), or pseudowords (--pseudowords)"
        )
    lists = _load_word_lists(words, [search.position for search in searches], {search.position.language for search in open_})
    own = {item.id: _collect_own_words(item) for item in materials.items}
    letters = {language: LetterModel(listed.words) for language, listed in lists.items()} if pseudowords else {}
    for search in open_:
        position, listed = search.position, lists[search.position.language]
        forbidden = excluded | own[position.item] | rejected[position.item, position.name]
        if not any(map(measure_word_length, position.words)):
            search.reason = "no letter or digit in it; expected a distractor by hand"
        elif pseudowords:
            drawn = _draw_pseudowords(letters[position.language], listed, position, length, seed, forbidden)
            search.take_first_free(drawn, used)
        else:
            search.candidates = listed.find_candidates(position, length, zipf, candidates, seed, forbidden)
            if not search.candidates:
                search.reason = _explain_no_match(listed, position, length, zipf)
    _warn_of_unknown_words(lists, [search.position for search in open_ if search.candidates])
    if asking is not None:
        choose_distractors([search for search in open_ if search.candidates], asking, demands, used, progress)
    costs = _compute_costs(searches, asking, ("word_surprisal", "surprisal", "margin"))
    for site, cost in _compute_costs(
        searches, second, [f"held_out_{name}" for name in ("word_surprisal", "surprisal", "margin")]
    ).items():
        costs[site] = costs.get(site, {}) | cost
    tables = (
        study.check(pd.DataFrame(rows, columns=study.TABLES[name].column_names), name)
        for name, rows in (
            ("distractors", _build_distractor_rows(searches, costs, demands, lists, rejected)),
            ("distractor_margins", _build_margin_rows(searches, costs)),
        )
    )
    return Distractors(_add_alternatives(materials, searches), *tables)


def _check_numbers(**numbers: float | None) -> None:
    for name, value in numbers.items():
        least = 1 if name in ("candidates", "repeats") else 0
        if value is not None and not value >= least:
            raise ValueError(f"{name} is {value:g}; expected {least} or more")


def _load_word_lists(words: str | Path | None, positions: Iterable[Position], needed: set[str]) -> dict[str, WordList]:
    """Return the word list of each language that needs one, or has one."""
    languages = dict.fromkeys(position.language for position in positions)
    if words is not None:
        return {language: read_words(words, language) for language in languages}
    return {language: load_wordfreq(language) for language in languages if language in needed or find_word_list(language)}


def _warn_of_unknown_words(lists: Mapping[str, WordList], positions: Iterable[Position]) -> None:
    """Name the words whose frequency is not known, on the log."""
    unknown = list(
        dict.fromkeys(w for position in positions for w in position.words if math.isnan(lists[position.language].get_zipf(w)))
    )
    if unknown:
        more = f" and {len(unknown) - MAX_WORDS_SHOWN} more" if len(unknown) > MAX_WORDS_SHOWN else ""
        named = ", ".join(unknown[:MAX_WORDS_SHOWN]) + more
        log.warning("no Zipf frequency is known of %s: matched in length alone", named)


def _collect_own_words(item: Item) -> frozenset[str]:
    return fold_case(
        word.strip(EDGE_PUNCTUATION) for sentence in item.sentences.values() for word in sentence.list_displayed_words()
    )


def _draw_pseudowords(
    letters: LetterModel, listed: WordList, position: Position, length: int, seed: int, forbidden: frozenset[str]
) -> Iterator[str]:
    """Return pseudowords for a place, within the bound of its words' lengths and the nearest to these first; no known words."""
    lengths = [measure_word_length(word) for word in position.words]
    fitting = range(max(1, max(lengths) - length), min(lengths) + length + 1)
    nearest = sorted(fitting, key=lambda letters: sum(abs(letters - n) for n in lengths))
    return letters.draw_pseudowords(
        nearest, f"{seed}-{position.item}-{position.name}", lambda text: text in forbidden or listed.has_word(text)
    )


def _explain_no_match(listed: WordList, position: Position, length: int, zipf: float) -> str:
    """Return why no word matches those of a place."""
    letters = [float(measure_word_length(word)) for word in position.words]
    known = [value for value in map(listed.get_zipf, position.words) if not math.isnan(value)]
    ranges = []
    for what, values, bound in (("letters", letters, length), ("Zipf", known, zipf)):
        low, high = max(values, default=0.0) - bound, min(values, default=0.0) + bound
        if low > high + 1e-9:
            return (
                f"its words are too unlike for one distractor: {what} {min(values):g} to {max(values):g}, expected at most "
                f"{2 * bound:g} apart"
            )
        ranges += [f"{what} {max(low, 0):g} to {high:g}"] if values else []
    return f"no word of {' and '.join(ranges)} in {listed.source}"


def _compute_costs(
    searches: Iterable[DistractorSearch], model: SurprisalScorer | None, names: Sequence[str]
) -> dict[Site, dict[str, float]]:
    """Return what each word and its distractor cost a model, and the difference, by these names, in bits."""
    forms = [
        (site, site.format_distractor(s.distractor)) for s in searches if s.distractor is not None for site in s.position.sites
    ]
    if model is None:
        return {}
    values = model.compute_surprisals([pair for site, form in forms for pair in ((site, site.text), (site, form))])
    return {
        site: dict(zip(names, (word, distractor, distractor - word), strict=True))
        for (site, _), word, distractor in zip(forms, values[::2], values[1::2], strict=True)
    }


def _build_distractor_rows(
    searches: Iterable[DistractorSearch],
    costs: Mapping[Site, Mapping[str, float]],
    demands: SurprisalCriteria,
    lists: Mapping[str, WordList],
    rejected: Mapping[tuple[str, str], frozenset[str]],
) -> Iterator[dict[str, object]]:
    """Yield the rows of the table `distractors`."""
    for search in searches:
        position, word, why = search.position, search.distractor, search.reason
        position_costs = {site: costs[site] for site in position.sites if site in costs}
        least = {name: min(cost[name] for cost in position_costs.values()) for name in next(iter(position_costs.values()), {})}
        if "margin" in least:
            short, where = max(
                (demands.compute_shortfall(c["surprisal"], c["word_surprisal"]), s.condition) for s, c in position_costs.items()
            )
            why = f"{short:.1f} bits short of what is demanded ({where})" if short > BATCH_NOISE_BITS else why
        yield {
            "item": position.item,
            "position": position.name,
            "conditions": " ".join(dict.fromkeys(site.condition for site in position.sites)),
            "words": " | ".join(position.words),
            "distractor": word,
            "rejected_words": " ".join(sorted(rejected[position.item, position.name])) or None,
            "length": word and measure_word_length(word),
            "zipf": lists[position.language].get_zipf(word) if word and position.language in lists else None,
            **{name: round(value, 2) for name, value in least.items()},
            "reason": why,
        }


def _build_margin_rows(
    searches: Iterable[DistractorSearch], costs: Mapping[Site, Mapping[str, float]]
) -> Iterator[dict[str, object]]:
    """Yield the rows of the table `distractor_margins`."""
    for search in searches:
        for site in search.position.sites:
            yield {
                "item": site.item,
                "condition": site.condition,
                "word": site.index,
                "text": site.display_text,
                "position": search.position.name,
                "distractor": search.distractor and site.format_distractor(search.distractor),
                **costs.get(site, {}),
            }


def _add_alternatives(materials: Materials, searches: Iterable[DistractorSearch]) -> Materials:
    """Return the materials with the distractors found; a sentence in which a word has none gets no alternatives."""
    found = {
        (site.item, site.condition, site.index): site.format_distractor(search.distractor)
        for search in searches
        if search.distractor is not None
        for site in search.position.sites
    }

    def replace_alternatives(item: Item, condition: str, sentence: Sentence) -> Sentence:
        others = [found.get((item.id, condition, word.index)) for word in sentence.list_words()[1:]]
        words = tuple(other for other in others if other is not None)
        return replace(sentence, alternatives=(NO_WORD, *words) if len(words) == len(others) else None)

    items = tuple(
        replace(item, sentences={name: replace_alternatives(item, name, sentence) for name, sentence in item.sentences.items()})
        for item in materials.items
    )
    return replace(materials, items=items)
