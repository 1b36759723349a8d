import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model import units
from plimsoll.model.units import mb_s_from_mib_s, mib_s_from_mb_s

THROUGHPUTS = st.floats(0, 1e6)


@given(THROUGHPUTS)
def test_a_throughput_survives_the_way_to_the_other_unit_and_back(throughput):
    assert mb_s_from_mib_s(mib_s_from_mb_s(throughput)) == pytest.approx(throughput)
    assert mib_s_from_mb_s(mb_s_from_mib_s(throughput)) == pytest.approx(throughput)


@given(st.floats(1e-3, 1e6))
def test_the_same_throughput_is_fewer_mib_than_mb(throughput_mb_s):
    assert mib_s_from_mb_s(throughput_mb_s) < throughput_mb_s


def test_a_mib_is_a_binary_million_and_a_mb_a_decimal_one():
    assert mb_s_from_mib_s(1) == 1.048576
    assert mib_s_from_mb_s(593.75) == pytest.approx(566.2441, abs=1e-4)


def test_units_are_what_their_names_say():
    assert (units.KIB, units.MIB, units.MB) == (1024, 1024**2, 1000**2)
    assert units.KIB_PER_MIB == 1024
    assert (units.MINUTE_S, units.HOUR_S, units.DAY_S, units.MONTH_S) == (60, 3600, 24 * 3600, 730 * 3600)
