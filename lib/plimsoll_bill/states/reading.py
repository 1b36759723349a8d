"""Reading: the facts of one account and region by the sessions of an audit, each list by its own permission.

What is denied costs itself alone: it stays None, and `unread` says why.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from plimsoll.clouds.aws.errors import COMPARING, translate_errors
from plimsoll.clouds.aws.lists import Asker, Page
from plimsoll.clouds.aws.trail import KEPT_DAYS, LOOKUPS_A_SECOND, Trail
from plimsoll.clouds.common.answers import bad_answer
from plimsoll.clouds.common.calls import Pacer, in_chunks
from plimsoll.model.errors import CloudError
from plimsoll.model.units import DAY_S
from plimsoll_bill.states import answers
from plimsoll_bill.states.facts import SNAPSHOT, VOLUME, LastUse, PlaceFacts

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
_PageRead = TypeVar("_PageRead", bound=Page)


class PlaceReader:
    """Reads a place by clients of its account and region: `client` gives that of a service."""

    def __init__(self, place: PlaceFacts, client: Callable[[str], Any], asker: Asker) -> None:
        self.place, self.client, self.asker = place, client, asker
        self.ec2 = client("ec2")

    def read(self) -> None:
        """Reads volumes, snapshots, images and their users, locks, fast restores and rules."""
        place, ec2 = self.place, self.ec2
        place.volumes = self._try(
            "ec2:DescribeVolumes",
            lambda call: {
                part.volume_id: part.volume
                for page in self._pages(answers.VolumePartsPage, ec2.describe_volumes, call, MaxResults=500)
                for part in page.volumes
            },
        )
        place.snapshots = self._try(
            "ec2:DescribeSnapshots",
            lambda call: {
                answer.snapshot_id: answer.snapshot
                for page in self._pages(
                    answers.SnapshotsPage, ec2.describe_snapshots, call, OwnerIds=["self"], MaxResults=1000
                )
                for answer in page.snapshots
            },
        )
        place.images = self._try(
            "ec2:DescribeImages",
            lambda call: {
                answer.image_id: answer.image
                for page in self._pages(
                    answers.ImagesPage,
                    ec2.describe_images,
                    call,
                    Owners=["self"],
                    IncludeDeprecated=True,
                    IncludeDisabled=True,
                    MaxResults=1000,
                )
                for answer in page.images
            },
        )
        place.image_uses = self._read_uses()
        place.locked = self._try(
            "ec2:DescribeLockedSnapshots",
            lambda call: frozenset(
                lock.snapshot_id
                for page in self._pages(answers.LocksPage, ec2.describe_locked_snapshots, call)
                for lock in page.snapshots
                if lock.lock_state != "expired"
            ),
        )
        place.fast_restores = self._try(
            "ec2:DescribeFastSnapshotRestores",
            lambda call: tuple(
                answer.restore
                for page in self._pages(answers.FastRestoresPage, ec2.describe_fast_snapshot_restores, call)
                for answer in page.fast_snapshot_restores
                if answer.restore is not None
            ),
        )
        place.rules = self._try("rbin:ListRules", lambda call: tuple(self._rules(call)))

    def read_sharing(self, names: Iterable[str]) -> None:
        """With whom these snapshots and images are shared: a call each."""
        shared = dict(self.place.shared)
        for name in sorted(set(names) - set(shared)):
            accounts = self._try(*self._ask_sharing(name))
            if accounts is None:
                break
            shared[name] = accounts
        self.place.shared = shared

    def read_last_uses(self, volume_ids: Sequence[str]) -> None:
        """When volumes that are attached to nothing had their last metrics, and who had them last."""
        last = self._try("cloudwatch:GetMetricData", lambda call: dict(self._last_days(volume_ids, call)))
        attached = self._try("cloudtrail:LookupEvents", lambda _: dict(self._last_hosts(volume_ids)))
        if last is None and attached is None:
            return
        uses = self.place.image_uses
        known_hosts = None if uses is None else {user for users in uses.values() for user in users}
        self.place.last_uses = {
            name: LastUse(
                at=(last or {}).get(name),
                host=(host := (attached or {}).get(name)),
                host_is_gone=host is not None and known_hosts is not None and host not in known_hosts,
            )
            for name in volume_ids
        }

    def _try(self, call: str, read: Callable[[str], _Result]) -> _Result | None:
        """The result of a reading; None if it fails, and why is noted under its permission."""
        try:
            with translate_errors(f"read {self.asker.place}", call, _PURPOSE):
                return read(call)
        except CloudError as error:
            self.place.unread[call] = str(error)
            return None

    def _pages(self, kind: type[_PageRead], ask: Callable[..., Any], call: str, **request: Any) -> Iterator[_PageRead]:
        yield from self.asker.pages(kind, ask, call, **request)

    def _read_uses(self) -> Mapping[str, tuple[str, ...]] | None:
        uses: dict[str, list[str]] = {}

        def read_instances(call: str) -> bool:
            for page in self._pages(answers.LaunchersPage, self.ec2.describe_instances, call, MaxResults=1000):
                for instance in (each for group in page.reservations for each in group.instances):
                    uses.setdefault(instance.image_id, []).append(instance.instance_id)
            return True

        def read_versions(call: str) -> bool:
            ask = self.ec2.describe_launch_template_versions
            latest = self._pages(answers.VersionsPage, ask, call, Versions=["$Latest"])
            templates = {answer.launch_template_id for page in latest for answer in page.launch_template_versions}
            for template in sorted(templates):  # an older version may be named by its number
                for page in self._pages(answers.VersionsPage, ask, call, LaunchTemplateId=template, ResolveAlias=True):
                    for answer in page.launch_template_versions:
                        self._add_version(answer, call, uses)
            return True

        read = (
            self._try("ec2:DescribeInstances", read_instances),
            self._try("ec2:DescribeLaunchTemplateVersions", read_versions),
        )
        return {image: tuple(dict.fromkeys(users)) for image, users in uses.items()} if all(read) else None

    def _add_version(self, answer: answers.VersionAnswer, call: str, uses: dict[str, list[str]]) -> None:
        """Notes the image of a version. BadAnswer if it names one by a parameter that cannot be resolved."""
        image = answer.launch_template_data.image_id
        user = f"{answer.launch_template_id} version {answer.version_number}"
        if image is not None and not image.startswith("ami-"):
            raise bad_answer(f"{user} names its image by {image}", None, call=call, place=self.asker.place)
        if image is not None:
            uses.setdefault(image, []).append(user)

    def _rules(self, call: str) -> Iterator[Any]:
        bin_ = self.client("rbin")
        for kind in (VOLUME, SNAPSHOT):
            for page in self._pages(answers.BinPage, bin_.list_rules, call, ResourceType=kind):
                for summary in page.rules:
                    rule = self.asker.one(
                        answers.BinRule, bin_.get_rule, "rbin:GetRule", Identifier=summary.identifier
                    ).rule
                    if rule is not None:
                        yield rule

    def _ask_sharing(self, name: str) -> tuple[str, Callable[[str], tuple[str, ...]]]:
        if name.startswith("ami-"):
            return "ec2:DescribeImageAttribute", lambda call: tuple(
                grant.account
                for grant in self.asker.one(
                    answers.ImageGrants,
                    self.ec2.describe_image_attribute,
                    call,
                    ImageId=name,
                    Attribute="launchPermission",
                ).launch_permissions
            )
        return "ec2:DescribeSnapshotAttribute", lambda call: tuple(
            grant.account
            for grant in self.asker.one(
                answers.SnapshotGrants,
                self.ec2.describe_snapshot_attribute,
                call,
                SnapshotId=name,
                Attribute="createVolumePermission",
            ).create_volume_permissions
        )

    def _last_days(self, volume_ids: Sequence[str], call: str) -> Iterator[tuple[str, datetime]]:
        """The last day (UTC) with a point of each volume, as its end."""
        end = self.place.now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        for chunk in in_chunks(volume_ids, _METRICS_A_CALL):
            queries = [_query(place, name) for place, name in enumerate(chunk)]
            last: dict[str, datetime] = {}
            for page in self._pages(
                answers.PointsPage,
                self.client("cloudwatch").get_metric_data,
                call,
                MetricDataQueries=queries,
                StartTime=end - timedelta(days=METRIC_DAYS),
                EndTime=end,
            ):
                for series in page.metric_data_results:
                    name = chunk[int(series.id[1:])]
                    for at in series.timestamps:
                        last[name] = max(at, last.get(name, at))
            yield from ((name, min(at + timedelta(seconds=DAY_S), self.place.now)) for name, at in last.items())

    def _last_hosts(self, volume_ids: Sequence[str]) -> Iterator[tuple[str, str]]:
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
