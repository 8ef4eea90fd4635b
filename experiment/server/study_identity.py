"""Which study a database holds: the study's id, made once and kept in the file study.id beside study.toml, stands in it too."""

import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import sqlalchemy as sa

from gardenpath import study

from ..scripts.list_files import parse_list_file
from .database import META, TRIAL_LISTS, Database

ID_FILENAME = "study.id"
Decision = Literal["keep", "new"]


class CopiedStudy(study.DataError):
    """The folder is a copy of a study whose folder is still there: which of the two it is, only its owner knows."""


@dataclass(frozen=True)
class StoredId:
    """What study.id holds: the id, and the folder in which it was made."""

    id: str
    folder: str


def read_study_id(folder: Path) -> StoredId | None:
    """Return what study.id of a folder holds, None where there is none; raises `study.DataError` for a file that is none."""
    path = folder / ID_FILENAME
    if not path.is_file():
        return None
    lines = path.read_text("utf-8").splitlines()
    if not lines or not lines[0].isalnum():
        raise study.DataError(
            f"{path}: holds {lines[:1]}; expected the study's id in its first line, letters and digits; put it back from a copy"
        )
    return StoredId(lines[0], lines[1] if len(lines) > 1 else "")


def claim_database(database: Database, config: study.Study, decision: Decision | None = None) -> str:
    """Return the study's id, after making sure that the database is this study's; an empty one becomes it.

    The id is made where there is none. Where study.id cannot be written, as in a container, only the database has it. `decision`
    says of a copied folder whether it is the same study ("keep") or a new one ("new"). Raises `CopiedStudy` for a copy of which
    it is not said, `study.DataError` where the database holds another study.
    """
    stored = read_study_id(config.folder)
    twin = _find_twin(stored, config.folder) if stored else None
    if twin and decision is None:
        raise CopiedStudy(
            f"{config.folder / ID_FILENAME} is that of {twin}, so this folder is a copy; expected --study-id new for a study of "
            "its own, or --study-id keep where both are one study"
        )
    wanted = secrets.token_hex(8) if twin and decision == "new" else stored.id if stored else None
    with database.begin_exclusive() as connection:
        known = connection.scalar(sa.select(META.c.study))
        names = _list_study_names(connection)
        if known and wanted and wanted != known:
            has = "this is a new one" if twin else f"{ID_FILENAME} has {wanted}"
            raise study.DataError(_describe_other(database, config, names, f"its id is {known}, and {has}"))
        if names and config.name not in names and not (known and wanted) and decision != "keep":
            why = f"expected study {config.name!r}; where the study was renamed, give --study-id keep"
            raise study.DataError(_describe_other(database, config, names, why))
        found = wanted or known or secrets.token_hex(8)
        if known != found:
            connection.execute(META.update().values(study=found))
    if stored is None or twin:  # a copy that was decided on is not asked about again
        _write_study_id(config.folder, StoredId(found, str(config.folder.resolve())))
    return found


def _find_twin(stored: StoredId, folder: Path) -> Path | None:
    """Return the folder in which the id was made, where that is another one than this and has the id still."""
    made = Path(stored.folder)
    if not stored.folder or made == folder.resolve():
        return None
    with suppress(OSError, study.DataError):
        other = read_study_id(made)
        return made if other and other.id == stored.id else None
    return None


def _list_study_names(connection: sa.Connection) -> list[str]:
    """Return the names of the studies whose lists newcomers are assigned to."""
    contents = connection.execute(sa.select(TRIAL_LISTS.c.name, TRIAL_LISTS.c.content).where(TRIAL_LISTS.c.active)).all()
    return sorted({parse_list_file(row.content, f"list {row.name} in the database").study for row in contents})


def _describe_other(database: Database, config: study.Study, names: list[str], why: str) -> str:
    holds = f"holds study {', '.join(map(repr, names))}" if names else "holds another study"
    return (
        f"{database.shown_url}: {holds}, not {config.name!r} of {config.path}: {why}; serve this one from a folder of its own "
        "(-o), or another --database"
    )


def _write_study_id(folder: Path, stored: StoredId) -> None:
    """Write study.id, where the folder can be written to; of processes that begin at once all write the same."""
    with suppress(OSError):
        study.files.write_text(folder / ID_FILENAME, f"{stored.id}\n{stored.folder}\n")
