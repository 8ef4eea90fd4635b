"""Log-probabilities of sentences that another program computed: an LSTM, Transformer-XL, llama.cpp, an API."""

import logging
import math
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING

from gardenpath import study
from gardenpath.stimuli import GRAMMATICAL, UNGRAMMATICAL, Materials

from .elsewhere import PROTOCOL, UNITS
from .measures.reductions import penalty
from .scoring import minimal_pairs, pair_rows

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 10  # so many faults are named; the rest is counted
LP, TOKEN, TOKENS = "lp", "token", "tokens"
MEASURES = ("lp", "mean_lp", "pen_lp")

log = logging.getLogger("gardenpath")


def pairs_from(
    rows: "pd.DataFrame", materials: Materials, *, model: str, unit: str = "ln p", where: str = "row"
) -> "pd.DataFrame":
    """Return the table `pairs` of log-probabilities that were computed elsewhere.

    `rows` has a row a sentence with `lp`, its log-probability (its surprisal, where `unit` is one of surprisal), and `tokens` where
    their number is known; or a row a token, with `token` and `lp`, which are added up. `sentence`, its text, says which it is,
    or `item` and `condition` do. `unit` is one of `UNITS`. A column `model` tells several models apart. With numbers of tokens
    there are the measures mean_lp and pen_lp too.

    Pairs of which a member has no row are left out and counted on the log. Raises `study.DataError` with what is no number, and
    with two rows of one sentence that differ.

    >>> import pandas as pd
    >>> from gardenpath.stimuli import Item, Materials, Paradigm, Sentence
    >>> pair = {"grammatical": Sentence("A dog barks."), "ungrammatical": Sentence("A dog bark.")}
    >>> materials = Materials((Paradigm("number", "agreement"),), (Item("i1", "number", pair),))
    >>> rows = pd.DataFrame({"sentence": ["A dog barks.", "A dog bark."], "lp": [-9.0, -12.0]})
    >>> pairs_from(rows, materials, model="LSTM")[["item", "grammatical", "ungrammatical", "correct"]].values.tolist()
    [['i1', -9.0, -12.0, True]]
    """
    import pandas as pd

    key = _key(rows)
    if unit not in UNITS:
        raise ValueError(f"unit is {unit!r}; expected one of {', '.join(UNITS)}")
    stated = pd.to_numeric(rows[LP], errors="coerce")
    wrong = rows.index[~stated.map(math.isfinite)]
    if len(wrong):
        raise study.DataError(
            _some(f"{where} {label}: lp is {rows[LP][label]!r}; expected a number" for label in wrong)
        )
    nats = stated * round(-UNITS[unit] * math.log(2), 15)
    if (nats > 1e-9).any():
        label = nats[nats > 1e-9].index[0]
        raise study.DataError(
            f"{where} {label}: lp is {stated[label]:g} {unit}, which is a probability above 1; is the unit another?"
        )
    materials = minimal_pairs(materials)
    named = rows.assign(lp=nats, model=rows.get("model", model))
    parts = [
        _pairs(of_model, key, materials, str(name), where) for name, of_model in named.groupby("model", sort=False)
    ]
    return study.check(pd.concat(parts, ignore_index=True), "pairs")


def _key(rows: "pd.DataFrame") -> list[str]:
    for key in (["item", "condition"], ["sentence"]):
        if {*key, LP} <= {*rows}:
            return key
    raise study.DataError(
        f"the scores have the columns {', '.join(map(str, rows))}; expected lp, with sentence or with item and condition"
    )


def _pairs(rows: "pd.DataFrame", key: list[str], materials: Materials, model: str, where: str) -> "pd.DataFrame":
    import pandas as pd

    if TOKEN in rows:
        sums = rows.groupby(key, sort=False).agg(lp=(LP, "sum"), tokens=(TOKEN, "size"))
    else:
        _refuse_double(rows, key, where)
        sums = rows.drop_duplicates(key).set_index(key)
    known: dict[Hashable, float] = sums[LP].to_dict()
    stated = pd.to_numeric(sums[TOKENS], errors="coerce").dropna() if TOKENS in sums else pd.Series(dtype="float64")
    counts: Mapping[Hashable, float] = stated.to_dict()
    values: dict[tuple[str, str, str], float] = {}
    for item in materials.items:
        for condition, sentence in item.sentences.items():
            place: Hashable = (item.id, condition) if len(key) > 1 else sentence.text
            if place in known:
                values[item.id, condition, LP] = known[place]
            if place in known and counts.get(place):
                values[item.id, condition, "mean_lp"] = known[place] / counts[place]
                values[item.id, condition, "pen_lp"] = known[place] / penalty(int(counts[place]))
    whole = [i for i in materials.items if all((i.id, c, LP) in values for c in (GRAMMATICAL, UNGRAMMATICAL))]
    if not whole:
        first = next(iter(known), None)
        raise study.DataError(
            f"no pair has both its sentences among the {len(known)} scored of {model}, such as {first!r}"
        )
    if len(whole) < len(materials.items):
        left = len(materials.items) - len(whole)
        log.warning(
            "%s: %d of %d pairs have a member without a score and are left out", model, left, len(materials.items)
        )
    measures = [name for name in MEASURES if any((i.id, GRAMMATICAL, name) in values for i in whole)]
    return pd.DataFrame(pair_rows(materials, values, measures, model, PROTOCOL))


def _refuse_double(rows: "pd.DataFrame", key: list[str], where: str) -> None:
    differing = rows.groupby(key, sort=False)[LP].transform("nunique") > 1
    if differing.any():
        raise study.DataError(
            _some(
                f"{where} {label}: {' '.join(map(str, row[key]))!r} has several rows with other lp; expected one, or a column token"
                for label, row in rows[differing].drop_duplicates(key).iterrows()
            )
        )


def _some(faults: Iterator[str]) -> list[str]:
    every = list(faults)
    return [*every[:SHOWN], *([f"and {len(every) - SHOWN} more rows"] if len(every) > SHOWN else [])]
