"""Events: what happens to a living fleet beside the calls that are made to it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from cloud_simulator.published import VolumeSpec

FOREVER_S: Final = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbance:
    """A time in which volumes answer `latency` times as late, and `demand` times as much is asked of them.

    It is of a zone, of volumes with a tag (KEY=VALUE, as a release of an application is), or of one volume.
    """

    begins: datetime
    ends: datetime | None = None
    zone: str | None = None
    tag: str | None = None
    volume_id: str | None = None
    latency: float = 1.0
    demand: float = 1.0

    def is_of(self, volume_id: str, zone: str, tags: Mapping[str, str]) -> bool:
        """True for a volume that it disturbs."""
        key, _, value = (self.tag or "").partition("=")
        return (
            self.volume_id in {None, volume_id}
            and self.zone in {None, zone}
            and (self.tag is None or tags.get(key) == value)
        )

    @property
    def span_s(self) -> tuple[float, float]:
        """Its begin and end (epoch seconds)."""
        return self.begins.timestamp(), FOREVER_S if self.ends is None else self.ends.timestamp()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMove:
    """A host that is stopped, given a type (None: its own), and started again."""

    host_id: str
    at: datetime
    type: str | None = None
    down_s: float = 180.0

    @property
    def span_s(self) -> tuple[float, float]:
        """The time in which it is stopped (epoch seconds)."""
        return self.at.timestamp(), self.at.timestamp() + self.down_s


@dataclass(frozen=True, slots=True, kw_only=True)
class OthersModification:
    """A modification by somebody else. Nothing comes of it if EC2 refuses it then."""

    volume_id: str
    at: datetime
    after: VolumeSpec


FleetEvent = Disturbance | HostMove | OthersModification
_KINDS: Final[Mapping[str, type[FleetEvent]]] = {
    kind.__name__: kind for kind in (Disturbance, HostMove, OthersModification)
}
_TIMES: Final = frozenset({"begins", "ends", "at"})


def event_of(fields: Mapping[str, Any]) -> FleetEvent:
    """The event that JSON describes. Raises KeyError, TypeError or ValueError for what is none."""
    kind = _KINDS[fields["kind"]]
    read: dict[str, Any] = {
        name: datetime.fromisoformat(value) if name in _TIMES and value is not None else value
        for name, value in fields.items()
        if name != "kind"
    }
    if "after" in read:
        read["after"] = VolumeSpec(**read["after"])
    return kind(**read)


def event_fields(event: FleetEvent) -> dict[str, Any]:
    """An event as JSON."""
    times = {name: value.isoformat() for name in _TIMES if isinstance(value := getattr(event, name, None), datetime)}
    return {"kind": type(event).__name__, **asdict(event), **times}
