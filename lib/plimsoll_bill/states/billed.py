"""A bill beside the states: the money of each resource in its last whole month, and the GiB of each snapshot."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from plimsoll.clouds.aws.assets import PlaceFacts
from plimsoll.model.errors import BadInput
from plimsoll.model.market import DOLLARS

if TYPE_CHECKING:
    from plimsoll_bill.bill import Bill  # the extra `sql` brings what it stands on


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledMonth:
    """A month of a bill: cents by resource, and GiB of snapshots by account and region, and by id.

    A fast restore stands beside its snapshot, as `snap-1 fast`. `foreign` are currency, type, rows and cents of what is
    not in dollars, and `unplaced` counts the rows that are in no sum.
    """

    month: date
    cents: Mapping[str, int]
    snapshot_gib: Mapping[tuple[str, str], Mapping[str, float]]
    foreign: tuple[tuple[str, str, int, int], ...] = ()
    unplaced: int = 0

    def add_to(self, place: PlaceFacts) -> PlaceFacts:
        """A place whose snapshots have what they are billed for, if none is gone since.

        The blocks of one that is gone are billed to others now: nothing says to which.
        """
        gib, known = self.snapshot_gib.get((place.account, place.region), {}), place.snapshots
        if known is None or any(name not in known or known[name].is_archived for name in gib):
            return place
        begins = datetime(self.month.year, self.month.month, 1, tzinfo=UTC) - timedelta(days=1)
        billed = {name: amount for name, amount in gib.items() if known[name].started < begins}
        with_gib = {name: known[name].model_copy(update={"billed_gib": amount}) for name, amount in billed.items()}
        return replace(place, snapshots={**known, **with_gib})


def find_billed_month(bill: "Bill", now: datetime) -> BilledMonth:
    """The last whole month of a bill. Raises BadInput if it has none."""
    months = [month for month in bill.months() if month < now.date().replace(day=1)]
    if not months:
        raise BadInput("the bill has no whole month before this one: give an older file as well.")
    month = f"month = date '{months[-1]}'"
    where, thing = f"{month} and currency = '{DOLLARS}'", "volume || if(dimension = 'fast_restore', ' fast', '')"
    paid = {str(name): money.total for (name,), money in bill.sums(thing, where=where)}
    cents = {name: round(usd * 100) for name, usd in paid.items()}
    if cents:  # what was rounded away is of the dearest, so that the sum is the bill's
        cents[max(cents, key=lambda name: cents[name])] += round(sum(paid.values()) * 100) - sum(cents.values())
    gib: dict[tuple[str, str], dict[str, float]] = {}
    in_place = bill.sums("account", "region", "volume", where=f"{where} and dimension = 'snapshot'")
    for (account, region, name), money in in_place:
        gib.setdefault((account, region), {})[name] = money.quantity
    kind = "coalesce(nullif(type, ''), dimension)"
    elsewhere = bill.sums("currency", kind, where=f"{month} and currency <> '{DOLLARS}'")
    foreign = tuple((of[0], of[1], int(money.rows), round(money.total * 100)) for of, money in elsewhere)
    return BilledMonth(
        month=months[-1],
        cents=cents,
        snapshot_gib=gib,
        foreign=foreign,
        unplaced=sum(entry.rows for entry in bill.find_unplaced()),
    )
