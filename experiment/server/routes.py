"""The web server of a study: the page, and the calls of docs/api.md."""

import contextlib
import errno
import gc
import hmac
import json
import logging
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gardenpath import study

from ..barring import read_barred
from ..players.web.built import page_folder
from ..pseudonyms import hash_participant
from ..pseudonyms import known_key as known_key
from ..pseudonyms import participant_key as participant_key
from ..pseudonyms import secret as secret
from ..recruitment import LAB, Ending, ending, is_signed, kiosk_texts, online_section, person, person_in_lab, way_back
from ..sessions import Json, payload
from ..standard_texts import direction, texts_of
from ..versions import VersionFile
from .arrivals import Arrival, Opened
from .dashboard import COOKIE, Dashboard
from .database import is_full
from .payments import Ticket
from .rate_limits import LARGEST_BODY, MOST_EVENTS, Limit, TooLarge, limited
from .received_events import received
from .rules import Conflict, Refused, Rules
from .slow_connections import PATIENCE, impatient
from .store import Store

log = logging.getLogger("gardenpath")

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    # Cross-origin isolation gives the page a clock of 5 us instead of 100 us.
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
LOCAL = ("localhost", "127.0.0.1", "::1")
REASONS = ("withdrawn", "refused", "unsuitable")
PREVIEW_CODE = "PREVIEW"
MOST_NAMED = 1000  # events set apart in one answer


class SecurityHeaders:
    """Adds the security headers to every answer, where it has none of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(h for h in added if h[0] not in present)]
            await send(message)

        await self.app(scope, receive, with_headers)


class _Under:
    """Serves below a path, whether or not the proxy before it takes the path away."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app, self.path = app, path.rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self.path and f"{scope['path']}/".startswith(f"{self.path}/"):
            scope = {**scope, "path": scope["path"].removeprefix(self.path) or "/"}
        await self.app(scope, receive, send)


@dataclass(frozen=True)
class Site:
    """Where and how a study is reached: its outer path, whether a proxy tells who calls, and the dashboard's password.

    Without a password there is no dashboard. With `kiosk` everybody comes to the lab and begins with a code; it is how many
    seconds the last page of a session stands. `burst` is how many calls of one session are taken at once; in the long run it is
    a fiftieth of that a second.
    """

    path: str = ""
    behind_proxy: bool = False
    password: str | None = None
    burst: int = 1000
    kiosk: int | None = None


def application(store: Store, plan: study.Study, *, key: bytes, site: Site | None = None) -> Starlette:
    """Return the ASGI application of a study whose versions are published in `store`.

    `key` turns a platform's participant id into the keyed hash that is stored in its place.
    """
    return _Study(store, plan, key, site or Site()).application()


def check(plan: study.Study) -> None:
    """Raise `DataError` where the server would show people what it does not do, or texts that no page asks for."""
    online_section(plan)
    if plan.served.withdrawal == "keep" and plan.procedure.consent is None:
        raise study.DataError(
            f"{plan.path}: online.withdrawal is 'keep', and the standard consent text promises deletion; expected a "
            "text of your own in procedure.consent that says what is kept"
        )


class _Study:
    """The handlers of one study's calls."""

    def __init__(self, store: Store, plan: study.Study, key: bytes, site: Site) -> None:
        check(plan)
        self.store, self.plan, self.online, self.key, self.site = store, plan, online_section(plan), key, site
        self.barred = read_barred(self.online.barred, plan.folder)
        self.arrivals = Limit(burst=300, rate=5)  # a class behind one address comes at once
        self.calls = Limit(burst=site.burst, rate=site.burst / 50)

    def application(self) -> Starlette:
        page = page_folder()
        description = Path(str(files("gardenpath.experiment") / "openapi.json"))
        session = "/api/sessions/{session}"
        return Starlette(
            routes=[
                Route("/", self._page(page / "index.html")),
                Route("/static/{name}", _static(page)),
                Route("/health", self._answered(self.health)),
                Route("/api/openapi.json", lambda request: FileResponse(description)),
                Route("/api/sessions", self._answered(self.open_session), methods=["POST"]),
                Route(f"{session}/events", self._answered(self.put_events), methods=["PUT"]),
                Route(f"{session}/heartbeat", self._answered(self.heartbeat), methods=["POST"]),
                Route(f"{session}/screener", self._answered(self.screen), methods=["POST"]),
                Route(f"{session}/complete", self._answered(self.complete), methods=["POST"]),
                Route(f"{session}/withdraw", self._answered(self.withdraw), methods=["POST"]),
                *self._dashboard(),
            ],
            lifespan=self._living,
            middleware=[Middleware(_Under, path=self.site.path), Middleware(SecurityHeaders)],
            exception_handlers={HTTPException: _refused, Exception: _failed},
        )

    @contextlib.asynccontextmanager
    async def _living(self, app: Starlette) -> AsyncIterator[None]:
        """Remove what was deleted before the server was killed, and at the end what could not be while it ran."""
        await run_in_threadpool(self.store.scrubber.ask)
        yield
        await run_in_threadpool(self.store.scrubber.stop)

    def _page(self, index: Path) -> Callable[[Request], Response]:
        seconds, language = self.site.kiosk, self.plan.language
        if seconds is None:
            return lambda request: FileResponse(index)
        said = {
            "study": {
                "title": self.plan.title or self.plan.name,
                "language": language,
                "direction": direction(language),
            },
            "seconds": seconds,
            "texts": kiosk_texts(self.online),
        }
        data = json.dumps(said, ensure_ascii=False).replace("<", "\\u003c")
        block = f'<script type="application/json" id="kiosk">{data}</script>'
        html = index.read_text("utf-8").replace("</head>", f"{block}\n  </head>")

        def page(request: Request) -> Response:
            answer = HTMLResponse(html)
            if "preview" not in request.query_params:  # participants find no open dashboard here
                answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
            return answer

        return page

    def _dashboard(self) -> list[Route]:
        if self.site.password is None:
            return []
        url, key = self.store.database.url, preview_key(self.key)
        return Dashboard(self.store, self.plan, url, self.site.password, key, self._safe).routes()

    # ------------------------------------------------------------------------------------------------- the calls

    async def health(self, request: Request) -> Response:
        try:
            closed = await run_in_threadpool(lambda: self.store.closed)
        except sa.exc.SQLAlchemyError:
            return _error(503, "the database does not answer", wait=1)
        return JSONResponse({"status": "ok", "closed": closed})

    async def open_session(self, request: Request) -> Response:
        body = await _body(request)
        preview = _preview(body.get("preview"), self.key)
        source = body.get("source") or "server"
        real = "server" if self.site.kiosk is None or preview else "lab"
        if source not in (real, "robot"):
            raise ValueError(f"source: expected '{real}' or 'robot'")
        if source == "robot" and not _is_key(body.get("key"), self.key):
            raise PermissionError("source: 'robot' needs the experimenter's key, which stands in the preview links")
        who = person_in_lab(body) if source == "lab" else person(body)
        asked = self.online.signed_links and source == "server" and preview is None
        if asked and not is_signed(body, who, self.key):
            raise Refused("unsigned", "the link is none of this study's; expected one that  gardenpath links  has made")
        arrival = Arrival(
            None if who is None else hash_participant(who.id, self.key),
            who,
            source,
            _random_text(body, "tab"),
            _random_text(body, "resume"),
            preview,
            barred=who is not None and any(one.holds(who.id) for one in self.barred),
        )
        if source == real and preview is None and not self._safe(request):
            raise Refused("insecure", "real participants are served over HTTPS only; see docs/online.md")
        opened = await run_in_threadpool(self.store.open, arrival)
        answer = payload(
            opened.session, opened.file, opened.stand, token=opened.token, visit=opened.visit, next_seq=opened.next_seq
        )
        return JSONResponse({**answer, "online": self._online(opened)}, status_code=200 if opened.visit else 201)

    async def put_events(self, request: Request) -> Response:
        session, token = _ticket(request)
        events, apart = received((await _body(request)).get("events"))
        stored, unknown = await run_in_threadpool(self.store.append, session, token, events, apart)
        return JSONResponse({"stored": stored, "apart": _named({one.seq: one.reason for one in unknown})})

    async def heartbeat(self, request: Request) -> Response:
        session, token = _ticket(request)
        body = await _body(request)
        leaving = body.get("leaving", False)
        if not isinstance(leaving, bool):
            raise ValueError("leaving: expected true or false")
        await run_in_threadpool(self.store.heartbeat, session, token, leaving=leaving)
        return JSONResponse({"seconds": self.online.heartbeat_seconds})

    async def screen(self, request: Request) -> Response:
        session, token = _ticket(request)
        answers = (await _body(request)).get("answers")
        if not isinstance(answers, dict) or not all(isinstance(answer, str) for answer in answers.values()):
            raise ValueError("answers: expected an object with the answer to each question of the screener")
        code = self.online.screened_out_code
        ticket = await run_in_threadpool(self.store.screen, session, token, answers, code)
        if ticket is None:
            return JSONResponse({"outcome": "accepted"})
        return JSONResponse({"outcome": "screened_out", **self._ending("screened_out", ticket).json()})

    async def complete(self, request: Request) -> Response:
        session, token = _ticket(request)
        events = (await _body(request)).get("events")
        if not isinstance(events, int) or isinstance(events, bool) or not 0 < events <= MOST_EVENTS:
            raise ValueError("events: expected the number of events sent, a whole number above 0")
        code = self.online.completion_code
        missing, apart, ticket = await run_in_threadpool(self.store.complete, session, token, events, code)
        if missing:
            return JSONResponse({"error": "events are missing", "missing": missing[:10_000]}, status_code=409)
        if ticket.source == "preview":
            return JSONResponse({"code": PREVIEW_CODE, "url": None, "apart": _named(apart)})
        url = way_back(self.online, ticket.platform, ticket.id, code)
        return JSONResponse({"code": code, "url": url, "apart": _named(apart)})

    async def withdraw(self, request: Request) -> Response:
        session, token = _ticket(request)
        reason = (await _body(request)).get("reason", "withdrawn")
        if reason not in REASONS:
            raise ValueError(f"reason: expected one of {', '.join(REASONS)}")
        code = ending(self.online, reason).code
        left = await run_in_threadpool(self.store.withdraw, session, token, reason, code)
        last = self._withdrawn(left.how, left.ticket).json()
        return JSONResponse({**last, "deleted": left.deleted, "scrubbed": left.scrubbed})

    # ------------------------------------------------------------------------------------------------- what they say

    def _withdrawn(self, how: str, ticket: Ticket) -> Ending:
        if how != "finished":
            return self._ending(how, ticket)
        # Who withdraws at the very end has earned the code.
        text = self._ending("withdrawn", ticket).text[:1]
        code = self.online.completion_code
        return Ending(text, code, way_back(self.online, ticket.platform, ticket.id, code))

    def _ending(self, kind: str, ticket: Ticket | None) -> Ending:
        platform, id = (ticket.platform, ticket.id) if ticket else ("link", "")
        platform = platform if self.site.kiosk is None else LAB
        return ending(self.online, kind, platform, id)

    def _online(self, opened: Opened) -> Json:
        online, ticket = self.online, opened.ticket
        known = ticket.id or opened.session.source == "preview"
        kinds = ("refused", "unsuitable", "screened_out", "withdrawn", "unsent")
        return {
            "platform": ticket.platform,
            "test": opened.session.source == "preview",
            "heartbeat_seconds": online.heartbeat_seconds,
            "resume": None if known else opened.resume,
            "resume_hours": online.resume_hours,
            "reward": asdict(online.reward) if online.reward else None,
            "endings": {kind: self._ending(kind, ticket).json() for kind in kinds},
        }

    def _safe(self, request: Request) -> bool:
        """Whether what is sent stays between the participant and this machine."""
        if request.url.scheme == "https":
            return True
        # A proxy that is not trusted hides where a request comes from.
        through = {"x-forwarded-for", "x-forwarded-proto", "forwarded"} & set(request.headers)
        return request.url.hostname in LOCAL and not (through and not self.site.behind_proxy)

    def _answered(self, handle: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Turn what a handler raises into the answer the API documents."""

        async def answered(request: Request) -> Response:
            if (wait := self._wait(request)) > 0:
                return _error(429, "too many requests; wait before the next one", wait=wait)
            try:
                return await handle(request)
            except TooLarge:
                return _error(413, f"the body is over {LARGEST_BODY} bytes; send fewer events at once")
            except PermissionError as error:
                return _error(401, str(error))
            except KeyError as error:
                return _error(404, str(error.args[0]))
            except Refused as error:
                return self._refusal(error)
            except Conflict as error:
                return _error(409, str(error))
            except RecursionError:
                return _error(400, "the body is nested too deeply")
            except ValueError as error:
                return _error(400, str(error).partition("\n")[0])
            except ClientDisconnect:
                return _error(408, "the request did not come whole; send it again")  # which hardly anybody hears
            except (sa.exc.OperationalError, sa.exc.TimeoutError) as error:
                log.error("the database fails: %s", str(getattr(error, "orig", error)).partition("\n")[0])
                if is_full(error):
                    return _error(503, "the disk of the server is full; send it again when there is room", wait=10)
                return _error(503, "the database is busy; send it again", wait=1)

        return answered

    def _wait(self, request: Request) -> float:
        if (session := request.path_params.get("session")) is not None:
            return self.calls.wait(session)
        caller = request.client.host if request.client else ""
        # Without a trusted proxy this machine may stand for everybody behind one.
        return 0.0 if caller in LOCAL and not self.site.behind_proxy else self.arrivals.wait(caller)

    def _refusal(self, error: Refused) -> JSONResponse:
        said = self._ending(error.reason, error.session)
        more = {} if error.wait is None else {"retry_after": round(error.wait, 1)}
        answer = {"error": str(error), "reason": error.reason, **said.json(), **more}
        return JSONResponse(answer, status_code=403 if error.reason in ("insecure", "preview", "unsigned") else 409)


def preview_key(key: bytes) -> str:
    """Return what a preview link must hold, and a robot send: nobody else sees materials ahead or fills places with robots."""
    return hmac.new(key, b"preview", "sha256").hexdigest()[:32]


def _static(page: Path) -> Callable[[Request], Response]:
    by_name = {path.name: path for path in page.iterdir() if path.is_file()}

    def static(request: Request) -> Response:
        path = by_name.get(request.path_params["name"])
        return FileResponse(path) if path else _error(404, "there is no such file")

    return static


def _named(apart: Mapping[int, str]) -> list[Json]:
    """Return events that are set apart as the API names them; thousands need no more than their first ones."""
    return [{"seq": seq, "reason": apart[seq]} for seq in sorted(apart)[:MOST_NAMED]]


def _error(status: int, message: str, *, wait: float | None = None) -> JSONResponse:
    headers = None if wait is None else {"retry-after": str(max(1, round(wait)))}
    return JSONResponse({"error": message}, status_code=status, headers=headers)


def _refused(request: Request, error: Exception) -> Response:
    """Answer what no route takes in the form the API documents."""
    assert isinstance(error, HTTPException)
    answer = _error(error.status_code, f"{request.method}: {error.detail}; see docs/api.md for what there is")
    answer.headers.update(error.headers or {})
    return answer


def _failed(request: Request, error: Exception) -> Response:
    return _error(500, "the server has failed; the fault is in its log, and what was stored is safe")


async def _body(request: Request) -> dict[str, Any]:
    """Return the request's JSON object."""
    try:
        body = json.loads(await limited(request), parse_constant=_no_number)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ValueError("the body is not valid JSON in UTF-8") from None
    if not isinstance(body, dict):
        raise ValueError("the body is not a JSON object")
    return body


def _no_number(name: str) -> float:
    raise ValueError(f"the body holds {name}, which is not JSON")


def _random_text(body: Json, name: str) -> str | None:
    value = body.get(name)
    if value is None or (isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9_-]{8,64}", value)):
        return value
    raise ValueError(f"{name}: expected 8 to 64 of A-Z, a-z, 0-9, _ and -, or null")


def _preview(asked: object, key: bytes) -> tuple[str, int] | None:
    if asked is None:
        return None
    if not isinstance(asked, dict) or not {"version", "key"} <= asked.keys():
        raise ValueError("preview: expected an object with version, trial and key")
    version, trial, sent_key = asked["version"], asked.get("trial", 0), asked["key"]
    if not isinstance(version, str) or not re.fullmatch(r"[\w.-]{1,100}", version):
        raise ValueError("preview: expected version as in E1-V1")
    if not isinstance(trial, int) or isinstance(trial, bool) or not 0 <= trial < 100_000:
        raise ValueError("preview: expected trial as a whole number from 0")
    if not _is_key(sent_key, key):
        raise Refused("preview", "the key of the preview link is not this study's")
    return version, trial


def _is_key(sent: object, key: bytes) -> bool:
    return isinstance(sent, str) and hmac.compare_digest(sent.encode("utf-8", "replace"), preview_key(key).encode())


def _ticket(request: Request) -> tuple[str, str]:
    """Return the session of the address and the token that came with it."""
    session: str = request.path_params["session"]
    if not re.fullmatch(r"s-[0-9a-f]{16}", session):
        raise KeyError(f"session {session[:40]!r} is not known")
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise PermissionError("no token; expected the header Authorization: Bearer TOKEN")
    return session, token


def listen(host: str, port: int) -> socket.socket:
    """Return a socket bound to host and port; raises `ValueError` where the port is in use."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # With SO_REUSEADDR a bind can succeed beside a listening socket; listening cannot.
        listener.listen(128)
    except OSError as error:
        listener.close()
        remedy = "give another with --port, or stop what runs there"
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            remedy = "expected an address of this machine for --host, such as 127.0.0.1 or 0.0.0.0"
        raise ValueError(f"port {port} on {host}: {error.strerror}; {remedy}") from None
    return listener


def key_of(url: str, path: str | Path) -> bytes:
    """Return the key that hashes ids, made on first use; `FileNotFoundError` where it is missing and people are known by it."""
    if not Path(path).exists() and Store(url).knows_people():
        return known_key(path, "the study's database")
    return participant_key(path)


def open_store(
    plan: study.Study,
    versions: Sequence[VersionFile],
    url: str,
    *,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Store:
    """Return the study's database at `url` with its versions published."""
    online = plan.served
    rules = Rules(
        quota=online.quota,
        sessions=online.sessions,
        lease=timedelta(minutes=online.lease_minutes),
        resume=timedelta(hours=online.resume_hours),
        tab=timedelta(seconds=3 * online.heartbeat_seconds),
        keep_withdrawn=online.withdrawal == "keep",
        screener=tuple(plan.procedure.screener),
    )
    store = Store(url, rules=rules, clock=clock)
    # What people are told and how they are treated; how many places there are may change at any time.
    own = texts_of(plan).own.get("endings", {})
    settings = {name: value for name, value in asdict(online).items() if name in ("reward", "sessions", "withdrawal")}
    settings["texts"] = {**own, **online.texts}
    store.publish(versions, settings)
    return store


def run(app: Starlette, listener: socket.socket, *, proxy: str | None = None) -> None:
    """Serve until interrupted; `proxy` is the address of the proxy whose headers say who calls, and how."""
    server(app, proxy=proxy).run(sockets=[listener])


def server(app: Starlette, *, proxy: str | None = None, patience: float = PATIENCE) -> Any:
    """Return uvicorn's server of the application, without an access log, which would hold addresses and ids.

    A connection that takes longer than `patience`, in seconds, to send a request is dropped.
    """
    uvicorn = study.errors.require("uvicorn", "online")
    gc.freeze()  # what was loaded stays: no request waits for a look through all of it
    trusted: dict[str, Any] = {"proxy_headers": proxy is not None, "forwarded_allow_ips": proxy or ""}
    options: dict[str, Any] = {"access_log": False, "log_level": "warning", "server_header": False}
    return uvicorn.Server(uvicorn.Config(app, http=impatient(patience), **options, **trusted))
