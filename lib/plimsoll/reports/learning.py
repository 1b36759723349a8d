"""Learning from a run's own records: the headroom that its volumes' past would have needed, and what is said of it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from plimsoll.domain.demand.need import Need
from plimsoll.domain.risk.lessons import Lessons
from plimsoll.domain.risk.past_peaks import PastPeaks
from plimsoll.domain.risk.table import LearnedTable
from plimsoll.reports.record import PastPeaksRecord, RecommendationRecord
from plimsoll.reports.wording import count_of


def peaks_record(peaks: PastPeaks) -> PastPeaksRecord:
    """The record of a volume's past peaks."""
    return PastPeaksRecord(
        days=peaks.days,
        iops=[None if one is None else [round(day.iops, 2) for day in one] for one in peaks.busiest],
        throughput_mib_s=[
            None if one is None else [round(day.throughput_mib_s, 3) for day in one] for one in peaks.busiest
        ],
        free_iops=peaks.free.iops,
        free_throughput_mib_s=peaks.free.throughput_mib_s,
        ceiling_iops=peaks.ceiling.iops,
        ceiling_throughput_mib_s=peaks.ceiling.throughput_mib_s,
    )


def peaks_in(record: RecommendationRecord) -> PastPeaks | None:
    """The past peaks in a volume's record; None where there are none."""
    found = None if record.memory is None else record.memory.peaks
    if found is None:
        return None
    pairs = zip(found.iops, found.throughput_mib_s, strict=True)
    return PastPeaks(
        days=found.days,
        busiest=tuple(
            None
            if iops is None or rates is None
            else tuple(Need(iops=one, throughput_mib_s=rate) for one, rate in zip(iops, rates, strict=True))
            for iops, rates in pairs
        ),
        free=Need(iops=found.free_iops, throughput_mib_s=found.free_throughput_mib_s),
        ceiling=Need(iops=found.ceiling_iops, throughput_mib_s=found.ceiling_throughput_mib_s),
    )


def lessons_of(records: Iterable[RecommendationRecord]) -> Lessons:
    """What the records of a run teach."""
    lessons = Lessons()
    for record in records:
        lessons.add(peaks_in(record))
    return lessons


def own_table(lessons: Lessons, now: datetime, risk_pct: float) -> LearnedTable | None:
    """The table of a run's own volumes; None where their history is too little to promise that risk."""
    table = lessons.table(now.date().isoformat())
    bands = () if table is None else table.bands
    return table if any(band.learned.factor(risk_pct) is not None for band in bands) else None


def told_of_learning(lessons: Lessons, table: LearnedTable | None) -> dict[str, Any]:
    """What run.json says of learning; nothing where no volume's past was read."""
    if not lessons.volumes:
        return {}
    bands = () if table is None else table.bands
    promised = [pct for band in bands for pct, factor in band.learned.factors.items() if factor is not None]
    told = {"volumes": lessons.volumes, "days": lessons.days, "least_promised_pct": min(promised, default=None)}
    return {"learning": told}


def learned_words(run: Mapping[str, Any]) -> str:
    """What the next run's promises rest on; empty where this one learned nothing and had nothing to learn from."""
    told = run.get("learning")
    if not told:
        return ""
    volumes = count_of(told["volumes"], "volume")
    if told["least_promised_pct"] is None:
        return f"The past of {volumes} is too little to learn headroom from: promises still rest on public fleets."
    return f"Headroom was learned from {volumes} of your own, and promises rest on it from the next run on."
