"""A finding: what is wrong or odd in the materials, and where; and a summary of findings for each paradigm."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from .items import Materials

Severity = Literal["error", "warning", "note", "waived"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note", "waived")


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault or oddity: the rule that found it, how bad it is, file and line, and a sentence.

    `item` is empty where a whole paradigm is meant; `waiver` is the reason that the materials give for a waived one.

    >>> print(Finding("spacing", "warning", "items.csv", 3, "npi", "i1", "grammatical", "two spaces in a row"))
    items.csv, line 3: i1 (grammatical): two spaces in a row
    """

    rule: str
    severity: Severity
    file: str
    line: int
    paradigm: str
    item: str
    condition: str
    message: str
    waiver: str | None = None

    def __str__(self) -> str:
        where = " ".join(part for part in (self.item, f"({self.condition})" if self.condition else "") if part)
        waived = f" (waived: {self.waiver})" if self.waiver else ""
        return f"{self.file}, line {self.line}: {f'{where}: ' if where else ''}{self.message}{waived}"


@dataclass(frozen=True)
class FindingSummary:
    """The number of items of a paradigm, and of its findings of each severity."""

    paradigm: str
    items: int
    errors: int
    warnings: int
    notes: int
    waived: int


def summarise_findings(materials: Materials, findings: Iterable[Finding]) -> list[FindingSummary]:
    """Return a summary for each paradigm; what belongs to no paradigm comes last, under an empty name."""
    items = Counter(item.paradigm for item in materials.items)
    counts = Counter((finding.paradigm, finding.severity) for finding in findings)
    names = dict.fromkeys([*(p.id for p in materials.paradigms), *sorted(filter(None, (p for p, _ in counts)))])
    if any(not paradigm for paradigm, _ in counts):
        names[""] = None
    return [FindingSummary(name, items[name], *(counts[name, severity] for severity in SEVERITIES)) for name in names]


def collapse_findings(findings: Iterable[Finding], keep: int | None = 3) -> list[tuple[Sequence[Finding], int]]:
    """Return the findings by paradigm, severity and rule: the first `keep` of each, and how many more there are."""
    groups: dict[str, dict[tuple[str, str], list[Finding]]] = defaultdict(lambda: defaultdict(list))
    for finding in findings:
        groups[finding.paradigm][finding.severity, finding.rule].append(finding)
    shown: list[tuple[Sequence[Finding], int]] = []
    for of_paradigm in groups.values():
        for _, group in sorted(of_paradigm.items(), key=lambda pair: SEVERITIES.index(pair[1][0].severity)):
            # A line that says "one more" takes the room of the one.
            first = group if keep is None or len(group) <= keep + 1 else group[:keep]
            shown.append((first, len(group) - len(first)))
    return shown
