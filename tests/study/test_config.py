"""study.toml says everything wrong with it at once, each key by name."""

from pathlib import Path

import pytest

from gardenpath import study


def edit(folder: Path, *changes: tuple[str, str]) -> Path:
    path = folder / "study.toml"
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path


def test_the_example_is_read_with_its_paths(study_folder: Path) -> None:
    stated = study.load(study_folder)
    assert stated.name == "minimal-pairs"
    assert stated.paths() == [study_folder / "items.csv"]
    assert stated.design.ratio == {"grammatical": 2, "ungrammatical": 1}


def test_every_wrong_key_is_named_at_once_with_the_nearest_known_one(study_folder: Path) -> None:
    path = edit(study_folder, ("versions = 3", "verions = 3"), ("breaks = 1", 'breaks = "one"'), ("seed = ", "sed = "))
    with pytest.raises(study.DataError) as caught:
        study.load(path)
    message = str(caught.value)
    assert "key 'design.verions' is not known; did you mean 'versions'?" in message
    assert "key 'design.versions' is missing" in message
    assert "key 'procedure.breaks' is 'one': input should be a valid integer" in message
    assert "key 'sed' is not known; did you mean 'seed'?" in message
    assert all(str(path) in fault for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["items.csv"]', "[]", "materials: files is empty; expected at least one file"),
        ("versions = 3", "versions = 0", "design: versions is 0; expected at least 1"),
        ("breaks = 1", "breaks = -1", "procedure: breaks is -1; expected 0 or more"),
        ("min_rt = 100.0", "min_rt = 5000.0", "analysis: min_rt is 5000 and max_rt 3000"),
        ("ratio = { grammatical = 2,", "ratio = { grammatical = 0,", "design: ratio is"),
    ],
)
def test_a_number_out_of_its_range_is_a_fault_of_the_file(study_folder: Path, old: str, new: str, message: str) -> None:
    path = edit(study_folder, (old, new))
    with pytest.raises(study.DataError) as caught:
        study.load(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_broken_toml_is_one_line_with_its_place(study_folder: Path) -> None:
    path = edit(study_folder, ('name = "minimal-pairs"', 'name = "minimal-pairs'))
    with pytest.raises(study.DataError, match=r"not valid TOML: .*line.*: name = \"minimal-pairs"):
        study.load(path)


def test_a_missing_study_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"study.toml: there is no such file"):
        study.load(tmp_path)
