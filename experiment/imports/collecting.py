"""What a platform gave to download becomes the tables that our own server's data become."""

import logging
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from gardenpath import study

from ..keys import hash_participant, known_key, participant_key
from . import prolific as prolific
from . import read_sittings, table
from .mapping import ColumnMapping, read_mapping
from .materials import read_shown
from .tables import tables

log = logging.getLogger("gardenpath")

KEY = "participant.key"


def collect_from(
    data: str | Path,
    platform: str,
    *,
    mapping: str | Path | ColumnMapping | None = None,
    materials: str | Path | None = None,
    name: Callable[[str], str],
) -> dict[str, pd.DataFrame]:
    """Return the tables of a file or a folder that `platform` gave to download; `name` makes of an id what is written."""
    stated = mapping if mapping is None or isinstance(mapping, ColumnMapping) else read_mapping(mapping)
    shown = None if materials is None else read_shown(materials)
    sittings = read_sittings(data, platform, stated)
    return tables(sittings, shown, name)


def namer(data: str | Path, platform: str | None, key: str | Path | None, keep_ids: bool) -> Callable[[str], str]:
    """Return what makes of a platform's id what is written: a keyed hash, or the id itself where it is a researcher's label.

    The key is the file `key`, by default participant.key beside the data; it is made on first use.
    """
    if keep_ids or (platform == table.NAME and key is None):
        return str
    path = Path(key) if key is not None else key_beside(data)
    try:
        # The ids of our own server are hashed already, with a key that has to be there.
        secret = known_key(path) if platform is None else participant_key(path)
    except PermissionError:
        raise study.DataError(
            f"{path}: cannot be written; name another place for the key of participants' ids (--key)"
        ) from None
    return lambda id: hash_participant(id, secret)


def key_beside(data: str | Path) -> Path:
    """Return where the key of participants' ids is kept: where the raw ids are too."""
    return (Path(data) if Path(data).is_dir() else Path(data).parent) / KEY
