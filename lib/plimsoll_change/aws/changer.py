"""EBS volumes: seen as they are now, and modified by one call that is never repeated by itself."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from botocore.exceptions import ClientError
from pydantic import AliasPath, Field

from plimsoll.clouds.aws.ec2_fields import Name, PastTime
from plimsoll.clouds.aws.errors import FAILURES, cloud_error, code_of, translate_errors
from plimsoll.clouds.aws.lists import Asker, AwsAnswer, Page
from plimsoll.clouds.aws.permissions import CHANGE_TAG
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.aws.trail import KEPT_DAYS, LOOKUPS_A_SECOND, Trail
from plimsoll.clouds.aws.volumes import IDS_A_CALL, NO_SUCH_VOLUME, VolumeList
from plimsoll.clouds.common.answers import Deadline, read_answer
from plimsoll.clouds.common.calls import Pacer, in_chunks
from plimsoll.clouds.common.messages import CallPurpose, one_line
from plimsoll.model.errors import (
    AccessDenied,
    BadCredentials,
    CloudError,
    RegionUnavailable,
    Throttled,
    Unanswered,
    Unexpected,
    VolumeGone,
)
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.ports import Target, UnreadVolume
from plimsoll_change.ports import ModifyRefused, Sights

MODIFY: Final = "ec2:ModifyVolume"
CHANGING: Final = CallPurpose(
    goes_on="Nothing was changed by it",
    allow="allow the action (`plimsoll permissions --for change`)",
    region="enable it in the account's settings",
    again="it is tried again in the next pass",
)
_ALARMS: Final = "cloudwatch:DescribeAlarms"
_NAMED_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_NAMED_HOURS: Final = re.compile(r"(\d+) hours")
_MOST_SAID: Final = 300


class Modified(AwsAnswer):
    """The answer to ModifyVolume: when a modification that was taken began."""

    start_time: PastTime = Field(validation_alias=AliasPath("VolumeModification", "StartTime"))


class AlarmAnswer(AwsAnswer):
    """An alarm and its state."""

    alarm_name: Name
    state_value: Name


class AlarmsPage(Page):
    """A page of DescribeAlarms, of either kind."""

    metric_alarms: tuple[AlarmAnswer, ...] = ()
    composite_alarms: tuple[AlarmAnswer, ...] = ()


@dataclass(slots=True, kw_only=True)
class AwsChanger:
    """The volumes of the accounts that the sessions open.

    `now` is the time that runs go by. A modification is asked for by clients that never repeat a call.
    """

    sessions: Sessions
    now: Callable[[], datetime]
    list_deadline_s: float
    lookups: Pacer = field(default_factory=lambda: Pacer(LOOKUPS_A_SECOND))
    _without_log: set[str] = field(default_factory=set, init=False, repr=False)
    _once: Sessions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._once = Sessions(
            attempts=1,
            connections=self.sessions.connections,
            waits=self.sessions.waits,
            by_account=self.sessions.by_account,
        )

    def look(self, target: Target, volume_ids: Sequence[str]) -> Sights:
        """Each volume as it is now, or why it cannot be seen: VolumeGone if EC2 says so of it alone."""
        names = list(dict.fromkeys(volume_ids))
        ec2, asker = self.sessions.client("ec2", target.account, target.region), self._asker(target)
        sights: dict[str, Volume | CloudError] = {
            name: Unexpected(f"EC2's list in {target} lacks {name}, which may be there: it is looked at again.")
            for name in names
        }
        for volume in VolumeList(target=target, ec2=ec2, asker=asker, purpose=CHANGING).read_named(names):
            if isinstance(volume, UnreadVolume):
                sights |= {volume.id: volume.error} if volume.id else {}
            elif volume.modification is not None and volume.modification.target is None:
                sights[volume.id] = Unexpected(f"EC2 does not say in {target} what {volume.id} was last modified to.")
            else:
                sights[volume.id] = volume
        return sights

    def modify(self, target: Target, volume_id: str, now: VolumeSpec, then: VolumeSpec, _request_id: str) -> datetime:
        """Asks once for a modification, every figure written out, and gives its start. EC2 takes no request's id."""
        ec2 = self._once.client("ec2", target.account, target.region)
        size_gib = None if then.size_gib == now.size_gib else then.size_gib
        figures = {"Size": size_gib, "Iops": then.iops, "Throughput": then.throughput_mib_s}
        written = {name: figure for name, figure in figures.items() if figure is not None}
        place = f"{volume_id} in {target}"
        try:
            raw = ec2.modify_volume(VolumeId=volume_id, VolumeType=then.type, **written)
        except FAILURES as error:
            raise _refusal(error, place, self.now()) from error
        return read_answer(Modified, raw, call=MODIFY, place=place).start_time

    def tag(self, target: Target, volume_ids: Sequence[str], plan_id: str) -> None:
        """The volumes have a plan's tag from now on, in place of an earlier one."""
        ec2, tags = self.sessions.client("ec2", target.account, target.region), [{"Key": CHANGE_TAG, "Value": plan_id}]
        for chunk in in_chunks(dict.fromkeys(volume_ids), IDS_A_CALL):
            with translate_errors(f"tag volumes of a plan in {target}", "ec2:CreateTags", CHANGING):
                ec2.create_tags(Resources=list(chunk), Tags=tags)

    def find_starts(self, target: Target, volume_id: str, since: datetime) -> Sequence[datetime] | None:
        """The starts of a volume's modifications by CloudTrail; None for an account that does not let it be read."""
        if target.account in self._without_log:
            return None
        trail = Trail(
            client=self.sessions.client("cloudtrail", target.account, target.region),
            asker=self._asker(target),
            pacer=self.lookups,
            since=max(since, self.now() - timedelta(days=KEPT_DAYS)),
        )
        try:
            return trail.find_modifications(volume_id)
        except AccessDenied:
            self._without_log.add(target.account)
            return None

    def find_firing(self, target: Target, alarms: Sequence[str]) -> Sequence[str]:
        """The names of alarms that are not OK, or not there."""
        cloudwatch = self.sessions.client("cloudwatch", target.account, target.region)
        request = {"AlarmNames": list(alarms), "AlarmTypes": ["MetricAlarm", "CompositeAlarm"]}
        with translate_errors(f"read alarms in {target}", _ALARMS, CHANGING):
            pages = list(self._asker(target).pages(AlarmsPage, cloudwatch.describe_alarms, _ALARMS, **request))
        listed = (alarm for page in pages for alarm in (*page.metric_alarms, *page.composite_alarms))
        fine = {alarm.alarm_name for alarm in listed if alarm.state_value == "OK"}
        return [name for name in alarms if name not in fine]

    def _asker(self, target: Target) -> Asker:
        return Asker(place=f"volumes in {target}", deadline=Deadline(seconds=self.list_deadline_s))


def _refusal(error: Exception, place: str, now: datetime) -> CloudError:
    """The error of a modification: refused by a code, not answered, or not for this volume's reasons."""
    translated = cloud_error(error, f"modify {place}", MODIFY, CHANGING)
    if not isinstance(error, ClientError):
        return Unanswered(f"no answer to ModifyVolume of {place}: {type(error).__name__}.")
    code, message = code_of(error), one_line(str(error.response.get("Error", {}).get("Message", "")))[:_MOST_SAID]
    if code in NO_SUCH_VOLUME:
        return VolumeGone(f"{place} does not exist any more.")
    if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400) >= 500:
        return Unanswered(f"no answer to ModifyVolume of {place}: {code}.")
    match translated:
        case Throttled():
            code = "RequestLimitExceeded"
        case AccessDenied():
            code, message = "UnauthorizedOperation", str(translated)
        case BadCredentials() | RegionUnavailable():
            return translated
        case _:
            pass
    return ModifyRefused(f"{code}: {message}", code, _find_named_time(message, now))


def _find_named_time(message: str, now: datetime) -> datetime | None:
    """The time for another attempt that a message names; None if it names none."""
    if (named := _NAMED_TIME.search(message)) is not None:
        moment = datetime.fromisoformat(named[0])
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    hours = _NAMED_HOURS.search(message)
    return None if hours is None else now + timedelta(hours=int(hours[1]))
