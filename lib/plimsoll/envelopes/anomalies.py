"""Anomalies: results that are wrong, and results that measured something else than the volume.

Each rule was met in published campaigns. Two of them reject figures, because the device never served them: IOPS that
the device itself did not count, and figures far above what volume and host can carry (a page cache, or merged I/O).
The others leave the figures standing and say what they are: a burst, a host's burst, a short run, a depth that the
engine ignored, a working set that fits in a cache, I/O that the device splits.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.envelope import Anomaly, Measurement

DOUBTFUL: Final = 1.2
"""Beyond this multiple of what the device counted, or of what is published, a figure is not the device's: short runs
overshoot by 4 to 17 % (campaigns aws-gp3-io2-2020, google-pd-n1), caches and merges by more."""

SHORT_S: Final = 10.0
"""Runs up to this long are known to overshoot what is provisioned."""

SMALL_GIB: Final = 1.0
"""A working set under this fits in caches on the way."""

SYNCHRONOUS: Final = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2"})
"""Engines of one outstanding I/O a job, whatever iodepth says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The known limits of a system: its volumes as published, with buckets, and its host's maximum and baseline.

    `pooled` volumes may have used the share of others of their type on the host.
    """

    volume: Ceiling
    host: Ceiling
    host_baseline: Ceiling
    pooled: bool = False

    @property
    def both(self) -> Ceiling:
        """The volumes on the host."""
        return self.volume & self.host

    @property
    def most(self) -> Ceiling:
        """The most that the device can have served, with what other volumes lent it."""
        return self.host if self.pooled else self.both


def judged(measurements: Sequence[Measurement], limits: Limits) -> tuple[Measurement, ...]:
    """The measurements with what is wrong or special about each."""
    return tuple(replace(one, anomalies=tuple(anomalies(one, limits))) for one in measurements)


def anomalies(one: Measurement, limits: Limits) -> Iterator[Anomaly]:
    """All anomalies that a measurement's figures, its job and the published limits reveal."""
    for rule in _RULES:
        yield from rule(one, limits)


def side_of(ceiling: Ceiling, side: Resource, *, writes: bool | None = False) -> float:
    """That side of a ceiling: of reads, of writes, or (None) of whichever may be more."""
    reading, writing = (
        (ceiling.iops, ceiling.write_iops)
        if side is Resource.IOPS
        else (ceiling.throughput_mib_s, ceiling.write_throughput_mib_s)
    )
    return max(reading, writing) if writes is None else writing if writes else reading


def _not_the_device(one: Measurement, _limits: Limits) -> Iterator[Anomaly]:
    if one.iops is not None and one.device_iops is not None and one.iops > DOUBTFUL * one.device_iops:
        yield Anomaly(
            code="not-the-device",
            text=f"{one.iops:,.0f} IOPS reported in {_shape(one)} while the device did {one.device_iops:,.0f}: "
            "not fitted, a cache served the rest",
            rejects=frozenset(Resource),
        )


def _over_ceiling(one: Measurement, limits: Limits) -> Iterator[Anomaly]:
    carrier = "the host" if limits.pooled else "volume and host"
    for side in Resource:
        seen, limit = one.figure(side), side_of(limits.most, side, writes=one.job.writes)
        if seen is not None and seen > DOUBTFUL * limit:
            yield Anomaly(
                code="over-ceiling",
                text=f"{seen:,.0f} {side.unit} in {_shape(one)} is {seen / limit:.1f} times the {limit:,.0f} that "
                f"{carrier} can carry: not fitted, as the device cannot have served it (merged I/O, a cache)",
                rejects=frozenset({side}),
            )


def _buffered(one: Measurement, _limits: Limits) -> Iterator[Anomaly]:
    if one.provenance.tool == "sysbench" and not one.job.direct:
        yield Anomaly(code="buffered", text="sysbench did not ask for direct I/O: the page cache took part")


def _short(one: Measurement, _limits: Limits) -> Iterator[Anomaly]:
    if one.job.runtime_s is not None and one.job.runtime_s <= SHORT_S:
        yield Anomaly(code="short-run", text=f"runs of {SHORT_S:g} s or less overstate by 4 to 10 %, at times more")


def _volume_burst(one: Measurement, limits: Limits) -> Iterator[Anomaly]:
    for bucket in limits.volume.buckets:
        counted = one.device_iops if bucket.resource is Resource.IOPS else None
        seen = max((rate for rate in (one.figure(bucket.resource), counted) if rate is not None), default=0.0)
        if seen > bucket.sustained_rate:
            yield Anomaly(
                code="volume-burst",
                text=f"above {bucket.sustained_rate:,.0f} {bucket.resource.unit} this {one.spec.type} spent burst "
                "credits: what it does for ever is less",
            )


def _host_burst(one: Measurement, limits: Limits) -> Iterator[Anomaly]:
    for side in Resource:
        seen, sustained = one.figure(side), side_of(limits.host_baseline, side)
        if seen is not None and sustained < seen and sustained < side_of(limits.host, side):
            yield Anomaly(
                code="host-burst",
                text=f"above {sustained:,.0f} {side.unit} the host {one.host_type} bursts, as it can for 30 minutes "
                "a day",
            )


def _ignored_depth(one: Measurement, _limits: Limits) -> Iterator[Anomaly]:
    if one.job.engine in SYNCHRONOUS and (one.job.iodepth or 1) > 1:
        yield Anomaly(
            code="ignored-depth",
            text=f"{one.job.engine} ignores iodepth {one.job.iodepth}: one I/O a job was outstanding",
        )


def _small_set(one: Measurement, _limits: Limits) -> Iterator[Anomaly]:
    if one.job.file_size_gib is not None and one.job.file_size_gib * (one.job.jobs or 1) < SMALL_GIB:
        kib = one.job.file_size_gib * (one.job.jobs or 1) * (1 << 20)
        yield Anomaly(
            code="small-set", text=f"the working set was {kib:,.0f} KiB, no more than a cache on the way holds"
        )


def _split(one: Measurement, limits: Limits) -> Iterator[Anomaly]:
    io_kib = limits.volume.io_kib
    if io_kib is not None and one.job.block_kib > io_kib:
        yield Anomaly(
            code="split-io",
            text=f"I/O of {one.job.block_kib:,g} KiB is {one.job.block_kib / io_kib:,g} operations of the volume",
        )


def _shape(one: Measurement) -> str:
    return f"{one.job.mode} of {one.job.block_kib:,g} KiB"


_RULES: Final[tuple[Callable[[Measurement, Limits], Iterator[Anomaly]], ...]] = (
    _not_the_device,
    _over_ceiling,
    _buffered,
    _short,
    _volume_burst,
    _host_burst,
    _ignored_depth,
    _small_set,
    _split,
)
