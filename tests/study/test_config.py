"""study.toml says everything wrong with it at once, each key by name."""

from pathlib import Path

import pytest

from gardenpath import study
from gardenpath.study import AnalysisSection, DataError, ModelSection
from gardenpath.study.config import find_sesoi, parse_dataclass
from gardenpath.study.responses import RESPONSES


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
    assert stated.list_material_paths() == [study_folder / "items.csv"]
    assert stated.design.ratio == {"grammatical": 2, "ungrammatical": 1}


def test_every_wrong_key_is_named_at_once_with_the_nearest_known_one(study_folder: Path) -> None:
    path = edit(study_folder, ("lists = 3", "lits = 3"), ("breaks = 1", 'breaks = "one"'), ("seed = ", "sed = "))
    with pytest.raises(study.DataError) as caught:
        study.load(path)
    message = str(caught.value)
    assert "key 'design.lits' is not known; did you mean 'lists'?" in message
    assert "key 'procedure.breaks' is 'one': input should be a valid integer" in message
    assert "key 'sed' is not known; did you mean 'seed'?" in message
    assert all(str(path) in fault for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["items.csv"]', "[]", "materials: files is empty; expected at least one file"),
        ("lists = 3", "lists = 0", "design: lists is 0; expected at least 1"),
        ("breaks = 1", "breaks = -1", "procedure: breaks is -1; expected 0 or more"),
        ("min_rt = 100.0", "min_rt = 5000.0", "analysis: min_rt is 5000 and max_rt 3000"),
        (
            "min_rt = 100.0",
            "remove_outliers = false\nmin_rt = 50.0",
            "analysis: remove_outliers is false, and min_rt 50, max_rt 3000;",
        ),
        (
            "min_rt = 100.0",
            'spillover_regions = "both"',
            "analysis: spillover_regions is 'both'; expected 'following' or 'cumulative'",
        ),
        ("min_rt = 100.0", 'covariates = ["age"]', "analysis: covariates names age; expected some of log_trial, position, or none"),
        (
            "min_rt = 100.0",
            "figures = { stars = [0.01, 0.05] }",
            "analysis.figures: stars is [0.01, 0.05]; expected p-values below 1, each less",
        ),
        ("min_rt = 100.0", 'figures = { bars = "sd" }', "analysis.figures: bars is 'sd'; expected 'interval' (95 %) or 'se'"),
        (
            "min_rt = 100.0",
            'models = [{ name = "m", formula = "log_rt ~ a", region = "critical..+1" }]',
            "analysis: models: 'm' has the region 'critical..+1', and spillover_regions is 'following'; expected 'critical+1'",
        ),
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


def test_a_smallest_effect_is_stated_of_a_response_or_of_a_term() -> None:
    stated = {"z": 0.3, "log_rt": 0.05, "noun:extraction": {"log_rt": 0.02}}
    section = parse_dataclass(AnalysisSection, {"sesoi": stated}, where="study.toml")
    assert find_sesoi(section.sesoi, "log_rt", "extraction:noun") == 0.02
    assert find_sesoi(section.sesoi, "z", "extraction:noun") == 0.3
    assert find_sesoi(section.sesoi, "log_rt", "noun") == 0.05
    assert find_sesoi(section.sesoi, "rt") is None


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"speed": 0.1}, f"sesoi names 'speed'; expected one of {', '.join(RESPONSES)}, or a term with its own"),
        ({"a:b": {"speed": 0.1}}, f"sesoi.a:b names 'speed'; expected one of {', '.join(RESPONSES)}"),
        ({"z": {"z": 0.1}}, "sesoi.z is a table; expected a number, as z is a response"),
        ({"a:b": {"z": 0.1}, "b:a": {"z": 0.2}}, "sesoi: 'a:b' and 'b:a' are the same term; expected it once"),
        ({"a:b": {"z": -0.1}}, "sesoi.a:b.z is -0.1; expected more than 0"),
        ({"z": 0.0}, "sesoi.z is 0; expected more than 0"),
        ({"z": "a"}, "key 'sesoi.z' is 'a': input should be a valid number"),
    ],
)
def test_a_smallest_effect_that_nothing_can_be_held_against_is_refused(stated: dict, said: str) -> None:
    with pytest.raises(DataError) as found:
        parse_dataclass(AnalysisSection, {"sesoi": stated}, where="study.toml")
    assert said in str(found.value)


def test_a_reference_level_needs_treatment_contrasts() -> None:
    model = {"name": "m", "formula": "z ~ noun + (1|item)", "reference_levels": {"noun": "name"}}
    assert parse_dataclass(ModelSection, model | {"contrasts": {"noun": "treatment"}}, where="study.toml").reference_levels
    with pytest.raises(DataError, match=r'contrasts are repeated; expected contrasts\.noun = "treatment"'):
        parse_dataclass(ModelSection, model, where="study.toml")
