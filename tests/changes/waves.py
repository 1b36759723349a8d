"""Verdicts on waves: groups of each size with a hold-back and without one, unchanged, harmed and disturbed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.model.arrays import FloatArray
from plimsoll_change.group_verdict import judge_group_hours, subtract_controls
from plimsoll_change.watch import WEEK_H
from tests.changes.calibration import GROUP_SIZES
from tests.changes.latency import World
from tests.changes.learning import (
    CONTROLS,
    LEARNED_EACH,
    OTHERS,
    Groups,
    group_world,
    groups_of,
    join_groups,
    learn_thresholds,
    split_machines,
)
from tests.changes.weeks import starts

BAKES_H: Final = {3: 72, 10: 48, 30: 48, 100: 24}
JUDGED_ZONES: Final = {3: 30, 10: 20, 30: 14, 100: 10}

Scene = Callable[[World, FloatArray, int], FloatArray]
"""What the latencies of a week become, [volume, hour], in a world of groups of a size."""


def _places(world: World, size: int) -> tuple[FloatArray, FloatArray]:
    """Marks the members, and all volumes of the application, [volume, 1]."""
    place = np.arange(len(world.zones)) % (size + CONTROLS + OTHERS)
    return (place < size)[:, np.newaxis] * 1.0, (place < size + CONTROLS)[:, np.newaxis] * 1.0


def _all_times(factor: float) -> Scene:
    def slow(world: World, latency: FloatArray, size: int) -> FloatArray:
        return latency + np.log(factor) * _places(world, size)[0]

    return slow


def _one_in(share: int) -> Scene:
    """One member in ten, and at least one, is twice as slow."""

    def slow(world: World, latency: FloatArray, size: int) -> FloatArray:
        place = np.arange(len(world.zones)) % (size + CONTROLS + OTHERS)
        harmed = (place < max(1, size // share))[:, np.newaxis]
        return latency + np.log(2.0) * harmed

    return slow


def _release(world: World, latency: FloatArray, size: int) -> FloatArray:
    """A release makes the whole application 1.3 times slower, twelve hours after the change."""
    since = np.arange(latency.shape[1]) >= 12
    return latency + np.log(1.3) * since * _places(world, size)[1]


def _disturbed(world: World, latency: FloatArray, size: int) -> FloatArray:
    """The zone is up to 1.8 times slower for twenty hours, from six hours after the change on."""
    hours = np.arange(latency.shape[1])
    felt = np.random.default_rng(9).uniform(0, 1, (len(latency), 1))
    return latency + np.log(1.8) * felt * ((hours >= 6) & (hours < 26))


SCENES: Final[dict[str, Scene]] = {
    "harmless": lambda _world, latency, _size: latency,
    "all x1.05": _all_times(1.05),
    "all x1.25": _all_times(1.25),
    "all x1.5": _all_times(1.5),
    "one in ten x2 (at least one)": _one_in(10),
    "harmless, and a release x1.3": _release,
    "harmless, and the zone disturbed": _disturbed,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveOutcome:
    """The groups of a size in a scene: how many there were, went on, were held, and called worse."""

    size: int
    has_controls: bool
    scene: str
    groups: int
    went_on: int
    held: int
    worse: int
    held_hours: FloatArray
    promised_reached: tuple[int, int]  # at 1 % and 5 %


def judge_waves(
    seed: int,
    sizes: Iterable[int] = GROUP_SIZES,
    scenes: Iterable[str] = tuple(SCENES),
    *,
    learned_each: int = LEARNED_EACH,
) -> list[WaveOutcome]:
    """Learns from some machines, and judges groups of others in each scene."""
    rng = np.random.default_rng([4, seed])
    split, sizes, outcomes = split_machines(seed), tuple(sizes), []
    thresholds = learn_thresholds(split, rng, sizes=sizes, each=learned_each)
    for size in sizes:
        world = group_world(split.judged, size, JUDGED_ZONES[size], CONTROLS, rng)
        for scene in scenes:
            groups = _groups_in(world, size, SCENES[scene])
            for has_controls in (True, False):
                relative = subtract_controls(groups.members, groups.controls) if has_controls else groups.members
                row = thresholds.group_of(size, has_controls=has_controls)
                hourly = judge_group_hours(relative, groups.is_busy, row, thresholds)
                bake = slice(BAKES_H[size] - 1, 2 * BAKES_H[size])
                went = (hourly.is_within & hourly.is_busy_seen)[:, bake].any(axis=-1)
                held = hourly.is_held.any(axis=-1)
                outcomes.append(
                    WaveOutcome(
                        size=size,
                        has_controls=has_controls,
                        scene=scene,
                        groups=len(went),
                        went_on=int(went.sum()),
                        held=int(held.sum()),
                        worse=int(hourly.is_suspect.any(axis=-1).sum()),
                        held_hours=np.argmax(hourly.is_held, axis=-1)[held] + 1.0,
                        promised_reached=(
                            int((hourly.statistic[:, -1] >= row.levels[0.01]).sum()),
                            int(held.sum()),
                        ),
                    )
                )
    return outcomes


def _groups_in(world: World, size: int, scene: Scene) -> Groups:
    lots = []
    for begin in starts(every_h=WEEK_H):
        latency = scene(world, world.mean[:, begin : begin + WEEK_H], size)
        lots.append(groups_of(world, int(begin), size, CONTROLS, latency))
    return join_groups(lots)
