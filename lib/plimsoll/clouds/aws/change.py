"""Changes: how the owner of an EBS volume makes one, and what undoes it when it is made behind their back."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from plimsoll.domain.volume import OwnerKind, Volume, VolumeSpec

_DEFAULTS: Final = (
    "A volume made anew from a template that only says gp3 gets 3,000 IOPS and 125 MiB/s: write the figures there too."
)


def change_text(volume: Volume, target: VolumeSpec) -> str:
    """What to edit or run, and what would bring the old configuration back, in several lines of plain text."""
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
                "# No owner is marked on it; if a template or an AMI makes such volumes, change it there too."
            )


def way_back_text(volume: Volume, target: VolumeSpec) -> str:
    """What brings the present configuration back once the target is made, as `change_text` has it."""
    return change_text(replace(volume, spec=target), volume.spec)


def command_line(volume: Volume, target: VolumeSpec) -> str:
    """The AWS CLI line. IOPS and throughput are always named: AWS's pages disagree on what is given without them."""
    words = ["aws", "ec2", "modify-volume", "--region", volume.region, "--volume-id", volume.id]
    words += ["--volume-type", target.type]
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
        f"In {where}the CloudFormation stack {volume.owner.name}, {block}:\n{_properties(target)}\n"
        "Changed outside the stack it drifts, and the stack's next update of the volume brings the old type back."
    )


def _terraform(volume: Volume, target: VolumeSpec) -> str:
    block = (
        "root_block_device of the aws_instance"
        if volume.boot
        else "the aws_ebs_volume (in an ebs_block_device, type is volume_type)"
    )
    names = ("volume_type" if volume.boot else "type", "iops", "throughput")
    values = (f'"{target.type}"', target.iops, target.throughput_mib_s)
    lines = [f"  {name} = {value}" for name, value in zip(names, values, strict=True) if value is not None]
    module = f" in {volume.owner.name}" if volume.owner.name else ""
    return (
        f"In Terraform{module}, {block} of {volume.id}:\n" + "\n".join(lines) + "\n"
        "Changed outside Terraform it drifts, and the next apply brings the old configuration back."
    )


def _kubernetes(volume: Volume, target: VolumeSpec) -> str:
    details = volume.owner.details
    name = f"plimsoll-{target.type}" + (f"-{target.iops}" if target.iops else "")
    name += f"-{target.throughput_mib_s}" if target.throughput_mib_s else ""
    parameters = _yaml(
        {"type": target.type, "iops": _quoted(target.iops), "throughput": _quoted(target.throughput_mib_s)}
    )
    claim = details.get("claim", "CLAIM")
    namespace = details.get("namespace", "NAMESPACE")
    patch = '{"spec":{"volumeAttributesClassName":"' + name + '"}}'
    storage_class = details.get("storage_class")
    source = f"StorageClass {storage_class}" if storage_class else "StorageClass"
    return (
        "apiVersion: storage.k8s.io/v1\nkind: VolumeAttributesClass\n"
        f"metadata:\n  name: {name}\ndriverName: ebs.csi.aws.com\nparameters:\n{parameters}\n"
        f"{shlex.join(['kubectl', '-n', namespace, 'patch', 'pvc', claim, '--type', 'merge', '-p', patch])}\n"
        f"New claims still get what their {source} says: change its parameters too. {_DEFAULTS}"
    )


def _operator(volume: Volume, target: VolumeSpec) -> str:
    if volume.owner.details.get("service") == "ecs":
        figures = _yaml({"volumeType": target.type, "iops": target.iops, "throughput": target.throughput_mib_s})
        task = volume.owner.details.get("resource", "a task")
        return (
            f"Amazon ECS made this volume for {task}. In the service's volumeConfigurations[].managedEBSVolume (or "
            f"those of RunTask):\n{figures}\nand deploy. Each new task gets a volume made so; this one ends with its "
            "task."
        )
    return (
        f"{volume.owner.name} manages this volume: set {target} in that service's own configuration (for EKS Auto "
        "Mode, the NodeClass's ephemeralStorage or the StorageClass). It refuses ModifyVolume by anybody else."
    )


def _auto_scaling(volume: Volume, target: VolumeSpec) -> str:
    template = volume.owner.details.get("launch_template")
    where = f"launch template {template}" if template else "launch template or launch configuration"
    return (
        f"In a new version of the {where} of {volume.owner.name}, BlockDeviceMappings[].Ebs:\n{_properties(target)}\n"
        f"For the volume that runs now: {command_line(volume, target)}\n"
        "Changed on the volume alone, the next instance of the group brings the old type back (the launch template, or "
        f"the AMI if it says nothing). {_DEFAULTS}"
    )


def _properties(target: VolumeSpec) -> str:
    return _yaml({"VolumeType": target.type, "Iops": target.iops, "Throughput": target.throughput_mib_s})


def _yaml(values: Mapping[str, str | int | None]) -> str:
    return "\n".join(f"  {key}: {value}" for key, value in values.items() if value is not None)


def _quoted(figure: int | None) -> str | None:
    return None if figure is None else f'"{figure}"'
