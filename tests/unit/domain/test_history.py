"""The history of a volume: what is news, what is done, and that telling it twice changes nothing."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.decide.history import Sighting, seen
from plimsoll.model.people import Decision, DecisionKind, Holding, find_holding
from plimsoll.model.volume import VolumeSpec

MONDAY = datetime(2027, 1, 4, 6, tzinfo=UTC)
GP2 = VolumeSpec(type="gp2", size_gib=500)


def gp3(iops=3000, throughput_mib_s=125, size_gib=500):
    return VolumeSpec(type="gp3", size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s)


TARGET = gp3()
NOTHING = Holding()


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


def history(*sightings, held=NOTHING):
    entry = None
    for sighting in sightings:
        entry = seen(entry, sighting, held)
    return entry


def is_new(entry, number, held=NOTHING):
    return entry.new_in(week(number)["run_id"], week(number)["now"], held)


def said(kind, number, *, until=None, **later):
    """What somebody said after the run of that week."""
    at = week(number)["now"] + timedelta(**(later or {"days": 1}))
    place = {"account": "111122223333", "region": "us-east-1", "volume_id": "vol-1"}
    return Decision(id=f"{kind}-{at:%d-%H}", kind=kind, by="jo", at=at, until=until, **place)


def snooze(number, until, **later):
    return said(DecisionKind.SNOOZE, number, until=until, **later)


def done(number, **later):
    return said(DecisionKind.DONE, number, **later)


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
words = st.lists(
    st.one_of(
        st.builds(
            lambda days: lambda week: snooze(week, (week_day(week) + timedelta(days=1 + days))), st.integers(1, 30)
        ),
        st.just(done),
        st.just(lambda week: said(DecisionKind.EXCLUDE, week, days=2)),
        st.just(lambda week: said(DecisionKind.INCLUDE, week, days=3)),
    ),
    max_size=3,
)


def week_day(number):
    return week(number)["now"].date()


@st.composite
def lives(draw):
    """A volume's answers week by week, each with all that people had said by then."""
    weeks = draw(st.lists(st.tuples(answers, words), min_size=1, max_size=8))
    life, heard = [], []
    for number, (answer, spoken) in enumerate(weeks):
        life.append((replace(answer, **week(number)), find_holding(heard)))
        heard += [word(number) for word in spoken]
    return life


def lived(life):
    """Each week's sighting, what held, and the entries before and after it."""
    entry = None
    for sighting, held in life:
        before, entry = entry, seen(entry, sighting, held)
        yield sighting, held, before, entry


@given(lives())
def test_telling_a_run_twice_changes_nothing(life):
    for sighting, held, _before, entry in lived(life):
        assert seen(entry, sighting, held) == entry


@given(lives(), st.data())
def test_an_older_run_that_is_told_later_changes_nothing(life, data):
    *_, (*_, held, _before, entry) = lived(life)
    if entry is not None:
        older = data.draw(st.sampled_from([sighting for sighting, _ in life]))
        if older.run_id != entry.last_run:
            assert seen(entry, older, held) == entry


@given(lives())
def test_what_is_new_is_recommended_and_not_silenced_and_savings_are_those_of_what_is_done(life):
    for sighting, held, _before, entry in lived(life):
        if entry is None:
            continue
        if entry.new_in(sighting.run_id, sighting.now, held):
            assert entry.recommends
            assert not entry.silent(sighting.now, held)
        assert entry.done_saved_usd_month >= 0
        assert (entry.done_on is None) == (entry.done_run is None) == (entry.done_target is None)
        if entry.done_on is None:
            assert entry.done_saved_usd_month == 0


@given(lives())
def test_what_people_say_changes_when_something_is_news_and_nothing_else(life):
    for (*_, entry), (*_, other) in zip(lived(life), lived((sighting, NOTHING) for sighting, _ in life), strict=True):
        assert (entry is None) == (other is None)
        if entry is not None:
            assert replace(entry, first_run=other.first_run) == other


@given(lives())
def test_what_stands_after_a_silence_is_news_and_what_was_heard_before_is_not(life):
    before_silent = None
    for sighting, held, before, entry in lived(life):
        if entry is None or not entry.recommends or sighting.action == "insufficient-data":
            continue
        stands = before is not None and before.recommends and entry.first_seen == before.first_seen
        silent, news = entry.silent(sighting.now, held), entry.new_in(sighting.run_id, sighting.now, held)
        if not silent and (not stands or before_silent):
            assert news
        if stands and held == NOTHING:
            assert not news
        before_silent = silent


@given(lives(), st.sampled_from([DecisionKind.SNOOZE, DecisionKind.DONE, DecisionKind.EXCLUDE]))
def test_a_word_that_comes_before_a_run_is_remembered_silences_it_however_often_it_is_tried(life, kind):
    *_, (sighting, held, before, entry) = lived(life)
    if entry is None:
        return
    number = len(life) - 1
    late = said(kind, number, until=week_day(number) + timedelta(days=31), minutes=5)
    heard = find_holding([*(one for one in (held.snoozed, held.done, held.excluded) if one), late])
    for prior in (before, entry):
        again = seen(prior, sighting, heard)
        assert not again.new_in(sighting.run_id, sighting.now, heard)
        assert replace(again, first_run="") == replace(entry, first_run="")
        assert seen(again, sighting, heard) == again


@given(lives())
def test_silence_is_broken_once_however_long_the_same_is_recommended(life):
    *_, (sighting, held, _before, entry) = lived(life)
    if entry is None or not entry.recommends or sighting.action == "insufficient-data":
        return
    news = []
    for number in range(len(life), len(life) + 8):
        entry = seen(entry, replace(sighting, **week(number)), held)
        news.append(is_new(entry, number, held))
    assert sum(news) <= 1


@given(lives())
def test_the_same_answer_again_is_never_news_and_never_done(life):
    *_, (last, _held) = life
    entry = history(*(sighting for sighting, _ in life))
    again = seen(entry, replace(last, **week(len(life))), NOTHING)
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
    second = seen(first, a_sighting(saved_usd_month=11.0, **week(1)), NOTHING)
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
    held = find_holding([snooze(0, until=date(2027, 1, 18))])
    changed = seen(history(a_sighting()), a_sighting(target=gp3(9000), **week(1)), held)
    assert changed.silent(week(1)["now"], held)
    assert not is_new(changed, 1, held)
    again = seen(changed, a_sighting(target=gp3(9000), **week(2)), held)
    assert is_new(again, 2, held)
    assert not is_new(seen(again, a_sighting(target=gp3(9000), **week(3)), held), 3, held)


def test_a_snooze_that_ran_out_between_two_runs_is_over_in_the_second():
    held = find_holding([snooze(0, until=date(2027, 1, 11), minutes=1)])
    assert is_new(seen(history(a_sighting()), a_sighting(**week(1)), held), 1, held)


def test_a_run_without_enough_data_does_not_swallow_the_end_of_a_silence():
    for word in (snooze(0, until=date(2027, 1, 8)), done(0)):
        held = find_holding([word])
        unknown = a_sighting("insufficient-data", GP2, None, 0.0, **week(1))
        entry = seen(history(a_sighting()), unknown, held)
        assert not is_new(entry, 1, held)
        assert is_new(seen(entry, a_sighting(**week(2)), held), 2, held)


def test_a_volume_that_is_recommended_first_while_it_is_snoozed_is_new_when_the_time_has_run_out():
    held = find_holding([snooze(0, until=date(2027, 1, 18))])
    first = seen(None, a_sighting(**week(1)), held)
    assert not is_new(first, 1, held)
    assert is_new(seen(first, a_sighting(**week(2)), held), 2, held)


def test_a_change_that_was_made_ends_the_snooze_that_was_said_before():
    held = find_holding([snooze(0, until=date(2027, 3, 1))])
    lower = a_sighting("reprovision", gp3(6000), gp3(3000), 5.0, **week(1))
    made = seen(history(a_sighting(target=gp3(6000))), lower, held)
    assert is_new(made, 1, held)


def test_said_to_be_done_is_silent_until_a_run_that_looks_after_that_and_new_where_it_is_not():
    held = find_holding([snooze(0, until=date(2027, 3, 1), hours=1), done(0)])
    under_way = seen(history(a_sighting()), a_sighting(run_id="run-x", now=MONDAY + timedelta(hours=5)), held)
    assert under_way.silent(MONDAY + timedelta(hours=5), held)
    looked = seen(under_way, a_sighting(**week(1)), held)
    assert is_new(looked, 1, held)
    assert looked.first_seen == MONDAY
    assert not is_new(seen(looked, a_sighting(**week(2)), held), 2, held)


def test_said_to_be_done_and_seen_to_be_so_is_done():
    entry = seen(history(a_sighting()), kept(gp3(), **week(1)), find_holding([done(0)]))
    assert (entry.done_run, entry.done_saved_usd_month, entry.recommends) == ("run-1", 10.0, False)


def test_excluded_while_a_run_is_under_way_is_silent_and_new_once_the_volume_is_audited_again():
    exclude, include = said(DecisionKind.EXCLUDE, 0, hours=1), said(DecisionKind.INCLUDE, 3)
    first = seen(None, a_sighting(), find_holding([exclude]))
    assert not is_new(first, 0, find_holding([exclude]))
    held = find_holding([include, exclude])
    again = seen(first, a_sighting(**week(4)), held)
    assert is_new(again, 4, held)
    assert not is_new(seen(again, a_sighting(**week(5)), held), 5, held)


def test_the_later_word_of_a_kind_holds_and_including_lifts_an_exclusion():
    exclude, include = said(DecisionKind.EXCLUDE, 0), said(DecisionKind.INCLUDE, 1)
    first, second = snooze(0, until=date(2027, 3, 1)), snooze(1, until=date(2027, 2, 1))
    for order in ([exclude, first, second], [second, first, exclude]):
        assert find_holding(order) == Holding(snoozed=second, excluded=exclude)
    assert find_holding([include, exclude]) == Holding(included=include)
    assert find_holding([include]) == NOTHING
    again = said(DecisionKind.EXCLUDE, 2)
    assert find_holding([again, include, exclude]) == Holding(excluded=again)
    assert find_holding([first, done(1), said(DecisionKind.VALIDATE, 2)]) == Holding(done=done(1))
