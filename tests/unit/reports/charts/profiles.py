"""Records of volumes and of their demand over time, as pictures are drawn of."""

from pathlib import Path

from hypothesis import strategies as st

from plimsoll.reports.record import (
    CeilingRecord,
    CeilingsRecord,
    DemandProfileRecord,
    DemandRecord,
    RecommendationRecord,
)
from tests.unit.reports.recommendations import a_profile, a_record

DEMO = Path(__file__).parents[4] / "docs" / "charts" / "demo"
"""Two volumes of the demo: one throttled, one with bursts of many I/O sizes."""


def a_ceiling(iops: float | None = 3000, throughput_mib_s: float | None = 125, **fields: float | None) -> CeilingRecord:
    told = {"sustained_iops": iops, "sustained_throughput_mib_s": throughput_mib_s, "io_kib": None, **fields}
    return CeilingRecord(iops=iops, throughput_mib_s=throughput_mib_s, **told)


def ceilings(
    now: CeilingRecord | None = None, offered: CeilingRecord | None = None, hosts: CeilingRecord | None = None
) -> CeilingsRecord:
    return CeilingsRecord(now=now or a_ceiling(), offered=offered, hosts=hosts or a_ceiling(None, None))


def a_volume(profile: DemandProfileRecord, **fields: object) -> RecommendationRecord:
    """A record whose demand is that of a profile, every minute of it read."""
    demand = demand_of(profile)
    return a_record(**{"demand": demand, "ceilings": ceilings(), **fields})


def demand_of(profile: DemandProfileRecord, **fields: float) -> DemandRecord:
    iops = max((rate for rate in profile.peak_iops if rate is not None), default=0.0)
    moved = max((rate for rate in profile.peak_throughput_mib_s if rate is not None), default=0.0)
    found = a_record().demand
    assert found is not None
    told = {
        "peak_iops": iops,
        "least_peak_iops": iops,
        "peak_throughput_mib_s": moved,
        "least_peak_throughput_mib_s": moved,
        "throttled_minutes": sum(profile.throttled_minutes),
        "host_bound_minutes": sum(profile.host_bound_minutes),
        "gap_hours": float(sum(rate is None for rate in profile.iops)),
    }
    return found.model_copy(update={**told, **fields})


RATES = st.one_of(st.none(), st.just(0.0), st.floats(0.001, 100_000))
LIMITS = st.one_of(st.none(), st.floats(1, 100_000))


@st.composite
def profiles(draw):
    """Demands of up to a dozen spans, with gaps, idle spans, any I/O size, and minutes at ceilings."""
    iops = draw(st.lists(RATES, min_size=1, max_size=12))
    sizes_kib = draw(st.lists(st.floats(0.5, 16_384), min_size=len(iops), max_size=len(iops)))
    moved = [None if rate is None else rate * size / 1024 for rate, size in zip(iops, sizes_kib, strict=True)]
    minutes = st.lists(st.sampled_from([0.0, 1.5, 60.0]), max_size=len(iops))
    return a_profile(iops, moved=moved, throttled=draw(minutes), host_bound=draw(minutes))


@st.composite
def limits(draw):
    """Ceilings of any height, known or not, with what is carried for ever at most as high."""
    iops, moved = draw(LIMITS), draw(LIMITS)
    share = draw(st.sampled_from([0.05, 0.5, 1.0]))
    return a_ceiling(
        iops,
        moved,
        sustained_iops=None if iops is None else iops * share,
        sustained_throughput_mib_s=None if moved is None else moved * share,
        io_kib=draw(st.sampled_from([None, 16, 256, 1024])),
    )
