"""A bill beside the states: the money of each resource in its last whole month, and the GiB of each snapshot."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from plimsoll.model.errors import BadInput
from plimsoll_bill.bill import Bill
from plimsoll_bill.states.facts import PlaceFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledMonth:
    """A month of a bill: cents by resource, and GiB of snapshots by account and region, and by id."""

    month: date
    cents: Mapping[str, int]
    snapshot_gib: Mapping[tuple[str, str], Mapping[str, float]]

    def add_to(self, place: PlaceFacts) -> None:
        """Adds to a place's snapshots what they are billed for, if no snapshot is gone since.

        The blocks of one that is gone are billed to others now: nothing says to which.
        """
        gib, known = self.snapshot_gib.get((place.account, place.region), {}), place.snapshots
        if known is None or any(name not in known or known[name].archived for name in gib):
            return
        begins = datetime(self.month.year, self.month.month, 1, tzinfo=UTC) - timedelta(days=1)
        place.snapshots = {
            name: replace(snap, billed_gib=gib[name]) if name in gib and snap.started < begins else snap
            for name, snap in known.items()
        }


def find_billed_month(bill: Bill, now: datetime) -> BilledMonth:
    """The last whole month of a bill, in dollars. Raises BadInput if it has none."""
    months = [month for month in bill.months() if month < now.date().replace(day=1)]
    if not months:
        raise BadInput("the bill has no whole month before this one: give an older file as well.")
    where = f"month = date '{months[-1]}' and currency = 'USD'"
    paid = {str(total.of[0]): total.money.total for total in bill.sums("volume", where=where)}
    cents = {name: round(usd * 100) for name, usd in paid.items()}
    if cents:  # what was rounded away is of the dearest, so that the sum is the bill's
        cents[max(cents, key=lambda name: cents[name])] += round(sum(paid.values()) * 100) - sum(cents.values())
    gib: dict[tuple[str, str], dict[str, float]] = {}
    for total in bill.sums("account", "region", "volume", where=f"{where} and dimension = 'snapshot'"):
        account, region, name = map(str, total.of)
        gib.setdefault((account, region), {})[name] = total.money.quantity
    return BilledMonth(month=months[-1], cents=cents, snapshot_gib=gib)
