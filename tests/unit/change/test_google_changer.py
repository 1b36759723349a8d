"""Hyperdisks as changes see and update them, on the simulated projects: states, refusals by code, lost answers."""

from contextlib import contextmanager
from datetime import timedelta

import numpy as np
import pytest

from cloud_simulator.faults import Effect, Fault, Faults
from cloud_simulator.google.disk_updates import UPDATING_S
from cloud_simulator.google.serving import Cloud, serve
from plimsoll.clouds.cloud import Reach
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.registry import GOOGLE
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import AccessDenied, BadCredentials, Unanswered, Unreachable, VolumeGone
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.settings import Settings
from plimsoll_change.clouds import CHANGE_CLOUDS
from plimsoll_change.google.changer import GoogleChanger
from plimsoll_change.ports import ModifyRefused
from plimsoll_change.thresholds import shipped_thresholds
from plimsoll_change.verdict import judge_change
from plimsoll_change.watch import PAST_H, VerdictCode
from plimsoll_change.watching import WatchedVolume, read_watches
from plimsoll_google.clients import Clients
from plimsoll_google.connection import google_metrics
from plimsoll_google.permissions import GOOGLE_CHANGE_CALLS
from tests.unit.cloud_simulator.google.hyperdisks import (
    CACHE,
    HERE,
    LAKE,
    LOGS,
    NOW,
    OTHER,
    REQUEST,
    TWO_ZONES,
    a_fleet,
    id_of,
)

IS = VolumeSpec(type="hyperdisk-balanced", size_gib=600, iops=9000, throughput_mib_s=400)
THEN = VolumeSpec(type="hyperdisk-balanced", size_gib=600, iops=3000, throughput_mib_s=140)


@contextmanager
def changing(*steps, faults=(), attempts=3):
    """A project with these disks, and what changes them."""
    cloud = Cloud(a_fleet(*(steps or (CACHE,))), Faults(faults))
    with serve(cloud) as (port, monitoring):
        clients = Clients(url=f"http://127.0.0.1:{port}", monitoring=f"127.0.0.1:{monitoring}", attempts=attempts)
        try:
            yield cloud, GoogleChanger(clients=clients, now=cloud.time.now)
        finally:
            clients.close()


def look(changer, name):
    return changer.look(HERE, [name])[name]


def test_an_update_is_seen_with_what_it_makes_of_the_disk():
    with changing() as (cloud, changer):
        name = id_of(cloud)
        before = look(changer, name)
        assert isinstance(before, Volume)
        assert (before.spec, before.modification) == (IS, None)
        assert [host.type for host in before.hosts] == ["c3-standard-8"]
        started = changer.modify(HERE, name, IS, THEN, REQUEST)
        during = look(changer, name)
        assert during.spec == IS
        assert (during.modification.state, during.modification.target) == ("modifying", None)
        assert (during.modification.started, during.modification.request_id) == (started, REQUEST)
        assert during.modification.is_running
        cloud.time.pause(UPDATING_S)
        after = look(changer, name)
        assert (after.spec, after.modification.target, after.modification.state) == (THEN, THEN, "completed")
        assert after.modification.ended == started + timedelta(seconds=UPDATING_S)
        assert changer.find_starts(HERE, name, started) == [started]
        assert changer.find_starts(HERE, name, started + timedelta(seconds=1)) == []
        assert cloud.front.calls["disks.update"] == 1


@pytest.mark.parametrize(
    ("step", "is_spec", "then"),
    [
        (LAKE, {"throughput_mib_s": 200}, {"throughput_mib_s": 120}),
        (TWO_ZONES, {"iops": 4000, "throughput_mib_s": 200}, {"iops": 3000, "throughput_mib_s": 140}),
    ],
)
def test_only_figures_that_a_type_sells_are_asked_for_in_a_zone_or_a_region(step, is_spec, then):
    kind, size_gib, *_ = step["spec"]
    with changing(CACHE, step) as (cloud, changer):
        name = id_of(cloud, step["disk"])
        before, after = (VolumeSpec(type=kind, size_gib=size_gib, **figures) for figures in (is_spec, then))
        assert look(changer, name).spec == before
        changer.modify(HERE, name, before, after, REQUEST)
        cloud.time.pause(UPDATING_S)
        assert look(changer, name).spec == after
        assert len(changer.find_starts(HERE, name, NOW)) == 1


@pytest.mark.parametrize("then", [{"size_gib": 700}, {"type": "hyperdisk-extreme"}])
def test_a_type_or_a_size_is_never_changed_in_place(then):
    with changing() as (cloud, changer):
        other = VolumeSpec(**{"type": IS.type, "size_gib": 600, "iops": 3000, "throughput_mib_s": 140, **then})
        with pytest.raises(ModifyRefused) as refused:
            changer.modify(HERE, id_of(cloud), IS, other, REQUEST)
        assert refused.value.code == "UnsupportedOperation"
        assert "disks.update" not in cloud.front.calls


def test_a_lost_answer_is_asked_for_again_under_its_id_and_is_one_update():
    with changing(faults=[Fault(operation="disks.update", effect=Effect.LOST, times=1)]) as (cloud, changer):
        started = changer.modify(HERE, id_of(cloud), IS, THEN, REQUEST)
        assert cloud.front.calls["disks.update"] == 2
        (made,) = cloud.updates.made
        assert abs(made.change.started - started) < timedelta(seconds=1)


def test_without_any_answer_it_is_open_what_was_done_and_the_list_of_operations_tells():
    with changing(faults=[Fault(operation="disks.update", effect=Effect.LOST)], attempts=1) as (cloud, changer):
        with pytest.raises(Unanswered):
            changer.modify(HERE, id_of(cloud), IS, THEN, REQUEST)
        assert look(changer, id_of(cloud)).modification.request_id == REQUEST


def test_a_second_update_within_four_hours_is_refused_until_then():
    with changing() as (cloud, changer):
        name = id_of(cloud)
        started = changer.modify(HERE, name, IS, THEN, REQUEST)
        cloud.time.pause(3600)
        with pytest.raises(ModifyRefused) as refused:
            changer.modify(HERE, name, THEN, IS, OTHER)
        assert refused.value.code == "RESOURCE_OPERATION_RATE_EXCEEDED"
        assert refused.value.until == started + timedelta(hours=4)
        cloud.time.pause(3 * 3600)
        changer.modify(HERE, name, THEN, IS, OTHER)
        cloud.time.pause(UPDATING_S)
        assert look(changer, name).spec == IS
        assert look(changer, name).modification.request_id == OTHER


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("PERMISSION_DENIED", "forbidden"),
        ("RESOURCE_EXHAUSTED", "rateLimitExceeded"),
        ("CONCURRENT_OPERATIONS_QUOTA_EXCEEDED", "rateLimitExceeded"),
        ("QUOTA_EXCEEDED", "quotaExceeded"),
        ("RESOURCE_NOT_READY", "resourceNotReady"),
        ("INVALID_ARGUMENT", "invalid"),
    ],
)
def test_a_refusal_keeps_its_reason_and_changes_nothing(fault, code):
    with changing(faults=[Fault(operation="disks.update", code=fault)], attempts=1) as (cloud, changer):
        with pytest.raises(ModifyRefused) as refused:
            changer.modify(HERE, id_of(cloud), IS, THEN, REQUEST)
        assert refused.value.code == code
        assert code in CHANGE_CLOUDS[GOOGLE].refusals
        assert cloud.updates.made == []


def test_an_update_that_fails_says_why_and_its_target_is_unknown():
    with changing(faults=[Fault(operation="disks.update", effect=Effect.FAILS, times=1)]) as (cloud, changer):
        name = id_of(cloud)
        changer.modify(HERE, name, IS, THEN, REQUEST)
        cloud.time.pause(UPDATING_S)
        failed = look(changer, name)
        assert (failed.spec, failed.modification.state, failed.modification.target) == (IS, "failed", None)
        assert failed.modification.message.startswith("INTERNAL_ERROR")


def test_a_persistent_disk_is_not_updated():
    with changing(CACHE, LOGS) as (cloud, changer):
        spec = look(changer, id_of(cloud, "logs")).spec
        with pytest.raises(ModifyRefused, match="no Hyperdisk"):
            changer.modify(HERE, id_of(cloud, "logs"), spec, VolumeSpec(type="pd-ssd", size_gib=500, iops=1), REQUEST)


def test_a_disk_that_is_not_there_is_gone():
    with changing() as (cloud, changer):
        sights = changer.look(HERE, [id_of(cloud), "42"])
        assert isinstance(sights["42"], VolumeGone)
        assert isinstance(sights[id_of(cloud)], Volume)
        with pytest.raises(VolumeGone):
            changer.modify(HERE, "42", IS, THEN, REQUEST)


def test_a_disk_of_a_zone_that_does_not_answer_is_not_gone():
    faults = [Fault(operation="disks.aggregatedList", code="UNAVAILABLE", region=f"{HERE.region}-a")]
    with changing(faults=faults) as (_, changer), pytest.raises(Unreachable):
        look(changer, "42")


def watch_after_an_update(then, hours=5):
    """A disk that asks for 5,000 to 6,000 IOPS, watched for hours after an update, and the figures that it has then."""
    busy = {**CACHE, "low": 5000, "high": 6000, "io_kib": 4}
    with changing(busy) as (cloud, changer):
        name = id_of(cloud)
        started = changer.modify(HERE, name, IS, then, REQUEST)
        cloud.time.pause(hours * 3600)
        volume = look(changer, name)
        asked = WatchedVolume(
            volume=volume,
            requested=started,
            completed=volume.modification.ended,
            now_spec=IS,
            then_spec=then,
            budget_minutes=15.0,
        )
        reach = Reach(scope=Scope(), settings=Settings(), today=NOW.date(), paced=False)
        metrics = google_metrics(changer.clients, reach)
        (watch,) = read_watches([asked], metrics, cloud.time.now(), volume_types("google"))
        return watch


def test_a_disk_that_asks_for_more_than_it_has_left_is_worse_by_the_minutes_that_it_is_stopped_for():
    watch = watch_after_an_update(THEN)
    verdict = judge_change(watch, shipped_thresholds())
    assert (verdict.code, verdict.is_direct) == (VerdictCode.WORSE, True)
    assert np.nansum(watch.stopped_minutes[PAST_H:]) > 200
    assert np.nansum(watch.stopped_minutes[:PAST_H]) == 0


def test_a_disk_that_has_enough_left_is_not_stopped_and_its_hours_are_evidence():
    watch = watch_after_an_update(VolumeSpec(type=IS.type, size_gib=600, iops=8000, throughput_mib_s=300))
    assert np.nansum(watch.stopped_minutes) == 0
    assert (watch.signal.operations[PAST_H:-1] > 5000 * 3600 * 0.9).all()
    assert not np.isnan(watch.signal.latency_us[:, PAST_H:-1]).any()
    assert judge_change(watch, shipped_thresholds()).code == VerdictCode.WATCHING


def test_many_disks_are_looked_at_in_few_calls():
    steps = [{**CACHE, "disk": f"data-{number}"} for number in range(50)]
    with changing(*steps) as (cloud, changer):
        names = [disk.id for disk in cloud.fleet.volumes]
        assert all(isinstance(sight, Volume) for sight in changer.look(HERE, names).values())
        assert sum(cloud.front.calls.values()) <= 6


@pytest.mark.parametrize("operation", ["disks.aggregatedList", "instances.aggregatedList", "zoneOperations.list"])
def test_what_may_not_be_read_is_named_and_nothing_is_taken_for_granted(operation):
    faults = [Fault(operation=operation, code="PERMISSION_DENIED")]
    with changing(faults=faults) as (cloud, changer), pytest.raises(AccessDenied, match="--for change"):
        changer.look(HERE, [id_of(cloud)])


def test_starts_that_may_not_be_read_are_unknown():
    with changing() as (cloud, changer):
        name = id_of(cloud)
        look(changer, name)
        cloud.faults.add(Fault(operation="zoneOperations.list", code="PERMISSION_DENIED"))
        assert changer.find_starts(HERE, name, NOW) is None


def test_without_credentials_that_is_said():
    faults = [Fault(operation="disks.update", code="UNAUTHENTICATED")]
    with changing(faults=faults) as (cloud, changer), pytest.raises(BadCredentials):
        changer.modify(HERE, id_of(cloud), IS, THEN, REQUEST)


def test_no_alarm_of_another_cloud_is_asked_for():
    with changing() as (_, changer):
        assert changer.find_firing(HERE, ["checkout-slow"]) == ()


def test_exactly_the_permissions_that_are_printed_are_used():
    asked = {
        "disks.aggregatedList": "compute.disks.list",
        "instances.aggregatedList": "compute.instances.list",
        "zoneOperations.list": "compute.zoneOperations.list",
        "regionOperations.list": "compute.regionOperations.list",
        "disks.update": "compute.disks.update",
        "regionDisks.update": "compute.disks.update",
    }
    with changing(CACHE, TWO_ZONES) as (cloud, changer):
        for disk in cloud.fleet.volumes:
            spec = look(changer, disk.id).spec
            changer.modify(HERE, disk.id, spec, VolumeSpec(**{**vars_of(spec), "iops": 3000}), disk.id)
            changer.find_starts(HERE, disk.id, NOW)
        used = {asked[operation] for operation in cloud.front.calls}
    assert used | {"monitoring.timeSeries.list"} == GOOGLE_CHANGE_CALLS


def vars_of(spec):
    return {name: getattr(spec, name) for name in ("type", "size_gib", "iops", "throughput_mib_s")}
