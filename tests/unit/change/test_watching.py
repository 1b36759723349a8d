"""Watches read from metrics: what is known, what stopped a volume, and what makes a comparison impossible."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.registry import AWS
from plimsoll.model.errors import CloudError
from plimsoll.model.units import DAY_S, HOUR_S, MINUTE_S
from plimsoll.model.volume import Attachment, Volume
from plimsoll.ports import UnreadVolume
from plimsoll.reading.known import Ask, Found
from plimsoll_change.watch import PAST_H, ChangeWatch
from plimsoll_change.watching import WatchedVolume, read_watches
from tests.builders import a_host, a_spec, a_volume
from tests.builders import some_sums as sums
from tests.in_memory.ports import MemoryMetrics

REQUESTED = datetime(2026, 11, 2, 10, 20, tzinfo=UTC)
HOURS = PAST_H + 30
START_S = int(REQUESTED.timestamp()) // HOUR_S * HOUR_S - PAST_H * HOUR_S
NOW = datetime.fromtimestamp(START_S + HOURS * HOUR_S + 600, UTC)
MINUTES = HOURS * 60
OLD, NEW = a_spec("gp3", iops=16000, throughput_mib_s=1000), a_spec("gp3")
TYPES = volume_types(AWS)


def minutes(value: float) -> np.ndarray:
    return np.full(MINUTES, value)


def series(iops: float = 1000.0, latency_ms: float = 0.8, **more: np.ndarray) -> Mapping[str, object]:
    """A volume's minutes: half reads, of 16 KiB."""
    half = minutes(iops * MINUTE_S / 2)
    return {
        "read_ops": half,
        "write_ops": half,
        "read_bytes": half * 16384,
        "write_bytes": half * 16384,
        "timed_reads": half,
        "timed_writes": half,
        "read_time_s": half * latency_ms / 1000,
        "write_time_s": half * latency_ms / 1000,
        "highest_read_latency_ms": minutes(2 * latency_ms),
        "highest_write_latency_ms": minutes(3 * latency_ms),
        "iops_exceeded": minutes(0.0),
        "throughput_exceeded": minutes(0.0),
        **more,
    }


def watched(volume: Volume, **fields: object) -> WatchedVolume:
    asked = WatchedVolume(
        volume=volume, requested=REQUESTED, completed=None, now_spec=OLD, then_spec=NEW, budget_minutes=15.0
    )
    return replace(asked, **fields)


def attached(id: str = "vol-1", *, since: datetime = REQUESTED - timedelta(days=90)) -> Volume:  # noqa: A002  # as people say it
    return a_volume(id=id, spec=NEW, attachments=(Attachment(host=a_host(), device="/dev/sdf", since=since),))


def read_one(asked: WatchedVolume, given: Mapping[str, Mapping[str, object]]) -> ChangeWatch:
    metrics = MemoryMetrics(
        given={name: sums(start_s=START_S, buckets=MINUTES, **values) for name, values in given.items()}
    )
    watch = next(iter(read_watches([asked], metrics, NOW, TYPES)))
    assert isinstance(watch, ChangeWatch)
    return watch


def test_hours_begin_six_weeks_before_the_request_and_end_with_the_last_full_hour() -> None:
    watch = read_one(watched(attached(), completed=REQUESTED + timedelta(hours=3)), {"vol-1": series()})
    assert (len(watch.stopped_minutes), watch.end_hour - watch.requested_hour) == (PAST_H + 30, 30)
    assert watch.completed_hour == watch.requested_hour + 3
    assert np.allclose(watch.signal.latency_us[0], 800)
    assert np.allclose(watch.signal.latency_us[1], 2400)
    assert np.allclose(watch.signal.operations, 1000 * HOUR_S)


def test_what_the_cloud_did_not_send_is_unknown() -> None:
    watch = read_one(watched(attached()), {})
    assert np.isnan(watch.signal.operations).all()
    assert np.isnan(watch.stopped_minutes).all()


def test_checks_count_after_the_request_where_the_old_configuration_would_have_carried_it() -> None:
    raised = minutes(0.0)
    raised[-20 * 60 : -20 * 60 + 7] = 1
    watch = read_one(watched(attached()), {"vol-1": series(2900.0, iops_exceeded=raised)})
    assert np.nansum(watch.stopped_minutes) == 7
    relief = watched(attached(), now_spec=NEW, then_spec=OLD)
    assert np.nansum(read_one(relief, {"vol-1": series(2900.0, iops_exceeded=raised)}).stopped_minutes[-30:]) == 0


def test_without_checks_a_volume_that_stands_at_its_ceiling_was_stopped() -> None:
    busy = minutes(500.0 * MINUTE_S)
    busy[-600:-588] = 3000 * MINUTE_S
    known = {name: values for name, values in series().items() if not name.endswith("exceeded")}
    given = {**known, "read_ops": busy, "write_ops": minutes(0.0)}
    xen = a_volume(
        id="vol-1",
        spec=NEW,
        attachments=(
            Attachment(host=replace(a_host(), nitro=False), device="/dev/sdf", since=REQUESTED - timedelta(days=9)),
        ),
    )
    assert np.nansum(read_one(watched(xen), {"vol-1": given}).stopped_minutes) == pytest.approx(10, abs=5)
    assert np.nansum(read_one(watched(attached()), {"vol-1": given}).stopped_minutes) == 12


def test_minutes_that_are_no_longer_kept_are_unknown() -> None:
    """Nothing is counted by the hour: a check that was raised once says nothing of how long."""
    late = datetime.fromtimestamp(NOW.timestamp() + 80 * DAY_S, UTC)
    metrics = MemoryMetrics(given={"vol-1": sums(start_s=START_S, buckets=MINUTES, **series())})
    watch = next(iter(read_watches([watched(attached())], metrics, late, TYPES)))
    assert isinstance(watch, ChangeWatch)
    assert np.isnan(watch.stopped_minutes[PAST_H : PAST_H + 30]).all()


def test_siblings_are_read_once_and_one_that_cannot_be_read_is_left_out() -> None:
    siblings = tuple(attached(f"vol-{number}") for number in (2, 3))
    metrics = MemoryMetrics(
        given={
            "vol-1": sums(start_s=START_S, buckets=MINUTES, **series()),
            "vol-2": sums(start_s=START_S, buckets=MINUTES, **series(latency_ms=2.0)),
        },
        broken={"vol-3": CloudError("no permission")},
    )
    earlier = watched(attached("vol-1"), siblings=siblings, requested=REQUESTED - timedelta(hours=5))
    watches = list(read_watches([watched(attached("vol-1"), siblings=siblings), earlier], metrics, NOW, TYPES))
    for watch in watches:
        assert isinstance(watch, ChangeWatch)
        assert len(watch.siblings) == 1
        assert len(watch.siblings[0].operations) == len(watch.signal.operations)
        assert np.nanmean(watch.siblings[0].latency_us[0]) == pytest.approx(2000)


def test_a_volume_that_cannot_be_read_has_its_error_and_the_others_are_read() -> None:
    metrics = MemoryMetrics(
        given={"vol-2": sums(start_s=START_S, buckets=MINUTES, **series())}, broken={"vol-1": CloudError("throttled")}
    )
    first, second = read_watches([watched(attached("vol-1")), watched(attached("vol-2"))], metrics, NOW, TYPES)
    assert isinstance(first, UnreadVolume)
    assert first.id == "vol-1"
    assert isinstance(second, ChangeWatch)


def test_volumes_of_other_places_are_read_there_and_a_place_that_fails_costs_its_own() -> None:
    given = {f"vol-{number}": sums(start_s=START_S, buckets=MINUTES, **series()) for number in range(1, 4)}
    here, there, denied = (
        watched(replace(attached(name), region=region))
        for name, region in (("vol-1", "us-east-1"), ("vol-2", "eu-west-1"), ("vol-3", "eu-north-1"))
    )
    beside = replace(there, siblings=(here.volume,))
    first, second, third = read_watches([here, beside, denied], _DeniedIn("eu-north-1", given=given), NOW, TYPES)
    for watch in (first, second):
        assert isinstance(watch, ChangeWatch)
        assert np.allclose(watch.signal.latency_us[0], 800)
        assert np.isfinite(watch.stopped_minutes[PAST_H:]).all()
    assert isinstance(second, ChangeWatch)
    assert np.allclose(second.siblings[0].latency_us[0], 800)
    assert isinstance(third, UnreadVolume)
    with pytest.raises(CloudError):
        list(read_watches([denied], _DeniedIn("eu-north-1", given=given), NOW, TYPES))


class _DeniedIn(MemoryMetrics):
    """Metrics of which none may be read in a region."""

    def __init__(self, region: str, **fields: Any) -> None:
        super().__init__(**fields)
        self._region = region

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        if asks[0].volume.region == self._region:
            raise CloudError("denied")
        return super().read(asks)


@pytest.mark.parametrize(
    ("since", "running_since", "reason"),
    [
        (REQUESTED + timedelta(hours=2), None, "host-changed"),
        (REQUESTED - timedelta(days=9), REQUESTED + timedelta(hours=2), "restarted"),
    ],
)
def test_another_host_or_a_restart_voids_the_comparison(
    since: datetime, running_since: datetime | None, reason: str
) -> None:
    host = replace(a_host(), running_since=running_since)
    volume = a_volume(id="vol-1", spec=NEW, attachments=(Attachment(host=host, device="/dev/sdf", since=since),))
    (void,) = read_one(watched(volume), {"vol-1": series()}).voids
    assert (void.reason, void.hour) == (reason, int(REQUESTED.timestamp()) // HOUR_S + 2)


def test_a_group_that_does_three_times_its_work_voids_the_comparison_after_a_day() -> None:
    risen = minutes(1000.0 * MINUTE_S / 2)
    risen[-30 * 60 :] *= 3
    given = {f"vol-{number}": series(timed_reads=risen, timed_writes=risen) for number in range(1, 5)}
    siblings = tuple(attached(f"vol-{number}") for number in (2, 3, 4))
    (void,) = read_one(watched(attached(), siblings=siblings), given).voids
    assert (void.reason, void.hour) == ("workload-shifted", int(REQUESTED.timestamp()) // HOUR_S + 23)
    assert not read_one(watched(attached()), given).voids
