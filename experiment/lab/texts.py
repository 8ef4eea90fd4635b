"""The texts that a lab has beside those of the page: keys instead of buttons, and a person to turn to."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ..procedures import Text, standard_texts


def lab_texts(language: str, texts: Mapping[str, Text]) -> dict[str, Any]:
    """Return a procedure's texts with those of the lab; what the page's standard texts say of browsers and pages is replaced."""
    own, standard = _texts(language.partition("-")[0]), standard_texts(language)
    consent = own["consent"] if list(texts["consent"]) == standard["consent"] else texts["consent"]
    pages = tuple(page.replace(standard["instructions"]["ready"], own["ready"]) for page in texts["instructions"])
    return {**texts, **own, "consent": tuple(consent), "instructions": pages}


@cache
def _texts(name: str) -> Mapping[str, Any]:
    folder = files("gardenpath.experiment.texts") / "lab"
    return tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
