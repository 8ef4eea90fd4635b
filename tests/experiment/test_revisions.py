"""The first real session freezes what is shown; a change has a number of its own."""

from pathlib import Path

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.arrivals import Arrival
from gardenpath.experiment.server.store import Store

from .conftest import BOTH, new_database


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, tmp_path, request)


def serve_again(folder: Path, url: str, old: str = "", new: str = "", file: str = "study.toml") -> Store:
    """Open the study as `serve` does, after a change of one of its files."""
    path = folder / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    stated = study.load(folder)
    return routes.open_store(stated, experiment.build_list_files(stated), url)


def told(store: Store) -> list[tuple[int, list[str]]]:
    return [(revision["number"], revision["changed"]) for revision in store.list_revisions()]


def test_nothing_is_frozen_before_the_first_real_session(study_folder: Path, database_url: str) -> None:
    first = serve_again(study_folder, database_url)
    first.open_session(Arrival(preview=(experiment.build_list_files(study.load(study_folder))[0].name, 0)))
    second = serve_again(study_folder, database_url, "How good", "How natural")
    assert told(second) == [(1, [])]
    assert [*second.list_revisions()[0]["hashes"]] == ["materials", "settings", "texts"]


def test_each_session_knows_the_revision_that_it_ran(
    study_folder: Path, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    serve_again(study_folder, database_url).open_session(Arrival())
    same = serve_again(study_folder, database_url, 'completion_code = "GARDEN-PATH-1"', 'completion_code = "X"\nquota = 9')
    assert (told(same), caplog.text) == ([(1, [])], "")
    same.open_session(Arrival())
    changed = serve_again(study_folder, database_url, "How good", "How natural")
    assert "changed since its first sessions (texts): those 2 keep what they ran, new ones are of revision 2" in caplog.text
    changed.open_session(Arrival())
    changed = serve_again(study_folder, database_url, "The courier left", "A courier left")
    changed = serve_again(study_folder, database_url, "quota = 9", 'quota = 9\nwithdrawal = "keep"')
    assert told(changed) == [(1, []), (2, ["texts"]), (3, ["materials", "settings"])]
    changed.open_session(Arrival())
    assert sorted(record.session.revision for record in changed.read_recorded_sessions()) == [1, 1, 2, 3]


@pytest.mark.parametrize(
    "line", ['withdrawal = "keep"', "max_sessions = 2", "reward = { amount = 4, currency = 'EUR', minutes = 15 }"]
)
def test_what_people_are_told_is_part_of_a_revision(line: str, study_folder: Path, database_url: str) -> None:
    serve_again(study_folder, database_url).open_session(Arrival())
    changed = serve_again(study_folder, database_url, "[online]", f"[online]\n{line}")
    assert told(changed) == [(1, []), (2, ["settings"])]


def test_who_comes_back_after_a_change_goes_on_with_what_was_begun(study_folder: Path, database_url: str) -> None:
    begun = serve_again(study_folder, database_url).open_session(Arrival("anna", tab="tab-of-anna"))
    changed = serve_again(study_folder, database_url, "How good", "How natural")
    again = changed.open_session(Arrival("anna", tab="tab-of-anna"))
    assert (again.session, again.file.sha256) == (begun.session, begun.file.sha256)
    assert changed.open_session(Arrival("bert")).file.procedure_sha256 != begun.file.procedure_sha256
