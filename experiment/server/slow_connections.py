"""Connections that take too long over a request are dropped: whoever holds many of them open would keep everybody else out."""

import asyncio
from typing import Any

REQUEST_TIMEOUT_S = 60.0  # seconds for a whole request, from its first byte, or from the connection, to its last


def create_timeout_protocol(timeout: float = REQUEST_TIMEOUT_S) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol of HTTP, which drops a connection that has not sent a whole request in so many seconds."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class Impatient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        _end: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._end = self.loop.call_later(timeout, transport.abort)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            cycle = self.cycle
            if cycle is not None and not cycle.more_body and not cycle.response_complete:
                self._forgive()
            elif self._end is None:
                self._end = self.loop.call_later(timeout, self.transport.abort)

        def connection_lost(self, exc: Exception | None) -> None:
            self._forgive()
            super().connection_lost(exc)

        def _forgive(self) -> None:
            if self._end is not None:
                self._end.cancel()
                self._end = None

    return Impatient
