"""A list file holds all that a session needs, in the same bytes every time."""

import dataclasses
import json
from importlib.resources import files
from pathlib import Path

import pytest

from gardenpath import experiment, study


def test_a_list_is_the_same_after_writing_and_reading(list_files: list[experiment.ListFile], tmp_path: Path) -> None:
    for file in list_files:
        file.write(tmp_path)
    read = experiment.read_list_files(tmp_path)
    assert read == list_files
    assert [file.sha256 for file in read] == [study.files.hash_file(tmp_path / f"{file.name}.json") for file in list_files]


def test_another_schema_is_refused(list_files: list[experiment.ListFile], tmp_path: Path) -> None:
    path = list_files[0].write(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 99}))
    with pytest.raises(
        study.DataError, match="schema is 99, expected 4: it was written by another release of gardenpath; write it again"
    ):
        experiment.read_list_files(tmp_path)


def test_a_folder_without_lists_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="gardenpath design"):
        experiment.read_list_files(tmp_path)


def test_a_language_without_texts_is_refused(study_folder: Path) -> None:
    path = study_folder / "study.toml"
    path.write_text(path.read_text().replace('language = "en"', 'language = "tlh"'))
    with pytest.raises(ValueError, match=r"language is 'tlh': there are no texts .* expected one of ar, de, en"):
        experiment.build_list_files(study.load(path))


def test_a_scale_without_keys_is_refused(study_folder: Path) -> None:
    path = study_folder / "study.toml"
    path.write_text(path.read_text().replace("points = 7", "points = 11"))
    with pytest.raises(ValueError, match=r"procedure\.tasks\.acceptability: points is 11; expected 2 to 9"):
        experiment.build_list_files(study.load(path))


@pytest.mark.parametrize("example", ["minimal-pairs", "relative-clauses", "forced-choice"])
@pytest.mark.parametrize("title", ["", '1e-5 of a \\ "title"\t\x1f\x7f é 語 \u2028'])
def test_the_text_of_a_list_is_that_of_json(example: str, title: str) -> None:
    file = experiment.build_list_files(study.load(files("gardenpath.examples") / example))[0]
    numbers = {"shares": [1.0, 0.1, 2 / 3, 1e-5, 1e22, 12345678.9, -0.0], "none": [], "nothing": {}} if title else {}
    changed = dataclasses.replace(file, title=title or file.title, procedure=file.procedure | numbers)
    assert changed.text == json.dumps(dataclasses.asdict(changed), ensure_ascii=False, indent=1) + "\n"
