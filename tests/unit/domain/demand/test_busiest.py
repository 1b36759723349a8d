import numpy as np

from plimsoll.demand.demand import IOPS, MIB_S, BusiestSeconds, add_exact_seconds


def seconds(iops, *, exact):
    rate = np.asarray(iops, dtype=np.float64)
    return BusiestSeconds(
        peaks=np.array([[rate, 2 * rate], [rate / 10, rate / 5]]),
        exact=np.asarray(exact),
    )


def test_the_busiest_seconds_of_several_are_added_up_as_if_they_were_the_same():
    both = add_exact_seconds([seconds([5, 7], exact=[True, True]), seconds([1, 2], exact=[True, True])])
    assert both.peaks[IOPS, 0].tolist() == [6, 9]
    assert both.peaks[IOPS, 1].tolist() == [12, 18]


def test_what_one_surely_had_is_not_lost_where_another_may_have_had_less():
    both = add_exact_seconds([seconds([5, 7], exact=[True, True]), seconds([1, 2], exact=[True, False])])
    assert both.exact.all()
    assert both.peaks[IOPS, 0].tolist() == [6, 7]
    assert both.peaks[MIB_S, 1].tolist() == [12 / 10, 7 / 5]


def test_the_busiest_seconds_of_none_are_not_known():
    assert add_exact_seconds([]) is None
