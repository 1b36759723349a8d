"""Ports: a cloud that shows, tags and modifies volumes."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from plimsoll.model.errors import CloudError
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.ports import Target

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
    """A cloud's volumes, to look at, to tag as planned and to modify, as far as a role may."""

    def look(self, target: Target, volume_ids: Sequence[str]) -> Sights:
        """Each volume as it is now, with its latest modification and what that makes of it.

        CloudError for one that cannot be seen, VolumeGone for one that does not exist. Raises CloudError.
        """
        ...

    def tag(self, target: Target, volume_ids: Sequence[str], plan_id: str) -> None:
        """The volumes have a plan's tag from now on, in place of an earlier one. Raises CloudError."""
        ...

    def modify(self, target: Target, volume_id: str, now: VolumeSpec, then: VolumeSpec) -> datetime:
        """Asks once for a modification, every figure written out, and gives its start.

        Raises ModifyRefused, Unanswered if it is not known whether it was taken, VolumeGone and other CloudErrors.
        """
        ...

    def find_starts(self, target: Target, volume_id: str, since: datetime) -> Sequence[datetime] | None:
        """The starts of all modifications of a volume by anybody, by the cloud's log; None if that may not be read."""
        ...

    def find_firing(self, target: Target, alarms: Sequence[str]) -> Sequence[str]:
        """The names of alarms that are not OK, or not there. Raises CloudError."""
        ...
