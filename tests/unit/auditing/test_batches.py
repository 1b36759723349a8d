"""Working ahead: results come in order, a bounded number of items is under way, and a failure ends it."""

import threading
import time

import pytest

from plimsoll.auditing.at_once import ahead


def test_results_come_in_the_order_of_their_items():
    def work(number):
        time.sleep(0.002 * (5 - number % 5))
        return number

    assert list(ahead(work, range(20), 3)) == list(range(20))


def test_no_more_items_are_begun_than_may_be_under_way():
    begun = []

    def items():
        for number in range(50):
            begun.append(number)
            yield number

    stream = ahead(lambda number: number, items(), 4)
    next(stream)
    assert len(begun) <= 5
    stream.close()
    assert len(begun) <= 5


def test_items_are_worked_on_at_the_same_time():
    met = threading.Barrier(2, timeout=120)
    assert len(list(ahead(lambda _number: met.wait(), range(2), 2))) == 2


def test_an_error_goes_on_to_the_caller():
    def work(number):
        if number == 3:
            raise ValueError(number)
        return number

    found = []
    with pytest.raises(ValueError, match="3"):
        found.extend(ahead(work, range(10), 2))


def test_nothing_to_do_gives_nothing():
    assert list(ahead(str, [], 2)) == []
