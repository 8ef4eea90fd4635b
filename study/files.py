"""Reading text whatever its line ends, writing all or nothing, and the sidecar beside every output."""

import functools
import hashlib
import importlib.metadata
import io
import json
import logging
import os
import platform
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import DataError

log = logging.getLogger("gardenpath")

# Whatever of these is installed can change a number, so a sidecar names its version.
VERSIONED_PACKAGES = (
    "gardenpath",
    "numpy",
    "pandas",
    "scipy",
    "glmm",
    "wordfreq",
    "highspy",
    "torch",
    "transformers",
    "tokenizers",
)

# Bytes that a zip file may unpack to.
MAX_UNPACKED_BYTES = 10**9


def read_text(path: str | Path) -> str:
    """Return the text of a UTF-8 file with `\\n` line ends.

    A byte-order mark is left out, and carriage-return line ends are read and reported on the log;
    bytes that are not UTF-8 raise `DataError` with their line.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "items.csv").write_bytes(b"a,b\\r\\n1,2\\r\\n")
    ...     read_text(f"{folder}/items.csv")
    'a,b\\n1,2\\n'
    """
    return decode_text(Path(path).read_bytes(), path)


def open_zip(data: bytes, where: str) -> zipfile.ZipFile:
    """Return a zip file to be read; raises `DataError` for one that would unpack to more than `MAX_UNPACKED_BYTES`, before any
    of it is.

    What is no zip file is a `zipfile.BadZipFile`. The sizes are those that the file states, beyond which nothing is unpacked.
    """
    archive = zipfile.ZipFile(io.BytesIO(data))
    size = sum(member.file_size for member in archive.infolist())
    if size > MAX_UNPACKED_BYTES:
        raise DataError(
            f"{where}: a zip file of {len(data) / 1e6:.1f} MB that unpacks to {size / 1e9:.1f} GB; expected "
            f"{MAX_UNPACKED_BYTES / 1e9:g} GB at most: download the data in parts"
        )
    return archive


def write_zip(path: str | Path, files: Mapping[str, bytes]) -> None:
    """Write a zip file of these files by path, all or nothing; sorted and without times, so that the same files are the same bytes.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_zip(f"{folder}/a.zip", {"b.txt": b"2", "a.txt": b"1"})
    ...     open_zip(Path(folder, "a.zip").read_bytes(), "a.zip").namelist()
    ['a.txt', 'b.txt']
    """
    with write_atomically(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name)  # of 1980, the first time that a zip file can state
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            made.writestr(entry, content)


def decode_text(raw: bytes, path: str | Path) -> str:
    """Return the text of these bytes of the file `path`, as `read_text` does.

    >>> decode_text(b"na\\xc3\\xafve\\r\\n", "items.csv")
    'naïve\\n'
    """
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path}: the file is UTF-16, expected UTF-8; save it again as 'CSV UTF-8' or 'UTF-8'")
    if raw.startswith(b"PK\x03\x04"):
        raise DataError(f"{path}: an Excel workbook or another zip file, expected text; save it as 'CSV UTF-8'")
    if raw.startswith(b"\xef\xbb\xbf"):
        log.debug("%s: read without its byte-order mark, which Excel writes", path)
        raw = raw[3:]
    if b"\r" in raw:
        if b"\n" not in raw:
            log.info("%s: lines end in CR only (old Macintosh), expected LF; read as line ends", path)
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        # Windows writes curly quotes and dashes where Latin-1 has control characters that nobody types.
        name, code = ("Windows-1252", "cp1252") if re.search(rb"[\x80-\x9f]", raw) else ("Latin-1", "latin1")
        guess = raw[error.start : error.start + 1].decode(code, "replace")
        raise DataError(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8 (in {name} it would be {guess!r}); "
            f"expected UTF-8: convert with  iconv -f {code} -t utf-8 {Path(path).name}"
        ) from None


@contextmanager
def write_atomically(path: str | Path) -> Iterator[Path]:
    """Give a temporary path in the same folder; it becomes `path` only if the block ends without an error.

    A device or a pipe, such as /dev/null, is refused: a file would take its place, for every program of the machine.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with write_atomically(f"{folder}/list.csv") as temporary:
    ...         _ = temporary.write_text("whole")
    ...     [path.name for path in Path(folder).iterdir()]
    ['list.csv']
    """
    target = Path(path)
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise ValueError(f"{path}: a device or a pipe, which a file would replace; expected the name of a file")
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_read_umask())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_json(path: str | Path) -> object:
    """Return what a JSON file holds; raises `DataError` with file, line and fault where it is not JSON.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/list.json", '{"seed": 7}')
    ...     read_json(f"{folder}/list.json")
    {'seed': 7}
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise DataError(f"{path}, line {error.lineno}: not valid JSON: {error.msg}; the file is damaged or cut short") from None


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, all of it or nothing.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/new/list.txt", "naïve")
    ...     read_text(f"{folder}/new/list.txt")
    'naïve'
    """
    with write_atomically(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def hash_file(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/list.txt", "naïve")
    ...     hash_file(f"{folder}/list.txt")[:8]
    'f86fd89d'
    """
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def list_software_versions() -> dict[str, str]:
    """Return the version of Python and of each installed package that can change a number.

    >>> list_software_versions()["python"] == platform.python_version()
    True
    """
    return {"python": platform.python_version(), **_list_package_versions()}


@functools.cache
def _list_package_versions() -> dict[str, str]:
    """Return the versions of the packages; none changes while a process runs, and a command writes dozens of tables."""
    installed = {}
    for name in VERSIONED_PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            installed[name] = importlib.metadata.version(name)
    return installed


def write_sidecar(
    output: str | Path,
    *,
    command: str,
    inputs: Iterable[str | Path] = (),
    seed: int | None = None,
    notes: Mapping[str, object] | None = None,
) -> Path:
    """Write `<output>.meta.json` (command, versions, input hashes, seed, notes) and return its path.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sidecar(f"{folder}/list.csv", command="gardenpath design study.toml", seed=7).name
    'list.csv.meta.json'
    """
    output = Path(output)
    meta: dict[str, object] = {
        "output": output.name,
        "command": command,
        "seed": seed,
        "versions": list_software_versions(),
        "inputs": {Path(path).name: _hash_file_cached(path, *_read_file_state(path)) for path in inputs},
        **(notes or {}),
    }
    sidecar = output.with_name(f"{output.name}.meta.json")
    write_text(sidecar, json.dumps(meta, indent=2, ensure_ascii=False) + "\n")
    return sidecar


def _read_file_state(path: str | Path) -> tuple[int, int, int]:
    """Return what differs once a file is written again."""
    state = os.stat(path)
    return state.st_ino, state.st_mtime_ns, state.st_size


@functools.lru_cache(maxsize=64)
def _hash_file_cached(path: str | Path, *state: int) -> str:
    """Return a file's hash: a command writes dozens of tables made from the same inputs."""
    return hash_file(path)


def read_sidecar(output: str | Path) -> dict[str, object]:
    """Return what the sidecar of `output` says, or an empty mapping where there is none.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_sidecar(f"{folder}/list.csv", command="gardenpath design study.toml", seed=7)
    ...     read_sidecar(f"{folder}/list.csv")["seed"]
    7
    """
    output = Path(output)
    sidecar = output.with_name(f"{output.name}.meta.json")
    meta: dict[str, object] = json.loads(sidecar.read_text("utf-8")) if sidecar.exists() else {}
    return meta


def refuse_overwrite(paths: Iterable[str | Path], force: bool) -> None:
    """Raise `FileExistsError` naming the outputs that exist already, unless `force`.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     refuse_overwrite([folder, f"{folder}/new"], force=False)
    Traceback (most recent call last):
    ...
    FileExistsError: ...: exists already; give --force to overwrite, or write elsewhere
    """
    existing = [str(path) for path in paths if Path(path).exists()]
    if existing and not force:
        raise FileExistsError(f"{', '.join(existing)}: exists already; give --force to overwrite, or write elsewhere")
