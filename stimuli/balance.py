"""How far the conditions of a paradigm differ in length and frequency, region by region.

The standardised difference is that of `study.balance`. The standard deviation of the differences within pairs is no yardstick
here: minimal pairs differ in a word or two, often the same ones in every item, so that it is near zero and the quotient unbounded.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gardenpath import study
from gardenpath.study.balance import PART_LABELS, compute_mean_and_variance, compute_standardised_difference, is_large

from .item_tables import measure_word_length, zipf
from .items import CRITICAL, CUE, Materials
from .segmentation import Fault, SegmentedMaterials, SegmentedSentence, segment
from .text_checks import UNSPACED_LANGUAGES, find_usable_word_list, get_base_language

if TYPE_CHECKING:
    import pandas as pd

    from .norms import Norms

Measure = str  # letters, zipf, or a norm
SENTENCE_PARTS = ("before", CRITICAL, "after", CUE, "rest", "sentence")


@dataclass(frozen=True)
class Contrast:
    """Two conditions of a paradigm in one part of the sentence: means over items and standardised difference.

    `cohens_d` is infinite where the means differ and the items do not, and None where nothing can be said.
    """

    paradigm: str
    region: str
    measure: Measure
    condition_a: str
    condition_b: str
    n_items: int
    mean_a: float
    mean_b: float
    cohens_d: float | None


def compute_balance(materials: Materials, norms: "Norms | None" = None) -> "pd.DataFrame":
    """Return table `balance`: every two conditions of every paradigm in the length and frequency of each region, and in `norms`.

    The parts are the critical region, the word directly before and after it, the cue, the sentence without its cue
    (`rest`), and the whole sentence.

    >>> from gardenpath import stimuli
    >>> short, long = stimuli.Sentence("Dogs bark."), stimuli.Sentence("Dogs whimper.")
    >>> item = stimuli.Item("i1", "verbs", {"grammatical": short, "ungrammatical": long})
    >>> table = stimuli.compute_balance(stimuli.Materials((stimuli.Paradigm("verbs", "length"),), (item,)))
    >>> table.query("measure == 'letters'")[["region", "mean_a", "mean_b"]].to_dict("records")
    [{'region': 'sentence', 'mean_a': 8.0, 'mean_b': 11.0}]
    """
    import pandas as pd

    rows = [vars(contrast) for contrast in compute_contrasts(segment(materials, norms))]
    frame = pd.DataFrame(rows, columns=study.TABLES["balance"].column_names)
    frame["cohens_d"] = [None if d is None or math.isinf(d) else d for d in frame["cohens_d"]]
    return study.check(frame, "balance")


def find_unbalanced_conditions(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """The cue is what the contrast consists in: where one is marked, the rest of the sentence is to be balanced."""
    all_contrasts = list(compute_contrasts(segmented))
    with_cue = {contrast.paradigm for contrast in all_contrasts if contrast.region == CUE}
    for c in all_contrasts:
        contrast_itself = c.region == CUE or (c.region == "sentence" and c.paradigm in with_cue)
        if contrast_itself or c.cohens_d is None or not is_large(c.cohens_d, c.n_items):
            continue
        what = {"letters": "mean letters", "zipf": "mean Zipf frequency"}.get(c.measure, f"mean {c.measure}")
        size = "the same in all items" if math.isinf(c.cohens_d) else f"standardised difference {c.cohens_d:.2f}"
        means = f"{c.mean_a:.2f} ({c.condition_a}), {c.mean_b:.2f} ({c.condition_b})"
        yield segmented.paradigms[c.paradigm], "", f"{what} of {PART_LABELS[c.region]}: {means}; {size}"


def compute_contrasts(segmented: SegmentedMaterials) -> Iterator[Contrast]:
    """Yield every contrast; an item counts where both conditions have the part."""
    lexicons: dict[str, _Lexicon] = {}
    for name, items in segmented.group_by_paradigm().items():
        values: dict[tuple[str, Measure, str], dict[str, float]] = defaultdict(dict)
        for member in itertools.chain.from_iterable(items):
            language = member.item.language
            if get_base_language(language) in UNSPACED_LANGUAGES and member.sentence.segmentation is None:
                continue
            if language not in lexicons:
                lexicons[language] = _Lexicon(language, segmented.norms)
            for part, words in _list_parts(member):
                for measure, value in lexicons[language].measure_words(words):
                    values[part, measure, member.condition][member.item.id] = value
        yield from _compare_conditions(
            name, list(segmented.paradigms[name].list_conditions()), values, dict.fromkeys(("letters", "zipf", *segmented.norms))
        )


def _compare_conditions(
    paradigm: str,
    conditions: list[str],
    values: Mapping[tuple[str, Measure, str], Mapping[str, float]],
    measures: Iterable[Measure],
) -> Iterator[Contrast]:
    for part, measure, (one, two) in itertools.product(SENTENCE_PARTS, measures, itertools.combinations(conditions, 2)):
        a, b = values.get((part, measure, one), {}), values.get((part, measure, two), {})
        both = [item for item in a if item in b]
        if both:
            of_a, of_b = (compute_mean_and_variance([a[i] for i in both]), compute_mean_and_variance([b[i] for i in both]))
            cohens_d = compute_standardised_difference(of_a, of_b) if len(both) > 1 else None
            yield Contrast(paradigm, part, measure, one, two, len(both), of_a[0], of_b[0], cohens_d)


def _list_parts(member: SegmentedSentence) -> Iterator[tuple[str, tuple[str, ...]]]:
    critical = member.find_region(CRITICAL)
    if critical:
        yield CRITICAL, member.list_region_words(CRITICAL)
        yield "before", member.words[max(critical.start - 1, 0) : critical.start]
        yield "after", member.words[critical.stop : critical.stop + 1]
    if cue := member.find_region(CUE):
        yield CUE, member.list_region_words(CUE)
        yield "rest", member.words[: cue.start] + member.words[cue.stop :]
    yield "sentence", member.words


class _Lexicon:
    """Letters and Zipf frequency of the words of a language, each looked up once."""

    def __init__(self, language: str, norms: "Norms") -> None:
        self.code = None if "zipf" in norms else find_usable_word_list(language)
        self.norms = norms
        self.letters: dict[str, int] = {}
        self.zipf: dict[str, float] = {}

    def measure_words(self, words: tuple[str, ...]) -> list[tuple[Measure, float]]:
        """Return the letters of all words together and their mean Zipf frequency; nothing where there are no words."""
        if not words:
            return []
        try:
            values: list[tuple[Measure, float]] = [("letters", sum([self.letters[word] for word in words]))]
        except KeyError:
            for word in words:
                self.letters[word] = measure_word_length(word)
                if self.code is not None:
                    self.zipf[word] = zipf(word, self.code) or 0.0
            return self.measure_words(words)
        if self.code is not None:
            values.append(("zipf", sum([self.zipf[word] for word in words]) / len(words)))
        means = ((name, norm.mean(words)) for name, norm in self.norms.items())
        return values + [(name, mean) for name, mean in means if mean is not None] if self.norms else values
