"""Watching: the hours of changed volumes and of unchanged siblings, read as watches.

Latency and operations are read by the hour, from six weeks before the request on. Stopped minutes are read from a week
before it on, as finely as the cloud still keeps them: by its own checks where it publishes them, else by replay at the
ceiling then in force. After the request a minute counts only if the old configuration would have carried it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import CloudError
from plimsoll.model.market import VolumeType
from plimsoll.model.series import BALANCE, CHECKS, SIGNALS, WORK_OF, WORK_SERIES, Role, names_with
from plimsoll.model.units import HOUR_S, KIB_PER_MIB, MIB, MINUTE_S
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.ports import Metrics, UnreadVolume
from plimsoll.reading.known import Ask, Found, Look
from plimsoll.reading.signals import drop_contradictions
from plimsoll.reading.window import FIVE_MINUTES_S, Window, cut_by_age
from plimsoll_change.evidence import LEAST_SIBLINGS, excess_over_past, median_of_known
from plimsoll_change.watch import PAST_H, WEEK_H, ChangeWatch, HourlySignal, Void

_AT_ONCE: Final = 50
"""Watches that are read together."""
_STANDS_AT: Final = 0.95
"""The share of a ceiling at which a volume stands at it, as the policy's `saturation_pct` is by default."""
_SHIFT: Final = float(np.log(2))
_DAY_H: Final = 24
_US_PER_S, _US_PER_MS = 1e6, 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedVolume:
    """A changed volume as it is now, with its configuration before and after the change, and unchanged siblings."""

    volume: Volume
    requested: datetime
    now_spec: VolumeSpec  # before the change
    then_spec: VolumeSpec
    completed: datetime | None = None  # None while the cloud still moves data
    budget_minutes: float = 0.0
    siblings: tuple[Volume, ...] = ()


def read_watches(
    asked: Sequence[WatchedVolume], metrics: Metrics, now: datetime, types: Mapping[str, VolumeType]
) -> Iterator[ChangeWatch | UnreadVolume]:
    """The watches of volumes until the last full hour, or why one could not be read, in order.

    A sibling that could not be read is left out. Raises CloudError if nothing can be read. `types` are the cloud's.
    """
    end_s = last_hour_s(metrics, now)
    for part in (asked[first : first + _AT_ONCE] for first in range(0, len(asked), _AT_ONCE)):
        requested = [hour_of(watched.requested) for watched in part]
        first_hour, window_end_s = min(requested) - PAST_H, max(end_s, max(requested) * HOUR_S)
        volumes = [volume for watched in part for volume in (watched.volume, *watched.siblings)]
        signals = read_signals(volumes, Window(start_s=first_hour * HOUR_S, end_s=window_end_s), metrics)
        plans = [list(_plan_looks(watched, metrics, end_s)) for watched in part]
        asks = [Ask(volume=each.volume, look=look) for each, looks in zip(part, plans, strict=True) for look in looks]
        answers = iter(_read_places(asks, metrics))
        for watched, hour, looks in zip(part, requested, plans, strict=True):
            read = [(look, next(answers)) for look in looks]
            finer = [(look, answer) for look, answer in read if not isinstance(answer, CloudError)]
            at = slice(hour - PAST_H - first_hour, max(end_s // HOUR_S, hour) - first_hour)
            wanted = (signals[each.id] for each in (watched.volume, *watched.siblings))
            cut = [each if isinstance(each, CloudError) else each.cut(at) for each in wanted]
            error = next(
                (each for each in (cut[0], *(answer for _, answer in read)) if isinstance(each, CloudError)), None
            )
            if error is None:
                yield _make_watch(watched, finer, [each for each in cut if isinstance(each, HourlySignal)], types)
            else:
                yield UnreadVolume(id=watched.volume.id, error=error)


def read_signals(
    volumes: Iterable[Volume], window: Window, metrics: Metrics
) -> Mapping[str, HourlySignal | CloudError]:
    """The hourly signals of volumes by id, each read once, or why one cannot be read.

    Where a cloud publishes a latency without the operations that it is of, the volume's work is read for those.
    """
    look = Look(window=window, period_s=HOUR_S, groups=(SIGNALS,))
    asks = [Ask(volume=volume, look=look) for volume in {volume.id: volume for volume in volumes}.values()]
    answers = {ask.volume.id: (ask, answer) for ask, answer in zip(asks, _read_places(asks, metrics), strict=True)}
    untimed = [(ask, answer) for ask, answer in answers.values() if not isinstance(answer, CloudError)]
    untimed = [(ask, answer) for ask, answer in untimed if _lacks_operations(answer)]
    counts = [replace(ask, look=replace(look, groups=(WORK_OF[Resource.IOPS],))) for ask, _ in untimed]
    for (ask, signals), work in zip(untimed, _read_places(counts, metrics) if counts else (), strict=True):
        answers[ask.volume.id] = ask, work if isinstance(work, CloudError) else {**work, **signals}
    return {
        name: answer if isinstance(answer, CloudError) else _signal_of(answer, look)
        for name, (_, answer) in answers.items()
    }


def _lacks_operations(series: Found) -> bool:
    return "mean_io_latency_ms" in series and "timed_reads" not in series


def _read_places(asks: Sequence[Ask], metrics: Metrics) -> list[Found | CloudError]:
    """The answers in order; each account and region is asked by itself. Raises CloudError if none can be read."""
    places: dict[tuple[str, str], list[int]] = {}
    for number, ask in enumerate(asks):
        places.setdefault((ask.volume.account, ask.volume.region), []).append(number)
    answers, errors = dict[int, Found | CloudError](), list[CloudError]()
    for numbers in places.values():
        try:
            answers |= zip(numbers, metrics.read([asks[number] for number in numbers]), strict=True)
        except CloudError as error:
            answers |= dict.fromkeys(numbers, error)
            errors.append(error)
    if errors and len(errors) == len(places):
        raise errors[0]
    return [answers[number] for number in range(len(asks))]


def last_hour_s(metrics: Metrics, now: datetime) -> int:
    """The end of the last hour that is whole and can be read, in seconds since the epoch."""
    return (int(now.timestamp()) - metrics.visible_after_s) // HOUR_S * HOUR_S


def hour_of(time: datetime) -> int:
    """The hour since the epoch that a time lies in."""
    return int(time.timestamp()) // HOUR_S


def _plan_looks(watched: WatchedVolume, metrics: Metrics, end_s: int) -> Iterator[Look]:
    """The looks at what may have stopped a changed volume, oldest part first."""
    requested_s = hour_of(watched.requested) * HOUR_S
    finest_s = MINUTE_S if any(host.nitro for host in watched.volume.hosts) else FIVE_MINUTES_S
    window = Window(start_s=requested_s - WEEK_H * HOUR_S, end_s=max(end_s, requested_s))
    groups = (*WORK_OF.values(), *CHECKS.values(), BALANCE)
    for segment in cut_by_age(window, finest_s, metrics.retention_days, end_s):
        if segment.period_s < HOUR_S:
            yield Look(window=segment.window, period_s=segment.period_s, groups=groups)


def _make_watch(
    watched: WatchedVolume,
    finer: Sequence[tuple[Look, Found]],
    signals: Sequence[HourlySignal],
    types: Mapping[str, VolumeType],
) -> ChangeWatch:
    """The first signal is the volume's own; the others are its siblings'."""
    requested, (signal, *siblings) = hour_of(watched.requested), signals
    stopped = np.full(len(signal.operations), np.nan)
    for look, minutes in finer:
        first = look.window.start_s // HOUR_S - (requested - PAST_H)
        by_hour = _stopped_minutes(watched, look, minutes, types)
        stopped[first : first + len(by_hour)] = by_hour
    return ChangeWatch(
        volume_id=watched.volume.id,
        requested_hour=requested,
        completed_hour=None if watched.completed is None else hour_of(watched.completed),
        signal=signal,
        stopped_minutes=stopped,
        budget_minutes=watched.budget_minutes,
        siblings=tuple(siblings),
        voids=(*_find_host_changes(watched), *_find_shift(requested, (signal, *siblings))),
    )


def _signal_of(series: Found, look: Look) -> HourlySignal:
    """The latency and operations of each hour; NaN where the cloud says nothing of it.

    Where it publishes no time of operations, the mean of its own latency stands in; where it publishes no highest
    minute, nothing does.
    """
    kept = drop_contradictions(series)
    unknown = np.full(look.window.buckets(look.period_s), np.nan)
    seconds = _sum_known(kept.get("read_time_s", unknown), kept.get("write_time_s", unknown))
    reads, writes = ("read_ops", "write_ops") if _lacks_operations(series) else ("timed_reads", "timed_writes")
    operations = _sum_known(kept.get(reads, unknown), kept.get(writes, unknown))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(operations > 0, seconds / operations * _US_PER_S, np.nan)
    mean = np.where(np.isnan(mean), kept.get("mean_io_latency_ms", unknown) * _US_PER_MS, mean)
    highest = unknown
    for name in ("highest_read_latency_ms", "highest_write_latency_ms", "highest_io_latency_ms"):
        highest = np.fmax(highest, kept.get(name, unknown) * _US_PER_MS)
    return HourlySignal(latency_us=np.stack([mean, highest]), operations=operations)


def _sum_known(first: FloatArray, second: FloatArray) -> FloatArray:
    """The sum of two series, of what is known of them; NaN where neither is."""
    both_unknown = np.isnan(first) & np.isnan(second)
    return np.where(both_unknown, np.nan, np.nan_to_num(first) + np.nan_to_num(second))


def _stopped_minutes(watched: WatchedVolume, look: Look, series: Found, types: Mapping[str, VolumeType]) -> FloatArray:
    """The minutes of each hour of a look in which the volume was stopped; NaN in hours without any point."""
    starts_s = look.window.start_s + look.period_s * np.arange(look.window.buckets(look.period_s))
    is_after = starts_s >= int(watched.requested.timestamp())
    unknown = np.full(len(starts_s), np.nan)
    checks = [series[name] for name in names_with(Role.CHECK) if name in series]
    work = [series.get(name, unknown) for name in WORK_SERIES]
    balance = series.get("burst_balance_pct", unknown)
    specs = (watched.now_spec, watched.then_spec)
    at_old, at_new = (_stands_at(types.get(spec.type), spec, work, balance, look.period_s) for spec in specs)
    by_replay = np.where(is_after, at_new, at_old)
    by_check = np.logical_or.reduce([check > 0 for check in checks]) if checks else np.zeros(len(starts_s), np.bool_)
    is_checked = ~np.isnan(checks).all(axis=0) if checks else np.zeros(len(starts_s), np.bool_)
    stopped = np.where(is_checked, by_check | (by_replay & (balance <= 0)), by_replay) & ~(is_after & at_old)
    is_known = is_checked | ~np.isnan(work).all(axis=0)
    per_hour = HOUR_S // look.period_s
    minutes = np.where(is_known, stopped * look.period_s / MINUTE_S, np.nan)[: len(starts_s) // per_hour * per_hour]
    by_hour = minutes.reshape(-1, per_hour)
    return np.where(np.isnan(by_hour).all(axis=1), np.nan, np.nansum(by_hour, axis=1))


def _stands_at(
    kind: VolumeType | None, spec: VolumeSpec, work: Sequence[FloatArray], balance: FloatArray, period_s: int
) -> BoolArray:
    """Marks the buckets in which work stands at a ceiling, and at what it sustains where the balance is spent."""
    if kind is None:
        return np.zeros(len(balance), dtype=np.bool_)
    ceiling = kind.ceiling(spec)
    reads, writes, read_bytes, write_bytes = (np.nan_to_num(values) / period_s for values in work)
    iops = reads + ceiling.write_iops_cost * writes
    throughput_mib_s = (read_bytes + ceiling.write_throughput_cost * write_bytes) / MIB
    if ceiling.io_kib:
        iops = np.maximum(iops, (read_bytes + write_bytes) / MIB * KIB_PER_MIB / ceiling.io_kib)
    is_spent = balance <= 0
    most = np.where(is_spent, ceiling.sustained_iops, ceiling.limit(Resource.IOPS))
    most_mib_s = np.where(is_spent, ceiling.sustained_throughput_mib_s, ceiling.limit(Resource.THROUGHPUT))
    return np.asarray((iops >= _STANDS_AT * most) | (throughput_mib_s >= _STANDS_AT * most_mib_s))


def _find_host_changes(watched: WatchedVolume) -> Iterator[Void]:
    """The hours since the request in which the volume was attached anew, or its host started."""
    for attachment in watched.volume.attachments:
        host = attachment.host
        if attachment.since > watched.requested:
            text = f"it was attached to {host.id if host else 'another host'} at {attachment.since:%Y-%m-%d %H:%M}"
            yield Void(hour=hour_of(attachment.since), reason="host-changed", text=text)
        elif host is not None and host.running_since is not None and host.running_since > watched.requested:
            text = f"{host.id} was started at {host.running_since:%Y-%m-%d %H:%M}"
            yield Void(hour=hour_of(host.running_since), reason="restarted", text=text)


def _find_shift(requested: int, signals: Sequence[HourlySignal]) -> Iterator[Void]:
    """The end of the first day in which the whole group did over twice, or under half, its usual work."""
    if len(signals) <= LEAST_SIBLINGS:
        return
    operations = np.stack([each.operations for each in signals])
    excess = median_of_known(excess_over_past(operations, operations), 0)
    watch = excess[WEEK_H:]
    days = watch[: len(watch) // _DAY_H * _DAY_H].reshape(-1, _DAY_H)
    usual = median_of_known(excess[:WEEK_H], -1)
    for day, shift in enumerate(median_of_known(days, -1) - (0.0 if np.isnan(usual) else usual)):
        if abs(shift) > _SHIFT and np.sum(~np.isnan(days[day])) >= _DAY_H // 2:
            text = f"all of its siblings did {np.exp(shift):.1f} times their usual work"
            yield Void(hour=requested + (day + 1) * _DAY_H - 1, reason="workload-shifted", text=text)
            return
