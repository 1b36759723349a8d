"""Hyperdisks: seen with their latest update, and given other figures in one call that Google knows by its id.

Compute Engine's v1 reference has the calls and their fields (`disks.update`, `regionDisks.update`, `Operation`, read
2026-11-27). Not proved on a live project: that an operation is of the type `update`, that two `paths` may change in one
call, by which reason an update within four hours of another is refused, and whether one that failed counts.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from google.api_core.exceptions import GoogleAPICallError, NotFound

from plimsoll.bootstrap.clocks import clock
from plimsoll.clouds.cloud import Reach
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.clouds.registry import GOOGLE
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import (
    AccessDenied,
    ApiDisabled,
    BadCredentials,
    CloudError,
    Throttled,
    Unanswered,
    Unexpected,
    VolumeGone,
)
from plimsoll.model.volume import Modification, Volume, VolumeSpec
from plimsoll.ports import Target, UnreadVolume
from plimsoll.settings import Settings
from plimsoll_change.clouds import CHANGE_CLOUDS
from plimsoll_change.ports import ChangeTools, ModifyRefused, Sights
from plimsoll_google.clients import Clients
from plimsoll_google.connection import google_clients, google_metrics
from plimsoll_google.disk_updates import DiskUpdate, begin_update, read_updates
from plimsoll_google.errors import GOOGLE_FAILURES, google_error, message_of, reason_of
from plimsoll_google.listing import read_named
from plimsoll_google.names import UPDATE_DISK, moment, within_project

CHANGING_DISKS: Final = CallPurpose(
    goes_on="Nothing was changed by it",
    allow="grant it to the caller there (`plimsoll permissions --cloud google --for change`)",
    again="it is tried again in the next pass",
)
RATE_EXCEEDED: Final = "RESOURCE_OPERATION_RATE_EXCEEDED"
_RATE: Final = re.compile(r"resource_?operation_?rate_?exceeded|operation rate exceeded|\d+ hours", re.IGNORECASE)
_SERVER_FAILED: Final = 500
_QUOTAS: Final = {"QUOTA_EXCEEDED": "quotaExceeded", "quotaExceeded": "quotaExceeded"}
_CODES_OF: Final = ((Throttled, "rateLimitExceeded"), (AccessDenied, "forbidden"))


@dataclass(slots=True, kw_only=True)
class GoogleChanger:
    """The disks of the projects that the clients reach. `now` is the time that runs go by."""

    clients: Clients
    now: Callable[[], datetime]
    _paths: dict[tuple[Target, str], str] = field(default_factory=dict, init=False, repr=False)

    def look(self, target: Target, volume_ids: Sequence[str]) -> Sights:
        """Each disk as it is now, or why it cannot be seen: VolumeGone if no disk of the project has its id."""
        sights, scopes = dict[str, Volume | CloudError](), dict[str, list[str]]()
        for entry in read_named(self.clients, target, volume_ids, CHANGING_DISKS):
            self._paths.pop((target, entry.id or ""), None)
            if isinstance(entry, UnreadVolume):
                sights |= {entry.id: entry.error} if entry.id else {}
                continue
            sights[entry.id] = entry.found
            if isinstance(entry.found, Volume):
                self._paths[target, entry.id] = entry.path
                scopes.setdefault(_scope_of(entry.path), []).append(entry.id)
        for scope, ids in scopes.items():
            latest = _find_latest(read_updates(self.clients, target, scope, ids, CHANGING_DISKS))
            for name, update in latest.items():
                if isinstance(disk := sights.get(name), Volume):
                    sights[name] = replace(disk, modification=_modification(update, disk.spec))
        lost = Unexpected(f"Google's list of disks in {target} has this one twice, or not at all: it is read again.")
        return {name: sights.get(name, lost) for name in volume_ids}

    def modify(self, target: Target, volume_id: str, now: VolumeSpec, then: VolumeSpec, request_id: str) -> datetime:
        """Asks for other IOPS and throughput under a request's id, and gives the operation's start."""
        place = f"{volume_id} in {target}"
        if (now.type, now.size_gib) != (then.type, then.size_gib):
            code = "UnsupportedOperation"
            raise ModifyRefused(f"{code}: only IOPS and throughput of {place} change in place, not {then}.", code)
        figures = {"provisionedIops": then.iops, "provisionedThroughput": then.throughput_mib_s}
        written = {name: figure for name, figure in figures.items() if figure is not None}
        path = self._find_path(target, volume_id)
        try:
            update = begin_update(self.clients, path, written, request_id, place)
        except GOOGLE_FAILURES as error:
            raise self._refusal(error, target, volume_id) from error
        return moment(update.begun)

    def find_starts(self, target: Target, volume_id: str, since: datetime) -> Sequence[datetime] | None:
        """The starts of a disk's updates by anybody, by its zone's operations; None if those may not be read."""
        scope = _scope_of(self._find_path(target, volume_id))
        try:
            updates = list(read_updates(self.clients, target, scope, [volume_id], CHANGING_DISKS))
        except AccessDenied:
            return None
        return sorted(begun for update in updates if (begun := moment(update.begun)) >= since)

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

    def _refusal(self, error: Exception, target: Target, volume_id: str) -> CloudError:
        """The error of an update: refused by a reason, not answered, or not for this disk's reasons."""
        place = f"{volume_id} in {target}"
        translated = google_error(error, f"modify {place}", str(target), UPDATE_DISK, CHANGING_DISKS)
        if isinstance(translated, BadCredentials | ApiDisabled):
            return translated
        if not isinstance(error, GoogleAPICallError) or int(error.code or _SERVER_FAILED) >= _SERVER_FAILED:
            return Unanswered(f"no answer to disks.update of {place}: {type(error).__name__}.")
        if isinstance(error, NotFound):
            return VolumeGone(f"{place} does not exist any more.")
        reason, message = reason_of(error), message_of(error)
        if _RATE.search(f"{reason} {message}"):
            return ModifyRefused(f"{RATE_EXCEEDED}: {message}", RATE_EXCEEDED, self._find_free(target, volume_id))
        by_kind = (code for kind, code in _CODES_OF if isinstance(translated, kind))
        code = _QUOTAS.get(reason) or next(by_kind, reason)
        return ModifyRefused(f"{code}: {message}", code)

    def _find_free(self, target: Target, volume_id: str) -> datetime | None:
        """The time of another update by those that are known; None if none is."""
        slots = CHANGE_CLOUDS[GOOGLE].slots
        starts = self.find_starts(target, volume_id, self.now() - timedelta(hours=slots.hours))
        return slots.find_next(starts or (), is_back=True)


def open_projects(scope: Scope, settings: Settings) -> ChangeTools:
    """The disks of this machine's credentials, and their metrics."""
    clients, reach = google_clients(settings), Reach(scope=scope, settings=settings, today=clock().now().date())
    return ChangeTools(changer=GoogleChanger(clients=clients, now=clock().now), metrics=google_metrics(clients, reach))


def _scope_of(path: str) -> str:
    """The zone or region of a disk's path: zones/us-central1-a."""
    return within_project(path).partition("/disks/")[0]


def _find_latest(updates: Iterable[DiskUpdate]) -> dict[str, DiskUpdate]:
    latest: dict[str, DiskUpdate] = {}
    for update in updates:
        name = str(update.disk_id)
        if name not in latest or moment(latest[name].begun) < moment(update.begun):
            latest[name] = update
    return latest


def _modification(update: DiskUpdate, spec: VolumeSpec) -> Modification:
    """The update as a modification. Its target is known once it is done: the disk has the figures of its latest one."""
    state = "modifying" if update.status != "DONE" else "failed" if update.failure else "completed"
    return Modification(
        state=state,
        started=moment(update.begun),
        ended=moment(update.ended) if update.ended is not None else None,
        target=spec if state == "completed" else None,
        message=update.failure,
        request_id=update.request_id,
    )
