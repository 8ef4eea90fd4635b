"""A procedure: what a participant does and reads, the same in the browser, in the lab and for a robot."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from gardenpath import study

PRESENTATIONS = ("centred",)
Text = str | tuple[str, ...]


@dataclass(frozen=True)
class Rating:
    """A rating scale from 1 to `points`, answered by number key; `name` is the prompt's name in the tables."""

    prompt: str
    low: str
    high: str
    points: int = 7
    name: str = "acceptability"

    def __post_init__(self) -> None:
        if not 2 <= self.points <= 9:
            raise ValueError(f"rating.points is {self.points}; expected 2 to 9, one number key for each")


@dataclass(frozen=True)
class Procedure:
    """How sentences are presented, the rating that follows, the number of breaks, and every text of the page."""

    language: str
    presentation: str
    rating: Rating
    breaks: int
    texts: Mapping[str, Text]

    def __post_init__(self) -> None:
        if self.presentation not in PRESENTATIONS:
            raise ValueError(f"procedure.presentation is {self.presentation!r}; expected {' or '.join(PRESENTATIONS)}")
        if self.breaks < 0:
            raise ValueError(f"procedure.breaks is {self.breaks}; expected 0 or more")


def procedure(stated: study.Study) -> Procedure:
    """Return the procedure that a study.toml states, with the texts it leaves out in the study's language."""
    section = stated.procedure
    rating = Rating(section.rating.prompt, section.rating.low, section.rating.high, section.rating.points)
    texts: dict[str, Text] = {key: _text(value, rating) for key, value in _standard_texts(stated.language).items()}
    if section.consent is not None:
        texts["consent"] = tuple(part.strip() for part in section.consent.split("\n\n") if part.strip())
    if section.instructions is not None:
        texts["instructions"] = tuple(section.instructions)
    if section.debriefing is not None:
        texts["debriefing"] = section.debriefing
    return Procedure(stated.language, section.presentation, rating, section.breaks, texts)


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
