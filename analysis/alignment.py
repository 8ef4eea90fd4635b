"""Reading times beside surprisal: each word read, with its score and that of the word before."""

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
    """
    ledger = Ledger()
    [read] = complete(sessions, ledger, readings=readings)
    [read] = ledger.step("role is neither target nor filler", readings=(read, read["role"].isin(RATED)))
    if read.empty:
        raise DataError("table readings: no word of a target or filler trial of a complete session; nothing to align")
    scores = predictors(_of_read(surprisal, read), words)
    _agree(read, scores)
    read = _usable(read, words, min_rt, max_rt, ledger)
    joined = read.drop(columns=["text", "region"]).merge(scores, on=WORD, how="inner", validate="m:m")
    aligned = declared(_described(joined), "aligned")
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


def _usable(read: pd.DataFrame, words: pd.DataFrame, min_rt: float, max_rt: float, ledger: Ledger) -> pd.DataFrame:
    """Keep the words that have a predecessor, frequencies and a reading time within the band, counting the others."""
    [kept] = ledger.step("first word of its sentence, which has no word before", readings=(read, read["word"] > 0))
    rare = words[words["zipf"].isna()]
    without = set(rare[WORD].itertuples(index=False, name=None))
    before = {(item, condition, word + 1) for item, condition, word in without}
    places = kept[WORD].itertuples(index=False, name=None)
    known = pd.Series([place not in without and place not in before for place in places], index=kept.index, dtype=bool)
    [kept] = ledger.step("the word, or the one before, has no Zipf frequency", readings=(kept, known))
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
