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

RIGHT_TO_LEFT_LANGUAGES = frozenset(["ar", "arc", "ckb", "dv", "fa", "he", "ks", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"])
RIGHT_TO_LEFT_SCRIPTS = frozenset(["adlm", "arab", "hebr", "mand", "nkoo", "rohg", "syrc", "thaa"])
TEXTS_PACKAGE = "gardenpath.experiment.texts"
ENGLISH_TAG = "en"
START_SECTION = "start"  # what `gardenpath new` puts into study.toml, where it is changed
MAX_TAG_LENGTH = 3  # letters of a language
LAB_SECTION = "lab"  # within a language: what the lab says instead of the page, or beside it


def get_direction(language: str) -> str:
    """Return "ltr" or "rtl", the reading direction of a BCP 47 tag; a script in the tag decides before the language.

    >>> get_direction("he"), get_direction("az-Arab-IR"), get_direction("ur-Latn")
    ('rtl', 'rtl', 'ltr')
    """
    name, *rest = language.lower().replace("_", "-").split("-")
    script = next((part for part in rest if len(part) == 4 and part.isalpha()), None)
    return "rtl" if (script in RIGHT_TO_LEFT_SCRIPTS if script else name in RIGHT_TO_LEFT_LANGUAGES) else "ltr"


def list_languages() -> list[str]:
    """Return the languages in which there are texts."""
    return sorted(_read_texts_by_language("session"))


def list_text_names() -> list[str]:
    """Return the names of the files of texts that participants read, which are the sections of a file of one's own."""
    return sorted(name for name in _list_file_stems() if name != START_SECTION and not _is_language_file(name))


@dataclass(frozen=True)
class Texts:
    """What participants are told, by file in texts/: in the study's language, or as the researcher's own file has it.

    >>> Texts("de")["question"]["instructions"].split()[0]
    'Nach'
    """

    language: str
    own_texts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    path: str = ""

    def __getitem__(self, name: str) -> dict[str, Any]:
        """Return the texts of texts/<name>.toml, those of the lab under `lab`.

        Raises `ValueError` where there are none in the language, or the researcher's file lacks some of them.
        """
        own_section = self.own_texts.get(name, {})
        standard = _read_texts_by_language(name).get(_get_base_tag(self.language))
        if standard is not None:
            return _add_lab_section(_overlay_texts(standard, own_section))
        if not self.own_texts:
            raise ValueError(
                f"language is {self.language!r}: there are no texts in it; expected one of "
                f"{', '.join(sorted(_read_texts_by_language(name)))}, "
                "or your own: procedure.texts names their file, and  gardenpath new  writes one to translate"
            )
        if missing := sorted(_list_keys(_read_texts_by_language(name)[ENGLISH_TAG]) - _list_keys(own_section)):
            raise ValueError(f"{self.path}: [{name}] has no {', '.join(missing)}; expected them in {self.language!r}")
        return _add_lab_section(own_section)

    def list_untranslated(self, *names: str) -> list[str]:
        """Return the texts of one's own file that are still those in English, as `section.key`."""
        if _get_base_tag(self.language) == ENGLISH_TAG:
            return []
        english = {name: _flatten_section(_read_texts_by_language(name)[ENGLISH_TAG]) for name in names}
        own_sections = {name: _flatten_section(self.own_texts.get(name, {})) for name in names}
        return [
            f"{name}.{key}" for name in names for key, text in own_sections[name].items() if text and english[name][key] == text
        ]


def load_texts(config: study.Study) -> Texts:
    """Return the texts of a study; raises `DataError` with every fault of its own file of texts."""
    if not config.procedure.texts:
        return Texts(config.language)
    path = config.folder / config.procedure.texts
    if not path.is_file():
        raise study.DataError(
            f"{config.path}: procedure.texts is {config.procedure.texts!r}, and there is no such file; expected texts as "
            " gardenpath new  writes them for a language that has none"
        )
    return Texts(config.language, _read_own_texts(str(path), study.files.read_text(path)), str(path))


def format_texts_to_translate(language: str) -> str:
    """Return a file of one's own texts: all that participants could read, in English, to be put into `language`."""
    parts = [
        f"# What participants read and hear of, to be translated into {language!r}: study.toml names this file as procedure.texts.",
        "# What stands in braces, as {points}, is filled in and stays as it is. Tables `lab` are for the lab alone; sections of",
        "# tasks and presentations that the study does not use may be deleted.",
    ]
    for name in list_text_names():
        for section, content in (
            (name, _read_texts_by_language(name)[ENGLISH_TAG]),
            (f"{name}.{LAB_SECTION}", _read_texts_by_language(name)[ENGLISH_TAG].get(LAB_SECTION, {})),
        ):
            lines = [f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in content.items() if key != LAB_SECTION]
            parts += ["", f"[{section}]", *lines] if lines else []
    return "\n".join(parts) + "\n"


@cache
def _read_own_texts(path: str, text: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the texts of a file, its content given beside so that one that was changed is read again."""
    try:
        own_texts = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise study.DataError(f"{path}: not valid TOML: {error}") from None
    if faults := [f"{path}: {fault}" for fault in _find_text_faults(own_texts)]:
        raise study.DataError(faults)
    return own_texts


def _find_text_faults(own_texts: Mapping[str, Any]) -> Iterator[str]:
    for name, section in own_texts.items():
        if name not in list_text_names() or not isinstance(section, Mapping):
            yield f"[{name}] is no section of texts; expected some of {', '.join(list_text_names())}"
            continue
        if not isinstance(section.get(LAB_SECTION, {}), Mapping):
            yield f"{name}.{LAB_SECTION} is {section[LAB_SECTION]!r}; expected a table"
            continue
        english, section_texts = _flatten_section(_read_texts_by_language(name)[ENGLISH_TAG]), _flatten_section(section)
        for key, text in section_texts.items():
            if key not in english:
                yield f"{name}.{key} is not known; expected some of {', '.join(english)}"
            elif not _is_text(text):
                yield f"{name}.{key} is {text!r}; expected a text"
            elif (placeholders := _find_placeholders(text)) != (expected := _find_placeholders(english[key])):
                description = f"fills in {', '.join(sorted(placeholders)) or 'nothing'}"
                yield f"{name}.{key} {description}; expected {' and '.join(sorted(expected)) or 'no braces'}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(part, str) for part in value))


def _find_placeholders(text: str | Sequence[str]) -> set[str]:
    """Return what a text, or one of several paragraphs, has in braces."""
    return {match for part in ([text] if isinstance(text, str) else text) for match in re.findall(r"\{\w*\}", part)}


def _flatten_section(section: Mapping[str, Any]) -> dict[str, Any]:
    lab = section.get(LAB_SECTION, {})
    return {
        **{key: text for key, text in section.items() if key != LAB_SECTION},
        **{f"{LAB_SECTION}.{key}": lab[key] for key in lab},
    }


def _list_keys(section: Mapping[str, Any]) -> set[str]:
    return set(_flatten_section(section))


def _overlay_texts(standard: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    return {**standard, **own, LAB_SECTION: {**standard.get(LAB_SECTION, {}), **own.get(LAB_SECTION, {})}}


def _add_lab_section(section: Mapping[str, Any]) -> dict[str, Any]:
    return {LAB_SECTION: {}, **section}


def _get_base_tag(language: str) -> str:
    return language.partition("-")[0]


def _list_file_stems() -> list[str]:
    entries = (entry.name for entry in files(TEXTS_PACKAGE).iterdir())
    return [name.removesuffix(".toml") for name in entries if name.endswith(".toml")]


def _is_language_file(stem: str) -> bool:
    """Whether a file holds all texts of a language, and not one task's in several."""
    return len(stem) <= MAX_TAG_LENGTH


@cache
def _read_texts_by_language(name: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the texts of a task, or of the whole session, by language."""
    by_language = _read_text_file(name)
    return by_language | {
        tag: language_texts[name]
        for tag in _list_file_stems()
        if _is_language_file(tag) and name in (language_texts := _read_text_file(tag))
    }


def _read_text_file(stem: str) -> dict[str, Any]:
    return tomllib.loads((files(TEXTS_PACKAGE) / f"{stem}.toml").read_text("utf-8"))
