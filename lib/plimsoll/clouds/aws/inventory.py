"""Inventory: volumes with their attachments, hosts, modifications and owners, page by page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, Literal

from plimsoll.clouds.aws.errors import FAILURES, cloud_error, translate_errors
from plimsoll.clouds.aws.instance_answers import RegionsAnswer
from plimsoll.clouds.aws.lists import LIST_DEADLINE_S, Asker
from plimsoll.clouds.aws.sessions import HOME_REGION, Sessions
from plimsoll.clouds.aws.trail import KEPT_DAYS, LOOKUPS_A_SECOND, Trail
from plimsoll.clouds.aws.volumes import VolumeList
from plimsoll.clouds.common.answers import CloudAnswer, Deadline
from plimsoll.clouds.common.calls import Pacer
from plimsoll.model.errors import AccessDenied, CloudError, DeniedByPolicy, RegionDenied
from plimsoll.model.volume import Volume
from plimsoll.ports import FailedTarget, Target, UnreadVolume

_OTHER_HANDS: Final = (
    "AWS Compute Optimizer Automation is active here and may change the same volumes: two tools would spend the same "
    "four changes a day. Let one of them act."
)
_UNKNOWN_AUTOMATION: Final = "cannot tell whether AWS Compute Optimizer Automation changes these volumes too: {why}"
_DENIED: Final = "aco-automation:GetEnrollmentConfiguration is not allowed."
_ENROLLMENT: Final = "aco-automation:GetEnrollmentConfiguration"
_FEWEST: Final = 5
"""The fewest volumes that a page may be bounded to (Amazon EC2 API Reference, "DescribeVolumes", read 2026-11-27)."""


class Enrollment(CloudAnswer):
    """The state of Compute Optimizer Automation in an account."""

    status: Literal["Active", "Inactive", "Pending", "Failed"]


@dataclass(slots=True, kw_only=True)
class AwsInventory:
    """EBS volumes of the accounts that the sessions open. `regions` None: all that each account has switched on.

    Where people named the regions, each is to be read. A target's lists take at most `list_deadline_s` together.
    `trail_days` is how far back CloudTrail is read (0: not at all), `lookups` the pace of that.
    """

    sessions: Sessions
    regions: Sequence[str] | None = None
    are_regions_named: bool = False
    list_deadline_s: float = LIST_DEADLINE_S
    trail_days: float = 0.0
    lookups: Pacer = field(default_factory=lambda: Pacer(LOOKUPS_A_SECOND))
    _read_elsewhere: dict[str, bool] = field(default_factory=dict, repr=False)

    def targets(self) -> Sequence[Target | FailedTarget]:
        """Every account in every region, and what could not be reached."""
        targets: list[Target | FailedTarget] = []
        for account, session in self.sessions.by_account.items():
            regions = self.regions
            if regions is None:
                try:
                    regions = self._enabled_regions(account, session.region_name or HOME_REGION)
                except CloudError as error:
                    targets.append(FailedTarget(name=account, error=error))
                    continue
            targets += [Target(account=account, region=region) for region in regions]
        return [*targets, *self.sessions.failed]

    def volumes(self, target: Target) -> Iterator[Volume | UnreadVolume]:
        """Every volume of a target, a page at a time; at last those that share a host with one that is not readable."""
        ec2 = self.sessions.client("ec2", target.account, target.region)
        asker = self._asker(str(target))
        try:
            yield from VolumeList(target=target, ec2=ec2, asker=asker, trail=self._trail(target, asker)).read()
        except DeniedByPolicy as error:
            if self.are_regions_named or not self._is_read_elsewhere(target):
                raise
            raise RegionDenied(str(error)) from error

    def notices(self, target: Target) -> Sequence[str]:
        """A warning where Compute Optimizer Automation may be changing the same volumes."""
        client = self.sessions.client("compute-optimizer-automation", target.account, target.region)
        asker = self._asker(str(target))
        try:
            enrollment = asker.one(Enrollment, client.get_enrollment_configuration, _ENROLLMENT)
        except (*FAILURES, CloudError) as error:
            return _unknown_automation(error, target)
        return (_OTHER_HANDS,) if enrollment.status == "Active" else ()

    def _is_read_elsewhere(self, denied: Target) -> bool:
        """True if a region of the account answers: the policy is then about regions, and not about all that is read."""
        account = denied.account
        if account not in self._read_elsewhere:
            self._read_elsewhere[account] = any(map(partial(self._is_open, account), self._other_regions(denied)))
        return self._read_elsewhere[account]

    def _other_regions(self, denied: Target) -> Iterator[str]:
        """The account's regions, its home first; none if they cannot be listed."""
        home = self.sessions.by_account[denied.account].region_name or HOME_REGION
        yield home
        try:
            yield from (region for region in self._enabled_regions(denied.account, home) if region != home)
        except CloudError:
            return

    def _is_open(self, account: str, region: str) -> bool:
        """True if the volumes of a region can be listed. Any other answer is none."""
        ec2: Any = self.sessions.client("ec2", account, region)
        try:
            ec2.describe_volumes(MaxResults=_FEWEST)
        except (*FAILURES, CloudError):
            return False
        return True

    def _enabled_regions(self, account: str, home: str) -> list[str]:
        ec2: Any = self.sessions.client("ec2", account, home)
        with translate_errors(f"read {account}", "ec2:DescribeRegions"):
            answer = self._asker(account).one(RegionsAnswer, ec2.describe_regions, "ec2:DescribeRegions")
        return sorted(region.region_name for region in answer.regions)

    def _trail(self, target: Target, asker: Asker) -> Trail | None:
        if not self.trail_days:
            return None
        return Trail(
            client=self.sessions.client("cloudtrail", target.account, target.region),
            asker=asker,
            pacer=self.lookups,
            since=datetime.now(UTC) - timedelta(days=min(self.trail_days, KEPT_DAYS)),
        )

    def _asker(self, place: str) -> Asker:
        return Asker(place=place, deadline=Deadline(seconds=self.list_deadline_s))


def _unknown_automation(error: Exception, target: Target) -> Sequence[str]:
    """The notice that it is not known."""
    reason = error if isinstance(error, CloudError) else cloud_error(error, f"read {target}", _ENROLLMENT)
    return (_UNKNOWN_AUTOMATION.format(why=_DENIED if isinstance(reason, AccessDenied) else str(reason)),)
