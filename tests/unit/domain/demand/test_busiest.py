import numpy as np

from plimsoll.domain.demand.demand import BusiestSeconds
from plimsoll.domain.demand.load import at_once


def seconds(iops, *, exact):
    rate = np.asarray(iops, dtype=np.float64)
    return BusiestSeconds(
        read_iops=rate,
        write_iops=2 * rate,
        read_throughput_mib_s=rate / 10,
        write_throughput_mib_s=rate / 5,
        exact=np.asarray(exact),
    )


def test_the_busiest_seconds_of_several_are_added_up_as_if_they_were_the_same():
    both = at_once([seconds([5, 7], exact=[True, True]), seconds([1, 2], exact=[True, True])])
    assert both.read_iops.tolist() == [6, 9]
    assert both.write_iops.tolist() == [12, 18]


def test_what_one_surely_had_is_not_lost_where_another_may_have_had_less():
    both = at_once([seconds([5, 7], exact=[True, True]), seconds([1, 2], exact=[True, False])])
    assert both.exact.all()
    assert both.read_iops.tolist() == [6, 7]
    assert both.write_throughput_mib_s.tolist() == [12 / 10, 7 / 5]


def test_the_busiest_seconds_of_none_are_not_known():
    assert at_once([]) is None
