"""The record of a profile: four digits a rate, null where nothing was observed, and the same when read back."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain.demand.demand_profile import profile_of
from plimsoll.domain.units import HOUR_S
from plimsoll.reports.answers import profile_record
from plimsoll.reports.record import DemandProfileRecord
from tests.builders import a_demand, a_volume

RATES = st.one_of(st.just(0.0), st.floats(1e-6, 1e7))


def recorded(rates, observed=None) -> DemandProfileRecord:
    """The record of a demand with these IOPS, one an hour."""
    count = len(rates)
    demand = a_demand(
        iops=rates,
        buckets=count,
        resolution_s=HOUR_S,
        observed=np.ones(count, dtype=np.bool_) if observed is None else np.asarray(observed),
    )
    nowhere = np.zeros(count, dtype=np.bool_)
    return profile_record(a_volume(id="vol-1"), profile_of(demand, throttled=nowhere, host_bound=nowhere))


def by_hour(record: DemandProfileRecord, told: list[float | None]) -> list[float | None]:
    return [rate for rate, length_s in zip(told, record.length_s, strict=True) for _ in range(length_s // HOUR_S)]


@given(st.lists(RATES, min_size=1, max_size=48))
def test_a_rate_keeps_four_digits_and_prints_no_more(rates):
    record = recorded(rates)

    for rate, kept in zip(rates, by_hour(record, record.peak_iops), strict=True):
        assert kept == pytest.approx(rate, rel=5.1e-4)
        assert kept == float(f"{kept:.4g}")


@given(st.lists(st.tuples(RATES, st.booleans()), min_size=1, max_size=48))
def test_null_is_where_nothing_was_observed_and_nowhere_else(hours):
    record = recorded([rate for rate, _ in hours], [seen for _, seen in hours])

    assert [rate is not None for rate in by_hour(record, record.iops)] == [seen for _, seen in hours]
    assert DemandProfileRecord.model_validate_json(record.model_dump_json()) == record
    assert not any(isinstance(rate, float) and math.isnan(rate) for rate in record.peak_throughput_mib_s)


def test_a_line_names_the_volume_and_its_spans():
    line = json.loads(recorded([12345.678, 0.0]).model_dump_json())

    assert line["volume_id"] == "vol-1"
    assert line["length_s"] == [3600, 3600]
    assert line["iops"] == [12350.0, 0.0]
