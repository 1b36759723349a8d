"""The picture of demand over time: IOPS above MiB/s, with the ceilings across, and where they were reached."""

import math
from datetime import datetime
from typing import Final

from plimsoll.model.units import HOUR_S, MINUTE_S
from plimsoll.reports.charts.pictures import (
    CEILINGS,
    Picture,
    Row,
    SideName,
    demand_title,
    highest_rate,
    limit_of,
    rate_text,
    split_levels,
    subject,
    time_text,
    writes_text,
)
from plimsoll.reports.record import CeilingsRecord, DemandProfileRecord, EpochRecord, RecommendationRecord
from plimsoll.reports.wording import epoch_text

LEVELS: Final = "levels"
EPOCHS: Final = "epochs"
"""What the volume was when; told under the demand."""

FORMER: Final = "former"
"""The ceilings of the epochs before the present one."""

SIDE_FIELDS: Final[dict[SideName, tuple[str, str, str]]] = {
    "IOPS": ("iops", "read_iops", "peak_iops"),
    "MiB/s": ("throughput_mib_s", "read_throughput_mib_s", "peak_throughput_mib_s"),
}
_CLOSE: Final = 2
"""So many times as high at most is near enough that two labels of one kind need both sides of their lines."""

_Level = tuple[str, bool]
"""Whose ceiling, and whether it is what is sustained where credits carry more for a while."""


def demand_picture(record: RecommendationRecord, profile: DemandProfileRecord) -> Picture:
    """The picture of a volume's demand over time; ceilings far above the demand are told instead of drawn."""
    levels: list[Row] = []
    above: list[str] = []
    former: list[Row] = []
    for side, (*_, peak) in SIDE_FIELDS.items():
        limits = _limits(record.ceilings, side) if record.ceilings else {}
        drawn, hidden = split_levels(limits, highest_rate(getattr(profile, peak)))
        words = {key: _label(key, level, side, record.ceilings) for key, level in limits.items()}
        levels += [
            {
                "side": side,
                "kind": kind,
                "label": words[kind, lasting],
                "level": level,
                "lasting": lasting,
                "below": lasting and drawn.get((kind, False), math.inf) <= _CLOSE * level,
            }
            for (kind, lasting), level in drawn.items()
        ]
        above += [words[key] for key in hidden]
        former += _former(record, side, highest_rate(getattr(profile, peak)))
    then = "Shorter lines: its limits before it was changed." if former else ""
    lines = [_reading_words(record, profile), then, f"Above the picture: {', '.join(above)}." if above else ""]
    return Picture(
        kind="demand",
        subject=subject(record),
        title=demand_title(record, profile),
        subtitle="\n".join(filter(None, lines)),
        datasets={LEVELS: levels, FORMER: former, EPOCHS: _epochs(record)},
    )


def _former(record: RecommendationRecord, side: SideName, peak: float) -> list[Row]:
    """The ceilings of a side before the present epoch, where they are known and not far above the demand."""
    known = {place: _ceiling_in(epoch, side) for place, epoch in enumerate(record.epochs[:-1])}
    drawn, _ = split_levels({place: level for place, level in known.items() if level is not None}, peak)
    return [{"side": side, "level": level, **_bounds(record.epochs[place])} for place, level in drawn.items()]


def _epochs(record: RecommendationRecord) -> list[Row]:
    """A row an epoch, with its configuration. Rows are shaded in turn."""
    return [
        {
            "label": epoch_text(epoch),
            "even": place % 2 == 0,
            "throttled_minutes": epoch.throttled_minutes,
            **_bounds(epoch),
        }
        for place, epoch in enumerate(record.epochs)
    ]


def _bounds(epoch: EpochRecord) -> dict[str, int]:
    """An epoch's bounds in epoch milliseconds."""
    start, end = (int(datetime.fromisoformat(time).timestamp() * 1000) for time in (epoch.start, epoch.end))
    return {"start": start, "end": end}


def _ceiling_in(epoch: EpochRecord, side: SideName) -> float | None:
    """The limit of a side in an epoch; None if it is not known."""
    return epoch.ceiling_iops if side == "IOPS" else epoch.ceiling_throughput_mib_s


def _reading_words(record: RecommendationRecord, profile: DemandProfileRecord) -> str:
    finest_s = min(profile.shortest_s)
    bucket = {MINUTE_S: "minute", HOUR_S: "hour"}.get(finest_s) or time_text(finest_s)
    coarse = any(shortest_s > finest_s for shortest_s in profile.shortest_s)
    sentences = [f"Shaded: average over {_lengths(profile)}. Line: highest {bucket} read."]
    if coarse:
        sentences.append("Wide steps were read coarsely because finer data could not change the result.")
    if record.demand is not None and record.demand.gap_hours >= 1:
        sentences.append(f"{record.demand.gap_hours:,.0f} h without data are shaded.")
    return " ".join(sentences)


def _lengths(profile: DemandProfileRecord) -> str:
    shortest_s, longest_s = min(profile.length_s), max(profile.length_s)
    longest = time_text(longest_s)
    if shortest_s == longest_s:
        return longest
    in_hours = not shortest_s % HOUR_S and longest.endswith("hours")
    return f"{shortest_s // HOUR_S if in_hours else time_text(shortest_s)} to {longest}"


def _limits(ceilings: CeilingsRecord, side: SideName) -> dict[_Level, float]:
    """The ceilings of a side; of the host's those that are no higher than the highest of the others, or whose limit of
    writes alone is not."""
    limits: dict[_Level, float] = {}
    for kind in CEILINGS:
        if limit := limit_of(getattr(ceilings, kind), side):
            bound = max(limits.values(), default=math.inf) if kind == "hosts" else math.inf
            levels = {(kind, False): limit.most, (kind, True): limit.lasting}
            apart = limit.least <= bound < limit.most
            limits |= {key: level for key, level in levels.items() if level is not None and (level <= bound or apart)}
    return limits


def _label(key: _Level, level: float, side: SideName, ceilings: CeilingsRecord | None) -> str:
    kind, lasting = key
    limit = limit_of(getattr(ceilings, kind, None), side)
    writes = writes_text(limit) if limit and not lasting else ""
    return f"{CEILINGS[kind]}{' sustained' if lasting else ''} {rate_text(level)} {side}{writes}"
