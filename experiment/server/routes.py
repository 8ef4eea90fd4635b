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
from datetime import datetime, timedelta
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

from ..collection.previous_participants import read_previous_participants
from ..players.web.built_page import find_page_folder
from ..scripts.list_files import ListFile
from ..sessions.pseudonyms import hash_participant
from ..sessions.pseudonyms import load_existing_key as load_existing_key
from ..sessions.pseudonyms import load_participant_key as load_participant_key
from ..sessions.pseudonyms import load_secret as load_secret
from ..sessions.recruitment import (
    LAB_PLATFORM,
    EndingPage,
    build_ending_page,
    build_return_url,
    complete_online_section,
    identify_lab_participant,
    identify_participant,
    is_signed,
    select_kiosk_texts,
)
from ..sessions.sessions import Json, build_payload
from ..texts.standard_texts import get_direction, load_texts
from .arrivals import Arrival, OpenedSession
from .dashboard import Dashboard, build_cookie_name
from .database import OUTDATED, OutdatedProcess, is_disk_full
from .payments import ReturnTicket
from .rate_limits import MAX_BODY_BYTES, MAX_EVENTS, BodyTooLarge, RateLimit, read_limited_body
from .received_events import parse_received_events
from .rules import Conflict, Refusal, SessionRules
from .slow_connections import REQUEST_TIMEOUT_S, create_timeout_protocol
from .store import Store

MIN_FREE_DISK_MB = 20  # a session has about a tenth of one
MAX_DIGITS = 4_000  # of a whole number; Python reads 4,300, and what no session can have is set apart
STUDY_META = "gardenpath-study"  # the name of the page's meta element that has the study's id
log = logging.getLogger("gardenpath")

SECURITY_HEADERS = {
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
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
WITHDRAWAL_REASONS = ("withdrawn", "refused", "unsuitable")
PREVIEW_CODE = "PREVIEW"
MAX_LISTED_REJECTIONS = 1000  # events set apart in one answer


class SecurityHeaders:
    """Adds the security headers to every answer, where it has none of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                added = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
                message["headers"] = [*message["headers"], *(h for h in added if h[0] not in present)]
            await send(message)

        await self.app(scope, receive, send_with_headers)


class _PathPrefix:
    """Serves below a path, whether or not the proxy before it takes the path away."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app, self.path = app, path.rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self.path and f"{scope['path']}/".startswith(f"{self.path}/"):
            scope = {**scope, "path": scope["path"].removeprefix(self.path) or "/"}
        await self.app(scope, receive, send)


@dataclass(frozen=True)
class SiteSettings:
    """Where and how a study is reached: its outer path, whether a proxy tells who calls, and the dashboard's password.

    Without a password there is no dashboard. With `kiosk_seconds` everybody comes to the lab and begins with a code; it is how many
    seconds the last page of a session stands. `burst` is how many calls of one session are taken at once; in the long run it is
    a fiftieth of that a second.
    """

    path: str = ""
    is_behind_proxy: bool = False
    password: str | None = None
    burst: int = 1000
    kiosk_seconds: int | None = None


def create_application(store: Store, config: study.Study, *, key: bytes, site: SiteSettings | None = None) -> Starlette:
    """Return the ASGI application of a study whose lists are published in `store`.

    `key` turns a platform's participant id into the keyed hash that is stored in its place.
    """
    return _StudyHandlers(store, config, key, site or SiteSettings()).create_application()


def check_online_study(config: study.Study) -> None:
    """Raise `DataError` where the server would show people what it does not do, or texts that no page asks for."""
    complete_online_section(config)
    if config.required_online.withdrawal == "keep" and config.procedure.consent is None:
        raise study.DataError(
            f"{config.path}: online.withdrawal is 'keep', and the standard consent text promises deletion; expected a "
            "text of your own in procedure.consent that says what is kept"
        )


class _StudyHandlers:
    """The handlers of one study's calls."""

    def __init__(self, store: Store, config: study.Study, key: bytes, site: SiteSettings) -> None:
        check_online_study(config)
        self.store, self.config, self.online, self.key, self.site = (store, config, complete_online_section(config), key, site)
        self.previous_participants = read_previous_participants(self.online.excluded_participants, config.folder)
        self.arrival_limit = RateLimit(burst=300, rate=5)  # a class behind one address comes at once
        self.call_limit = RateLimit(burst=site.burst, rate=site.burst / 50)

    def create_application(self) -> Starlette:
        page = find_page_folder()
        description = Path(str(files("gardenpath.experiment.server") / "openapi.json"))
        session = "/api/sessions/{session}"
        return Starlette(
            routes=[
                Route("/", self._create_page_handler(page / "index.html")),
                Route("/static/{name}", _create_static_handler(page)),
                Route("/health", self._create_handler(self.check_health)),
                Route("/api/openapi.json", lambda request: FileResponse(description)),
                Route("/api/sessions", self._create_handler(self.open_session), methods=["POST"]),
                Route(f"{session}/events", self._create_handler(self.store_events), methods=["PUT"]),
                Route(f"{session}/heartbeat", self._create_handler(self.receive_heartbeat), methods=["POST"]),
                Route(f"{session}/screener", self._create_handler(self.judge_screener), methods=["POST"]),
                Route(f"{session}/complete", self._create_handler(self.complete_session), methods=["POST"]),
                Route(f"{session}/withdraw", self._create_handler(self.withdraw_session), methods=["POST"]),
                *self._build_dashboard_routes(),
            ],
            lifespan=self._run_lifespan,
            middleware=[Middleware(_PathPrefix, path=self.site.path), Middleware(SecurityHeaders)],
            exception_handlers={HTTPException: _handle_http_error, Exception: _handle_failure},
        )

    @contextlib.asynccontextmanager
    async def _run_lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Remove what was deleted before the server was killed, and at the end what could not be while it ran."""
        await run_in_threadpool(self.store.scrubber.scrub_deleted_rows)
        yield
        await run_in_threadpool(self.store.scrubber.stop)

    def _create_page_handler(self, index: Path) -> Callable[[Request], Response]:
        seconds, language = self.site.kiosk_seconds, self.config.language
        study_id = self.store.find_study_id(self.config)
        # What a browser keeps is kept by study: several may have one origin, at once or after one another.
        html = index.read_text("utf-8").replace("</head>", f'<meta name="{STUDY_META}" content="{study_id}">\n  </head>')
        if seconds is None:
            return lambda request: HTMLResponse(html)
        kiosk_data = {
            "study": {"title": self.config.title or self.config.name, "language": language, "direction": get_direction(language)},
            "seconds": seconds,
            "texts": select_kiosk_texts(self.online),
        }
        data = json.dumps(kiosk_data, ensure_ascii=False).replace("<", "\\u003c")
        block = f'<script type="application/json" id="kiosk">{data}</script>'
        kiosk_html = html.replace("</head>", f"{block}\n  </head>")

        def send_page(request: Request) -> Response:
            response = HTMLResponse(kiosk_html)
            if "preview" not in request.query_params:  # participants find no open dashboard here
                response.delete_cookie(build_cookie_name(study_id), httponly=True, samesite="strict")
            return response

        return send_page

    def _build_dashboard_routes(self) -> list[Route]:
        if self.site.password is None:
            return []
        url, key = self.store.database.url, compute_preview_key(self.key)
        return Dashboard(self.store, self.config, url, self.site.password, key, self._is_safe).build_routes()

    # ------------------------------------------------------------------------------------------------- the calls

    async def check_health(self, request: Request) -> Response:
        try:
            health = await run_in_threadpool(self.store.check_health)
        except OutdatedProcess:
            return _build_error(503, OUTDATED, wait=5)
        except sa.exc.SQLAlchemyError as error:
            return _build_error(503, "the disk is full" if is_disk_full(error) else "the database does not answer", wait=1)
        if health.free_disk_mb is not None and health.free_disk_mb < MIN_FREE_DISK_MB:
            return _build_error(
                503, f"the disk is nearly full: {health.free_disk_mb} MB are left, expected {MIN_FREE_DISK_MB}", wait=10
            )
        return JSONResponse({"status": "ok", **asdict(health)})

    async def open_session(self, request: Request) -> Response:
        # A page of another site can send a form without asking first, and JSON that says so it cannot.
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            return _build_error(415, f"Content-Type is {media_type or 'missing'}; expected application/json")
        if request.headers.get("sec-fetch-site") == "cross-site":
            return _build_error(403, "a page of another site cannot open a session; expected the study's own page")
        body = await _read_body(request)
        preview = _read_preview(body.get("preview"), self.key)
        source = body.get("source") or "server"
        participant_source = "server" if self.site.kiosk_seconds is None or preview else "lab"
        if source not in (participant_source, "robot"):
            raise ValueError(f"source: expected '{participant_source}' or 'robot'")
        if source == "robot" and not _is_preview_key(body.get("key"), self.key):
            raise PermissionError("source: 'robot' needs the experimenter's key, which stands in the preview links")
        platform_participant = identify_lab_participant(body) if source == "lab" else identify_participant(body)
        needs_signature = self.online.signed_links and source == "server" and preview is None
        if needs_signature and not is_signed(body, platform_participant, self.key):
            raise Refusal("unsigned", "the link is none of this study's; expected one that  gardenpath links  has made")
        arrival = Arrival(
            None if platform_participant is None else hash_participant(platform_participant.id, self.key),
            platform_participant,
            source,
            _read_random_text(body, "tab"),
            _read_random_text(body, "resume"),
            preview,
            is_excluded=platform_participant is not None
            and any(one.has_participant(platform_participant.id) for one in self.previous_participants),
        )
        if source == participant_source and preview is None and not self._is_safe(request):
            raise Refusal("insecure", "real participants are served over HTTPS only; see docs/online.md")
        opened = await run_in_threadpool(self.store.open_session, arrival)
        response = build_payload(
            opened.session, opened.file, opened.walk, token=opened.token, visit=opened.visit, next_seq=opened.next_seq
        )
        return JSONResponse({**response, "online": self._build_online_data(opened)}, status_code=200 if opened.visit else 201)

    async def store_events(self, request: Request) -> Response:
        session, token = _read_credentials(request)
        events, rejected_events = parse_received_events((await _read_body(request)).get("events"))
        stored, all_rejected = await run_in_threadpool(self.store.append_events, session, token, events, rejected_events)
        return JSONResponse({"stored": stored, "rejected": _list_rejections({one.seq: one.reason for one in all_rejected})})

    async def receive_heartbeat(self, request: Request) -> Response:
        session, token = _read_credentials(request)
        body = await _read_body(request)
        leaving = body.get("leaving", False)
        if not isinstance(leaving, bool):
            raise ValueError("leaving: expected true or false")
        await run_in_threadpool(self.store.renew_lease, session, token, is_leaving=leaving)
        return JSONResponse({"seconds": self.online.heartbeat_seconds})

    async def judge_screener(self, request: Request) -> Response:
        session, token = _read_credentials(request)
        answers = (await _read_body(request)).get("answers")
        if not isinstance(answers, dict) or not all(isinstance(answer, str) for answer in answers.values()):
            raise ValueError("answers: expected an object with the answer to each question of the screener")
        code = self.online.screened_out_code
        ticket = await run_in_threadpool(self.store.judge_screener, session, token, answers, code)
        if ticket is None:
            return JSONResponse({"outcome": "accepted"})
        return JSONResponse({"outcome": "screened_out", **self._build_ending_page("screened_out", ticket).to_json()})

    async def complete_session(self, request: Request) -> Response:
        session, token = _read_credentials(request)
        events = (await _read_body(request)).get("events")
        if not isinstance(events, int) or isinstance(events, bool) or not 0 < events <= MAX_EVENTS:
            raise ValueError("events: expected the number of events sent, a whole number above 0")
        code = self.online.completion_code
        missing, rejection_reasons, ticket = await run_in_threadpool(self.store.complete_session, session, token, events, code)
        if missing:
            return JSONResponse({"error": "events are missing", "missing": missing[:10_000]}, status_code=409)
        if ticket.source == "preview":
            return JSONResponse({"code": PREVIEW_CODE, "url": None, "rejected": _list_rejections(rejection_reasons)})
        url = build_return_url(self.online, ticket.platform, ticket.id, code)
        return JSONResponse({"code": code, "url": url, "rejected": _list_rejections(rejection_reasons)})

    async def withdraw_session(self, request: Request) -> Response:
        session, token = _read_credentials(request)
        reason = (await _read_body(request)).get("reason", "withdrawn")
        if reason not in WITHDRAWAL_REASONS:
            raise ValueError(f"reason: expected one of {', '.join(WITHDRAWAL_REASONS)}")
        code = build_ending_page(self.online, reason).code
        result = await run_in_threadpool(self.store.withdraw_session, session, token, reason, code)
        ending_page = self._build_withdrawal_page(result.ending, result.ticket).to_json()
        return JSONResponse({**ending_page, "deleted": result.is_deleted, "scrubbed": result.is_scrubbed})

    # ------------------------------------------------------------------------------------------------- what they say

    def _build_withdrawal_page(self, ending_kind: str, ticket: ReturnTicket) -> EndingPage:
        if ending_kind != "finished":
            return self._build_ending_page(ending_kind, ticket)
        # Who withdraws at the very end has earned the code.
        text = self._build_ending_page("withdrawn", ticket).text[:1]
        code = self.online.completion_code
        return EndingPage(text, code, build_return_url(self.online, ticket.platform, ticket.id, code))

    def _build_ending_page(self, kind: str, ticket: ReturnTicket | None) -> EndingPage:
        platform, id = (ticket.platform, ticket.id) if ticket else ("link", "")
        platform = platform if self.site.kiosk_seconds is None else LAB_PLATFORM
        return build_ending_page(self.online, kind, platform, id)

    def _build_online_data(self, opened: OpenedSession) -> Json:
        online, ticket = self.online, opened.ticket
        known = ticket.id or opened.session.source == "preview"
        kinds = ("refused", "unsuitable", "screened_out", "withdrawn", "unsent")
        return {
            "platform": ticket.platform,
            "test": opened.session.source == "preview",
            "heartbeat_seconds": online.heartbeat_seconds,
            "resume": None if known else opened.resume_token,
            "resume_hours": online.resume_hours,
            "reward": asdict(online.reward) if online.reward else None,
            "endings": {kind: self._build_ending_page(kind, ticket).to_json() for kind in kinds},
        }

    def _is_safe(self, request: Request) -> bool:
        """Whether what is sent stays between the participant and this machine."""
        if request.url.scheme == "https":
            return True
        # A proxy that is not trusted hides where a request comes from.
        proxy_headers = {"x-forwarded-for", "x-forwarded-proto", "forwarded"} & set(request.headers)
        return request.url.hostname in LOCAL_HOSTS and not (proxy_headers and not self.site.is_behind_proxy)

    def _create_handler(self, handle: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Turn what a handler raises into the answer the API documents."""

        async def handle_errors(request: Request) -> Response:
            if (wait := self._count_call(request)) > 0:
                return _build_error(429, "too many requests; wait before the next one", wait=wait)
            try:
                return await handle(request)
            except BodyTooLarge:
                return _build_error(413, f"the body is over {MAX_BODY_BYTES} bytes; send fewer events at once")
            except PermissionError as error:
                return _build_error(401, str(error))
            except KeyError as error:
                return _build_error(404, str(error.args[0]))
            except Refusal as error:
                return self._build_refusal(error)
            except Conflict as error:
                return _build_error(409, str(error))
            except RecursionError:
                return _build_error(400, "the body is nested too deeply")
            except ValueError as error:
                return _build_error(400, str(error).partition("\n")[0])
            except ClientDisconnect:
                return _build_error(408, "the request did not come whole; send it again")  # which hardly anybody hears
            except OutdatedProcess:
                log.error(OUTDATED)
                return _build_error(503, "the server is being upgraded; send it again", wait=5)
            except (sa.exc.OperationalError, sa.exc.TimeoutError) as error:
                log.error("the database fails: %s", str(getattr(error, "orig", error)).partition("\n")[0])
                if is_disk_full(error):
                    return _build_error(503, "the disk of the server is full; send it again when there is room", wait=10)
                return _build_error(503, "the database is busy; send it again", wait=1)

        return handle_errors

    def _count_call(self, request: Request) -> float:
        if (session := request.path_params.get("session")) is not None:
            return self.call_limit.count_call(session)
        caller = request.client.host if request.client else ""
        # Without a trusted proxy this machine may stand for everybody behind one.
        return 0.0 if caller in LOCAL_HOSTS and not self.site.is_behind_proxy else self.arrival_limit.count_call(caller)

    def _build_refusal(self, error: Refusal) -> JSONResponse:
        ending_page = self._build_ending_page(error.reason, error.ticket)
        retry_fields = {} if error.wait_seconds is None else {"retry_after": round(error.wait_seconds, 1)}
        body = {"error": str(error), "reason": error.reason, **ending_page.to_json(), **retry_fields}
        return JSONResponse(body, status_code=403 if error.reason in ("insecure", "preview", "unsigned") else 409)


def compute_preview_key(key: bytes) -> str:
    """Return what a preview link must hold, and a robot send: nobody else sees materials ahead or fills places with robots."""
    return hmac.new(key, b"preview", "sha256").hexdigest()[:32]


def _create_static_handler(page: Path) -> Callable[[Request], Response]:
    by_name = {path.name: path for path in page.iterdir() if path.is_file()}

    def send_file(request: Request) -> Response:
        path = by_name.get(request.path_params["name"])
        return FileResponse(path) if path else _build_error(404, "there is no such file")

    return send_file


def _list_rejections(rejection_reasons: Mapping[int, str]) -> list[Json]:
    """Return events that are set apart as the API names them; thousands need no more than their first ones."""
    return [{"seq": seq, "reason": rejection_reasons[seq]} for seq in sorted(rejection_reasons)[:MAX_LISTED_REJECTIONS]]


def _build_error(status: int, message: str, *, wait: float | None = None) -> JSONResponse:
    headers = None if wait is None else {"retry-after": str(max(1, round(wait)))}
    return JSONResponse({"error": message}, status_code=status, headers=headers)


def _handle_http_error(request: Request, error: Exception) -> Response:
    """Answer what no route takes in the form the API documents."""
    assert isinstance(error, HTTPException)
    response = _build_error(error.status_code, f"{request.method}: {error.detail}; see docs/api.md for what there is")
    response.headers.update(error.headers or {})
    return response


def _handle_failure(request: Request, error: Exception) -> Response:
    return _build_error(500, "the server has failed; the fault is in its log, and what was stored is safe")


async def _read_body(request: Request) -> dict[str, Any]:
    """Return the request's JSON object."""
    try:
        body = json.loads(await read_limited_body(request), parse_constant=_refuse_constant, parse_int=_parse_int)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ValueError("the body is not valid JSON in UTF-8") from None
    if not isinstance(body, dict):
        raise ValueError("the body is not a JSON object")
    return body


def _refuse_constant(name: str) -> float:
    raise ValueError(f"the body holds {name}, which is not JSON")


def _parse_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"the body holds a number of {len(digits)} digits; expected at most {MAX_DIGITS}")
    return int(digits)


def _read_random_text(body: Json, name: str) -> str | None:
    value = body.get(name)
    if value is None or (isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9_-]{8,64}", value)):
        return value
    raise ValueError(f"{name}: expected 8 to 64 of A-Z, a-z, 0-9, _ and -, or null")


def _read_preview(request: object, key: bytes) -> tuple[str, int] | None:
    if request is None:
        return None
    if not isinstance(request, dict) or not {"list_name", "key"} <= request.keys():
        raise ValueError("preview: expected an object with list_name, trial and key")
    list_name, trial, sent_key = request["list_name"], request.get("trial", 0), request["key"]
    if not isinstance(list_name, str) or not re.fullmatch(r"[\w.-]{1,100}", list_name):
        raise ValueError("preview: expected list_name as in E1-L1")
    if not isinstance(trial, int) or isinstance(trial, bool) or not 0 <= trial < 100_000:
        raise ValueError("preview: expected trial as a whole number from 0")
    if not _is_preview_key(sent_key, key):
        raise Refusal("preview", "the key of the preview link is not this study's")
    return list_name, trial


def _is_preview_key(sent: object, key: bytes) -> bool:
    return isinstance(sent, str) and hmac.compare_digest(sent.encode("utf-8", "replace"), compute_preview_key(key).encode())


def _read_credentials(request: Request) -> tuple[str, str]:
    """Return the session of the address and the token that came with it."""
    session: str = request.path_params["session"]
    if not re.fullmatch(r"s-[0-9a-f]{16}", session):
        raise KeyError(f"session {session[:40]!r} is not known")
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise PermissionError("no token; expected the header Authorization: Bearer TOKEN")
    return session, token


def bind_socket(host: str, port: int) -> socket.socket:
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


def find_participant_key(url: str, path: str | Path) -> bytes:
    """Return the key that hashes ids, made on first use; `FileNotFoundError` where it is missing and people are known by it."""
    if not Path(path).exists() and Store(url).has_known_participants():
        return load_existing_key(path, "the study's database")
    return load_participant_key(path)


def open_store(
    config: study.Study, list_files: Sequence[ListFile], url: str, *, clock: Callable[[], datetime] | None = None
) -> Store:
    """Return the study's database at `url` with its lists published."""
    online = config.required_online
    rules = SessionRules(
        quota=online.quota,
        max_sessions=online.max_sessions,
        lease_duration=timedelta(minutes=online.lease_minutes),
        resume_duration=timedelta(hours=online.resume_hours),
        tab_duration=timedelta(seconds=3 * online.heartbeat_seconds),
        keeps_withdrawn_data=online.withdrawal == "keep",
        screener=tuple(config.procedure.screener),
    )
    store = Store(url, rules=rules, clock=clock)
    # What people are told and how they are treated; how many places there are may change at any time.
    ending_texts = load_texts(config).own_texts.get("endings", {})
    settings = {name: value for name, value in asdict(online).items() if name in ("reward", "max_sessions", "withdrawal")}
    settings["texts"] = {**ending_texts, **online.texts}
    store.publish_lists(list_files, settings)
    store.renew_leases_after_pause()
    return store


def run_server(app: Starlette, listener: socket.socket, *, proxy: str | None = None) -> None:
    """Serve until interrupted; `proxy` is the address of the proxy whose headers say who calls, and how."""
    create_server(app, proxy=proxy).run(sockets=[listener])


def create_server(app: Starlette, *, proxy: str | None = None, request_timeout: float = REQUEST_TIMEOUT_S) -> Any:
    """Return uvicorn's server of the application, without an access log, which would hold addresses and ids.

    A connection that takes longer than `request_timeout`, in seconds, to send a request is dropped.
    """
    uvicorn = study.errors.require("uvicorn", "online")
    gc.freeze()  # what was loaded stays: no request waits for a look through all of it
    trusted: dict[str, Any] = {"proxy_headers": proxy is not None, "forwarded_allow_ips": proxy or ""}
    options: dict[str, Any] = {"access_log": False, "log_level": "warning", "server_header": False}
    return uvicorn.Server(uvicorn.Config(app, http=create_timeout_protocol(request_timeout), **options, **trusted))
