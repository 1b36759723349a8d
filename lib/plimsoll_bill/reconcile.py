"""The reconciliation of a bill's month with the inventory of a run: volume by volume, to the cent.

A volume that lived a part of the month, or whose rows cover a part of it, counts as if it had been there for all of it:
the month has its own length. Volumes that only one side knows are named, and so is each difference.
"""

import calendar
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Final, NamedTuple

from plimsoll.model.market import DOLLARS
from plimsoll.model.units import DAY_S
from plimsoll.reports.record import RecommendationRecord, SpecRecord
from plimsoll_bill.bill import Bill

_CENT: Final = 0.0051
"""What differs by less is the same to the cent: a run keeps its money rounded to one."""

VolumeKey = tuple[str, str, str]
"""A volume: its account, region and id."""


class BilledVolume(NamedTuple):
    """A volume in a month of the bill: its types, what was used on the mean, and its money as if for all of it."""

    key: VolumeKey
    currency: str
    types: list[str]
    size_gib: float
    list: float | None
    net: float
    share: float


class VolumeDifference(NamedTuple):
    """A volume whose money differs, or that one side does not know (None), with the reason."""

    key: VolumeKey
    reason: str
    run: float | None
    billed: float | None


@dataclass(slots=True, kw_only=True)
class Reconciliation:
    """The comparison of a month with a run. `agreed` volumes cost the same to the cent; their money is `agreed_usd`.

    `unaudited` is the money of places that the run does not have, and `foreign` counts volumes in other currencies.
    """

    month: date
    run: str
    is_net: bool
    agreed: int = 0
    agreed_usd: float = 0.0
    differences: list[VolumeDifference] = field(default_factory=list)
    unaudited: dict[str, float] = field(default_factory=dict)
    foreign: int = 0


def billed_volumes(bill: Bill, month: date) -> Iterator[BilledVolume]:
    """The volumes of a month, each with its money as if it had been there for all of it.

    Operations that are counted one by one, and Local Zones and Outposts, are left out.
    """
    whole_s = calendar.monthrange(month.year, month.month)[1] * DAY_S
    sql = f"""
        select account, region, volume, currency, list(distinct type order by type) filter (dimension = 'gib'),
            sum(quantity) filter (dimension = 'gib'),
            case when sum(unpriced) > 0 then null else coalesce(sum(list_cost), 0) end, sum(net),
            sum(seconds) filter (dimension = 'gib' and kind = 'usage') / {whole_s} as seen
        from charges where month = date '{month}' and dimension in ('gib', 'iops', 'mib_s') and apart = ''
        group by account, region, volume, currency having seen > 0 order by account, region, volume
    """
    for *key, currency, types, gib, listed, net, seen in bill.rows(sql):
        share = min(1.0, seen)
        whole = None if listed is None else listed / share
        yield BilledVolume((key[0], key[1], key[2]), currency, types, gib / share, whole, net / share, share)


def reconcile(
    bill: Bill, month: date, run: str, records: Iterable[RecommendationRecord], *, is_net: bool
) -> Reconciliation:
    """The comparison of a month with the records of a run, whose prices are net or of lists."""
    outcome = Reconciliation(month=month, run=run, is_net=is_net)
    known = {(record.account, record.region, record.volume_id): record for record in records}
    places = {key[:2] for key in known}
    for volume in billed_volumes(bill, month):
        record = known.pop(volume.key, None)
        cost = volume.net if is_net else volume.list
        if volume.currency != DOLLARS:
            outcome.foreign += 1
        elif volume.key[:2] not in places:
            place = "/".join(volume.key[:2])
            outcome.unaudited[place] = outcome.unaudited.get(place, 0.0) + (cost or 0.0)
        else:
            _compare(outcome, volume, record, cost)
    outcome.differences += [
        VolumeDifference(key, "this month of the bill does not have it", record.monthly_usd_now, None)
        for key, record in known.items()
    ]
    return outcome


def _compare(
    outcome: Reconciliation, volume: BilledVolume, record: RecommendationRecord | None, cost: float | None
) -> None:
    run_usd = None if record is None else record.monthly_usd_now
    if run_usd is not None and cost is not None and abs(run_usd - cost) < _CENT:
        outcome.agreed += 1
        outcome.agreed_usd += run_usd
    else:
        reason = "the run does not have it" if record is None else _reason(volume, record.current, run_usd, cost)
        outcome.differences.append(VolumeDifference(volume.key, reason, run_usd, cost))


def _reason(volume: BilledVolume, spec: SpecRecord, run_usd: float | None, cost: float | None) -> str:
    if run_usd is None or cost is None:
        return "the run has no price for it" if run_usd is None else "the bill has no list price for it"
    if len(volume.types) > 1:
        return f"it was changed within the month: {', '.join(volume.types)}"
    if volume.types[0] != spec.type:
        return f"billed as {volume.types[0]}, and {spec.type} in the run"
    if abs(volume.size_gib - spec.size_gib) > max(0.01, spec.size_gib * 1e-6):
        return f"billed as {volume.size_gib:,.2f} GiB, and {spec.size_gib:,} in the run"
    return "its IOPS, MiB/s or prices differ"
