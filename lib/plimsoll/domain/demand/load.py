"""Loads: what something has to carry for each purpose, and several of them together."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plimsoll.domain.arrays import BoolArray
from plimsoll.domain.ceiling import Accounting, Resource
from plimsoll.domain.demand.demand import BusiestSeconds, Demand, Spread, scaled
from plimsoll.domain.demand.need import Need, OfferPurpose
from plimsoll.domain.demand.trial import Required


def together(demands: Sequence[Demand]) -> Demand:
    """The demand of several volumes together, from demands on one grid.

    Exceeded checks, burst balances, idle time, coverage and the host are left out, since they have no sum. The busiest
    seconds of all volumes are taken to be the same second.
    """
    first = demands[0]
    return replace(
        first,
        coarsest_s=max(demand.coarsest_s for demand in demands),
        iops=np.sum([demand.iops for demand in demands], axis=0),
        throughput_mib_s=np.sum([demand.throughput_mib_s for demand in demands], axis=0),
        read_iops=np.sum([demand.read_iops for demand in demands], axis=0),
        read_throughput_mib_s=np.sum([demand.read_throughput_mib_s for demand in demands], axis=0),
        observed=np.logical_or.reduce([demand.observed for demand in demands]),
        busy_share=None,
        balance_pct=None,
        exceeded={},
        busiest=at_once([demand.busiest for demand in demands if demand.busiest is not None]),
        spread=_spread(demands),
        whole=all(demand.whole for demand in demands),
        coverage=None,
        host=None,
        summed=_anywhere([demand.summed for demand in demands]),
        undecided=_anywhere([demand.undecided for demand in demands]),
    )


def _anywhere(some: Sequence[BoolArray | None]) -> BoolArray | None:
    known = [where for where in some if where is not None]
    return np.logical_or.reduce(known) if known else None


def _spread(demands: Sequence[Demand]) -> Spread | None:
    """What is known of the buckets of a sum: no bucket had more than the most of each, and some bucket had as much as
    any of them surely had."""
    spreads = [demand.spread for demand in demands if demand.spread is not None]
    if not spreads:
        return None
    first = demands[0]
    return Spread(
        lengths_s=np.broadcast_to(first.lengths_s, first.iops.shape),
        most_iops=np.sum([demand.most_iops for demand in demands], axis=0),
        most_throughput_mib_s=np.sum([demand.most_throughput_mib_s for demand in demands], axis=0),
        most_read_iops=np.sum([demand.most_read_iops for demand in demands], axis=0),
        most_read_throughput_mib_s=np.sum([demand.most_read_throughput_mib_s for demand in demands], axis=0),
        begins_iops=np.logical_and.reduce([spread.begins_iops for spread in spreads]),
        begins_throughput=np.logical_and.reduce([spread.begins_throughput for spread in spreads]),
        least_iops=np.maximum.reduce([spread.least_iops for spread in spreads]),
        least_throughput_mib_s=np.maximum.reduce([spread.least_throughput_mib_s for spread in spreads]),
        unread_iops=np.logical_or.reduce([spread.unread_iops for spread in spreads]),
        unread_throughput=np.logical_or.reduce([spread.unread_throughput for spread in spreads]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A workload as something has to carry it.

    `reducing` is what a cheaper configuration must carry, `raising` a dearer one: where the host was the limit, or
    would be, only a reduction has to carry what it holds back. `keeping` is what a same-limits replacement must carry
    to go first: as `reducing`, but without headroom that was learned for reductions alone. `holding` is what something
    cheaper must carry that throttles no more than today: in frequently saturated buckets up to the ceiling alone. `now`
    is without headroom, what the present one is judged by. `offers` are those that were made for it: volumes are
    decided on more than once, with more of their past each time.
    """

    reducing: Required
    keeping: Required
    raising: Required
    holding: Required
    now: Required
    offers: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def of(self, purpose: OfferPurpose) -> Required:
        """What a configuration must carry that is chosen for that."""
        match purpose:
            case OfferPurpose.REDUCE:
                return self.reducing
            case OfferPurpose.RELIEVE:
                return self.raising
            case OfferPurpose.HOLD:
                return self.holding


def highest_load(loads: Sequence[Load]) -> Load:
    """What each of several must carry where any of them may have to do what any did."""
    return _combined(loads, lambda found: Required(work=highest(_works(found)), short=find_highest(_shorts(found))))


def added_load(loads: Sequence[Load]) -> Load:
    """What several workloads ask for together."""
    return _combined(loads, _added)


def _added(found: Sequence[Required]) -> Required:
    work = together(_works(found))
    if not _shorts(found):
        return Required(work=work, short=work)
    parts = [one.work.rates if one.short is None else highest([one.work.rates, one.short]) for one in found]
    return Required(work=work, short=together(parts))


def raised(load: Load, times: float) -> Load:
    """So many times a load, what was held back included."""
    return _combined(
        [load],
        lambda found: Required(
            work=scaled(found[0].work, times), short=find_highest([scaled(short, times) for short in _shorts(found)])
        ),
    )


def peak_rates(demand: Demand, accounting: Accounting) -> Need:
    """The highest rates of a demand, as an accounting counts them."""
    return peaks(Required(work=demand, short=None), accounting)


def peaks(required: Required, accounting: Accounting) -> Need:
    """The highest rates of what is required, as an accounting counts them."""
    return Need(
        iops=required.peak(accounting, Resource.IOPS),
        throughput_mib_s=required.peak(accounting, Resource.THROUGHPUT),
    )


def highest(demands: Sequence[Demand]) -> Demand:
    """The highest of several demands in each bucket, figure by figure; reads are those of the one that has it."""
    found = demands[0]
    for other in demands[1:]:
        faster, larger = other.iops > found.iops, other.throughput_mib_s > found.throughput_mib_s
        found = replace(
            found,
            iops=np.where(faster, other.iops, found.iops),
            read_iops=np.where(faster, other.read_iops, found.read_iops),
            throughput_mib_s=np.where(larger, other.throughput_mib_s, found.throughput_mib_s),
            read_throughput_mib_s=np.where(larger, other.read_throughput_mib_s, found.read_throughput_mib_s),
        )
    return found


def find_highest(demands: Sequence[Demand]) -> Demand | None:
    """The highest of several demands in each bucket, None if there are none."""
    return highest(demands) if demands else None


def _combined(loads: Sequence[Load], combine: Callable[[Sequence[Required]], Required]) -> Load:
    found: dict[tuple[int, ...], Required] = {}

    def combined(wanted: Sequence[Required]) -> Required:
        key = tuple(map(id, wanted))
        if key not in found:
            found[key] = combine(wanted)
        return found[key]

    return Load(
        reducing=combined([load.reducing for load in loads]),
        keeping=combined([load.keeping for load in loads]),
        raising=combined([load.raising for load in loads]),
        holding=combined([load.holding for load in loads]),
        now=combine([load.now for load in loads]),
    )


def _works(found: Sequence[Required]) -> list[Demand]:
    return [one.work for one in found]


def _shorts(found: Sequence[Required]) -> list[Demand]:
    return [one.short for one in found if one.short is not None]


def at_once(found: Sequence[BusiestSeconds]) -> BusiestSeconds | None:
    """Those of several volumes that are exact, as if they were the same seconds; None of none.

    Where one is not exact it is left out, so that what is left is the least that there was.
    """
    return _add_seconds(found, [one.exact for one in found])


def at_most(found: Sequence[BusiestSeconds]) -> BusiestSeconds | None:
    """The most that they can have had together in any second; None of none."""
    return _add_seconds(found, [np.ones_like(one.exact) for one in found])


def _add_seconds(found: Sequence[BusiestSeconds], parts: Sequence[BoolArray]) -> BusiestSeconds | None:
    if not found:
        return None
    pairs = list(zip(found, parts, strict=True))
    return BusiestSeconds(
        read_iops=np.sum([one.read_iops * part for one, part in pairs], axis=0),
        write_iops=np.sum([one.write_iops * part for one, part in pairs], axis=0),
        read_throughput_mib_s=np.sum([one.read_throughput_mib_s * part for one, part in pairs], axis=0),
        write_throughput_mib_s=np.sum([one.write_throughput_mib_s * part for one, part in pairs], axis=0),
        exact=np.ones_like(found[0].exact),
    )
