"""Which data of a study lie beside its study.toml, as a preregistration says, which is to be written before there are any."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gardenpath import study
from gardenpath.study.errors import MissingExtra
from gardenpath.study.table_files import find_table_file

from ..collection.recorded_sessions import SQLITE_SIGNATURE, open_session_source
from ..platforms.platform_import import PLATFORMS, Source
from ..platforms.table import results as table

NOT_OF_PEOPLE = ("simulation", "robot", "preview", "model")  # sources of sessions
DATA_TABLES = ("readings", "responses")  # of people, where no table says whose sessions they are of
PLATFORM_SUFFIXES = (".csv", ".json", ".jsonl", ".txt", ".tsv", ".xlsx", ".zip")
MAX_BYTES = 50_000_000  # of a file whose format is looked at
SKIPPED = ("lists", "figures", "report-figures")  # folders that commands fill with no data


@dataclass(frozen=True)
class DataFound:
    """A place that holds data: what is there, and the number of sessions by their source; none where that cannot be told."""

    path: str
    description: str
    sources: Counter[str] = field(default_factory=Counter)

    @property
    def n_of_people(self) -> int:
        """The sessions of people; one at least where nobody can tell."""
        of_people = sum(count for source, count in self.sources.items() if source not in NOT_OF_PEOPLE)
        return of_people if self.sources else 1

    def __str__(self) -> str:
        if not self.sources:
            return f"{self.path}: {self.description}; whose they are is not said"
        counts = ", ".join(f"{count} {source}" for source, count in sorted(self.sources.items()))
        total = sum(self.sources.values())
        return f"{self.path}: {self.description} of {total} session{'s' * (total != 1)} ({counts})"


@dataclass(frozen=True)
class DataSearch:
    """What was looked at, beside study.toml and one folder deep, and what data were found there."""

    looked_at: tuple[str, ...]
    found: tuple[DataFound, ...]

    @property
    def of_people(self) -> tuple[DataFound, ...]:
        """Those that hold, or may hold, sessions of people."""
        return tuple(one for one in self.found if one.n_of_people)

    def describe(self) -> str:
        """Return what was looked for, where, and what was found, in sentences."""
        folders = ", ".join(f"`{name}`" for name in self.looked_at)
        places = f"in its folders ({folders})" if folders else "in the folders beside it, of which there are none"
        text = (
            "Looked for sessions, databases of the server, tables of sessions, readings and responses, and files of other "
            f"platforms, beside study.toml and {places}."
        )
        if not self.found:
            return f"{text} None was there. Data that lie elsewhere, as on a server, are not seen from here."
        listed = "; ".join(map(str, self.found))
        return f"{text} Found: {listed}. Data that lie elsewhere, as on a server, are not seen from here."


def search_data(config: study.Study) -> DataSearch:
    """Return what data lie in the folder of a study, and one folder below it.

    Looked for are sessions as the server, `lab` and `simulate` keep them, databases, the tables of `collect`, and what the
    platforms that `collect` reads give to download. Materials and norms that study.toml names are none.
    """
    folder = config.folder
    named = {(folder / name).resolve() for name in (*config.materials.files, config.path.name)}
    folders = [one for one in sorted(folder.iterdir()) if one.is_dir() and one.name not in SKIPPED and not one.name.startswith(".")]
    found = [one for searched in (folder, *folders) for one in _search_folder(searched, folder, named)]
    return DataSearch(tuple(f"{one.name}/" for one in folders), tuple(found))


def _search_folder(searched: Path, folder: Path, named: set[Path]) -> Iterator[DataFound]:
    name = "the folder of study.toml" if searched == folder else f"{searched.relative_to(folder).as_posix()}/"
    if any(searched.glob("*/session.json")) or any(searched.glob("*/events.jsonl")):
        yield _count_recorded(searched, name, "records")
    if (path := find_table_file(searched, "sessions")).is_file():
        yield DataFound(f"{name}{path.name}" if searched != folder else path.name, "a table", _count_table(path))
    else:
        for table_name in DATA_TABLES:
            if (path := find_table_file(searched, table_name)).is_file():
                yield DataFound(f"{name}{path.name}", f"a table of {table_name}")
    for path in sorted(each for each in searched.iterdir() if each.is_file() and each.resolve() not in named):
        inside = path.relative_to(folder).as_posix()
        with path.open("rb") as file:
            head = file.read(len(SQLITE_SIGNATURE))
        if head == SQLITE_SIGNATURE:
            yield _count_recorded(path, inside, "a database")
        elif platform := _find_platform(path):
            yield DataFound(inside, f"a file of {platform}")


def _count_recorded(path: Path, name: str, description: str) -> DataFound:
    """Return the sessions of a folder or database; of one that cannot be read, that it is there."""
    try:
        sessions = open_session_source(path, previews=True).sessions
    except (study.DataError, MissingExtra, OSError, ValueError, KeyError):
        return DataFound(name, description)
    return DataFound(name, description, Counter(session.source for session in sessions))


def _count_table(path: Path) -> Counter[str]:
    try:
        return Counter(map(str, study.read(path, "sessions")["source"]))
    except study.DataError:  # of another release
        return Counter()


def _find_platform(path: Path) -> str:
    """Return which platform a file is of, nothing where none; our own tables are none."""
    if path.suffix.lower() not in PLATFORM_SUFFIXES or path.stem in study.TABLES or path.stat().st_size > MAX_BYTES:
        return ""
    source = Source.from_path(path)
    try:
        return next((one.NAME for one in PLATFORMS if one is not table and one.recognises(source)), "")
    except (study.DataError, ValueError):
        return ""
