"""The events of CloudTrail that volumes and hosts leave behind."""

from datetime import datetime
from typing import Any

from cloud_simulator.aws.fleet import PastEvent
from cloud_simulator.published import VolumeSpec


def modify_event(volume_id: str, at: datetime, before: VolumeSpec, after: VolumeSpec) -> PastEvent:
    """A volume was changed."""
    modification = {
        "volumeId": volume_id,
        "modificationState": "modifying",
        "progress": 0,
        "startTime": at.isoformat(),
        **_figures("original", before),
        **_figures("target", after),
    }
    request = {"VolumeId": volume_id, "VolumeType": after.type}
    answered = {"ModifyVolumeResponse": {"requestId": "simulated", "volumeModification": modification}}
    return PastEvent(name="ModifyVolume", at=at, asked={"ModifyVolumeRequest": request}, answered=answered)


def attach_event(volume_id: str, at: datetime, host_id: str, device: str = "/dev/sdf") -> PastEvent:
    """A volume was attached."""
    named = {"volumeId": volume_id, "instanceId": host_id, "device": device}
    return PastEvent(name="AttachVolume", at=at, asked=named, answered={**named, "status": "attaching"})


def retype_event(host_id: str, at: datetime, type_name: str) -> PastEvent:
    """A host was given another type."""
    asked = {"instanceId": host_id, "instanceType": {"value": type_name}}
    return PastEvent(name="ModifyInstanceAttribute", at=at, asked=asked, answered={"_return": True})


def _figures(name: str, spec: VolumeSpec) -> dict[str, Any]:
    figures = {
        f"{name}VolumeType": spec.type,
        f"{name}Size": spec.size_gib,
        f"{name}Iops": spec.iops,
        f"{name}Throughput": spec.throughput_mib_s,
    }
    return {key: value for key, value in figures.items() if value is not None}
