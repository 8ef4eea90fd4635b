"""What extraction takes from data and not from code: a file of TOML each, which a user may replace by one of the same name."""

import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from gardenpath import study
from gardenpath.study.files import read_text

from ..phenomena import PHENOMENA

# What a table holds. Keys are regular expressions; one that ends in ! has to be there.
TEXT_TABLE = {".+": str}
LANGUAGE_PATTERN = "[a-z]{3}"
TABLE_SCHEMAS: dict[str, Any] = {
    "features": {"parts!": TEXT_TABLE, "tags!": TEXT_TABLE},
    "patches": {
        LANGUAGE_PATTERN: {
            "add": [{"tags!": str, "forms!": [str], "lemma|reason": str}],
            "remove": [{"lemma|form|tags|reason": str}],
        }
    },
    "restrictions": {LANGUAGE_PATTERN: {"|".join(PHENOMENA): {".+": [str]}}},
    "transliterations": {LANGUAGE_PATTERN: {"letters|lower": TEXT_TABLE, "remove|reason": str, "replace": [[str]]}},
    "treebanks": {"skip|licence|language|unimorph": TEXT_TABLE},
}
TABLE_NAMES = tuple(TABLE_SCHEMAS)
KEY_DESCRIPTIONS = {LANGUAGE_PATTERN: "a code of ISO 639-3, as nld", ".+": "a name"}


def read_table(name: str, folder: str | Path | None = None) -> tuple[dict[str, Any], str]:
    """Return a table and where it was read: the user's `folder`, if it has a file of that name, else 'gardenpath'.

    Raises `study.DataError` for a file of the user's that is none of `TABLE_NAMES`, is not TOML or holds what such a table does
    not.

    >>> table, source = read_table("transliterations")
    >>> table["lat"]["reason"], source
    ('tables of forms mark long and short vowels, most treebanks do not', 'gardenpath')
    """
    path = Path(folder, f"{name}.toml") if folder is not None else None
    strange = [one.name for one in sorted(path.parent.glob("*.toml")) if one.stem not in TABLE_NAMES] if path else []
    if strange:
        raise study.DataError(f"{folder}: {strange[0]} is no table; expected {', '.join(f'{one}.toml' for one in TABLE_NAMES)}")
    if path is None or not path.exists():
        return tomllib.loads(resources.files(__name__).joinpath(f"{name}.toml").read_text("utf-8")), "gardenpath"
    try:
        table = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise study.DataError(f"{path}: not valid TOML: {error}; expected a table as docs/treebanks.md has it") from None
    if fault := _find_fault(table, TABLE_SCHEMAS[name], ""):
        raise study.DataError(f"{path}: {fault}")
    return table, str(path)


def _find_fault(value: Any, schema: Any, where: str) -> str:
    """Return where a value is not of its shape, and what was expected; '' if it is."""
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            return f"{where} is {value!r}; expected a table of keys and values"
        kinds = {kind.removesuffix("!"): inner for kind, inner in schema.items()}
        missing = next((kind[:-1] for kind in schema if kind.endswith("!") and kind[:-1] not in value), "")
        if missing:
            return f"{where or 'the table'} has no {missing!r}"
        for key, one in value.items():
            kind = next((kind for kind in kinds if re.fullmatch(kind, key)), None)
            inside = f"{where}.{key}".removeprefix(".")
            if kind is None:
                known = ", ".join(KEY_DESCRIPTIONS.get(kind, kind.replace("|", ", ")) for kind in kinds)
                return f"{inside} is not known; expected {known}"
            if fault := _find_fault(one, kinds[kind], inside):
                return fault
        return ""
    if isinstance(schema, list):
        if not isinstance(value, list):
            return f"{where} is {value!r}; expected a list"
        return next(filter(None, (_find_fault(one, schema[0], f"{where}[{n}]") for n, one in enumerate(value, 1))), "")
    return "" if isinstance(value, schema) else f"{where} is {value!r}; expected text"
