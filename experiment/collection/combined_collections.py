"""Several collections of a study become one: what was shown is the same in all, who was there is not."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from gardenpath import study

COLLECTION_ID_COLUMNS = ("participant", "session", "experiment")  # names that each collection gave by itself
MATERIALS_TABLES = ("items", "conditions", "words", "replacements")
MAX_DIFFERENCES = 10  # disagreements that are spelt out

Tables = Mapping[str, pd.DataFrame]


def combine_collections(collections: Sequence[Tables], names: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return the tables of several collections as one set; `names` says where each is from.

    Participants, sessions and experiments get the number of their collection before their name (`2-P001`), so that nobody is taken
    for somebody else. Items that several collections have stand there once; where they differ, it is a `DataError` that names them.

    >>> shown = pd.DataFrame({"participant": ["P1"], "session": ["S1"], "question": ["age"], "response": ["30"]})
    >>> combine_collections([{"demographics": shown}, {"demographics": shown}], ["A", "B"])["demographics"]["participant"].to_list()
    ['1-P1', '2-P1']
    """
    duplicates = [name for n, name in enumerate(names) if Path(name) in map(Path, names[:n])]
    if duplicates:
        raise study.DataError(f"{duplicates[0]}: named twice; expected each collection once")
    present = [name for name in study.TABLES if any(name in tables for tables in collections)]
    return {name: study.check(_combine_table(name, collections, names), name) for name in present}


def _combine_table(table: str, collections: Sequence[Tables], names: Sequence[str]) -> pd.DataFrame:
    parts = [
        (name, tables[table] if table in MATERIALS_TABLES else _prefix_ids(tables[table], number))
        for number, (tables, name) in enumerate(zip(collections, names, strict=True), start=1)
        if table in tables
    ]
    whole = pd.concat([part.assign(**{COLLECTION_COLUMN: name}) for name, part in parts], ignore_index=True)
    if table in MATERIALS_TABLES:
        key = list(study.TABLES[table].key)
        if faults := [*_find_differences(whole, key)]:
            remainder = [f"... and {len(faults) - MAX_DIFFERENCES} more"] if len(faults) > MAX_DIFFERENCES else []
            raise study.DataError([*faults[:MAX_DIFFERENCES], *remainder])
        whole = whole.drop_duplicates(key, ignore_index=True)
    return whole.drop(columns=COLLECTION_COLUMN)


COLLECTION_COLUMN = "in collection"


def _prefix_ids(frame: pd.DataFrame, number: int) -> pd.DataFrame:
    return frame.assign(**{name: f"{number}-" + frame[name].astype("string") for name in COLLECTION_ID_COLUMNS if name in frame})


def _find_differences(whole: pd.DataFrame, key: list[str]) -> Iterator[str]:
    """Yield each row that is not the same in all collections which have it."""
    others = [name for name in whole if name not in (*key, COLLECTION_COLUMN)]
    distinct = whole.drop_duplicates([*key, *others])
    for key_values, rows in distinct[distinct.duplicated(key, keep=False)].groupby(key, sort=False):
        first, second = rows.to_dict("records")[:2]
        column = next(name for name in others if str(first[name]) != str(second[name]))
        row_name = ", ".join(f"{name} {value}" for name, value in zip(key, key_values, strict=True))
        yield (
            f"{row_name}: {column} is {first[column]!r} in {first[COLLECTION_COLUMN]} and {second[column]!r} in "
            f"{second[COLLECTION_COLUMN]}; expected the "
            "same, or another id for what has changed, with  replaces  naming the old one"
        )
