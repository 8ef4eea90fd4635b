"""Formats of materials: each is a module with NAME, SUFFIX, recognises, read, write and loses, listed here in one tuple."""

from pathlib import Path
from types import ModuleType

from gardenpath import study

from ..findings import Finding
from ..items import Materials, Place
from . import blimp, items, source
from .rows import Rows, assemble

FORMATS: tuple[ModuleType, ...] = (items, source, blimp)


def named(name: str) -> ModuleType:
    """Return the format of that name."""
    for module in FORMATS:
        if name == module.NAME:
            return module
    raise ValueError(f"format {name!r} is not known; expected one of {', '.join(m.NAME for m in FORMATS)}")


def recognise(text: str, file: str) -> ModuleType:
    """Return the format whose marks the text bears."""
    for module in FORMATS:
        if module.recognises(text):
            return module
    first = text.partition("\n")[0][:60]
    names = ", ".join(m.NAME for m in FORMATS)
    raise study.DataError(f"{file}: the format is not recognised from its first line {first!r}; name it: {names}")


def examine(*paths: str | Path, format: str | None = None) -> tuple[Materials, list[Finding]]:
    """Return what can be read of the files, and a finding for everything that cannot."""
    together = Rows()
    for path in paths:
        text = study.read_text(path)
        module = named(format) if format else recognise(text, str(path))
        found: Rows = module.read(text, str(path))
        if not found.rows and not found.findings:
            found.fault(Place(str(path), 1), "no sentences; expected at least one item")
        together.rows += found.rows
        together.paradigms |= found.paradigms
        together.findings += found.findings
    materials = assemble(together)
    return materials, sorted(together.findings, key=lambda f: (f.file, f.line))


def read(*paths: str | Path, format: str | None = None) -> Materials:
    """Return the materials of one or more files; the format is recognised from the content unless named.

    Raises `study.DataError` with every fault of every file, each with its line.
    """
    materials, findings = examine(*paths, format=format)
    if findings:
        raise study.DataError(str(finding) for finding in findings)
    return materials


def write(materials: Materials, path: str | Path, format: str | None = None) -> list[str]:
    """Write materials to `path` and return what the format cannot hold; the suffix names the format unless given."""
    path = Path(path)
    module = named(format) if format else next((m for m in FORMATS if path.suffix == m.SUFFIX), None)
    if module is None:
        raise ValueError(f"{path}: no format has this suffix; name one of {', '.join(m.NAME for m in FORMATS)}")
    study.write_text(path, module.write(materials))
    lost: list[str] = module.loses(materials)
    return lost


__all__ = ["FORMATS", "examine", "named", "read", "recognise", "write"]
