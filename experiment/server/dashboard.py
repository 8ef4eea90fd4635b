"""The experimenter's page: how a study goes, never how it comes out."""

import asyncio
import hmac
import math
import os
import re
import secrets
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from gardenpath import study

from ..sessions.assignment import SlotCounts
from ..sessions.plausibility import SESSION_FLAGS
from ..sessions.quality import SessionQuality, compute_session_quality
from .download import DOWNLOAD_WRITERS
from .rate_limits import MAX_BODY_BYTES, BodyTooLarge, RateLimit, read_limited_body
from .session_overview import SessionSummary
from .store import Store

LOGIN_HOURS = 12  # for so long a password given once is enough
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
DISK_FOLDER = Path("/var/tmp")  # on the disk, where /tmp is in memory on many a server
MIN_FLAGGED_ABSENCES, MAX_FAST_SHARE = 5, 0.1
SESSIONS_PER_PAGE = 50  # sessions on a page
MAX_FIELDS = 20  # of a form


@dataclass(frozen=True)
class ListRow:
    """A list on the dashboard."""

    name: str
    slot_counts: SlotCounts
    departure_counts: dict[str, int]
    over_quota_count: int
    quota: int | None
    preview: str


@dataclass(frozen=True)
class HistogramBar:
    """A bar of the histogram of durations: from and to in minutes, and how many sessions."""

    low: float
    high: float
    number: int


@dataclass(frozen=True)
class HourlyPay:
    """Declared reward against the time it takes, in units of the currency an hour."""

    median: float
    declared: float | None


def is_cross_site(request: Request) -> bool:
    """Whether a form comes from another site's page, as browsers say it (Sec-Fetch-Site, and Origin of those that do not)."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


def build_cookie_name(study_id: str) -> str:
    """Return what the cookie of a login is called: several studies of one host, or of several ports of it, have one each."""
    return f"gardenpath-dashboard-{study_id}"


class Dashboard:
    """The routes below /dashboard, behind a password; `url` is the database's address, `is_safe` whether a request is private."""

    def __init__(
        self, store: Store, config: study.Study, url: str, password: str, preview_key: str, is_safe: Callable[[Request], bool]
    ) -> None:
        self.store, self.config, self.url, self.is_safe = store, config, url, is_safe
        self._password, self._preview_key = password, preview_key
        self._cookie = build_cookie_name(store.find_study_id(config))
        self._sessions: dict[str, float] = {}
        self._qualities: dict[str, SessionQuality] = {}
        self._wrong_passwords = RateLimit(burst=5, rate=1 / 30)

    def build_routes(self) -> list[Route]:
        """Return the routes of the page and of what it can do."""
        actions: dict[str, Callable[[dict[str, str]], None]] = {
            "close": lambda form: self.store.set_closed(),
            "open": lambda form: self.store.set_closed(False),
            "exclude": lambda form: discard_value(self.store.exclude_session(form.get("session", ""), form.get("reason", ""))),
            "include": lambda form: self.store.include_session(form.get("session", "")),
        }
        return [
            Route("/dashboard", self._show_page),
            Route("/dashboard/style.css", lambda request: FileResponse(_get_template_path("dashboard.css"))),
            Route("/dashboard/login", self._log_in, methods=["POST"]),
            Route("/dashboard/logout", self._log_out, methods=["POST"]),
            *[
                Route(f"/dashboard/{name}", self._create_action_handler(action), methods=["POST"])
                for name, action in actions.items()
            ],
            *[Route(f"/dashboard/{kind}.zip", self._create_download_handler(kind)) for kind in DOWNLOAD_WRITERS],
            Route("/dashboard/payments.csv", self._send_payments),
        ]

    # ------------------------------------------------------------------------------------------------- who may see it

    def _find_login(self, request: Request) -> str | None:
        token = request.cookies.get(self._cookie, "")
        return token if self._sessions.get(token, 0) > time.monotonic() else None

    async def _log_in(self, request: Request) -> Response:
        caller = request.client.host if request.client else ""
        if is_cross_site(request):
            return self._show_login(request, "This form came from another site. Please give the password here.", 403)
        if not self.is_safe(request):
            return self._show_login(request, "The dashboard is shown over HTTPS only, or on the machine that serves it.", 403)
        password = (await _read_form(request)).get("password", "")
        # The right password is let in whoever else has tried, from the same address too: its length keeps guessers out.
        if not hmac.compare_digest(_compute_digest(password), _compute_digest(self._password)):
            if wait := self._wrong_passwords.count_call(caller):
                return self._show_login(request, f"Too many wrong passwords. Please wait {math.ceil(wait)} seconds.", 429)
            return self._show_login(request, "This is not the password.", 403)
        token = secrets.token_urlsafe(32)
        now = time.monotonic()
        self._sessions = {login: until for login, until in self._sessions.items() if until > now}
        self._sessions[token] = now + LOGIN_HOURS * 3600
        answer = RedirectResponse("../dashboard", 303)
        answer.set_cookie(
            self._cookie, token, LOGIN_HOURS * 3600, httponly=True, samesite="strict", secure=request.url.scheme == "https"
        )
        return answer

    async def _log_out(self, request: Request) -> Response:
        self._sessions.pop(request.cookies.get(self._cookie, ""), None)
        return RedirectResponse("../dashboard", 303)

    def _show_login(self, request: Request, fault: str = "", status: int = 200) -> Response:
        return _render_html("login.html", status, title=self._get_title(), deep=_is_below_dashboard(request), fault=fault)

    def _create_action_handler(self, action: Callable[[dict[str, str]], None]) -> Callable[[Request], Awaitable[Response]]:
        async def handle_action(request: Request) -> Response:
            token = self._find_login(request)
            form = await _read_form(request)
            if token is None or not hmac.compare_digest(
                _compute_digest(form.get("proof", "")), _compute_digest(_compute_proof(token))
            ):
                return self._show_login(request, "Please give the password again.", 403)
            try:
                await run_in_threadpool(action, form)
            except (KeyError, ValueError) as error:
                return await self._render_page(request, token, fault=str(error.args[0]), status=400)
            return RedirectResponse("../dashboard", 303)

        return handle_action

    # ------------------------------------------------------------------------------------------------- what it shows

    async def _show_page(self, request: Request) -> Response:
        token = self._find_login(request)
        return self._show_login(request, status=401) if token is None else await self._render_page(request, token)

    async def _render_page(self, request: Request, token: str, fault: str = "", status: int = 200) -> Response:
        page_number = request.query_params.get("page", "1")
        values = await run_in_threadpool(self.build_values, int(page_number) if re.fullmatch("[0-9]{1,6}", page_number) else 1)
        return _render_html(
            "dashboard.html", status, proof=_compute_proof(token), deep=_is_below_dashboard(request), fault=fault, **values
        )

    def build_values(self, page: int = 1) -> dict[str, Any]:
        """Return what this page shows; nothing of it depends on a condition or an answer to a sentence."""
        online, session_count = self.config.required_online, self.store.count_sessions()[0]
        pages = max(1, math.ceil(session_count / SESSIONS_PER_PAGE))
        page = min(max(page, 1), pages)
        sessions = self.store.list_summaries((page - 1) * SESSIONS_PER_PAGE, SESSIONS_PER_PAGE)
        slot_counts, departures, quota_by_list = (
            self.store.count_slots(),
            self.store.count_departures(),
            self.store.count_list_quotas(),
        )
        rows = [
            ListRow(
                name,
                slot_counts.get(name, SlotCounts()),
                departures.get(name, {}),
                slot_counts.get(name, SlotCounts()).count_over_quota(quota),
                quota,
                "./?" + urlencode({"preview": name, "trial": 0, "key": self._preview_key}),
            )
            for name in sorted({*quota_by_list, *slot_counts, *departures})
            for quota in [quota_by_list.get(name, online.quota)]
        ]
        quotas = [row.quota or 0 for row in rows]
        minutes = self.store.list_durations()
        return {
            "title": self._get_title(),
            "now": datetime.now(UTC),
            "closed": self.store.is_closed,
            "quotas": quotas,
            "most": max([1, *quotas, *(row.slot_counts.taken_slots for row in rows)]),
            "rows": rows,
            "taken_slots": [row.slot_counts.taken_slots for row in rows],
            "total": Counter(
                {name: sum(getattr(row.slot_counts, name) for row in rows) for name in ("completed", "live", "late", "dropped")}
            ),
            "over_quota_count": sum(row.over_quota_count for row in rows),
            "departure_counts": sum((Counter(row.departure_counts) for row in rows), Counter()),
            "screener": self.config.procedure.screener,
            "screened": self.store.count_screener_answers() if self.config.procedure.screener else {},
            "begun": session_count,
            "page": page,
            "pages": pages,
            "sessions": [(session, self._list_flags(session)) for session in sessions],
            "durations": minutes,
            "median": statistics.median(minutes) if minutes else None,
            "quartiles": statistics.quantiles(minutes, n=4) if len(minutes) > 3 else None,
            "bars": build_histogram(minutes),
            "reward": online.reward,
            "pay": self._compute_pay(minutes),
            "revisions": self.store.list_revisions(),
        }

    def _get_title(self) -> str:
        return self.config.title or self.config.name

    def _compute_pay(self, minutes: Sequence[float]) -> HourlyPay | None:
        reward = self.config.required_online.reward
        if reward is None or not minutes:
            return None
        declared = reward.amount / reward.minutes * 60 if reward.minutes else None
        return HourlyPay(reward.amount / max(statistics.median(minutes), 1 / 60) * 60, declared)

    def _list_flags(self, session: SessionSummary) -> list[str]:
        flags = []
        if session.source != "server":
            flags.append(session.source)
        if session.lease_expired:
            flags.append("late")
        if session.visits > 1:
            flags.append(f"loaded {session.visits} times")
        if session.interruptions >= MIN_FLAGGED_ABSENCES:
            flags.append(f"left the window {session.interruptions} times")
        if session.rejected_count:
            flags.append(f"{session.rejected_count} event{'s' * (session.rejected_count > 1)} set apart")
        if session.state == "completed":
            checks = self._get_quality(session.id)
            if checks.fast_share > MAX_FAST_SHARE:
                flags.append(f"{checks.fast_share:.0%} of words under 100 ms")
            if checks.attention_passed < checks.attention_asked:
                flags.append(f"attention {checks.attention_passed} of {checks.attention_asked}")
            flags += [SESSION_FLAGS[flag] for flag in checks.flags]
        return flags

    def _get_quality(self, session: str) -> SessionQuality:
        """A finished session never changes: read each once."""
        if session not in self._qualities:
            self._qualities[session] = compute_session_quality(*self.store.read_recorded_session(session))
        return self._qualities[session]

    # ------------------------------------------------------------------------------------------------- downloads

    def _create_download_handler(self, kind: str) -> Callable[[Request], Awaitable[Response]]:
        async def send_download(request: Request) -> Response:
            token = self._find_login(request)
            if token is None:
                return self._show_login(request, status=401)
            if not self.store.count_sessions()[0]:
                return await self._render_page(
                    request, token, fault="There are no sessions yet, so there is nothing to download.", status=404
                )
            folder = tempfile.TemporaryDirectory(dir=DISK_FOLDER if DISK_FOLDER.is_dir() else None)
            path = Path(folder.name) / f"{kind}.zip"
            # A process of its own: making tables of a large study must not slow down anybody's page.
            command = [sys.executable, "-m", "gardenpath.experiment.server.download", kind, str(path)]
            process = await asyncio.create_subprocess_exec(
                *command,
                env={**os.environ, "TMPDIR": folder.name},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
            _, error_output = await process.communicate(self.url.encode())
            if process.returncode:
                folder.cleanup()
                fault = error_output.decode("utf-8", "replace").strip().rpartition("\n")[2]
                return await self._render_page(request, token, fault=f"The download could not be made: {fault}", status=500)
            name = f"{self.config.name}-{kind}-{datetime.now(UTC):%Y%m%d-%H%M}.zip"
            return FileResponse(path, filename=name, background=BackgroundTask(folder.cleanup))

        return send_download

    async def _send_payments(self, request: Request) -> Response:
        if self._find_login(request) is None:
            return self._show_login(request, status=401)
        text = await run_in_threadpool(format_payments_csv, self.store)
        headers = {"content-disposition": 'attachment; filename="payments.csv"'}
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def format_payments_csv(store: Store) -> str:
    """Return the payments as CSV, for the platform that pays; a cell never begins a formula."""
    import csv
    import io

    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["platform", "id", "submission", "code", "status"])
    for payment in store.list_payments():
        lines.writerow([study.table_files.escape_formula(cell) if isinstance(cell, str) else cell for cell in payment.values()])
    return text.getvalue()


def build_histogram(minutes: Sequence[float], max_bars: int = 14) -> list[HistogramBar]:
    """Return the bars of a histogram: steps of 1, 2, 5 or 10 minutes (or tens of them), at most `max_bars` of them.

    Beyond three times the median everything stands in the last bar.

    >>> [bar.number for bar in build_histogram([1.0, 1.5, 2.5])]
    [2, 1]
    """
    if not minutes:
        return []
    low, cap = math.floor(min(minutes)), max(3 * statistics.median(minutes), min(minutes) + 1)
    high = min(max(minutes), cap)
    steps = (factor * 10**power for power in range(5) for factor in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step < max_bars)
    number = max(1, math.floor((high - low) / step) + 1)
    counts = Counter(min(number - 1, math.floor((value - low) / step)) for value in minutes)
    return [HistogramBar(low + step * n, low + step * (n + 1), counts[n]) for n in range(number)]


def discard_value(value: object) -> None:
    """Take no notice of a value."""


def _compute_digest(text: str) -> bytes:
    return hmac.new(b"gardenpath", text.encode("utf-8", "surrogateescape"), "sha256").digest()


def _compute_proof(token: str) -> str:
    """What a form of the page holds, so that no other page can send it."""
    return hmac.new(token.encode(), b"form", "sha256").hexdigest()


def _is_below_dashboard(request: Request) -> bool:
    """Whether the page stands below /dashboard, as the answer to a form does: its links start from there."""
    return str(request.scope["path"]) != "/dashboard"


async def _read_form(request: Request) -> dict[str, str]:
    try:
        raw = (await read_limited_body(request)).decode("utf-8", "replace")
        return {name: values[0] for name, values in parse_qs(raw, max_num_fields=MAX_FIELDS).items()}
    except ClientDisconnect:
        raise HTTPException(408, "the form did not come whole") from None
    except BodyTooLarge:
        raise HTTPException(413, f"the form is over {MAX_BODY_BYTES} bytes") from None
    except ValueError:
        raise HTTPException(400, f"the form has more than {MAX_FIELDS} fields") from None


def _get_template_path(name: str) -> Path:
    return Path(str(files("gardenpath.experiment.server") / "templates" / name))


@cache
def _create_environment() -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_get_template_path("")), autoescape=True, undefined=jinja2.StrictUndefined
    )


def _render_html(name: str, status: int, **values: Any) -> Response:
    text = _create_environment().get_template(name).render(**values)
    return Response(text, status, {"content-security-policy": CONTENT_SECURITY_POLICY}, "text/html; charset=utf-8")
