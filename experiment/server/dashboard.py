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
from urllib.parse import parse_qs, urlencode

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from gardenpath import study

from ..quality import Quality, quality
from .assignment import Filled
from .download import KINDS
from .overview import SessionSummary
from .rate_limits import LARGEST_BODY, Limit, TooLarge, limited
from .store import Store

COOKIE = "gardenpath-dashboard"
HOURS = 12  # for so long a password given once is enough
POLICY = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
LARGE = Path("/var/tmp")  # on the disk, where /tmp is in memory on many a server
MANY_ABSENCES, MUCH_FAST = 5, 0.1
LISTED = 50  # sessions on a page
MOST_FIELDS = 20  # of a form


@dataclass(frozen=True)
class Row:
    """A version on the dashboard."""

    name: str
    filled: Filled
    left: dict[str, int]
    over: int
    quota: int | None
    preview: str


@dataclass(frozen=True)
class Bar:
    """A bar of the histogram of durations: from and to in minutes, and how many sessions."""

    low: float
    high: float
    number: int


@dataclass(frozen=True)
class Pay:
    """Declared reward against the time it takes, in units of the currency an hour."""

    median: float
    declared: float | None


class Dashboard:
    """The routes below /dashboard, behind a password; `url` is the database's address, `safe` whether a request is private."""

    def __init__(
        self, store: Store, plan: study.Study, url: str, password: str, preview: str, safe: Callable[[Request], bool]
    ) -> None:
        self.store, self.plan, self.url, self.safe = store, plan, url, safe
        self._password, self._preview = password, preview
        self._sessions: dict[str, float] = {}
        self._qualities: dict[str, Quality] = {}
        self._wrong = Limit(burst=5, rate=1 / 30)

    def routes(self) -> list[Route]:
        """Return the routes of the page and of what it can do."""
        actions: dict[str, Callable[[dict[str, str]], None]] = {
            "close": lambda form: self.store.close(),
            "open": lambda form: self.store.close(False),
            "exclude": lambda form: void(self.store.exclude(form.get("session", ""), form.get("reason", ""))),
            "include": lambda form: self.store.include(form.get("session", "")),
        }
        return [
            Route("/dashboard", self._page),
            Route("/dashboard/style.css", lambda request: FileResponse(_template("dashboard.css"))),
            Route("/dashboard/login", self._login, methods=["POST"]),
            Route("/dashboard/logout", self._logout, methods=["POST"]),
            *[Route(f"/dashboard/{name}", self._acting(act), methods=["POST"]) for name, act in actions.items()],
            *[Route(f"/dashboard/{kind}.zip", self._downloading(kind)) for kind in KINDS],
            Route("/dashboard/payments.csv", self._payments),
        ]

    # ------------------------------------------------------------------------------------------------- who may see it

    def _known(self, request: Request) -> str | None:
        token = request.cookies.get(COOKIE, "")
        return token if self._sessions.get(token, 0) > time.monotonic() else None

    async def _login(self, request: Request) -> Response:
        caller = request.client.host if request.client else ""
        if not self.safe(request):
            return self._door(request, "The dashboard is shown over HTTPS only, or on the machine that serves it.", 403)
        password = (await _form(request)).get("password", "")
        # The right password is let in whoever else has tried, from the same address too: its length keeps guessers out.
        if not hmac.compare_digest(_digest(password), _digest(self._password)):
            if wait := self._wrong.wait(caller):
                return self._door(request, f"Too many wrong passwords. Please wait {math.ceil(wait)} seconds.", 429)
            return self._door(request, "This is not the password.", 403)
        token = secrets.token_urlsafe(32)
        now = time.monotonic()
        self._sessions = {known: until for known, until in self._sessions.items() if until > now}
        self._sessions[token] = now + HOURS * 3600
        answer = RedirectResponse("../dashboard", 303)
        answer.set_cookie(
            COOKIE, token, HOURS * 3600, httponly=True, samesite="strict", secure=request.url.scheme == "https"
        )
        return answer

    async def _logout(self, request: Request) -> Response:
        self._sessions.pop(request.cookies.get(COOKIE, ""), None)
        return RedirectResponse("../dashboard", 303)

    def _door(self, request: Request, fault: str = "", status: int = 200) -> Response:
        return _html("login.html", status, title=self._title(), deep=_deep(request), fault=fault)

    def _acting(self, act: Callable[[dict[str, str]], None]) -> Callable[[Request], Awaitable[Response]]:
        async def acting(request: Request) -> Response:
            token = self._known(request)
            form = await _form(request)
            if token is None or not hmac.compare_digest(_digest(form.get("proof", "")), _digest(_proof(token))):
                return self._door(request, "Please give the password again.", 403)
            try:
                await run_in_threadpool(act, form)
            except (KeyError, ValueError) as error:
                return await self._show(request, token, fault=str(error.args[0]), status=400)
            return RedirectResponse("../dashboard", 303)

        return acting

    # ------------------------------------------------------------------------------------------------- what it shows

    async def _page(self, request: Request) -> Response:
        token = self._known(request)
        return self._door(request, status=401) if token is None else await self._show(request, token)

    async def _show(self, request: Request, token: str, fault: str = "", status: int = 200) -> Response:
        asked = request.query_params.get("page", "1")
        values = await run_in_threadpool(self.values, int(asked) if re.fullmatch("[0-9]{1,6}", asked) else 1)
        return _html("dashboard.html", status, proof=_proof(token), deep=_deep(request), fault=fault, **values)

    def values(self, page: int = 1) -> dict[str, Any]:
        """Return what this page shows; nothing of it depends on a condition or an answer to a sentence."""
        online, begun = self.plan.served, self.store.counts()[0]
        pages = max(1, math.ceil(begun / LISTED))
        page = min(max(page, 1), pages)
        sessions = self.store.overview((page - 1) * LISTED, LISTED)
        filled, left, places = self.store.filled(), self.store.departures(), self.store.places()
        rows = [
            Row(
                name,
                filled.get(name, Filled()),
                left.get(name, {}),
                filled.get(name, Filled()).over(quota),
                quota,
                "./?" + urlencode({"preview": name, "trial": 0, "key": self._preview}),
            )
            for name in sorted({*places, *filled, *left})
            for quota in [places.get(name, online.quota)]
        ]
        quotas = [row.quota or 0 for row in rows]
        minutes = self.store.durations()
        return {
            "title": self._title(),
            "now": datetime.now(UTC),
            "closed": self.store.closed,
            "quotas": quotas,
            "most": max([1, *quotas, *(row.filled.places for row in rows)]),
            "rows": rows,
            "places": [row.filled.places for row in rows],
            "total": Counter(
                {
                    name: sum(getattr(row.filled, name) for row in rows)
                    for name in ("completed", "live", "late", "dropped")
                }
            ),
            "over": sum(row.over for row in rows),
            "left": sum((Counter(row.left) for row in rows), Counter()),
            "screener": self.plan.procedure.screener,
            "screened": self.store.screened() if self.plan.procedure.screener else {},
            "begun": begun,
            "page": page,
            "pages": pages,
            "sessions": [(session, self._flags(session)) for session in sessions],
            "durations": minutes,
            "median": statistics.median(minutes) if minutes else None,
            "quartiles": statistics.quantiles(minutes, n=4) if len(minutes) > 3 else None,
            "bars": histogram(minutes),
            "reward": online.reward,
            "pay": self._pay(minutes),
            "revisions": self.store.revisions(),
        }

    def _title(self) -> str:
        return self.plan.title or self.plan.name

    def _pay(self, minutes: Sequence[float]) -> Pay | None:
        reward = self.plan.served.reward
        if reward is None or not minutes:
            return None
        declared = reward.amount / reward.minutes * 60 if reward.minutes else None
        return Pay(reward.amount / max(statistics.median(minutes), 1 / 60) * 60, declared)

    def _flags(self, session: SessionSummary) -> list[str]:
        flags = []
        if session.source != "server":
            flags.append(session.source)
        if session.late:
            flags.append("late")
        if session.visits > 1:
            flags.append(f"loaded {session.visits} times")
        if session.interruptions >= MANY_ABSENCES:
            flags.append(f"left the window {session.interruptions} times")
        if session.apart:
            flags.append(f"{session.apart} event{'s' * (session.apart > 1)} set apart")
        if session.state == "completed":
            checks = self._quality(session.id)
            if checks.fast > MUCH_FAST:
                flags.append(f"{checks.fast:.0%} of words under 100 ms")
            if checks.attentive < checks.attention:
                flags.append(f"attention {checks.attentive} of {checks.attention}")
        return flags

    def _quality(self, session: str) -> Quality:
        """A finished session never changes: read each once."""
        if session not in self._qualities:
            self._qualities[session] = quality(*self.store.record(session))
        return self._qualities[session]

    # ------------------------------------------------------------------------------------------------- downloads

    def _downloading(self, kind: str) -> Callable[[Request], Awaitable[Response]]:
        async def downloading(request: Request) -> Response:
            token = self._known(request)
            if token is None:
                return self._door(request, status=401)
            if not self.store.counts()[0]:
                return await self._show(
                    request, token, fault="There are no sessions yet, so there is nothing to download.", status=404
                )
            folder = tempfile.TemporaryDirectory(dir=LARGE if LARGE.is_dir() else None)
            path = Path(folder.name) / f"{kind}.zip"
            # A process of its own: making tables of a large study must not slow down anybody's page.
            words = [sys.executable, "-m", "gardenpath.experiment.server.download", kind, str(path)]
            process = await asyncio.create_subprocess_exec(
                *words,
                env={**os.environ, "TMPDIR": folder.name},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
            _, said = await process.communicate(self.url.encode())
            if process.returncode:
                folder.cleanup()
                fault = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
                return await self._show(request, token, fault=f"The download could not be made: {fault}", status=500)
            name = f"{self.plan.name}-{kind}-{datetime.now(UTC):%Y%m%d-%H%M}.zip"
            return FileResponse(path, filename=name, background=BackgroundTask(folder.cleanup))

        return downloading

    async def _payments(self, request: Request) -> Response:
        if self._known(request) is None:
            return self._door(request, status=401)
        text = await run_in_threadpool(payments_csv, self.store)
        headers = {"content-disposition": 'attachment; filename="payments.csv"'}
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def payments_csv(store: Store) -> str:
    """Return the payments as CSV, for the platform that pays; a cell never begins a formula."""
    import csv
    import io

    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["platform", "id", "submission", "code", "status"])
    for payment in store.payments():
        lines.writerow([study.table_files.safe(cell) if isinstance(cell, str) else cell for cell in payment.values()])
    return text.getvalue()


def histogram(minutes: Sequence[float], most: int = 14) -> list[Bar]:
    """Return the bars of a histogram: steps of 1, 2, 5 or 10 minutes (or tens of them), at most `most` of them.

    Beyond three times the median everything stands in the last bar.

    >>> [bar.number for bar in histogram([1.0, 1.5, 2.5])]
    [2, 1]
    """
    if not minutes:
        return []
    low, cap = math.floor(min(minutes)), max(3 * statistics.median(minutes), min(minutes) + 1)
    high = min(max(minutes), cap)
    steps = (factor * 10**power for power in range(5) for factor in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step < most)
    number = max(1, math.floor((high - low) / step) + 1)
    counted = Counter(min(number - 1, math.floor((value - low) / step)) for value in minutes)
    return [Bar(low + step * n, low + step * (n + 1), counted[n]) for n in range(number)]


def void(value: object) -> None:
    """Take no notice of a value."""


def _digest(text: str) -> bytes:
    return hmac.new(b"gardenpath", text.encode("utf-8", "surrogateescape"), "sha256").digest()


def _proof(token: str) -> str:
    """What a form of the page holds, so that no other page can send it."""
    return hmac.new(token.encode(), b"form", "sha256").hexdigest()


def _deep(request: Request) -> bool:
    """Whether the page stands below /dashboard, as the answer to a form does: its links start from there."""
    return str(request.scope["path"]) != "/dashboard"


async def _form(request: Request) -> dict[str, str]:
    try:
        raw = (await limited(request)).decode("utf-8", "replace")
        return {name: values[0] for name, values in parse_qs(raw, max_num_fields=MOST_FIELDS).items()}
    except ClientDisconnect:
        raise HTTPException(408, "the form did not come whole") from None
    except TooLarge:
        raise HTTPException(413, f"the form is over {LARGEST_BODY} bytes") from None
    except ValueError:
        raise HTTPException(400, f"the form has more than {MOST_FIELDS} fields") from None


def _template(name: str) -> Path:
    return Path(str(files("gardenpath.experiment.server") / "templates" / name))


@cache
def _environment() -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_template("")), autoescape=True, undefined=jinja2.StrictUndefined
    )


def _html(name: str, status: int, **values: Any) -> Response:
    text = _environment().get_template(name).render(**values)
    return Response(text, status, {"content-security-policy": POLICY}, "text/html; charset=utf-8")
