"""The books in the folders of this machine: changes, stripe sets, verdicts and probes."""

from typing import Final

from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.probe_book import ProbeBook
from plimsoll.clouds.stripe_book import StripeBook
from plimsoll.clouds.validation_book import ValidationBook
from plimsoll.settings import Settings

LEDGER_FILE: Final = "ledger.json"
STRIPES_FILE: Final = "stripes.json"
"""The ledger of changes and the book of stripe sets, in the folder of runs."""


def validation_book(settings: Settings) -> ValidationBook:
    """The book of validations."""
    return ValidationBook(folder=settings.measured_dir, at=settings.measured_at)


def probe_book(settings: Settings) -> ProbeBook:
    """The book of probes."""
    return ProbeBook(folder=settings.measured_dir)


def change_ledger(settings: Settings) -> Ledger:
    """The ledger of changes. Raises BadInput if it is damaged."""
    return Ledger.at(settings.runs_dir / LEDGER_FILE)


def stripe_book(settings: Settings) -> StripeBook:
    """The book of stripe sets. Raises BadInput if it is damaged."""
    return StripeBook.load(settings.runs_dir / STRIPES_FILE)
