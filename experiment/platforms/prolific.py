"""Prolific's export of demographics: one row a submission, joined to the data by the hashed participant id."""

import csv
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from gardenpath import study

from .damages import damage
from .sources import Source
from .table.results import SEPARATORS, cells

log = logging.getLogger("gardenpath")

PERSON, SUBMISSION, STATUS = "Participant id", "Submission id", "Status"
REVOKED, EXPIRED = "CONSENT_REVOKED", "DATA_EXPIRED"
# Submissions that count; the others are named on the log.
COUNTED = ("APPROVED", "AWAITING REVIEW", "AWAITING_REVIEW")
# What the export says of the submission and not of the person.
OF_SUBMISSION = (
    "Submission id",
    "Participant id",
    "Status",
    "Custom study tncs accepted at",
    "Started at",
    "Completed at",
    "Reviewed at",
    "Archived at",
    "Time taken",
    "Completion code",
    "Total approvals",
)


@dataclass(frozen=True)
class Submission:
    """One row of the export; `revoked` where the participant has taken back the consent."""

    participant: str
    status: str
    revoked: bool
    answers: Mapping[str, str]


def recognises(source: Source) -> bool:
    """Whether the first line names submissions and participants as Prolific does."""
    return _separator(source) is not None


def _separator(source: Source) -> str | None:
    """Return what parts the columns, which a spreadsheet program may have changed; None for a file that is no export."""
    header = source.head.partition("\n")[0]
    return next((s for s in SEPARATORS if {PERSON, SUBMISSION} <= {*map(_heading, _split(header, s))}), None)


def _split(line: str, separator: str) -> list[str]:
    return next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])


def read(path: str | Path) -> list[Submission]:
    """Return the submissions of an export; raises `study.DataError` where it is none."""
    source = Source.of(path)
    separator = _separator(source)
    if separator is None:
        header = source.head.partition("\n")[0]
        raise study.DataError(
            f"{path}: does not look like Prolific's export of demographics; expected columns {PERSON!r} and {SUBMISSION!r}, "
            f"got {header[:100]!r}"
        )
    if faults := damage(source):
        raise study.DataError(faults)
    return [_submission({_heading(name): cell for name, cell in row.items()}) for row in cells(source, separator)]


def _heading(name: str) -> str:
    """Return a heading as newer exports write it (Participant id) where it is one of the submission."""
    plain = re.sub(r"[\s_]+", " ", name).strip().capitalize()
    return plain if plain in OF_SUBMISSION or name.islower() else name


def _submission(row: Mapping[str, object]) -> Submission:
    texts = {name: str(cell).strip() for name, cell in row.items()}
    asked = {n: cell for n, cell in texts.items() if n not in OF_SUBMISSION and not n.startswith("\0")}
    answers = {name: cell for name, cell in asked.items() if cell not in ("", REVOKED, EXPIRED)}
    return Submission(texts[PERSON], texts.get(STATUS, "").upper(), REVOKED in texts.values(), answers)


def join(
    parts: Iterable[Mapping[str, pd.DataFrame]],
    people: set[str],
    submissions: list[Submission],
    name: Callable[[str], str],
) -> Iterator[dict[str, pd.DataFrame]]:
    """Yield the tables with the demographics of those who took part, and without anybody who has revoked consent.

    `parts` are the tables of these `people`, whole or in parts; `name` makes of a participant's id what stands in them. Every row
    of somebody whose submission says CONSENT_REVOKED is removed, of all tables: whoever takes consent back must not be found in
    data that are passed on.
    """
    by_person: dict[str, list[Submission]] = defaultdict(list)
    for one in submissions:
        by_person[name(one.participant)].append(one)
    if people.isdisjoint(by_person):
        raise study.DataError(
            f"none of the {len(people)} participants is among the export's {len(by_person)}; expected the same ids and the same "
            "key: were the participants known to the platform by PROLIFIC_PID?"
        )
    revoked = {person for person, of in by_person.items() if any(one.revoked for one in of)}
    _report(by_person, people, revoked)
    answered: list[tuple[str, str, str, str]] = []
    demographics: list[pd.DataFrame] = []
    for part in parts:
        made = {
            table: rows[~rows["participant"].isin(revoked)].reset_index(drop=True) if "participant" in rows else rows
            for table, rows in part.items()
        }
        if "demographics" in made:
            demographics.append(made.pop("demographics"))
        if "sessions" in made:
            answered += [
                (person, session, field, answer)
                for person, session in made["sessions"][["participant", "session"]].itertuples(index=False)
                if person in by_person
                for field, answer in by_person[person][-1].answers.items()
            ]
        yield made
    demographics.append(pd.DataFrame(answered, columns=study.TABLES["demographics"].names))
    yield {"demographics": study.check(pd.concat(demographics, ignore_index=True), "demographics")}


def _report(by_person: Mapping[str, list[Submission]], people: set[str], revoked: set[str]) -> None:
    if gone := revoked & people:
        log.warning(
            "Prolific: %d participants have revoked their consent; all their rows are removed: %s",
            len(gone),
            _some(gone),
        )
    for status, n in sorted(Counter(one.status for of in by_person.values() for one in of).items()):
        having = {person for person, of in by_person.items() if of[-1].status == status} & people - revoked
        if status not in COUNTED:
            log.warning(
                "Prolific: %d submissions are %s; %d of them have data here, which stay%s",
                n,
                status or "without a status",
                len(having),
                f": {_some(having)}" if having else "",
            )
    if unknown := people - by_person.keys():
        log.warning("Prolific: %d participants of the data are not in the export: %s", len(unknown), _some(unknown))


def _some(people: set[str]) -> str:
    return ", ".join(sorted(people)[:5]) + (f" and {len(people) - 5} more" if len(people) > 5 else "")
