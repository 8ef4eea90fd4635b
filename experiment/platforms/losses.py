"""What a file holds and cannot be used: told on the log, a line for each kind with its number and its first place."""

import logging
from dataclasses import dataclass, field

log = logging.getLogger("gardenpath")


@dataclass
class Losses:
    """Collects what is lost while a file is read."""

    file: str
    unit: str = "line"
    _first: dict[str, int] = field(default_factory=dict)
    _count: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, line: int) -> None:
        """Note that something on this line is lost; the same `kind` is told once."""
        self._first.setdefault(kind, line)
        self._count[kind] = self._count.get(kind, 0) + 1

    def report(self) -> None:
        """Tell every kind."""
        for kind, line in self._first.items():
            times = f" ({self._count[kind]} times)" if self._count[kind] > 1 else ""
            log.warning("%s, %s %d: %s%s", self.file, self.unit, line, kind, times)
