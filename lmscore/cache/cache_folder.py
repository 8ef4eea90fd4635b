"""Where the user's machine keeps what can be made again: token scores, and the toy model."""

import os
import sys
from pathlib import Path


def get_cache_folder() -> Path:
    """Return the folder where programs keep what they can make again."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "gardenpath"
