"""The two exceptions of our own; everything else is a built-in one."""

import importlib
from collections.abc import Iterable
from types import ModuleType


class DataError(ValueError):
    """A file or a table is wrong; `faults` holds every fault found in it, one line each.

    >>> str(DataError(["items.csv, line 3: the sentence is empty; expected text"]))
    'items.csv, line 3: the sentence is empty; expected text'
    """

    def __init__(self, faults: str | Iterable[str]) -> None:
        self.faults: list[str] = [faults] if isinstance(faults, str) else list(faults)
        super().__init__("\n".join(self.faults))


class MissingExtra(ImportError):
    """An optional part of gardenpath is not installed; the message names the extra to install.

    >>> require("no_such_module", "lab")
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.MissingExtra: no_such_module is not installed; it belongs to the extra 'lab': ...
    """


def require(module: str, extra: str) -> ModuleType:
    """Return the imported `module`, or raise `MissingExtra` naming the extra that brings it.

    >>> require("json", "online").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != module.partition(".")[0]:
            missing = f"{module} (which needs {error.name})"
        else:
            missing = module
        message = f"{missing} is not installed; it belongs to the extra '{extra}': pip install 'gardenpath[{extra}]'"
        raise MissingExtra(message) from error
