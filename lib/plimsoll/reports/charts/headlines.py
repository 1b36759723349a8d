"""Headlines: what a picture of a volume says, true to what was read of its demand and to what its ceilings carry.

Peaks are the policy's, as everywhere: by its buckets and its quantile. Where the highest bucket was not read, the most
that it can have been is told: what was read of it is a mean, and no peak. Where a bucket above the quantile is drawn,
that one is told.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.evidence.envelope import Envelope
from plimsoll.domain.kinds import CHANGES
from plimsoll.domain.units import HOUR_S, KIB_PER_MIB, MINUTE_S
from plimsoll.reports.charts.picture import plain
from plimsoll.reports.record import CeilingRecord, DemandProfileRecord, DemandRecord, Rates, RecommendationRecord
from plimsoll.reports.wording import spec_text

Side = Literal["IOPS", "MiB/s"]

_Key = TypeVar("_Key", bound=Hashable)

_FINE_BELOW: Final = 100
_HOURS_FROM_MINUTES: Final = 600
_ALIKE: Final = 0.95
_ROUNDED: Final = 1.001
"""Profiles have four digits: so far they may be above what they are rounded from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One side of a ceiling: the most that it carries, and what it sustains.

    It sustains less where credits carry more for a while (None: it sustains the most). Where writes have a limit of
    their own, `most` is that of reads, and `writes` is what is carried where nothing is read.
    """

    most: float
    lasting: float | None
    writes: float | None = None

    @property
    def least(self) -> float:
        """What is carried whatever the mix of reads and writes."""
        return self.most if self.writes is None else min(self.most, self.writes)


def limit_of(ceiling: CeilingRecord | None, side: Side) -> Limit | None:
    """A ceiling's limit on a side; None where there is none.

    From some size on an operation counts as several. That bounds MiB/s with credits and without, so it is no lasting
    limit of its own.
    """
    if ceiling is None:
        return None
    if side == "IOPS":
        most, lasting, reached = ceiling.iops, ceiling.sustained_iops, ceiling.iops
        writes = ceiling.write_iops
    else:
        writes = ceiling.write_throughput_mib_s
        most, lasting, reached = ceiling.throughput_mib_s, ceiling.sustained_throughput_mib_s, ceiling.throughput_mib_s
        if most is not None and ceiling.iops is not None and ceiling.io_kib:
            reached = min(most, ceiling.iops * ceiling.io_kib / KIB_PER_MIB)
    if most is None or reached is None:
        return None
    return Limit(most=most, lasting=lasting if lasting is not None and lasting < reached else None, writes=writes)


def in_sight(levels: Mapping[_Key, float], highest: float) -> tuple[dict[_Key, float], dict[_Key, float]]:
    """The levels to draw beside a series that is `highest` at most, and those so far above that they are only named."""
    near = {label: level for label, level in levels.items() if level <= 2 * highest}
    return near, {label: level for label, level in levels.items() if label not in near}


def subject(record: RecommendationRecord) -> str:
    """Which volume, what it is, and what it should be."""
    name = f" ({plain(record.name)})" if record.name else ""
    target = f", to {spec_text(record.target)}" if record.target and record.action in CHANGES else ""
    return f"{record.volume_id}{name}: {spec_text(record.current)}{target}"


def demand_title(record: RecommendationRecord, profile: DemandProfileRecord) -> str:
    """How near the demand came to what the present volume can carry, and for how long it was throttled."""
    if all(rate is None for rate in profile.iops):
        return "Nothing was observed"
    found, now = record.demand, record.ceilings.now if record.ceilings else None
    peaks = peaks_of(found, profile)
    if not peaks.iops:
        return "No reads and no writes"
    waits = found is not None and found.throttled_minutes > 0
    told = [
        _side(peaks.least_iops, peaks.iops, limit_of(now, "IOPS"), "IOPS", waits=waits),
        _side(peaks.least_throughput_mib_s, peaks.throughput_mib_s, limit_of(now, "MiB/s"), "MiB/s", waits=waits),
    ]
    return _with_waits(found, f"peaks at {' and '.join(told)}")


def roofline_title(record: RecommendationRecord, profile: DemandProfileRecord) -> str:
    """How much of the offered ceiling, or of the present one where nothing is offered, the peaks use."""
    peaks = peaks_of(record.demand, profile)
    if record.ceilings is None or not peaks.iops:
        return demand_title(record, profile)
    offered = record.ceilings.offered
    which, ceiling = ("present", record.ceilings.now) if offered is None else ("offered", offered)
    used = used_share(peaks.iops, peaks.throughput_mib_s, ceiling)
    if used is None:
        return demand_title(record, profile)
    seen = used_share(peaks.least_iops, peaks.least_throughput_mib_s, ceiling)
    writes_apart = ceiling.write_iops is not None or ceiling.write_throughput_mib_s is not None
    bound = " at most" if seen != used or writes_apart else ""
    share = f"{used:.2f} times" if used > 1 else f"{_percent(used)} of"
    against = _against(peaks, ceiling)
    return _with_waits(record.demand, f"peaks at {share} the {which} ceiling{bound} ({against})")


def envelopes_title(best: Mapping[Resource, Mapping[str, float]]) -> str:
    """Which envelopes served the most, by the best that each did on each side; those within 5 % are named together."""
    told: dict[str, list[str]] = {}
    for side in Resource:
        if len(found := best.get(side, {})) < 2:  # one alone is no comparison
            continue
        most = max(found.values())
        leaders = " and ".join(name for name, served in found.items() if served >= most * _ALIKE)
        told.setdefault(leaders, []).append(f"{rate_text(most)} {side.unit}")
    sentences = [f"{leaders} served the most: {' and '.join(figures)}" for leaders, figures in told.items()]
    return "; ".join(sentences) or "What was measured at each I/O size"


def over_title(record: RecommendationRecord, profile: DemandProfileRecord, envelopes: Sequence[Envelope]) -> str:
    """How much of each envelope's roof the peaks use, of those whose roof is known on both sides."""
    peaks = peaks_of(record.demand, profile)
    told = []
    for one in envelopes:
        if one.iops and one.throughput_mib_s:
            used = max(peaks.iops / one.iops, peaks.throughput_mib_s / one.throughput_mib_s)
            told.append(f"{_percent(used)} of {one.name}")
    if not told or not peaks.iops:
        return demand_title(record, profile)
    return _with_waits(record.demand, f"peaks at {' and '.join(told)} at most")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """The highest IOPS and MiB/s that were seen, and that may have been asked for where not every bucket was read."""

    least_iops: float
    iops: float
    least_throughput_mib_s: float
    throughput_mib_s: float


def peaks_of(found: DemandRecord | None, profile: DemandProfileRecord) -> Peaks:
    """The policy's peaks, or what is drawn above them."""
    iops, throughput_mib_s = highest(profile.peak_iops), highest(profile.peak_throughput_mib_s)

    def higher(policys: float, drawn: float) -> float:
        return drawn if drawn > policys * _ROUNDED else policys

    return Peaks(
        least_iops=higher(found.least_peak_iops if found else 0.0, iops),
        iops=higher(found.peak_iops if found else 0.0, iops),
        least_throughput_mib_s=higher(found.least_peak_throughput_mib_s if found else 0.0, throughput_mib_s),
        throughput_mib_s=higher(found.peak_throughput_mib_s if found else 0.0, throughput_mib_s),
    )


def used_share(iops: float, throughput_mib_s: float, ceiling: CeilingRecord) -> float | None:
    """The most of a ceiling that no bucket below these peaks can use more of; None where it limits nothing.

    Operations of more than `io_kib` count as several, so that a ceiling on IOPS is one on MiB/s as well. Where reads
    and writes have limits of their own, the lower one is meant.
    """
    return max(_shares(iops, throughput_mib_s, ceiling).values(), default=None)


def rate_text(rate: float) -> str:
    """A rate with its thousands set apart, and three digits where it is small."""
    return f"{rate:,.0f}" if rate >= _FINE_BELOW else f"{rate:.3g}"


def writes_text(limit: Limit) -> str:
    """What is carried of writes alone, behind what is of reads; nothing where they have one limit."""
    return "" if limit.writes is None else f" ({rate_text(limit.writes)} of writes alone)"


def time_text(seconds: float) -> str:
    """A time in whole minutes, or in hours where these are many."""
    minutes = seconds / MINUTE_S
    if minutes >= _HOURS_FROM_MINUTES or (minutes > MINUTE_S and not seconds % HOUR_S):
        return f"{seconds / HOUR_S:,.0f} hours"
    if seconds == HOUR_S:
        return "1 hour"
    return f"{max(minutes, 1):,.0f} minute{'s' if minutes >= 1.5 else ''}"


def highest(rates: Rates) -> float:
    """The highest rate that was observed; 0 where none was."""
    return max(filter(None, rates), default=0.0)


def _shares(iops: float, throughput_mib_s: float, ceiling: CeilingRecord) -> dict[tuple[Side, str], float]:
    """How much of each limit of a ceiling is used, by its side and by the size of I/O that it is of."""
    shares: dict[tuple[Side, str], float] = {}
    operations, moved = limit_of(ceiling, "IOPS"), limit_of(ceiling, "MiB/s")
    if operations is not None and operations.least:
        shares["IOPS", ""] = iops / operations.least
        if ceiling.io_kib:
            shares["IOPS", f" of {ceiling.io_kib:g} KiB"] = (
                throughput_mib_s * KIB_PER_MIB / ceiling.io_kib / operations.least
            )
    if moved is not None and moved.least:
        shares["MiB/s", ""] = throughput_mib_s / moved.least
    return shares


def _against(peaks: Peaks, ceiling: CeilingRecord) -> str:
    shares = _shares(peaks.iops, peaks.throughput_mib_s, ceiling)
    side, size = max(shares, key=lambda one: shares[one])
    limit = limit_of(ceiling, side)
    if limit is None:
        return side
    lasting = f" while credits last, {rate_text(limit.lasting)} sustained" if limit.lasting is not None else ""
    alone = "" if limit.writes is None else f" of {'writes' if limit.writes < limit.most else 'reads'} alone"
    return f"{rate_text(limit.least)} {side}{size}{alone}{lasting}"


def _side(least: float, most: float, limit: Limit | None, side: Side, *, waits: bool) -> str:
    """A peak on a side, and the limit that it came to: the sustained one where credits ran out, or may have."""
    peak = rate_text(most) if rate_text(least) == rate_text(most) else f"no more than {rate_text(most)}"
    if limit is None or not limit.most:
        return f"{peak} {side}"
    if limit.lasting is None or not (waits or most > limit.lasting):
        return f"{peak} of {rate_text(limit.most)} {side}{writes_text(limit)}"
    credits_ = f"({rate_text(limit.most)} while credits last)"
    return f"{peak} of {rate_text(limit.lasting)} {side} sustained {credits_}"


def _with_waits(found: DemandRecord | None, told: str) -> str:
    """With for how long the volume or its host held the workload back, which may then want more than was seen."""
    if found is not None and found.throttled_minutes:
        return f"Throttled for {time_text(found.throttled_minutes * MINUTE_S)}: {told}, and may want more"
    if found is not None and found.host_bound_minutes:
        return f"Held back by its host for {time_text(found.host_bound_minutes * MINUTE_S)}: {told}, and may want more"
    return told[0].upper() + told[1:]


def _percent(share: float) -> str:
    """Rounded up, so that "at most" stays true."""
    return f"{max(1, math.ceil(share * 100 - 1e-9))} %"
