"""What participants are told where study.toml says nothing: files of one task in several languages, or of one language."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from gardenpath import study

RIGHT_TO_LEFT = frozenset(["ar", "arc", "ckb", "dv", "fa", "he", "ks", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"])
RIGHT_TO_LEFT_SCRIPTS = frozenset(["adlm", "arab", "hebr", "mand", "nkoo", "rohg", "syrc", "thaa"])
TEXTS = "gardenpath.experiment.texts"
ENGLISH = "en"
START = "start"  # what `gardenpath new` puts into study.toml, where it is changed
LONGEST_TAG = 3  # letters of a language
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


def names() -> list[str]:
    """Return the names of the files of texts that participants read, which are the sections of a file of one's own."""
    return sorted(name for name in _stems() if name != START and not _is_tag(name))


@dataclass(frozen=True)
class Texts:
    """What participants are told, by file in texts/: in the study's language, or as the researcher's own file has it.

    >>> Texts("de")["question"]["instructions"].split()[0]
    'Nach'
    """

    language: str
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    path: str = ""

    def __getitem__(self, name: str) -> dict[str, Any]:
        """Return the texts of texts/<name>.toml, those of the lab under `lab`.

        Raises `ValueError` where there are none in the language, or the researcher's file lacks some of them.
        """
        own = self.own.get(name, {})
        standard = _file(name).get(_tag(self.language))
        if standard is not None:
            return _with_lab(_over(standard, own))
        if not self.own:
            raise ValueError(
                f"language is {self.language!r}: there are no texts in it; expected one of {', '.join(sorted(_file(name)))}, "
                "or your own: procedure.texts names their file, and  gardenpath new  writes one to translate"
            )
        if missing := sorted(_keys(_file(name)[ENGLISH]) - _keys(own)):
            raise ValueError(f"{self.path}: [{name}] has no {', '.join(missing)}; expected them in {self.language!r}")
        return _with_lab(own)

    def untranslated(self, *names: str) -> list[str]:
        """Return the texts of one's own file that are still those in English, as `section.key`."""
        if _tag(self.language) == ENGLISH:
            return []
        english = {name: _flat(_file(name)[ENGLISH]) for name in names}
        own = {name: _flat(self.own.get(name, {})) for name in names}
        return [
            f"{name}.{key}" for name in names for key, text in own[name].items() if text and english[name][key] == text
        ]


def texts_of(plan: study.Study) -> Texts:
    """Return the texts of a study; raises `DataError` with every fault of its own file of texts."""
    if not plan.procedure.texts:
        return Texts(plan.language)
    path = plan.folder / plan.procedure.texts
    if not path.is_file():
        raise study.DataError(
            f"{plan.path}: procedure.texts is {plan.procedure.texts!r}, and there is no such file; expected texts as "
            " gardenpath new  writes them for a language that has none"
        )
    return Texts(plan.language, _read(str(path), study.files.read_text(path)), str(path))


def to_translate(language: str) -> str:
    """Return a file of one's own texts: all that participants could read, in English, to be put into `language`."""
    parts = [
        f"# What participants read and hear of, to be translated into {language!r}: study.toml names this file as procedure.texts.",
        "# What stands in braces, as {points}, is filled in and stays as it is. Tables `lab` are for the lab alone; sections of",
        "# tasks and presentations that the study does not use may be deleted.",
    ]
    for name in names():
        for section, content in ((name, _file(name)[ENGLISH]), (f"{name}.{LAB}", _file(name)[ENGLISH].get(LAB, {}))):
            lines = [f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in content.items() if key != LAB]
            parts += ["", f"[{section}]", *lines] if lines else []
    return "\n".join(parts) + "\n"


@cache
def _read(path: str, text: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the texts of a file, its content given beside so that one that was changed is read again."""
    try:
        own = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise study.DataError(f"{path}: not valid TOML: {error}") from None
    if faults := [f"{path}: {fault}" for fault in _faults(own)]:
        raise study.DataError(faults)
    return own


def _faults(own: Mapping[str, Any]) -> Iterator[str]:
    for name, section in own.items():
        if name not in names() or not isinstance(section, Mapping):
            yield f"[{name}] is no section of texts; expected some of {', '.join(names())}"
            continue
        if not isinstance(section.get(LAB, {}), Mapping):
            yield f"{name}.{LAB} is {section[LAB]!r}; expected a table"
            continue
        english, said = _flat(_file(name)[ENGLISH]), _flat(section)
        for key, text in said.items():
            if key not in english:
                yield f"{name}.{key} is not known; expected some of {', '.join(english)}"
            elif not _is_text(text):
                yield f"{name}.{key} is {text!r}; expected a text"
            elif (has := _filled(text)) != (needs := _filled(english[key])):
                said_of = f"fills in {', '.join(sorted(has)) or 'nothing'}"
                yield f"{name}.{key} {said_of}; expected {' and '.join(sorted(needs)) or 'no braces'}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(part, str) for part in value))


def _filled(text: str | Sequence[str]) -> set[str]:
    """Return what a text, or one of several paragraphs, has in braces."""
    return {match for part in ([text] if isinstance(text, str) else text) for match in re.findall(r"\{\w*\}", part)}


def _flat(section: Mapping[str, Any]) -> dict[str, Any]:
    lab = section.get(LAB, {})
    return {**{key: text for key, text in section.items() if key != LAB}, **{f"{LAB}.{key}": lab[key] for key in lab}}


def _keys(section: Mapping[str, Any]) -> set[str]:
    return set(_flat(section))


def _over(standard: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    return {**standard, **own, LAB: {**standard.get(LAB, {}), **own.get(LAB, {})}}


def _with_lab(section: Mapping[str, Any]) -> dict[str, Any]:
    return {LAB: {}, **section}


def _tag(language: str) -> str:
    return language.partition("-")[0]


def _stems() -> list[str]:
    entries = (entry.name for entry in files(TEXTS).iterdir())
    return [name.removesuffix(".toml") for name in entries if name.endswith(".toml")]


def _is_tag(stem: str) -> bool:
    """Whether a file holds all texts of a language, and not one task's in several."""
    return len(stem) <= LONGEST_TAG


@cache
def _file(name: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the texts of a task, or of the whole session, by language."""
    by_language = _toml(name)
    return by_language | {tag: own[name] for tag in _stems() if _is_tag(tag) and name in (own := _toml(tag))}


def _toml(stem: str) -> dict[str, Any]:
    return tomllib.loads((files(TEXTS) / f"{stem}.toml").read_text("utf-8"))
