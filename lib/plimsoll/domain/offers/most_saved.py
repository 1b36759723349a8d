"""The most that a change can save, before anything is known of what a volume does."""

from plimsoll.domain.ceiling import NOTHING
from plimsoll.domain.offers.offer import Market, find_unsuited, fit_spec
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import Volume


def most_saved_usd_month(volume: Volume, market: Market, policy: Policy) -> float:
    """The USD a month between the present price and the least price of a suitable type; 0 if prices are unknown."""
    now = market.book.usd_month(volume.spec)
    prices = (
        market.book.usd_month(fit_spec(kind, volume.spec.size_gib, NOTHING))
        for kind in market.types.values()
        if next(find_unsuited(volume, kind, market, policy), None) is None
    )
    least = min((price for price in prices if price is not None), default=None)
    return 0.0 if now is None or least is None else max(0.0, now - least)
