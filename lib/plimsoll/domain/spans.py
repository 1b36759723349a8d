"""Spans: the epochs of a volume over the buckets of its demand, and how it stood in each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.domain.ceiling import RESOURCES, Ceiling
from plimsoll.domain.demand.batch_jobs import Told, did_in
from plimsoll.domain.demand.day_sums import DaySums, sums_of_demand
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.epochs import Epoch, epochs_of
from plimsoll.domain.demand.lifting import Lifted, Span
from plimsoll.domain.demand.record import hold_against_record
from plimsoll.domain.demand.saturation import HostLoad, host_room
from plimsoll.domain.demand.settling import EpochStand, raised
from plimsoll.domain.host import Host
from plimsoll.domain.metrics.knowledge import BoolArray
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.offers.offer import ceiling_on
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import EpochSummary
from plimsoll.domain.units import DAY_S
from plimsoll.domain.volume import Volume, VolumeSpec
from plimsoll.domain.volume_types import VolumeType


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochSpan:
    """An epoch, its buckets with the ceiling of the volume in it, and what its hosts carried (None: not known).

    `on_record` is what the volume was by a record that its traffic disproves (None: none is disproved), and `doubled_s`
    the minute, in epoch seconds, that was counted twice (None: none was).
    """

    epoch: Epoch
    span: Span
    hosts: Ceiling | None
    on_record: VolumeSpec | None = None
    doubled_s: int | None = None


def epoch_spans(
    volume: Volume,
    demand: Demand,
    types: Mapping[str, VolumeType],
    policy: Policy,
    days: DaySums | None = None,
    *,
    in_pool: bool = False,
) -> list[EpochSpan]:
    """The epochs of the window of a demand, oldest first, over its buckets. `days` are those before it and in it, None
    where only the window is known. What shares a pool (`in_pool`) may do more than its own size carries."""
    starts_s = demand.starts_s
    lengths_s = np.broadcast_to(np.asarray(demand.lengths_s), starts_s.shape)
    window = Window(start_s=int(starts_s[0]), end_s=int(starts_s[-1] + lengths_s[-1]))
    epochs = epochs_of(volume, window)
    parts = [part for epoch in epochs for part in _by_record(epoch, demand, types, in_pool=in_pool)]
    ceilings = [part.span.ceiling for part in parts]
    disproved_s = [part.epoch.window.end_s for part in parts if part.on_record is not None]
    told = _told(volume, demand, window, types, policy, days, disproved_s)
    found = []
    for place, (part, ceiling) in enumerate(zip(parts, ceilings, strict=True)):
        more = frozenset(resource for later in ceilings[place + 1 :] for resource in raised(ceiling, later))
        found.append(replace(part, span=replace(part.span, raised=more, told=told(part.epoch))))
    return found


def _by_record(epoch: Epoch, demand: Demand, types: Mapping[str, VolumeType], *, in_pool: bool) -> Iterator[EpochSpan]:
    """An epoch over the buckets of a demand; in two if what was carried disproves its record up to a time."""
    starts_s, hosts, ceiling = demand.starts_s, _carried(epoch.hosts), _ceiling(epoch, types)
    first, after = np.searchsorted(starts_s, (epoch.window.start_s, epoch.window.end_s)).tolist()
    span = Span(buckets=slice(first, after), ceiling=ceiling)
    if ceiling is None or in_pool:
        yield EpochSpan(epoch=epoch, span=span, hosts=hosts)
        return
    known, doubled = hold_against_record(demand, span.buckets, ceiling)
    doubled_s = None if doubled is None else int(starts_s[doubled])
    known_s = int(starts_s[known]) if known < after else epoch.window.end_s
    before, since = _split(epoch, known_s) if known > first else (None, epoch)
    if before is not None:
        unknown = Span(buckets=slice(first, known), ceiling=None)
        yield EpochSpan(epoch=before, span=unknown, hosts=hosts, on_record=epoch.spec)
    if known < after or before is None:
        span = replace(span, buckets=slice(known, after))
        yield EpochSpan(epoch=since, span=span, hosts=hosts, doubled_s=doubled_s)


def _split(epoch: Epoch, at_s: int) -> tuple[Epoch, Epoch]:
    """An epoch of which the configuration is known from a time on."""
    before, since = replace(epoch.window, end_s=at_s), replace(epoch.window, start_s=at_s)
    return replace(epoch, window=before, spec=None), replace(epoch, window=since)


def _told(
    volume: Volume,
    demand: Demand,
    window: Window,
    types: Mapping[str, VolumeType],
    policy: Policy,
    days: DaySums | None,
    disproved_s: Sequence[int],
) -> Callable[[Epoch], Told | None]:
    """What whole days tell of an epoch of a window; None of the first one that there is. Up to the times `disproved_s`
    the record of the epoch that they lie in is wrong."""
    epochs = epochs_of(volume, window if days is None else replace(window, start_s=days.start_s))
    for at_s in disproved_s:
        epochs = tuple(
            part
            for epoch in epochs
            for part in (_split(epoch, at_s) if epoch.window.start_s < at_s <= epoch.window.end_s else (epoch,))
            if part.window.start_s < part.window.end_s
        )
    if len(epochs) == 1:
        return lambda _: None
    known = days or sums_of_demand(demand).as_history(volume, policy)
    ceilings = [_ceiling(epoch, types) for epoch in epochs]
    midnights_s = demand.starts_s // DAY_S * DAY_S

    def told(epoch: Epoch) -> Told | None:
        before = [one for one in epochs if one.window.end_s <= epoch.window.start_s]
        whole = known.starts_s[known.whole_in(epoch.window)]
        did = tuple(did_in(before, ceilings[: len(before)], known))
        return Told(buckets=np.isin(midnights_s, whole), many=len(whole), did=did) if before else None

    return told


def stands(
    spans: Sequence[EpochSpan], demand: Demand, lifted: Lifted, host: HostLoad | None, policy: Policy
) -> list[EpochStand]:
    """How the volume stood in each epoch: on what it was saturated, and whether its host was the limit."""
    found = []
    for place, one in enumerate(spans):
        at = one.span.buckets
        saturated = frozenset(resource for resource in RESOURCES if lifted.saturated[resource][at].any())
        found.append(
            EpochStand(
                start_s=one.epoch.window.start_s,
                ceiling=one.span.ceiling,
                saturated=saturated,
                hosts=one.hosts,
                host_bound=place < len(spans) - 1 and _host_bound(one, demand, host, policy),
            )
        )
    return found


def of_type(spans: Sequence[EpochSpan], type_name: str, demand: Demand) -> BoolArray:
    """The buckets in which the volume was of that type."""
    where = np.zeros_like(demand.observed)
    for one in spans:
        where[one.span.buckets] = one.epoch.spec is not None and one.epoch.spec.type == type_name
    return where


def on_these_hosts(spans: Sequence[EpochSpan], demand: Demand) -> BoolArray:
    """The buckets in which the volume was on the hosts that it is on now."""
    where = np.ones_like(demand.observed)
    present = _named(spans[-1].epoch.hosts) if spans else None
    for one in spans:
        where[one.span.buckets] = _named(one.epoch.hosts) == present
    return where


def _named(hosts: Sequence[Host] | None) -> list[tuple[str, str]] | None:
    return None if hosts is None else sorted((host.id, host.type) for host in hosts)


def summaries(spans: Sequence[EpochSpan], demand: Demand, lifted: Lifted) -> tuple[EpochSummary, ...]:
    """What a report shows of the epochs."""
    held_back = lifted.any
    return tuple(
        EpochSummary(
            start_s=one.epoch.window.start_s,
            end_s=one.epoch.window.end_s,
            spec=one.epoch.spec,
            ceiling=one.span.ceiling,
            throttled_minutes=demand.minutes(_inside(held_back, one.span.buckets)),
        )
        for one in spans
    )


def _inside(where: BoolArray, at: slice) -> BoolArray:
    inside = np.zeros_like(where)
    inside[at] = where[at]
    return inside


def _ceiling(epoch: Epoch, types: Mapping[str, VolumeType]) -> Ceiling | None:
    """What the volume could carry in an epoch, as its type is published."""
    kind = None if epoch.spec is None else types.get(epoch.spec.type)
    if kind is None or epoch.spec is None:
        return None
    return ceiling_on(kind, epoch.spec, epoch.hosts or (), all_known=epoch.hosts is not None)


def _carried(hosts: Sequence[Host] | None) -> Ceiling | None:
    if not hosts:
        return None
    carried = hosts[0].ceiling
    for host in hosts[1:]:
        carried += host.ceiling
    return carried


def _host_bound(one: EpochSpan, demand: Demand, load: HostLoad | None, policy: Policy) -> bool:
    """Whether an earlier epoch's only host was the limit in it."""
    traffic = traffic_before(one.epoch, demand, load)
    if traffic is None:
        return False
    there = _inside(np.ones_like(demand.observed), one.span.buckets)
    room = host_room(demand, traffic, traffic.host.ceiling, policy, there)
    return bool(room.bound[one.span.buckets].any())


def traffic_before(epoch: Epoch, demand: Demand, load: HostLoad | None) -> HostLoad | None:
    """The traffic of an earlier epoch's only host; None if it had several, or is not known.

    What all volumes did is known of the host that they are on now. Of another one only this volume's is.
    """
    if epoch.hosts is None or len(epoch.hosts) != 1:
        return None
    (host,) = epoch.hosts
    if load is not None and load.host.id == host.id:
        return load.before(host)
    accounting = host.ceiling.accounting
    most_iops, most_throughput_mib_s = demand.most_counted(accounting)
    return HostLoad(
        host=host,
        iops=demand.counted_iops(accounting),
        throughput_mib_s=demand.counted_throughput_mib_s(accounting),
        most_iops=most_iops,
        most_throughput_mib_s=most_throughput_mib_s,
    )
