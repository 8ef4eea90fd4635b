"""Keyed hashes in place of participants' ids: who has the key can recognise people, nobody else can."""

import hmac
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from gardenpath import study


def hash_participant(participant: str, key: bytes) -> str:
    """Return the keyed hash that stands for a platform's participant id, 16 hexadecimal digits."""
    return hmac.new(key, participant.encode("utf-8"), "sha256").hexdigest()[:16]


def load_participant_key(path: str | Path) -> bytes:
    """Return the key that hashes participant ids; it is made and kept, readable by its owner, on first use."""
    text = load_secret(path, lambda: secrets.token_hex(32))
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise study.DataError(
            f"{path}: not a key of participants' ids; expected 64 hexadecimal digits: restore the file from a backup"
        )
    return bytes.fromhex(text)


def load_existing_key(path: str | Path, used_by: str = "the study's data") -> bytes:
    """Return the key that ids were hashed with; raises `FileNotFoundError` where it is missing, with what it was used by."""
    if not Path(path).exists():
        raise FileNotFoundError(
            f"{path}: the key that hashed participants' ids in {used_by} is missing, and with a new one the same people "
            "would be others; restore this file from a backup of its folder"
        )
    return load_participant_key(path)


def load_secret(path: str | Path, make: Callable[[], str]) -> str:
    """Return the text of a file that only its owner can read; it is made on first use, by one of several processes."""
    path = Path(path)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # of mode 600
        with open(handle, "w", encoding="utf-8") as file:
            file.write(make())
        try:  # closed by now: Windows links and copies no file that is open
            os.link(temporary, path)
        except FileExistsError:
            pass  # another process was first, and its text is everybody's
        except OSError:  # a disk without hard links
            shutil.copy(temporary, path)
        finally:
            os.unlink(temporary)
    return path.read_text("utf-8").strip()
