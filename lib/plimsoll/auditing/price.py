"""Step 2, prices: what can be bought at a target, and for how much."""

from collections.abc import Iterator
from datetime import datetime

from plimsoll.auditing.ports import AuditPorts
from plimsoll.decide.evidence import Place, failed_measurements
from plimsoll.decide.offers import Market
from plimsoll.model.errors import CloudError
from plimsoll.model.market import DOLLARS, PriceBook
from plimsoll.model.policy import Policy
from plimsoll.outcomes import Notice, Outcome, Priced
from plimsoll.ports import FailedTarget, Target

PRICES_AGE_DAYS = 365
"""Prices older than this get a notice."""


def market_of(target: Target, ports: AuditPorts, policy: Policy, now: datetime) -> tuple[Market, CloudError | None]:
    """The market of a target. If prices cannot be read, a market without prices and the error."""
    book, error = None, None
    try:
        with ports.stages.stage("prices"):
            book = ports.prices.book(target)
    except CloudError as raised:
        error = raised
    if book is None:
        book = PriceBook(region=target.region, source="none", as_of=None, types={})
    catalog = ports.catalog
    place = Place(
        provider=catalog.provider,
        account=target.account,
        region=target.region,
        today=now.date(),
        max_age_days=policy.evidence_max_age_days,
    )
    failed = failed_measurements(place, ports.envelopes, ports.failed_measurements)
    return Market(provider=catalog.provider, types=catalog.types, book=book, failed_measurements=failed), error


def price_outcomes(target: Target, book: PriceBook, error: CloudError | None, now: datetime) -> Iterator[Outcome]:
    """The outcomes of a target's prices: that they could not be read, their source, and that they are old."""
    unread = CloudError(book.unlisted) if error is None and book.unlisted else error
    if unread is not None:
        yield FailedTarget(name=f"prices of {target}", error=unread)
    yield Priced(target=target, source=book.source, as_of=book.as_of)
    if not book.types and unread is None:
        listed = "" if book.currency == DOLLARS else f", whose list is in {book.currency}"
        text = f"no price in dollars is known in {book.region}{listed}: its volumes are in no sum of money."
        yield Notice(target=target, text=text)
    if book.notice:
        yield Notice(target=target, text=book.notice)
    if book.as_of is not None and (now.date() - book.as_of).days > PRICES_AGE_DAYS:
        text = f"the prices used here date from {book.as_of}: savings may differ today."
        yield Notice(target=target, text=text)
