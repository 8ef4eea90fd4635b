"""Studies in languages that have no texts of ours, or whose researchers put some in their own words."""

import dataclasses
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.scripts.script import list_untranslated_texts
from gardenpath.experiment.sessions.recruitment import build_ending_page, complete_online_section, select_kiosk_texts
from gardenpath.experiment.setup import new_studies
from gardenpath.experiment.texts.standard_texts import LAB_SECTION, Texts, format_texts_to_translate, load_texts

from ..conftest import run_here


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        yield from _strings(part)


def translated(text: str) -> str:
    """Put every text of a file between marks, as a translator would change each."""
    lines = []
    for line in text.splitlines():
        key, is_, value = line.partition(" = ")
        if is_:
            said = json.loads(value)
            marked = [f"«{part}»" for part in said] if isinstance(said, list) else f"«{said}»"
            line = f"{key} = {json.dumps(marked, ensure_ascii=False)}"
        lines.append(line)
    return "\n".join(lines) + "\n"


@pytest.fixture
def polish(tmp_path: Path) -> Path:
    new_studies.create_study(tmp_path / "study", "spr", language="pl")
    return tmp_path / "study"


def test_a_study_in_a_language_without_texts_is_begun_with_texts_to_translate(polish: Path) -> None:
    ran = run_here("gardenpath design study.toml", polish)
    assert ran.code == 0
    assert "texts.toml: " in ran.said
    assert "still in English: session.device, session.no_keyboard" in ran.said
    own = tomllib.loads((polish / "texts.toml").read_text("utf-8"))
    assert own["maze"] == {key: text for key, text in Texts("en")["maze"].items() if key != LAB_SECTION or text}


@pytest.mark.parametrize("kind", new_studies.list_study_kinds())
def test_once_it_is_translated_nobody_reads_english(kind: str, tmp_path: Path) -> None:
    new_studies.create_study(tmp_path / "study", kind, language="uk")
    texts = tmp_path / "study" / "texts.toml"
    texts.write_text(translated(texts.read_text("utf-8")), "utf-8")
    plan = study.load(tmp_path / "study")
    assert not list_untranslated_texts(plan)
    english = {
        one for name in ("session", "choice", "maze", "rating", "self_paced", "question") for one in _strings(Texts("en")[name])
    }
    for file in experiment.build_list_files(plan):
        shown = set(_strings(dataclasses.asdict(file.script)))
        assert any("«" in one for one in shown)
        assert shown & english <= {""}, shown & english
    online = complete_online_section(plan)
    assert all(part.startswith("«") for part in build_ending_page(online, "withdrawn").text)
    assert all(text.startswith("«") for text in select_kiosk_texts(online).values())


def test_one_text_in_ones_own_words_leaves_the_others(polish: Path) -> None:
    stated = (polish / "study.toml").read_text("utf-8").replace('language = "pl"', 'language = "de"')
    (polish / "study.toml").write_text(stated, "utf-8")
    (polish / "texts.toml").write_text('[session]\nbreak = "Pause!"\n[session.lab]\nready = "Los."\n[endings]\nfull = "Voll."\n')
    plan = study.load(polish)
    said, german = load_texts(plan), Texts("de")
    assert said["session"] == {
        **german["session"],
        "break": "Pause!",
        LAB_SECTION: {**german["session"][LAB_SECTION], "ready": "Los."},
    }
    assert said["maze"] == german["maze"]
    assert build_ending_page(complete_online_section(plan), "full").text[0] == "Voll."
    assert not list_untranslated_texts(plan)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[session]\nbreak = "Przerwa"\n', r"\[session\] has no about_you, "),
        ("[sesion]\n", r"\[sesion\] is no section of texts; expected some of choice, completion"),
        ('[session]\nbrake = "Przerwa"\n', "session.brake is not known; expected some of device"),
        ("[session]\nbreak = 3\n", "session.break is 3; expected a text"),
        ('[session]\nenlarge = "Za małe: {width}"\n', r"session.enlarge fills in \{width\}; expected \{height\} and \{width\}"),
        ('[session]\nbreak = "{who}"\n', r"session.break fills in \{who\}; expected no braces"),
        ("[session\n", "not valid TOML"),
        ("[session]\nlab = 3\n", "session.lab is 3; expected a table"),
    ],
)  # fmt: skip
def test_a_file_of_texts_that_cannot_be_used_is_named(text: str, message: str, polish: Path) -> None:
    (polish / "texts.toml").write_text(text, "utf-8")
    with pytest.raises((study.DataError, ValueError), match=message):
        experiment.build_list_files(study.load(polish))


def test_without_a_file_of_texts_the_language_is_refused_with_what_to_do(polish: Path) -> None:
    (polish / "texts.toml").unlink()
    ran = run_here("gardenpath design study.toml", polish)
    assert ran.code == 1
    assert "texts.toml" in ran.said
    stated = (polish / "study.toml").read_text("utf-8").replace('texts = "texts.toml"', "")
    (polish / "study.toml").write_text(stated, "utf-8")
    ran = run_here("gardenpath design study.toml", polish)
    assert "there are no texts in it; expected one of ar, de, en" in ran.said
    assert "procedure.texts names their file" in ran.said


def test_every_fault_of_a_file_is_told_at_once(polish: Path) -> None:
    (polish / "texts.toml").write_text(
        format_texts_to_translate("pl").replace("[maze]", "[labyrinth]").replace("{points}", "{steps}")
    )
    with pytest.raises(study.DataError) as caught:
        load_texts(study.load(polish))
    assert len(caught.value.faults) >= 2
