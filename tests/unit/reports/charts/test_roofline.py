"""Roofs are those of the domain's ceilings, and their labels can be read."""

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.ceiling import Ceiling
from plimsoll.reports.charts.roofline import PLANE_PX, ceiling_roofs, labels
from tests.unit.reports.charts.profiles import a_ceiling, limits

LOW_KIB, HIGH_KIB = 2.0, 1024.0


def at(roof: list[dict], size_kib: float) -> float:
    """What a line between corners shows at a size, both axes logarithmic."""
    for left, right in pairwise(roof):
        if left["io_size_kib"] <= size_kib <= right["io_size_kib"]:
            share = math.log(size_kib / left["io_size_kib"]) / math.log(right["io_size_kib"] / left["io_size_kib"])
            return left["iops"] * (right["iops"] / left["iops"]) ** share
    raise AssertionError(size_kib)


@given(limits(), st.floats(LOW_KIB, HIGH_KIB))
def test_a_drawn_roof_is_the_ceiling_at_every_size(found, size_kib):
    rows = [row for row in ceiling_roofs("now", "now", found, LOW_KIB, HIGH_KIB) if not row["lasting"]]
    ceiling = Ceiling(
        iops=math.inf if found.iops is None else found.iops,
        throughput_mib_s=math.inf if found.throughput_mib_s is None else found.throughput_mib_s,
        io_kib=found.io_kib,
    )
    if not rows:
        assert math.isinf(ceiling.iops_at(size_kib))
        return
    assert math.isclose(at(rows, size_kib), ceiling.iops_at(size_kib), rel_tol=1e-9)


@given(limits())
def test_what_is_carried_for_ever_is_drawn_only_where_it_is_lower(found):
    lasting = [row for row in ceiling_roofs("now", "now", found, LOW_KIB, HIGH_KIB) if row["lasting"]]
    same = (found.sustained_iops, found.sustained_throughput_mib_s) == (found.iops, found.throughput_mib_s)
    assert not (same and lasting)


def test_a_limit_that_is_never_reached_makes_no_second_roof():
    io2 = a_ceiling(12_000, 4000, sustained_throughput_mib_s=3000, io_kib=256)
    assert {row["lasting"] for row in ceiling_roofs("now", "now", io2, LOW_KIB, HIGH_KIB)} == {False}


def test_writes_with_a_limit_of_their_own_have_a_roof_of_their_own():
    rows = ceiling_roofs("hosts", "host", a_ceiling(60_000, 1200, write_iops=15_000.0), LOW_KIB, HIGH_KIB)
    assert {row["label"]: row["lasting"] for row in rows} == {
        "host: 60,000 IOPS, 1,200 MiB/s": False,
        "host, writes alone: 15,000 IOPS, 1,200 MiB/s": True,
    }
    alone = [row for row in rows if row["lasting"]]
    assert at(alone, 4.0) == 15_000


def test_what_limits_nothing_has_no_roof():
    assert ceiling_roofs("hosts", "host", a_ceiling(None, None), LOW_KIB, HIGH_KIB) == []


@given(st.lists(limits(), min_size=1, max_size=4), st.booleans())
def test_no_two_labels_overlap_and_the_outermost_stays_at_its_roof(found, below):
    roofs = [
        row
        for place, one in enumerate(found)
        for row in ceiling_roofs(f"k{place}", f"k{place}", one, LOW_KIB, HIGH_KIB)
    ]
    placed = labels(roofs, [], below=below)
    assert {row["label"] for row in placed} == {row["label"] for row in roofs}
    if not roofs:
        return
    levels = sorted(row["iops"] for row in roofs)
    decades_a_px = math.log10(levels[-1] / levels[0]) / PLANE_PX
    heights = sorted(math.log10(row["iops"]) for row in placed)
    assert all(upper - lower >= 16.9 * decades_a_px for lower, upper in pairwise(heights))
    firsts = [row["iops"] for row in roofs if row["io_size_kib"] == LOW_KIB]
    assert placed[0]["iops"] == (max(firsts) if below else min(firsts))
