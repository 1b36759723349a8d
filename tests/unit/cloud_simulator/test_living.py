"""A fleet that goes on living after a change: what its metrics show follows the configuration then in force."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloud_simulator.aws.cloudwatch import UNEVEN, USUAL_STATS
from cloud_simulator.aws.fleet import Fleet, served_minutes
from cloud_simulator.aws.living import LivingFleet
from cloud_simulator.aws.volume_maker import VolumeMaker, gp2, gp3, io
from cloud_simulator.clock import SimulatedClock
from cloud_simulator.metrics.events import Disturbance, HostMove, OthersModification, event_fields, event_of
from cloud_simulator.metrics.history import History, Remembered
from cloud_simulator.metrics.live_minutes import stopped_minutes
from cloud_simulator.metrics.series import SERIES
from cloud_simulator.metrics.unrest import Unrest
from cloud_simulator.metrics.workloads import Archetype
from cloud_simulator.units import DAY_S, HOUR_S, MINUTE_S
from tests.profiles import examples

from .served import HOME, NOW, points, query, served

REGION = "us-east-1"
DAY_MINUTES = 1440
NOW_MINUTE = int(NOW.timestamp()) // MINUTE_S
MIDNIGHT_MINUTE = (NOW_MINUTE // DAY_MINUTES + 1) * DAY_MINUTES


def maker_of(*volumes):
    """A maker with these volumes: a name, a spec, an archetype, and what else it takes."""
    maker = VolumeMaker(NOW, HOME, REGION, 1)
    for name, spec, archetype, *others in volumes:
        maker.volume(spec, archetype, name, **(others[0] if others else {}))
    return maker


def fleet_of(maker, **changes):
    return Fleet(now=NOW, accounts=(HOME,), regions=(REGION,), volumes=tuple(maker.volumes), **changes)


def living(*volumes, **changes):
    return LivingFleet.begin(fleet_of(maker_of(*volumes), **changes), SimulatedClock(NOW, passing=False))


def modify(fleet, after, number=0):
    """The only volume, modified now, as it is when that is completed."""
    volume = fleet.as_now(fleet.volumes[number])
    modification = fleet.modify(volume, after, beside=())
    fleet.clock.pause(modification.ended_s - fleet.clock.now_s() + 60)
    return fleet.as_now(fleet.volumes[number])


def after_days(volume, days, first_day=1):
    """The minutes of whole days that begin some midnights after now."""
    return served_minutes(volume, MIDNIGHT_MINUTE + (first_day - 1) * DAY_MINUTES, days * DAY_MINUTES)


def iops(made):
    return (made["read_ops"] + made["write_ops"]) / MINUTE_S


def test_work_that_was_held_back_rises_once_its_limit_does():
    fleet = living(("queue", gp3(200), Archetype.THROTTLED_IOPS, {"low": 300}))
    before = after_days(fleet.volumes[0], 1)
    after = after_days(modify(fleet, gp3(200, 6000)), 1)
    assert before["iops_exceeded"].sum() == 480
    assert after["iops_exceeded"].sum() == 0
    assert 1.09 < iops(after).max() / iops(before).max() < 1.65


def test_a_target_that_is_too_small_keeps_work_waiting_and_says_so():
    fleet = living(("orders", gp3(200, 9000, 500), Archetype.DIURNAL, {"low": 400, "high": 6000}))
    before = after_days(fleet.volumes[0], 7)
    after = after_days(modify(fleet, gp3(200, 3000, 500)), 7)
    assert before["iops_exceeded"].sum() == 0
    assert after["iops_exceeded"].sum() > 7 * 60
    assert iops(after).max() == 3000
    assert (after["idle_s"][after["iops_exceeded"] == 1] == 0).all()
    easy = iops(before) < 2000
    np.testing.assert_array_equal(after["read_bytes"][easy & (after["iops_exceeded"] == 0)][:60].shape, (60,))


def test_throughput_is_held_by_its_own_check():
    fleet = living(("etl", gp3(500, 3000, 500), Archetype.SEQUENTIAL, {"low": 4, "high": 1200, "io_kib": 256}))
    after = after_days(modify(fleet, gp3(500, 3000, 125)), 2)
    assert after["throughput_exceeded"].sum() > 100
    assert after["iops_exceeded"].sum() == 0
    assert (after["read_bytes"] + after["write_bytes"]).max() == pytest.approx(125 * MINUTE_S * 2**20, rel=1e-3)


def test_a_job_that_takes_what_it_gets_is_done_in_half_the_time_with_the_same_work():
    long_ago = int(NOW.timestamp()) // DAY_S - 100
    job = maker_of(("export", gp3(500, 6000), Archetype.DEFERRED, {"low": 100, "io_kib": 8.0}))
    workload = replace(job.volumes[0].workload, on_day=long_ago)
    job.volumes[0] = replace(job.volumes[0], workload=workload)
    fleet = LivingFleet.begin(fleet_of(job), SimulatedClock(NOW, passing=False))
    before = after_days(fleet.volumes[0], 1)
    after = after_days(modify(fleet, gp3(500, 12_000)), 1)
    assert before["iops_exceeded"].sum() == pytest.approx(120, abs=2)
    assert after["iops_exceeded"].sum() == pytest.approx(60, abs=2)
    assert iops(after).sum() == pytest.approx(iops(before).sum(), rel=0.03)


def test_a_volume_that_is_too_small_for_its_credits_runs_out_of_them():
    fleet = living(("wiki", gp3(100), Archetype.STEADY, {"low": 900, "high": 1100}))
    assert np.isnan(after_days(fleet.volumes[0], 1)["burst_balance_pct"]).all()
    after = after_days(modify(fleet, gp2(100)), 1)
    assert after["burst_balance_pct"][0] > 99
    assert after["burst_balance_pct"].min() == 0
    assert iops(after)[-60:].max() == 300


def test_what_was_before_stays_as_it_was():
    fleet = living(("queue", gp3(200), Archetype.THROTTLED_IOPS, {"low": 300}))
    before = served_minutes(fleet.volumes[0], NOW_MINUTE - 2000, 2000)
    after = served_minutes(modify(fleet, gp3(200, 6000)), NOW_MINUTE - 2000, 2000)
    for name, values in before.items():
        np.testing.assert_array_equal(values, after[name])


def test_a_rise_comes_bit_by_bit_and_a_cut_may_bite_at_once():
    names = [f"db-{number}" for number in range(40)]
    volumes = [(name, gp3(1024, 8000), Archetype.THROTTLED_IOPS, {"low": 300}) for name in names]
    bitten, rising = 0, 0
    for after in (gp3(1024, 4000), gp3(1024, 16_000)):
        fleet = living(*volumes)
        for number in range(len(names)):
            volume = fleet.volumes[number]
            modification = fleet.modify(volume, after, beside=())
            middle = int((modification.moved_s + modification.ended_s) / 2) // MINUTE_S
            changed = fleet.as_now(volume)
            held = [minute for minute in range(middle - 600, middle + 600) if 9 <= minute // 60 % 24 < 17]
            near = min(held, key=lambda minute: abs(minute - middle))
            if modification.is_failed or not modification.moved_s < near * MINUTE_S < modification.ended_s:
                continue
            rate = iops(served_minutes(changed, near, 1))[0]
            bitten += after.iops == 4000 and rate == 4000
            rising += after.iops == 16_000 and 8000 <= rate < 16_000
    assert bitten > 5
    assert rising > 5


@pytest.fixture(scope="module")
def changed_volumes():
    """Volumes that were modified twice, moved, disturbed and never changed."""
    fleet = living(
        ("orders", gp3(200, 9000, 500), Archetype.DIURNAL, {"low": 400, "high": 6000}),
        ("wiki", gp3(100), Archetype.STEADY, {"low": 900, "high": 1100}),
        ("queue", gp3(200), Archetype.THROTTLED_IOPS, {"low": 300}),
        ("patchy", gp2(450), Archetype.GAPS, {"low": 40, "high": 300}),
    )
    modify(fleet, gp3(200, 3000, 500))
    modify(fleet, gp2(100), number=1)
    modify(fleet, gp3(200, 4000, 300))
    host = fleet.volumes[2].hosts[0].id
    fleet.add(
        HostMove(host_id=host, at=NOW + timedelta(days=2), type="m5.large", down_s=400),
        Disturbance(begins=NOW + timedelta(days=1), ends=NOW + timedelta(days=3), demand=1.7, latency=2),
    )
    return [fleet.as_now(volume) for volume in fleet.volumes]


@given(
    number=st.integers(0, 3),
    series=st.sampled_from(SERIES),
    start_minute=st.integers(-3 * DAY_MINUTES, 5 * DAY_MINUTES),
    count=st.integers(1, 4 * DAY_MINUTES),
    period_s=st.sampled_from((60, 300, HOUR_S, 5 * HOUR_S, DAY_S)),
)
@settings(max_examples=examples(300), deadline=None)
def test_any_window_over_a_change_is_the_sum_of_the_same_minutes(
    changed_volumes, number, series, start_minute, count, period_s
):
    volume, stat = changed_volumes[number], USUAL_STATS[series]
    start_minute += NOW_MINUTE
    if period_s % HOUR_S == 0:
        start_minute -= start_minute % 60
    history = History(served_minutes, USUAL_STATS, UNEVEN, lambda volume: volume.version)
    forgetful = History(served_minutes, USUAL_STATS, UNEVEN, minutes=Remembered(0), folds=Remembered(0))
    asked = (series, stat, start_minute * MINUTE_S, count, period_s)
    history.buckets(volume, series, stat, start_minute * MINUTE_S - DAY_S, count, period_s)
    found = history.buckets(volume, *asked)
    np.testing.assert_array_equal(found, forgetful.buckets(volume, *asked))
    whole = served_minutes(volume, NOW_MINUTE - 4 * DAY_MINUTES, 14 * DAY_MINUTES)[series]
    made = whole[start_minute - NOW_MINUTE + 4 * DAY_MINUTES :][:count]
    np.testing.assert_array_equal(served_minutes(volume, start_minute, count)[series], made)


def test_the_truth_says_which_minutes_were_stopped_and_would_not_have_been():
    fleet = living(
        ("orders", gp3(200, 9000, 500), Archetype.DIURNAL, {"low": 400, "high": 6000}),
        ("queue", gp3(200, 4000), Archetype.THROTTLED_IOPS, {"low": 300}),
    )
    cut, held = modify(fleet, gp3(200, 3000, 500)), modify(fleet, gp3(200, 3000), number=1)
    now, before = stopped_minutes(cut.life, MIDNIGHT_MINUTE, 7 * DAY_MINUTES)
    assert now.sum() == after_days(cut, 7)["iops_exceeded"].sum()
    assert before.sum() == 0
    now, before = stopped_minutes(held.life, MIDNIGHT_MINUTE, 7 * DAY_MINUTES)
    assert now.sum() >= before.sum() == pytest.approx(7 * 480, abs=7 * 2)
    assert stopped_minutes(cut.life, NOW_MINUTE - DAY_MINUTES, DAY_MINUTES)[0].sum() == 0


def asked_points(there, volume, metric, **changes):
    """The points of a metric of a volume from three days before now until the present there."""
    answer = there.client("cloudwatch").get_metric_data(
        MetricDataQueries=[query(volume, metric, **changes)],
        StartTime=NOW - timedelta(days=3),
        EndTime=there.front.living.clock.now(),
        ScanBy="TimestampAscending",
    )
    stamps, values = points([answer])["q0"]
    return [stamp.astimezone(UTC) for stamp in stamps], np.array(values)


def latency_ms(there, volume):
    """The mean latency of each hour, with the hours."""
    stamps, seconds = asked_points(there, volume, "VolumeTotalReadTime", Period=HOUR_S)
    _, reads = asked_points(there, volume, "VolumeReadOps", Period=HOUR_S)
    return stamps, 1000 * seconds / reads


def test_latency_follows_the_configuration_that_is_in_force():
    maker = maker_of(
        ("orders", gp3(200, 9000, 500), Archetype.DIURNAL, {"low": 400, "high": 5000}),
        ("ledger", io("io2", 200, 9000), Archetype.DIURNAL, {"low": 400, "high": 1000}),
    )
    with served(fleet_of(maker)) as there:
        ec2, clock = there.client("ec2"), there.front.living.clock
        ec2.modify_volume(VolumeId=maker.volumes[0].id, Iops=3000)
        ec2.modify_volume(VolumeId=maker.volumes[1].id, VolumeType="gp3", Iops=9000, Throughput=500)
        clock.pause(3 * DAY_S)
        stamps, cut_ms = latency_ms(there, maker.volumes[0])
        _, moved_ms = latency_ms(there, maker.volumes[1])
    before = np.array([stamp < NOW - timedelta(hours=1) for stamp in stamps])
    assert cut_ms[before] == pytest.approx(1.0)
    assert cut_ms[~before].max() > 6
    assert cut_ms[~before].min() == pytest.approx(1.0)
    assert moved_ms[before] == pytest.approx(0.6)
    assert moved_ms[-24:] == pytest.approx(1.0)


def test_a_disturbed_zone_answers_late_and_others_do_not():
    maker = maker_of(*((f"db-{number}", gp3(200), Archetype.STEADY, {"high": 300}) for number in range(6)))
    with served(fleet_of(maker)) as there:
        begins = NOW + timedelta(hours=24)
        there.front.living.add(
            Disturbance(begins=begins, ends=begins + timedelta(hours=3), zone=f"{REGION}a", latency=2.5)
        )
        there.front.living.clock.pause(2 * DAY_S)
        for volume in maker.volumes:
            stamps, told_ms = latency_ms(there, volume)
            hit = [begins <= stamp <= begins + timedelta(hours=2) for stamp in stamps]
            assert told_ms[hit] == pytest.approx(2.5 if volume.zone == f"{REGION}a" else 1.0)
            assert told_ms[:-20][:48] == pytest.approx(1.0)


def test_a_release_asks_more_of_the_volumes_of_its_application_alone():
    fleet = living(
        ("shop", gp3(200), Archetype.STEADY, {"high": 300, "tags": {"app": "shop"}}),
        ("mail", gp3(200), Archetype.STEADY, {"high": 300, "tags": {"app": "mail"}}),
    )
    before = [iops(after_days(volume, 1)).sum() for volume in fleet.volumes]
    fleet.add(Disturbance(begins=NOW, tag="app=shop", demand=1.3))
    after = [iops(after_days(fleet.as_now(volume), 1)).sum() for volume in fleet.volumes]
    assert [new / old for new, old in zip(after, before, strict=True)] == pytest.approx([1.3, 1.0], rel=1e-3)


def test_a_host_that_is_changed_stops_and_limits_its_volume():
    maker = maker_of(("orders", gp3(200, 9000, 500), Archetype.STEADY, {"low": 4000, "high": 6000}))
    (volume,) = maker.volumes
    (host,) = volume.hosts
    with served(fleet_of(maker)) as there:
        moved = NOW + timedelta(hours=30)
        there.front.living.add(HostMove(host_id=host.id, at=moved, type="m4.large", down_s=600))
        ec2, clock = there.client("ec2"), there.front.living.clock
        clock.pause(29 * HOUR_S)
        (group,) = ec2.describe_instances(InstanceIds=[host.id])["Reservations"]
        assert group["Instances"][0]["InstanceType"] == "m5.4xlarge"
        clock.pause(12 * HOUR_S)
        (group,) = ec2.describe_instances(InstanceIds=[host.id])["Reservations"]
        (instance,) = group["Instances"]
        assert (instance["InstanceType"], instance["LaunchTime"]) == ("m4.large", moved + timedelta(seconds=600))
        stamps, operations = asked_points(there, volume, "VolumeReadOps", Period=60)
        assert operations[:60].min() > operations[-60:].max()
        assert operations[-60:].max() == pytest.approx(0.6 * MINUTE_S * 450e6 / 8 / 16_384, rel=1e-3)
        gap = {moved + timedelta(minutes=minute) for minute in range(10)}
        assert not gap & {*stamps}
        trail = there.client("cloudtrail").lookup_events(
            LookupAttributes=[{"AttributeKey": "EventName", "AttributeValue": "ModifyInstanceAttribute"}]
        )
        assert [event["EventTime"] for event in trail["Events"]] == [moved]


def test_somebody_elses_modification_spends_a_slot_and_shows():
    maker = maker_of(("data", gp3(10), Archetype.STEADY))
    (volume,) = maker.volumes
    with served(fleet_of(maker)) as there:
        at = NOW + timedelta(hours=5)
        there.front.living.add(OthersModification(volume_id=volume.id, at=at, after=gp3(10, 4000)))
        ec2, clock = there.client("ec2"), there.front.living.clock
        clock.pause(4 * HOUR_S)
        assert ec2.describe_volumes(VolumeIds=[volume.id])["Volumes"][0]["Iops"] == 3000
        clock.pause(4 * HOUR_S)
        (change,) = ec2.describe_volumes_modifications(VolumeIds=[volume.id])["VolumesModifications"]
        assert (change["TargetIops"], change["StartTime"]) == (4000, at)
        assert ec2.describe_volumes(VolumeIds=[volume.id])["Volumes"][0]["Iops"] == 4000


def test_events_are_the_same_after_json():
    events = [
        Disturbance(begins=NOW, ends=NOW + timedelta(hours=1), zone="us-east-1a", latency=2),
        Disturbance(begins=NOW, tag="app=shop", demand=1.3),
        HostMove(host_id="i-1", at=NOW, type="m5.large"),
        OthersModification(volume_id="vol-1", at=NOW, after=gp3(10, 4000)),
    ]
    assert [event_of(event_fields(event)) for event in events] == events


def test_latencies_are_uneven_with_unrest_and_the_same_in_any_window():
    unrest = Unrest(seed=3)
    whole = unrest.factors("vol-1", "us-east-1a", 10 * DAY_MINUTES, 30 * DAY_MINUTES)
    part = unrest.factors("vol-1", "us-east-1a", 17 * DAY_MINUTES + 77, 3000)
    np.testing.assert_array_equal(whole[7 * DAY_MINUTES + 77 :][:3000], part)
    assert np.median(whole) == pytest.approx(1.0, abs=0.1)
    assert 0.1 < np.log(whole).std() < 0.4
    zones = [
        unrest.factors(f"vol-{number}", "us-east-1b", 0, 400 * DAY_MINUTES).reshape(-1, 60).mean(axis=1)
        for number in (1, 2)
    ]
    assert np.corrcoef(*np.log(zones))[0, 1] > 0.2


def test_a_time_that_has_passed_is_no_time_to_move_to():
    clock = SimulatedClock(datetime(2026, 1, 1, tzinfo=UTC), passing=False)
    with pytest.raises(Exception, match="cannot be moved by -1"):
        clock.pause(-1)
    clock.pause(90)
    assert clock.now() == datetime(2026, 1, 1, 0, 1, 30, tzinfo=UTC)
