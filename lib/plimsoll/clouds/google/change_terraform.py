"""Terraform: a change as the Google provider's resources have it written."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.clouds.google.change_steps import (
    STOPPING,
    Copy,
    Way,
    disk_name,
    is_regional,
    new_name,
    plain_type,
    repeated,
    snapshot_name,
    update_lines,
    way,
    zones_of,
)
from plimsoll.domain.volume import Volume, VolumeSpec
from plimsoll.domain.volume_types import VolumeType


def terraform(volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType]) -> Iterator[str]:
    """What Terraform is told: attributes where it is done in place, else a second disk beside the first."""
    module = f" in {volume.owner.name}" if volume.owner.name else ""
    if way(volume.spec, target, types) is Way.IN_PLACE:
        yield from _attributes(volume, target, module)
        yield repeated(volume, target, types)
        yield "Changed outside Terraform it drifts, and the next apply brings the old figures back."
        return
    yield (
        f"Do not change `type` of {disk_name(volume)} in Terraform{module}: it would delete the disk with its data and "
        "make an empty one. With nothing writing to it, take a snapshot:"
    )
    yield " &&\n".join(Copy(volume=volume, target=target).snapshot_lines())
    yield "Then write a second disk beside it, made from the snapshot:"
    yield from _second_disk(volume, target)
    yield _attachment(volume)
    yield (
        "Keep the old resource, with prevent_destroy in its lifecycle, until the new disk has proved itself: it is the "
        "way back, without what was written since. A swap by gcloud alone is undone by the next apply."
    )


def _attributes(volume: Volume, target: VolumeSpec, module: str) -> Iterator[str]:
    resource = "google_compute_region_disk" if is_regional(volume.spec.type) else "google_compute_disk"
    if volume.boot:
        yield from update_lines(volume, target)
        yield (
            f"and the same figures in Terraform{module}, boot_disk.initialize_params of its google_compute_instance, "
            f"or its {resource}; the plan must not replace the VM."
        )
        return
    yield f"In Terraform{module}, the {resource} of {disk_name(volume)}:"
    yield from _assignments(_figures(target), changed_from=_figures(volume.spec))


def _second_disk(volume: Volume, target: VolumeSpec) -> Iterator[str]:
    name = new_name(volume, target)
    if is_regional(target.type):
        resource = "google_compute_region_disk"
        place: dict[str, Any] = {"region": volume.region, "replica_zones": list(zones_of(volume))}
    else:
        resource, place = "google_compute_disk", {"zone": zones_of(volume)[0]}
    yield f"resource {_hcl(resource)} {_hcl(name.replace('-', '_'))} {{"
    attributes = {"name": name, "type": plain_type(target.type), **place, "snapshot": snapshot_name(volume, target)}
    yield from _assignments({**attributes, **_figures(target)}, changed_from={})
    yield "}"


def _attachment(volume: Volume) -> str:
    if volume.boot:
        return (
            "and name it as `source` of the instance's boot_disk, in the place of initialize_params. Terraform "
            "replaces the VM for that: first see that the old boot disk has auto_delete = false."
        )
    return (
        "and point the google_compute_attached_disk (or the instance's attached_disk) at it, with the same "
        f"device_name; apply, start the VM, look. {STOPPING}"
    )


def _figures(spec: VolumeSpec) -> dict[str, Any]:
    figures = {"size": spec.size_gib, "provisioned_iops": spec.iops, "provisioned_throughput": spec.throughput_mib_s}
    return {name: figure for name, figure in figures.items() if figure is not None}


def _assignments(attributes: Mapping[str, Any], *, changed_from: Mapping[str, Any]) -> Iterator[str]:
    return (f"  {key} = {_hcl(value)}" for key, value in attributes.items() if changed_from.get(key) != value)


def _hcl(value: str | int | Sequence[str]) -> str:
    """As HCL writes it: JSON, but for what begins a template in a text."""
    return json.dumps(value).replace("${", "$${").replace("%{", "%%{")
