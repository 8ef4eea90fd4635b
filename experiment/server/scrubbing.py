"""What was deleted leaves the database's files, as soon as nobody reads a state in which it was there."""

import logging
import threading
from collections.abc import Callable

import sqlalchemy as sa

log = logging.getLogger("gardenpath")


class Scrubber:
    """Scrubs at once where it can, and otherwise in the background until it is done.

    `attempt` returns whether it is, and is told whether it is tried again.

    >>> Scrubber(lambda again: True).scrub_deleted_rows()
    True
    """

    def __init__(self, attempt: Callable[[bool], bool], seconds: float = 1.0) -> None:
        self._attempt, self._seconds = attempt, seconds
        self._lock, self._stop_event = threading.Lock(), threading.Event()
        self.thread: threading.Thread | None = None

    def scrub_deleted_rows(self) -> bool:
        """Scrub, and return whether all that was deleted is gone; where it is not, a thread goes on trying."""
        if self._try_scrubbing(is_retry=False):
            return True
        with self._lock:
            if self.thread is None or not self.thread.is_alive():
                self.thread = threading.Thread(target=self._retry_until_done, daemon=True)
                self.thread.start()
        return False

    def stop(self) -> None:
        """Try a last time, and say so where something stays."""
        self._stop_event.set()
        if not self._try_scrubbing(is_retry=True):
            log.warning(
                "what was deleted last is still in the database's files, since somebody reads them; the server removes it "
                "when it starts again"
            )

    def _retry_until_done(self) -> None:
        while not self._stop_event.wait(self._seconds):
            if self._try_scrubbing(is_retry=True):
                return

    def _try_scrubbing(self, *, is_retry: bool) -> bool:
        try:
            return self._attempt(is_retry)
        except sa.exc.OperationalError:  # somebody writes
            return False
