"""Epochs: they cover the window, neighbors differ, and what is not on record is not known."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.demand.epochs import epochs_of
from plimsoll.model.volume import Attachment, Modification, Seen, VolumeSpec
from plimsoll.reading.window import Window
from tests.builders import a_host, a_volume

START = datetime(2026, 11, 1, tzinfo=UTC)
WINDOW = Window(start_s=int(START.timestamp()), end_s=int((START + timedelta(days=14)).timestamp()))
SMALL = VolumeSpec(type="gp3", size_gib=100, iops=3000, throughput_mib_s=125)
LARGE = VolumeSpec(type="gp3", size_gib=100, iops=16_000, throughput_mib_s=125)


def at_s(day):
    return WINDOW.start_s + int(day * 86_400)


def changed(day, *, original=SMALL, spec=LARGE):
    modification = Modification(
        state="completed", started=START + timedelta(days=day), progress_pct=100, original=original
    )
    return replace(a_volume(), spec=spec, modification=modification)


def found(volume, *seen):
    epochs = epochs_of(volume, WINDOW, seen)
    return [(epoch.window.start_s, epoch.spec) for epoch in epochs]


def test_without_a_change_on_record_the_present_spec_stands_throughout():
    assert found(replace(a_volume(), spec=SMALL)) == [(at_s(0), SMALL)]


def test_a_modification_parts_the_window():
    assert found(changed(10)) == [(at_s(0), SMALL), (at_s(10), LARGE)]


def test_what_was_before_a_modification_without_originals_is_not_known():
    assert found(changed(10, original=None)) == [(at_s(0), None), (at_s(10), LARGE)]


def test_a_modification_before_the_window_says_nothing_of_it():
    assert found(changed(-3)) == [(at_s(0), LARGE)]


def test_an_earlier_audit_tells_what_a_volume_was_and_between_two_nobody_knows():
    seen = [Seen(at_s=at_s(2), spec=LARGE), Seen(at_s=at_s(5), spec=SMALL)]
    assert found(changed(10), *seen) == [(at_s(0), LARGE), (at_s(2), None), (at_s(5), SMALL), (at_s(10), LARGE)]


def on(host, day):
    """The small volume on a host that it was attached to on that day."""
    attached = Attachment(host=host, device="/dev/sdf", since=START + timedelta(days=day))
    return replace(a_volume(), spec=SMALL, attachments=(attached,))


def hosts(volume, *seen):
    """The epochs by day with the type of the host in each."""
    return [
        ((epoch.window.start_s - at_s(0)) / 86_400, None if epoch.hosts is None else epoch.hosts[0].type)
        for epoch in epochs_of(volume, WINDOW, seen)
    ]


OLD, NEW = a_host("m5.large", id="i-old"), a_host("m5.24xlarge", id="i-new")


def test_a_host_that_was_seen_stands_until_the_next_one_is_attached():
    seen = Seen(at_s=at_s(3), hosts=(OLD,))
    assert hosts(on(NEW, 10), seen) == [(0, "m5.large"), (10, "m5.24xlarge")]


def test_the_host_before_an_attachment_is_not_known_where_nobody_saw_it():
    assert hosts(on(NEW, 10)) == [(0, None), (10, "m5.24xlarge")]


def test_a_volume_that_was_made_for_its_host_had_no_other():
    young = replace(on(NEW, 10), created=START + timedelta(days=10, minutes=-1))
    assert hosts(young) == [(0, "m5.24xlarge")]


def test_a_host_that_stops_every_night_is_the_same_and_one_that_came_back_as_another_type_is_not():
    started = replace(NEW, running_since=START + timedelta(days=13))
    same = Seen(at_s=at_s(9), hosts=(NEW,))
    smaller = Seen(at_s=at_s(9), hosts=(replace(OLD, id="i-new"),))
    assert hosts(on(started, -50), same) == [(0, "m5.24xlarge")]
    assert hosts(on(started, -50), smaller) == [(0, "m5.large"), (13, "m5.24xlarge")]


def test_an_attachment_made_as_the_host_was_started_is_no_other_host():
    volume = on(NEW, 13)
    again = replace(volume, attachments=(replace(volume.attachments[0], at_start=True),))
    assert hosts(again) == [(0, "m5.24xlarge")]


def test_a_change_of_the_host_and_one_of_the_volume_part_the_window_each():
    volume = replace(changed(4), attachments=on(NEW, 10).attachments)
    assert hosts(volume, Seen(at_s=at_s(3), hosts=(OLD,))) == [(0, "m5.large"), (4, "m5.large"), (10, "m5.24xlarge")]
    assert found(volume) == [(at_s(0), SMALL), (at_s(4), LARGE), (at_s(10), LARGE)]


def test_what_was_made_just_then_parts_the_window_and_what_was_before_it_is_known_where_it_was_seen():
    made = Seen(at_s=at_s(5), spec=LARGE, made=True)
    before = Seen(at_s=at_s(2), spec=SMALL)
    assert found(replace(a_volume(), spec=LARGE, seen=(before, made))) == [(at_s(0), SMALL), (at_s(5), LARGE)]
    assert found(replace(a_volume(), spec=LARGE, seen=(made,))) == [(at_s(0), None), (at_s(5), LARGE)]


def test_a_host_that_was_attached_at_a_known_time_is_there_from_then_on():
    attached = Seen(at_s=at_s(3), hosts=(OLD,), made=True)
    assert hosts(on(NEW, 10), attached) == [(0, None), (3, "m5.large"), (10, "m5.24xlarge")]


@given(
    st.one_of(st.none(), st.floats(-20, 14)),
    st.lists(st.tuples(st.floats(-20, 14), st.sampled_from([SMALL, LARGE])), max_size=6),
)
def test_epochs_cover_the_window_in_order_and_neighbors_differ(day, sightings):
    volume = replace(a_volume(), spec=LARGE) if day is None else changed(day)
    epochs = epochs_of(volume, WINDOW, [Seen(at_s=at_s(when), spec=spec) for when, spec in sightings])
    assert epochs[0].window.start_s == WINDOW.start_s
    assert epochs[-1].window.end_s == WINDOW.end_s
    for one, following in pairwise(epochs):
        assert one.window.end_s == following.window.start_s
        assert (one.spec, one.hosts) != (following.spec, following.hosts)
    assert all(epoch.window.start_s < epoch.window.end_s for epoch in epochs)


@given(st.floats(-30, 14), st.floats(0, 30))
def test_a_volume_of_which_nothing_changed_is_told_as_one_that_was_seen_as_it_is(attached_day, age_days):
    """With nothing on record there is a shorter way; a sighting of the same at the end takes the longer one."""
    volume = on(NEW, attached_day)
    volume = replace(volume, created=volume.attachments[0].since - timedelta(days=age_days))
    assert epochs_of(volume, WINDOW) == epochs_of(volume, WINDOW, [Seen(at_s=WINDOW.end_s - 1, spec=volume.spec)])
