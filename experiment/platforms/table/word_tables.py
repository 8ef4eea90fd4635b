"""A plain table of words that nobody in particular read: surprisal of a language model, or mean reading times."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from gardenpath import study
from gardenpath.stimuli import build_conditions_table, build_items_table, build_words_table
from gardenpath.stimuli.external_words import locate_words
from gardenpath.study.mapping import ColumnMapping, read_mapping

from ..cell_values import parse_number
from ..shown_materials import ShownMaterials
from ..sources import Source
from .results import LINE_KEY, find_absent_columns, infer_word_numbering, read_cells

log = logging.getLogger("gardenpath")

SCORE_COLUMNS = ("model", "protocol", "item", "condition", "word", "text", "surprisal", "surprisal_naive", "entropy")
MEASURE_COLUMNS = ("surprisal", "surprisal_naive", "entropy")
MEAN_COLUMNS = ("paradigm", "item", "condition", "word", "text", "region", "rt", "n_readings")


def read_score_rows(
    path: str | Path, mapping: str | Path | ColumnMapping, units: Sequence[str]
) -> tuple[pd.DataFrame, Mapping[str, str]]:
    """Return the rows of a table of surprisal under our names, labelled by their lines, and the unit of each measure.

    Words are counted from 0. `units` are those that there are; one has to be stated. Raises `study.DataError` with every fault.
    """
    mapping = (
        read_mapping(mapping, SCORE_COLUMNS, dict.fromkeys(MEASURE_COLUMNS, units))
        if not isinstance(mapping, ColumnMapping)
        else mapping
    )
    if "surprisal" not in mapping.units:
        raise study.DataError(
            f"{path}: the mapping does not say the unit of surprisal; expected  [units] surprisal = one of "
            f"{', '.join(map(repr, units))}"
        )
    rows = read_word_rows(
        Source.from_path(path), mapping, SCORE_COLUMNS, MEASURE_COLUMNS, needed=("model", "item", "word", "surprisal")
    )
    return rows, {name: mapping.units.get(name, mapping.units["surprisal"]) for name in MEASURE_COLUMNS}


def read_word_rows(
    source: Source, mapping: ColumnMapping, names: Sequence[str], numbers: Sequence[str], needed: Sequence[str]
) -> pd.DataFrame:
    """Return the rows of a table under our `names`, labelled by their lines, a row a word, which is counted from 0.

    `numbers` become floats. A cell that is no number is a fault, as is a row that lacks its item or its word, or is there twice.
    """
    rows = read_cells(source, mapping.separator)
    faults = [
        f"columns: {c!r} is missing; expected {', '.join(needed)}"
        for c in needed
        if c not in mapping.columns and c not in mapping.constants
    ]
    faults += find_absent_columns(source, list(rows[0])[1:], mapping)
    if faults:
        raise study.DataError(f"{source.name}: {fault}" for fault in faults)
    rows = mapping.prepare_rows(rows, source.name)
    first = infer_word_numbering(source.name, rows, mapping).first_number
    frame = pd.DataFrame(
        [{name: mapping.get_text(row, name) for name in names} for row in rows],
        index=pd.Index([row[LINE_KEY] for row in rows]),
        columns=list(names),
        dtype=object,
    )
    row_counts: Counter[tuple[str | None, ...]] = Counter()
    key = [name for name in ("model", "protocol", "item", "condition", "word") if name in names]
    for line, row in zip(frame.index, frame.to_dict("records"), strict=True):
        where = f"{source.name}, line {line}"
        position = parse_number(row["word"])
        if row["item"] is None or position is None or position != int(position) or position < first:
            faults.append(
                f"{where}: item is {row['item']!r} and the word's position {row['word']!r}; expected an item, and a whole number "
                f"from {first}"
            )
        faults += [
            f"{where}: {name} is {row[name]!r}, expected a number"
            for name in numbers
            if row[name] is not None and parse_number(row[name]) is None
        ]
        row_counts[row_key := tuple(row[name] for name in key)] += 1
        if row_counts[row_key] == 2:
            faults.append(
                f"{where}: word {row['word']} of item {row['item']} is there a second time; expected one row a word (of tokens, "
                "the sum of a word's; of readings, name who read: [columns] participant)"
            )
    if faults:
        more = [f"and {len(faults) - 10} more faults"] if len(faults) > 10 else []
        raise study.DataError([*faults[:10], *more])
    return frame.assign(
        word=frame["word"].astype("float64").astype("int64") - first, **{name: frame[name].astype("float64") for name in numbers}
    )


def build_mean_tables(
    sources: Sequence[Source], mapping: ColumnMapping, shown_materials: ShownMaterials | None
) -> dict[str, pd.DataFrame]:
    """Return the table word_means of words with their mean reading times, and items, conditions and words where they are known."""
    if trial_columns := [name for name in ("participant", "session", "trial", "response") if name in mapping.columns]:
        raise study.DataError(
            f"rows_are_means = true, and [columns] {trial_columns[0]}: a word's mean has none; leave out the one or the other"
        )
    parts = []
    for source in sources:
        rows = read_word_rows(source, mapping, MEAN_COLUMNS, ("rt", "n_readings"), needed=("item", "word", "rt"))
        rows["rt"] = mapping.convert_to_ms("rt", 1.0) * rows["rt"]
        parts.append(
            locate_words(
                rows.dropna(axis="columns", how="all"),
                shown_materials.materials if shown_materials else None,
                where=f"{source.name}, line",
            )
        )
    means = pd.concat(parts, ignore_index=True).reindex(columns=list(MEAN_COLUMNS))
    tables: dict[str, pd.DataFrame] = {}
    paradigms: Mapping[str, str] = {}
    if shown_materials is not None:
        tables = {
            "items": build_items_table(shown_materials.materials),
            "conditions": build_conditions_table(shown_materials.materials),
            "words": build_words_table(shown_materials.materials),
        }
        paradigms = {item.id: item.paradigm for item in shown_materials.materials.items}
    means["paradigm"] = means["item"].map(paradigms).fillna(means["paradigm"]).fillna("imported")
    if missing_count := int(means["rt"].isna().sum()):
        log.warning("%d of %d words have no mean reading time; their cells stay empty", missing_count, len(means))
    return tables | {"word_means": study.check(means, "word_means")}
