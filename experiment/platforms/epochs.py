"""Times since 1970, as platforms store them."""

from datetime import UTC, datetime
from typing import Any


def utc(milliseconds: Any) -> str | None:
    """Return a time in ms since 1970 as UTC, ISO 8601; None for what is no such time.

    >>> utc("1760000000000"), utc("NA")
    ('2025-10-09T08:53:20.000+00:00', None)
    """
    try:
        return datetime.fromtimestamp(float(milliseconds) / 1000, UTC).isoformat(timespec="milliseconds")
    except (TypeError, ValueError, OverflowError, OSError):
        return None
