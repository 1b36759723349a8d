"""Sentences on a volume's seconds."""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from plimsoll.demand.seconds import Exceeded, SecondsSeen, Source
from plimsoll.model.ceiling import Resource
from plimsoll.model.units import MIB, US_PER_S
from plimsoll.reports.record import CeilingRecord
from plimsoll.reports.wording import count_of

_SUSTAINS: Final = {"now": "the volume sustains", "offered": "the offer would sustain"}
"""By the names of ceilings that reports show."""
_COUNTED_BY: Final = {Source.NVME: "EBS's own counts", Source.DISKSTATS: "the kernel's counts"}


def seen_title(seen: SecondsSeen) -> str:
    """When it was probed, for how long, and who counted."""
    counted = _COUNTED_BY[seen.source]
    return f"seen by the second: {seen.seconds:,} s from {seen.began:%Y-%m-%d %H:%M} UTC, {counted}"


def seen_lines(seen: SecondsSeen, ceilings: Mapping[str, CeilingRecord]) -> Iterator[str]:
    """A line for each thing that was seen, and the seconds above what each ceiling sustains, "now" and "offered"."""
    if seen.iops.peak.rate == 0:
        yield "no operation in any second: probe again while the workload is busy"
        yield from seen.lacks
        return
    peak, throughput = seen.iops.peak, seen.bytes_s.peak
    yield f"busiest second: {peak.rate:,.0f} IOPS at {peak.at:%Y-%m-%d %H:%M:%S} UTC"
    yield f"busiest second: {throughput.rate / MIB:,.1f} MiB/s at {throughput.at:%Y-%m-%d %H:%M:%S} UTC"
    usual, usual_bytes = seen.iops.quantile(0.99), seen.bytes_s.quantile(0.99)
    yield f"99 % of the seconds: at most {usual:,.0f} IOPS and {usual_bytes / MIB:,.1f} MiB/s"
    yield f"queue: {seen.mean_queue:,.1f} operations on average, {seen.most_queue:,} at most"
    yield from _exceeded_words("the volume's", seen.exceeded_volume)
    yield from _exceeded_words("the host's", seen.exceeded_host)
    yield from _latency(seen)
    for name, ceiling in ceilings.items():
        yield from _seconds_above(name, ceiling, seen)
    yield from seen.lacks


def _exceeded_words(whose: str, exceeded: Mapping[Resource, Exceeded] | None) -> Iterator[str]:
    if exceeded is None:
        return
    sides = [
        f"{side.unit} for {excess.us / US_PER_S:,.2f} s, within {count_of(excess.seconds, 'second')}"
        for side, excess in exceeded.items()
        if excess.us
    ]
    yield f"exceeded {whose} limit of {'; '.join(sides)}" if sides else f"never exceeded {whose} limits"


def _latency(seen: SecondsSeen) -> Iterator[str]:
    for word, p99_us in (("reads", seen.p99_read_us), ("writes", seen.p99_write_us)):
        if p99_us is not None:
            yield f"p99 latency of {word}: at most {p99_us:,} us"
    if seen.mean_latency_us is not None:
        yield f"mean latency: {seen.mean_latency_us:,.0f} us"


def _seconds_above(name: str, ceiling: CeilingRecord, seen: SecondsSeen) -> Iterator[str]:
    """The seconds above what a ceiling sustains; a side that is not known to be limited is never above."""
    limits = {Resource.IOPS: ceiling.sustained_iops, Resource.THROUGHPUT: ceiling.sustained_throughput_mib_s}
    known = {side: math.inf if limit is None else limit for side, limit in limits.items()}
    above = seen.seconds_above(iops=known[Resource.IOPS], throughput_mib_s=known[Resource.THROUGHPUT])
    for side, (least, most) in above.items():
        if most:
            count = count_of(most, "second") if least == most else f"{least:,} to {most:,} seconds"
            yield f"more than the {known[side]:,.0f} {side.unit} that {_SUSTAINS[name]}: in {count}"
    if not any(most for _, most in above.values()):
        yield f"never more than {_SUSTAINS[name]}"
