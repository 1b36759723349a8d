"""Ports: a cloud that shows, tags and modifies volumes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from plimsoll.model.errors import CloudError
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.ports import Metrics, Target

Sights = Mapping[str, Volume | CloudError]
"""Volumes as they are now by id, or why they cannot be seen."""


class ModifyRefused(CloudError):
    """The cloud refused a modification. `until` is the time that it names for another attempt, None if none."""

    def __init__(self, sentence: str, code: str = "", until: datetime | None = None) -> None:
        """`sentence` is what a person reads."""
        super().__init__(sentence)
        self.code = code
        self.until = until


class VolumeChanger(Protocol):
    """A cloud's volumes, to look at and to modify, as far as a role may."""

    def look(self, target: Target, volume_ids: Sequence[str]) -> Sights:
        """Each volume as it is now, with its latest modification and what that makes of it.

        CloudError for one that cannot be seen, VolumeGone for one that does not exist. Raises CloudError.
        """
        ...

    def modify(self, target: Target, volume_id: str, now: VolumeSpec, then: VolumeSpec, request_id: str) -> datetime:
        """Asks once for a modification, every figure written out, and gives its start.

        `request_id` is a UUID of the intent, for clouds that know a repeated call by it. Raises ModifyRefused,
        Unanswered if it is not known whether it was taken, VolumeGone and other CloudErrors.
        """
        ...

    def find_starts(self, target: Target, volume_id: str, since: datetime) -> Sequence[datetime] | None:
        """The starts of all modifications of a volume by anybody, by the cloud's log; None if that may not be read."""
        ...

    def find_firing(self, target: Target, alarms: Sequence[str]) -> Sequence[str]:
        """The names of alarms that are not OK, or not there. Raises CloudError."""
        ...


class VolumeTagger(VolumeChanger, Protocol):
    """A changer that marks volumes as planned as well."""

    def tag(self, target: Target, volume_ids: Sequence[str], plan_id: str) -> None:
        """The volumes have a plan's tag from now on, in place of an earlier one. Raises CloudError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTools:
    """The tools of a plan in a cloud: its volumes, and the metrics by which its changes are judged."""

    changer: VolumeChanger
    metrics: Metrics
