"""What an envelope says in words: how its roofs came about, and what to beware of in the figures under them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.envelope import BoundBy, Measurement
from plimsoll.domain.units import mb_s_from_mib_s
from plimsoll.envelopes.anomalies import DOUBTFUL, UNITS, Limits, side_of
from plimsoll.envelopes.campaigns import System

SLOWER: Final = 0.9
"""A mode whose best stays under this share of the roof is told apart."""

SMALL_KIB: Final = 16.0
"""Larger I/O may be slower in IOPS for its throughput alone."""

_LENT: Final = "other volumes of the type on the host lent their share"


def notes(
    system: System,
    measurements: Sequence[Measurement],
    limits: Limits,
    reached: Mapping[Resource, Mapping[str, float]],
    host_bound: Sequence[str],
) -> Iterator[str]:
    """One sentence each, the most telling first; `reached` are the uncut roofs by side and mode."""
    if system.note:
        yield system.note.strip()
    for side in Resource:
        yield from _side(side, system, limits, reached[side], side.value in host_bound)
        yield from _slower(side, measurements, reached[side])
    yield from _anomalies(measurements)


def _side(
    side: Resource, system: System, limits: Limits, reached: Mapping[str, float], host_bound: bool
) -> Iterator[str]:
    unit, volume, host = UNITS[side], side_of(limits.volume, side), side_of(limits.host, side)
    roof = min(reached.values(), default=None)
    if roof is None:
        yield f"{unit} never reached a roof: the best seen is only a lower bound"
    elif host_bound:
        most = _of_host(side, host)
        yield f"the host {system.host_type} set the {unit}, not the volume: measured {roof:,.0f}, {most}"
    elif roof > volume:
        why = _LENT if limits.pooled and roof > DOUBTFUL * volume else "short runs overshoot"
        yield f"measured {roof:,.0f} {unit}, cut to the published {volume:,.0f}: {why}"
    if host < volume < math.inf:
        yield f"no {system.host_type} can carry the volume's {volume:,.0f} {unit}: {_of_host(side, host)}"


def _of_host(side: Resource, host: float) -> str:
    if side is Resource.IOPS:
        return f"its maximum is {host:,.0f}"
    return f"its maximum is {host:,.0f} ({mb_s_from_mib_s(host):,.10g} MB/s)"


def _slower(side: Resource, measurements: Sequence[Measurement], reached: Mapping[str, float]) -> Iterator[str]:
    if side is not Resource.IOPS or not reached:
        return
    roof = min(reached.values())
    small = [one for one in measurements if one.job.block_kib <= SMALL_KIB and one.served(side) is not None]
    for mode in dict.fromkeys(one.job.mode for one in small if one.job.mode not in reached):
        of_mode = [one for one in small if one.job.mode == mode]
        best = max(one.iops or 0.0 for one in of_mode)
        held = all(one.bound_by is BoundBy.LOAD for one in of_mode)
        if best < SLOWER * roof:
            why = "its load held it back" if held else "nothing shows what stopped it"
            yield f"{mode} was seen at {best:,.0f} {UNITS[side]} at most: {why}"


def _anomalies(measurements: Sequence[Measurement]) -> Iterator[str]:
    texts = [anomaly.text for one in measurements for anomaly in one.anomalies]
    for text in dict.fromkeys(texts):
        count = texts.count(text)
        yield text if count == 1 or count == len(measurements) else f"{text} ({count} of {len(measurements)} results)"
    apart = sum(one.rejected_side is not None for one in measurements)
    if apart:
        yield f"results that the campaign itself keeps out of the fit, because they are not the device's: {apart}"
