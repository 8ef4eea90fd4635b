"""Materials and a model become the tables surprisal, sentence_scores and pairs."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gardenpath import study
from gardenpath.stimuli import GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Sentence

from . import reductions
from .loading import load
from .models import Model
from .pocket import Progress
from .tokentable import TokenTable

if TYPE_CHECKING:
    import pandas as pd

PROTOCOL = "default"
PROTOCOL_MEANING = (
    "the prefix token is fed before every text; no leading space; an item's context, joined by a space, is fed and not "
    "scored; the end of the text is not scored"
)
SHOWN = 10  # so many faults are named; the rest is counted

log = logging.getLogger("gardenpath")
Result = TypeVar("Result")


class Scores(NamedTuple):
    """The tables `surprisal` (a row a word) and `sentence_scores` (a row a sentence)."""

    surprisal: "pd.DataFrame"
    sentence_scores: "pd.DataFrame"


class Scored(NamedTuple):
    """A sentence of the materials with its token table."""

    item: Item
    condition: str
    sentence: Sentence
    table: TokenTable


def score(
    materials: Materials,
    model: str | Path | Model,
    *,
    batch_tokens: int | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Return surprisal (bits) of every word and log-probabilities (nats) of every sentence of the materials.

    `model` is what `load` takes, or a loaded model. Equal sentences are computed once.
    """
    import pandas as pd

    model = load(model) if isinstance(model, (str, Path)) else model
    scored = token_tables(materials, model, batch_tokens=batch_tokens, progress=progress)
    words = _each(scored, lambda s: [_word_row(model, s, word) for word in reductions.words(s.table, s.sentence)])
    sentences = _each(scored, lambda s: _sentence_row(model, s))
    return Scores(
        study.check(pd.DataFrame([row for rows in words for row in rows]), "surprisal"),
        study.check(pd.DataFrame(sentences), "sentence_scores"),
    )


def evaluate(
    materials: Materials,
    model: str | Path | Model,
    measures: Sequence[str] = ("lp",),
    *,
    batch_tokens: int | None = None,
    progress: Progress | None = None,
) -> "pd.DataFrame":
    """Return the table `pairs`: for every minimal pair and measure, both members' scores (nats) and which is higher.

    A tie is exact equality and not correct. Paradigms that are no minimal pairs are left out, and so are, for
    `critical_lp`, pairs without a critical region in both members; the log counts both.
    """
    import pandas as pd

    reductions.check_measures(measures)
    measures = list(dict.fromkeys(measures))
    materials = _minimal_pairs(materials)
    model = load(model) if isinstance(model, (str, Path)) else model
    scored = token_tables(materials, model, batch_tokens=batch_tokens, progress=progress)
    values = _each(scored, lambda s: {m: reductions.MEASURES[m](s.table, s.sentence) for m in measures})
    by_place = {(s.item.id, s.condition): value for s, value in zip(scored, values, strict=True)}
    rows = []
    for measure in measures:
        found = [
            (item, by_place[item.id, GRAMMATICAL][measure], by_place[item.id, UNGRAMMATICAL][measure])
            for item in materials.items
        ]
        complete = [(item, good, bad) for item, good, bad in found if good is not None and bad is not None]
        _check_complete(measure, len(complete), len(found))
        rows += [_pair_row(model, materials, item, measure, good, bad) for item, good, bad in complete]
    return study.check(pd.DataFrame(rows), "pairs")


def token_tables(
    materials: Materials, model: Model, *, batch_tokens: int | None = None, progress: Progress | None = None
) -> list[Scored]:
    """Return every sentence of the materials with its token table (nats), items and conditions in their order.

    Raises `study.DataError` with every sentence that cannot be encoded.
    """
    places = [(item, condition, sentence) for item in materials.items for condition, sentence in item.sentences.items()]
    if not places:
        raise ValueError("the materials hold no sentence; expected at least one item")
    encoded, faults = [], []
    for item, condition, sentence in places:
        try:
            encoded.append(model.encode(sentence.text, item.context))
        except ValueError as error:
            faults.append(_where(item, condition, error))
    _raise(faults)
    tables = model.forward(encoded, batch_tokens=batch_tokens, progress=progress)
    return [Scored(*place, table) for place, table in zip(places, tables, strict=True)]


def _each(scored: Sequence[Scored], reduce: Callable[[Scored], Result]) -> list[Result]:
    """Return the reduction of each sentence, or raise every fault with its item and condition."""
    results, faults = [], []
    for one in scored:
        try:
            results.append(reduce(one))
        except ValueError as error:
            faults.append(_where(one.item, one.condition, error))
    _raise(faults)
    return results


def _where(item: Item, condition: str, error: ValueError) -> str:
    return f"item {item.id!r}, condition {condition!r}: {error}"


def _raise(faults: Sequence[str]) -> None:
    if faults:
        more = [f"and {len(faults) - SHOWN} more such sentences"] if len(faults) > SHOWN else []
        raise study.DataError([*faults[:SHOWN], *more])


def _minimal_pairs(materials: Materials) -> Materials:
    """Return the paradigms that are minimal pairs, with their items; each must have both members."""
    kept = tuple(p for p in materials.paradigms if p.is_minimal_pair())
    names = {p.id for p in kept}
    items = tuple(item for item in materials.items if item.paradigm in names)
    if not items:
        raise ValueError(
            f"none of the {len(materials.paradigms)} paradigms is a minimal pair; expected one factor with the levels "
            f"{GRAMMATICAL} and {UNGRAMMATICAL}: score sentences of other designs with score"
        )
    if len(kept) < len(materials.paradigms):
        log.info("%d paradigms are not minimal pairs and are left out", len(materials.paradigms) - len(kept))
    _raise(
        [
            f"item {item.id!r}: has {', '.join(item.sentences)}; expected {GRAMMATICAL} and {UNGRAMMATICAL}"
            for item in items
            if set(item.sentences) != {GRAMMATICAL, UNGRAMMATICAL}
        ]
    )
    return Materials(kept, items, materials.places)


def _check_complete(measure: str, complete: int, found: int) -> None:
    if not complete:
        raise ValueError(
            f"measure {measure!r}: none of the {found} pairs has a region 'critical' in both members; mark it"
        )
    if complete < found:
        log.info(
            "%s: %d of %d pairs have no region 'critical' in both members and are left out",
            measure,
            found - complete,
            found,
        )


def _place(model: Model, scored: Scored) -> dict[str, object]:
    return {"model": model.name, "protocol": PROTOCOL, "item": scored.item.id, "condition": scored.condition}


def _word_row(model: Model, scored: Scored, word: reductions.WordScore) -> dict[str, object]:
    return {
        **_place(model, scored),
        "word": word.word.index,
        "text": word.word.text,
        "region": word.word.region,
        "surprisal": word.surprisal,
        "surprisal_naive": word.surprisal_naive,
        "entropy": word.entropy,
        "tokens": word.tokens,
    }


def _sentence_row(model: Model, scored: Scored) -> dict[str, object]:
    values = {name: measure(scored.table, scored.sentence) for name, measure in reductions.MEASURES.items()}
    return {**_place(model, scored), "tokens": len(scored.table.encoded.ids), **values}


def _pair_row(
    model: Model, materials: Materials, item: Item, measure: str, good: float, bad: float
) -> dict[str, object]:
    return {
        "model": model.name,
        "protocol": PROTOCOL,
        "phenomenon": materials.paradigm(item.paradigm).phenomenon,
        "paradigm": item.paradigm,
        "item": item.id,
        "measure": measure,
        "grammatical": good,
        "ungrammatical": bad,
        "correct": good > bad,
        "tie": good == bad,
    }
