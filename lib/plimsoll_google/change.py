"""Changes: the steps by which the owner of a disk would make one, and those that take it back."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from plimsoll.model.market import VolumeType
from plimsoll.model.volume import OwnerKind, Volume, VolumeSpec
from plimsoll_google.change_kubernetes import kubernetes
from plimsoll_google.change_steps import (
    STOPPING,
    Copy,
    change_limits,
    disk_name,
    figure_flags,
    is_in_place,
    is_regional,
    new_name,
    plain_type,
    snapshot_name,
    update_lines,
    zones_of,
)

_NOT_SINCE: Final = "What was written after the snapshot is on the new disk alone: copy it over first."
_ENLARGED: Final = "# A disk never shrinks: its new size stays. Only a copy of its files to a smaller disk leads back."

_COPY_BACK: Final = {
    OwnerKind.TERRAFORM: (
        f"Let the attachment (or boot_disk) name {{disk}} again, and apply. {_NOT_SINCE} Then remove the new disk."
    ),
    OwnerKind.KUBERNETES: (
        f"Scale what uses the new claim to 0, let it use the claim of {{disk}} again, and scale up. {_NOT_SINCE}"
    ),
}
"""The way back from a copy if commands alone would be undone."""

_MADE_AGAIN: Final = {
    OwnerKind.OPERATOR: "Set the configuration of before again in the service that manages this disk",
    OwnerKind.AUTO_SCALING: (
        "Use the node pool or instance template of before again, which nobody changed, until its nodes are made anew"
    ),
}
"""The way back for owners that make disks anew."""


def disk_change_text(volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType]) -> str:
    """Several lines of plain text: what to edit or run, what it interrupts, and how to bring the old back.

    `types` are what is published of Google's disks: which may be changed in place, and which share a VM's ceiling.
    """
    lines: Iterable[str]
    match volume.owner.kind:
        case OwnerKind.TERRAFORM:
            lines = chain(terraform(volume, target, types), _shared_ceiling(volume, target, types))
        case OwnerKind.KUBERNETES:
            lines = chain(kubernetes(volume, target, types), _shared_ceiling(volume, target, types))
        case OwnerKind.AUTO_SCALING:
            lines = _made_anew(volume, target, types)
        case OwnerKind.OPERATOR:
            lines = _operator(volume, target)
        case OwnerKind.HAND | OwnerKind.CLOUDFORMATION:
            lines = _by_hand(volume, target, types)
    return "\n".join(lines)


def disk_way_back_text(volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType]) -> str:
    """The steps back to the present configuration once the target is made; an enlarged disk stays as large."""
    kind = volume.owner.kind
    if kind in {OwnerKind.OPERATOR, OwnerKind.AUTO_SCALING}:
        return f"{_MADE_AGAIN[kind]}: {volume.spec}."
    if is_in_place(volume.spec, target, types):
        before = replace(volume.spec, size_gib=max(volume.spec.size_gib, target.size_gib))
        return _ENLARGED if before == target else disk_change_text(replace(volume, spec=target), before, types)
    if kind in _COPY_BACK:
        return _COPY_BACK[kind].format(disk=disk_name(volume))
    lines = Copy(volume=volume, target=target).back_lines()
    return " &&\n".join(lines) + f"\n# {_NOT_SINCE}"


def _by_hand(volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType]) -> Iterator[str]:
    """Commands, with remarks as comments, so that the whole can be pasted."""
    if is_in_place(volume.spec, target, types):
        yield from update_lines(volume, target)
        remarks: Iterable[str] = [change_limits(volume, target, types)]
    else:
        copy = Copy(volume=volume, target=target)
        yield " &&\n".join(copy.lines())
        remarks = chain(_copy_remarks(copy), _shared_ceiling(volume, target, types))
    unowned = "No owner is marked on it; if an instance template or a script makes such disks, change it there too."
    yield from (f"# {line}" for text in chain(remarks, [unowned]) for line in text.splitlines())


def _copy_remarks(copy: Copy) -> Iterator[str]:
    """Remarks on a copy that takes the place of a disk."""
    volume, target = copy.volume, copy.target
    if any(attachment.host is None for attachment in volume.attachments):
        yield "One of the VMs that it is attached to cannot be seen from here: stop it and swap the disks there too."
    yield "Nothing may write to it from before the snapshot until the new disk is attached, at the same device name."
    if volume.boot:
        yield f"Its VM starts from it, and has to be stopped for that. {STOPPING}"
    elif volume.hosts:
        yield f"To unmount it everywhere does as well as stopping what it is attached to. {STOPPING}"
    yield (
        "A copy of a snapshot has none of the disk's labels, snapshot schedules, own encryption key (--kms-key), "
        "auto-delete or read-only mode: give them to the new one."
    )
    yield (
        "The old disk is the way back, without what was written since. Once the new one has proved itself, delete the "
        "old one and the snapshot, which cost money until then; after that, only such a copy leads back:"
    )
    yield from (f"  {line}" for line in copy.delete_lines())
    if _is_convertible(volume, target):
        yield (
            f"`gcloud compute disks convert {shlex.quote(disk_name(volume))} --target-disk-type {target.type}` does "
            "the same to a detached disk and keeps its name, but takes no figures (update them afterwards), and "
            "deletes the old disk and the snapshot itself: nothing is left to go back to."
        )


def _is_convertible(volume: Volume, target: VolumeSpec) -> bool:
    """True if `gcloud compute disks convert` takes it: zonal, and not to Hyperdisk ML.

    Source: the command's own source (Google Cloud SDK, read in November 2026).
    """
    zonal = not is_regional(volume.spec.type) and not is_regional(target.type)
    to_hyperdisk = volume.spec.type.startswith("pd-") and target.type.startswith("hyperdisk-")
    return zonal and to_hyperdisk and target.type != "hyperdisk-ml"


def _shared_ceiling(volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType]) -> Iterator[str]:
    kind = types.get(volume.spec.type)
    if kind is None or not kind.pooled or not volume.hosts or target.type == volume.spec.type:
        return
    once = "" if volume.owner.kind is OwnerKind.KUBERNETES else ", and stop the VM once"
    yield (
        f"All {volume.spec.type} disks of a VM share one ceiling that grows with their sizes: change those of this VM "
        f"together, each by its own steps{once}."
    )


def _made_anew(volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType]) -> Iterator[str]:
    if volume.owner.details.get("service") == "gke":
        yield from _node_pool(volume, target)
    else:
        yield from _instance_group(volume, target)
    if is_in_place(volume.spec, target, types):
        yield "For the disk that runs now:"
        yield from update_lines(volume, target)


def _node_pool(volume: Volume, target: VolumeSpec) -> Iterator[str]:
    details = volume.owner.details
    pool, cluster = details.get("node_pool", "POOL"), details.get("cluster", "CLUSTER")
    words = ["gcloud", "container", "node-pools", "create", f"{pool}-{plain_type(target.type)}"[:40].rstrip("-")]
    words += ["--cluster", cluster, "--location", details.get("location", volume.region), "--project", volume.account]
    words += ["--disk-type", plain_type(target.type), "--disk-size", str(target.size_gib)]
    yield shlex.join([*words, *figure_flags(target, "boot-disk-")])
    yield f"with the machine type, labels and taints of {pool}; then cordon and drain its nodes, and delete it."
    yield (
        f"It is the boot disk of a node of {pool}: nodes are made anew from their pool, and a disk that was changed by "
        "hand is gone with its node. Where Terraform made the pool, it is disk_type in its node_config."
    )


def _instance_group(volume: Volume, target: VolumeSpec) -> Iterator[str]:
    details = volume.owner.details
    template = details.get("template", "TEMPLATE")
    if volume.boot:
        flags = ["--boot-disk-type", plain_type(target.type), "--boot-disk-size", f"{target.size_gib}GB"]
        flags += figure_flags(target, "boot-disk-")
    else:
        flags = ["--create-disk", _create_disk(volume, target)]
    yield f"An instance template is never changed: make another one like {template}, with this disk instead:"
    yield f"  {shlex.join(flags)}"
    location = details.get("location", zones_of(volume)[0])
    place = "--region" if location == volume.region else "--zone"
    words = ["gcloud", "compute", "instance-groups", "managed", "rolling-action", "start-update"]
    words += [details.get("group", "GROUP"), "--version", "template=NEW_TEMPLATE", place, location]
    yield shlex.join([*words, "--project", volume.account])
    yield (
        "The group makes its instances and their disks anew; what is on this disk goes with it, unless the group keeps "
        "it as stateful. A disk that was changed by hand comes back from the template as it was."
    )


def _create_disk(volume: Volume, target: VolumeSpec) -> str:
    keys = {
        "type": plain_type(target.type),
        "size": f"{target.size_gib}GB",
        "device-name": next((attachment.device for attachment in volume.attachments), None),
        "provisioned-iops": target.iops,
        "provisioned-throughput": target.throughput_mib_s,
    }
    return ",".join(f"{key}={value}" for key, value in keys.items() if value is not None)


def _operator(volume: Volume, target: VolumeSpec) -> Iterator[str]:
    details, name = volume.owner.details, volume.owner.name or "Another service"
    match details.get("service"):
        case "dataproc":
            flags = ["--master-boot-disk-type", plain_type(target.type), "--worker-boot-disk-type"]
            yield f"{name} made this disk, and a cluster's disks stay as they were made: make the cluster anew with"
            yield f"  {shlex.join([*flags, plain_type(target.type)])}"
            yield "whichever of the two it is; a disk that was changed by hand is gone with its cluster or its worker."
        case "deployment-manager":
            yield (
                f"{name} made this disk: in its configuration, the compute.v1.disk or the instance's initializeParams, "
                f"write {plain_type(target.type)} for a disk that is made anew from a snapshot of this one. Changed "
                "outside the deployment, its next update of the disk fails or makes an empty one."
            )
        case _:
            yield f"{name} manages this disk: set {target} in that service's own configuration."


def terraform(volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType]) -> Iterator[str]:
    """The change for Terraform: attributes for a change in place, else a second disk beside the first."""
    module = f" in {volume.owner.name}" if volume.owner.name else ""
    if is_in_place(volume.spec, target, types):
        yield from _attributes(volume, target, module)
        yield change_limits(volume, target, types)
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
    """A value in HCL: JSON, but for the beginning of a template in a text."""
    return json.dumps(value).replace("${", "$${").replace("%{", "%%{")
