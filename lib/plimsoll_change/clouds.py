"""Clouds: how volumes change in each, a row each; without a row, by their owners' hands alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from plimsoll.clouds.registry import AWS, GOOGLE
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Target
from plimsoll_change.ports import ChangeTools, Sights, VolumeChanger
from plimsoll_change.rules import SlotRule

Refusal = tuple[timedelta | None, str]
"""The time until another attempt, None if a way forth has none, and the sentence."""

_HOUR: Final = timedelta(hours=1)
_SOON: Final = timedelta(minutes=5)

_EC2: Final[Mapping[str, Refusal]] = {
    "VolumeModificationRateExceeded": (timedelta(hours=6), "no slot is free"),
    "IncorrectModificationState": (_HOUR, "an earlier modification is not complete"),
    "IncorrectState": (_HOUR, "the volume's state does not allow it now"),
    "VolumeModificationSizeLimitExceeded": (_HOUR, "the region's quota under modification is full"),
    "MaxIOPSLimitExceeded": (_HOUR, "the region's quota of IOPS is full: ask for a higher one"),
    "VolumeLimitExceeded": (_HOUR, "the region's quota of storage is full: ask for a higher one"),
    "RequestLimitExceeded": (_SOON, "the cloud takes no more calls just now"),
    "UnauthorizedOperation": (None, "ec2:ModifyVolume is not allowed"),
    "OperationNotPermitted": (None, "a service manages the volume"),
    "UnsupportedOperation": (None, "the cloud does not do this with such a volume"),
    "InvalidParameterValue": (None, "the cloud does not take these figures"),
    "InvalidParameterCombination": (None, "the cloud does not take these figures together"),
}
"""Amazon EC2 API Reference, "Error codes", read 2026-11-27."""

_COMPUTE_ENGINE: Final[Mapping[str, Refusal]] = {
    "RESOURCE_OPERATION_RATE_EXCEEDED": (timedelta(hours=4), "no slot is free"),
    "resourceNotReady": (_HOUR, "the disk's state does not allow it now"),
    "quotaExceeded": (_HOUR, "a quota of the project is full: ask for a higher one"),
    "rateLimitExceeded": (_SOON, "the cloud takes no more calls just now"),
    "forbidden": (None, "compute.disks.update is not allowed"),
    "UnsupportedOperation": (None, "a disk's type and size do not change in place"),
    "invalid": (None, "the cloud does not take these figures"),
}
"""Google Cloud's pages "Troubleshoot quota errors", "Concurrent operation quotas" and "Troubleshoot bulk VM creation",
read 2026-11-27; the second is how users of Compute Engine report it, and the first is not proved for disks.update."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCloud:
    """A cloud in which volumes are changed."""

    slots: SlotRule
    call: str  # with which a step begins that is the API's own call
    refusals: Mapping[str, Refusal]  # by the code of a call that was refused
    has_patches: bool = True  # what owners change with their tools is planned too, as a patch for them
    moving_h_a_tib: float = 0.0  # until a change is whole; nothing is taken back before


CHANGE_CLOUDS: Final[Mapping[str, ChangeCloud]] = {
    # Amazon EBS User Guide, "Modify a volume", read 2026-11-20: four in 24 hours, and about six hours a TiB.
    AWS: ChangeCloud(
        slots=SlotRule(most=4, hours=24.0),
        call="aws ec2 modify-volume ",
        refusals=_EC2,
        moving_h_a_tib=6.0,
    ),
    # Hyperdisk's figures about once in four hours, as data/types.yaml of Google's package has it.
    GOOGLE: ChangeCloud(
        slots=SlotRule(most=1, hours=4.0),
        call="gcloud compute disks update ",
        refusals=_COMPUTE_ENGINE,
        has_patches=False,
    ),
}

OpenTools = Callable[[str], ChangeTools]
"""The tools of a cloud by its name."""


@dataclass(frozen=True, slots=True)
class CloudsChanger:
    """The volumes of several clouds: each is looked at and modified by the changer of its own."""

    tools: OpenTools

    def look(self, target: Target, volume_ids: Sequence[str]) -> Sights:
        """Each volume as it is now."""
        return self._changer_at(target).look(target, volume_ids)

    def modify(self, target: Target, volume_id: str, now: VolumeSpec, then: VolumeSpec, request_id: str) -> datetime:
        """Asks once for a modification, and gives its start."""
        return self._changer_at(target).modify(target, volume_id, now, then, request_id)

    def find_starts(self, target: Target, volume_id: str, since: datetime) -> Sequence[datetime] | None:
        """The starts of all modifications of a volume; None if they may not be read."""
        return self._changer_at(target).find_starts(target, volume_id, since)

    def find_firing(self, target: Target, alarms: Sequence[str]) -> Sequence[str]:
        """The names of alarms that are not OK, or not there."""
        return self._changer_at(target).find_firing(target, alarms)

    def _changer_at(self, target: Target) -> VolumeChanger:
        return self.tools(target.provider).changer
