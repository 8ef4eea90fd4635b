"""Materials as tables: sentences, the factor levels of conditions, and words with length and frequency."""

import functools
import json
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gardenpath import study
from gardenpath.study.graphemes import count_letters

from .items import Materials

if TYPE_CHECKING:
    import pandas as pd

SEGMENTER_LANGUAGES = ("zh", "ja", "ko")
log = logging.getLogger("gardenpath")
logging.getLogger("jieba").disabled = True  # which cuts Chinese words, and tells of its dictionary on stderr


def build_items_table(materials: Materials) -> "pd.DataFrame":
    """Return table `items`: one row for each item in each condition.

    >>> from gardenpath import stimuli
    >>> pair = {"grammatical": stimuli.Sentence("A dog barks."), "ungrammatical": stimuli.Sentence("A dog bark.")}
    >>> item = stimuli.Item("i1", "number", pair)
    >>> materials = stimuli.Materials((stimuli.Paradigm("number", "agreement"),), (item,))
    >>> stimuli.build_items_table(materials)[["item", "condition", "sentence"]].values.tolist()
    [['i1', 'grammatical', 'A dog barks.'], ['i1', 'ungrammatical', 'A dog bark.']]
    """
    phenomena = {p.id: p.phenomenon for p in materials.paradigms}
    rows = [
        (
            item.id,
            item.paradigm,
            phenomena[item.paradigm],
            condition,
            item.language,
            sentence.text,
            json.dumps([[r.name, r.start, r.end] for r in sentence.regions], ensure_ascii=False),
        )
        for item in materials.items
        for condition, sentence in item.sentences.items()
    ]
    return _build_table("items", rows)


def build_conditions_table(materials: Materials) -> "pd.DataFrame":
    """Return table `conditions`: the level of each factor in each condition of each paradigm.

    >>> from gardenpath import stimuli
    >>> pair = {"grammatical": stimuli.Sentence("A dog barks."), "ungrammatical": stimuli.Sentence("A dog bark.")}
    >>> item = stimuli.Item("i1", "number", pair)
    >>> materials = stimuli.Materials((stimuli.Paradigm("number", "agreement"),), (item,))
    >>> stimuli.build_conditions_table(materials)[["condition", "factor", "level"]].values.tolist()
    [['grammatical', 'grammaticality', 'grammatical'], ['ungrammatical', 'grammaticality', 'ungrammatical']]
    """
    rows = [
        (paradigm.id, condition, factor, level)
        for paradigm in materials.paradigms
        for condition, levels in paradigm.list_conditions().items()
        for factor, level in levels.items()
    ]
    return _build_table("conditions", rows)


def build_replacements_table(materials: Materials) -> "pd.DataFrame":
    """Return table `replacements`: the items whose free column `replaces` names an earlier one."""
    rows = [(item.id, item.extra["replaces"]) for item in materials.items if item.extra.get("replaces")]
    return _build_table("replacements", rows)


def build_words_table(materials: Materials) -> "pd.DataFrame":
    """Return table `words`: every word with its region, its length in letters and digits, and its Zipf frequency.

    >>> from gardenpath import stimuli
    >>> pair = {"grammatical": stimuli.Sentence("A dog barks."), "ungrammatical": stimuli.Sentence("A dog bark.")}
    >>> item = stimuli.Item("i1", "number", pair)
    >>> materials = stimuli.Materials((stimuli.Paradigm("number", "agreement"),), (item,))
    >>> stimuli.build_words_table(materials)[["text", "length", "zipf"]].values.tolist()[:2]
    [['A', 1, 7.36], ['dog', 3, 5.1]]
    """
    rows = [
        (item.id, condition, w.index, w.text, w.start, w.end, w.region, measure_word_length(w.text), zipf(w.text, item.language))
        for item in materials.items
        for condition, sentence in item.sentences.items()
        for w in sentence.list_words()
    ]
    return _build_table("words", rows)


def measure_word_length(word: str) -> int:
    """Return the letters, digits and emoji of a word, as its readers count them."""
    return count_letters(word)


@functools.cache
def zipf(word: str, language: str) -> float | None:
    """Return a word's Zipf frequency: log10 of occurrences per billion words; None where the language has no list.

    The scale is that of van Heuven et al. (2014, doi 10.1080/17470218.2013.850521), the counts are wordfreq's.
    """
    import wordfreq

    try:
        return float(wordfreq.zipf_frequency(word, language))
    except (LookupError, ImportError):  # Chinese, Japanese and Korean need a program that cuts words
        _warn_no_frequencies(language)
        return None


@functools.cache
def _warn_no_frequencies(language: str) -> None:
    log.warning("%s; zipf stays empty", explain_no_frequencies(language))


def explain_no_frequencies(language: str) -> str:
    """Return why a language has no frequencies, and what to do.

    >>> explain_no_frequencies("th")
    "there is no frequency list for the language 'th'; a list of your own is a norm called zipf (docs/selection.md)"
    """
    if language.lower().partition("-")[0] in SEGMENTER_LANGUAGES:
        return f"frequencies of the language {language!r} need programs that cut its words: pip install 'gardenpath[cjk]'"
    return f"there is no frequency list for the language {language!r}; a list of your own is a norm called zipf (docs/selection.md)"


def _build_table(name: str, rows: Sequence[tuple[object, ...]]) -> "pd.DataFrame":
    import pandas as pd

    return study.check(pd.DataFrame(rows, columns=study.TABLES[name].column_names), name)
