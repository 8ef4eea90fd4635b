"""A procedure: what a participant does and reads, the same in the browser, in the lab and for a robot."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

from gardenpath import study

Text = str | tuple[str, ...]

# What study.toml states, no more.
Rating = study.RatingSection
Choice = study.ChoiceSection
Field = study.FieldSection
Device = study.DeviceSection

# A sentence of a pair is not read before the choice unless the study says so.
USUAL = {"sentence": "centred", "pair": "with_task"}


@dataclass(frozen=True)
class Procedure:
    """How the sentences of each role are presented, the tasks after them, the questions about the participant, what the
    device must have, and every text of the page; breaks belong to the ordering.
    """

    language: str
    presentation: Mapping[str, str]
    rating: Rating | None
    texts: Mapping[str, Text]
    choice: Choice = field(default_factory=Choice)
    demographics: tuple[Field, ...] = ()
    device: Device = field(default_factory=Device)

    def fault(self, value: Mapping[str, Any]) -> str | None:
        """Return what is wrong with a response that no page of this procedure gives, None where nothing is."""
        if value["task"] != "rating" or self.rating is None:
            return None
        response, there = value["response"], self.rating.range
        if isinstance(response, int) and not isinstance(response, bool) and response in there:
            return None
        return f"a rating of {response!r}; expected a whole number from {there[0]} to {there[-1]}"


def procedure(stated: study.Study) -> Procedure:
    """Return the procedure that a study.toml states, with the texts it leaves out in the study's language."""
    section = stated.procedure
    standard = standard_texts(stated.language)
    parts = standard.pop("instructions")
    assert isinstance(parts, dict)
    given = section.presentations()
    usual = given.get("target", USUAL[stated.design.trial])
    presentation = {role: given.get(role, usual) for role in study.ROLES}
    texts: dict[str, Text] = {key: _text(value) for key, value in standard.items()}
    texts["instructions"] = tuple(_instructions(stated, parts, presentation["target"]))
    if section.consent is not None:
        texts["consent"] = tuple(part.strip() for part in section.consent.split("\n\n") if part.strip())
    if section.instructions is not None:
        texts["instructions"] = tuple(section.instructions)
    if section.debriefing is not None:
        texts["debriefing"] = section.debriefing
    choice = section.choice if section.choice.prompt else replace(section.choice, prompt=str(texts["choose"]))
    return Procedure(
        stated.language, presentation, section.rating, texts, choice, tuple(section.demographics), section.device
    )


def _instructions(stated: study.Study, parts: Mapping[str, str], presentation: str) -> Iterator[str]:
    """Yield the pages of instructions for what this study shows and asks."""
    rating, pair = stated.procedure.rating, stated.design.trial == "pair"
    if presentation != "with_task":
        yield parts[presentation]
    if stated.design.questions or any(isinstance(one, study.PracticeSection) for one in stated.design.practice):
        yield parts["question"]
    if pair:
        yield parts["choice"]
    elif rating is not None:
        yield parts[f"rating_{rating.kind}"].replace("{points}", str(rating.points))
    yield "\n\n".join([parts["ready"], *([parts["practice"]] if stated.design.practice else [])])


RIGHT_TO_LEFT = frozenset(["ar", "arc", "ckb", "dv", "fa", "he", "ks", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"])
RIGHT_TO_LEFT_SCRIPTS = frozenset(["adlm", "arab", "hebr", "mand", "nkoo", "rohg", "syrc", "thaa"])


def direction(language: str) -> str:
    """Return "ltr" or "rtl", the reading direction of a BCP 47 tag; a script in the tag decides before the language.

    >>> direction("he"), direction("az-Arab-IR"), direction("ur-Latn")
    ('rtl', 'rtl', 'ltr')
    """
    name, *rest = language.lower().replace("_", "-").split("-")
    script = next((part for part in rest if len(part) == 4 and part.isalpha()), None)
    return "rtl" if (script in RIGHT_TO_LEFT_SCRIPTS if script else name in RIGHT_TO_LEFT) else "ltr"


def sides(language: str, arrangement: str) -> tuple[str, str]:
    """Return where the first and the second sentence of a pair stand: the first one where reading begins."""
    if arrangement == "stacked":
        return "upper", "lower"
    return ("right", "left") if direction(language) == "rtl" else ("left", "right")


def languages() -> list[str]:
    """Return the languages in which the page has texts."""
    folder = files("gardenpath.experiment.texts")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def standard_texts(language: str) -> dict[str, Any]:
    """Return the standard texts in a language; raises `ValueError` naming the languages where there are none."""
    name = language.partition("-")[0]
    if name not in languages():
        raise ValueError(
            f"language is {language!r}: there are no texts for the page in it; expected one of {', '.join(languages())}"
        )
    return tomllib.loads((files("gardenpath.experiment.texts") / f"{name}.toml").read_text("utf-8"))


def _text(value: str | list[str]) -> Text:
    return value if isinstance(value, str) else tuple(value)
