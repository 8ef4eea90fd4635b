"""What groups minimal pairs, or goes along with them: columns of theirs, language, whether only the order of words differs."""

import ast
import logging
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gardenpath import study

from .drafting.provenance import ORIGIN, get_origin
from .items import Materials

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("gardenpath")

WORD_OR_MARK_PATTERN = re.compile(r"[\w'’-]+|[^\w\s]")
WORD_SHUFFLING = "word_shuffling"  # the factor that is found from the sentences
LANGUAGE = "language"
# The columns of items that say it, the first that is there; MultiBLiMP's tables have a number or a list of attractors.
COVARIATE_COLUMNS = {
    "distance": ("distance",),
    "congruent": ("congruent", "num_congruent_attractors", "congruent_attractors"),
    "incongruent": ("incongruent", "num_incongruent_attractors", "incongruent_attractors"),
}


def group_items(materials: Materials, factors: Iterable[str]) -> "pd.DataFrame":
    """Return groups of items by a column of theirs, by `language` or by `word_shuffling`, for `analysis.compute_group_accuracies`.

    The table has the columns item, factor and level.
    A paradigm is word-shuffling where the members of all its pairs have the same words and marks in another order (Ide et al. 2025,
    doi 10.18653/v1/2025.naacl-long.380), capitals aside. By `origin`, items without one were made by hand. A column that no item
    has is a `DataError`.

    >>> from gardenpath import stimuli
    >>> def item(name, good, bad):
    ...     sentences = {"grammatical": stimuli.Sentence(good), "ungrammatical": stimuli.Sentence(bad)}
    ...     return stimuli.Item(name, "islands", sentences, extra={"source": "hand"})
    >>> items = item("i1", "He saw her.", "Her he saw."), item("i2", "He ran.", "Ran he.")
    >>> materials = stimuli.Materials((stimuli.Paradigm("islands", "islands"),), items)
    >>> group_items(materials, ["source", "word_shuffling"])[["item", "level"]].to_numpy().tolist()
    [['i1', 'hand'], ['i2', 'hand'], ['i1', 'shuffled'], ['i2', 'shuffled']]
    """
    import pandas as pd

    shuffled = _find_shuffled_paradigms(materials)
    rows = []
    for factor in factors:
        levels = {}
        for item in materials.items:
            if factor == WORD_SHUFFLING:
                levels[item.id] = "shuffled" if item.paradigm in shuffled else "other"
            elif factor == LANGUAGE:
                levels[item.id] = item.language
            elif factor == ORIGIN and any(ORIGIN in other.extra for other in materials.items):
                levels[item.id] = get_origin(item)
            elif factor in item.extra:
                levels[item.id] = item.extra[factor]
        if not levels:
            known = sorted({name for item in materials.items for name in item.extra})
            raise study.DataError(
                f"no item has a column {factor!r}; expected {WORD_SHUFFLING}, {LANGUAGE}"
                + (f" or one of theirs: {', '.join(known)}" if known else ", since the items have no columns of their own")
            )
        rows += [{"item": item, "factor": factor, "level": level} for item, level in levels.items()]
    return pd.DataFrame(rows)


def extract_pair_covariates(materials: Materials) -> "pd.DataFrame":
    """Return what differences in score may depend on, for `analysis.compute_score_difference_regressions`, a row an item.

    The columns, where any item has them: item, `distance` of subject and verb in words, whichever comes first, and `congruent` and
    `incongruent`, numbers of attractors; as items state them, or in the columns of MultiBLiMP's tables (arXiv 2504.02768). A cell
    that is neither a number nor a list is not known, and the log says so.

    >>> from gardenpath import stimuli
    >>> sentences = {"grammatical": stimuli.Sentence("Here sleeps he."), "ungrammatical": stimuli.Sentence("Here sleep he.")}
    >>> item = stimuli.Item("i1", "SV", sentences, extra={"distance": "-1", "congruent_attractors": "[]"})
    >>> extract_pair_covariates(stimuli.Materials((stimuli.Paradigm("SV", "agreement"),), (item,))).to_dict("records")
    [{'item': 'i1', 'distance': 1.0, 'congruent': 0.0}]
    """
    import pandas as pd

    table = pd.DataFrame({"item": [item.id for item in materials.items]})
    for name, columns in COVARIATE_COLUMNS.items():
        stated = [next(filter(None, map(item.extra.get, columns)), "") for item in materials.items]
        known = [_parse_count(text) for text in stated]
        if unread := [text for text, number in zip(stated, known, strict=True) if text and number is None]:
            log.warning("%s of %d items is not known: %r is no number", name, len(unread), unread[0])
        table[name] = pd.Series(known, dtype="float64")
    return table.dropna(axis="columns", how="all")


def _parse_count(text: str) -> float | None:
    """Return the number that a cell states, without its sign, or how many its list holds."""
    try:
        value = ast.literal_eval(text)
        return float(len(value)) if isinstance(value, list) else abs(float(value))
    except (TypeError, ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _find_shuffled_paradigms(materials: Materials) -> set[str]:
    other = set()
    for item in materials.items:
        bags = [Counter(WORD_OR_MARK_PATTERN.findall(sentence.text.casefold())) for sentence in item.sentences.values()]
        if any(bag != bags[0] for bag in bags):
            other.add(item.paradigm)
    return {paradigm.id for paradigm in materials.paradigms} - other
