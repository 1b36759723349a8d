"""A fleet from a recording: what `plimsoll audit --record` kept of each volume, in its window and before it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from plimsoll.clouds.recording import Recording, open_recording
from plimsoll.model.arrays import FloatArray
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.model.volume import Volume
from plimsoll.ports import FailedTarget
from plimsoll.reading.known import Ask, Found, Look
from plimsoll.reading.window import Window
from plimsoll_backtest.cloud_fleet import Failed, name_of, write_fleet
from plimsoll_backtest.fleet import SUMS


def fleet_of_recording(path: Path, out: Path, period_s: int, failed: Failed) -> int:
    """Writes the fleet of a recording's volumes, and says of how many. BadInput where the file is no recording, or has
    nothing by periods so short.

    What was recorded more finely is added up. What was recorded more coarsely is left out.
    """
    recordings = open_recording(path)
    looks = [_fitting(recording, period_s) for recording in recordings]
    all_looks = [look for by_volume in looks for look in chain.from_iterable(by_volume.values())]
    if not all_looks:
        raise BadInput(f"{path} has nothing by periods of {period_s} s or less: give a longer one with --period-s.")
    window = Window(
        start_s=min(look.window.start_s for look in all_looks) // period_s * period_s,
        end_s=-(-max(look.window.end_s for look in all_looks) // period_s) * period_s,
    )
    parts = (
        _rows(recording, by_volume, window, period_s, failed)
        for recording, by_volume in zip(recordings, looks, strict=True)
    )
    return write_fleet(out, chain.from_iterable(parts), window, period_s)


def _fitting(recording: Recording, period_s: int) -> Mapping[str, Sequence[Look]]:
    """The looks that add up to periods of that length."""
    return {
        name: fitting
        for name, looks in recording.looks().items()
        if (fitting := [look for look in looks if period_s % look.period_s == 0])
    }


def _rows(
    recording: Recording, looks: Mapping[str, Sequence[Look]], window: Window, period_s: int, failed: Failed
) -> Iterator[tuple[Volume, Found]]:
    for target in recording.targets():
        if isinstance(target, FailedTarget):
            failed(f"{target.name}: {target.error}")
            continue
        try:
            for volume in recording.volumes(target):
                if not isinstance(volume, Volume):
                    failed(f"{target}: {volume.error}")
                elif name_of(volume) not in looks:
                    failed(f"{name_of(volume)}: nothing was recorded of it by periods so short.")
                else:
                    answers = recording.read([Ask(volume=volume, look=look) for look in looks[name_of(volume)]])
                    yield volume, _merge_looks(looks[name_of(volume)], answers, window, period_s)
        except CloudError as error:
            failed(f"{target}: {error}")


def _merge_looks(
    looks: Sequence[Look], answers: Sequence[Found | CloudError], window: Window, period_s: int
) -> dict[str, FloatArray]:
    """The sums of all looks in the buckets of one window.

    NaN where no bucket was wholly looked at, or had no point.
    """
    sums = {name: np.full(window.buckets(period_s), np.nan) for name in SUMS}
    for look, series in zip(looks, answers, strict=True):
        if isinstance(series, CloudError) or any(name not in series for name in SUMS):
            continue
        starts_s = look.window.start_s + look.period_s * np.arange(look.window.buckets(look.period_s))
        place = (starts_s - window.start_s) // period_s
        whole = np.bincount(place, minlength=window.buckets(period_s)) * look.period_s == period_s
        for name in SUMS:
            known = ~np.isnan(series[name])
            points = np.bincount(place[known], minlength=len(whole))
            added = np.bincount(place[known], weights=series[name][known], minlength=len(whole))
            complete = whole & (points > 0)
            sums[name][complete] = added[complete]
    return sums
