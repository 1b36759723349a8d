"""What a probe saw, as people read it: with EBS's own statistics, and without."""

from datetime import UTC, datetime

import pytest

from plimsoll.demand.seconds import Exceeded, LatencyBin, Peak, RateHistogram, SecondsSeen, Source
from plimsoll.model.ceiling import Resource
from plimsoll.model.units import MIB
from plimsoll.reports.answers import seen_record
from plimsoll.reports.record import CeilingRecord
from plimsoll.reports.seconds_seen import seen_lines, seen_title
from tests.golden import assert_golden

AT = datetime(2026, 11, 20, 9, 31, 7, tzinfo=UTC)
NEVER = Exceeded(us=0, seconds=0)


def rates(peak, *seconds_of):
    """Rates of an hour: idle but for (bin, seconds)."""
    busy = dict(seconds_of)
    return RateHistogram(peak=Peak(rate=peak, at=AT), ratio=1.1, bins={-1: 3600 - sum(busy.values()), **busy})


def bins(*counts):
    bounds = (0, 512, 1024, 4096, 65_536)
    return tuple(
        LatencyBin(lower_us=lower, upper_us=upper, count=count)
        for lower, upper, count in zip(bounds, bounds[1:], counts, strict=False)
    )


def seen(**changes):
    told = {
        "volume_id": "vol-0123456789abcdef0",
        "began": datetime(2026, 11, 20, 9, 0, tzinfo=UTC),
        "source": Source.NVME,
        "seconds": 3600,
        "missed_s": 0,
        "restarts": 0,
        "iops": rates(3000.0, (60, 1200), (83, 14)),
        "bytes_s": rates(46.9 * MIB, (162, 1200), (185, 14)),
        "most_queue": 118,
        "mean_queue": 0.31,
        "mean_latency_us": 834.0,
        "exceeded_volume": {
            Resource.IOPS: Exceeded(us=9_240_000, seconds=14),
            Resource.THROUGHPUT: NEVER,
        },
        "exceeded_host": dict.fromkeys(Resource, NEVER),
        "reads": bins(300_000, 60_000, 2_000, 900),
        "writes": bins(10, 90_000, 2_000, 100),
    }
    return SecondsSeen(**{**told, **changes})


def carries(iops, throughput_mib_s):
    return CeilingRecord(
        iops=iops,
        throughput_mib_s=throughput_mib_s,
        sustained_iops=iops,
        sustained_throughput_mib_s=throughput_mib_s,
        io_kib=None,
    )


BY_THE_KERNEL = {
    "source": Source.DISKSTATS,
    "exceeded_volume": None,
    "exceeded_host": None,
    "reads": None,
    "writes": None,
    "missed_s": 3,
    "restarts": 1,
}


@pytest.mark.parametrize(
    ("name", "changes"), [("probe-with-nvme-statistics", {}), ("probe-by-the-kernel", BY_THE_KERNEL)]
)
def test_what_was_seen_reads_so(name, changes):
    one = seen(**changes)
    ceilings = {"now": carries(3000, 125), "offered": carries(2000, None)}
    assert_golden(name, "\n".join([seen_title(one), *(f"  {line}" for line in seen_lines(one, ceilings))]))


def test_an_idle_volume_has_no_busiest_second():
    (line,) = seen_lines(seen(iops=rates(0.0), bytes_s=rates(0.0)), {"now": carries(3000, 125)})
    assert line.startswith("no operation in any second")


def test_what_is_not_known_to_be_limited_is_never_exceeded():
    assert list(seen_lines(seen(), {"now": carries(None, None)}))[-1] == "never more than the volume sustains"


def test_a_record_has_the_figures_of_the_lines():
    found = seen_record(seen(), None)
    assert (found.peak_iops, found.peak_throughput_mib_s, found.most_queue) == (3_000, 46.9, 118)
    assert (found.exceeded_volume_iops_s, found.exceeded_volume_throughput_s) == (9.24, 0)
    assert (found.p99_read_latency_us, found.p99_write_latency_us) == (1_024, 4_096)
    assert found.lines == list(seen_lines(seen(), {}))


def test_what_the_kernel_does_not_count_is_null_and_never_zero():
    found = seen_record(seen(**BY_THE_KERNEL), None)
    assert (found.exceeded_volume_iops_s, found.exceeded_host_throughput_s, found.p99_read_latency_us) == (None,) * 3
    assert found.peak_iops == 3_000
