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

from .sources import Source
from .spreadsheet_damage import find_damage
from .table.results import SEPARATOR_NAMES, read_cells

log = logging.getLogger("gardenpath")

PARTICIPANT_COLUMN, SUBMISSION_COLUMN, STATUS_COLUMN = "Participant id", "Submission id", "Status"
REVOKED_MARK, EXPIRED_MARK = "CONSENT_REVOKED", "DATA_EXPIRED"
# Submissions that count; the others are named on the log.
COUNTED_STATUSES = ("APPROVED", "AWAITING REVIEW", "AWAITING_REVIEW")
# What the export says of the submission and not of the person.
SUBMISSION_FIELDS = (
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
    """One row of the export; `is_revoked` where the participant has taken back the consent."""

    participant: str
    status: str
    is_revoked: bool
    answers: Mapping[str, str]


def recognises(source: Source) -> bool:
    """Whether the first line names submissions and participants as Prolific does."""
    return _find_separator(source) is not None


def _find_separator(source: Source) -> str | None:
    """Return what parts the columns, which a spreadsheet program may have changed; None for a file that is no export."""
    header = source.head.partition("\n")[0]
    return next(
        (
            s
            for s in SEPARATOR_NAMES
            if {PARTICIPANT_COLUMN, SUBMISSION_COLUMN} <= {*map(_standardise_heading, _split_line(header, s))}
        ),
        None,
    )


def _split_line(line: str, separator: str) -> list[str]:
    return next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])


def read(path: str | Path) -> list[Submission]:
    """Return the submissions of an export; raises `study.DataError` where it is none."""
    source = Source.from_path(path)
    separator = _find_separator(source)
    if separator is None:
        header = source.head.partition("\n")[0]
        raise study.DataError(
            f"{path}: does not look like Prolific's export of demographics; expected columns {PARTICIPANT_COLUMN!r} "
            f"and {SUBMISSION_COLUMN!r}, "
            f"got {header[:100]!r}"
        )
    if faults := find_damage(source):
        raise study.DataError(faults)
    return [
        _build_submission({_standardise_heading(name): cell for name, cell in row.items()}) for row in read_cells(source, separator)
    ]


def _standardise_heading(name: str) -> str:
    """Return a heading as newer exports write it (Participant id) where it is one of the submission."""
    plain = re.sub(r"[\s_]+", " ", name).strip().capitalize()
    return plain if plain in SUBMISSION_FIELDS or name.islower() else name


def _build_submission(row: Mapping[str, object]) -> Submission:
    texts = {name: str(cell).strip() for name, cell in row.items()}
    screening_cells = {n: cell for n, cell in texts.items() if n not in SUBMISSION_FIELDS and not n.startswith("\0")}
    answers = {name: cell for name, cell in screening_cells.items() if cell not in ("", REVOKED_MARK, EXPIRED_MARK)}
    return Submission(texts[PARTICIPANT_COLUMN], texts.get(STATUS_COLUMN, "").upper(), REVOKED_MARK in texts.values(), answers)


def join_demographics(
    parts: Iterable[Mapping[str, pd.DataFrame]],
    participants: set[str],
    submissions: list[Submission],
    pseudonymise: Callable[[str], str],
) -> Iterator[dict[str, pd.DataFrame]]:
    """Yield the tables with the demographics of those who took part, and without anybody who has revoked consent.

    `parts` are the tables of these `participants`, whole or in parts; `pseudonymise` makes of a participant's id what stands in
    them. Every row of somebody whose submission says CONSENT_REVOKED is removed, of all tables: whoever takes consent back must
    not be found in data that are passed on.
    """
    by_participant: dict[str, list[Submission]] = defaultdict(list)
    for one in submissions:
        by_participant[pseudonymise(one.participant)].append(one)
    if participants.isdisjoint(by_participant):
        raise study.DataError(
            f"none of the {len(participants)} participants is among the export's {len(by_participant)}; expected the "
            "same ids and the same "
            "key: were the participants known to the platform by PROLIFIC_PID?"
        )
    revoked = {
        participant for participant, own_submissions in by_participant.items() if any(one.is_revoked for one in own_submissions)
    }
    _report_submissions(by_participant, participants, revoked)
    answered: list[tuple[str, str, str, str]] = []
    demographics: list[pd.DataFrame] = []
    for part in parts:
        kept_tables = {
            table: rows[~rows["participant"].isin(revoked)].reset_index(drop=True) if "participant" in rows else rows
            for table, rows in part.items()
        }
        if "demographics" in kept_tables:
            demographics.append(kept_tables.pop("demographics"))
        if "sessions" in kept_tables:
            answered += [
                (participant, session, field, answer)
                for participant, session in kept_tables["sessions"][["participant", "session"]].itertuples(index=False)
                if participant in by_participant
                for field, answer in by_participant[participant][-1].answers.items()
            ]
        yield kept_tables
    demographics.append(pd.DataFrame(answered, columns=study.TABLES["demographics"].column_names))
    yield {"demographics": study.check(pd.concat(demographics, ignore_index=True), "demographics")}


def _report_submissions(by_participant: Mapping[str, list[Submission]], participants: set[str], revoked: set[str]) -> None:
    if removed := revoked & participants:
        log.warning(
            "Prolific: %d participants have revoked their consent; all their rows are removed: %s",
            len(removed),
            _format_ids(removed),
        )
    for status, n in sorted(Counter(one.status for own_submissions in by_participant.values() for one in own_submissions).items()):
        with_data = {
            participant for participant, own_submissions in by_participant.items() if own_submissions[-1].status == status
        } & participants - revoked
        if status not in COUNTED_STATUSES:
            log.warning(
                "Prolific: %d submissions are %s; %d of them have data here, which stay%s",
                n,
                status or "without a status",
                len(with_data),
                f": {_format_ids(with_data)}" if with_data else "",
            )
    if unknown := participants - by_participant.keys():
        log.warning("Prolific: %d participants of the data are not in the export: %s", len(unknown), _format_ids(unknown))


def _format_ids(participants: set[str]) -> str:
    return ", ".join(sorted(participants)[:5]) + (f" and {len(participants) - 5} more" if len(participants) > 5 else "")
