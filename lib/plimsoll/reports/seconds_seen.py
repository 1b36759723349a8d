"""What was seen of a volume by the second, in sentences."""

from collections.abc import Iterator, Mapping

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.seconds_seen import Exceeded, SecondsSeen
from plimsoll.domain.units import MIB

_US_PER_S = 1e6


def seen_title(seen: SecondsSeen) -> str:
    """When it was looked at, for how long, and who counted."""
    counted = "EBS's own counts" if seen.source == "nvme" else "the kernel's counts"
    return f"seen by the second: {seen.seconds:,} s from {seen.began:%Y-%m-%d %H:%M} UTC on, by {counted}"


def seen_lines(seen: SecondsSeen, ceilings: Mapping[str, Ceiling]) -> Iterator[str]:
    """A line for each thing that was seen; the seconds above what each of the named ceilings carries for ever."""
    peak, throughput = seen.iops.peak, seen.bytes_s.peak
    yield f"busiest second: {peak.rate:,.0f} IOPS at {peak.at:%Y-%m-%d %H:%M:%S} UTC"
    yield f"busiest second: {throughput.rate / MIB:,.1f} MiB/s at {throughput.at:%Y-%m-%d %H:%M:%S} UTC"
    usual, usual_b = seen.iops.quantile(0.99), seen.bytes_s.quantile(0.99)
    yield f"99 of 100 seconds: at most {usual:,.0f} IOPS and {usual_b / MIB:,.1f} MiB/s"
    yield f"queue: {seen.mean_queue:,.1f} operations on average, {seen.most_queue:,} at most"
    yield from _exceeded("the volume's", seen.exceeded_volume)
    yield from _exceeded("the host's", seen.exceeded_host)
    yield from _latency(seen)
    for name, ceiling in ceilings.items():
        yield from _above(name, seen.seconds_above(ceiling))
    yield from seen.lacks


def _exceeded(whose: str, exceeded: Mapping[Resource, Exceeded] | None) -> Iterator[str]:
    if exceeded is None:
        return
    told = [
        f"{side.unit} for {one.us / _US_PER_S:,.2f} s, in {one.seconds:,} of the seconds"
        for side, one in exceeded.items()
        if one.us
    ]
    yield f"asked for more than {whose} {'; '.join(told)}" if told else f"never asked for more than {whose} limits"


def _latency(seen: SecondsSeen) -> Iterator[str]:
    for word, p99_us in (("reads", seen.p99_read_us), ("writes", seen.p99_write_us)):
        if p99_us is not None:
            yield f"99 % of the {word} were answered within {p99_us:,} us"
    if seen.mean_latency_us is not None:
        yield f"an operation took {seen.mean_latency_us:,.0f} us on average"


def _above(name: str, above: Mapping[Resource, tuple[int, int]]) -> Iterator[str]:
    for side, (least, most) in above.items():
        if most:
            count = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            yield f"above the {side.unit} that {name} carries for ever: in {count} of the seconds"
    if not any(most for _, most in above.values()):
        yield f"never above what {name} carries for ever"
