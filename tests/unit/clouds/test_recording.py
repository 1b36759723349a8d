"""A recording: what the clouds answered decides the same again, errors included."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from cloud_simulator.metrics.sums import Sums
from plimsoll.auditing.audit import run_audit
from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.recorder import RecordedPorts, Recorder
from plimsoll.clouds.recording import open_recording
from plimsoll.model.errors import (
    AccessDenied,
    BadAnswer,
    BadCredentials,
    BadInput,
    RegionUnavailable,
    Throttled,
    Unexpected,
)
from plimsoll.model.volume import Owner, OwnerKind, Volume
from plimsoll.outcomes import Answered, FailedVolume, Notice, Planned
from plimsoll.ports import FailedTarget, Target, UnreadVolume
from plimsoll.reading.known import Ask, Look
from plimsoll.reading.window import Window
from tests.builders import NOW, TYPES, US_EAST_1, a_host, a_policy, a_tariff, a_volume, read, some_sums
from tests.in_memory.ports import MemoryCatalog, MemoryInventory, MemoryMetrics, MemoryPrices

HERE = Target(account="111122223333", region="us-east-1")
UNPRICED = Target(account="111122223333", region="mx-central-1")
DENIED = Target(account="444455556666", region="us-east-1")
WINDOW = Window.before(NOW, days=14)
RANDOM = np.random.default_rng(7)


def busy(most):
    """Fourteen days of minutes with up to so many operations a second, some of them missing."""
    buckets = WINDOW.buckets(60)
    ops = RANDOM.uniform(0, most * 60, buckets)
    there = np.where(np.isin(np.arange(buckets), RANDOM.integers(0, buckets, 500)), np.nan, 1.0)
    return some_sums(
        start_s=WINDOW.start_s,
        buckets=buckets,
        read_ops=ops * there,
        read_bytes=ops * 16_384 * there,
        write_ops=0 * there,
        write_bytes=0 * there,
        idle_s=30 * there,
        burst_balance_pct=99 * there,
    )


VOLUMES = [
    a_volume("gp2", 500, id="vol-a", tags={"Name": '"quoted"\n\u2028\uac00'}),
    a_volume("gp2", 1500, id="vol-b", on=a_host(id="i-2"), owner=Owner(kind=OwnerKind.TERRAFORM, name="data")),
    a_volume("io2", 800, iops=12_000, id="vol-c", on=a_host("t2.micro", id="i-3")),
    a_volume("gp3", 100, id="vol-detached", on=()),
    a_volume("gp2", 200, id="vol-forbidden", on=a_host(id="i-4")),
    a_volume("gp9", 10, id="vol-unknown"),
    a_volume("gp2", 300, id="vol-unpriced", region="mx-central-1"),
    a_volume("gp2", 300, id="vol-listed", account=DENIED.account),
]


def memory_world():
    inventory = MemoryInventory(
        given=VOLUMES,
        unreachable=[FailedTarget(name="profile x", error=BadCredentials("no usable credentials."))],
        broken={
            DENIED: AccessDenied("cannot read it: not allowed."),
            Target(account="777788889999", region="us-west-2"): RegionUnavailable("switched off."),
        },
        texts={HERE: ("another tool is active here.",)},
        unread={
            HERE: [
                UnreadVolume(id="vol-unread", error=BadAnswer("cannot read vol-unread: Size is missing.")),
                UnreadVolume(id=None, error=BadAnswer("cannot read a volume: VolumeId is missing.")),
            ]
        },
    )
    metrics = MemoryMetrics(
        given={"vol-a": busy(300), "vol-b": busy(2000), "vol-unpriced": busy(40)},
        broken={"vol-forbidden": Throttled("asked too often.")},
        texts={HERE: ("some of their hosts are gone.",)},
    )
    return AuditPorts(
        query_cost=a_tariff(),
        inventory=inventory,
        metrics=metrics,
        prices=MemoryPrices(books={"us-east-1": US_EAST_1}),
        catalog=MemoryCatalog(types=TYPES, provider="aws"),
        envelopes=(),
        every_minute=True,
    )


def only_cloud_of(path):
    (recording,) = open_recording(path)
    return recording


def through(ports, recorder):
    return RecordedPorts(
        inventory=ports.inventory, metrics=ports.metrics, prices=ports.prices, recorder=recorder, provider="aws"
    )


def recorded(ports, path, policy=None):
    """The outcomes of an audit that is recorded into that file."""
    with Recorder(path, NOW, "1.2.3", {"aws": ports.metrics.retention_days}) as recorder:
        read_through = through(ports, recorder)
        ports_through = AuditPorts(
            query_cost=a_tariff(),
            inventory=read_through,
            metrics=read_through,
            prices=read_through,
            catalog=ports.catalog,
            envelopes=ports.envelopes,
            every_minute=True,
        )
        return list(run_audit(ports_through, policy or a_policy(), NOW))


def replayed(path, policy=None):
    recording = only_cloud_of(path)
    ports = AuditPorts(
        query_cost=a_tariff(),
        inventory=recording,
        metrics=recording,
        prices=recording,
        catalog=MemoryCatalog(types=TYPES, provider="aws"),
        envelopes=(),
        every_minute=True,
    )
    return list(run_audit(ports, policy or a_policy(), recording.now))


def shown(outcomes):
    """Outcomes as plain values; errors by kind and message, because they are equal only to themselves.

    What a recording would have had to ask of a cloud is nothing, so plans are left out.
    """
    return [plain(outcome) for outcome in outcomes if not isinstance(outcome, Planned)]


def plain(value):
    if isinstance(value, Exception):
        return type(value).__name__, str(value)
    if isinstance(value, np.ndarray):
        return [None if np.isnan(number) else number for number in value.tolist()]
    if is_dataclass(value):
        return type(value).__name__, {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(found) for key, found in value.items()}
    if isinstance(value, tuple | list):
        return [plain(found) for found in value]
    return value


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    path = tmp_path_factory.mktemp("recordings") / "new" / "audit.zip"
    return recorded(memory_world(), path), path


def test_a_recorded_audit_says_what_an_unrecorded_one_says(both):
    outcomes, _ = both
    assert [type(one) for one in outcomes] == [type(one) for one in run_audit(memory_world(), a_policy(), NOW)]


def test_a_replayed_audit_gives_the_same_outcomes(both):
    outcomes, path = both
    assert shown(replayed(path)) == shown(outcomes)
    kinds = {type(outcome) for outcome in outcomes}
    assert kinds >= {Answered, FailedVolume, FailedTarget, Notice}


def host_world(*, measured=True):
    """A volume on a small host that is the limit in five minutes, and of which some points are absent."""
    buckets = WINDOW.buckets(60)
    raised, balance = np.zeros(buckets), np.full(buckets, 90.0)
    raised[600:605], raised[3000], balance[4000:4005] = 1, np.nan, np.nan
    sums = busy(300)
    if measured:
        sums = sums.with_series(host_iops_exceeded_minutes=raised, host_iops_balance_pct=balance)
    volume = a_volume("gp3", 400, iops=16_000, throughput_mib_s=1000, id="vol-a", on=a_host("m5.large", id="i-1"))
    return replace(
        memory_world(), inventory=MemoryInventory(given=[volume]), metrics=MemoryMetrics(given={"vol-a": sums})
    )


def host_bound_minutes(outcomes):
    (found,) = [one.recommendation for one in outcomes if isinstance(one, Answered)]
    return found.demand.host_bound_minutes


def test_what_was_measured_of_a_host_replays_as_it_was(tmp_path):
    outcomes = recorded(host_world(), tmp_path / "audit.zip")
    assert host_bound_minutes(outcomes) == 5
    assert shown(replayed(tmp_path / "audit.zip")) == shown(outcomes)


def test_a_recording_of_a_version_that_asked_no_host_is_decided_by_published_limits(tmp_path):
    outcomes = recorded(host_world(measured=False), tmp_path / "audit.zip")
    with zipfile.ZipFile(tmp_path / "audit.zip") as recording, zipfile.ZipFile(tmp_path / "old.zip", "w") as old:
        for name in recording.namelist():
            if "-300." not in name:
                old.writestr(name, recording.read(name))
    assert host_bound_minutes(outcomes) == 0
    assert shown(replayed(tmp_path / "old.zip")) == shown(outcomes)


def test_errors_replay_as_the_errors_they_were(both):
    _, path = both
    found = {one.name: one.error for one in replayed(path) if isinstance(one, FailedTarget)}
    assert {name: type(error) for name, error in found.items()} == {
        "profile x": BadCredentials,
        f"a volume of {HERE}": BadAnswer,
        str(DENIED): AccessDenied,
        "777788889999/us-west-2": RegionUnavailable,
    }
    reading = read(only_cloud_of(path), [VOLUMES[4]], WINDOW, 60)
    assert type(reading.failed["vol-forbidden"]) is Throttled
    assert str(reading.failed["vol-forbidden"]) == "asked too often."


def test_another_policy_decides_again_from_the_same_recording(both):
    _, path = both
    policy = a_policy(headroom_pct=90, min_saving_usd_month=10_000)
    assert shown(replayed(path, policy)) == shown(run_audit(memory_world_again(path), policy, NOW))
    assert shown(replayed(path, policy)) != shown(replayed(path))


def memory_world_again(path):
    """The recording's own answers in memory, so that both have the same minutes."""
    recording, ports = only_cloud_of(path), memory_world()
    known = [volume for volume in VOLUMES if volume.id in ports.metrics.given]
    found = recording.read([Ask(volume=volume, look=Look(window=WINDOW, period_s=60)) for volume in known])
    ports.metrics.given = {
        volume.id: Sums(start_s=WINDOW.start_s, period_s=60, **series)
        for volume, series in zip(known, found, strict=True)
    }
    return ports


def test_a_recording_keeps_when_it_was_made_by_what_and_how_long_data_lived(both):
    _, path = both
    found = only_cloud_of(path)
    assert (found.now, found.version, found.retention_days) == (NOW, "1.2.3", {60: 15, 300: 63, 3600: 455})


def members_of(path):
    with zipfile.ZipFile(path) as file:
        return {info.filename: (info.date_time, file.read(info)) for info in file.infolist()}


def test_equal_answers_make_equal_members(both, tmp_path):
    _, path = both
    recorded(memory_world_again(path), tmp_path / "again.zip")
    recorded(memory_world_again(path), tmp_path / "twice.zip")
    assert members_of(tmp_path / "again.zip") == members_of(tmp_path / "twice.zip")


def test_another_lookback_is_refused_volume_by_volume_with_the_remedy(both):
    _, path = both
    failed = {
        one.volume_id: one.reason for one in replayed(path, a_policy(lookback_days=7)) if type(one) is FailedVolume
    }
    assert "vol-a" in failed
    assert "lookback_days" in failed["vol-a"]
    assert str(path) in failed["vol-a"]


def member_of(content, name="about.json"):
    def write(path):
        with zipfile.ZipFile(path, "w") as made:
            made.writestr(name, content)

    return write


ABOUT = {"format": 2, "now": NOW.isoformat(), "version": "1", "retention_days": {"60": 15}, "targets": []}


@pytest.mark.parametrize(
    "write",
    [
        lambda _path: None,
        lambda path: path.mkdir(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"not a zip"),
        member_of("{}", name="other.json"),
        member_of("{"),
        member_of("[]"),
        member_of("null"),
        member_of("{}"),
        member_of(json.dumps({**ABOUT, "now": "soon"})),
        member_of(json.dumps({**ABOUT, "now": 3})),
        member_of(json.dumps({**ABOUT, "retention_days": {"minute": 1}})),
        member_of(json.dumps({key: value for key, value in ABOUT.items() if key != "targets"})),
        pytest.param(member_of(json.dumps({**ABOUT, "retention_days": []}))),
    ],
)
def test_a_file_that_is_no_recording_is_refused_by_name(tmp_path, write):
    path = tmp_path / "audit.zip"
    write(path)
    with pytest.raises(BadInput, match="is not a recording") as refused:
        only_cloud_of(path)
    assert str(path) in str(refused.value)


def test_a_recording_of_another_format_is_refused_with_both(tmp_path):
    path = tmp_path / "audit.zip"
    member_of(json.dumps({**ABOUT, "format": 99}))(path)
    with pytest.raises(BadInput, match="format 99; this version reads 3"):
        only_cloud_of(path)


def test_an_interrupted_recording_is_told_where_it_lacks_something(tmp_path):
    path = tmp_path / "audit.zip"
    member_of(json.dumps({**ABOUT, "targets": [{"account": "1", "region": "us-east-1"}]}))(path)
    found = only_cloud_of(path)
    (target,) = found.targets()
    with pytest.raises(Unexpected, match=r"lacks 1/us-east-1/volumes\.jsonl: it was interrupted"):
        list(found.volumes(target))
    with pytest.raises(Unexpected, match=r"lacks 1/us-east-1/prices\.json"):
        found.book(target)
    assert list(found.notices(target)) == []


def test_a_recording_that_was_stopped_in_the_middle_keeps_what_it_had(tmp_path):
    path = tmp_path / "audit.zip"
    ports = memory_world()

    def stopped():
        with Recorder(path, NOW, "1", {"aws": {60: 15}}) as recorder:
            inventory = through(ports, recorder)
            inventory.targets()
            list(inventory.volumes(HERE))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    found = only_cloud_of(path)
    assert [volume.id for volume in found.volumes(HERE) if isinstance(volume, Volume)] == [
        volume.id for volume in VOLUMES if (volume.account, volume.region) == (HERE.account, HERE.region)
    ]


class Refusing:
    """Ports that are refused as a whole."""

    usage = call_limits = None
    retention_days = {60: 15}  # noqa: RUF012  # never changed
    visible_after_s = 0
    memory_days = 0.0

    def __init__(self):
        self.inventory = self.metrics = self.prices = self

    def read(self, _asks):
        raise AccessDenied("metrics are not allowed.")

    def book(self, _target):
        raise AccessDenied("prices are not allowed.")

    def notices(self, _target):
        raise AccessDenied("notices are not allowed.")


def test_metrics_refused_as_a_whole_replay_as_each_volumes_error(tmp_path):
    path = tmp_path / "audit.zip"
    with Recorder(path, NOW, "1", {"aws": {60: 15}}) as recorder:
        metrics = through(Refusing(), recorder)
        with pytest.raises(AccessDenied):
            read(metrics, VOLUMES[:2], WINDOW, 60)
    reading = read(only_cloud_of(path), VOLUMES[:2], WINDOW, 60)
    assert [type(error) for error in reading.failed.values()] == [AccessDenied, AccessDenied]


def test_prices_that_were_refused_replay_as_refused(tmp_path):
    path = tmp_path / "audit.zip"
    with Recorder(path, NOW, "1", {"aws": {60: 15}}) as recorder, pytest.raises(AccessDenied):
        through(Refusing(), recorder).book(HERE)
    with pytest.raises(AccessDenied, match="prices are not allowed"):
        only_cloud_of(path).book(HERE)


def test_notices_that_were_refused_replay_as_refused(tmp_path):
    path = tmp_path / "audit.zip"
    with Recorder(path, NOW, "1", {"aws": {60: 15}}) as recorder, pytest.raises(AccessDenied):
        through(Refusing(), recorder).notices(HERE)
    with pytest.raises(AccessDenied, match="notices are not allowed"):
        only_cloud_of(path).notices(HERE)


def test_damage_inside_a_recording_is_an_error_of_the_cloud(both, tmp_path):
    _, path = both
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as whole:
        name = f"{HERE.account}/{HERE.region}/volumes.jsonl"
        start = whole.getinfo(name).header_offset + 30 + len(name)
    content[start + 8 : start + 24] = bytes(16)
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(content)
    with pytest.raises((Unexpected, BadInput), match=r"damaged\.zip"):
        list(only_cloud_of(damaged).volumes(HERE))


def test_a_recording_of_several_clouds_gives_each_its_own_targets_and_retention(tmp_path):
    path = tmp_path / "audit.zip"
    aws = MemoryInventory(given=[VOLUMES[0]])
    disks = [a_volume("gp2", 500, id="9000", account="plimsoll-shop", region="us-central1")]
    google = MemoryInventory(
        given=disks,
        provider="google",
        unreachable=[FailedTarget(name="lost-project", error=AccessDenied("not allowed."))],
    )
    kept = {"aws": {60: 15}, "google": {60: 42}}
    with Recorder(path, NOW, "1", kept, visible_after_s={"google": 240}) as recorder:
        for provider, inventory in (("aws", aws), ("google", google)):
            read_through = replace(through(memory_world(), recorder), inventory=inventory, provider=provider)
            for target in read_through.targets():
                if isinstance(target, Target):
                    list(read_through.volumes(target))
    found = open_recording(path)
    assert {one.provider: one.retention_days for one in found} == kept
    assert {one.provider: one.visible_after_s for one in found} == {"aws": 0, "google": 240}
    assert found[0].targets() == aws.targets()
    (project, lost) = found[1].targets()
    assert project == Target(account="plimsoll-shop", region="us-central1", provider="google")
    assert (lost.name, str(lost.error)) == ("lost-project", "not allowed.")
    assert list(found[1].volumes(project)) == disks


def test_a_recording_of_an_earlier_version_is_of_the_one_cloud_that_it_knew(tmp_path):
    path = tmp_path / "audit.zip"
    member_of(json.dumps({**ABOUT, "targets": [{"account": "1", "region": "us-east-1"}]}))(path)
    (found,) = open_recording(path)
    assert (found.provider, found.retention_days, found.visible_after_s) == ("aws", {60: 15}, 0)
    assert found.remarks(Target(account="1", region="us-east-1")) == ()
    assert found.targets() == [Target(account="1", region="us-east-1")]
