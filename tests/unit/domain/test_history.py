"""The history of a volume: what is news, what is done, and that telling it twice changes nothing."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain.history import Sighting, seen
from plimsoll.domain.volume import VolumeSpec

MONDAY = datetime(2027, 1, 4, 6, tzinfo=UTC)
GP2 = VolumeSpec(type="gp2", size_gib=500)


def gp3(iops=3000, throughput_mib_s=125, size_gib=500):
    return VolumeSpec(type="gp3", size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s)


TARGET = gp3()


def week(number):
    return {"run_id": f"run-{number}", "now": MONDAY + timedelta(weeks=number)}


def a_sighting(action="migrate", current=GP2, target=TARGET, saved_usd_month=10.0, **when):
    return Sighting(
        account="111122223333",
        region="us-east-1",
        volume_id="vol-1",
        action=action,
        current=current,
        target=target,
        saved_usd_month=saved_usd_month,
        **(when or week(0)),
    )


def kept(current, **when):
    return a_sighting("keep", current, None, 0.0, **when)


def history(*sightings):
    entry = None
    for sighting in sightings:
        entry = seen(entry, sighting)
    return entry


def is_new(entry, number):
    return entry.new_in(week(number)["run_id"], week(number)["now"].date())


figures = st.integers(1, 20).map(lambda many: many * 1000)
specs = st.one_of(
    st.just(GP2),
    st.builds(gp3, figures, st.integers(1, 8).map(lambda many: many * 125), st.integers(500, 502)),
)
answers = st.one_of(
    st.builds(
        a_sighting,
        st.sampled_from(["migrate", "reprovision", "upgrade"]),
        specs,
        specs,
        st.integers(-9_999, 9_999).map(lambda cents: cents / 100),
    ),
    st.builds(lambda action, current: a_sighting(action, current, None, 0.0), st.just("keep"), specs),
    st.builds(lambda current: a_sighting("detached", current, None, 0.0), specs),
    st.builds(lambda current: a_sighting("insufficient-data", current, None, 0.0), specs),
)
snoozes = st.none() | st.dates(date(2027, 1, 1), date(2027, 3, 1))


@st.composite
def lives(draw):
    """A volume's answers week by week, and what people said in between."""
    weeks = draw(st.lists(st.tuples(answers, snoozes), min_size=1, max_size=8))
    return [(replace(answer, **week(number)), snooze) for number, (answer, snooze) in enumerate(weeks)]


@given(lives())
def test_telling_a_run_twice_changes_nothing(life):
    entry = None
    for sighting, snooze in life:
        entry = seen(entry, sighting)
        assert seen(entry, sighting) == entry
        if entry is not None and snooze is not None and entry.recommends:
            entry = replace(entry, snoozed_until=snooze, decided_by="jo")


@given(lives(), st.data())
def test_an_older_run_that_is_told_later_changes_nothing(life, data):
    entry = history(*(sighting for sighting, _ in life))
    if entry is not None:
        older = data.draw(st.sampled_from([sighting for sighting, _ in life]))
        if older.run_id != entry.last_run:
            assert seen(entry, older) == entry


@given(lives())
def test_what_is_new_was_not_said_by_the_run_before_and_what_is_snoozed_is_not_new(life):
    entry = None
    for sighting, snooze in life:
        before, entry = entry, seen(entry, sighting)
        if entry is None:
            continue
        on = sighting.now.date()
        if entry.new_in(sighting.run_id, on):
            assert entry.recommends
            assert not entry.snoozed(on)
        if entry.snoozed(on):
            assert before is not None
            assert before.snoozed_until == entry.snoozed_until
        assert entry.done_saved_usd_month >= 0
        assert (entry.done_on is None) == (entry.done_run is None) == (entry.done_target is None)
        if entry.done_on is None:
            assert entry.done_saved_usd_month == 0
        if snooze is not None and entry.recommends:
            entry = replace(entry, snoozed_until=snooze)


@given(lives())
def test_the_same_answer_again_is_never_news_and_never_done(life):
    *_, (last, _snooze) = life
    entry = history(*(sighting for sighting, _ in life))
    again = seen(entry, replace(last, **week(len(life))))
    if entry is None:
        assert again is None
    else:
        assert not is_new(again, len(life))
        assert (again.done_on, again.done_saved_usd_month) == (entry.done_on, entry.done_saved_usd_month)


def test_a_volume_of_which_nothing_was_ever_recommended_has_no_entry():
    assert history(kept(gp3()), kept(gp3(), **week(1))) is None


def test_a_recommendation_is_new_once():
    first = history(a_sighting())
    assert is_new(first, 0)
    second = seen(first, a_sighting(saved_usd_month=11.0, **week(1)))
    assert not is_new(second, 1)
    assert (second.first_seen, second.saved_usd_month) == (MONDAY, 11.0)


@pytest.mark.parametrize(
    ("changed", "new"),
    [
        ({"action": "upgrade"}, True),
        ({"target": VolumeSpec(type="st1", size_gib=500)}, True),
        ({"target": gp3(3700)}, False),
        ({"target": gp3(3800)}, True),
        ({"target": gp3(3000, 250)}, True),
        ({"target": gp3(size_gib=900)}, False),
        ({"saved_usd_month": 2.0}, False),
        ({"action": "detached", "target": None}, True),
    ],
)
def test_another_action_type_or_figure_is_news_and_jitter_and_size_are_not(changed, new):
    assert is_new(history(a_sighting(), replace(a_sighting(**week(1)), **changed)), 1) is new


def test_figures_that_creep_are_news_once_they_are_far_from_what_was_first_said():
    crept = [history(*(a_sighting(target=gp3(3000 + 400 * n), **week(n)) for n in range(upto + 1))) for upto in (1, 2)]
    assert [is_new(crept[0], 1), is_new(crept[1], 2)] == [False, True]


def test_what_was_taken_back_and_comes_again_is_new():
    assert is_new(history(a_sighting(), kept(GP2, **week(1)), a_sighting(**week(2))), 2)


def test_a_week_without_enough_data_takes_nothing_back():
    unknown = a_sighting("insufficient-data", GP2, None, 0.0, **week(1))
    entry = history(a_sighting(), unknown, a_sighting(**week(2)))
    assert not is_new(entry, 2)
    assert entry.first_seen == MONDAY


def test_a_change_that_was_made_is_done_on_that_day_and_saves_what_was_promised():
    entry = history(a_sighting(), kept(gp3(), **week(1)), kept(gp3(), **week(2)))
    assert (entry.done_on, entry.done_run, entry.done_saved_usd_month) == (date(2027, 1, 11), "run-1", 10.0)
    assert not entry.recommends


def test_made_nearly_as_recommended_or_larger_is_done_and_made_otherwise_is_not():
    assert history(a_sighting(), kept(gp3(3400, 125, 800), **week(1))).done_on is not None
    assert history(a_sighting(), kept(gp3(16000), **week(1))).done_on is None
    assert history(a_sighting(), kept(VolumeSpec(type="io2", size_gib=500, iops=3000), **week(1))).done_on is None


@pytest.mark.parametrize(("iops", "done"), [(3500, False), (3450, False), (3250, True), (3000, True), (4000, False)])
def test_within_a_type_at_least_half_the_way_must_be_gone(iops, done):
    lower = a_sighting("reprovision", gp3(3500), gp3(3000))
    assert (history(lower, kept(gp3(iops), **week(1))).done_on is not None) is done


def test_a_need_that_has_grown_is_no_change_that_was_made():
    assert history(a_sighting("reprovision", gp3(3500), gp3(3000)), kept(gp3(3500), **week(1))).done_on is None


def test_done_and_another_recommendation_at_once_are_both_told_and_savings_add_up():
    lower = a_sighting("reprovision", gp3(6000), gp3(3000), 5.0, **week(1))
    entry = history(a_sighting(target=gp3(6000)), lower)
    assert is_new(entry, 1)
    assert (entry.done_run, entry.done_saved_usd_month) == ("run-1", 10.0)
    assert history(a_sighting(target=gp3(6000)), lower, kept(gp3(), **week(2))).done_saved_usd_month == 15.0


def test_an_upgrade_that_was_made_costs_more_and_saves_nothing():
    entry = history(a_sighting("upgrade", gp3(), gp3(6000), -7.5), kept(gp3(6000), **week(1)))
    assert (entry.done_on, entry.done_saved_usd_month) == (date(2027, 1, 11), 0.0)


def test_a_change_that_was_undone_is_new_again_and_saves_nothing_any_more():
    entry = history(a_sighting(), kept(gp3(), **week(1)), a_sighting(**week(2)))
    assert is_new(entry, 2)
    assert (entry.done_on, entry.done_saved_usd_month) == (None, 0.0)


def test_what_was_snoozed_stays_so_even_if_it_changes_and_is_new_again_when_the_time_has_run_out():
    said = replace(history(a_sighting()), snoozed_until=date(2027, 1, 18), decided_by="jo")
    changed = seen(said, a_sighting(target=gp3(9000), **week(1)))
    assert changed.snoozed(date(2027, 1, 11))
    assert not is_new(changed, 1)
    assert changed.decided_by == "jo"
    again = seen(changed, a_sighting(target=gp3(9000), **week(2)))
    assert is_new(again, 2)
    assert (again.snoozed_until, again.decided_by) == (None, None)
