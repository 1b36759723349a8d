"""Headlines: what a picture of a volume says, true to what was read of its demand."""

import math

from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import CeilingRecord, DemandRecord, RecommendationRecord
from plimsoll.reports.terminal import spec_text

_FINE_BELOW = 100


def subject(record: RecommendationRecord) -> str:
    """Which volume, what it is, and what it should be."""
    name = f" ({record.name})" if record.name else ""
    target = f", to {spec_text(record.target)}" if record.target and record.action != "keep" else ""
    return f"{record.volume_id}{name}: {spec_text(record.current)}{target}"


def demand_title(record: RecommendationRecord, profile: DemandProfileRecord) -> str:
    """How near the demand came to what the present volume can carry."""
    found, now = record.demand, record.ceilings.now if record.ceilings else None
    if all(rate is None for rate in profile.iops):
        return "Nothing was observed"
    if found is None or found.peak_iops == 0:
        return "No reads and no writes" if found else f"Peaks at {rate_text(_highest(profile))} IOPS"
    peak = _peak_text(found, now)
    if found.throttled_minutes:
        return f"Throttled in {_minutes(found.throttled_minutes)}: {peak}, and may want more"
    if found.host_bound_minutes:
        return f"Held back by its host in {_minutes(found.host_bound_minutes)}: {peak}"
    used = None if now is None else used_share(found, now)
    return f"Peaks at {peak}" if used is None else f"Never asks for more than {_percent(used)} of what it can carry"


def roofline_title(record: RecommendationRecord, profile: DemandProfileRecord) -> str:
    """How much of the offered ceiling, or of the present one where nothing is offered, the demand uses."""
    found, ceilings = record.demand, record.ceilings
    if found is None or ceilings is None or found.peak_iops == 0:
        return demand_title(record, profile)
    which, ceiling = ("present", ceilings.now) if ceilings.offered is None else ("offered", ceilings.offered)
    used = used_share(found, ceiling)
    throttled = f"Throttled in {_minutes(found.throttled_minutes)}" if found.throttled_minutes else ""
    if used is None:
        return throttled or f"Nothing is known to limit the {which} volume"
    if used > 1:
        told = f"its busiest minute may ask for {used:.2f} times the {which} ceiling"
    else:
        told = f"no minute uses more than {_percent(used)} of the {which} ceiling"
    return f"{throttled}; {told}" if throttled else told[0].upper() + told[1:]


def used_share(found: DemandRecord, ceiling: CeilingRecord) -> float | None:
    """The most of a ceiling that any minute can have used, by the upper bounds; None where it limits nothing.

    A minute's operations of more than `io_kib` count as several, so that a ceiling on IOPS is one on MiB/s as well.
    """
    shares = []
    if ceiling.iops:
        shares.append(found.peak_iops / ceiling.iops)
        if ceiling.io_kib:
            shares.append(found.peak_throughput_mib_s * KIB_PER_MIB / ceiling.io_kib / ceiling.iops)
    if ceiling.throughput_mib_s:
        shares.append(found.peak_throughput_mib_s / ceiling.throughput_mib_s)
    return max(shares, default=None)


def rate_text(rate: float) -> str:
    """A rate with its thousands set apart, and three digits where it is small."""
    return f"{rate:,.0f}" if rate >= _FINE_BELOW else f"{rate:.3g}"


def _peak_text(found: DemandRecord, now: CeilingRecord | None) -> str:
    """The peak of the side that comes nearer to the present ceiling."""
    by_iops = (found.peak_iops, found.least_peak_iops, now.iops if now else None, "IOPS")
    by_throughput = (
        found.peak_throughput_mib_s,
        found.least_peak_throughput_mib_s,
        now.throughput_mib_s if now else None,
        "MiB/s",
    )
    peak, least, limit, unit = max(by_iops, by_throughput, key=lambda side: side[0] / side[2] if side[2] else 0.0)
    bound = "at most " if least < peak else ""
    return f"{bound}{rate_text(peak)}{f' of {rate_text(limit)}' if limit else ''} {unit}"


def _highest(profile: DemandProfileRecord) -> float:
    return max((rate for rate in profile.peak_iops if rate is not None), default=0.0)


def _percent(share: float) -> str:
    """Rounded up, so that "never more than" stays true."""
    return f"{math.ceil(share * 100 - 1e-9)} %" if share >= 0.01 else "1 %"


def _minutes(minutes: float) -> str:
    return f"{minutes:,.0f} minute{'' if round(minutes) == 1 else 's'}"
