"""Pictures: charts as SVG, and those of the headlines.

A picture: what a chart says and the figures that it shows, apart from how it is drawn.

Headlines: what a picture of a volume says, true to what was read of its demand and to what its ceilings carry.

Peaks are the policy's, as everywhere: by its buckets and its quantile. Where the highest bucket was not read, the most
that it can have been is told: what was read of it is a mean, and no peak. Where a bucket above the quantile is drawn,
that one is told.
"""

import math
import textwrap
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

from plimsoll.model.ceiling import Resource
from plimsoll.model.envelope import Envelope
from plimsoll.model.kinds import CHANGES
from plimsoll.model.units import HOUR_S, KIB_PER_MIB, MINUTE_S
from plimsoll.reports.record import CeilingRecord, DemandProfileRecord, DemandRecord, RecommendationRecord, SpanRates
from plimsoll.reports.wording import spec_text

PictureKind = Literal["demand", "roofline", "comparison", "savings"]
Row = dict[str, Any]

CEILINGS: Final = {"now": "now", "offered": "offered", "hosts": "host"}
"""The ceilings of a record, each with its word in a picture."""

SPANS: Final = "spans"
"""Name of the dataset that is the demand over time; it is the same for each picture of a volume."""

AXIS_PX: Final = 56
"""What the labels of an upright axis take at most."""

_OF_THE_VOLUME: Final = {"account", "region", "volume_id", "start_s"}
_LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart's words about its subject.

    `title` is what to see, `subtitle` how to read it, `subject` whose picture it is, for where nothing else says so.
    `datasets` are the rows of each named dataset of the chart's spec but `spans`, which `span_rows` makes.
    """

    kind: PictureKind
    subject: str
    title: str
    subtitle: str
    datasets: Mapping[str, list[Row]]


def span_rows(profile: DemandProfileRecord | None) -> list[Row]:
    """The rows of `spans`: one a span, with the profile's names, and `start` and `end` in epoch milliseconds.

    Where nothing was observed rates are None: a gap in the line, never zero.
    """
    if profile is None:
        return []
    lists = {name: getattr(profile, name) for name in type(profile).model_fields if name not in _OF_THE_VOLUME}
    rows: list[Row] = []
    start_s = profile.start_s
    for place, length_s in enumerate(profile.length_s):
        row = {name: values[place] for name, values in lists.items()}
        rows.append({"start": start_s * 1000, "end": (start_s + length_s) * 1000, **row})
        start_s += length_s
    return rows


def picture_name(name: str) -> str:
    """A name that anybody may have given, cut to one line of a picture. What cannot be shown becomes a space."""
    shown = "".join(letter if letter.isprintable() else " " for letter in name)
    return textwrap.shorten(shown, _LONGEST_NAME, placeholder="…") if len(shown) > _LONGEST_NAME else shown


SideName = Literal["IOPS", "MiB/s"]

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
        """The limit that holds for every mix of reads and writes."""
        return self.most if self.writes is None else min(self.most, self.writes)


def limit_of(ceiling: CeilingRecord | None, side: SideName) -> Limit | None:
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


def split_levels(levels: Mapping[_Key, float], most: float) -> tuple[dict[_Key, float], dict[_Key, float]]:
    """The levels to draw beside a series whose highest value is `most`, and the others, which are only named."""
    near = {label: level for label, level in levels.items() if level <= 2 * most}
    return near, {label: level for label, level in levels.items() if label not in near}


def subject(record: RecommendationRecord) -> str:
    """Which volume, what it is, and what it should be."""
    name = f" ({picture_name(record.name)})" if record.name else ""
    target = f", to {spec_text(record.target)}" if record.target and record.action in CHANGES else ""
    return f"{record.volume_id}{name}: {spec_text(record.current)}{target}"


def demand_title(record: RecommendationRecord, profile: DemandProfileRecord) -> str:
    """The demand against the limits of the present volume, and the throttled time."""
    if all(rate is None for rate in profile.iops):
        return "Nothing was observed"
    demand, now = record.demand, record.ceilings.now if record.ceilings else None
    peaks = peaks_of(demand, profile)
    if not peaks.iops:
        return "No reads and no writes"
    waits = demand is not None and demand.throttled_minutes > 0
    sides = [
        _side(peaks.least_iops, peaks.iops, limit_of(now, "IOPS"), "IOPS", waits=waits),
        _side(peaks.least_throughput_mib_s, peaks.throughput_mib_s, limit_of(now, "MiB/s"), "MiB/s", waits=waits),
    ]
    return _with_waits(demand, f"peaks at {' and '.join(sides)}")


def roofline_title(record: RecommendationRecord, profile: DemandProfileRecord) -> str:
    """The share of the offered ceiling, or of the present one without an offer, that the peaks use."""
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
    against = _limit_words(peaks, ceiling)
    return _with_waits(record.demand, f"peaks at {share} the {which} ceiling{bound} ({against})")


def envelopes_title(best: Mapping[Resource, Mapping[str, float]]) -> str:
    """Which envelopes served the most, by the best that each did on each side; those within 5 % are named together."""
    figures_by_leaders: dict[str, list[str]] = {}
    for side in Resource:
        if len(served_by_name := best.get(side, {})) < 2:  # one alone is no comparison
            continue
        most = max(served_by_name.values())
        leaders = " and ".join(name for name, served in served_by_name.items() if served >= most * _ALIKE)
        figures_by_leaders.setdefault(leaders, []).append(f"{rate_text(most)} {side.unit}")
    sentences = [
        f"{leaders} served the most: {' and '.join(figures)}" for leaders, figures in figures_by_leaders.items()
    ]
    return "; ".join(sentences) or "Measurements at each I/O size"


def overlay_title(record: RecommendationRecord, profile: DemandProfileRecord, envelopes: Sequence[Envelope]) -> str:
    """The share of each envelope's roof that the peaks use. Envelopes need a roof on both sides."""
    peaks = peaks_of(record.demand, profile)
    shares = []
    for envelope in envelopes:
        if envelope.iops and envelope.throughput_mib_s:
            used = max(peaks.iops / envelope.iops, peaks.throughput_mib_s / envelope.throughput_mib_s)
            shares.append(f"{_percent(used)} of {envelope.name}")
    if not shares or not peaks.iops:
        return demand_title(record, profile)
    return _with_waits(record.demand, f"peaks at {' and '.join(shares)} at most")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """The highest IOPS and MiB/s: seen, and at most asked for where not every bucket was read."""

    least_iops: float
    iops: float
    least_throughput_mib_s: float
    throughput_mib_s: float


def peaks_of(demand: DemandRecord | None, profile: DemandProfileRecord) -> Peaks:
    """The policy's peaks, or what is drawn above them."""
    iops, throughput_mib_s = highest_rate(profile.peak_iops), highest_rate(profile.peak_throughput_mib_s)

    def higher(policys: float, drawn: float) -> float:
        return drawn if drawn > policys * _ROUNDED else policys

    return Peaks(
        least_iops=higher(demand.least_peak_iops if demand else 0.0, iops),
        iops=higher(demand.peak_iops if demand else 0.0, iops),
        least_throughput_mib_s=higher(demand.least_peak_throughput_mib_s if demand else 0.0, throughput_mib_s),
        throughput_mib_s=higher(demand.peak_throughput_mib_s if demand else 0.0, throughput_mib_s),
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
    """The limit of writes alone, as words behind that of reads; empty if they have one limit."""
    return "" if limit.writes is None else f" ({rate_text(limit.writes)} of writes alone)"


def time_text(seconds: float) -> str:
    """A time in whole minutes, or in hours where these are many."""
    minutes = seconds / MINUTE_S
    if minutes >= _HOURS_FROM_MINUTES or (minutes > MINUTE_S and not seconds % HOUR_S):
        return f"{seconds / HOUR_S:,.0f} hours"
    if seconds == HOUR_S:
        return "1 hour"
    return f"{max(minutes, 1):,.0f} minute{'s' if minutes >= 1.5 else ''}"


def highest_rate(rates: SpanRates) -> float:
    """The highest rate that was observed; 0 where none was."""
    return max(filter(None, rates), default=0.0)


def _shares(iops: float, throughput_mib_s: float, ceiling: CeilingRecord) -> dict[tuple[SideName, str], float]:
    """The used share of each limit of a ceiling, by side and by the I/O size of the limit."""
    shares: dict[tuple[SideName, str], float] = {}
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


def _limit_words(peaks: Peaks, ceiling: CeilingRecord) -> str:
    shares = _shares(peaks.iops, peaks.throughput_mib_s, ceiling)
    side, size = max(shares, key=lambda limited: shares[limited])
    limit = limit_of(ceiling, side)
    if limit is None:
        return side
    lasting = f" while credits last, {rate_text(limit.lasting)} sustained" if limit.lasting is not None else ""
    alone = "" if limit.writes is None else f" of {'writes' if limit.writes < limit.most else 'reads'} alone"
    return f"{rate_text(limit.least)} {side}{size}{alone}{lasting}"


def _side(least: float, most: float, limit: Limit | None, side: SideName, *, waits: bool) -> str:
    """A peak on a side, and the limit that it came to: the sustained one where credits ran out, or may have."""
    peak = rate_text(most) if rate_text(least) == rate_text(most) else f"no more than {rate_text(most)}"
    if limit is None or not limit.most:
        return f"{peak} {side}"
    if limit.lasting is None or not (waits or most > limit.lasting):
        return f"{peak} of {rate_text(limit.most)} {side}{writes_text(limit)}"
    credits_ = f"({rate_text(limit.most)} while credits last)"
    return f"{peak} of {rate_text(limit.lasting)} {side} sustained {credits_}"


def _with_waits(demand: DemandRecord | None, text: str) -> str:
    """The text, with the time for which the volume or its host throttled the workload. It may want more."""
    if demand is not None and demand.throttled_minutes:
        return f"Throttled for {time_text(demand.throttled_minutes * MINUTE_S)}: {text}, and may want more"
    if demand is not None and demand.host_bound_minutes:
        return f"Held back by its host for {time_text(demand.host_bound_minutes * MINUTE_S)}: {text}, and may want more"
    return text[0].upper() + text[1:]


def _percent(share: float) -> str:
    """Rounded up, so that "at most" stays true."""
    return f"{max(1, math.ceil(share * 100 - 1e-9))} %"
