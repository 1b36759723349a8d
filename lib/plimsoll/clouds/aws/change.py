"""Changes: how the owner of an EBS volume makes one, and what undoes it when it is made behind their back."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from plimsoll.model.volume import OwnerKind, Volume, VolumeSpec

_DEFAULTS: Final = (
    "A volume created from a template that says only gp3 gets 3,000 IOPS and 125 MiB/s: name the figures there too."
)

_GROWS: Final = (
    "The volume becomes larger, and never shrinks again. Its partition and file system stay as they are until you grow "
    "them (growpart, then resize2fs or xfs_growfs); its speed does not wait for that."
)
_CLAIM_GROWS: Final = (
    "The volume becomes larger, and never shrinks again. Its StorageClass must say allowVolumeExpansion: true; the "
    "file system grows with the claim."
)
_STAYS_LARGE: Final = (
    "The size stays at {then:,} GiB: a volume never shrinks. Only a new volume of {was:,} GiB, to which its files are "
    "copied, leads back."
)


def change_text(volume: Volume, target: VolumeSpec) -> str:
    """Lines of plain text with what to edit or run, and what would bring the old configuration back."""
    text = _change_of_owner(volume, target)
    if target.size_gib <= volume.spec.size_gib:
        return text
    return f"{text}\n{_remark(volume, _CLAIM_GROWS if volume.owner.kind is OwnerKind.KUBERNETES else _GROWS)}"


def _change_of_owner(volume: Volume, target: VolumeSpec) -> str:
    match volume.owner.kind:
        case OwnerKind.CLOUDFORMATION:
            return _cloudformation(volume, target)
        case OwnerKind.TERRAFORM:
            return _terraform(volume, target)
        case OwnerKind.KUBERNETES:
            return _kubernetes(volume, target)
        case OwnerKind.AUTO_SCALING:
            return _auto_scaling(volume, target)
        case OwnerKind.OPERATOR:
            return _operator(volume, target)
        case OwnerKind.HAND:
            return (
                f"{command_line(volume, target)}\n"
                "# No owner tag found. If a launch template or an AMI creates such volumes, update that too."
            )


def way_back_text(volume: Volume, target: VolumeSpec) -> str:
    """The steps from the target to the present configuration, as in `change_text`: all but a smaller size."""
    before = replace(volume.spec, size_gib=max(volume.spec.size_gib, target.size_gib))
    back = "" if before == target else change_text(replace(volume, spec=target), before)
    if before == volume.spec:
        return back
    stays = _remark(volume, _STAYS_LARGE.format(was=volume.spec.size_gib, then=target.size_gib))
    return f"{back}\n{stays}" if back else stays


def command_line(volume: Volume, target: VolumeSpec) -> str:
    """The AWS CLI line. IOPS and throughput are always named: AWS's pages disagree on what is given without them."""
    words = ["aws", "ec2", "modify-volume", "--region", volume.region, "--volume-id", volume.id]
    words += ["--volume-type", target.type]
    if target.size_gib > volume.spec.size_gib:
        words += ["--size", str(target.size_gib)]
    if target.iops is not None:
        words += ["--iops", str(target.iops)]
    if target.throughput_mib_s is not None:
        words += ["--throughput", str(target.throughput_mib_s)]
    return shlex.join(words)


def _cloudformation(volume: Volume, target: VolumeSpec) -> str:
    details = volume.owner.details
    where = f"resource {details['logical_id']} of " if "logical_id" in details else ""
    block = "BlockDeviceMappings[].Ebs" if volume.boot else "Properties of the AWS::EC2::Volume"
    return (
        f"In {where}the CloudFormation stack {volume.owner.name}, {block}:\n"
        f"{_properties(volume, target, size='VolumeSize' if volume.boot else 'Size')}\n"
        "Do not change it outside the stack: the next update of the volume would revert it."
    )


def _terraform(volume: Volume, target: VolumeSpec) -> str:
    block = (
        "root_block_device of the aws_instance"
        if volume.boot
        else "the aws_ebs_volume (in an ebs_block_device, type is volume_type, size volume_size)"
    )
    names = ("volume_type", "volume_size") if volume.boot else ("type", "size")
    values = (f'"{target.type}"', _larger(volume, target), target.iops, target.throughput_mib_s)
    lines = [
        f"  {name} = {value}"
        for name, value in zip((*names, "iops", "throughput"), values, strict=True)
        if value is not None
    ]
    module = f" in {volume.owner.name}" if volume.owner.name else ""
    return (
        f"Terraform{module}: in the resource that manages {volume.id} ({block}), set:\n" + "\n".join(lines) + "\n"
        "Do not change it outside Terraform: the next apply would revert it."
    )


def _kubernetes(volume: Volume, target: VolumeSpec) -> str:
    details = volume.owner.details
    name = f"plimsoll-{target.type}" + (f"-{target.iops}" if target.iops else "")
    name += f"-{target.throughput_mib_s}" if target.throughput_mib_s else ""
    parameters = _yaml(
        {"type": target.type, "iops": _quote_figure(target.iops), "throughput": _quote_figure(target.throughput_mib_s)}
    )
    claim = details.get("claim", "CLAIM")
    namespace = details.get("namespace", "NAMESPACE")
    changed: dict[str, Any] = {"volumeAttributesClassName": name}
    if target.size_gib > volume.spec.size_gib:
        changed["resources"] = {"requests": {"storage": f"{target.size_gib}Gi"}}
    patch = json.dumps({"spec": changed}, separators=(",", ":"))
    storage_class = details.get("storage_class")
    source = f"StorageClass {storage_class}" if storage_class else "StorageClass"
    return (
        "apiVersion: storage.k8s.io/v1\nkind: VolumeAttributesClass\n"
        f"metadata:\n  name: {name}\ndriverName: ebs.csi.aws.com\nparameters:\n{parameters}\n"
        f"{shlex.join(['kubectl', '-n', namespace, 'patch', 'pvc', claim, '--type', 'merge', '-p', patch])}\n"
        f"New claims still get the parameters of their {source}: change these too. {_DEFAULTS}"
    )


def _operator(volume: Volume, target: VolumeSpec) -> str:
    if volume.owner.details.get("service") == "ecs":
        figures = _yaml(
            {
                "volumeType": target.type,
                "sizeInGiB": _larger(volume, target),
                "iops": target.iops,
                "throughput": target.throughput_mib_s,
            }
        )
        task = volume.owner.details.get("resource", "a task")
        return (
            f"Amazon ECS made this volume for {task}. In the service's volumeConfigurations[].managedEBSVolume (or "
            f"those of RunTask):\n{figures}\nand deploy. Each new task gets such a volume; this one ends with its "
            "task."
        )
    return (
        f"{volume.owner.name} manages this volume: set {target} in that service's own configuration (for EKS Auto "
        "Mode, the NodeClass's ephemeralStorage or the StorageClass). The service refuses ModifyVolume by others."
    )


def _auto_scaling(volume: Volume, target: VolumeSpec) -> str:
    template = volume.owner.details.get("launch_template")
    where = f"launch template {template}" if template else "launch template or launch configuration"
    return (
        f"In a new version of the {where} of {volume.owner.name}, BlockDeviceMappings[].Ebs:\n"
        f"{_properties(volume, target, size='VolumeSize')}\n"
        f"For the running volume: {command_line(volume, target)}\n"
        "Do not change only the volume: the next instance of the group would have the old type (from the launch "
        f"template, or the AMI if it says nothing). {_DEFAULTS}"
    )


def _properties(volume: Volume, target: VolumeSpec, *, size: str) -> str:
    figures = {"Iops": target.iops, "Throughput": target.throughput_mib_s}
    return _yaml({"VolumeType": target.type, size: _larger(volume, target), **figures})


def _remark(volume: Volume, text: str) -> str:
    """A sentence beside a change: a comment where the change is a command to be pasted."""
    return f"# {text}" if volume.owner.kind is OwnerKind.HAND else text


def _larger(volume: Volume, target: VolumeSpec) -> int | None:
    """The size in GiB that a change has to name; None if it stays as it is."""
    return target.size_gib if target.size_gib > volume.spec.size_gib else None


def _yaml(values: Mapping[str, str | int | None]) -> str:
    return "\n".join(f"  {key}: {value}" for key, value in values.items() if value is not None)


def _quote_figure(figure: int | None) -> str | None:
    return None if figure is None else f'"{figure}"'
