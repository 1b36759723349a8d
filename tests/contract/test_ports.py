"""What every implementation of the ports promises, in memory, from a recording, from AWS and from Google Cloud."""

from dataclasses import replace

import numpy as np
import pytest

from plimsoll.model.errors import AccessDenied, CloudError
from plimsoll.model.volume import VolumeSpec, VolumeState
from plimsoll.ports import FailedTarget, Target
from tests.builders import read
from tests.contract.implementations import (
    LATE,
    READS,
    WINDOW,
    attached,
    aws,
    google,
    in_memory,
    listed,
    recorded,
)


@pytest.fixture(scope="module", params=[in_memory, recorded, aws, google], ids=lambda made: made.__name__)
def ports(request, tmp_path_factory):
    with request.param(tmp_path_factory.mktemp("contract")) as found:
        yield found


@pytest.fixture(scope="module")
def volumes(ports):
    """The volumes of the home account."""
    found, error = listed(ports.inventory, ports.home)
    assert error is None
    return found


def places(ports):
    return [found for found in ports.inventory.targets() if isinstance(found, Target)]


def test_targets_are_named_once_each_and_asked_twice_are_the_same(ports):
    assert places(ports) == places(ports)
    assert len(set(places(ports))) == len(places(ports)) >= 2
    assert {ports.home, ports.denied} <= set(places(ports))


def test_what_cannot_be_reached_is_named_with_why(ports):
    (failed,) = [found for found in ports.inventory.targets() if isinstance(found, FailedTarget)]
    assert "lost" in failed.name
    assert isinstance(failed.error, CloudError)


def test_volumes_are_of_their_target_and_listed_once(ports):
    for target in places(ports):
        found, _ = listed(ports.inventory, target)
        assert {(volume.account, volume.region) for volume in found} <= {(target.account, target.region)}
        assert len({volume.id for volume in found}) == len(found)


def test_volumes_asked_twice_are_the_same(ports, volumes):
    assert listed(ports.inventory, ports.home)[0] == volumes


def test_volumes_have_what_a_decision_needs(volumes):
    assert {volume.state for volume in volumes} >= {VolumeState.IN_USE, VolumeState.AVAILABLE}
    for volume in volumes:
        assert volume.spec.size_gib > 0
        assert volume.created.tzinfo is not None
        assert all(attachment.since.tzinfo is not None for attachment in volume.attachments)


def test_a_target_that_is_refused_costs_itself_alone(ports):
    _, error = listed(ports.inventory, ports.denied)
    assert isinstance(error, AccessDenied)
    assert str(ports.denied) in str(error)
    assert listed(ports.inventory, ports.home)[0]


def test_notices_are_sentences(ports):
    for target in places(ports):
        for text in ports.inventory.notices(target):
            assert text.endswith(".")
            assert len(text.splitlines()) == 1


@pytest.mark.parametrize(("window", "period_s"), READS)
def test_each_volume_is_in_exactly_one_of_sums_and_failed(ports, volumes, window, period_s):
    reading = read(ports.metrics, volumes, window, period_s)
    assert set(reading.sums) | set(reading.failed) == {volume.id for volume in volumes}
    assert not set(reading.sums) & set(reading.failed)
    assert all(isinstance(error, CloudError) for error in reading.failed.values())


@pytest.mark.parametrize(("window", "period_s"), READS)
def test_sums_cover_the_window_bucket_by_bucket(ports, volumes, window, period_s):
    for sums in read(ports.metrics, volumes, window, period_s).sums.values():
        assert (sums.start_s, sums.period_s) == (window.start_s, period_s)
        for name, values in sums.series.items():
            assert values.shape == (window.buckets(period_s),), name
            assert not np.nanmin(values, initial=0.0) < 0, name


def test_some_volume_was_measured(ports, volumes):
    reading = read(ports.metrics, attached(volumes), WINDOW, 60)
    assert any(sums.observed.any() for sums in reading.sums.values())


def test_a_volume_attached_to_nothing_has_no_points(ports, volumes):
    reading = read(ports.metrics, volumes, WINDOW, 60)
    for volume in volumes:
        if volume.state is VolumeState.AVAILABLE and volume.id in reading.sums:
            assert not reading.sums[volume.id].observed.any()


def test_sums_of_five_minutes_are_those_of_their_minutes(ports, volumes):
    fine, coarse = (read(ports.metrics, volumes, WINDOW, period_s).sums for period_s in (60, 300))
    assert set(fine) == set(coarse)
    for name, sums in fine.items():
        for minutes, fives in zip(sums.counters, coarse[name].counters, strict=True):
            folded = minutes.reshape(-1, 5)
            expected = np.where(np.isnan(folded).all(axis=1), np.nan, np.nansum(folded, axis=1))
            np.testing.assert_allclose(fives, expected, rtol=1e-9, err_msg=name)


def test_a_part_of_a_window_reads_as_that_part_of_the_whole(ports, volumes):
    whole, part = (read(ports.metrics, volumes, window, 60).sums for window in (WINDOW, LATE))
    skipped = (LATE.start_s - WINDOW.start_s) // 60
    for name, sums in part.items():
        for late, all_of_it in zip(sums.counters, whole[name].counters, strict=True):
            np.testing.assert_array_equal(late, all_of_it[skipped:])


def test_reading_nothing_gives_nothing(ports):
    reading = read(ports.metrics, [], WINDOW, 60)
    assert (dict(reading.sums), dict(reading.failed)) == ({}, {})


def test_a_place_never_answers_for_another(request, ports, volumes):
    """A cloud refuses several places at once; a recording has what was recorded at each."""
    here, other = attached(volumes)[:2]
    asked = [here, replace(other, region="another-region")]
    if request.node.callspec.params["ports"] is recorded:
        assert other.id in read(ports.metrics, asked, WINDOW, 60).failed
        return
    with pytest.raises(ValueError, match="ask each place by itself"):
        read(ports.metrics, asked, WINDOW, 60)


def test_remarks_on_what_was_read_are_sentences_and_each_once(ports, volumes):
    read(ports.metrics, attached(volumes), WINDOW, 60)
    texts = ports.metrics.remarks(ports.home)
    assert len(set(texts)) == len(texts)
    assert all(text.endswith(".") and len(text.splitlines()) == 1 for text in texts)


def test_what_is_read_has_been_whole_for_minutes_at_most(ports):
    assert 0 <= ports.metrics.visible_after_s < 3600


def test_usage_never_shrinks(ports, volumes):
    usage = ports.metrics.usage
    before = (usage.calls, usage.metrics, usage.datapoints)
    read(ports.metrics, volumes[:1], WINDOW, 60)
    after = ports.metrics.usage
    assert all(new >= old for new, old in zip((after.calls, after.metrics, after.datapoints), before, strict=True))


def test_coarser_data_lives_longer(ports):
    retention = ports.metrics.retention_days
    assert 60 in retention
    days = [retention[period_s] for period_s in sorted(retention)]
    assert days == sorted(days)


def test_a_book_is_of_its_region_and_the_same_when_asked_again(ports):
    book = ports.prices.book(ports.home)
    assert book.region == ports.home.region
    assert book.source
    assert ports.prices.book(ports.home) == book


def test_prices_grow_with_what_is_bought(ports):
    book = ports.prices.book(ports.home)
    less, more = ports.less_and_more
    assert 0 < book.usd_month(less) < book.usd_month(more)
    assert book.usd_month(VolumeSpec(type="gp9", size_gib=100)) is None


def test_a_region_without_a_price_has_none(ports):
    assert ports.prices.book(ports.unpriced) is None
