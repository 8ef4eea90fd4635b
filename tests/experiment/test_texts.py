"""Every text is there in every language, and the players use every text and no other."""

import re
import string
from pathlib import Path
from typing import Any

import pytest

from gardenpath.experiment.scripts.script import LAB_TEXTS, PAGE_TEXTS
from gardenpath.experiment.texts.standard_texts import START_SECTION, Texts, get_direction, list_languages, list_text_names

LANGUAGES = ("ar", "de", "en", "he", "ja", "nl", "tr", "zh")
NAMES = [*list_text_names(), START_SECTION]
ROOT = Path(__file__).parents[2]


def _fields(value: Any) -> Any:
    """The keys, how many paragraphs, and which numbers are to be filled in."""
    if isinstance(value, dict):
        return {key: _fields(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_fields(part) for part in value]
    return sorted(name for _, name, _, _ in string.Formatter().parse(value) if name)


def test_the_languages_are_those_that_the_docs_name() -> None:
    assert list_languages() == list(LANGUAGES)
    lines = (ROOT / "docs" / "study-toml.md").read_text("utf-8").splitlines()
    row = next(line for line in lines if line.startswith("| `language`"))
    assert tuple(re.findall(r"`(\w\w)`", row)) == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_every_text_is_there_with_everything_to_fill_in(name: str, language: str) -> None:
    assert _fields(Texts(language)[name]) == _fields(Texts("en")[name])


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])
@pytest.mark.parametrize("name", NAMES)
def test_no_text_was_left_in_english(name: str, language: str) -> None:
    texts, english = Texts(language)[name], Texts("en")[name]
    same = [key for key, value in english.items() if value and value == texts[key]]
    same += [key for key, value in english["lab"].items() if value == texts["lab"][key]]
    assert not same


@pytest.mark.parametrize("key", PAGE_TEXTS)
def test_some_player_says_every_text_that_it_is_given(key: str) -> None:
    """The page's own are TypeScript, those of another platform go out with its program."""
    code = [*(ROOT / "experiment" / "players" / "lab").glob("*.py"), *(ROOT / "experiment" / "platforms").rglob("*.js")]
    code += (ROOT / "experiment" / "players" / "web" / "src").glob("*.ts")
    source = "".join(path.read_text() for path in code)
    assert re.search(rf"\btexts\.{key}\b", source) or f'texts["{key}"]' in source


@pytest.mark.parametrize("key", LAB_TEXTS)
def test_the_lab_says_every_text_that_it_is_given(key: str) -> None:
    source = "".join(path.read_text() for path in (ROOT / "experiment" / "players" / "lab").glob("*.py"))
    assert f'"{key}"' in source


@pytest.mark.parametrize(
    ("tag", "expected"), [("en", "ltr"), ("ar-EG", "rtl"), ("he", "rtl"), ("FA", "rtl"), ("az-Arab-IR", "rtl"), ("ur-Latn", "ltr")]
)
def test_a_script_decides_the_direction_before_the_language(tag: str, expected: str) -> None:
    assert get_direction(tag) == expected
