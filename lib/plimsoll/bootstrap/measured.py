"""What was measured: the library of envelopes and the book of validations."""

from pathlib import Path

from plimsoll.clouds.published import published_types
from plimsoll.clouds.published_by import host_cap
from plimsoll.clouds.validation_book import ValidationBook
from plimsoll.envelopes.library import EnvelopeLibrary, load_library, shipped_campaigns
from plimsoll.settings import Settings


def envelope_library(measured: Path | None = None) -> EnvelopeLibrary:
    """Every measured campaign that ships, and those measured here, in that folder."""
    return load_library([shipped_campaigns(), *([measured] if measured else [])], published_types(), host_cap)


def validation_book(settings: Settings) -> ValidationBook:
    """The book of validations."""
    return ValidationBook(folder=settings.measured_dir)
