"""Texts that take long to make and never change, kept in the user's cache folder."""

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from plimsoll.domain.errors import BadInput
from plimsoll.writing import whole


def kept(name: str, made: Callable[[], str]) -> str:
    """The text of that name as it was kept, or made anew and kept; a name tells all that its text is made of.

    Where nothing can be kept the text is made every time, which is no error. What is kept has the digest of its text
    in its first line, so that a damaged file is made anew.
    """
    found = _found(name)
    if found is not None:
        return found
    text = made()
    with suppress(BadInput, OSError, RuntimeError), whole(_folder() / name) as beside:
        beside.write_bytes(f"{_digest(text)}\n{text}".encode())
    return text


def _found(name: str) -> str | None:
    with suppress(OSError, RuntimeError, UnicodeDecodeError):
        digest, _, text = (_folder() / name).read_bytes().decode().partition("\n")
        if digest == _digest(text):
            return text
    return None


def _folder() -> Path:
    """Where this user's programs keep what they can make again (XDG Base Directory Specification 0.8); RuntimeError
    for a user without a home."""
    told = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (told if told.is_absolute() else Path.home() / ".cache") / "plimsoll"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
