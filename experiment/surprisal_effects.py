"""What a language model's surprisal does to robots: ms for each bit of the word that is read, and of the words before it."""

import logging
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from gardenpath import study
from gardenpath.stimuli import Sentence, Trial

log = logging.getLogger("gardenpath")

SHOWN = 5  # faults that a message lists


def of_one_model(surprisal: pd.DataFrame, model: str | None = None, protocol: str | None = None) -> pd.DataFrame:
    """Return the rows of a language model and a protocol; neither has to be named where the table has but one.

    Raises `study.DataError` with those that there are where the names leave several, or none.

    >>> table = pd.DataFrame({"model": ["gpt2", "bigram"], "protocol": ["default", "default"], "surprisal": [2.0, 5.0]})
    >>> of_one_model(table, "gpt2")["surprisal"].tolist()
    [2.0]
    """
    rows = surprisal
    for name, wanted in (("model", model), ("protocol", protocol)):
        there = sorted(rows[name].unique())
        if wanted is None and len(there) == 1:
            [wanted] = there
        if wanted not in there:
            got = f"there are {len(there)} {name}s" if wanted is None else f"{name} {wanted!r} is not there"
            raise study.DataError(f"table surprisal: {got}; expected one of {', '.join(map(repr, there))}")
        rows = rows[rows[name] == wanted]
    return rows


def slowing(
    ms_per_bit: Sequence[float], surprisal: pd.DataFrame, trials: Iterable[Trial]
) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return the ms that are added to each word of a sentence, by item and condition.

    `ms_per_bit` are those of a bit of the word read, of the word before it, and so on. Words without a surprisal of their own add
    nothing, and a warning counts them. Raises `study.DataError` where `surprisal` is of several language models or of none of
    the words, and with words that were scored in another form than they are shown.
    """
    rows = of_one_model(surprisal)
    alone = rows[(rows["words"] == 1) & rows["surprisal"].notna()]
    cells = alone[["item", "condition", "word", "text", "surprisal"]].itertuples(index=False, name=None)
    scored = {(item, condition, word): (text, bits) for item, condition, word, text, bits in cells}
    sentences = _sentences(trials)
    places = [(key, word) for key, sentence in sentences.items() for word in sentence.words()]
    lacking = [_place(key, word.index, word.text) for key, word in places if (*key, word.index) not in scored]
    if places and len(lacking) == len(places):
        raise study.DataError(f"table surprisal has no word of the study, such as {lacking[0]}; score its materials")
    other = [
        f"{_place(key, word.index, word.text)} was scored as {scored[*key, word.index][0]!r}"
        for key, word in places
        if scored.get((*key, word.index), (word.text,))[0] != word.text
    ]
    if other:
        more = [f"and {len(other) - SHOWN} more"] if len(other) > SHOWN else []
        raise study.DataError([*other[:SHOWN], *more, "score the study's materials as they are now"])
    if lacking:
        log.warning(
            "%d of %d words have no surprisal of their own and slow nobody; the first: %s",
            len(lacking),
            len(places),
            lacking[0],
        )
    return {key: _added(ms_per_bit, key, sentence, scored) for key, sentence in sentences.items()}


def _sentences(trials: Iterable[Trial]) -> dict[tuple[str, str], Sentence]:
    """Return the sentences of target and filler trials by item and condition; practice and attention items are not scored."""
    return {
        (trial.item.id, condition): sentence
        for trial in trials
        if trial.role in ("target", "filler")
        for condition, sentence in trial.shown
    }


def _added(
    ms_per_bit: Sequence[float],
    key: tuple[str, str],
    sentence: Sentence,
    scored: Mapping[tuple[str, str, int], tuple[str, float]],
) -> tuple[float, ...]:
    bits = [scored.get((*key, word.index), ("", 0.0))[1] for word in sentence.words()]
    return tuple(sum(ms * bits[at - lag] for lag, ms in enumerate(ms_per_bit) if lag <= at) for at in range(len(bits)))


def _place(key: tuple[str, str], word: int, text: str) -> str:
    return f"item {key[0]}, condition {key[1]}, word {word}: {text!r}"
