"""What a language model's surprisal does to robots: ms for each bit of the word that is read, and of the words before it."""

import logging
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from gardenpath import study
from gardenpath.stimuli import Sentence, Trial

log = logging.getLogger("gardenpath")

MAX_FAULTS = 5  # faults that a message lists


def select_model_rows(surprisal: pd.DataFrame, model: str | None = None, protocol: str | None = None) -> pd.DataFrame:
    """Return the rows of a language model and a protocol; neither has to be named where the table has but one.

    Raises `study.DataError` with those that there are where the names leave several, or none.

    >>> table = pd.DataFrame({"model": ["gpt2", "bigram"], "protocol": ["default", "default"], "surprisal": [2.0, 5.0]})
    >>> select_model_rows(table, "gpt2")["surprisal"].tolist()
    [2.0]
    """
    rows = surprisal
    for name, name_wanted in (("model", model), ("protocol", protocol)):
        available = sorted(rows[name].unique())
        if name_wanted is None and len(available) == 1:
            [name_wanted] = available
        if name_wanted not in available:
            found = f"there are {len(available)} {name}s" if name_wanted is None else f"{name} {name_wanted!r} is not there"
            raise study.DataError(f"table surprisal: {found}; expected one of {', '.join(map(repr, available))}")
        rows = rows[rows[name] == name_wanted]
    return rows


def compute_word_slowing(
    ms_per_bit: Sequence[float], surprisal: pd.DataFrame, trials: Iterable[Trial]
) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return the ms that are added to each word of a sentence, by item and condition.

    `ms_per_bit` are those of a bit of the word read, of the word before it, and so on. Words without a surprisal of their own add
    nothing, and a warning counts them. Raises `study.DataError` where `surprisal` is of several language models or of none of
    the words, and with words that were scored in another form than they are shown.
    """
    rows = select_model_rows(surprisal)
    single_words = rows[(rows["n_words"] == 1) & rows["surprisal"].notna()]
    cells = single_words[["item", "condition", "word", "text", "surprisal"]].itertuples(index=False, name=None)
    scored = {(item, condition, word): (text, bits) for item, condition, word, text, bits in cells}
    sentences = _collect_sentences(trials)
    study_words = [(key, word) for key, sentence in sentences.items() for word in sentence.list_words()]
    unscored = [_describe_word(key, word.index, word.text) for key, word in study_words if (*key, word.index) not in scored]
    if study_words and len(unscored) == len(study_words):
        raise study.DataError(f"table surprisal has no word of the study, such as {unscored[0]}; score its materials")
    mismatches = [
        f"{_describe_word(key, word.index, word.text)} was scored as {scored[*key, word.index][0]!r}"
        for key, word in study_words
        if scored.get((*key, word.index), (word.text,))[0] != word.text
    ]
    if mismatches:
        remainder = [f"and {len(mismatches) - MAX_FAULTS} more"] if len(mismatches) > MAX_FAULTS else []
        raise study.DataError([*mismatches[:MAX_FAULTS], *remainder, "score the study's materials as they are now"])
    if unscored:
        log.warning(
            "%d of %d words have no surprisal of their own and slow nobody; the first: %s",
            len(unscored),
            len(study_words),
            unscored[0],
        )
    return {key: _sum_word_slowing(ms_per_bit, key, sentence, scored) for key, sentence in sentences.items()}


def _collect_sentences(trials: Iterable[Trial]) -> dict[tuple[str, str], Sentence]:
    """Return the sentences of target and filler trials by item and condition; practice and attention items are not scored."""
    return {
        (trial.item.id, condition): sentence
        for trial in trials
        if trial.role in ("target", "filler")
        for condition, sentence in trial.shown_sentences
    }


def _sum_word_slowing(
    ms_per_bit: Sequence[float], key: tuple[str, str], sentence: Sentence, scored: Mapping[tuple[str, str, int], tuple[str, float]]
) -> tuple[float, ...]:
    bits = [scored.get((*key, word.index), ("", 0.0))[1] for word in sentence.list_words()]
    return tuple(sum(ms * bits[index - lag] for lag, ms in enumerate(ms_per_bit) if lag <= index) for index in range(len(bits)))


def _describe_word(key: tuple[str, str], word: int, text: str) -> str:
    return f"item {key[0]}, condition {key[1]}, word {word}: {text!r}"
