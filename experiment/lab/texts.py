"""The texts that a lab has beside those of the page: keys instead of buttons, and a person to turn to."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ..procedures import Text, standard_texts


def lab_texts(language: str, texts: Mapping[str, Text]) -> dict[str, Any]:
    """Return a procedure's texts with those of the lab; the page's standard consent, which speaks of a browser, is replaced."""
    own = _texts(language.partition("-")[0])
    consent = own["consent"] if list(texts["consent"]) == standard_texts(language)["consent"] else texts["consent"]
    return {**texts, **own, "consent": tuple(consent)}


@cache
def _texts(name: str) -> Mapping[str, Any]:
    folder = files("gardenpath.experiment.texts") / "lab"
    return tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
