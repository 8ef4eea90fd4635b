"""A database is one study's: another study, or a copied folder, does not get into it, nor into what a browser keeps."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.database import META, Database
from gardenpath.experiment.server.study_identity import CopiedStudy, claim_database, read_study_id

from ..conftest import run_here
from .conftest import BOTH, new_database
from .pages import DESIGN, ITEMS, RATING, browser, served, stated  # noqa: F401

STUDY = (
    f'name = "first"\nlanguage = "en"\nseed = 1\n[materials]\nfiles = ["items.csv"]\n[design]\n{DESIGN}'
    f'[procedure.target]\nask = ["acceptability"]\n{RATING}[online]\ncompletion_code = "C"\n'
)


@pytest.fixture(params=BOTH)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    return Database(new_database(request.param, tmp_path, request))


def make(folder: Path, name: str = "first") -> study.Study:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.csv").write_text(ITEMS)
    (folder / "study.toml").write_text(STUDY.replace('"first"', f'"{name}"'))
    return study.load(folder)


def publish(config: study.Study, database: Database) -> None:
    routes.open_store(config, experiment.build_list_files(config), database.url)


def find_id(database: Database) -> str | None:
    with database.begin_reading() as connection:
        return connection.scalar(sa.select(META.c.study))


def test_an_id_is_made_once_and_stands_in_folder_and_database(database: Database, tmp_path: Path) -> None:
    config = make(tmp_path / "a")
    made = claim_database(database, config)
    publish(config, database)
    stored = read_study_id(config.folder)
    assert stored is not None
    assert (stored.id, stored.folder, find_id(database)) == (made, str(config.folder.resolve()), made)
    assert claim_database(database, config) == made
    renamed = make(tmp_path / "a", "renamed")
    assert claim_database(database, renamed) == made, "a study of known id may have another name"


def test_another_study_is_refused(database: Database, tmp_path: Path) -> None:
    config = make(tmp_path / "a")
    claim_database(database, config)
    publish(config, database)
    with pytest.raises(study.DataError, match=r"holds study 'first', not 'second' of .*study.toml: expected study 'second'.*-o"):
        claim_database(database, make(tmp_path / "b", "second"))
    other = make(tmp_path / "c")  # of the same name, with an id of its own
    (other.folder / "study.id").write_text("0123456789abcdef\n/elsewhere\n")
    with pytest.raises(study.DataError, match=r"and study\.id has 0123456789abcdef"):
        claim_database(database, other)
    assert find_id(database) == claim_database(database, config)


def test_a_database_without_an_id_takes_the_study_of_its_lists_alone(database: Database, tmp_path: Path) -> None:
    config = make(tmp_path / "a")
    publish(config, database)  # as an upgraded one: lists, and no id
    assert find_id(database) is None
    with pytest.raises(study.DataError, match="where the study was renamed, give --study-id keep"):
        claim_database(database, make(tmp_path / "b", "second"))
    assert claim_database(database, config) == find_id(database)


def test_a_lost_id_comes_back_from_the_database(database: Database, tmp_path: Path) -> None:
    config = make(tmp_path / "a")
    made = claim_database(database, config)
    publish(config, database)
    (config.folder / "study.id").unlink()
    assert claim_database(database, config) == made
    stored = read_study_id(config.folder)
    assert stored is not None
    assert stored.id == made


def test_a_copied_folder_is_asked_about_once_and_a_moved_one_is_not(database: Database, tmp_path: Path) -> None:
    config = make(tmp_path / "a")
    made = claim_database(database, config)
    copy = study.load(shutil.copytree(config.folder, tmp_path / "copy"))
    with pytest.raises(CopiedStudy, match="so this folder is a copy; expected --study-id new"):
        claim_database(database, copy)
    assert claim_database(database, copy, "keep") == made
    assert claim_database(database, copy) == made, "it was decided"
    moved = study.load(shutil.move(config.folder, tmp_path / "moved"))
    assert claim_database(database, moved) == made


def test_a_new_study_from_a_copied_folder_never_gets_the_old_database(database: Database, tmp_path: Path) -> None:
    config = make(tmp_path / "a")
    made = claim_database(database, config)
    publish(config, database)
    copy = study.load(shutil.copytree(config.folder, tmp_path / "copy"))
    before = read_study_id(copy.folder)
    with pytest.raises(study.DataError, match=f"its id is {made}, and this is a new one; serve this one from a folder of its own"):
        claim_database(database, copy, "new")  # as where the folder of data was copied along
    assert read_study_id(copy.folder) == before, "what is refused changes nothing"
    (tmp_path / "other").mkdir()
    own = Database(f"sqlite:///{tmp_path / 'other' / 'study.sqlite'}")
    new = claim_database(own, copy, "new")
    assert new != made
    assert claim_database(own, copy) == new == find_id(own)
    assert find_id(database) == made


def test_processes_that_begin_at_once_agree(database: Database, tmp_path: Path) -> None:
    config = make(tmp_path / "a")
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: claim_database(Database(database.url), config), range(4)))
    stored = read_study_id(config.folder)
    assert stored is not None
    assert found == {find_id(database)} == {stored.id}


def test_the_command_refuses_before_anything_is_written(tmp_path: Path) -> None:
    first, second = make(tmp_path / "a"), make(tmp_path / "b", "second")
    url = f"sqlite:///{tmp_path / 'study.sqlite'}"
    claim_database(Database(url), first)
    publish(first, Database(url))
    before = (tmp_path / "study.sqlite").read_bytes()
    done = run_here(f"gardenpath serve {second.path} --port 0 --database {url} -o {tmp_path / 'data'}", tmp_path)
    assert done.code == 1
    assert "holds study 'first', not 'second'" in done.said
    assert (tmp_path / "study.sqlite").read_bytes() == before
    assert not (second.folder / "study.id").exists()


@pytest.mark.browser
def test_what_a_browser_keeps_of_one_study_is_not_anothers(browser: Any, tmp_path: Path) -> None:  # noqa: F811
    """Both studies have one origin, one after the other: what the browser keeps goes from one to the other."""
    from .pages import Reader

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with served(tmp_path / "a", stated()) as first, served(tmp_path / "b", stated().replace('name = "', 'name = "other')) as second:

        def visit(address: str, kept: list[dict[str, str]], *, begin: bool) -> tuple[str, list[dict[str, str]]]:
            state = {"cookies": [], "origins": [{"origin": address.rstrip("/"), "localStorage": kept}]}
            with closing(browser.new_context(storage_state=state)) as context:
                page = context.new_page()
                page.goto(address)
                reader = Reader(page)
                at = reader.at("device", "welcome", "text", "break", "words")
                if begin:
                    reader.begin()
                    reader.trials(1)
                return at, next(one["localStorage"] for one in context.storage_state()["origins"])

        _, kept = visit(first.address, [], begin=True)
        assert sorted(one["name"].split()[-1] for one in kept) == ["resume", "tab"]
        _, both = visit(second.address, kept, begin=True)
        assert (first.sessions(), second.sessions()) == (1, 1)
        assert len(both) == 4
        _, again = visit(first.address, both, begin=False)
        assert first.sessions() == 1, "gone on with, not begun anew"
        shared = [{"name": f"gardenpath {one['name'].split()[-1]}", "value": one["value"]} for one in kept]
        visit(second.address, shared, begin=False)
        visit(first.address, shared, begin=False)
        assert (first.sessions(), second.sessions()) == (1, 2), "what was kept before studies had ids is tried"
        assert len(again) == 4
