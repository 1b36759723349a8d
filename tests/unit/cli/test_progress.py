"""How long a run still takes: by the volumes answered, those known, and the places still to be listed."""

import time
from itertools import pairwise

import pytest

from plimsoll.cli.progress import FIRST_LINE_S, Pace, left_text, run_bar
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import CloudError
from plimsoll.outcomes import Skipped, VolumesSeen
from plimsoll.ports import FailedTarget, Target

HERE = Target(account="111122223333", region="us-east-1")


def seconds_left(*, passed_s=60.0, **counts):
    return Pace(began_s=0.0, **counts).seconds_left(passed_s)


def test_half_done_takes_as_long_again():
    assert seconds_left(done=50, volumes=100, listed=2, places=2) == pytest.approx(60)


def test_places_that_are_not_listed_yet_are_taken_to_be_like_those_before():
    assert seconds_left(done=50, volumes=100, listed=1, places=4) == pytest.approx(7 * 60)


@pytest.mark.parametrize(
    "counts", [{}, {"places": 3}, {"listed": 1, "places": 3}, {"done": 1, "volumes": 100, "listed": 1}]
)
def test_nothing_is_said_while_it_is_too_early(counts):
    assert seconds_left(**counts) is None


def test_it_never_is_less_than_nothing():
    assert seconds_left(done=101, volumes=100, listed=1, places=1) == 0


def test_outcomes_are_counted():
    pace = Pace(places=3)
    for outcome in (
        VolumesSeen(target=HERE, volumes=7),
        Skipped(target=HERE, volume_id="vol-1", reason="x"),
        FailedTarget(name="there", error=CloudError("x")),
    ):
        pace.take(outcome)
    assert (pace.done, pace.volumes, pace.listed) == (1, 7, 2)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"places": 3}, "listing volumes: 0 of 3 accounts and regions listed"),
        (
            {"done": 5, "volumes": 40, "listed": 1, "places": 3},
            "5 of 40 volumes, with 1 of 3 accounts and regions listed",
        ),
        ({"done": 5, "volumes": 40, "listed": 3, "places": 3}, "5 of 40 volumes"),
    ],
)
def test_the_number_of_volumes_is_said_once_they_are_listed(counts, words):
    assert Pace(**counts).words == words


def test_the_time_is_in_words():
    assert [left_text(left) for left in (None, 3.0, 61.0)] == ["", "under a minute left", "about 2 min left"]


def test_without_a_terminal_lines_come_ever_more_rarely_on_standard_error(monkeypatch, capsys):
    now = time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: now)
    with run_bar(Screen(), []) as (_, take):
        take(VolumesSeen(target=HERE, volumes=1000))
        for _ in range(1000):
            now += 1
            take(Skipped(target=HERE, volume_id="vol-1", reason="x"))
    shown = capsys.readouterr()
    assert shown.out == ""
    done = [int(line.split(" of 1,000 volumes")[0]) for line in shown.err.splitlines()]
    assert len(done) == 8
    assert 0 <= done[0] - FIRST_LINE_S <= 1
    assert all(later >= 2 * earlier for earlier, later in pairwise(done))


def test_a_silent_screen_shows_no_progress(monkeypatch, capsys):
    monkeypatch.setattr("time.monotonic", iter(range(0, 10_000, 100)).__next__)
    with run_bar(Screen(quiet=True), []) as (_, take):
        take(Skipped(target=HERE, volume_id="vol-1", reason="x"))
    assert capsys.readouterr() == ("", "")


def test_what_takes_seconds_is_said_at_once_where_no_terminal_shows_a_spinner(capsys):
    with Screen().doing("starting"):
        assert capsys.readouterr() == ("", "starting\n")
