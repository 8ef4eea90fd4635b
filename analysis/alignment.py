"""Reading times beside surprisal: each word read, with its score and that of the word before."""

from collections.abc import Mapping

import pandas as pd

from gardenpath.study import DataError, check

from .ledger import Ledger, complete, in_band
from .measures import RATED, capped, declared
from .mixed import COEFFICIENTS, failed, fit

MODEL = ["model", "protocol"]
WORD = ["item", "condition", "word"]
TERM = "surprisal"

# (1|token): readers share words, so without it a predictor of words is significant far too often.
FORMULA = (
    "log_rt ~ surprisal + length + zipf + surprisal_previous + length_previous + zipf_previous"
    " + position + log_trial + (1|participant) + (1|item) + (1|token)"
)


def align(
    readings: pd.DataFrame,
    sessions: pd.DataFrame,
    surprisal: pd.DataFrame,
    words: pd.DataFrame,
    *,
    min_rt: float = 100,
    max_rt: float = 3000,
    engine: str = "glmm",
) -> dict[str, pd.DataFrame]:
    """Return aligned, alignment_models and alignment_exclusions, by name.

    Each word read in a target or filler trial of a complete session stands beside its surprisal (bits), length,
    Zipf frequency, and those of the word before (spillover); then one mixed model a language model. A reading without
    a score, or whose text differs from what was scored, is a `DataError`.

    Words that a token of some language model joins, or whose first token its protocol does not score, have no surprisal
    of their own. They and the words after them are left out for every language model, so that all are fitted to the
    same readings, and counted. Their times are not summed: the log of two words' time, with two lengths and
    frequencies, would stand among words as an outlier of its own making.
    """
    ledger = Ledger()
    [read] = complete(sessions, ledger, readings=readings)
    [read] = ledger.step("role is neither target nor filler", readings=(read, read["role"].isin(RATED)))
    if read.empty:
        raise DataError("table readings: no word of a target or filler trial of a complete session; nothing to align")
    surprisal = _of_read(surprisal, read)
    joined, unscored = _places(surprisal[surprisal["words"] > 1]), _places(surprisal[surprisal["surprisal"].isna()])
    scores = predictors(surprisal[surprisal["words"] == 1], words)
    _agree(read[~_at(read, joined)], scores)
    lacking = {
        "the word, or the one before, shares a token with another": joined,
        "the word, or the one before, is not scored under the protocol": unscored,
    }
    lacking = {rule: places for rule, places in lacking.items() if places}
    read = _usable(read, words, min_rt, max_rt, lacking, ledger)
    beside = read.drop(columns=["text", "region"]).merge(scores, on=WORD, how="inner", validate="m:m")
    aligned = declared(_described(beside), "aligned")
    return {
        "aligned": aligned,
        "alignment_models": alignment_models(aligned, engine=engine),
        "alignment_exclusions": ledger.table("alignment_exclusions"),
    }


def predictors(surprisal: pd.DataFrame, words: pd.DataFrame) -> pd.DataFrame:
    """Return each scored word with its length and Zipf frequency, and the same three of the word before it.

    A score whose word is not in `words`, or is another text there, is a `DataError`.
    """
    properties = words[[*WORD, "text", "length", "zipf"]].rename(columns={"text": "in_words"})
    scored = surprisal.merge(properties, on=WORD, how="left", validate="m:1")
    _raise(scored[scored["in_words"].isna()], "scored as {r.text!r} by {r.model}, but not in table words")
    differing = scored[scored["in_words"] != scored["text"]]
    _raise(differing, "scored as {r.text!r} by {r.model}, but {r.in_words!r} in table words")
    previous = scored[[*MODEL, *WORD, "surprisal", "length", "zipf"]].assign(word=scored["word"] + 1)
    return scored.drop(columns="in_words").merge(
        previous, on=[*MODEL, *WORD], how="left", suffixes=("", "_previous"), validate="1:1"
    )


def _of_read(surprisal: pd.DataFrame, read: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of sentences that were read; materials may hold others, which no reading has to match."""
    sentences = read[["item", "condition"]].drop_duplicates()
    return surprisal.merge(sentences, on=["item", "condition"], how="inner", validate="m:1")


def _agree(read: pd.DataFrame, scores: pd.DataFrame) -> None:
    """Raise `DataError` naming every word that was read but not scored, or read in another form than was scored."""
    seen = read[[*WORD, "text"]].drop_duplicates()
    if scores.empty:
        raise DataError("table surprisal has no score of any sentence that was read; expected one for each word")
    for (model, protocol), part in scores.groupby(MODEL):
        both = seen.merge(part[[*WORD, "text"]], on=WORD, how="left", suffixes=("", "_scored"), validate="m:1")
        unscored = both[both["text_scored"].isna()]
        _raise(unscored, f"read as {{r.text!r}}, but {model} ({protocol}) has no surprisal for it")
        differing = both[both["text"].notna() & (both["text"] != both["text_scored"]).fillna(False)]
        _raise(differing, f"read as {{r.text!r}}, but {model} ({protocol}) scored {{r.text_scored!r}}")


def _raise(rows: pd.DataFrame, fault: str) -> None:
    if len(rows):
        place = "item {r.item}, condition {r.condition}, word {r.word}: "
        raise DataError(capped((place + fault).format(r=r) for r in rows.itertuples()))


Places = set[tuple[str, str, int]]


def _places(scores: pd.DataFrame) -> Places:
    """Return item, condition and position of every word that the rows hold."""
    rows = scores[[*WORD, "words"]].itertuples(index=False, name=None)
    return {(item, condition, word + k) for item, condition, word, words in rows for k in range(words)}


def _at(read: pd.DataFrame, places: Places) -> "pd.Series[bool]":
    found = [place in places for place in read[WORD].itertuples(index=False, name=None)]
    return pd.Series(found, index=read.index, dtype=bool)


def _usable(
    read: pd.DataFrame, words: pd.DataFrame, min_rt: float, max_rt: float, lacking: Mapping[str, Places], ledger: Ledger
) -> pd.DataFrame:
    """Keep words with all that the model needs of them and of the word before, and with a time within the band."""
    [kept] = ledger.step("first word of its sentence, which has no word before", readings=(read, read["word"] > 0))
    rare = words[words["zipf"].isna()].assign(words=1)
    for rule, places in {**lacking, "the word, or the one before, has no Zipf frequency": _places(rare)}.items():
        after = {(item, condition, word + 1) for item, condition, word in places}
        [kept] = ledger.step(rule, readings=(kept, ~_at(kept, places | after)))
    [kept] = ledger.step("no reading time", readings=(kept, kept["rt"].notna()))
    rule = f"read in less than {min_rt:g} or more than {max_rt:g} ms"
    return ledger.step(rule, readings=(kept, in_band(kept["rt"], min_rt, max_rt)))[0]


def _described(joined: pd.DataFrame) -> pd.DataFrame:
    import numpy as np

    place = joined[WORD].astype("string")
    return joined.assign(
        log_rt=np.log(joined["rt"].to_numpy(dtype="float64")),
        position=joined["word"],
        log_trial=np.log1p(joined["trial"].to_numpy(dtype="float64")),
        token=place["item"] + ":" + place["condition"] + ":" + place["word"],
    )


def alignment_models(aligned: pd.DataFrame, *, engine: str = "glmm") -> pd.DataFrame:
    """Return the fixed effects on log reading time of each (model, protocol), with random intercepts by token too.

    The coefficient of surprisal is in log ms per bit: 0.01 is about 1 % slower for each bit.
    """
    fits = []
    for names, rows in aligned.groupby(MODEL, sort=True):
        model, protocol = map(str, names)
        try:
            coefficients = fit(rows, FORMULA, engine=engine)
        except DataError as error:
            coefficients = failed(FORMULA, TERM, str(error).replace("\n", "; "), rows, engine=engine)
        fits.append(coefficients.assign(model=model, protocol=protocol))
    if not fits:
        fits = [pd.DataFrame(columns=[*MODEL, *COEFFICIENTS])]
    return check(pd.concat(fits, ignore_index=True), "alignment_models")
