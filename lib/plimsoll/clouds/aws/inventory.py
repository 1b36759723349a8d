"""Inventory: volumes with their attachments, hosts, modifications and owners, page by page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from plimsoll.clouds.aws.errors import FAILURES, translate, translated
from plimsoll.clouds.aws.hosts import Hosts, tags_of
from plimsoll.clouds.aws.owners import owner_of
from plimsoll.clouds.aws.sessions import HOME_REGION, Sessions
from plimsoll.clouds.common.dated_data import sold_figures
from plimsoll.clouds.registry import AWS
from plimsoll.domain.errors import AccessDenied
from plimsoll.domain.volume import Attachment, Modification, Volume, VolumeSpec, VolumeState
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
    failed: Sequence[FailedTarget] = ()

    def targets(self) -> Sequence[Target | FailedTarget]:
        """Every account in every region, and what could not be reached."""
        found: list[Target | FailedTarget] = []
        for account, session in self.sessions.by_account.items():
            regions = self.regions
            if regions is None:
                try:
                    regions = self._enabled_regions(account, session.region_name or HOME_REGION)
                except FAILURES as error:
                    reason = translate(error, account, "ec2:DescribeRegions")
                    found.append(FailedTarget(name=account, error=reason))
                    continue
            found += [Target(account=account, region=region) for region in regions]
        return [*found, *self.failed]

    def volumes(self, target: Target) -> Iterator[Volume]:
        """Every volume of a target, a page at a time."""
        ec2 = self.sessions.client("ec2", target.account, target.region)
        hosts = Hosts(ec2, str(target))
        with translated(str(target), "ec2:DescribeVolumesModifications"):
            modifications = _modifications(ec2)
        pages = ec2.get_paginator("describe_volumes").paginate(
            IncludeManagedResources=True, PaginationConfig={"PageSize": _VOLUMES_A_PAGE}
        )
        with translated(str(target), "ec2:DescribeVolumes"):
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
            reason = translate(error, str(target), "aco-automation:GetEnrollmentConfiguration")
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
