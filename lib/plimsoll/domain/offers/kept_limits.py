"""Kept limits: what of its limits a volume can use, and so what a same-limits replacement keeps.

What its hosts can never carry is not bought again. Hosts that may be others tomorrow take nothing from it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.demand.epoch import Epoch
from plimsoll.domain.demand.need import Need
from plimsoll.domain.demand.settling import Settles, Unsettled
from plimsoll.domain.groups.group import template_of
from plimsoll.domain.offers.offer import KeptLimits, all_limits, too_small
from plimsoll.domain.policy import Policy
from plimsoll.domain.units import DAY_S
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import VolumeType

_CAME: Final = frozenset({Unsettled.MOVED, Unsettled.REATTACHED})
"""Why nobody knows on what hosts it was before."""


def kept_limits(volume: Volume, kind: VolumeType, present: Ceiling, hosts: Ceiling, *, may_move: bool) -> KeptLimits:
    """The limits that a volume can use on hosts that carry so much, all of them where it `may_move` to others.

    Caps of a type by the host are limits of the volume already.
    """
    if may_move or any(host.caps is not None for host in volume.hosts):
        return all_limits(volume, kind, present)
    most = present.counted_as(hosts.accounting)
    if not any(too_small("", hosts, Need(iops=most.iops, throughput_mib_s=most.throughput_mib_s))):
        return KeptLimits(ceiling=present)
    return KeptLimits(ceiling=present & replace(hosts, buckets=()), by_host=True)


def may_move(volume: Volume, epochs: Sequence[Epoch], arrived: Iterable[Settles], policy: Policy, now_s: float) -> bool:
    """Whether a volume may be on another host tomorrow: a host is stopped, a template or a takeover moves it, or it was
    on another type of host in the memory."""
    types = {host.type for host in volume.hosts}
    seen = [one.hosts or () for one in volume.seen if one.at_s >= now_s - policy.memory_days * DAY_S]
    earlier = {host.type for hosts in (*(epoch.hosts or () for epoch in epochs), *seen) for host in hosts}
    return (
        any(host.stopped_since is not None for host in volume.hosts)
        or template_of(volume) is not None
        or any(tag in volume.tags for tag in policy.takeover_tags)
        or bool(earlier - types)
        or any(one.why in _CAME for one in arrived)
    )
