"""A finding: what is wrong or odd in the materials, and where."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """One fault or oddity: the rule that found it, how bad it is, file and line, and a sentence."""

    rule: str
    severity: Severity
    file: str
    line: int
    paradigm: str
    item: str
    condition: str
    message: str

    def __str__(self) -> str:
        where = " ".join(part for part in (self.item, f"({self.condition})" if self.condition else "") if part)
        return f"{self.file}, line {self.line}: {f'{where}: ' if where else ''}{self.message}"
