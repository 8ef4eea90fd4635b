"""Rows of words from elsewhere, such as published surprisal or mean reading times, held against the materials."""

import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gardenpath import study

from .items import Item, Materials, Sentence

if TYPE_CHECKING:
    import pandas as pd

MAX_FAULTS_SHOWN = 10  # so many faults are named; the rest is counted

log = logging.getLogger("gardenpath")
WordRow = dict[str, Any]


def locate_words(
    rows: "pd.DataFrame", materials: Materials | None, *, where: str, key_columns: Sequence[str] = ()
) -> "pd.DataFrame":
    """Return rows with the condition, text and region of each word, ordered by sentence and, within it, by word.

    `rows` has item and word (from 0), condition unless each item has one alone, text unless there are materials, and whatever else;
    `key_columns` names columns that tell rows of one word apart. With materials every word of a sentence that has rows gets one:
    what it lacks is empty. Raises `study.DataError` with every row, named by `where` and its label, that is at no word of the
    materials, or whose text differs from its word's by more than case and punctuation.
    """
    import pandas as pd

    items = None if materials is None else {item.id: item for item in materials.items}
    faults: list[str] = []
    sentences: dict[tuple[str, ...], dict[int, WordRow]] = {}
    for label, cells in zip(rows.index, rows.astype(object).where(rows.notna(), None).to_dict("records"), strict=True):
        row: WordRow = {str(name): cell for name, cell in cells.items()}
        fault, condition = _check_location(row, items)
        if fault:
            faults.append(f"{where} {label}: {fault}")
            continue
        key = (*(str(row[name]) for name in key_columns), str(row["item"]), condition)
        sentences.setdefault(key, {})[int(row["word"])] = row | {"location": f"{where} {label}"}
    located_rows: list[WordRow] = []
    differing: list[str] = []
    for key, words in sentences.items():
        named = dict(zip((*key_columns, "item", "condition"), key, strict=True))
        sentence_rows = (
            _list_stated_words(words)
            if items is None
            else _match_words(words, items[named["item"]].sentences[named["condition"]], faults, differing)
        )
        located_rows += [word | named for word in sentence_rows]
    if faults:
        more = [f"and {len(faults) - MAX_FAULTS_SHOWN} more faults"] if len(faults) > MAX_FAULTS_SHOWN else []
        raise study.DataError([*faults[:MAX_FAULTS_SHOWN], *more])
    if differing:
        log.info("%d words are written otherwise than in the materials (case, punctuation): %s", len(differing), differing[0])
    _log_absent_sentences(materials, {key[-2:] for key in sentences})
    return (
        pd.DataFrame(located_rows, dtype=object)
        .drop(columns="location")
        .reindex(columns=[*dict.fromkeys([*rows, "condition", "text", "region"])])
    )


def _check_location(row: WordRow, items: Mapping[str, Item] | None) -> tuple[str | None, str]:
    """Return what is wrong with a row, or None, and the row's condition."""
    condition = row.get("condition")
    if items is None:
        missing = [name for name in ("condition", "text") if row.get(name) is None]
        return (f"names no {' and no '.join(missing)}; name the column, or give the materials" if missing else None), str(condition)
    item = items.get(str(row["item"]))
    if item is None:
        return f"item {row['item']!r} is not in the materials", ""
    if condition is None and len(item.sentences) == 1:
        condition = next(iter(item.sentences))
    if condition is None or condition not in item.sentences:
        return f"condition is {condition!r}; expected one of item {item.id}: {', '.join(item.sentences)}", ""
    count = len(item.sentences[condition].list_words())
    if not 0 <= int(row["word"]) < count:
        return f"word {row['word']} (from 0) of item {item.id}, {condition}; it has {count} words", ""
    return None, str(condition)


def _list_stated_words(words: Mapping[int, WordRow]) -> Iterator[WordRow]:
    """Yield words as their rows have them."""
    for n in sorted(words):
        yield {"region": None} | words[n]


def _match_words(words: Mapping[int, WordRow], sentence: Sentence, faults: list[str], differing: list[str]) -> Iterator[WordRow]:
    """Yield every word of a sentence with what its row says."""
    for word in sentence.list_words():
        row = words.get(word.index, {})
        row_text = row.get("text")
        if row_text is not None and _strip_marks(row_text) != _strip_marks(word.text):
            faults.append(
                f"{row['location']}: word {word.index} (from 0) is {row_text!r}, expected {word.text!r}: {sentence.text[:80]}"
            )
        elif row_text is not None and unicodedata.normalize("NFC", row_text) != unicodedata.normalize("NFC", word.text):
            differing.append(f"{row_text!r} for {word.text!r}")
        yield row | {"word": word.index, "text": word.text, "region": word.region}


def _strip_marks(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFC", text).casefold())


def _log_absent_sentences(materials: Materials | None, present: Iterable[tuple[str, ...]]) -> None:
    """Say which sentences of the materials have no row."""
    of_materials = [(item.id, name) for item in materials.items for name in item.sentences] if materials else []
    if absent := [sentence for sentence in of_materials if sentence not in present]:
        log.warning(
            "%d of %d sentences of the materials have no row, the first is %s (%s)", len(absent), len(of_materials), *absent[0]
        )
