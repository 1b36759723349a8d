"""What was before the window speaks against reductions."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from plimsoll.decide.answer import Change, Keep
from plimsoll.decide.case import uneventful_limits
from plimsoll.decide.groups import Unit
from plimsoll.decide.reasons import rhythm
from plimsoll.model.ceiling import UNBOUNDED
from plimsoll.model.policy import Headroom, OfferPurpose
from plimsoll.model.series import BYTES, OPERATIONS, PAST_RATES, WORK_SERIES
from plimsoll.model.units import DAY_S, HOUR_S
from plimsoll.past.memory import Past, clip_memory, memory_segments, memory_start_s
from plimsoll.reading.window import Window
from plimsoll.refine.past import look_at_highest, looks
from tests.builders import NOW, a_host, a_stripe_set, a_tariff, a_volume, ceiling_of
from tests.unit.domain.lives import (
    A_LIFE_AGO,
    DAY,
    DAYS,
    OLDEST_S,
    PAST_MINUTES,
    PLAIN,
    RETENTION,
    SEGMENTS,
    WINDOW,
    a_large,
    a_life,
    answer_to,
    flat_with,
    judged,
    learn,
)


def test_an_hour_before_the_window_speaks_against_less_and_is_named_by_its_day():
    found = answer_to(a_large(), flat_with(900, (20 * DAY, 120, 9000)), io_kib=8)
    assert (found.target.spec.iops, found.target.spec.throughput_mib_s) == (10_800, 125)
    assert found.memory.instead_of.iops == 3000
    day = datetime.fromtimestamp(WINDOW.start_s - 20 * DAY_S, UTC)
    assert found.memory.event.start_s == day.timestamp()
    assert f"{day.day} {day:%B %Y}" in " ".join(found.reasons)


def test_an_event_is_a_days_and_a_year_of_ordinary_work_is_none():
    found = answer_to(a_large(), flat_with(900, (70 * DAY - 30, 60 * DAY, 9000)), io_kib=8)
    event, text = found.memory.event, " ".join(found.reasons)
    assert found.target.spec.iops == 10_800
    assert event.start_s % DAY_S == 0 or event.start_s == event.days[0] + 30 * 60
    assert event.minutes <= DAY
    assert len(event.days) == 61
    assert "ordinary work before that, on 61 of 80 days in 2 months" in text
    assert "e+0" not in text


def test_what_goes_on_over_midnight_is_told_by_its_highest_day():
    late = flat_with(900, (20 * DAY + 300, 300, 9000), (20 * DAY, 60, 9500))
    found = answer_to(a_large(), late, io_kib=8)
    assert found.memory.event.start_s == found.memory.event.days[1]
    assert (found.memory.event.minutes, len(found.memory.event.days)) == (60, 2)
    assert "on 2 of the 80 days" in " ".join(found.reasons)


def test_without_such_an_hour_the_window_decides_alone():
    calm = answer_to(a_large(), flat_with(900))
    alone, _ = judged([a_large()], {"vol-1": a_life(flat_with(900))}, memory=())
    assert calm.target == alone["vol-1"].recommendation.target
    assert calm.memory.event is None
    assert calm.memory.days == 80


def test_where_nothing_cheaper_carries_the_past_the_volume_stays():
    found = answer_to(a_large(), flat_with(900, (70 * DAY, 60, 15_000)), io_kib=8)
    assert isinstance(found, Keep)
    assert found.memory.event.rate == pytest.approx(15_000)


@pytest.mark.parametrize("rates", [True, False])
def test_five_minutes_count_as_long_as_they_are_kept_and_then_only_their_hour(rates):
    late, early = (flat_with(900, (days * DAY, 5, 9000)) for days in (40, 75))
    assert answer_to(a_large(), late, io_kib=8, rates=rates).target.spec.iops == 10_800
    assert answer_to(a_large(), early, io_kib=8, rates=rates).target.spec.iops == 3000


def test_a_single_minute_whose_neighbors_have_expired_is_said_and_refuses_nothing():
    minute = flat_with(900, (75 * DAY, 1, 9000))
    known, guessed = (answer_to(a_large(), minute, io_kib=8, rates=rates) for rates in (True, False))
    assert known.target.spec.iops == guessed.target.spec.iops == 3000
    assert "9,000 IOPS" in " ".join(known.reasons)
    assert "9,000 IOPS" not in " ".join(guessed.reasons)


def test_a_likely_minute_is_estimated_by_the_windows_own_ratio_and_said_as_such():
    iops = flat_with(100, (75 * DAY, 60, 5500))
    iops[PAST_MINUTES + 100] = 6000  # in an hour of 100: a minute of 30 times its mean
    found = answer_to(a_large(), iops, io_kib=8, rates=False)
    assert isinstance(found, Change)
    assert "likely" in " ".join(found.reasons)


def test_a_first_load_and_the_day_of_a_move_are_no_history():
    made = datetime.fromtimestamp(OLDEST_S, UTC)
    iops = flat_with(900)
    iops[: 6 * DAY] = 15_000
    filled = replace(a_large(), created=made)
    assert answer_to(filled, iops, io_kib=8).target.spec.iops == 3000
    assert isinstance(answer_to(filled, iops, replace(PLAIN, settle_days=0), io_kib=8), Keep)
    moved = datetime.fromtimestamp(WINDOW.start_s - 30 * DAY_S + 7 * HOUR_S, UTC)
    volume = a_large()
    volume = replace(volume, attachments=tuple(replace(one, since=moved) for one in volume.attachments))
    assert answer_to(volume, flat_with(900, (30 * DAY, 600, 15_000)), io_kib=8).target.spec.iops == 3000


def test_what_a_volume_may_forget_by_its_policy_speaks_against_nothing():
    iops = flat_with(900, (20 * DAY, 120, 9000))
    for days, right in ((0, 3000), (DAYS + 20, 3000), (DAYS + 22, 10_800), (455, 10_800)):
        assert answer_to(a_large(), iops, replace(PLAIN, memory_days=days), io_kib=8).target.spec.iops == right, days


def test_minutes_that_a_policy_tolerates_are_tolerated_in_every_30_days():
    iops = flat_with(900, (20 * DAY, 120, 9000), (50 * DAY, 180, 4000), (75 * DAY, 60, 8000))
    for budget, right in ((0, 10_800), (119, 10_800), (120, 4800), (180, 3000)):
        policy = replace(PLAIN, throttle_budget_min=budget, max_wait_s=86_400)
        assert answer_to(a_large(), iops, policy, io_kib=8).target.spec.iops == right, budget


def test_no_more_is_required_than_the_present_host_carries():
    found = answer_to(a_large(on=a_host("m4.large")), flat_with(900, (20 * DAY, 120, 9000)), io_kib=8)
    assert found.target.spec.iops == 3600


def test_a_keep_and_a_drop_in_replacement_ask_nothing_of_the_past():
    busy = a_life(flat_with(14_000), io_kib=4)
    keeps, few = judged([a_large()], {"vol-1": busy})
    alone, same = judged([a_large()], {"vol-1": busy}, memory=())
    assert keeps["vol-1"].recommendation == alone["vol-1"].recommendation
    assert few.datapoints == same.datapoints
    spare = a_volume("io1", 1000, iops=3000, created=A_LIFE_AGO, on=a_host("m5.24xlarge"))
    assert answer_to(spare, flat_with(2400, (20 * DAY, 120, 2900)), io_kib=8).memory is None


def test_a_quiet_past_is_six_datapoints_a_day():
    lives = {"vol-1": a_life(flat_with(100))}
    (_, with_memory), (_, alone) = judged([a_large()], lives), judged([a_large()], lives, memory=())
    assert with_memory.datapoints - alone.datapoints == 6 * 80
    assert with_memory.calls == alone.calls + 1


def test_the_past_of_one_member_is_that_of_its_whole_set():
    volumes = [a_large(id=name, on=a_host()) for name in ("vol-a", "vol-b")]
    lives = {
        "vol-a": a_life(flat_with(900), io_kib=8),
        "vol-b": a_life(flat_with(900, (20 * DAY, 120, 9000)), io_kib=8),
    }
    unit = Unit(stripes=a_stripe_set("vol-a", "vol-b"), volumes=volumes, held={})
    found, _ = judged(volumes, lives, units=[unit])
    assert {one.recommendation.target.spec.iops for one in found.values()} == {10_800}


def test_days_are_read_of_a_whole_memory_and_no_more_than_is_kept():
    window = Window.before(NOW, days=14)
    found = memory_segments(window.start_s, 455, RETENTION, NOW.timestamp())
    assert [one.period_s for one in found] == [3600, 300]
    assert found[0].window.end_s == found[1].window.start_s
    assert found[1].window.end_s == window.start_s
    assert all(one.window.start_s % DAY_S == 0 for one in found)
    for one in found:
        assert NOW.timestamp() - one.window.start_s <= RETENTION[one.period_s] * DAY_S
    assert memory_segments(window.start_s, 0, RETENTION, NOW.timestamp()) == ()


def test_455_days_of_one_volume_are_bounded_however_much_is_read():
    volume = replace(a_large(), created=NOW - timedelta(days=900))
    past = Past(clip_memory(volume, SEGMENTS), memory_start_s(volume, PLAIN, NOW.timestamp()))
    rates = np.full(past.window.buckets(DAY_S), 1e5)
    (look,) = look_at_highest(past)
    assert look.groups == (PAST_RATES, OPERATIONS, BYTES)
    learn(past, look, {"highest_iops": rates, "highest_throughput_mib_s": rates})
    while asked := looks(past, (1.0, 1.0), a_tariff()):
        for look in asked:
            full = np.full(look.window.buckets(look.period_s), 10.0 * look.period_s)
            learn(past, look, dict.fromkeys(WORK_SERIES, full))
    assert past.least.shape[1] <= 455 * 24 + 63 * 288


TWENTY = Headroom.from_policy(PLAIN)


def test_limits_leave_out_what_the_hosts_cannot_carry():
    offer = answer_to(a_large(), flat_with(900)).target
    small = ceiling_of(a_volume("gp3", 500, iops=3000))
    present = ceiling_of(a_large())
    assert uneventful_limits(offer, TWENTY, small, present) == (np.inf, np.inf)


def test_relief_is_asked_to_carry_no_more_of_the_past_than_the_volume_does():
    present, hosts = ceiling_of(a_volume("gp3", 500, iops=3000, throughput_mib_s=250)), UNBOUNDED
    larger = ceiling_of(a_volume("gp3", 500, iops=4500, throughput_mib_s=125))
    relief = replace(answer_to(a_large(), flat_with(900)).target, ceiling=larger, purpose=OfferPurpose.RELIEVE)
    assert uneventful_limits(relief, TWENTY, hosts, present) == (np.inf, pytest.approx(125 / 1.2))
    assert uneventful_limits(replace(relief, purpose=OfferPurpose.REDUCE), TWENTY, hosts, present)[0] == pytest.approx(
        4500 / 1.2
    )


def days_of(*texts):
    return [int(datetime.fromisoformat(f"{text}T00:00:00+00:00").timestamp()) for text in texts]


@pytest.mark.parametrize(
    ("days", "right"),
    [
        (("2026-10-31",), "at the end of a month"),
        (("2026-10-31", "2026-11-01", "2026-08-31"), "at the end of a month"),
        (("2026-09-30", "2026-07-01"), "at the end of a quarter"),
        (("2026-10-14",), None),
        (("2026-10-02", "2026-10-09", "2026-10-23"), "a Friday"),
        (("2026-10-02", "2026-10-09"), None),
    ],
)
def test_what_days_have_in_common(days, right):
    assert rhythm(days_of(*days)) == right
