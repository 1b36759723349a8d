"""Rules of arithmetic: figures of one run that cannot all be true, whatever the device was.

Each rule holds a law of counting, with the tolerance that real output needs: what rounding can have moved, the I/O in
flight at both ends of a run, and a clock of whole seconds.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from plimsoll.envelopes.admissibility.rule import Finding, Rule, SystemLimits
from plimsoll.model.ceiling import Resource
from plimsoll.model.envelope import Admission, Measurement, SideFacts
from plimsoll.model.units import KIB_PER_MIB

CLOSE: Final = 0.03
"""Figures that differ by less agree: rates and counts are taken a moment apart."""

OVER_LIMIT: Final = 1.1
"""How much more than a limit a mean may be: latencies and rates have windows of their own."""

FEW_OPERATIONS: Final = 100
"""A mean of fewer operations says nothing."""

DELAY_S: Final = 10.0
DELAY_SHARE: Final = 1.25
"""fio needs up to this factor and this many seconds beside the run time to start and end its jobs."""

SIZES_DIFFER: Final = 0.06
"""A size of I/O that differs by more is another: k is 1,000 or 1,024."""

LATE_PERCENTILE: Final = 1.15
NOISE_US: Final = 2.0
"""fio's percentiles are upper edges of bins, in whole microseconds before 3.0."""

_FIO: Final = "fio's documentation (fio.readthedocs.io)"


def _little(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    allowed, in_flight = measurement.job.outstanding, measurement.mean_in_flight
    if (
        allowed is None
        or in_flight is None
        or _operations(measurement) < FEW_OPERATIONS
        or in_flight <= OVER_LIMIT * allowed
    ):
        return
    yield _reject(
        f"{measurement.iops or 0:,.0f} IOPS at {_mean_us(measurement):,.0f} us each keep {in_flight:,.1f} I/Os in "
        "flight, and its jobs "
        f"could keep {allowed:,.0f}: its clock was wrong, or other jobs were counted too; measure again"
    )


def _operations(measurement: Measurement) -> float:
    return sum(side.operations if side.operations is not None else FEW_OPERATIONS for side in measurement.run.sides)


def _mean_us(measurement: Measurement) -> float:
    iops = sum(side.iops for side in measurement.run.sides)
    return sum(side.iops * (side.total_us or 0.0) for side in measurement.run.sides) / iops if iops else 0.0


def _operations_over_time(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    for side in measurement.run.sides:
        if side.run_s == 0.0 and side.iops > 0.0:
            yield _reject(f"it prints {side.iops:,.0f} IOPS of a job that ran for no time: measure again, for longer")
            return
        if not side.run_s or side.operations is None:
            continue
        by_count, at_ends = side.operations / side.run_s, _iops_at_ends(measurement, side)
        if abs(by_count - side.iops) > side.iops * (CLOSE + side.iops_slack + _tick(side)) + at_ends:
            yield _reject(
                f"{side.operations:,.0f} {_noun(side)} in {side.run_s:,.0f} s are {by_count:,.0f} a second, and it "
                f"prints {side.iops:,.0f} IOPS: the figures are not of one run"
            )
            return


def _bytes_over_time(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    for side in measurement.run.sides:
        if not side.run_s or side.moved_mib is None or not side.throughput_mib_s:
            continue
        by_count = side.moved_mib / side.run_s
        at_ends = _iops_at_ends(measurement, side) * measurement.job.block_kib / KIB_PER_MIB
        slack = CLOSE + side.throughput_slack + side.moved_slack + _tick(side)
        if abs(by_count - side.throughput_mib_s) > side.throughput_mib_s * slack + at_ends:
            yield _reject(
                f"{side.moved_mib:,.0f} MiB in {side.run_s:,.0f} s are {by_count:,.1f} MiB/s, and it prints "
                f"{side.throughput_mib_s:,.1f}: the figures are not of one run"
            )
            return


def _bytes_per_operation(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Bytes moved per operation must equal the job's block size, which is the mean if directions differ."""
    sides = [side for side in measurement.run.sides if side.iops and side.throughput_mib_s]
    iops, mib_s = sum(side.iops for side in sides), sum(side.throughput_mib_s for side in sides)
    if not sides or not mib_s or (measurement.run.lost_share or 0.0) > 0.0:
        return
    by_size = iops * measurement.job.block_kib / KIB_PER_MIB
    slack = max(side.iops_slack + side.throughput_slack for side in sides)
    if abs(mib_s / by_size - 1) > SIZES_DIFFER + slack:
        yield _reject(
            f"{iops:,.0f} IOPS of {measurement.job.block_kib:,g} KiB are {by_size:,.1f} MiB/s, and it prints "
            f"{mib_s:,.1f}: the figures are not of one run"
        )


def _elapsed_time(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    elapsed_s, accounted_s = measurement.run.elapsed_s, measurement.run.accounted_s
    if elapsed_s is None or accounted_s is None:
        return
    ran_s = max((side.run_s for side in measurement.run.sides if side.run_s is not None), default=0.0)
    if elapsed_s < ran_s / (1 + CLOSE) - 2.0:
        yield _reject(
            f"it ran for {ran_s:,.0f} s, of {elapsed_s:,.0f} s that passed: its clock was wrong, so no rate can be told"
        )
    elif elapsed_s > DELAY_SHARE * accounted_s + DELAY_S and _had_no_files_to_make(measurement):
        yield _reject(
            f"{elapsed_s:,.0f} s passed and its jobs account for {accounted_s:,.0f}: they ran one after another, and "
            "their rates must not be added up"
        )


def _had_no_files_to_make(measurement: Measurement) -> bool:
    """The run spent no time on laying out files: its jobs used devices, or waited for one another by design."""
    named = len(measurement.job.targets)
    on_devices = named > 0 and named == measurement.job.places
    return bool(measurement.job.chained) or (on_devices and measurement.job.direct is not False)


def _chain(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    if measurement.job.chained and (measurement.job.jobs or 1) > 1:
        yield Finding(
            admission=Admission.UNKNOWN,
            text="a job of it began when another was done (wait_for, startdelay), so its rates may not have been "
            "carried at the same time: measure again without",
        )


def _rate_limit(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    for seen, limit, unit in (
        (measurement.iops, measurement.job.rate_iops, "IOPS"),
        (measurement.throughput_mib_s, measurement.job.rate_mib_s, "MiB/s"),
    ):
        if seen is not None and limit is not None and seen > OVER_LIMIT * limit:
            yield _reject(
                f"{seen:,.0f} {unit}, of jobs that were held to {limit:,.0f} {unit} together: the figures are not of "
                "these jobs"
            )
            return


def _clock(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements whose clock was wrong: latencies that cannot be are rejected, an operation of 0 ns is
    doubted."""
    for side in measurement.run.sides:
        broken = next(_broken_latency(measurement, side), None)
        if broken is not None:
            yield _reject(f"{broken}: its clock was wrong, and no figure of it can be trusted")
            return
    if any(side.took_no_time for side in measurement.run.sides):
        yield Finding(
            admission=Admission.UNKNOWN,
            text="an operation took 0 ns, so its clock ran back at least once: measure again, with "
            "clocksource=clock_gettime",
        )


def _broken_latency(measurement: Measurement, side: SideFacts) -> Iterator[str]:
    """The contradictions within one direction's latency figures, each as the beginning of a sentence."""
    latency, mean_us = side.latency, side.latency.mean_us
    points = sorted(latency.percentiles_us)
    if any(later < earlier for (_, earlier), (_, later) in pairwise(points)):
        yield "a higher percentile of its latency is lower than one before it"
    if mean_us is None:
        return
    zero = [percent for percent, us in points if us == 0.0 and percent >= 1]
    if zero and mean_us > _LEAST_MEAN_US and measurement.job.direct is not False:
        yield f"{max(zero):g} % of its operations took no time at all"
    if latency.most_us is not None and mean_us > OVER_LIMIT * latency.most_us + NOISE_US:
        yield f"its mean latency of {mean_us:,.0f} us is above the highest of {latency.most_us:,.0f}"
    if latency.least_us is not None and mean_us < latency.least_us / OVER_LIMIT - NOISE_US:
        yield f"its mean latency of {mean_us:,.0f} us is below the lowest of {latency.least_us:,.0f}"
    for percent, us in points:
        if latency.most_us is not None and us > OVER_LIMIT * latency.most_us + NOISE_US:
            yield f"{100 - percent:g} % took {us:,.0f} us or more, and none more than {latency.most_us:,.0f}"
        if (1 - percent / 100) * us > LATE_PERCENTILE * mean_us + NOISE_US:
            yield f"its mean latency is {mean_us:,.0f} us, and {100 - percent:g} % took {us:,.0f} us or more"


_LEAST_MEAN_US: Final = 100.0


def _directions(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements that did not read or write as their job asked."""
    did = {side.direction for side in measurement.run.sides if side.iops > 0} & {"read", "write"}
    asked = (
        {True: "write", False: "read"}.get(measurement.job.is_write_only)
        if measurement.job.is_write_only is not None
        else None
    )
    if asked is not None and did and asked not in did:
        (other,) = did
        yield Finding(
            admission=Admission.SHOWN,
            text=f"{measurement.job.mode} asks for {asked}s, and it prints {other}s: nothing tells which of both it "
            "was",
        )


def _merges(measurement: Measurement, limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements whose small operations were, or may have been, merged: their IOPS are not the device's."""
    random, kib = measurement.job.is_random, measurement.job.block_kib
    counted_fewer = (measurement.run.merged_share or 0.0) > FEW_MERGED and kib < MERGED_KIB
    merges = measurement.provenance.provider == "aws" and kib < (limits.volume.io_kib or MERGED_KIB)
    if not counted_fewer and (random or not merges):
        return
    if random is None and not counted_fewer:
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"nothing says whether I/O of {kib:,g} KiB was random; in sequence it is merged, and its "
            "IOPS are not the volume's: import fio's JSON with its options",
            sides=_IOPS,
        )
        return
    what = (
        f"the kernel merged {measurement.run.merged_share:.0%} of its operations"
        if counted_fewer
        else f"EBS merges sequential I/O of {kib:,g} KiB"
    )
    yield Finding(
        admission=Admission.SHOWN,
        text=f"{what}, so its IOPS are not the volume's, and its throughput is: measure IOPS with random I/O",
        sides=_IOPS,
    )


_IOPS: Final = frozenset({Resource.IOPS})
MERGED_KIB: Final = 128.0
"""Without a published size of the volume's I/O, smaller I/O in sequence is merged: the limit of a queue of Linux."""

FEW_MERGED: Final = 0.2
"""More merges than this are no accident of neighboring offsets."""


def _held_load(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    if measurement.job.held_by is not None:
        yield Finding(
            admission=Admission.COUNTS,
            text=f"its load was held back ({measurement.job.held_by}): no worse than this, and no maximum",
        )


def _unreached_depth(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements with far fewer operations in flight than their jobs could keep; they count."""
    asked, in_flight = measurement.job.depth, measurement.io_in_flight
    if asked is not None and in_flight is not None and asked > 1 and in_flight < NEVER_REACHED * asked:
        yield Finding(
            admission=Admission.COUNTS,
            text=f"of {asked:,.0f} I/Os that its jobs could keep in flight {in_flight:,.1f} were: it shows what that "
            "many got",
        )


NEVER_REACHED: Final = 0.25
"""A load that kept less than this share of its depth in flight was held back by something before the volume."""


def _dates(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements whose dates cannot be: they contradict one another, the import, or fio's release."""
    days, made = measurement.provenance.days, measurement.provenance
    if len(days) > 1 and (max(first for first, _ in days) - min(last for _, last in days)).days > SAME_WEEK:
        dates = " and ".join(dict.fromkeys(f"{first:%Y-%m-%d}" for first, _ in sorted(days)))
        yield _doubt_date(f"its dates contradict one another ({dates})")
    elif made.imported_on is not None and any((first - made.imported_on).days > SAME_DAY for first, _ in days):
        yield _doubt_date(f"it is dated {max(first for first, _ in days):%Y-%m-%d}, after the day of its import")
    elif made.tool == "fio" and days and max(last for _, last in days).year < _release_year(made.tool_version):
        yield _doubt_date(
            f"it is dated {min(first for first, _ in days):%Y-%m-%d}, before fio {made.tool_version} was made"
        )


SAME_DAY: Final = 1
"""Time zones turn one day into two."""

SAME_WEEK: Final = 7
"""People name the day of a report, which is days after the run."""

RELEASED: Final = {(2, 0): 2011, (3, 0): 2017, (3, 10): 2018, (3, 20): 2020, (3, 30): 2022, (3, 36): 2023}
"""The year in which versions of fio came out (tags of its repository)."""


def _release_year(version: str | None) -> int:
    """The year before which a version of fio cannot have run."""
    numbers = [part for part in (version or "").split("-")[0].split(".")[:2] if part.isdecimal() and len(part) < 4]
    release = (int(numbers[0]), int(numbers[1])) if len(numbers) == 2 else (0, 0)  # major and minor
    return max((year for since, year in RELEASED.items() if since <= release), default=0)


def _doubt_date(why: str) -> Finding:
    return Finding(
        admission=Admission.UNKNOWN,
        text=f"{why}: nobody knows when it was measured, so measure again, with the machine's clock set",
    )


def _iops_at_ends(measurement: Measurement, side: SideFacts) -> float:
    """The IOPS that I/O in flight at both ends of a run, and one cut-off operation, can explain."""
    return (2 * (measurement.job.depth or 1.0) + 2.0) / side.run_s if side.run_s else 0.0


def _tick(side: SideFacts) -> float:
    """The share of the run time that a clock of whole milliseconds leaves open."""
    return 2e-3 / side.run_s if side.run_s else 0.0


def _noun(side: SideFacts) -> str:
    return f"{side.direction}s" if side.direction in {"read", "write"} else "operations"


def _reject(text: str) -> Finding:
    return Finding(admission=Admission.REJECTED, text=text)


ARITHMETIC_RULES: Final = (
    Rule(
        name="little",
        law="IOPS times mean latency is the I/O in flight: at most depth times jobs.",
        source="Little's law (J. D. C. Little, 1961)",
        find=_little,
    ),
    Rule(
        name="operations-over-time",
        law="IOPS are operations over run time.",
        source=f"{_FIO}, total_ios, runtime, iops",
        find=_operations_over_time,
    ),
    Rule(
        name="bytes-over-time",
        law="Throughput is bytes over run time.",
        source=f"{_FIO}, io_bytes, runtime, bw",
        find=_bytes_over_time,
    ),
    Rule(
        name="bytes-per-operation",
        law="Throughput is IOPS times I/O size.",
        source=f"{_FIO}, bs",
        find=_bytes_per_operation,
    ),
    Rule(
        name="elapsed",
        law="Jobs that ran together account for the time that passed, and for no more.",
        source=f"{_FIO}, elapsed, runtime, wait_for",
        find=_elapsed_time,
    ),
    Rule(
        name="chained",
        law="Rates add up only if they were carried at the same time.",
        source=f"{_FIO}, wait_for, startdelay",
        find=_chain,
    ),
    Rule(
        name="rate-limit",
        law="A job that is held to a rate does not exceed it.",
        source=f"{_FIO}, rate, rate_iops",
        find=_rate_limit,
    ),
    Rule(
        name="clock",
        law="A mean lies between the lowest and the highest, percentiles rise, and nothing takes no time.",
        source="Markov's inequality, and the order of percentiles",
        find=_clock,
    ),
    Rule(
        name="directions",
        law="A job that only writes reads nothing, and the other way round.",
        source=f"{_FIO}, rw; sysbench, --file-test-mode",
        find=_directions,
    ),
    Rule(
        name="merged",
        law="Small I/O in sequence is merged: its IOPS are the program's, not the volume's.",
        source="EBS User Guide, I/O characteristics; merge= in fio's disk stats",
        find=_merges,
        of_a_volume=True,
    ),
    Rule(
        name="held-back",
        law="A load that pauses, paces itself or waits for a sync shows no maximum.",
        source=f"{_FIO}, thinktime, latency_target, flow, fsync, sync",
        find=_held_load,
    ),
    Rule(
        name="depth-not-reached",
        law="A depth counts as far as it was reached.",
        source=f"Little's law; {_FIO}, IO depths",
        find=_unreached_depth,
    ),
    Rule(
        name="dates",
        law="All dates of a run agree, none is after its import, and none is before its fio.",
        source="time and timestamp of fio's output; tags of fio's repository",
        find=_dates,
    ),
)
