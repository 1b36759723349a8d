"""The reader of an account's assets in a region, each list by its own permission.

What is denied costs itself alone: it stays None, and `unread` says why.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

from botocore import xform_name

from plimsoll.clouds.aws import assets
from plimsoll.clouds.aws.accounts import sign_in
from plimsoll.clouds.aws.assets import SNAPSHOT, VOLUME, LastUse, PlaceFacts
from plimsoll.clouds.aws.errors import COMPARING, translate_errors
from plimsoll.clouds.aws.lists import Asker
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.aws.trail import KEPT_DAYS, LOOKUPS_A_SECOND, Trail
from plimsoll.clouds.common.answers import Deadline, bad_answer
from plimsoll.clouds.common.calls import Pacer, in_chunks
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import CloudError
from plimsoll.model.units import DAY_S
from plimsoll.ports import Target
from plimsoll.settings import Settings

_PURPOSE: Final = replace(
    COMPARING,
    goes_on="What rests on it is not said of this place",
    allow="allow the action (`plimsoll permissions --for states`)",
    again="read the states again later",
)
METRIC_DAYS: Final = 455
"""For so long CloudWatch keeps hours."""

_METRICS_A_CALL: Final = 100
_Result = TypeVar("_Result")

_LISTS: Final[Mapping[str, tuple[type[assets.Entries], Mapping[str, Any]]]] = {
    "ec2:DescribeVolumes": (assets.page_of("Volumes", assets.PresentVolume), {"MaxResults": 500}),
    "ec2:DescribeSnapshots": (
        assets.page_of("Snapshots", assets.Snapshot),
        {"OwnerIds": ["self"], "MaxResults": 1000},
    ),
    "ec2:DescribeImages": (
        assets.page_of("Images", assets.Image),
        {"Owners": ["self"], "IncludeDeprecated": True, "IncludeDisabled": True, "MaxResults": 1000},
    ),
    "ec2:DescribeLockedSnapshots": (assets.page_of("Snapshots", assets.Lock), {}),
    "ec2:DescribeFastSnapshotRestores": (assets.page_of("FastSnapshotRestores", assets.FastRestore), {}),
    "ec2:DescribeInstances": (assets.page_of("Reservations", assets.LaunchedTogether), {"MaxResults": 1000}),
    "ec2:DescribeLaunchTemplateVersions": (assets.page_of("LaunchTemplateVersions", assets.TemplateVersion), {}),
    "rbin:ListRules": (assets.page_of("Rules", assets.RuleName, default=()), {}),
    "cloudwatch:GetMetricData": (assets.page_of("MetricDataResults", assets.MetricTimes), {}),
}
"""The page of each list that is read, and what is asked with it."""

_GRANTS: Final = {
    "ami": ("ec2:DescribeImageAttribute", "LaunchPermissions", "ImageId", "launchPermission"),
    "snap": ("ec2:DescribeSnapshotAttribute", "CreateVolumePermissions", "SnapshotId", "createVolumePermission"),
}
"""The call, list, key and attribute that say with whom an image or a snapshot is shared."""


def open_readers(
    scope: Scope, targets: Iterable[Target], settings: Settings, now: datetime
) -> tuple[dict[str, "PlaceReader"], dict[str, str]]:
    """A reader for each place by its name, and the reasons where no credentials of the scope lead there."""
    sessions = sign_in(replace(scope, clouds=(AWS,), regions=()), settings)
    readers, unread = dict[str, PlaceReader](), dict[str, str]()
    for target in sorted(targets):
        if target.account not in sessions.by_account:
            unread[str(target)] = "no credentials of the run's scope lead to this account now."
            unread |= {failure.name: str(failure.error) for failure in sessions.failed}
            continue
        place = PlaceFacts(account=target.account, region=target.region, now=now)
        asker = Asker(place=str(target), deadline=Deadline(seconds=settings.list_deadline_s))
        readers[str(target)] = PlaceReader(place, partial(_client_of, sessions, target), asker)
    return readers, unread


def _client_of(sessions: Sessions, target: Target, service: str) -> Any:
    return sessions.client(service, target.account, target.region)


class PlaceReader:
    """Reads a place by clients of its account and region: `client` gives that of a service."""

    def __init__(self, place: PlaceFacts, client: Callable[[str], Any], asker: Asker) -> None:
        self.place, self.client, self.asker = place, client, asker

    def read(self) -> None:
        """Reads volumes, snapshots, images and their users, locks, fast restores and rules."""
        place = self.place
        for name in ("Volumes", "Snapshots", "Images"):
            listed = self._try_list(f"ec2:Describe{name}")
            setattr(place, name.lower(), listed if listed is None else {entry.id: entry for entry in listed})
        place.image_uses = self._read_uses()
        locks = self._try_list("ec2:DescribeLockedSnapshots")
        if locks is not None:
            place.locked = frozenset(lock.snapshot_id for lock in locks if lock.lock_state != "expired")
        restores = self._try_list("ec2:DescribeFastSnapshotRestores")
        place.fast_restores = None if restores is None else tuple(fast for fast in restores if fast.is_on)
        place.rules = self._try("rbin:ListRules", lambda call: tuple(self._rules(call)))

    def read_sharing(self, snapshot_ids: Iterable[str]) -> None:
        """With whom these snapshots, and their images, are shared: a call each."""
        place, shared, names = self.place, dict[str, tuple[str, ...]](), set(snapshot_ids)
        images = {image.id for name in names for image in place.images_of.get(name, ())}
        for name in (*sorted(images), *sorted(names)):
            grants = self._try(_GRANTS[name.partition("-")[0]][0], partial(self._ask_grants, name))
            if grants is None:
                break
            shared[name] = grants
        place.shared = shared

    def _ask_grants(self, name: str, call: str) -> tuple[str, ...]:
        _, listed, key, attribute = _GRANTS[name.partition("-")[0]]
        asked: dict[str, Any] = {key: name, "Attribute": attribute}
        grants = self.asker.one(assets.page_of(listed, assets.Grant), self._operation(call), call, **asked).entries
        return tuple(grant.user_id or "everybody" for grant in grants)

    def read_last_uses(self, volume_ids: Sequence[str]) -> None:
        """When volumes that are attached to nothing had their last metrics, and who had them last."""
        last = self._try("cloudwatch:GetMetricData", lambda call: dict(self._last_days(volume_ids, call))) or {}
        attached = self._try("cloudtrail:LookupEvents", lambda _: dict(self._last_hosts(volume_ids))) or {}
        uses = self.place.image_uses
        known_hosts = None if uses is None else {user for users in uses.values() for user in users}
        for name in last.keys() | attached.keys():
            host = attached.get(name)
            is_gone = host is not None and known_hosts is not None and host not in known_hosts
            self.place.last_uses[name] = LastUse(at=last.get(name), host=host, host_is_gone=is_gone)

    def _try(self, call: str, read: Callable[[str], _Result]) -> _Result | None:
        """The result of a reading; None if it fails, and why is noted under its permission."""
        try:
            with translate_errors(f"read {self.asker.place}", call, _PURPOSE):
                return read(call)
        except CloudError as error:
            self.place.unread[call] = str(error)
            return None

    def _operation(self, call: str) -> Callable[..., Any]:
        service, _, operation = call.partition(":")
        ask: Callable[..., Any] = getattr(self.client(service), xform_name(operation))
        return ask

    def _entries(self, call: str, **asked: Any) -> Iterator[Any]:
        page_kind, request = _LISTS[call]
        for page in self.asker.pages(page_kind, self._operation(call), call, **{**request, **asked}):
            yield from page.entries

    def _try_list(self, call: str) -> list[Any] | None:
        return self._try(call, lambda call: list(self._entries(call)))

    def _read_uses(self) -> Mapping[str, tuple[str, ...]] | None:
        """Who names an image; None if one of the lists could not be read."""
        reservations = self._try_list("ec2:DescribeInstances")
        versions = self._try("ec2:DescribeLaunchTemplateVersions", lambda call: list(self._versions(call)))
        if reservations is None or versions is None:
            return None
        uses: dict[str, list[str]] = {}
        for instance in (instance for reservation in reservations for instance in reservation.instances):
            uses.setdefault(instance.image_id, []).append(instance.instance_id)
        for image, user in versions:
            uses.setdefault(image, []).append(user)
        return {image: tuple(dict.fromkeys(users)) for image, users in uses.items()}

    def _versions(self, call: str) -> Iterator[tuple[str, str]]:
        """The image of each version of a launch template: an older one may be named by its number.

        BadAnswer if one names its image by a parameter that cannot be resolved.
        """
        latest = self._entries(call, Versions=["$Latest"])
        for template in sorted({version.launch_template_id for version in latest}):
            for version in self._entries(call, LaunchTemplateId=template, ResolveAlias=True):
                user, image = f"{template} version {version.version_number}", version.image_id
                if image is not None and not image.startswith("ami-"):
                    raise bad_answer(f"{user} names its image by {image}", None, call=call, place=self.asker.place)
                if image is not None:
                    yield image, user

    def _rules(self, call: str) -> Iterator[assets.RetentionRule]:
        """The rules of the Recycle Bin that hold."""
        for kind in (VOLUME, SNAPSHOT):
            for entry in self._entries(call, ResourceType=kind):
                ask = self._operation("rbin:GetRule")
                rule = self.asker.one(assets.RetentionRule, ask, "rbin:GetRule", Identifier=entry.identifier)
                if rule.status == "available":
                    yield rule

    def _last_days(self, volume_ids: Sequence[str], call: str) -> Iterator[tuple[str, datetime]]:
        """The last day (UTC) with a point of each volume, as its end."""
        end = self.place.now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        window = {"StartTime": end - timedelta(days=METRIC_DAYS), "EndTime": end}
        for chunk in in_chunks(volume_ids, _METRICS_A_CALL):
            queries = [_query(place, name) for place, name in enumerate(chunk)]
            last: dict[str, datetime] = {}
            for series in self._entries(call, MetricDataQueries=queries, **window):
                name = chunk[int(series.id[1:])]
                for at in series.timestamps:
                    last[name] = max(at, last.get(name, at))
            yield from ((name, min(at + timedelta(seconds=DAY_S), self.place.now)) for name, at in last.items())

    def _last_hosts(self, volume_ids: Iterable[str]) -> Iterator[tuple[str, str]]:
        since = self.place.now - timedelta(days=KEPT_DAYS)
        trail = Trail(client=self.client("cloudtrail"), asker=self.asker, pacer=Pacer(LOOKUPS_A_SECOND), since=since)
        for name in volume_ids:
            hosts = [host for _, host in trail.find_attachments(name)]
            if hosts:
                yield name, hosts[-1]


def _query(place: int, volume_id: str) -> dict[str, Any]:
    dimensions = [{"Name": "VolumeId", "Value": volume_id}]
    metric = {"Namespace": "AWS/EBS", "MetricName": "VolumeReadOps", "Dimensions": dimensions}
    return {"Id": f"m{place}", "MetricStat": {"Metric": metric, "Period": DAY_S, "Stat": "Sum"}}
