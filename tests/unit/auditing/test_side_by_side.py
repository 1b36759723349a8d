"""Side by side: in order unless one is slow, a bounded number at once; what hangs holds neither others nor the end."""

import subprocess
import sys
import threading

import pytest

from plimsoll.auditing.at_once import side_by_side


def test_results_come_in_the_order_of_their_items():
    assert list(side_by_side(lambda number: number * 2, range(50), at_once=3)) == [2 * number for number in range(50)]


def test_one_that_hangs_lets_all_others_pass():
    opened = threading.Event()

    def work(number):
        if number == 1:
            opened.wait()
        return number

    found = []
    for number in side_by_side(work, range(20), at_once=4, patience_s=0.01):
        found.append(number)
        if len(found) == 19:
            opened.set()
    assert found == [0, *range(2, 20), 1]


def test_no_more_are_begun_than_may_be_under_way():
    begun = []

    def items():
        for number in range(50):
            begun.append(number)
            yield number

    stream = side_by_side(str, items(), at_once=4)
    next(stream)
    assert len(begun) <= 5


def test_an_error_goes_on_to_the_caller():
    def work(number):
        if number == 3:
            raise ValueError(number)
        return number

    found = []
    with pytest.raises(ValueError, match="3"):
        found.extend(side_by_side(work, range(10), at_once=2))
    assert found == [0, 1, 2]


def test_what_hangs_does_not_keep_the_process_from_ending():
    code = (
        "import threading\n"
        "from plimsoll.auditing.at_once import side_by_side\n"
        "print(next(side_by_side(lambda n: n or threading.Event().wait(), [1, 0])))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "1\n"


def test_nothing_to_do_gives_nothing():
    assert list(side_by_side(str, [])) == []
