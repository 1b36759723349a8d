"""Saturation: where demand stood at what the volume, or its host, could carry just then.

A volume is at its ceiling by what was seen of it. A host is where the cloud measured it, or else where its token
bucket, replayed on what all its volumes did, left no room for more (`host_limit`).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import RESOURCES, UNBOUNDED, Ceiling, Resource
from plimsoll.domain.demand.demand import Demand, HostSeen
from plimsoll.domain.demand.host_limit import HostLimit, carried_in_relief, host_limit, sustained
from plimsoll.domain.demand.replay import TOLERANCE
from plimsoll.domain.demand.room import HostRoom, Rates, count_rates
from plimsoll.domain.host import Host
from plimsoll.domain.metrics.sums import FIVE_MINUTES_S
from plimsoll.domain.policy import Policy
from plimsoll.domain.units import MINUTE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLoad:
    """One host's traffic in each bucket as its ceiling counts it, and the most that a bucket of the resolution inside
    it can have had.

    It is not `complete` where it is not known what a volume on the host did, and the host may have been the limit.
    `seen` is what the cloud measured of the host, None where it measures none. `extras` are what its volumes would do
    beyond what they did if none was held back by its own limit, by volume; asked for only where one is to be relieved.
    """

    host: Host
    iops: FloatArray
    throughput_mib_s: FloatArray
    most_iops: FloatArray
    most_throughput_mib_s: FloatArray
    complete: bool = True
    seen: HostSeen | None = None
    extras: Callable[[], Mapping[str, Rates]] = field(default=dict, repr=False, compare=False)

    @property
    def raised(self) -> BoolArray:
        """The buckets in which a check of the host is known to be raised."""
        found = np.zeros(len(self.iops), dtype=np.bool_)
        for side in () if self.seen is None else self.seen.values():
            found |= side.raised
        return found

    def limits(self, demand: Demand, policy: Policy) -> tuple[HostLimit, HostLimit]:
        """The limits on IOPS and on throughput, in the buckets of a demand of it."""
        iops, throughput = (
            host_limit(self.host.ceiling, resource, total, self.seen[resource] if self.seen else None, demand, policy)
            for resource, total in ((Resource.IOPS, self.iops), (Resource.THROUGHPUT, self.throughput_mib_s))
        )
        return iops, throughput

    def exceeds(self, demand: Demand, there: BoolArray | None) -> bool:
        """Whether more was done than the host's published limits let through, in the buckets of a demand that are
        `there` (None: all): then they do not hold."""
        return _exceed((self.iops, self.throughput_mib_s), self.host.ceiling, demand, there)

    def before(self, host: Host) -> "HostLoad":
        """The same while the host was of another type. What it was not the limit of then is not asked for."""
        seen = self.seen and {resource: side.only_raised for resource, side in self.seen.items()}
        return replace(self, host=host, seen=seen)


LEAST_HOST_SHARE = 0.05
"""A volume with less of its host's traffic than this does not count as held back by the host."""

MINUTES_SUMMED = FIVE_MINUTES_S / MINUTE_S
"""The minutes of a point that a host publishes each five minutes."""

LEAST_EXTRA = 1e-6
"""A rate that differs by less is the same."""

TAKEN_BACK = 0.5
"""The share of the buckets that are held back in which a host that is the limit takes relief back."""

OVER = 1.05

LEAST_MINUTES_OVER = 3
"""So many times its published limits, for so long, was never carried by a host to which they apply."""


def extra_of(demand: Demand, lifted: Demand, ceiling: Ceiling) -> Rates:
    """What a lifted demand has beyond the demand, as a ceiling counts it."""
    iops, throughput_mib_s = (
        np.maximum(0.0, more - done)
        for more, done in zip(count_rates(lifted, ceiling), count_rates(demand, ceiling), strict=True)
    )
    return iops, throughput_mib_s


def with_relief(
    room: HostRoom,
    load: HostLoad | None,
    demand: Demand,
    lifted: Demand,
    saturated: Mapping[Resource, BoolArray],
    volume_ids: Collection[str],
    policy: Policy,
) -> HostRoom:
    """The room of some volumes with what relief has of it; `lifted` is their demand without their own limits.

    What their host can carry beyond what all did is parted as more is asked for. If it was or would be the limit in
    half of the buckets in which they were held back, it takes relief back: it carries what it sustains.
    """
    if load is None or room.disproved or load.host.limits is None:
        return room
    own = np.stack(count_rates(demand, room.ceiling))
    more = np.stack(extra_of(demand, lifted, room.ceiling))
    others = [np.stack(extra) for name, extra in load.extras().items() if name not in volume_ids]
    beside, total = sum(others, np.zeros_like(more)), np.stack([load.iops, load.throughput_mib_s])
    is_lifted = (more > LEAST_EXTRA).any(axis=0)
    lifted_by = [at & is_lifted for at in saturated.values()]
    carried = _carried_in_relief(room, load, total, total + more + beside, lifted_by, demand, policy)
    spare = np.maximum(0.0, carried - total)
    part = np.divide(more, more + beside, out=np.ones_like(more), where=more + beside > LEAST_EXTRA)
    relief = np.minimum(np.stack(room.room), own + np.maximum(spare * part, spare - beside))
    taken_back = (is_lifted & (own + more > relief * (1 + TOLERANCE))).any(axis=0)
    return replace(room, relief=(relief[0], relief[1]), taken_back=taken_back)


def _carried_in_relief(
    room: HostRoom,
    load: HostLoad,
    total: FloatArray,
    wanted: FloatArray,
    lifted_by: Sequence[BoolArray],
    demand: Demand,
    policy: Policy,
) -> FloatArray:
    """What a host carries if its volumes do what they `wanted`, as two rows; what it sustains where it takes it back.

    `lifted_by` are the buckets of some volumes that are lifted because of each resource.
    """
    ceiling, seen = load.host.ceiling, load.seen or {}
    rows = [
        carried_in_relief(ceiling, one, total[side], wanted[side], seen.get(one), demand, policy)
        for side, one in enumerate(RESOURCES)
    ]
    carried = np.stack(rows)
    least = np.stack([sustained(ceiling, one, total[side], policy) for side, one in enumerate(RESOURCES)])
    by_host = (wanted > carried * (1 + TOLERANCE)).any(axis=0) | room.bound
    for at in lifted_by:
        held = at | room.bound
        if at.any() and demand.minutes(held & by_host) >= TAKEN_BACK * demand.minutes(held):
            carried = np.where(at, np.minimum(carried, least), carried)
    return carried


def throttled(demand: Demand, ceiling: Ceiling, policy: Policy) -> tuple[BoolArray, BoolArray]:
    """The observed buckets at the volume's ceiling, on IOPS and on throughput.

    At `saturation_pct` of the highest it can carry, in the mean of a minute or in some second, or any exceeded check,
    or its credits spent.
    """
    pairs = zip(steady(demand, ceiling, policy), in_seconds(demand, ceiling, policy), strict=True)
    iops, throughput = (means if seconds is None else means | seconds for means, seconds in pairs)
    return iops, throughput


def in_seconds(demand: Demand, ceiling: Ceiling, policy: Policy) -> tuple[BoolArray | None, BoolArray | None]:
    """The observed buckets in which some second asked for all that the volume can carry; None if nothing published
    would show it."""
    checks = (demand.exceeded.get(side) for side in RESOURCES)
    published = [
        [one for one in pair if one is not None] for pair in zip(checks, _peaks(demand, ceiling, policy), strict=True)
    ]
    iops, throughput = (np.logical_or.reduce(shown) & demand.observed if shown else None for shown in published)
    return iops, throughput


def standing(demand: Demand, ceiling: Ceiling, policy: Policy) -> tuple[BoolArray, BoolArray]:
    """The buckets at the volume's ceiling by its rates and its credits, whatever the cloud's checks say."""
    pairs = zip(steady(demand, ceiling, policy), _peaks(demand, ceiling, policy), strict=True)
    iops, throughput = (means if peaks is None else means | peaks for means, peaks in pairs)
    return iops & demand.observed, throughput & demand.observed


def _peaks(demand: Demand, ceiling: Ceiling, policy: Policy) -> tuple[BoolArray | None, BoolArray | None]:
    """The buckets whose busiest second stood at the volume's ceiling; None if the cloud publishes none."""
    if demand.busiest is None:
        return None, None
    share, exact = policy.saturation_pct / 100, demand.busiest.exact
    iops, throughput_mib_s = demand.busiest.one_way(ceiling.accounting)
    return exact & (iops >= share * ceiling.iops), exact & (throughput_mib_s >= share * ceiling.throughput_mib_s)


def steady(demand: Demand, ceiling: Ceiling, policy: Policy) -> tuple[BoolArray, BoolArray]:
    """The buckets at the volume's ceiling by their means and its credits, whatever single seconds say."""
    accounting, of_means = ceiling.accounting, _share_of_means(demand, policy.saturation_pct / 100)
    iops = demand.evened.counted_iops(accounting) >= of_means * ceiling.iops
    throughput = demand.evened.counted_throughput_mib_s(accounting) >= of_means * ceiling.throughput_mib_s
    if demand.balance_pct is not None:
        empty = demand.balance_pct < policy.empty_balance_pct
        credited = {bucket.resource for bucket in ceiling.buckets}
        iops |= empty & (Resource.IOPS in credited)
        throughput |= empty & (Resource.THROUGHPUT in credited)
    return iops & demand.observed, throughput & demand.observed


def _share_of_means(demand: Demand, share: float) -> FloatArray | float:
    """The share of a ceiling at which the mean of a bucket stands there.

    A mean of five minutes does if each of them must have.
    """
    of_five = [where for where in (demand.summed, demand.undecided) if where is not None]
    return np.where(np.logical_or.reduce(of_five), 1 - (1 - share) / MINUTES_SUMMED, share) if of_five else share


def _exceed(totals: tuple[FloatArray, FloatArray], ceiling: Ceiling, demand: Demand, there: BoolArray | None) -> bool:
    """Whether totals are clearly above a ceiling for longer than wrong points are, where points are not in doubt."""
    above = (totals[0] > OVER * ceiling.iops) | (totals[1] > OVER * ceiling.throughput_mib_s)
    for where in (there, None if demand.undecided is None else ~demand.undecided):
        above = above if where is None else above & where
    return demand.minutes(above) >= LEAST_MINUTES_OVER


def host_room(
    demand: Demand, load: HostLoad | None, hosts: Ceiling, policy: Policy, there: BoolArray | None = None
) -> HostRoom:
    """The room of a volume on its only host, whose traffic is the `load`; without one what all its `hosts` carry.

    `there` are the buckets in which it was on them, None for all. Where more was done in these than is published, the
    limits are not known: they are no room, and tell nothing of who was the limit.
    """
    if load is not None and load.exceeds(demand, there):
        unlimited = replace(load, host=replace(load.host, limits=None))
        return replace(host_room(demand, unlimited, UNBOUNDED, policy), disproved=True)
    if load is None and _exceed(count_rates(demand, hosts), hosts, demand, there):
        return replace(host_room(demand, None, UNBOUNDED, policy), disproved=True)
    nowhere = np.zeros_like(demand.observed)
    if load is None:
        rates = np.full(len(demand.iops), hosts.iops), np.full(len(demand.iops), hosts.throughput_mib_s)
        return HostRoom(ceiling=hosts, room=rates, bound=nowhere, measured=nowhere, cleared=nowhere)
    own = count_rates(demand, load.host.ceiling)
    totals = load.iops, load.throughput_mib_s
    limits = load.limits(demand, policy)
    bound, measured, cleared = nowhere.copy(), nowhere.copy(), nowhere.copy()
    for mine, total, limit in zip(own, totals, limits, strict=True):
        if not (limit.at.any() or limit.modeled.any()):
            continue
        counts = (mine >= LEAST_HOST_SHARE * total) & (mine > 0) & demand.observed
        bound |= limit.at & counts
        measured |= limit.measured & counts
        cleared |= limit.cleared & counts
    room = [
        np.maximum(mine, limit.carried - (total - mine)) for mine, total, limit in zip(own, totals, limits, strict=True)
    ]
    if measured.any():
        room = [np.where(measured, mine, left) for mine, left in zip(own, room, strict=True)]
    return HostRoom(
        ceiling=load.host.ceiling,
        room=(room[0], room[1]),
        bound=bound,
        measured=measured,
        cleared=cleared & ~bound,
        known=load.complete,
    )
