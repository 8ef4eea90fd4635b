"""Every text of the page is there in every language, and a procedure holds what a study states."""

import re
import string
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment import procedures

LANGUAGES = ("ar", "de", "en", "he", "ja", "nl", "tr", "zh")
ENGLISH = procedures.standard_texts("en")


def _fields(value: Any) -> Any:
    """The keys, how many paragraphs, and which numbers are to be filled in."""
    if isinstance(value, dict):
        return {key: _fields(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_fields(part) for part in value]
    return sorted(name for _, name, _, _ in string.Formatter().parse(value) if name)


def test_the_languages_of_the_page_are_those_that_the_docs_name() -> None:
    assert procedures.languages() == list(LANGUAGES)
    row = next(line for line in _document("study-toml.md").splitlines() if line.startswith("| `language`"))
    assert tuple(re.findall(r"`(\w\w)`", row)) == LANGUAGES


def _document(name: str) -> str:
    return (Path(__file__).parents[2] / "docs" / name).read_text("utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_there_with_everything_to_fill_in(language: str) -> None:
    assert _fields(procedures.standard_texts(language)) == _fields(ENGLISH)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_ending_is_there(language: str) -> None:
    def keys(name: str) -> set[str]:
        path = files("gardenpath.experiment.texts") / "endings" / f"{name}.toml"
        return set(tomllib.loads(path.read_text("utf-8")))

    assert keys(language) == keys("en")


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])
def test_no_text_was_left_in_english(language: str) -> None:
    texts = procedures.standard_texts(language)
    same = [key for key, value in ENGLISH.items() if value == texts[key]]
    same += [key for key, value in ENGLISH["instructions"].items() if value == texts["instructions"][key]]
    assert not same


@pytest.mark.parametrize("key", sorted({*ENGLISH} - {"instructions"}))
def test_the_page_uses_every_text_and_no_other(key: str) -> None:
    source = "".join(path.read_text() for path in (Path(procedures.__file__).parent / "web" / "src").glob("*.ts"))
    # `choose` is the prompt of a choice that states none; procedures.py fills it in.
    assert key == "choose" or re.search(rf"\btexts\.{key}\b", source)
    assert key == "choose" or re.search(rf"^  {key}: string", source, re.MULTILINE)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("en", "ltr"), ("ar-EG", "rtl"), ("he", "rtl"), ("FA", "rtl"), ("az-Arab-IR", "rtl"), ("ur-Latn", "ltr")],
)
def test_a_script_decides_the_direction_before_the_language(tag: str, expected: str) -> None:
    assert procedures.direction(tag) == expected


def _stated(folder: Path, change: dict[str, str]) -> study.Study:
    path = folder / "study.toml"
    text = path.read_text()
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return study.load(path)


def test_instructions_tell_what_this_study_shows_and_asks(study_folder: Path) -> None:
    stated = _stated(study_folder, {'"centred"': '"moving_window"', "points = 7": 'kind = "slider"'})
    pages = procedures.procedure(stated).texts["instructions"]
    assert ["hidden behind a line" in page for page in pages] == [True, False, False]
    assert ["moving a slider" in page for page in pages] == [False, True, False]
    assert pages[-1].endswith("practice.")


def test_roles_of_which_nothing_is_stated_are_shown_as_targets_are(study_folder: Path) -> None:
    stated = _stated(study_folder, {'"centred"': '{ target = "whole", practice = "centred" }'})
    shown = procedures.procedure(stated).presentation
    assert shown == dict.fromkeys(study.ROLES, "whole") | {"practice": "centred"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({'"centred"': '"centered"'}, "presentation is 'centered'; expected centred, moving_window"),
        ({'"centred"': '{ targets = "whole" }'}, "presentation names 'targets'; expected target, filler"),
        ({"points = 7": 'kind = "stars"'}, "kind is 'stars'; expected 'keys', 'slider' or 'yes_no'"),
        ({'low = "very bad"\n': ""}, "low is '' and high 'very good'; expected what the two ends mean"),
        (
            {"[online]": '[[procedure.demographics]]\nname = "age"\nlabel = "Age"\nkind = "choice"\n[online]'},
            "expected choices with kind = 'choice' alone",
        ),
        (
            {"[online]": '[procedure.choice]\narrangement = "round"\n[online]'},
            "arrangement is 'round'; expected 'side_by_side' or 'stacked'",
        ),
    ],
)
def test_a_procedure_that_cannot_be_is_refused_by_its_key(
    study_folder: Path, change: dict[str, str], message: str
) -> None:
    with pytest.raises(study.DataError, match=re.escape(message)):
        _stated(study_folder, change)


def test_a_study_without_a_rating_is_refused(study_folder: Path) -> None:
    path = study_folder / "study.toml"
    head, _, rest = path.read_text().partition("[procedure.rating]")
    path.write_text(head + "[online]" + rest.partition("[online]")[2])
    with pytest.raises(study.DataError, match=r"study\.toml: procedure\.rating is missing"):
        study.load(path)


@pytest.mark.parametrize(
    ("kind", "right", "wrong"), [("keys", 7, 8), ("keys", 1, 0), ("slider", 0, 101), ("yes_no", 0, 2), ("keys", 3, "3")]
)
def test_an_answer_that_no_page_gives_is_found(study_folder: Path, kind: str, right: int, wrong: object) -> None:
    stated = _stated(study_folder, {"points = 7": f'points = 7\nkind = "{kind}"'})
    file = experiment.version_files(stated)[0]
    assert file.procedure.fault({"task": "rating", "response": right}) is None
    assert "expected a whole number from" in str(file.procedure.fault({"task": "rating", "response": wrong}))
    assert file.procedure.fault({"task": "question", "response": "yes"}) is None
