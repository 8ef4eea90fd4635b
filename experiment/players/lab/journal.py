"""What happens in a lab session, on disk as it happens: one event a line, each written before the next key can end a word."""

import dataclasses
import json
import logging
import os
import threading
from pathlib import Path
from typing import Any

from gardenpath import study
from gardenpath.study.events import EventValue, create_event

from ...sessions.session_folders import drop_cut_line, parse_event_line
from ...sessions.sessions import Event

log = logging.getLogger("gardenpath")


class Journal:
    """The events of a session, appended to `path`; `earlier_events` are those of earlier visits.

    Each line goes to the operating system at once, so that a killed program has lost nothing that was recorded, and to the disk
    by a thread of its own, so that a slow disk holds up no frame.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.earlier_events = _recover_events(path)
        self.visit = max((event.visit + 1 for event in self.earlier_events), default=0)
        self.next_seq = max((event.seq + 1 for event in self.earlier_events), default=0)
        self._file = path.open("ab", buffering=0)
        self._unsynced = threading.Event()
        self._is_closing = False
        self._sync_thread = threading.Thread(target=self._sync, daemon=True)
        self._sync_thread.start()

    def append_event(self, kind: str, t: float, step: int | None, screen: int | None, value: EventValue) -> None:
        """Append an event, numbered after the last; times to the microsecond."""
        event = create_event(self.next_seq, self.visit, round(t, 3), kind, step, screen, _round_times(value))
        line = (json.dumps(dataclasses.asdict(event), ensure_ascii=False) + "\n").encode("utf-8")
        if self._file.write(line) != len(line):
            raise OSError(f"{self.path}: the disk is full")
        self.next_seq += 1
        self._unsynced.set()

    def close(self) -> None:
        """Wait until everything is on the disk."""
        self._is_closing = True
        self._unsynced.set()
        self._sync_thread.join()
        os.fsync(self._file)
        self._file.close()

    def _sync(self) -> None:
        while not self._is_closing:
            self._unsynced.wait()
            self._unsynced.clear()
            os.fsync(self._file)


def _round_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _round_times(one) for name, one in value.items()}
    return round(value, 3) if isinstance(value, float) else value


def _recover_events(path: Path) -> list[Event]:
    """Return the events of earlier visits; half a line, left by a crash in the middle of writing it, is cut off."""
    if not path.exists():
        return []
    raw = path.read_bytes()
    whole = drop_cut_line(raw)
    if len(whole) < len(raw):
        log.warning("%s: its last line was cut short by a crash and is left out", path)
        study.files.write_text(path, whole.decode("utf-8"))
    elif raw and not raw.endswith(b"\n"):
        study.files.write_text(path, whole.decode("utf-8") + "\n")
    lines = whole.decode("utf-8").rstrip("\n").split("\n")
    return [parse_event_line(line, path, n) for n, line in enumerate(lines, start=1) if line]
