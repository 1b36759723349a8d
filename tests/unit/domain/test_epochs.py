"""Epochs: they cover the window, neighbors differ, and what is not on record is not known."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain.epochs import Seen, epochs_of
from plimsoll.domain.sums import Window
from plimsoll.domain.volume import Modification, VolumeSpec
from tests.builders import a_volume

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
        assert one.spec != following.spec
    assert all(epoch.window.start_s < epoch.window.end_s for epoch in epochs)
