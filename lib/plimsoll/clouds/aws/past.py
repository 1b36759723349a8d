"""The past of a volume: what CloudTrail tells of it and of its hosts, as sightings."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from plimsoll.clouds.aws.hosts import Hosts
from plimsoll.clouds.aws.trail import Altered, Trail
from plimsoll.domain.demand.epochs import MADE_WITH_S, in_whole_minutes
from plimsoll.domain.host import Host
from plimsoll.domain.volume import Seen, Volume


def with_past(volume: Volume, trail: Trail, hosts: Hosts) -> Volume:
    """The volume with what its trail tells of its past; raises CloudError."""
    altered = trail.altered.get(volume.id, [])
    changes = {*volume.recent_changes, *(at for at, _ in altered)}
    seen = sorted([*_specs(altered), *_hosts(volume, trail, hosts)], key=lambda one: one.at_s)
    return replace(volume, seen=tuple(seen), recent_changes=tuple(sorted(changes)))


def _specs(altered: Sequence[tuple[datetime, Altered]]) -> Iterator[Seen]:
    for at, change in altered:
        at_s = in_whole_minutes(at.timestamp())
        yield Seen(at_s=at_s, spec=change.before)
        yield Seen(at_s=at_s, spec=change.after, made=True)


def _hosts(volume: Volume, trail: Trail, hosts: Hosts) -> Iterator[Seen]:
    """Where the volume was, of a volume with one host alone: when it was attached, and when that got another type."""
    if volume.multi_attach or len(volume.attachments) != 1 or not volume.hosts:
        return
    since, present = volume.attachments[0].since, volume.hosts[0]
    if since >= trail.since and (since - volume.created).total_seconds() > MADE_WITH_S:
        for at, host_id in trail.attached(volume.id):
            yield from _seen(at, _as_of(host_id, at, trail, hosts))
    for at, given in trail.retyped.get(present.id, []):
        if at > since:
            yield from _seen(at, hosts.as_type(present.id, given))


def _seen(at: datetime, host: Host | None) -> Iterator[Seen]:
    if host is not None:
        alone = replace(host, tags=(), running_since=None)
        yield Seen(at_s=in_whole_minutes(at.timestamp()), hosts=(alone,), made=True)


def _as_of(host_id: str, at: datetime, trail: Trail, hosts: Hosts) -> Host | None:
    """A host as it was at a time. None where it is gone, or got a type later and nothing says which it had before."""
    given = trail.retyped.get(host_id, [])
    before = [kind for when, kind in given if when <= at]
    if not before and given:
        return None
    return hosts.as_type(host_id, before[-1] if before else None)
