"""Host room: how much the hosts left to a volume in each bucket, and where they were the limit.

The cloud's measurements go before published limits, in both directions:

- A raised check: the host was the limit, whatever its published limit says. A mean hides bursts, and a published limit
  may not be the one in force.
- A check that is not raised: the maximum was not the limit. Only spent credits can have been.
- A balance: whether its credits were spent, which a replay that begins in the middle cannot know.

Without measurements the token bucket of the published limits is replayed on what all volumes did. A host without
credits stands at its published baseline, whatever comes back to it meanwhile.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from plimsoll.demand.demand import CountedRates, Demand, HostSeen, either_side, limits_of
from plimsoll.demand.trial import TOLERANCE, credits_left, is_never_spent
from plimsoll.model.arrays import BoolArray
from plimsoll.model.ceiling import UNBOUNDED, Ceiling
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Host, Volume, sole_host

LEAST_HOST_SHARE: Final = 0.05
"""A volume with less of its host's traffic than this does not count as held back by the host."""

LEAST_EXTRA: Final = 1e-6
"""A rate that differs by less is the same."""

TAKEN_BACK: Final = 0.5
"""The share of the buckets that are held back in which a host that is the limit takes relief back."""

OVER: Final = 1.05

LEAST_MINUTES_OVER: Final = 3
"""A host to which its published limits apply never carries OVER times these for as many minutes."""

CREDITS_LEFT_PCT: Final = 10.0
REFUTING_MINUTES: Final = 3
"""A balance of at least CREDITS_LEFT_PCT for as many minutes refutes a replay that has no credits left."""


@dataclass(frozen=True, slots=True)
class HostLimit:
    """The limit of a host in each bucket, as [side, bucket]."""

    carried: CountedRates
    """The rates that it could have let through of all its volumes."""
    modeled: BoolArray
    """The published limit was reached: by the balance if it is known, or else by the replay."""
    at: BoolArray
    """The host was the limit."""
    raised: BoolArray
    """The host was the limit, by its check."""
    measured: BoolArray
    """The host was the limit, by its check or a balance."""
    check_open: BoolArray
    """A finer reading of the check can change this."""
    balance_open: BoolArray
    """A finer reading of the balance can change this."""

    @property
    def cleared_buckets(self) -> BoolArray:
        """The published limit was reached, and the cloud measured that it was not the limit."""
        return self.modeled & ~self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLoad:
    """The traffic of a host in each bucket as its ceiling counts it."""

    host: Host
    rates: CountedRates
    most: CountedRates
    """The highest rates that a bucket of the resolution inside can have had."""
    complete: bool = True
    """False if the traffic of a volume on the host is unknown, so that the host may have been the limit."""
    seen: HostSeen | None = None
    """The metrics of the host, None if the cloud has none."""
    extras: Callable[[], Mapping[str, CountedRates]] = field(default=dict, repr=False, compare=False)
    """What was held back of its volumes by their own limits, by volume; asked for only if one is to be relieved."""

    @property
    def raised_checks(self) -> BoolArray:
        """The buckets in which a check of the host is known to be raised."""
        if self.seen is None:
            return np.zeros(self.rates.shape[-1], dtype=np.bool_)
        return either_side(self.seen.raised_checks)

    def limit(self, demand: Demand, policy: Policy) -> HostLimit:
        """The limit of the host, in the buckets of a demand of it."""
        return find_host_limit(self.host.ceiling, self.rates, self.seen, demand, policy)

    def exceeds(self, demand: Demand, on_hosts: BoolArray | None) -> bool:
        """True if more was done than the host's published limits let through: then they do not hold.

        Only the buckets of a demand that are `on_hosts` count (None: all).
        """
        return _is_clearly_above(self.rates, self.host.ceiling, demand, on_hosts)

    def replace_host(self, host: Host) -> "HostLoad":
        """The load while the host was of another type. Of checks that are not raised nothing is known then."""
        return replace(self, host=host, seen=None if self.seen is None else self.seen.drop_unraised)


def host_loads(volumes: Iterable[Volume], demands: Mapping[str, Demand]) -> dict[str, HostLoad]:
    """Adds up the traffic of every host that is a volume's only one, by host id.

    It is not complete if a volume could not be read, or a part of what it did is disputed: that counts for nothing.
    """
    hosted: dict[str, list[Volume]] = {}
    for volume in volumes:
        host = sole_host(volume)
        if host is not None:
            hosted.setdefault(host.id, []).append(volume)
    return {host_id: load for host_id, group in hosted.items() if (load := _load(group, demands)) is not None}


def _load(group: Sequence[Volume], demands: Mapping[str, Demand]) -> HostLoad | None:
    """The traffic of a host from the demands of its volumes; None if none is known. Disputed demands do not count."""
    read = [demands[volume.id] for volume in group if volume.id in demands and not demands[volume.id].is_disputed]
    if not read:
        return None
    host = group[0].hosts[0]
    accounting = host.ceiling.accounting
    return HostLoad(
        host=host,
        rates=np.sum([demand.count(accounting) for demand in read], axis=0),
        most=np.sum([demand.count_most(accounting) for demand in read], axis=0),
        complete=len(read) == len(group),
        seen=next((demand.host for demand in read if demand.host is not None), None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRoom:
    """The rates that the hosts could have let through in each bucket, as their ceiling counts."""

    ceiling: Ceiling
    """The most that the hosts carry, unbounded where more was done than is published (`disproved`)."""
    room: CountedRates
    """The rates left to this volume: never less than was observed, no more where the host was measured as the limit,
    infinite while the volume was on other hosts."""
    bound: BoolArray = field(repr=False, compare=False)
    """The buckets in which the host was the limit."""
    measured: BoolArray = field(repr=False, compare=False)
    """The bound buckets that the cloud measured."""
    cleared: BoolArray = field(repr=False, compare=False)
    """The buckets at the published limit in which the cloud measured that the host was not the limit."""
    known: bool = True
    """False if the traffic of a volume on the host is unknown: the host may have been the limit in any minute."""
    disproved: bool = False
    relief: CountedRates | None = field(default=None, repr=False, compare=False)
    """The room for relief: what the hosts leave if all their volumes do what was held back. None: as `room`."""
    taken_back: BoolArray | None = field(default=None, repr=False, compare=False)
    """The buckets in which the room for relief is less than this volume would do."""

    @property
    def relief_room(self) -> "HostRoom":
        """The room for relief as the room; this one if there is no other."""
        return self if self.relief is None else replace(self, room=self.relief, relief=None)

    def mask(self, where: BoolArray) -> "HostRoom":
        """The room where the volume was on these hosts, and no limit where it was on others."""
        if where.all():
            return self
        return replace(
            self,
            room=np.where(where, self.room, np.inf),
            bound=self.bound & where,
            measured=self.measured & where,
            cleared=self.cleared & where,
        )

    def part_of(self, demand: Demand, whole: Demand) -> "HostRoom":
        """The room of a part of a demand, as the demand is parted."""
        mine, total = demand.count(self.ceiling.accounting), whole.count(self.ceiling.accounting)
        share = np.divide(mine, total, out=np.ones_like(mine), where=mine > 0)
        relief = None if self.relief is None else self.relief * share
        return replace(self, room=self.room * share, relief=relief)


def find_host_room(
    demand: Demand, load: HostLoad | None, hosts: Ceiling, policy: Policy, on_hosts: BoolArray | None = None
) -> HostRoom:
    """The room of a volume on its only host, whose traffic is the `load`; without one what all its `hosts` carry.

    `on_hosts` are the buckets in which it was on them, None for all. Where more was done in these than is published,
    the limits are not known: they are no room, and tell nothing of who was the limit.
    """
    if load is not None and load.exceeds(demand, on_hosts):
        unlimited = replace(load, host=replace(load.host, limits=None))
        return replace(find_host_room(demand, unlimited, UNBOUNDED, policy), disproved=True)
    if load is None and _is_clearly_above(demand.count(hosts.accounting), hosts, demand, on_hosts):
        return replace(find_host_room(demand, None, UNBOUNDED, policy), disproved=True)
    nowhere = np.zeros_like(demand.observed)
    if load is None:
        room = np.repeat(limits_of(hosts), len(nowhere), axis=1)
        return HostRoom(ceiling=hosts, room=room, bound=nowhere, measured=nowhere, cleared=nowhere)
    mine, total = demand.count(load.host.ceiling.accounting), load.rates
    limit = load.limit(demand, policy)
    room = np.maximum(mine, limit.carried - (total - mine))
    bound = measured = cleared = nowhere
    if limit.at.any() or limit.modeled.any():
        counts = (mine >= LEAST_HOST_SHARE * total) & (mine > 0) & demand.observed
        bound, measured, cleared = (
            either_side(at & counts) for at in (limit.at, limit.measured, limit.cleared_buckets)
        )
        if measured.any():
            room = np.where(measured, mine, room)
    return HostRoom(
        ceiling=load.host.ceiling,
        room=room,
        bound=bound,
        measured=measured,
        cleared=cleared & ~bound,
        known=load.complete,
    )


def _is_clearly_above(rates: CountedRates, ceiling: Ceiling, demand: Demand, on_hosts: BoolArray | None) -> bool:
    """True if rates are clearly above a ceiling for longer than wrong points are, where points are not in doubt."""
    above = either_side(rates > OVER * limits_of(ceiling))
    for where in (on_hosts, None if demand.undecided is None else ~demand.undecided):
        above = above if where is None else above & where
    return demand.minutes(above) >= LEAST_MINUTES_OVER


def find_host_limit(
    ceiling: Ceiling, total: CountedRates, seen: HostSeen | None, demand: Demand, policy: Policy
) -> HostLimit:
    """The limit of a host with that ceiling whose volumes did `total`, in the buckets of a demand."""
    share = policy.saturation_pct / 100
    replayed, stood = _replay_credits(ceiling, total, demand, policy)
    by_replay = total >= share * stood
    nowhere = np.zeros_like(by_replay)
    if seen is None:
        return HostLimit(replayed, by_replay, by_replay, nowhere, nowhere, nowhere, nowhere)
    most, absent, raised, replayed_stood = limits_of(ceiling), np.isnan(seen.balance_pct), seen.raised_checks, stood
    carried, stood, empty = replayed.copy(), stood.copy(), np.zeros_like(by_replay)
    for bucket in ceiling.buckets:
        side = bucket.resource.side
        empty[side] = seen.balance_pct[side] < policy.empty_balance_pct
        by_balance = np.where(empty[side], bucket.free_rate, most[side])
        for figures in (carried, stood):
            figures[side] = np.where(absent[side], figures[side], by_balance)
    reached = total >= share * stood
    at_most = reached & (carried >= most)
    at = (reached & ~(at_most & (seen.exceeded == 0))) | raised
    return HostLimit(
        carried=carried,
        modeled=reached | by_replay,
        at=at,
        raised=raised,
        measured=raised | (at & empty),
        check_open=seen.check_unread & ((seen.exceeded > 0) | (at_most & (seen.exceeded == 0))),
        balance_open=seen.balance_unread & (empty | (~absent & (replayed_stood < most))),
    )


def _replay_credits(
    ceiling: Ceiling, total: CountedRates, demand: Demand, policy: Policy
) -> tuple[CountedRates, CountedRates]:
    """The rates that a host could have let through, and those at which it was the limit: [side, bucket].

    Its credits are spent by what was done (`total`). While they are spent, its baseline is the limit.
    """
    carried = np.repeat(limits_of(ceiling), total.shape[-1], axis=1)
    stood = carried
    for bucket in ceiling.buckets:
        side = bucket.resource.side
        if not is_never_spent(total[side], bucket, demand.lengths_s):
            left = credits_left(total[side], bucket, demand.lengths_s)
            stood = carried.copy() if stood is carried else stood
            carried[side] = np.minimum(carried[side], bucket.sustained_rate + left / demand.resolution_s)
            empty = left < policy.empty_balance_pct / 100 * bucket.capacity
            stood[side] = np.where(empty, np.minimum(carried[side], bucket.free_rate), carried[side])
    return carried, stood


def find_extra(demand: Demand, lifted: Demand, ceiling: Ceiling) -> CountedRates:
    """The rates of a lifted demand beyond the demand, as a ceiling counts."""
    return np.maximum(0.0, lifted.count(ceiling.accounting) - demand.count(ceiling.accounting))


def add_relief(
    room: HostRoom,
    load: HostLoad | None,
    demand: Demand,
    lifted: Demand,
    saturated: BoolArray,
    volume_ids: Collection[str],
    policy: Policy,
) -> HostRoom:
    """The room of some volumes with the room for relief; `lifted` is their demand without their own limits.

    What their host can carry beyond what all did is parted as more is asked for. If it was or would be the limit in
    half of the buckets in which they were held back, it takes relief back: it carries what it sustains.
    """
    if load is None or room.disproved or load.host.limits is None:
        return room
    mine, extra = demand.count(room.ceiling.accounting), find_extra(demand, lifted, room.ceiling)
    beside = sum((rates for name, rates in load.extras().items() if name not in volume_ids), np.zeros_like(extra))
    is_lifted = either_side(extra > LEAST_EXTRA)
    carried = _carry_in_relief(room, load, load.rates + extra + beside, saturated & is_lifted, demand, policy)
    spare = np.maximum(0.0, carried - load.rates)
    part = np.divide(extra, extra + beside, out=np.ones_like(extra), where=extra + beside > LEAST_EXTRA)
    relief = np.minimum(room.room, mine + np.maximum(spare * part, spare - beside))
    taken_back = is_lifted & either_side(mine + extra > relief * (1 + TOLERANCE))
    return replace(room, relief=relief, taken_back=taken_back)


def _carry_in_relief(
    room: HostRoom, load: HostLoad, wanted: CountedRates, lifted_by: BoolArray, demand: Demand, policy: Policy
) -> CountedRates:
    """The rates that a host carries if its volumes do what they `wanted`; what it sustains where it takes it back.

    `lifted_by` are the buckets of some volumes that are lifted because of each side.
    """
    carried = find_carried(load.host.ceiling, load.rates, wanted, load.seen, demand, policy)
    least = sustain(load.host.ceiling, load.rates, policy)
    by_host = either_side(wanted > carried * (1 + TOLERANCE)) | room.bound
    for at in lifted_by:
        held = at | room.bound
        if at.any() and demand.minutes(held & by_host) >= TAKEN_BACK * demand.minutes(held):
            carried = np.where(at, np.minimum(carried, least), carried)
    return carried


def find_carried(
    ceiling: Ceiling,
    total: CountedRates,
    wanted: CountedRates,
    seen: HostSeen | None,
    demand: Demand,
    policy: Policy,
) -> CountedRates:
    """The rates that a host lets through if its volumes, which did `total`, do what they `wanted`.

    Its credits are replayed with that. If a balance clearly showed credits where the replay of what was done has none,
    that replay is refuted: then the host carries its maximum, but where its balance was spent.
    """
    carried, _ = _replay_credits(ceiling, wanted, demand, policy)
    for bucket in ceiling.buckets:
        side = bucket.resource.side
        if seen is not None and not is_never_spent(total[side], bucket, demand.lengths_s):
            empty = policy.empty_balance_pct / 100 * bucket.capacity
            is_spent = credits_left(total[side], bucket, demand.lengths_s) < empty
            if demand.minutes(is_spent & (seen.balance_pct[side] >= CREDITS_LEFT_PCT)) >= REFUTING_MINUTES:
                is_empty = seen.balance_pct[side] < policy.empty_balance_pct
                carried[side] = np.where(is_empty, bucket.free_rate, limits_of(ceiling)[side])
    return carried


def sustain(ceiling: Ceiling, total: CountedRates, policy: Policy) -> CountedRates:
    """The rates that a host carries without credits: no more than was done in `total` where that is nearly all."""
    least = limits_of(ceiling)
    for bucket in ceiling.buckets:
        least[bucket.resource.side] = min(least[bucket.resource.side, 0], bucket.free_rate)
    return np.where(total >= policy.saturation_pct / 100 * least, total, least)
