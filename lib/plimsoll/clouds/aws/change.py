"""Changes: the steps by which the owner of an EBS volume makes one, and those that take it back."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from plimsoll.clouds.aws.owners import IN_TREE
from plimsoll.clouds.common.claims import (
    CLASSES_SINCE,
    Parameters,
    check_cluster,
    declare_class,
    patch_claim,
    tell_claim,
    warn_of_new_claims,
)
from plimsoll.decide.answer import ChangeStep, ChangeSteps, command_step, edit_step_at, note_step
from plimsoll.model.volume import OwnerKind, Volume, VolumeSpec

_Figures = Mapping[str, str | int | None]
_Row = Callable[[Volume, VolumeSpec], Iterator[ChangeStep]]

_DEFAULTS: Final = (
    "A volume created from a template that says only gp3 gets 3,000 IOPS and 125 MiB/s: name the figures there too."
)
_BEANSTALK: Final = "aws:autoscaling:launchconfiguration"
"""The namespace of Elastic Beanstalk's options for its instances' disks."""

_DRIVER: Final = "ebs.csi.aws.com"
_CLASS_DEFAULTS: Final = "One that says only gp3 makes volumes of 3,000 IOPS and 125 MiB/s: name the figures there too."

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
_FAILED: Final = (
    "The latest modification of this volume failed (it began {began:%Y-%m-%d %H:%M} UTC): ModifyVolume may be refused "
    "for a while. If it is, wait for the time that the refusal names, and try once more."
)


def change_steps(volume: Volume, target: VolumeSpec) -> ChangeSteps:
    """The steps to the target, and those from it to the present configuration: all of it but a smaller size."""
    forth = [*_note_failure(volume), *_owners_steps(volume, target)]
    before = replace(volume.spec, size_gib=max(volume.spec.size_gib, target.size_gib))
    back = [] if before == target else [*_owners_steps(replace(volume, spec=target), before)]
    if target.size_gib > volume.spec.size_gib:
        forth.append(note_step(_CLAIM_GROWS if volume.owner.kind is OwnerKind.KUBERNETES else _GROWS))
        back.append(note_step(_STAYS_LARGE.format(was=volume.spec.size_gib, then=target.size_gib)))
    return ChangeSteps(forth=tuple(forth), back=tuple(back))


def _note_failure(volume: Volume) -> Iterator[ChangeStep]:
    if volume.modification is not None and volume.modification.state == "failed":
        yield note_step(_FAILED.format(began=volume.modification.started))


def _owners_steps(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    kind, service = volume.owner.kind, volume.owner.details.get("service", "")
    row = _SERVICES.get((kind, service)) or _OWNERS[kind]
    return row(volume, target)


def command_line(volume: Volume, target: VolumeSpec) -> str:
    """The AWS CLI line from the present configuration to the target."""
    return modify_line(volume.region, volume.id, target, with_size=target.size_gib > volume.spec.size_gib)


def modify_line(region: str, volume_id: str, target: VolumeSpec, *, with_size: bool = False) -> str:
    """The AWS CLI line. IOPS and throughput are always named: AWS's pages disagree on what is given without them."""
    words = ["aws", "ec2", "modify-volume", "--region", region, "--volume-id", volume_id, "--volume-type", target.type]
    if with_size:
        words += ["--size", str(target.size_gib)]
    if target.iops is not None:
        words += ["--iops", str(target.iops)]
    if target.throughput_mib_s is not None:
        words += ["--throughput", str(target.throughput_mib_s)]
    return shlex.join(words)


def _hand_steps(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    yield command_step(command_line(volume, target))
    yield note_step("No owner tag found. If a launch template or an AMI creates such volumes, update that too.")


def _cloudformation(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    details = volume.owner.details
    where = f"resource {details['logical_id']} of " if "logical_id" in details else ""
    block = "BlockDeviceMappings[].Ebs" if volume.boot else "Properties of the AWS::EC2::Volume"
    size = "VolumeSize" if volume.boot else "Size"
    yield edit_step_at(
        f"{where}the CloudFormation stack {volume.owner.name}, {block}", _properties(volume, target, size=size)
    )
    yield note_step("Do not change it outside the stack: the next update of the volume would revert it.")


def _terraform(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    block = "root_block_device of the aws_instance" if volume.boot else "the aws_ebs_volume"
    names = ("volume_type", "volume_size") if volume.boot else ("type", "size")
    values = (f'"{target.type}"', _larger(volume, target), target.iops, target.throughput_mib_s)
    figures = {
        name: value for name, value in zip((*names, "iops", "throughput"), values, strict=True) if value is not None
    }
    width = max(map(len, figures))
    text = "\n".join(f"  {name:{width}} = {value}" for name, value in figures.items())
    module = f" in {volume.owner.name}" if volume.owner.name else ""
    yield edit_step_at(f"Terraform{module}, the resource that manages {volume.id} ({block})", text)
    if not volume.boot and volume.attachments:
        yield note_step(
            "If it is an ebs_block_device of an aws_instance, do not edit that: Terraform shows no difference, or "
            "replaces the instance. Give the volume an aws_ebs_volume and an aws_volume_attachment of its own, or put "
            f"ebs_block_device into ignore_changes and run: {command_line(volume, target)}"
        )
    yield note_step("Do not change it outside Terraform: the next apply would revert it.")
    if target.iops is not None or target.throughput_mib_s is not None:
        words = ["aws", "ec2", "describe-volumes", "--region", volume.region, "--volume-ids", volume.id]
        figures_asked = "Volumes[].[VolumeType,Size,Iops,Throughput]"
        line = shlex.join([*words, "--query", figures_asked, "--output", "text"])
        yield note_step(
            "Old providers leave figures out, and apply returns before the change is complete. "
            f"Check afterwards: {line}"
        )


def _claim_steps(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    if volume.owner.details.get("provisioner") == IN_TREE:
        yield from _api_steps(volume, target)
    else:
        yield from _class_steps(volume, target)
    yield warn_of_new_claims(volume.owner.details.get("storage_class"), _parameters(target))
    yield note_step(_CLASS_DEFAULTS)


def _class_steps(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    is_new = target.figures != volume.spec.figures
    yield from tell_claim(volume, volume.id)
    if is_new:
        for spec in (volume.spec, target):
            yield declare_class(spec, _DRIVER, _parameters(spec))
    yield from check_cluster(volume, volume.id)
    yield patch_claim(volume, target, with_class=is_new)
    if is_new:
        yield note_step(CLASSES_SINCE)


def _api_steps(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    """The API's step: the resizer cannot modify an in-tree volume (kubernetes-csi/external-resizer, issue 470)."""
    yield command_step(command_line(volume, target))
    if target.size_gib > volume.spec.size_gib:
        yield patch_claim(volume, target, with_class=False)
    yield note_step(
        "Kubernetes' in-tree plugin made this volume (its tags are not those of the CSI driver). A "
        "VolumeAttributesClass does nothing to it, and older resizers crash: it is changed by the API, and nothing in "
        "the cluster sets it back. To have it under the CSI driver, make its claim anew from a snapshot."
    )


def _parameters(spec: VolumeSpec) -> Parameters:
    return {"type": spec.type, "iops": spec.iops, "throughput": spec.throughput_mib_s}


def _launch_template(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    template = volume.owner.details.get("launch_template")
    where = f"launch template {template}" if template else "launch template or launch configuration"
    yield _mapping_edit(volume, target, f"a new version of the {where} of {volume.owner.name}")
    yield from _running_volume(volume, target)
    yield note_step(
        "Do not change only the volume: the next instance of the group would have the old type (from the launch "
        f"template, or the AMI if it says nothing). {_DEFAULTS}"
    )


def _node_group(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    details = volume.owner.details
    yield _mapping_edit(
        volume,
        target,
        f"a new version of the launch template that the EKS node group {details['node_group']} was made with",
    )
    words = ["aws", "eks", "update-nodegroup-version", "--region", volume.region]
    words += ["--cluster-name", details.get("cluster", "CLUSTER"), "--nodegroup-name", details["node_group"]]
    yield command_step(shlex.join([*words, "--launch-template", "id=TEMPLATE,version=VERSION"]))
    yield from _running_volume(volume, target)
    yield note_step(
        "The copy of the template that EKS made for the group's own Auto Scaling group is not to be edited. A group "
        "that was made without a launch template keeps its disks: make another group, and drain this one. Its nodes "
        f"are replaced, and a volume that was changed by hand goes with its node. {_DEFAULTS}"
    )


def _karpenter(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    device = next((attachment.device for attachment in volume.attachments), "its device")
    figures = {
        "volumeType": target.type,
        "volumeSize": _gibibytes(_larger(volume, target)),
        "iops": target.iops,
        "throughput": target.throughput_mib_s,
    }
    node_class = volume.owner.details.get("node_class", "NODECLASS")
    yield edit_step_at(
        f"Karpenter's EC2NodeClass {node_class}, spec.blockDeviceMappings[].ebs of {device}", _yaml(figures)
    )
    yield from _running_volume(volume, target)
    yield note_step(
        "Karpenter then replaces the nodes of this class by drift, as far as their disruption budgets let it. A volume "
        f"that was changed by hand goes with its node, and a launch template of Karpenter's is made anew. {_DEFAULTS}"
    )


def _beanstalk(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    environment = volume.owner.details["environment"]
    if not volume.boot:
        yield edit_step_at(
            f"the Elastic Beanstalk environment {environment}, the option BlockDeviceMappings of {_BEANSTALK} "
            "(or the .ebextensions file that makes the volume)",
            _properties(volume, target, size="VolumeSize"),
        )
    else:
        options = {
            "RootVolumeType": target.type,
            "RootVolumeSize": _larger(volume, target),
            "RootVolumeIOPS": target.iops,
            "RootVolumeThroughput": target.throughput_mib_s,
        }
        settings = [
            f"Namespace={_BEANSTALK},OptionName={name},Value={value}"
            for name, value in options.items()
            if value is not None
        ]
        gone = [
            f"Namespace={_BEANSTALK},OptionName={name}"
            for name, value in options.items()
            if value is None and name in {"RootVolumeIOPS", "RootVolumeThroughput"}
        ]
        words = ["aws", "elasticbeanstalk", "update-environment", "--region", volume.region]
        words += ["--environment-name", environment, "--option-settings", *settings]
        yield command_step(shlex.join([*words, *(["--options-to-remove", *gone] if gone else [])]))
    yield note_step(
        "Elastic Beanstalk replaces the environment's instances for it, and their disks with them. A saved "
        "configuration or .ebextensions that names these options says otherwise at the next deployment: change it too."
    )


def _operator(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    yield edit_step_at(f"the own configuration of {volume.owner.name}, which manages this volume", f"  {target}")
    yield note_step(
        "For EKS Auto Mode that is the NodeClass's ephemeralStorage, or the StorageClass. The service refuses "
        "ModifyVolume by others."
    )


def _ecs(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    figures = {
        "volumeType": target.type,
        "sizeInGiB": _larger(volume, target),
        "iops": target.iops,
        "throughput": target.throughput_mib_s,
    }
    task = volume.owner.details.get("resource", "a task")
    yield edit_step_at(
        f"the ECS service's volumeConfigurations[].managedEBSVolume (or those of RunTask), for {task}", _yaml(figures)
    )
    yield note_step(
        "Amazon ECS made this volume. Deploy: each new task gets such a volume; this one ends with its task."
    )


_OWNERS: Final[Mapping[OwnerKind, _Row]] = {
    OwnerKind.HAND: _hand_steps,
    OwnerKind.CLOUDFORMATION: _cloudformation,
    OwnerKind.TERRAFORM: _terraform,
    OwnerKind.KUBERNETES: _claim_steps,
    OwnerKind.AUTO_SCALING: _launch_template,
    OwnerKind.OPERATOR: _operator,
}
_SERVICES: Final[Mapping[tuple[OwnerKind, str], _Row]] = {
    (OwnerKind.AUTO_SCALING, "eks"): _node_group,
    (OwnerKind.AUTO_SCALING, "karpenter"): _karpenter,
    (OwnerKind.AUTO_SCALING, "elasticbeanstalk"): _beanstalk,
    (OwnerKind.OPERATOR, "ecs"): _ecs,
}
"""The rows of services that keep what an owner of their kind is made from in a place of their own."""


def _mapping_edit(volume: Volume, target: VolumeSpec, where: str) -> ChangeStep:
    return edit_step_at(f"{where}, BlockDeviceMappings[].Ebs", _properties(volume, target, size="VolumeSize"))


def _running_volume(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    yield note_step("For the volume that runs now:")
    yield command_step(command_line(volume, target))


def _properties(volume: Volume, target: VolumeSpec, *, size: str) -> str:
    figures = {"Iops": target.iops, "Throughput": target.throughput_mib_s}
    return _yaml({"VolumeType": target.type, size: _larger(volume, target), **figures})


def _larger(volume: Volume, target: VolumeSpec) -> int | None:
    """The size in GiB that a change has to name; None if it stays as it is."""
    return target.size_gib if target.size_gib > volume.spec.size_gib else None


def _gibibytes(size_gib: int | None) -> str | None:
    return None if size_gib is None else f"{size_gib}Gi"


def _yaml(values: _Figures) -> str:
    return "\n".join(f"  {key}: {value}" for key, value in values.items() if value is not None)
