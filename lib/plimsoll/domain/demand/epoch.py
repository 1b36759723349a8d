"""An epoch: a span of time in which a volume and its hosts did not change."""

from dataclasses import dataclass, field, replace

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.host import Host
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.volume import VolumeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """A span of time in which a volume and its hosts did not change."""

    window: Window
    spec: VolumeSpec | None
    """None where it is not known."""
    hosts: tuple[Host, ...] | None = None
    """None where they are not known."""
    ceiling: Ceiling | None = None
    """The ceiling of the volume on these hosts, None where it is not known: then nothing is saturated."""
    buckets: slice = field(default_factory=lambda: slice(None), compare=False)
    """Its buckets of a demand."""
    raised: frozenset[Resource] = field(default=frozenset(), compare=False)
    """The resources of which a later epoch has more: that one shows what the workload does, so nothing is lifted."""
    saturated: frozenset[Resource] = field(default=frozenset(), compare=False)
    throttled_minutes: float = 0.0
    host_bound: bool = field(default=False, compare=False)
    """An earlier epoch whose only host was the limit in it."""
    on_record: VolumeSpec | None = field(default=None, compare=False)
    """The spec by a record that its traffic disproves."""
    doubled_s: int | None = field(default=None, compare=False)
    """The minute, in epoch seconds, that was counted twice."""

    @property
    def host_ceiling(self) -> Ceiling | None:
        """The ceiling of its hosts together, None where they are not known."""
        if not self.hosts:
            return None
        carried = self.hosts[0].ceiling
        for host in self.hosts[1:]:
            carried += host.ceiling
        return carried

    def split_at(self, at_s: int) -> "tuple[Epoch, Epoch]":
        """The epoch as two: its spec is known from a time on."""
        before, since = replace(self.window, end_s=at_s), replace(self.window, start_s=at_s)
        return replace(self, window=before, spec=None), replace(self, window=since)
