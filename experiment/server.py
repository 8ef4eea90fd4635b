"""The web server of a study: the page, and the four calls of docs/api.md."""

import errno
import hmac
import json
import secrets
import socket
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gardenpath import study

from .sessions import check_events, payload
from .store import Conflict, Store
from .versions import VersionFile

LARGEST_BODY = 1_000_000
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    # Cross-origin isolation gives the page a clock of 5 us instead of 100 us.
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


class _Headers:
    """Adds the security headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self.app(scope, receive, with_headers)


def application(store: Store, *, completion_code: str, key: bytes) -> Starlette:
    """Return the ASGI application of a study whose versions are published in `store`.

    `key` turns a platform's participant id into the keyed hash that is stored in its place.
    """

    async def open_session(request: Request) -> Response:
        body = await _body(request)
        participant, source = body.get("participant"), body.get("source", "server")
        if not (participant is None or (isinstance(participant, str) and 0 < len(participant) <= 200)):
            raise ValueError("participant: expected a text of 1 to 200 characters, or null")
        if source not in ("server", "robot"):
            raise ValueError("source: expected 'server' or 'robot'")
        hashed = None if participant is None else hash_participant(participant, key)
        opened = await run_in_threadpool(store.open, hashed, source)
        answer = payload(
            opened.session,
            opened.file,
            token=opened.token,
            visit=opened.visit,
            next_seq=opened.next_seq,
            done=opened.done,
        )
        return JSONResponse(answer, status_code=200 if opened.visit else 201)

    async def put_events(request: Request) -> Response:
        token, session = _token(request), request.path_params["session"]
        events = check_events((await _body(request)).get("events"))
        stored = await run_in_threadpool(store.append, session, token, events)
        return JSONResponse({"stored": stored})

    async def complete(request: Request) -> Response:
        token, session = _token(request), request.path_params["session"]
        events = (await _body(request)).get("events")
        if not isinstance(events, int) or isinstance(events, bool) or not 0 < events < 1_000_000:
            raise ValueError("events: expected the number of events sent, a whole number above 0")
        missing = await run_in_threadpool(store.complete, session, token, events)
        if missing:
            return JSONResponse({"missing": missing}, status_code=409)
        return JSONResponse({"code": completion_code})

    page = page_files()
    return Starlette(
        routes=[
            Route("/", lambda request: FileResponse(page / "index.html")),
            Route("/static/{name}", _static(page)),
            Route("/api/sessions", _answered(open_session), methods=["POST"]),
            Route("/api/sessions/{session}/events", _answered(put_events), methods=["PUT"]),
            Route("/api/sessions/{session}/complete", _answered(complete), methods=["POST"]),
        ],
        middleware=[Middleware(_Headers)],
        exception_handlers={HTTPException: _refused},
    )


def hash_participant(participant: str, key: bytes) -> str:
    """Return the keyed hash that stands for a platform's participant id, 16 hexadecimal digits."""
    return hmac.new(key, participant.encode("utf-8"), "sha256").hexdigest()[:16]


def participant_key(path: str | Path) -> bytes:
    """Return the key that hashes participant ids; it is made and kept, readable by its owner, on first use."""
    path = Path(path)
    if not path.exists():
        with study.atomic(path) as temporary:
            temporary.write_text(secrets.token_hex(32))
        path.chmod(0o600)
    return bytes.fromhex(path.read_text())


def page_files() -> Path:
    """Return the folder of the built page; raises `FileNotFoundError` saying how to build it."""
    folder = Path(str(files("gardenpath.experiment.web") / "dist"))
    if not (folder / "index.html").exists():
        raise FileNotFoundError(f"{folder}: the page is not built; run  make web  (it needs Node.js and npm)")
    return folder


def _static(page: Path) -> Callable[[Request], Response]:
    there = {path.name: path for path in page.iterdir() if path.is_file()}

    def static(request: Request) -> Response:
        path = there.get(request.path_params["name"])
        return FileResponse(path) if path else JSONResponse({"error": "there is no such file"}, status_code=404)

    return static


def _answered(handle: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Turn what a handler raises into the answer the API documents."""

    async def answered(request: Request) -> Response:
        try:
            return await handle(request)
        except _TooLarge:
            return _error(413, f"the body is over {LARGEST_BODY} bytes; send fewer events at once")
        except PermissionError as error:
            return _error(401, str(error))
        except KeyError as error:
            return _error(404, str(error.args[0]))
        except Conflict as error:
            return _error(409, str(error))
        except ValueError as error:
            return _error(400, str(error))

    return answered


class _TooLarge(Exception):
    pass


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status_code=status)


def _refused(request: Request, error: Exception) -> Response:
    """Answer what no route takes in the form the API documents."""
    assert isinstance(error, HTTPException)
    return _error(
        error.status_code, f"{request.method} {request.url.path}: {error.detail}; see docs/api.md for what there is"
    )


async def _body(request: Request) -> dict[str, Any]:
    """Return the request's JSON object; no more than the largest body is ever read."""
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST_BODY:
            raise _TooLarge
    try:
        body = json.loads(raw)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ValueError("the body is not valid JSON in UTF-8") from None
    if not isinstance(body, dict):
        raise ValueError("the body is not a JSON object")
    return body


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise PermissionError("no token; expected the header Authorization: Bearer TOKEN")
    return token


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


def open_store(stated: study.Study, versions: Sequence[VersionFile], url: str) -> Store:
    """Return the study's database at `url` with its versions published."""
    store = Store(url, lease=timedelta(minutes=stated.online.lease_minutes))
    store.publish(versions)
    return store


def run(app: Starlette, listener: socket.socket) -> None:
    """Serve until interrupted; no access log, which would hold addresses and ids."""
    uvicorn = study.require("uvicorn", "online")
    uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning")).run(sockets=[listener])
