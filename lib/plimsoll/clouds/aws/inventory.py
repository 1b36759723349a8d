"""Inventory: volumes with their attachments, hosts, modifications and owners, page by page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from plimsoll.clouds.aws.errors import FAILURES, attempted, refused
from plimsoll.clouds.aws.hosts import Hosts, tags_of
from plimsoll.clouds.aws.sessions import HOME_REGION, Sessions
from plimsoll.clouds.common.dated_data import sold_figures
from plimsoll.clouds.common.terraform_owner import known_details, terraform_owner
from plimsoll.clouds.registry import AWS
from plimsoll.domain.errors import AccessDenied
from plimsoll.domain.volume import BY_HAND, Attachment, Modification, Owner, OwnerKind, Volume, VolumeSpec, VolumeState
from plimsoll.ports import FailedTarget, Target

_VOLUMES_A_PAGE: Final = 500
_OTHER_HANDS: Final = (
    "AWS Compute Optimizer Automation is active here and may change the same volumes: two tools would spend the same "
    "four changes a day. Let one of them act."
)
_UNKNOWN_AUTOMATION: Final = (
    "cannot tell whether AWS Compute Optimizer Automation changes these volumes too: "
    "aco-automation:GetEnrollmentConfiguration is not allowed."
)
_ATTACHED: Final = {"attached", "attaching", "busy"}


@dataclass(slots=True, kw_only=True)
class AwsInventory:
    """EBS volumes of the accounts that the sessions open. `regions` None: all that each account has switched on."""

    sessions: Sessions
    regions: Sequence[str] | None = None

    def targets(self) -> Sequence[Target | FailedTarget]:
        """Every account in every region, and what could not be reached."""
        found: list[Target | FailedTarget] = []
        for account, session in self.sessions.by_account.items():
            regions = self.regions
            if regions is None:
                try:
                    regions = self._enabled_regions(account, session.region_name or HOME_REGION)
                except FAILURES as error:
                    reason = refused(error, f"read {account}", "ec2:DescribeRegions")
                    found.append(FailedTarget(name=account, error=reason))
                    continue
            found += [Target(account=account, region=region) for region in regions]
        return [*found, *self.sessions.failed]

    def volumes(self, target: Target) -> Iterator[Volume]:
        """Every volume of a target, a page at a time."""
        ec2 = self.sessions.client("ec2", target.account, target.region)
        hosts = Hosts(ec2, str(target))
        with attempted(f"read {target}", "ec2:DescribeVolumesModifications"):
            modifications = _modifications(ec2)
        pages = ec2.get_paginator("describe_volumes").paginate(
            IncludeManagedResources=True, PaginationConfig={"PageSize": _VOLUMES_A_PAGE}
        )
        with attempted(f"read {target}", "ec2:DescribeVolumes"):
            for page in pages:
                found = page["Volumes"]
                hosts.learn(where["InstanceId"] for one in found for where in _attached(one) if where.get("InstanceId"))
                for one in found:
                    yield volume_of(one, target, hosts, modifications)

    def notices(self, target: Target) -> Sequence[str]:
        """Whether Compute Optimizer Automation may be changing the same volumes."""
        client = self.sessions.client("compute-optimizer-automation", target.account, target.region)
        try:
            status = client.get_enrollment_configuration()["status"]
        except FAILURES as error:
            reason = refused(error, f"read {target}", "aco-automation:GetEnrollmentConfiguration")
            return (_UNKNOWN_AUTOMATION,) if isinstance(reason, AccessDenied) else ()
        return (_OTHER_HANDS,) if status == "Active" else ()

    def _enabled_regions(self, account: str, home: str) -> list[str]:
        found = self.sessions.client("ec2", account, home).describe_regions()["Regions"]
        return sorted(region["RegionName"] for region in found)


def volume_of(
    found: Mapping[str, Any], target: Target, hosts: Hosts, modifications: Mapping[str, Modification]
) -> Volume:
    """The volume in one entry of DescribeVolumes."""
    tags = tags_of(found)
    attachments, host_tags = [], dict[str, str]()
    for where in _attached(found):
        instance = hosts.known.get(where.get("InstanceId") or "")
        device = where.get("Device") or ""
        attachments.append(
            Attachment(
                host=instance.host if instance else None,
                device=device,
                since=where["AttachTime"],
                boot=instance is not None and device == instance.root_device,
            )
        )
        host_tags |= dict(instance.host.tags) if instance else {}
    operator = _operator(found)
    modification = modifications.get(found["VolumeId"])
    return Volume(
        id=found["VolumeId"],
        account=target.account,
        region=target.region,
        zone=found["AvailabilityZone"],
        spec=spec_of(found),
        state=VolumeState(found["State"]),
        created=found["CreateTime"],
        tags=tags,
        attachments=tuple(attachments),
        owner=owner_of(tags, host_tags, operator),
        multi_attach=bool(found.get("MultiAttachEnabled")),
        operator=operator,
        modification=modification,
        recent_changes=(modification.started,) if modification else (),
    )


def spec_of(found: Mapping[str, Any]) -> VolumeSpec:
    """What is provisioned. DescribeVolumes gives baseline IOPS for types that provision none: those are left out."""
    spec = VolumeSpec(
        type=found["VolumeType"],
        size_gib=found["Size"],
        iops=found.get("Iops"),
        throughput_mib_s=found.get("Throughput"),
    )
    return sold_figures(spec, AWS)


def _attached(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [where for where in found.get("Attachments", ()) if where.get("State") in _ATTACHED]


def _operator(found: Mapping[str, Any]) -> str | None:
    operator = found.get("Operator") or {}
    return operator.get("Principal") or "an AWS service" if operator.get("Managed") else None


def _modifications(ec2: Any) -> dict[str, Modification]:
    pages = ec2.get_paginator("describe_volumes_modifications").paginate(PaginationConfig={"PageSize": _VOLUMES_A_PAGE})
    return {
        found["VolumeId"]: Modification(
            state=found["ModificationState"], started=found["StartTime"], progress_pct=found.get("Progress")
        )
        for page in pages
        for found in page["VolumesModifications"]
    }


_CLAIM: Final = "kubernetes.io/created-for/pvc/name"
_CLUSTER_PREFIX: Final = "kubernetes.io/cluster/"


def owner_of(tags: Mapping[str, str], host_tags: Mapping[str, str], operator: str | None) -> Owner:
    """The owner of a volume from its own tags, those of its host, and the service that manages it.

    The most specific wins: an operator, then Kubernetes, CloudFormation, Terraform, and the Auto Scaling group or
    launch template of its host; otherwise it was made by hand.
    """
    if operator is not None:
        return Owner(kind=OwnerKind.OPERATOR, name=operator)
    return _kubernetes(tags) or _cloudformation(tags) or terraform_owner(tags) or _auto_scaling(host_tags) or BY_HAND


def _kubernetes(tags: Mapping[str, str]) -> Owner | None:
    cluster = tags.get("KubernetesCluster") or tags.get("ebs.csi.aws.com/cluster-name")
    cluster = cluster or next(
        (key.removeprefix(_CLUSTER_PREFIX) for key in tags if key.startswith(_CLUSTER_PREFIX)), None
    )
    claim = tags.get(_CLAIM)
    if claim is None and tags.get("ebs.csi.aws.com/cluster") != "true":
        return None
    namespace = tags.get("kubernetes.io/created-for/pvc/namespace", "default")
    details = {
        "claim": claim,
        "namespace": namespace if claim else None,
        "persistent_volume": tags.get("kubernetes.io/created-for/pv/name"),
        "cluster": cluster,
        "storage_class": tags.get("storageclass") or tags.get("kubernetes.io/storageclass"),
    }
    name = f"{namespace}/{claim}" if claim else cluster
    return Owner(kind=OwnerKind.KUBERNETES, name=name, details=known_details(details))


def _cloudformation(tags: Mapping[str, str]) -> Owner | None:
    stack = tags.get("aws:cloudformation:stack-name")
    if stack is None:
        return None
    details = {
        "logical_id": tags.get("aws:cloudformation:logical-id"),
        "stack_id": tags.get("aws:cloudformation:stack-id"),
    }
    return Owner(kind=OwnerKind.CLOUDFORMATION, name=stack, details=known_details(details))


def _auto_scaling(host_tags: Mapping[str, str]) -> Owner | None:
    group = host_tags.get("aws:autoscaling:groupName")
    template = host_tags.get("aws:ec2launchtemplate:id")
    if group is None and template is None:
        return None
    return Owner(
        kind=OwnerKind.AUTO_SCALING,
        name=group or template,
        details=known_details({"group": group, "launch_template": template}),
    )
