"""R in a process of its own that is started once and kept: importing pymer4 takes longer than most fits."""

import atexit
import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from gardenpath.study import DataError, MissingExtra

from .estimates import Columns

DEBIAN_PACKAGES = (
    "r-base-dev r-cran-lme4 r-cran-lmertest r-cran-emmeans r-cran-broom r-cran-broom.mixed r-cran-insight "
    "r-cran-performance r-cran-parameters r-cran-bayestestr r-cran-tibble r-cran-dplyr r-cran-tidyr r-cran-pbkrtest "
    "r-cran-ordinal r-cran-mgcv"
)
INSTALL_INSTRUCTIONS = f"pip install 'gardenpath[r]' after R and its packages (Debian: apt-get install {DEBIAN_PACKAGES})"


class RSession:
    """A process with R and pymer4, answering one question at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.folder = tempfile.TemporaryDirectory(prefix="gardenpath-r-")
        self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("r_process.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            encoding="utf-8",
            # One thread: R's numbers depend on how many there are. Locale: levels and texts sort alike everywhere.
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"},
        )
        ready = self._read_reply()
        if "absent" in ready:
            raise MissingExtra(f"R has no package {ready['absent']}, which engine 'lme4' needs: {INSTALL_INSTRUCTIONS}")
        if "failed" in ready:
            raise MissingExtra(f"R did not start ({' '.join(ready['failed'].split())}): {INSTALL_INSTRUCTIONS}")

    def ask(self, what: str, **details: Any) -> dict[str, Any]:
        """Return R's answer, with `value` and `console`, or `error`."""
        with self.lock:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps({"what": what, **details}) + "\n")
            self.process.stdin.flush()
            return self._read_reply()

    def _read_reply(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.log.seek(0)
            last = self.log.read().decode("utf-8", "replace").strip().splitlines()[-1:]
            raise RuntimeError(f"R stopped without an answer; its last words: {' '.join(last) or 'none'}")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        """End the process and delete its files."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()
        self.log.close()
        self.folder.cleanup()


_sessions: dict[int, RSession] = {}  # by process, since a fork must not share its parent's pipe
_start_lock = threading.Lock()


def get_session() -> RSession:
    """Return this process' R, started at the first call; `MissingExtra` says in a line what to install."""
    with _start_lock:
        kept = _sessions.get(os.getpid())
        if kept is None or kept.process.poll() is not None:
            absent = [name for name in ("pymer4", "rpy2") if importlib.util.find_spec(name) is None]
            absent += ["R"] if shutil.which("R") is None else []
            if absent:
                raise MissingExtra(f"engine 'lme4' needs {', '.join(absent)}, not found here: {INSTALL_INSTRUCTIONS}")
            kept = _sessions[os.getpid()] = RSession()
            atexit.register(kept.close)
        return kept


def ask_r(what: str, columns: Columns, formula: str, *, needs: Sequence[str] = (), **details: object) -> dict[str, Any]:
    """Hand R the columns as a file, and return its answer to `what` of them; R's errors are a `DataError`.

    R packages that this question `needs` beside lme4's and that are absent are a `MissingExtra`.
    """
    r_session = get_session()
    installed = r_session.ask("installed", packages=list(needs))["value"] if needs else []
    absent = [name for name, is_installed in zip(needs, installed, strict=True) if not is_installed]
    if absent:
        raise MissingExtra(f"R has no package {', '.join(absent)}: apt-get install {' '.join(f'r-cran-{a}' for a in absent)}")
    numeric = [name for name, cells in columns.items() if not isinstance(cells[0], str)]
    handle, name = tempfile.mkstemp(suffix=".csv", dir=r_session.folder.name)
    os.close(handle)
    try:
        write_rows(columns, Path(name))
        reply = r_session.ask(what, path=name, numeric=numeric, formula=formula, **details)
    finally:
        Path(name).unlink()
    if "error" in reply:
        raise DataError(f"{formula!r}: R says: {reply['error']}")
    return reply


def write_rows(columns: Columns, path: Path) -> None:
    """Write columns as CSV, numbers with all their digits."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def describe_versions() -> str:
    """Return the versions of R and of what fits models in it, in words."""
    names = ["lme4", "lmerTest"]
    reply = get_session().ask("versions_of", packages=names)
    return ", ".join(f"{name} {version}" for name, version in zip(["R", *names], reply["value"], strict=True))


def get_single_value(values: Sequence[Any]) -> Any:
    """Return the one value of an R vector of length 1."""
    [value] = values
    return value
