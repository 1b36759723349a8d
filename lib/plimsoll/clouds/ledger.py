"""The ledger: what successive audits saw of each volume, its changes, and what was promised of it.

Clouds show only a volume's latest change, and not where it was attached before. Four changes a day are the limit, and
what a volume could do in the past decides what its demand then says; so both are noted.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from plimsoll.demand.epochs import MADE_WITH_S, round_up_to_minute
from plimsoll.files import atomic_path
from plimsoll.model.errors import BadInput
from plimsoll.model.volume import Seen, Volume
from plimsoll.ports import FailedTarget, Inventory, Target, UnreadVolume
from plimsoll.risk.watch import Promised

KEPT: Final = timedelta(days=2)
"""Changes older than this no longer count against any limit and are dropped."""

SEEN_KEPT: Final = timedelta(days=455)
"""What was seen longer ago is dropped: no cloud keeps metrics of that time."""

GONE_KEPT: Final = timedelta(days=93)
"""What is known of a volume that was not seen since is dropped."""

_SEEN: Final = "/seen"
_PROMISED: Final = "/promised"
"""The keys of what was seen of all volumes, and of what was promised of them. No volume's id has a slash."""


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Starts of changes, sightings in their order, and promises, by volume id, in a small JSON file."""

    path: Path
    starts: dict[str, set[datetime]] = field(default_factory=dict)
    seen: dict[str, tuple[Seen, ...]] = field(default_factory=dict)
    promised: dict[str, Promised] = field(default_factory=dict)
    _met: dict[str, tuple[Seen, ...]] = field(default_factory=dict, repr=False)

    @classmethod
    def at(cls, path: Path) -> "Ledger":
        """The ledger in that file, empty where there is none; BadInput where it cannot be read."""
        if not path.exists():
            return cls(path=path)
        try:
            noted = json.loads(path.read_text(encoding="utf-8"))
            seen = _read(noted.pop(_SEEN, {}))
            promised = _promises().validate_python(noted.pop(_PROMISED, {}))
            starts = {volume_id: {_zoned(start) for start in found} for volume_id, found in noted.items()}
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise BadInput(
                f"the ledger of changes {path} cannot be read ({error}): move it away, and a new one is begun."
            ) from error
        return cls(path=path, starts=starts, seen=seen, promised=promised)

    def note(self, volume: Volume) -> Volume:
        """The volume with every change known of it, and what earlier audits saw of it where that was another."""
        if volume.modification is not None:
            self.starts.setdefault(volume.id, set()).update((volume.modification.started, *volume.recent_changes))
        self._met[volume.id] = tuple(_told(volume))
        known = self.seen.get(volume.id, ())
        changes = tuple(sorted(self.starts.get(volume.id, ())))
        seen = sorted((*volume.seen, *known), key=lambda one: one.at_s)
        return replace(volume, recent_changes=changes, seen=tuple(seen) if _differs(seen, volume) else ())

    def save(self, now: datetime) -> None:
        """Writes what still counts, with what this audit saw; BadInput where the file cannot be written."""
        kept: dict[str, Any] = {
            volume_id: sorted(start.isoformat() for start in found if now - start < KEPT)
            for volume_id, found in sorted(self.starts.items())
        }
        seen = {volume_id: self._with(volume_id, now) for volume_id in sorted({*self.seen, *self._met})}
        written = {name: found for name, found in kept.items() if found}
        written |= {_SEEN: _written({name: found for name, found in seen.items() if found})}
        oldest_s = (now - GONE_KEPT).timestamp()
        promised = {name: found for name, found in sorted(self.promised.items()) if found.at_s >= oldest_s}
        if promised:
            written |= {_PROMISED: _promises().dump_python(promised, mode="json")}
        with atomic_path(self.path) as beside:
            beside.write_text(json.dumps(written, separators=(",", ":")), encoding="utf-8")

    def _with(self, volume_id: str, now: datetime) -> Sequence[Seen]:
        """The sightings of a volume, this audit's included; of equal ones in a row the first and the last.

        None of a volume that was last seen longer ago than `GONE_KEPT`, nor any older than `SEEN_KEPT`.
        """
        found = list(self.seen.get(volume_id, ()))
        found += [one for one in _dated(self._met.get(volume_id, ()), now) if one not in found]
        kept: list[Seen] = []
        if max((one.at_s for one in found), default=0) < (now - GONE_KEPT).timestamp():
            return kept
        for one in sorted(found, key=lambda one: one.at_s):
            if one.at_s < (now - SEEN_KEPT).timestamp():
                continue
            if len(kept) > 1 and _says(kept[-2]) == _says(kept[-1]) == _says(one):
                kept.pop()
            kept.append(one)
        return kept


def _told(volume: Volume) -> Iterator[Seen]:
    """Yields the sightings by an audit: the volume now (at no time yet), and its past by its latest change."""
    change = volume.modification
    if change is not None and change.original is not None:
        changed_s = round_up_to_minute(change.started.timestamp())
        yield Seen(at_s=changed_s, spec=change.original)
        yield Seen(at_s=changed_s, spec=volume.spec, made=True)
    hosts = None
    if len(volume.hosts) == len(volume.attachments):
        hosts = tuple(replace(host, tags=(), running_since=None) for host in volume.hosts)
    if hosts and len(hosts) == 1:
        attached_s = round_up_to_minute(volume.attachments[0].since.timestamp())
        yield Seen(at_s=attached_s, hosts=hosts, made=attached_s > volume.created.timestamp() + MADE_WITH_S)
    yield Seen(at_s=0, spec=volume.spec, hosts=hosts)


def _dated(told: Iterable[Seen], now: datetime) -> Iterator[Seen]:
    """The same, with the time of the audit where there is none yet."""
    for one in told:
        yield one if one.at_s else replace(one, at_s=int(now.timestamp()))


def _says(one: Seen) -> tuple[object, ...]:
    return one.spec, None if one.hosts is None else [(host.id, host.type) for host in one.hosts]


def _differs(known: Iterable[Seen], volume: Volume) -> bool:
    """True if any sighting has another configuration or other hosts than the volume has now."""
    now = _says(Seen(at_s=0, spec=volume.spec, hosts=volume.hosts))
    return any(then is not None and then != what for one in known for then, what in zip(_says(one), now, strict=True))


def _written(seen: Mapping[str, Sequence[Seen]]) -> dict[str, Any]:
    """Sightings as plain values: hosts once, and by their place among them in each sighting."""
    hosts: dict[str, int] = {}
    volumes: dict[str, list[list[Any]]] = {}
    for volume_id, found in seen.items():
        rows = volumes[volume_id] = []
        for one in found:
            plain = _adapter().dump_python(one, mode="json", exclude_none=True)
            if "hosts" in plain:
                named = [json.dumps(host, sort_keys=True) for host in plain["hosts"]]
                plain["hosts"] = [hosts.setdefault(host, len(hosts)) for host in named]
            rows.append([plain["at_s"], plain.get("spec"), plain.get("hosts"), one.made])
    return {"hosts": [json.loads(host) for host in hosts], "volumes": volumes}


def _read(written: Mapping[str, Any]) -> dict[str, tuple[Seen, ...]]:
    """Sightings from plain values; ValueError, TypeError and AttributeError for what are none."""
    hosts = written.get("hosts", [])
    return {
        volume_id: tuple(
            _adapter().validate_python(
                {
                    "at_s": at_s,
                    "spec": spec,
                    "hosts": None if on is None else [_of(hosts, place) for place in on],
                    "made": made,
                }
            )
            for at_s, spec, on, made in found
        )
        for volume_id, found in written.get("volumes", {}).items()
    }


def _of(hosts: Sequence[Any], place: object) -> Any:
    if not isinstance(place, int) or not 0 <= place < len(hosts):
        raise ValueError(f"it has no host {place}")
    return hosts[place]


@cache
def _adapter() -> TypeAdapter[Seen]:
    return TypeAdapter(Seen)


@cache
def _promises() -> TypeAdapter[dict[str, Promised]]:
    return TypeAdapter(dict[str, Promised])


def _zoned(written: str) -> datetime:
    """The time that is written; ValueError for one without a zone, which could be any."""
    time = datetime.fromisoformat(written)
    if time.tzinfo is None:
        raise ValueError(f"{written} has no time zone")
    return time


@dataclass(slots=True, kw_only=True)
class NotedInventory:
    """An inventory whose volumes carry the changes that the ledger knows, and what earlier audits saw of them."""

    inventory: Inventory
    ledger: Ledger

    def targets(self) -> Sequence[Target | FailedTarget]:
        return self.inventory.targets()

    def volumes(self, target: Target) -> Iterator[Volume | UnreadVolume]:
        """The target's volumes with what is known of their past."""
        for one in self.inventory.volumes(target):
            yield self.ledger.note(one) if isinstance(one, Volume) else one

    def notices(self, target: Target) -> Sequence[str]:
        return self.inventory.notices(target)
