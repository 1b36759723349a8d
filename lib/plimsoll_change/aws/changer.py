"""EBS volumes: seen as they are now, and modified by one call that is never repeated by itself."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from botocore.exceptions import ClientError

from plimsoll.clouds.aws.ec2_fields import Count, Name, PastTime, PlainFigure, VolumeId
from plimsoll.clouds.aws.errors import FAILURES, cloud_error, code_of, translate_errors
from plimsoll.clouds.aws.hosts import Hosts
from plimsoll.clouds.aws.lists import Asker, AwsAnswer, Page
from plimsoll.clouds.aws.permissions import CHANGE_TAG
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.aws.trail import KEPT_DAYS, LOOKUPS_A_SECOND, Trail
from plimsoll.clouds.aws.volume_answers import ModificationAnswer, ModificationsPage, VolumeAnswer, VolumesPage
from plimsoll.clouds.aws.volumes import VOLUMES, volume_of
from plimsoll.clouds.common.answers import Deadline, read_answer
from plimsoll.clouds.common.calls import Pacer, in_chunks
from plimsoll.clouds.common.dated_data import sold_figures
from plimsoll.clouds.common.messages import CallPurpose, one_line
from plimsoll.clouds.registry import AWS
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
from plimsoll.model.volume import Modification, Volume, VolumeSpec
from plimsoll.ports import Target
from plimsoll_change.ports import ModifyRefused

MODIFY: Final = "ec2:ModifyVolume"
CHANGING: Final = CallPurpose(
    goes_on="Nothing was changed by it",
    allow="allow the action (`plimsoll permissions --for change`)",
    region="enable it in the account's settings",
    again="it is tried again in the next pass",
)
_MODIFICATIONS: Final = "ec2:DescribeVolumesModifications"
_ALARMS: Final = "cloudwatch:DescribeAlarms"
_IDS_A_CALL: Final = 200
_GONE: Final = ("InvalidVolume.NotFound", "InvalidVolumeID.Malformed")
_NAMED_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_NAMED_HOURS: Final = re.compile(r"(\d+) hours")
_MOST_SAID: Final = 300


class SeenModification(ModificationAnswer):
    """The latest modification of a volume, with what it makes of it."""

    target_volume_type: Name
    target_size: Count
    target_iops: PlainFigure | None = None
    target_throughput: PlainFigure | None = None
    status_message: str = ""

    @property
    def modification(self) -> Modification:
        target = VolumeSpec(
            type=self.target_volume_type,
            size_gib=self.target_size,
            iops=self.target_iops,
            throughput_mib_s=self.target_throughput,
        )
        return Modification(
            state=self.modification_state,
            started=self.start_time,
            progress_pct=self.progress,
            original=sold_figures(self.original, AWS),
            ended=self.end_time,
            target=sold_figures(target, AWS),
            message=self.status_message,
        )


class Begun(AwsAnswer):
    """The start of a modification that was taken."""

    volume_id: VolumeId
    start_time: PastTime


class Modified(AwsAnswer):
    """The answer to ModifyVolume."""

    volume_modification: Begun


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

    def look(self, target: Target, volume_ids: Sequence[str]) -> Mapping[str, Volume | CloudError]:
        """Each volume as it is now, or why it cannot be seen: VolumeGone if EC2 says so of it alone."""
        self._check_account(target)
        sights = dict[str, Volume | CloudError]()
        for chunk in in_chunks(dict.fromkeys(volume_ids), _IDS_A_CALL):
            sights |= self._look(target, chunk)
        return sights

    def modify(self, target: Target, volume_id: str, now: VolumeSpec, then: VolumeSpec) -> datetime:
        """Asks once for a modification, every figure written out, and gives its start."""
        ec2 = self._once.client("ec2", target.account, target.region)
        request: dict[str, Any] = {"VolumeId": volume_id, "VolumeType": then.type}
        if then.size_gib != now.size_gib:
            request["Size"] = then.size_gib
        if then.iops is not None:
            request["Iops"] = then.iops
        if then.throughput_mib_s is not None:
            request["Throughput"] = then.throughput_mib_s
        place = f"{volume_id} in {target}"
        try:
            raw = ec2.modify_volume(**request)
        except FAILURES as error:
            raise _refusal(error, place, self.now()) from error
        return read_answer(Modified, raw, call=MODIFY, place=place).volume_modification.start_time

    def tag(self, target: Target, volume_ids: Sequence[str], plan_id: str) -> None:
        """The volumes have a plan's tag from now on, in place of an earlier one."""
        self._check_account(target)
        ec2, tags = self.sessions.client("ec2", target.account, target.region), [{"Key": CHANGE_TAG, "Value": plan_id}]
        for chunk in in_chunks(dict.fromkeys(volume_ids), _IDS_A_CALL):
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
        states = dict[str, str]()
        with translate_errors(f"read alarms in {target}", _ALARMS, CHANGING):
            pages = self._asker(target).pages(
                AlarmsPage, cloudwatch.describe_alarms, _ALARMS, AlarmNames=list(alarms), AlarmTypes=_ALARM_TYPES
            )
            for page in pages:
                states |= {
                    alarm.alarm_name: alarm.state_value for alarm in (*page.metric_alarms, *page.composite_alarms)
                }
        return [name for name in alarms if states.get(name) != "OK"]

    def _look(self, target: Target, ids: Sequence[str]) -> Iterator[tuple[str, Volume | CloudError]]:
        ec2, asker = self.sessions.client("ec2", target.account, target.region), self._asker(target)
        with translate_errors(f"look at volumes in {target}", VOLUMES, CHANGING):
            answers = self._read_volumes(ec2, asker, ids)
        with translate_errors(f"look at modifications in {target}", _MODIFICATIONS, CHANGING):
            changes = self._read_changes(ec2, asker, ids)
        hosts = Hosts(ec2, asker, purpose=CHANGING)
        hosts.learn(
            where.instance_id for answer in answers.values() for where in answer.active_attachments if where.instance_id
        )
        for name in ids:
            answer = answers.get(name)
            if answer is None:
                yield name, self._find_absence(ec2, target, name)
                continue
            attached = [where.instance_id for where in answer.active_attachments]
            unread = next((hosts.unread[host] for host in attached if host in hosts.unread), None)
            change = changes.get(name)
            yield name, unread or volume_of(answer, target, hosts, None if change is None else change.modification)

    def _read_volumes(self, ec2: Any, asker: Asker, ids: Sequence[str]) -> dict[str, VolumeAnswer]:
        ask = partial(ec2.describe_volumes, IncludeManagedResources=True)
        pages = asker.pages(VolumesPage, ask, VOLUMES, Filters=_ids_filter(ids))
        entries = [
            read_answer(VolumeAnswer, raw, call=VOLUMES, place=asker.place) for page in pages for raw in page.volumes
        ]
        return {entry.volume_id: entry for entry in entries}

    def _read_changes(self, ec2: Any, asker: Asker, ids: Sequence[str]) -> dict[str, SeenModification]:
        ask = ec2.describe_volumes_modifications
        pages = asker.pages(ModificationsPage, ask, _MODIFICATIONS, Filters=_ids_filter(ids))
        entries = [
            read_answer(SeenModification, raw, call=_MODIFICATIONS, place=asker.place)
            for page in pages
            for raw in page.entries
        ]
        return {entry.volume_id: entry for entry in entries}

    def _find_absence(self, ec2: Any, target: Target, name: str) -> CloudError:
        """The reason why a list does not have a volume: a list alone is no proof that it is gone."""
        try:
            ec2.describe_volumes(VolumeIds=[name], IncludeManagedResources=True)
        except FAILURES as error:
            if isinstance(error, ClientError) and code_of(error) in _GONE:
                return VolumeGone(f"{name} in {target} does not exist any more.")
            return cloud_error(error, f"look at {name} in {target}", VOLUMES, CHANGING)
        return Unexpected(f"EC2's list in {target} lacks {name}, which it shows alone: it is looked at again.")

    def _check_account(self, target: Target) -> None:
        if target.account not in self.sessions.by_account:
            reasons = "; ".join(f"{failure.name}: {failure.error}" for failure in self.sessions.failed)
            raise BadCredentials(
                f"no credentials of the plan's scope lead to {target.account}: sign in again. {reasons}".rstrip()
            )

    def _asker(self, target: Target) -> Asker:
        return Asker(place=f"volumes in {target}", deadline=Deadline(seconds=self.list_deadline_s))


_ALARM_TYPES: Final = ["MetricAlarm", "CompositeAlarm"]


def _ids_filter(ids: Sequence[str]) -> list[dict[str, Any]]:
    return [{"Name": "volume-id", "Values": list(ids)}]


def _refusal(error: Exception, place: str, now: datetime) -> CloudError:
    """The error of a modification: refused by a code, not answered, or not for this volume's reasons."""
    translated = cloud_error(error, f"modify {place}", MODIFY, CHANGING)
    if not isinstance(error, ClientError):
        return Unanswered(f"no answer to ModifyVolume of {place}: {type(error).__name__}.")
    code, message = code_of(error), one_line(str(error.response.get("Error", {}).get("Message", "")))[:_MOST_SAID]
    if code in _GONE:
        return VolumeGone(f"{place} does not exist any more.")
    if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400) >= 500:
        return Unanswered(f"no answer to ModifyVolume of {place}: {code}.")
    if isinstance(translated, Throttled):
        code = "RequestLimitExceeded"
    elif isinstance(translated, AccessDenied):
        code = "UnauthorizedOperation"
        message = str(translated)
    elif isinstance(translated, BadCredentials | RegionUnavailable):
        return translated
    return ModifyRefused(f"{code}: {message}", code, _named_time(message, now))


def _named_time(message: str, now: datetime) -> datetime | None:
    """The time for another attempt that a message names; None if it names none."""
    named = _NAMED_TIME.search(message)
    if named is not None:
        moment = datetime.fromisoformat(named[0])
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    hours = _NAMED_HOURS.search(message)
    return None if hours is None else now + timedelta(hours=int(hours[1]))
