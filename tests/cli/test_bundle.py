"""gardenpath bundle: a study as a Psych-DS data set, which says no more of people than it has to."""

import hashlib
import json
import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import study
from gardenpath.study import psych_ds

from ..conftest import ROOT, Ran, run_here

NAME = "minimal-pairs"
ARCHIVE = """
[archive]
description = "Readings and ratings."
license = "CC-BY-4.0"
keywords = ["reading", "acceptability"]
citation = "Carberry (2026)"
funder = "Brown University"
url = "https://example.org"
identifier = "10.5281/zenodo.1"
usage_info = "Free to use."
leave_out = ["sessions.started", "sessions.finished"]

[[archive.authors]]
name = "Carberry, Josiah"
orcid = "0000-0002-1825-0097"
affiliation = "Brown University"
"""


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example study with tables of nine simulated readers, and results of a kind that takes no models."""
    folder = Path(shutil.copytree(ROOT / "examples" / NAME, tmp_path_factory.mktemp("bundle") / "study"))
    simulate = "simulate study.toml --participants 9 --seed 1 -o data"
    for line in ("preregister study.toml -o preregistration.md", simulate, "collect data -o tables"):
        assert run_here(f"gardenpath {line}", folder).code == 0
    items = study.read(folder / "tables", "items")
    rows = pd.DataFrame(
        {"step": [0], "table": "items", "condition": "all", "rule": ["none"], "n_before": [len(items)], "n_excluded": 0}
    ).assign(n_after=len(items), n_participants_before=0, n_participants_after=0)
    study.write(rows, "exclusions", folder / "results", command=f"gardenpath analyse {folder.resolve()}/tables")
    (folder / "study.toml").write_text((folder / "study.toml").read_text() + ARCHIVE)
    return folder


@pytest.fixture(scope="module")
def bundled(collected: Path) -> Ran:
    """The command that bundled it to a.zip beside the study, as it was run."""
    return run_here("gardenpath bundle study.toml -o ../a.zip", collected)


@pytest.fixture
def folder(collected: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(collected, tmp_path / "study"))


def unpacked(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as made:
        assert {name.split("/")[0] for name in made.namelist()} == {NAME}
        return {name.partition("/")[2]: made.read(name) for name in made.namelist()}


def change(folder: Path, name: str, **columns: object) -> None:
    """Give columns of a table these values in its first row."""
    frame = study.read(folder / "tables", name)
    for column, value in columns.items():
        frame[column] = frame[column].astype(object)
        frame.loc[0, column] = value
    study.write(frame, name, folder / "tables", command="by hand")


def test_a_study_becomes_a_data_set_of_which_nothing_is_amiss(collected: Path, bundled: Ran, tmp_path: Path) -> None:
    assert bundled.code == 0, bundled.said
    made = collected.parent / "a.zip"
    files = unpacked(made)
    assert psych_ds.check_dataset(files) == []
    assert hashlib.sha256(made.read_bytes()).hexdigest() in bundled.printed
    about = json.loads(files["dataset_description.json"])
    assert (about["@type"], about["license"]) == ("Dataset", "CC-BY-4.0")
    assert about["author"][0]["@id"] == "https://orcid.org/0000-0002-1825-0097"
    readings = json.loads(files["data/study-minimalPairs_description-readings_data.json"])["variableMeasured"]
    [rt] = [one for one in readings if one["name"] == "rt"]
    assert (rt["unitText"], rt["additionalType"]) == ("ms", "https://schema.org/Number")
    assert {"results/report.html", "results/exclusions.csv", "analysis/requirements.txt"} <= {*files}
    assert "materials/lists/E3-L3.json" in files
    assert "gardenpath deviations writes it" in bundled.said
    assert files["documentation/preregistration.md"] == (collected / "preregistration.md").read_bytes()
    for line in files["documentation/sha256.txt"].decode().splitlines():
        digest, path = line.split("  ")
        assert hashlib.sha256(files[path]).hexdigest() == digest
    # Twice the same bytes, and what is worth money or tells where we are is not among them.
    assert run_here(f"gardenpath bundle study.toml -o {tmp_path / 'b.zip'}", collected).code == 0
    assert made.read_bytes() == (tmp_path / "b.zip").read_bytes()
    whole = b"\n".join(files.values())
    assert b"GARDEN-PATH-1" not in whole
    assert str(collected.resolve()).encode() not in whole


@pytest.mark.usefixtures("bundled")
def test_its_tables_are_read_as_those_of_a_study(collected: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(collected.parent / "a.zip") as made:
        made.extractall(tmp_path)
    for name in ("items", "conditions", "words", "readings", "responses"):
        pd.testing.assert_frame_equal(study.read(tmp_path / NAME / "data", name), study.read(collected / "tables", name))
    left = study.read(tmp_path / NAME / "data", "sessions")
    assert left["started"].isna().all()
    assert left["participant"].tolist() == study.read(collected / "tables", "sessions")["participant"].tolist()
    assert study.load(tmp_path / NAME / "materials").required_online.completion_code == "REMOVED"


def test_sessions_as_they_came_go_along_when_asked(collected: Path, tmp_path: Path) -> None:
    assert run_here(f"gardenpath bundle study.toml --raw -o {tmp_path / 'a.zip'}", collected).code == 0
    with zipfile.ZipFile(tmp_path / "a.zip") as made:
        made.extractall(tmp_path)
    assert run_here("gardenpath collect data/raw -o again", tmp_path / NAME).code == 0
    for name in ("readings", "sessions"):
        again = study.read(tmp_path / NAME / "again", name)
        pd.testing.assert_frame_equal(again, study.read(collected / "tables", name))
    assert psych_ds.check_dataset(unpacked(tmp_path / "a.zip")) == []


@pytest.mark.parametrize(
    ("table", "columns", "said"),
    [
        ("sessions", {"participant": "5f3c1d2e9a7b4c6d8e0f1a2b"}, "looks like an id of a platform"),
        ("sessions", {"participant": "A1B2C3D4E5F6G7"}, "collect without --keep-ids"),
        ("responses", {"response": "write to me@example.org"}, "leave out 'responses.response'"),
    ],
)
def test_ids_and_addresses_are_refused(folder: Path, table: str, columns: dict[str, object], said: str) -> None:
    change(folder, table, **columns)
    done = run_here("gardenpath bundle study.toml -o a.zip", folder)
    assert done.code == 1
    assert f"{table}.csv, line 2: column" in done.said
    assert said in done.said
    assert not (folder / "a.zip").exists()


@pytest.mark.parametrize("task", ["completion", "typed_answer"])
def test_what_could_tell_who_somebody_is_is_named(task: str, folder: Path) -> None:
    sessions = study.read(folder / "tables", "sessions")
    asked = pd.DataFrame({"participant": sessions["participant"], "session": sessions["session"]})
    ages = [str(20 + min(n, 3)) for n in range(len(asked))]
    study.write(asked.assign(question="age", response=ages), "demographics", folder / "tables", command="by hand")
    change(folder, "responses", task=task, response="ACKNOWLEDGEMENTS", prompt="typed")  # no id, for all its capitals
    done = run_here("gardenpath bundle study.toml -o a.zip", folder)
    assert "demographics (age): 3 of 9 participants can be told from all others" in done.said
    assert "1 answer typed freely" in done.said
    path = folder / "study.toml"
    path.write_text(
        path.read_text().replace("leave_out = [", 'leave_out = ["demographics", ').replace("min_rt = 100", "min_rt = 50")
    )
    assert run_here("gardenpath deviations study.toml preregistration.md -o results", folder).code == 0
    done = run_here("gardenpath bundle study.toml -o a.zip --force", folder)
    assert "demographics" not in done.said
    files = unpacked(folder / "a.zip")
    assert not [name for name in files if "demographics" in name]
    assert b"1 statement departs from the preregistration" in files["results/report.html"]
    assert b"analysis.min_rt" in files["results/report.html"]


def test_codes_and_ways_back_are_removed_however_they_are_written(folder: Path) -> None:
    path = folder / "study.toml"
    section = '[online]\ncompletion_code = "GARDEN-PATH-1"\n'
    inline = 'online = { completion_code = \'S3CRET\', review_code="S3CRET2", completion_url = "https://x.org/S3CRET?id={id}" }\n'
    assert section in path.read_text()
    path.write_text(inline + path.read_text().replace(section, ""))
    done = run_here("gardenpath bundle study.toml -o a.zip", folder)
    assert done.code == 0, done.said
    assert not [name for name, content in unpacked(folder / "a.zip").items() if b"S3CRET" in content]


def test_materials_from_elsewhere_lie_beside_study_toml(folder: Path) -> None:
    (folder / "items.csv").rename(folder.parent / "shared.csv")
    path = folder / "study.toml"
    path.write_text(path.read_text().replace('"items.csv"', '"../shared.csv"'))
    assert run_here("gardenpath bundle study.toml -o a.zip", folder).code == 0
    with zipfile.ZipFile(folder / "a.zip") as made:
        made.extractall(folder)
    assert [one.name for one in study.load(folder / NAME / "materials").list_material_paths()] == ["shared.csv"]
    assert (folder / NAME / "materials" / "shared.csv").read_bytes() == (folder.parent / "shared.csv").read_bytes()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"sessions.started"', '"session.started"', "expected a table, such as demographics"),
        ('"sessions.started"', '"sessions.source"', "expected a column that may be empty (slot, started, finished"),
        ("1825-0097", "1825-0098", "the last checks the others"),
        ("license", "licence", "did you mean 'license'?"),
        ("Carberry, Josiah", " ", "expected 'Family, Given'"),
    ],
)
def test_a_wrong_statement_is_refused(folder: Path, old: str, new: str, said: str) -> None:
    path = folder / "study.toml"
    path.write_text(path.read_text().replace(old, new))
    done = run_here("gardenpath bundle study.toml -o a.zip", folder)
    assert (done.code, said in done.said) == (1, True), done.said


VALID = {
    "dataset_description.json": json.dumps(
        {
            "@context": "https://schema.org/",
            "@type": "Dataset",
            "name": "n",
            "description": "d",
            "variableMeasured": ["rt", {"@type": "PropertyValue", "name": "row_id"}],
        }
    ).encode(),
    "data/study-a_data.csv": b"rt,row_id\n300,1\n310,2\n",
}
DESCRIPTION = json.loads(VALID["dataset_description.json"])


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("MISSING_DATASET_DESCRIPTION", {"dataset_description.json": None}),
        ("MISSING_DATA_DIRECTORY", {"data/study-a_data.csv": None}),
        ("MISSING_DATAFILE", {"data/study-a_data.csv": None}),
        ("FILENAME_KEYWORD_FORMATTING_ERROR", {"data/Study_a_data.csv": b"rt\n1\n"}),
        ("JSON_INVALID", {"dataset_description.json": b"{"}),
        ("JSON_ENCODING_ERROR", {"dataset_description.json": b'{"name": "\xff"}'}),
        ("CSV_COLUMN_MISSING_FROM_METADATA", {"data/study-a_data.csv": b"rt,row_id,x\n1,1,1\n"}),
        ("VARIABLE_MISSING_FROM_CSV_COLUMNS", {"data/study-a_data.csv": b"rt\n1\n"}),
        ("CSV_HEADER_LENGTH_MISMATCH", {"data/study-a_data.csv": b"rt,row_id\n1\n"}),
        ("CSV_HEADER_LENGTH_MISMATCH", {"data/study-a_data.csv": b"rt,row_id\n1,1\n\n2,2\n"}),
        ("CSV_HEADER_REPEATED", {"data/study-a_data.csv": b"rt,rt,row_id\n1,1,1\n"}),
        ("CSV_HEADER_MISSING", {"data/study-a_data.csv": b"\n"}),
        ("CSV_FORMATTING_ERROR", {"data/study-a_data.csv": b'rt,row_id\n"a,1\n'}),
        ("ROWID_VALUES_NOT_UNIQUE", {"data/study-a_data.csv": b"rt,row_id\n1,1\n2,1\n"}),
        ("MISSING_DATASET_TYPE", {"@type": None}),
        ("INCORRECT_DATASET_TYPE", {"@type": "Person"}),
        ("INVALID_JSONLD_FORMATTING", {"@context": None}),
        ("JSON_KEY_REQUIRED", {"description": None}),
        # A file of its own takes the place of what the whole set says.
        ("CSV_COLUMN_MISSING_FROM_METADATA", {"data/study-a_data.json": b'{"variableMeasured": ["rt"]}'}),
        ("CSV_COLUMN_MISSING_FROM_METADATA", {"data/file_metadata.json": b'{"variableMeasured": ["rt"]}'}),
    ],
)
def test_the_check_finds_each_error_of_psych_ds(code: str, changed: dict[str, bytes | str | None]) -> None:
    assert not [issue for issue in psych_ds.check_dataset(VALID) if issue.level == "error"]
    keys = {key: value for key, value in changed.items() if "." not in key}
    description = {key: value for key, value in {**DESCRIPTION, **keys}.items() if value is not None}
    files = {**VALID, **({"dataset_description.json": json.dumps(description).encode()} if keys else {})}
    files |= {key: value for key, value in changed.items() if "." in key}  # type: ignore[misc]
    found = psych_ds.check_dataset({name: text for name, text in files.items() if text is not None})
    assert code in {issue.code for issue in found if issue.level == "error"}


def test_what_it_warns_of() -> None:
    more = {"data/lab-3_data.csv": b"rt\n1\n", "notes.txt": b"n", "data/deep/dataset_description.json": b"{}", "a.md": b""}
    found = {issue.code for issue in psych_ds.check_dataset({**VALID, **more}) if issue.level == "warning"}
    assert {"FILENAME_UNOFFICIAL_KEYWORD_WARNING", "FILE_NOT_CHECKED", "WRONG_METADATA_LOCATION", "FILE_EMPTY"} <= found
    assert {"MISSING_README_DOC", "MISSING_PSYCHDSIGNORE", "JSON_KEY_RECOMMENDED"} <= found


def test_materials_that_are_not_those_that_were_shown_are_refused_or_named(folder: Path) -> None:
    items = study.read(folder / "tables", "items")
    changed = items["sentence"].where(items.index != 3, "Another sentence was shown.")
    study.write(items.assign(sentence=changed), "items", folder / "tables", command="by hand")
    row = items.iloc[3]
    done = run_here("gardenpath bundle study.toml -o b.zip", folder)
    assert done.code == 1
    assert not (folder / "b.zip").exists()
    assert "1 sentence shown to participants is not as in the materials" in done.said
    told = (
        f"{row['item']} ({row['condition']}): 'Another sentence was shown.' was shown, and the materials have {row['sentence']!r}"
    )
    assert told in done.said
    reason = f'\n[archive.deviations]\n"items.{row["paradigm"]}.{row["item"]}" = "a typing error, mended later"\n'
    (folder / "study.toml").write_text((folder / "study.toml").read_text() + reason)
    stated = run_here("gardenpath bundle study.toml -o b.zip", folder)
    assert stated.code == 0
    assert f"not as it was shown: {told}; archive.deviations: a typing error, mended later" in stated.said


def test_an_item_that_was_shown_and_is_gone_is_named(folder: Path) -> None:
    items = study.read(folder / "tables", "items")
    more = pd.concat([items, items.head(1).assign(item="gone")], ignore_index=True)
    study.write(more, "items", folder / "tables", command="by hand")
    done = run_here("gardenpath bundle study.toml -o b.zip", folder)
    assert done.code == 1
    assert f"gone ({items['condition'].iloc[0]}): was shown, and is not in the materials" in done.said
