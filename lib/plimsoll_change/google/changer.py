"""Hyperdisks: seen with their latest update, and given other figures in one call that Google knows by its id."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from plimsoll.bootstrap.clocks import clock
from plimsoll.clouds.cloud import Reach
from plimsoll.clouds.registry import GOOGLE
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import AccessDenied, CloudError, Unexpected
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.ports import Target, UnreadVolume
from plimsoll.settings import Settings
from plimsoll_change.clouds import CHANGE_CLOUDS
from plimsoll_change.ports import ChangeTools, ModifyRefused, Sights
from plimsoll_google.clients import Clients
from plimsoll_google.connection import google_clients, google_metrics
from plimsoll_google.disk_updates import RATE_EXCEEDED, UpdateRefused, begin_update, read_disks, read_starts


@dataclass(slots=True, kw_only=True)
class GoogleChanger:
    """The disks of the projects that the clients reach. `now` is the time that runs go by."""

    clients: Clients
    now: Callable[[], datetime]
    _paths: dict[tuple[Target, str], str] = field(default_factory=dict, init=False, repr=False)

    def look(self, target: Target, volume_ids: Sequence[str]) -> Sights:
        """Each disk as it is now, or why it cannot be seen: VolumeGone if no disk of the project has its id."""
        sights = dict[str, Volume | CloudError]()
        for entry in read_disks(self.clients, target, volume_ids):
            self._paths.pop((target, entry.id or ""), None)
            if isinstance(entry, UnreadVolume):
                sights |= {entry.id: entry.error} if entry.id else {}
            else:
                sights[entry.id], self._paths[target, entry.id] = entry.found, entry.path
        lost = Unexpected(f"Google's list of disks in {target} lacks this one, which may be there: it is read again.")
        return {name: sights.get(name, lost) for name in volume_ids}

    def modify(self, target: Target, volume_id: str, now: VolumeSpec, then: VolumeSpec, request_id: str) -> datetime:
        """Asks for other IOPS and throughput under a request's id, and gives the operation's start."""
        if (now.type, now.size_gib) != (then.type, then.size_gib):
            code = "UnsupportedOperation"
            raise ModifyRefused(f"{code}: only IOPS and throughput of {volume_id} change in place, not {then}.", code)
        figures = {"provisionedIops": then.iops, "provisionedThroughput": then.throughput_mib_s}
        written = {name: figure for name, figure in figures.items() if figure is not None}
        try:
            return begin_update(self.clients, target, self._find_path(target, volume_id), written, request_id)
        except UpdateRefused as refused:
            since, is_rate = self.now() - timedelta(days=1), refused.code == RATE_EXCEEDED
            starts = self.find_starts(target, volume_id, since) if is_rate else None
            until = CHANGE_CLOUDS[GOOGLE].slots.find_next(starts or (), is_back=True)
            raise ModifyRefused(str(refused), refused.code, until) from refused

    def find_starts(self, target: Target, volume_id: str, since: datetime) -> Sequence[datetime] | None:
        """The starts of a disk's updates by anybody, by its zone's operations; None if those may not be read."""
        try:
            starts = read_starts(self.clients, target, volume_id, self._find_path(target, volume_id))
        except AccessDenied:
            return None
        return sorted(start for start in starts if start >= since)

    def find_firing(self, _target: Target, _alarms: Sequence[str]) -> Sequence[str]:
        """None: the alarms of a plan's rules are CloudWatch's."""
        return ()

    def _find_path(self, target: Target, volume_id: str) -> str:
        """The path of a disk as it was last seen. Raises CloudError, VolumeGone if it is gone."""
        if (target, volume_id) not in self._paths:
            sight = self.look(target, [volume_id])[volume_id]
            if isinstance(sight, CloudError):
                raise sight
        return self._paths[target, volume_id]


def open_projects(scope: Scope, settings: Settings) -> ChangeTools:
    """The disks of this machine's credentials, and their metrics."""
    clients, reach = google_clients(settings), Reach(scope=scope, settings=settings, today=clock().now().date())
    return ChangeTools(changer=GoogleChanger(clients=clients, now=clock().now), metrics=google_metrics(clients, reach))
