"""Several collections of a study become one: what was shown is the same in all, who was there is not."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from gardenpath import study

APART = ("participant", "session", "experiment")  # names that each collection gave by itself
SHOWN = ("items", "conditions", "words", "replacements")
NAMED = 10  # disagreements that are spelt out

Tables = Mapping[str, pd.DataFrame]


def joined_collections(collections: Sequence[Tables], names: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return the tables of several collections as one set; `names` says where each is from.

    Participants, sessions and experiments get the number of their collection before their name (`2-P001`), so that nobody is taken
    for somebody else. Items that several collections have stand there once; where they differ, it is a `DataError` that names them.

    >>> shown = pd.DataFrame({"participant": ["P1"], "session": ["S1"], "field": ["age"], "answer": ["30"]})
    >>> joined_collections([{"demographics": shown}, {"demographics": shown}], ["A", "B"])["demographics"]["participant"].to_list()
    ['1-P1', '2-P1']
    """
    twice = [name for n, name in enumerate(names) if Path(name) in map(Path, names[:n])]
    if twice:
        raise study.DataError(f"{twice[0]}: named twice; expected each collection once")
    there = [name for name in study.TABLES if any(name in tables for tables in collections)]
    return {name: study.check(_joined(name, collections, names), name) for name in there}


def _joined(table: str, collections: Sequence[Tables], names: Sequence[str]) -> pd.DataFrame:
    parts = [
        (name, tables[table] if table in SHOWN else _apart(tables[table], number))
        for number, (tables, name) in enumerate(zip(collections, names, strict=True), start=1)
        if table in tables
    ]
    whole = pd.concat([part.assign(**{FROM: name}) for name, part in parts], ignore_index=True)
    if table in SHOWN:
        key = list(study.TABLES[table].key)
        if faults := [*_differing(whole, key)]:
            more = [f"... and {len(faults) - NAMED} more"] if len(faults) > NAMED else []
            raise study.DataError([*faults[:NAMED], *more])
        whole = whole.drop_duplicates(key, ignore_index=True)
    return whole.drop(columns=FROM)


FROM = "in collection"


def _apart(frame: pd.DataFrame, number: int) -> pd.DataFrame:
    return frame.assign(**{name: f"{number}-" + frame[name].astype("string") for name in APART if name in frame})


def _differing(whole: pd.DataFrame, key: list[str]) -> Iterator[str]:
    """Yield each row that is not the same in all collections which have it."""
    others = [name for name in whole if name not in (*key, FROM)]
    distinct = whole.drop_duplicates([*key, *others])
    for place, rows in distinct[distinct.duplicated(key, keep=False)].groupby(key, sort=False):
        first, second = rows.to_dict("records")[:2]
        column = next(name for name in others if str(first[name]) != str(second[name]))
        where = ", ".join(f"{name} {value}" for name, value in zip(key, place, strict=True))
        yield (
            f"{where}: {column} is {first[column]!r} in {first[FROM]} and {second[column]!r} in {second[FROM]}; expected the "
            "same, or another id for what has changed, with  replaces  naming the old one"
        )
