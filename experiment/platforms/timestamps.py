"""Times since 1970, as platforms store them."""

from datetime import UTC, datetime
from typing import Any


def format_utc_time(milliseconds: Any) -> str | None:
    """Return a time in ms since 1970 as UTC, ISO 8601; None for what is no such time.

    >>> format_utc_time("1760000000000"), format_utc_time("NA")
    ('2025-10-09T08:53:20.000+00:00', None)
    """
    try:
        return datetime.fromtimestamp(float(milliseconds) / 1000, UTC).isoformat(timespec="milliseconds")
    except (TypeError, ValueError, OverflowError, OSError):
        return None
