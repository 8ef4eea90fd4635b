"""What extraction takes from data and not from code: a file of TOML each, which a user may replace by one of the same name."""

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from gardenpath import study
from gardenpath.study.files import read_text

NAMES = ("features", "patches", "restrictions", "transliterations", "treebanks")


def read(name: str, folder: str | Path | None = None) -> tuple[dict[str, Any], str]:
    """Return a table and where it was read: the user's `folder`, if it has a file of that name, else 'gardenpath'.

    Raises `study.DataError` for a name that is not one of `NAMES`, and for a file that is not TOML.

    >>> table, source = read("transliterations")
    >>> table["lat"]["reason"], source
    ('tables of forms mark long and short vowels, most treebanks do not', 'gardenpath')
    """
    path = Path(folder, f"{name}.toml") if folder is not None else None
    if path is None or not path.exists():
        return tomllib.loads(resources.files(__name__).joinpath(f"{name}.toml").read_text("utf-8")), "gardenpath"
    try:
        return tomllib.loads(read_text(path)), str(path)
    except tomllib.TOMLDecodeError as error:
        raise study.DataError(
            f"{path}: not valid TOML: {error}; expected a table as docs/treebanks.md has it"
        ) from None
