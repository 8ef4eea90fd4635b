"""What participants are told where study.toml says nothing: one file of texts a task, all languages in each."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

RIGHT_TO_LEFT = frozenset(["ar", "arc", "ckb", "dv", "fa", "he", "ks", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"])
RIGHT_TO_LEFT_SCRIPTS = frozenset(["adlm", "arab", "hebr", "mand", "nkoo", "rohg", "syrc", "thaa"])
LAB = "lab"  # within a language: what the lab says instead of the page, or beside it


def direction(language: str) -> str:
    """Return "ltr" or "rtl", the reading direction of a BCP 47 tag; a script in the tag decides before the language.

    >>> direction("he"), direction("az-Arab-IR"), direction("ur-Latn")
    ('rtl', 'rtl', 'ltr')
    """
    name, *rest = language.lower().replace("_", "-").split("-")
    script = next((part for part in rest if len(part) == 4 and part.isalpha()), None)
    return "rtl" if (script in RIGHT_TO_LEFT_SCRIPTS if script else name in RIGHT_TO_LEFT) else "ltr"


def languages() -> list[str]:
    """Return the languages in which there are texts."""
    return sorted(_file("session"))


def standard_texts(name: str, language: str) -> dict[str, Any]:
    """Return the texts of texts/<name>.toml in a language, those of the lab under `lab`.

    Raises `ValueError` naming the languages where there are none.
    """
    tag = language.partition("-")[0]
    by_language = _file(name)
    if tag not in by_language:
        raise ValueError(
            f"language is {language!r}: there are no texts in it; expected one of {', '.join(sorted(by_language))}"
        )
    return {LAB: {}, **by_language[tag]}


@cache
def _file(name: str) -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((files("gardenpath.experiment.texts") / f"{name}.toml").read_text("utf-8"))
