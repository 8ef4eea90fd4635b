"""A procedure: what a participant does and reads, the same in the browser, in the lab and for a robot."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from gardenpath import study

Text = str | tuple[str, ...]


# The scale is what study.toml states, no more.
Rating = study.RatingSection


@dataclass(frozen=True)
class Procedure:
    """How sentences are presented, the rating that follows, and every text of the page; breaks belong to the ordering."""

    language: str
    presentation: str
    rating: Rating
    texts: Mapping[str, Text]


def procedure(stated: study.Study) -> Procedure:
    """Return the procedure that a study.toml states, with the texts it leaves out in the study's language."""
    section = stated.procedure
    texts: dict[str, Text] = {
        key: _text(value, section.rating) for key, value in _standard_texts(stated.language).items()
    }
    if section.consent is not None:
        texts["consent"] = tuple(part.strip() for part in section.consent.split("\n\n") if part.strip())
    if section.instructions is not None:
        texts["instructions"] = tuple(section.instructions)
    if section.debriefing is not None:
        texts["debriefing"] = section.debriefing
    return Procedure(stated.language, section.presentation, section.rating, texts)


def _standard_texts(language: str) -> dict[str, str | list[str]]:
    folder = files("gardenpath.experiment.texts")
    wanted = folder / f"{language.partition('-')[0]}.toml"
    if not wanted.is_file():
        there = sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))
        raise ValueError(
            f"language is {language!r}: there are no texts for the page in it; expected one of {', '.join(there)}"
        )
    return tomllib.loads(wanted.read_text("utf-8"))


def _text(value: str | list[str], rating: Rating) -> Text:
    def fill(text: str) -> str:
        return text.replace("{points}", str(rating.points))

    return fill(value) if isinstance(value, str) else tuple(fill(part) for part in value)
