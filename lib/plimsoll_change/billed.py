"""The bill: the present cost of changed volumes."""

from collections.abc import Sequence

from plimsoll.model.market import DOLLARS
from plimsoll_bill.api import read_bill
from plimsoll_bill.reconcile import billed_volumes


def read_costs(places: Sequence[str]) -> dict[str, float]:
    """USD a month of each volume in the newest month of a bill, by id. Raises BadInput for what is no bill."""
    with read_bill(places) as bill:
        months = bill.months()
        return {
            volume.key[2]: volume.net
            for volume in (billed_volumes(bill, months[-1]) if months else ())
            if volume.currency == DOLLARS
        }
