"""What a host measured and was lost never makes an answer smaller: it is asked once more, or there is no answer."""

import numpy as np
import pytest

from plimsoll.decide.answer import Change, InsufficientData, Keep
from plimsoll.model.series import HOST, Role, names_with
from tests.builders import a_host, a_volume
from tests.unit.domain.metrics.test_received import (
    MINUTES,
    PEAK_AT,
    WHOLE,
    WINDOW,
    answered,
    judged,
    losing,
    losing_between,
    minutes,
    nothing_lost,
    target_of,
)

NAMES = names_with(Role.HOST_CHECK, Role.HOST_BALANCE)
CHECKS = names_with(Role.HOST_CHECK)
VOLUMES = [a_volume("gp3", 800, iops=16_000, throughput_mib_s=1000, on=a_host("m5.large"))]
DAY = WINDOW.start_s + 86_400


def measured(**series):
    """A volume on a small host, of which more was asked than it carries in five quiet minutes of the first day."""
    raised = np.zeros(MINUTES)
    raised[600:605] = 1
    usual = {
        "host_iops_exceeded_minutes": raised,
        "host_throughput_exceeded_minutes": np.zeros(MINUTES),
        "host_iops_balance_pct": np.full(MINUTES, 90.0),
        "host_throughput_balance_pct": np.full(MINUTES, 90.0),
    }
    return {"vol-1": minutes(peak=5000.0).with_series(**{**usual, **series})}


def found_with(lose, *, sums=None, **others):
    return answered(lose, volumes=VOLUMES, sums=sums or measured(), **others)


@WHOLE
def test_raised_minutes_keep_what_the_volume_may_have_wanted(every_minute):
    found = found_with(nothing_lost, every_minute=every_minute)
    assert (found.demand.host_bound_minutes, found.demand.host_bound_measured_minutes) == (5, 5)
    calm = found_with(nothing_lost, sums=measured(host_iops_exceeded_minutes=np.zeros(MINUTES)))
    assert target_of(calm).iops == 6000
    assert isinstance(found, Change | Keep)
    assert target_of(found) is None or target_of(found).iops > 6000


@WHOLE
@pytest.mark.parametrize("series", NAMES)
def test_a_day_that_is_lost_is_asked_once_more_and_then_disputed(series, every_minute):
    def lose(reads):
        return losing_between(DAY, DAY + 86_400, series, reads=reads)

    whole = found_with(nothing_lost, every_minute=every_minute)
    assert found_with(lose(1), every_minute=every_minute) == whole
    found = found_with(lose(10**6), every_minute=every_minute)
    assert isinstance(found, InsufficientData)
    assert {doubt.series for doubt in found.demand.coverage.disputes} == {series}


def test_a_raised_check_that_is_not_found_again_is_disputed():
    start_s = WINDOW.start_s + 600 * 60
    found = found_with(losing_between(start_s, start_s + 300, *CHECKS))
    assert isinstance(found, InsufficientData)


@WHOLE
def test_what_never_came_is_unknown_and_the_published_limits_stand(every_minute):
    found = found_with(losing(*NAMES), every_minute=every_minute)
    plain = found_with(nothing_lost, sums={"vol-1": minutes(peak=5000.0)}, every_minute=every_minute)
    assert found == plain


def test_minutes_without_a_check_are_asked_once_more():
    peak_s = WINDOW.start_s + PEAK_AT * 60
    sums = {"vol-1": measured()["vol-1"].with_series(**vars_at_the_maximum())}
    whole = found_with(nothing_lost, sums=sums)
    assert whole.demand.host_cleared_minutes > 0
    rounds = {"fine": 0}

    def lose(_read, ask, found):
        name = "host_iops_exceeded_minutes"
        if ask.look.period_s == 60 and name in found and rounds["fine"] == 0:
            rounds["fine"] += 1
            starts_s = ask.look.window.start_s + 60 * np.arange(len(found[name]))
            found[name] = np.where(starts_s == peak_s, np.nan, found[name])
        return found

    assert found_with(lose, sums=sums) == whole


def vars_at_the_maximum():
    """One minute at the published maximum of the host, 18,750 IOPS, which was not measured as exceeded."""
    quiet = minutes(peak=18_700.0)
    return {name: getattr(quiet, name) for name in ("read_ops", "write_ops", "read_bytes", "write_bytes")} | {
        "host_iops_exceeded_minutes": np.zeros(MINUTES)
    }


def test_neighbors_of_a_host_that_is_disputed_have_no_answer_either():
    host = a_host("m5.large")
    volumes = [a_volume("gp3", 800, iops=16_000, id=f"vol-{number}", on=host) for number in (1, 2)]
    sums = {"vol-1": measured()["vol-1"], "vol-2": minutes(peak=30.0)}
    found = judged(losing_between(DAY, DAY + 86_400, NAMES[0]), volumes=volumes, sums=sums)
    assert {type(one) for one in found.values()} == {InsufficientData}


def test_a_host_that_cannot_be_the_limit_is_not_asked():
    asked = set()

    def listen(_read, ask, found):
        asked.update(ask.look.groups)
        return found

    answered(listen, volumes=[a_volume("gp3", 800, on=a_host("m5.24xlarge"))], sums=measured())
    assert not asked & set(HOST)
    found_with(listen)
    assert asked >= set(HOST)
