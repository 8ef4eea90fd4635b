"""Who comes: a newcomer is assigned a list and a place in it, somebody known goes on."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa

from ..scripts.list_files import ListFile
from ..scripts.script import Walk
from ..sessions.assignment import SlotCounts, choose_list
from ..sessions.recruitment import PlatformParticipant
from ..sessions.sessions import Session, build_session_timeline, open_session, replay_session_events
from . import payments, published_lists
from .database import EVENTS, IS_REAL, META, PREVIEW_SOURCE, REJECTED_EVENTS, SESSIONS, Row
from .departures import ANONYMOUS_PREFIX, find_departure_reason
from .leases import Leases
from .payments import ReturnTicket
from .published_lists import ListFileCache
from .rules import Refusal
from .screening import AnswerScreening
from .stored_sessions import IS_COUNTED, build_session, compute_walk

MAX_VOIDED_LENGTH = 1000  # characters of tokens that are void; older ones are not known at all


@dataclass(frozen=True)
class Arrival:
    """Somebody at the door: the keyed hash of who it is, the platform's id for payment, and the tab.

    Without a tab it is one that nobody has had. `resume_token` is what an anonymous browser kept; `preview` is a list and a
    trial to look at. Who is `is_excluded` has taken part in an earlier study, and does not begin.
    """

    participant: str | None = None
    platform_participant: PlatformParticipant | None = None
    source: str = "server"
    tab: str | None = None
    resume_token: str | None = None
    preview: tuple[str, int] | None = None
    is_excluded: bool = False


@dataclass(frozen=True)
class OpenedSession:
    """A session as handed to a client: new or resumed, with its token, visit and where it stands.

    The token is that of one tab; `resume_token` is by what a browser without an id is known again.
    """

    session: Session
    file: ListFile
    token: str
    resume_token: str
    visit: int
    next_seq: int
    walk: Walk
    ticket: ReturnTicket


class SessionAssigner:
    """Opens sessions; a reservation holds only in a transaction beside which nobody else is assigned a place."""

    def __init__(self, leases: Leases, files: ListFileCache, screening: AnswerScreening) -> None:
        self.rules, self._leases, self._files, self._screening = leases.rules, leases, files, screening

    def open_session(self, connection: sa.Connection, arrival: Arrival) -> OpenedSession:
        """Return a new session in a list with the fewest completed and running ones, or the person's unfinished one.

        Raises `Refusal` when the study is full or closed, or when this person may not begin or go on.
        """
        if arrival.preview is not None:
            return self._open_preview(connection, arrival, *arrival.preview)
        earlier = self._find_earlier_sessions(connection, arrival)
        if earlier and earlier[-1].finished is None and not self._can_take_next_list(connection, earlier):
            return self._resume_session(connection, earlier[-1], arrival)
        if arrival.participant is not None:
            if (
                reason := find_departure_reason(connection, arrival.participant)
            ) == "screened_out" and arrival.platform_participant:
                ticket = ReturnTicket(arrival.platform_participant.platform, arrival.platform_participant.id, arrival.source)
                raise Refusal("screened_out", "the screener has not let this person in", ticket=ticket)
            if reason is not None:
                raise Refusal("departed", "this person has withdrawn or was forgotten")
            if len(earlier) >= self.rules.max_sessions:
                ticket = payments.find_return_ticket(connection, earlier[-1])
                raise Refusal("finished", "this person has finished the study already", ticket=ticket)
        if arrival.is_excluded and not earlier:
            raise Refusal("excluded", "this person has taken part in a study whose participants are excluded")
        if connection.scalar(sa.select(META.c.closed)):
            raise Refusal("closed", "the study is closed for newcomers")
        if self._screening.is_full(connection):
            raise Refusal("full", "every answer that lets somebody in has its quota")
        return self._assign_slot(connection, arrival, earlier)

    def count_slots(self, connection: sa.Connection) -> dict[str, SlotCounts]:
        """Return how far each list with a session is filled."""
        is_finished = SESSIONS.c.finished.is_not(None)
        is_live = ~is_finished & (SESSIONS.c.seen > self._leases.get_live_cutoff())
        sums = [
            sa.func.sum(sa.case((which, 1), else_=0))
            for which in (is_finished, is_live, is_finished & SESSIONS.c.lease_expired, ~is_finished & ~is_live)
        ]
        query = sa.select(SESSIONS.c.list_name, *sums).where(IS_COUNTED).group_by(SESSIONS.c.list_name)
        return {list_name: SlotCounts(*map(int, numbers)) for list_name, *numbers in connection.execute(query)}

    def _find_earlier_sessions(self, connection: sa.Connection, arrival: Arrival) -> Sequence[Row]:
        """The sessions of this person, first to last; of an unknown browser the one that it can still go on with."""
        if arrival.participant is not None:
            is_own = SESSIONS.c.participant == arrival.participant
        elif arrival.resume_token is not None:
            is_resumable = SESSIONS.c.finished.is_(None) & (SESSIONS.c.seen > self._leases.get_resume_cutoff())
            is_own = (SESSIONS.c.resume == arrival.resume_token) & is_resumable
        else:
            return []
        query = sa.select(SESSIONS).where(is_own, IS_REAL, SESSIONS.c.withdrawn.is_(None)).order_by(SESSIONS.c.ordinal)
        return connection.execute(query).all()

    def _can_take_next_list(self, connection: sa.Connection, earlier: Sequence[Row]) -> bool:
        """Whether the person may go on with another list, where the last one was left too long ago."""
        is_expired = earlier[-1].seen <= self._leases.get_resume_cutoff() and len(earlier) < self.rules.max_sessions
        return is_expired and bool(self._files.get_list_file(connection, earlier[-1].list_sha256).trial_list.short_lists)

    def _assign_slot(self, connection: sa.Connection, arrival: Arrival, earlier: Sequence[Row]) -> OpenedSession:
        files = {
            name: self._files.get_list_file(connection, sha) for name, sha in published_lists.find_active_lists(connection).items()
        }
        contents = [
            self._files.get_list_file(connection, row.list_sha256).trial_list.collect_contents(json.loads(row.order))
            for row in earlier
        ]
        seen_contents = frozenset[str]().union(*contents)
        lists = {
            name: self._find_open_slot(connection, file, seen_contents)
            for name, file in files.items()
            if file.trial_list.short_lists
        }
        names = sorted(name for name in files if name not in lists or lists[name] is not None)
        name = choose_list(names, self.count_slots(connection), self.rules.quota, [row.list_name for row in earlier])
        if name is None and lists and earlier and earlier[-1].finished is not None:
            ticket = payments.find_return_ticket(connection, earlier[-1])
            raise Refusal("finished", "no list is open without what this person has judged already", ticket=ticket)
        if name is None:
            raise Refusal("full", "every list has its quota of completed and running sessions")
        slot = lists.get(name)
        if slot is None:
            last = connection.scalar(sa.select(sa.func.max(SESSIONS.c.slot)).where(SESSIONS.c.list_name == name, IS_REAL))
            slot = 0 if last is None else last + 1
        return self._begin_session(connection, arrival, files[name], slot, ordinal=len(earlier))

    def _find_open_slot(self, connection: sa.Connection, file: ListFile, seen_contents: frozenset[str]) -> int | None:
        """Return the slot of the first list without `seen_contents` that no completed or running session has; None where there
        is none."""
        is_running = SESSIONS.c.finished.is_not(None) | (SESSIONS.c.seen > self._leases.get_live_cutoff())
        holds_slot = IS_COUNTED & is_running & (SESSIONS.c.list_sha256 == file.sha256)
        list_slots = sa.select(SESSIONS.c.slot).where(IS_REAL, SESSIONS.c.list_name == file.name)
        held_slots, used_slots = (set(connection.scalars(query)) for query in (list_slots.where(holds_slot), list_slots))
        return file.trial_list.find_open_slot(held_slots, used_slots, seen_contents)

    def _open_preview(self, connection: sa.Connection, arrival: Arrival, list_name: str, trial: int) -> OpenedSession:
        sha256 = published_lists.find_active_lists(connection).get(list_name)
        if sha256 is None:
            raise Refusal("preview", f"there is no list {list_name!r}")
        opened = self._begin_session(connection, arrival, self._files.get_list_file(connection, sha256), 0, ordinal=0)
        steps = build_session_timeline(opened.session, opened.file)
        position = min(trial, len(opened.session.order) - 1)
        first = next(timeline_step.number for timeline_step in steps if timeline_step.position == position) if position else 0
        return replace(opened, walk=Walk(steps, range(first)))

    def _begin_session(
        self, connection: sa.Connection, arrival: Arrival, file: ListFile, slot: int, *, ordinal: int
    ) -> OpenedSession:
        now = self._leases.get_time()
        session = open_session(
            file,
            slot,
            id=f"s-{secrets.token_hex(8)}",
            participant=arrival.participant or ANONYMOUS_PREFIX + secrets.token_hex(8),
            started=now,
            source=PREVIEW_SOURCE if arrival.preview else arrival.source,
        )
        session = replace(session, revision=published_lists.find_current_revision(connection))
        platform_participant = None if arrival.preview else arrival.platform_participant
        ticket = ReturnTicket(
            platform_participant.platform if platform_participant else "link",
            platform_participant.id if platform_participant else "",
            session.source,
        )
        token, resume_token = _create_token(), _create_token()
        connection.execute(
            SESSIONS.insert().values(
                {
                    "id": session.id,
                    "token": token,
                    "resume": resume_token,
                    "participant": session.participant,
                    "ordinal": ordinal,
                    "platform": ticket.platform,
                    "list_name": session.list_name,
                    "slot": session.slot,
                    "order": json.dumps(session.order),
                    "list_sha256": session.list_sha256,
                    "procedure_sha256": session.procedure_sha256,
                    "revision": session.revision,
                    "started": now,
                    "seen": now,
                    "source": session.source,
                    "visits": 1,
                    "tab": arrival.tab or _create_token(),
                    "tab_seen": now,
                }
            )
        )
        if platform_participant is not None:
            payments.register_payment(connection, session.id, platform_participant)
        return OpenedSession(session, file, token, resume_token, 0, 0, replay_session_events(session, file), ticket)

    def _resume_session(self, connection: sa.Connection, row: Row, arrival: Arrival) -> OpenedSession:
        ticket = payments.find_return_ticket(connection, row)
        if row.seen <= self._leases.get_resume_cutoff():
            raise Refusal("expired", "the session was left too long ago to be resumed", ticket=ticket)
        if (wait := self._leases.compute_tab_wait(row, arrival.tab)) > 0:
            raise Refusal("open_elsewhere", "the session is open in another tab", ticket=ticket, wait_seconds=wait)
        numbers = [sa.select(sa.func.max(table.c.seq)).where(table.c.session == row.id) for table in (EVENTS, REJECTED_EVENTS)]
        last = max((-1 if (seq := connection.scalar(number)) is None else seq) for number in numbers)
        # Who takes a session over has a token of its own, and that of the tab before is void.
        new_values = (
            {} if row.tab == arrival.tab else {"token": _create_token(), "voided": f"{row.voided} {row.token}"[-MAX_VOIDED_LENGTH:]}
        )
        tab = arrival.tab or _create_token()
        self._leases.renew_lease(connection, row, visits=row.visits + 1, tab=tab, tab_seen=self._leases.get_time(), **new_values)
        if arrival.platform_participant is not None:
            payments.register_payment(connection, row.id, arrival.platform_participant)
            ticket = ReturnTicket(row.platform, arrival.platform_participant.id, row.source)
        file = self._files.get_list_file(connection, row.list_sha256)
        token, walk = new_values.get("token", row.token), compute_walk(connection, row, file)
        return OpenedSession(build_session(row), file, token, row.resume, row.visits, last + 1, walk, ticket)


def _create_token() -> str:
    return secrets.token_urlsafe(24)
