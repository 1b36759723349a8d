"""The largest items are the same however a run was parted."""

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.reports.sorting import Largest

ITEMS = st.lists(st.integers(-5, 20), max_size=30)


def kept(weights, first=0):
    found = Largest(most=4)
    for number, weight in enumerate(weights, start=first):
        found.add(weight, f"{number:03d}", (weight, number))
    return found


@given(ITEMS, ITEMS)
def test_parts_merge_into_the_whole(one, other):
    whole, parts = kept([*one, *other]), kept(one)
    parts.merge(kept(other, first=len(one)))
    assert (parts.total, parts.items) == (whole.total, whole.items)
    assert whole.items == sorted(whole.items, reverse=True)
