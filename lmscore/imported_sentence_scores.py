"""Log-probabilities of sentences that another program computed: an LSTM, Transformer-XL, llama.cpp, an API."""

import logging
import math
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING

from gardenpath import study
from gardenpath.stimuli import GRAMMATICAL, UNGRAMMATICAL, Materials

from .imported_surprisal import BITS_PER_UNIT, IMPORTED_PROTOCOL
from .measures.reductions import length_penalty
from .scoring import build_pair_rows, select_minimal_pairs

if TYPE_CHECKING:
    import pandas as pd

MAX_FAULTS_SHOWN = 10  # so many faults are named; the rest is counted
LP_COLUMN, TOKEN_COLUMN, TOKENS_COLUMN = "lp", "token", "tokens"
SENTENCE_MEASURES = ("lp", "mean_lp", "pen_lp")

log = logging.getLogger("gardenpath")


def import_pairs(
    rows: "pd.DataFrame", materials: Materials, *, model: str, unit: str = "ln p", where: str = "row"
) -> "pd.DataFrame":
    """Return the table `pairs` of log-probabilities that were computed elsewhere.

    `rows` has a row a sentence with `lp`, its log-probability (its surprisal, where `unit` is one of surprisal), and `tokens` where
    their number is known; or a row a token, with `token` and `lp`, which are added up. `sentence`, its text, says which it is,
    or `item` and `condition` do. `unit` is one of `BITS_PER_UNIT`. A column `model` tells several models apart. With numbers of
    tokens there are the measures mean_lp and pen_lp too.

    Pairs of which a member has no row are left out and counted on the log. Raises `study.DataError` with what is no number, and
    with two rows of one sentence that differ.

    >>> import pandas as pd
    >>> from gardenpath.stimuli import Item, Materials, Paradigm, Sentence
    >>> pair = {"grammatical": Sentence("A dog barks."), "ungrammatical": Sentence("A dog bark.")}
    >>> materials = Materials((Paradigm("number", "agreement"),), (Item("i1", "number", pair),))
    >>> rows = pd.DataFrame({"sentence": ["A dog barks.", "A dog bark."], "lp": [-9.0, -12.0]})
    >>> import_pairs(rows, materials, model="LSTM")[["item", "score_grammatical", "score_ungrammatical", "correct"]].values.tolist()
    [['i1', -9.0, -12.0, True]]
    """
    import pandas as pd

    key = _find_key_columns(rows)
    if unit not in BITS_PER_UNIT:
        raise ValueError(f"unit is {unit!r}; expected one of {', '.join(BITS_PER_UNIT)}")
    stated = pd.to_numeric(rows[LP_COLUMN], errors="coerce")
    wrong = rows.index[~stated.map(math.isfinite)]
    if len(wrong):
        raise study.DataError(
            _limit_faults(f"{where} {label}: lp is {rows[LP_COLUMN][label]!r}; expected a number" for label in wrong)
        )
    nats = stated * round(-BITS_PER_UNIT[unit] * math.log(2), 15)
    if (nats > 1e-9).any():
        label = nats[nats > 1e-9].index[0]
        raise study.DataError(
            f"{where} {label}: lp is {stated[label]:g} {unit}, which is a probability above 1; is the unit another?"
        )
    materials = select_minimal_pairs(materials)
    named = rows.assign(lp=nats, model=rows.get("model", model))
    parts = [_build_pairs(of_model, key, materials, str(name), where) for name, of_model in named.groupby("model", sort=False)]
    return study.check(pd.concat(parts, ignore_index=True), "pairs")


def _find_key_columns(rows: "pd.DataFrame") -> list[str]:
    for key in (["item", "condition"], ["sentence"]):
        if {*key, LP_COLUMN} <= {*rows}:
            return key
    raise study.DataError(
        f"the scores have the columns {', '.join(map(str, rows))}; expected lp, with sentence or with item and condition"
    )


def _build_pairs(rows: "pd.DataFrame", key: list[str], materials: Materials, model: str, where: str) -> "pd.DataFrame":
    import pandas as pd

    if TOKEN_COLUMN in rows:
        sums = rows.groupby(key, sort=False).agg(lp=(LP_COLUMN, "sum"), tokens=(TOKEN_COLUMN, "size"))
    else:
        _refuse_contradictions(rows, key, where)
        sums = rows.drop_duplicates(key).set_index(key)
    known: dict[Hashable, float] = sums[LP_COLUMN].to_dict()
    stated = pd.to_numeric(sums[TOKENS_COLUMN], errors="coerce").dropna() if TOKENS_COLUMN in sums else pd.Series(dtype="float64")
    counts: Mapping[Hashable, float] = stated.to_dict()
    values: dict[tuple[str, str, str], float] = {}
    for item in materials.items:
        for condition, sentence in item.sentences.items():
            sentence_key: Hashable = (item.id, condition) if len(key) > 1 else sentence.text
            if sentence_key in known:
                values[item.id, condition, LP_COLUMN] = known[sentence_key]
            if sentence_key in known and counts.get(sentence_key):
                values[item.id, condition, "mean_lp"] = known[sentence_key] / counts[sentence_key]
                values[item.id, condition, "pen_lp"] = known[sentence_key] / length_penalty(int(counts[sentence_key]))
    whole = [i for i in materials.items if all((i.id, c, LP_COLUMN) in values for c in (GRAMMATICAL, UNGRAMMATICAL))]
    if not whole:
        first = next(iter(known), None)
        raise study.DataError(f"no pair has both its sentences among the {len(known)} scored of {model}, such as {first!r}")
    if len(whole) < len(materials.items):
        left = len(materials.items) - len(whole)
        log.warning("%s: %d of %d pairs have a member without a score and are left out", model, left, len(materials.items))
    measures = [name for name in SENTENCE_MEASURES if any((i.id, GRAMMATICAL, name) in values for i in whole)]
    return pd.DataFrame(build_pair_rows(materials, values, measures, model, IMPORTED_PROTOCOL))


def _refuse_contradictions(rows: "pd.DataFrame", key: list[str], where: str) -> None:
    differing = rows.groupby(key, sort=False)[LP_COLUMN].transform("nunique") > 1
    if differing.any():
        raise study.DataError(
            _limit_faults(
                f"{where} {label}: {' '.join(map(str, row[key]))!r} has several rows with other lp; expected one, or a column token"
                for label, row in rows[differing].drop_duplicates(key).iterrows()
            )
        )


def _limit_faults(faults: Iterator[str]) -> list[str]:
    every = list(faults)
    return [
        *every[:MAX_FAULTS_SHOWN],
        *([f"and {len(every) - MAX_FAULTS_SHOWN} more rows"] if len(every) > MAX_FAULTS_SHOWN else []),
    ]
