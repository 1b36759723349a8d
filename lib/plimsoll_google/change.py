"""Changes: the steps by which the owner of a disk would make one, and those that take it back."""

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from plimsoll.decide.answer import ChangeStep, ChangeSteps, command_step, edit_step, edit_step_at, note_step
from plimsoll.model.market import VolumeType
from plimsoll.model.volume import OwnerKind, Volume, VolumeSpec
from plimsoll_google.change_kubernetes import disk_claim_steps
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

_NOT_SINCE: Final = "Data written after the snapshot is only on the new disk: copy it over first."
_ENLARGED: Final = "A disk never shrinks: its new size stays. Only a copy of its files to a smaller disk leads back."

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


_Types = Mapping[str, VolumeType]
_Row = Callable[[Volume, VolumeSpec, _Types], Iterable[ChangeStep]]


def disk_change_steps(volume: Volume, target: VolumeSpec, types: _Types) -> ChangeSteps:
    """The steps to the target and back: what to edit or run, and what that interrupts. A disk stays as large.

    `types` are what is published of Google's disks: which may be changed in place, and which share a VM's ceiling.
    """
    forth = _OWNERS[volume.owner.kind](volume, target, types)
    return ChangeSteps(forth=tuple(forth), back=tuple(_way_back(volume, target, types)))


def _way_back(volume: Volume, target: VolumeSpec, types: _Types) -> Iterable[ChangeStep]:
    kind = volume.owner.kind
    if kind in {OwnerKind.OPERATOR, OwnerKind.AUTO_SCALING}:
        return [edit_step(f"{_MADE_AGAIN[kind]}: {volume.spec}.")]
    if is_in_place(volume.spec, target, types):
        before = replace(volume.spec, size_gib=max(volume.spec.size_gib, target.size_gib))
        back = () if before == target else _OWNERS[kind](replace(volume, spec=target), before, types)
        return [*back, *([note_step(_ENLARGED)] if before != volume.spec else [])]
    if kind in _COPY_BACK:
        return [edit_step(_COPY_BACK[kind].format(disk=disk_name(volume)))]
    return [*map(command_step, Copy(volume=volume, target=target).back_lines()), note_step(_NOT_SINCE)]


def _hand_steps(volume: Volume, target: VolumeSpec, types: _Types) -> Iterator[ChangeStep]:
    if is_in_place(volume.spec, target, types):
        yield from map(command_step, update_lines(volume, target))
        yield note_step(change_limits(volume, target, types))
    else:
        copy = Copy(volume=volume, target=target)
        yield from map(command_step, copy.lines())
        yield from map(note_step, _copy_remarks(copy))
        yield from _shared_ceiling(volume, target, types)
    yield note_step("No owner label found. If an instance template or a script creates such disks, update that too.")


def _copy_remarks(copy: Copy) -> Iterator[str]:
    """Remarks on a copy that takes the place of a disk."""
    volume, target = copy.volume, copy.target
    if any(attachment.host is None for attachment in volume.attachments):
        yield "One of the VMs that it is attached to cannot be seen from here: stop it and swap the disks there too."
    yield "Nothing may write to it from before the snapshot until the new disk is attached, at the same device name."
    if volume.boot:
        yield f"Its VM starts from it, and has to be stopped for that. {STOPPING}"
    elif volume.hosts:
        yield f"Instead of stopping its VMs, you may unmount it everywhere. {STOPPING}"
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


def _shared_ceiling(volume: Volume, target: VolumeSpec, types: _Types) -> Iterator[ChangeStep]:
    kind = types.get(volume.spec.type)
    if kind is None or not kind.pooled or not volume.hosts or target.type == volume.spec.type:
        return
    once = "" if volume.owner.kind is OwnerKind.KUBERNETES else ", and stop the VM once"
    yield note_step(
        f"All {volume.spec.type} disks of a VM share one ceiling that grows with their sizes: change those of this VM "
        f"together, each by its own steps{once}."
    )


def _made_anew(volume: Volume, target: VolumeSpec, types: _Types) -> Iterator[ChangeStep]:
    if volume.owner.details.get("service") == "gke":
        yield from _node_pool(volume, target)
    else:
        yield from _instance_group(volume, target)
    if is_in_place(volume.spec, target, types):
        yield note_step("For the disk that runs now:")
        yield from map(command_step, update_lines(volume, target))


def _node_pool(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    details = volume.owner.details
    pool, cluster = details.get("node_pool", "POOL"), details.get("cluster", "CLUSTER")
    words = ["gcloud", "container", "node-pools", "create", f"{pool}-{plain_type(target.type)}"[:40].rstrip("-")]
    words += ["--cluster", cluster, "--location", details.get("location", volume.region), "--project", volume.account]
    words += ["--disk-type", plain_type(target.type), "--disk-size", str(target.size_gib)]
    yield command_step(shlex.join([*words, *figure_flags(target, "boot-disk-")]))
    yield edit_step(
        f"with the machine type, labels and taints of {pool}; then cordon and drain its nodes, and delete it."
    )
    yield note_step(
        f"It is the boot disk of a node of {pool}: nodes are made anew from their pool, and a disk that was changed by "
        "hand is gone with its node. Where Terraform made the pool, it is disk_type in its node_config."
    )


def _instance_group(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    details = volume.owner.details
    template = details.get("template", "TEMPLATE")
    if volume.boot:
        flags = ["--boot-disk-type", plain_type(target.type), "--boot-disk-size", f"{target.size_gib}GB"]
        flags += figure_flags(target, "boot-disk-")
    else:
        flags = ["--create-disk", _create_disk(volume, target)]
    yield edit_step_at(
        f"another instance template like {template} (a template is never changed), with this disk instead",
        f"  {shlex.join(flags)}",
    )
    location = details.get("location", zones_of(volume)[0])
    place = "--region" if location == volume.region else "--zone"
    words = ["gcloud", "compute", "instance-groups", "managed", "rolling-action", "start-update"]
    words += [details.get("group", "GROUP"), "--version", "template=NEW_TEMPLATE", place, location]
    yield command_step(shlex.join([*words, "--project", volume.account]))
    yield note_step(
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


def _operator(volume: Volume, target: VolumeSpec, _: _Types) -> Iterator[ChangeStep]:
    details, name = volume.owner.details, volume.owner.name or "Another service"
    match details.get("service"):
        case "dataproc":
            flags = ["--master-boot-disk-type", plain_type(target.type), "--worker-boot-disk-type"]
            words = shlex.join([*flags, plain_type(target.type)])
            yield edit_step(
                f"{name} made this disk, and a cluster's disks stay as they were made: make the cluster anew with\n"
                f"  {words}\nwhichever of the two it is."
            )
            yield note_step("A disk that was changed by hand is gone with its cluster or its worker.")
        case "deployment-manager":
            yield edit_step(
                f"{name} made this disk: in its configuration, the compute.v1.disk or the instance's initializeParams, "
                f"write {plain_type(target.type)} for a new disk from a snapshot of this one. Do not "
                f"change it outside the deployment: its next update of the disk would fail or make an empty one."
            )
        case _:
            yield edit_step(f"{name} manages this disk: set {target} in that service's own configuration.")


def _terraform(volume: Volume, target: VolumeSpec, types: _Types) -> Iterator[ChangeStep]:
    """Attributes for a change in place, else a second disk beside the first."""
    module = f" in {volume.owner.name}" if volume.owner.name else ""
    if is_in_place(volume.spec, target, types):
        yield from _attributes(volume, target, module)
        yield note_step(change_limits(volume, target, types))
        yield note_step("Do not change it outside Terraform: the next apply would revert it.")
        return
    yield edit_step(
        f"Do not change `type` of {disk_name(volume)} in Terraform{module}: it would delete the disk with its data and "
        "make an empty one. With nothing writing to it, take a snapshot:"
    )
    yield from map(command_step, Copy(volume=volume, target=target).snapshot_lines())
    yield edit_step(
        "Then write a second disk beside it, made from the snapshot:\n" + "\n".join(_second_disk(volume, target))
    )
    yield edit_step(_attachment(volume))
    yield note_step(
        "Keep the old resource, with prevent_destroy in its lifecycle, until the new disk has proved itself: it is the "
        "way back, without what was written since. A swap by gcloud alone is undone by the next apply."
    )


def _attributes(volume: Volume, target: VolumeSpec, module: str) -> Iterator[ChangeStep]:
    resource = "google_compute_region_disk" if is_regional(volume.spec.type) else "google_compute_disk"
    if volume.boot:
        yield from map(command_step, update_lines(volume, target))
        yield edit_step(
            f"and the same figures in Terraform{module}, boot_disk.initialize_params of its google_compute_instance, "
            f"or its {resource}; the plan must not replace the VM."
        )
        return
    where, now, then = (
        f"Terraform{module}, the {resource} of {disk_name(volume)}",
        _figures(volume.spec),
        _figures(target),
    )
    moves = [{name: then[name]} for name in _order_of_figures(volume.spec, target) if then.get(name) != now.get(name)]
    size = {"size": target.size_gib} if target.size_gib != volume.spec.size_gib else {}
    first, *others = [size | moves[0], *moves[1:]] if moves else [size]
    yield edit_step_at(where, "\n".join(_assignments(first)))
    for figures in others:
        yield edit_step_at(
            f"{where}, after an apply: the provider sends one figure at a time, and each limits the other",
            "\n".join(_assignments(figures)),
        )


def _order_of_figures(spec: VolumeSpec, target: VolumeSpec) -> tuple[str, str]:
    """The attributes in the order that every step of the way may have: MiB/s need IOPS (1 for each 4), so that
    throughput is lowered before IOPS, and raised after them.

    The provider patches one after the other (terraform-provider-google, issue 26315).
    """
    is_lowered = (target.throughput_mib_s or 0) <= (spec.throughput_mib_s or 0)
    names = ("provisioned_throughput", "provisioned_iops")
    return names if is_lowered else (names[1], names[0])


def _second_disk(volume: Volume, target: VolumeSpec) -> Iterator[str]:
    name = new_name(volume, target)
    if is_regional(target.type):
        resource = "google_compute_region_disk"
        place: dict[str, Any] = {"region": volume.region, "replica_zones": list(zones_of(volume))}
    else:
        resource, place = "google_compute_disk", {"zone": zones_of(volume)[0]}
    yield f"resource {_hcl(resource)} {_hcl(name.replace('-', '_'))} {{"
    attributes = {"name": name, "type": plain_type(target.type), **place, "snapshot": snapshot_name(volume, target)}
    yield from _assignments({**attributes, **_figures(target)})
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


def _assignments(attributes: Mapping[str, Any]) -> Iterator[str]:
    width = max(map(len, attributes))
    return (f"  {key:{width}} = {_hcl(value)}" for key, value in attributes.items())


def _hcl(value: str | int | Sequence[str]) -> str:
    """A value in HCL: JSON, but for the beginning of a template in a text."""
    return json.dumps(value).replace("${", "$${").replace("%{", "%%{")


_OWNERS: Final[Mapping[OwnerKind, _Row]] = {
    OwnerKind.HAND: _hand_steps,
    OwnerKind.CLOUDFORMATION: _hand_steps,
    OwnerKind.TERRAFORM: lambda *change: chain(_terraform(*change), _shared_ceiling(*change)),
    OwnerKind.KUBERNETES: lambda *change: chain(disk_claim_steps(*change), _shared_ceiling(*change)),
    OwnerKind.AUTO_SCALING: _made_anew,
    OwnerKind.OPERATOR: _operator,
}
