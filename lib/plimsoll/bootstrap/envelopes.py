"""The measured envelopes: those that ship, and those of this machine."""

from functools import cache
from pathlib import Path

from plimsoll.clouds.published import host_cap, published_types
from plimsoll.envelopes.library import EnvelopeLibrary, load_library, shipped_campaigns


def envelope_library(measured: Path | None = None, at: str | None = None) -> EnvelopeLibrary:
    """Every measured campaign that ships, and those in a folder of this machine. `at` is where people open it."""
    folders = [measured] if measured else []
    return load_library(folders, published_types(), host_cap, beside=_shipped_library(), at=at)


@cache
def _shipped_library() -> EnvelopeLibrary:
    """The shipped library, loaded once: it does not change, and every target of an organization wants it."""
    return load_library([shipped_campaigns()], published_types(), host_cap)
