"""Files as they came from a platform: their bytes, and their text where they are text."""

import hashlib
import io
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gardenpath import study
from gardenpath.study.csv_rows import read_csv_rows

HEAD_BYTES = 8192  # bytes that are enough to tell platforms apart
KEY_FILENAME = "participant.key"  # hashes participants' ids; it lies beside the data
UTF16_SIGNATURES = (b"\xff\xfe", b"\xfe\xff")
ZIP_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")


@dataclass(frozen=True)
class Source:
    """A file: `name` is for messages; `text` raises `study.DataError` where the bytes are not UTF-8 text."""

    name: str
    data: bytes

    @classmethod
    def from_path(cls, path: str | Path) -> "Source":
        """Return the file at this path."""
        return cls(str(path), Path(path).read_bytes())

    @cached_property
    def text(self) -> str:
        """The whole text, with `\\n` line ends and without the byte-order mark with which many platforms begin every file."""
        return study.files.decode_text(self.data.removeprefix(b"\xef\xbb\xbf"), self.name)

    @cached_property
    def head(self) -> str:
        """The first characters, whatever the bytes are: to tell what the file looks like, never to read data from."""
        return self.utf8_data[:HEAD_BYTES].decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def utf8_data(self) -> bytes:
        """The bytes, of UTF-16 as they would be in UTF-8: to recognise the file, so that reading it says what is wrong."""
        if not self.data.startswith(UTF16_SIGNATURES):
            return self.data
        return self.data.decode("utf-16", "replace").encode("utf-8", "replace")

    @property
    def stem(self) -> str:
        """The file's name without folder and ending."""
        return Path(self.name).stem

    @cached_property
    def _archive(self) -> zipfile.ZipFile | None:
        if not self.data.startswith(ZIP_SIGNATURES):
            return None
        try:
            return study.files.open_zip(self.data, self.name)
        except zipfile.BadZipFile:
            return None

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The names inside a zip file (also .jzip, .jrzip, .xlsx), in order; empty for any other file, and a damaged one.

        Raises `study.DataError` for one that unpacks to more than `study.files.MAX_UNPACKED_BYTES`.
        """
        return tuple(sorted(self._archive.namelist())) if self._archive else ()

    def read_member(self, name: str) -> "Source":
        """Return a file inside this zip file."""
        if self._archive is None:
            raise KeyError(name)
        return Source(f"{self.name}: {name}", self._archive.read(name))


def read_sources(data: str | Path) -> list[Source]:
    """Return the file at this path, or every file of the folder, ordered by name; hidden files and the key of ids are none."""
    path = Path(data)
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file or folder; expected what the platform gave to download")
    if not path.is_dir():
        return [Source.from_path(path)]
    inside = (p.relative_to(path) for p in sorted(path.rglob("*")) if p.is_file() and p.name != KEY_FILENAME)
    return [Source.from_path(path / p) for p in inside if not any(part.startswith(".") for part in p.parts)]


def compute_fingerprint(data: str | Path) -> str:
    """Return a SHA-256 over all files that `read_sources` gives: names of files, which may hold ids, are not told."""
    digests = "".join(hashlib.sha256(source.data).hexdigest() for source in read_sources(data))
    return hashlib.sha256(digests.encode()).hexdigest()


def read_csv_cells(source: Source, separator: str = ",") -> list[list[str]]:
    """Return the rows of a CSV text; raises `study.DataError` for a quote that is not closed, or a cell longer than CSV's limit."""
    try:
        return [cells for _, cells in read_csv_rows(io.StringIO(source.text, newline=""), separator, skip_blanks=True)]
    except ValueError as error:
        raise study.DataError(f"{source.name}, {error}") from error
