"""Thresholds from machines: bets learned on some, levels on others, and nothing from those that are judged."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll_change.bets import highest_of, play_bets
from plimsoll_change.evidence import (
    Deviations,
    center_on_week_before,
    excess_over_past,
    mark_busy_hours,
    own_spread,
    subtract_siblings,
)
from plimsoll_change.group_verdict import mean_of_members, subtract_controls
from plimsoll_change.thresholds import DAYS, GroupThresholds, SideThresholds, Thresholds, conformal_level, negate
from plimsoll_change.verdict import SLOWER_MARGIN, judge_hours
from plimsoll_change.watch import PAST_H, WEEK_H
from tests.changes.calibration import (
    GROUP_LINES,
    GROUP_SIZES,
    learn_bets,
    learn_side,
    learn_slack,
    scale_of_members,
)
from tests.changes.latency import VARIANTS, WEEKS, World, find_working, make_world
from tests.changes.weeks import Weeks, join_weeks, starts, weeks_of

SHIPPED_SEED: Final = 47
NO_SLOWER_PROMISE: Final = 0.05
LEARNED_EACH: Final = 3
"""Volumes of each machine that is learned from."""
ZONE: Final = 14
"""Volumes of a zone, in two applications."""
OTHERS: Final = 6
"""Volumes of other applications in the zone of a group: the siblings of its members."""
CONTROLS: Final = 5
"""The hold-back of groups of up to 100."""
SOME_WORK, MUCH_WORK = 0.1, 0.5
"""The share of hours with 1,000 operations that members of groups have at least, and that the hold-back has."""
ZONES: Final = {3: 40, 10: 30, 30: 24, 100: 20}
"""Zones that a row of groups is learned on, and as many again for its levels; each for eleven weeks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Machines by number: those that bets are learned on, those for levels, and those that are judged."""

    bets: IntArray
    levels: IntArray
    judged: IntArray


def split_machines(seed: int, machines: int = 250) -> Split:
    """A third of the machines to be judged, a quarter for bets, the others for levels, drawn by a seed."""
    drawn = np.random.default_rng([2, seed]).permutation(machines)
    judged, bets = machines // 3, machines // 4
    return Split(judged=drawn[:judged], bets=drawn[judged : judged + bets], levels=drawn[judged + bets :])


def every_machine(machines: int = 250) -> Split:
    """All machines for the thresholds that ship: two of five for bets, the others for levels; none is judged."""
    drawn = np.random.default_rng([2, SHIPPED_SEED]).permutation(machines)
    bets = 2 * machines // 5
    return Split(bets=drawn[:bets], levels=drawn[bets:], judged=drawn[:0])


def world_of(machines: IntArray, rng: np.random.Generator, each: int = 1) -> World:
    """A world with one volume a machine, or more with noises and ceilings of their own."""
    machines = np.tile(machines, each)
    number = np.arange(len(machines))
    variants = machines * VARIANTS + rng.integers(0, VARIANTS, len(machines))
    return make_world(variants, np.zeros_like(machines), number // ZONE, number // (ZONE // 2), rng)


def all_weeks(world: World) -> Weeks:
    """All placebo weeks of a world, one from each fourth day on, that have any evidence."""
    return with_evidence(join_weeks([weeks_of(world, begin) for begin in starts()]))


def with_evidence(weeks: Weeks) -> Weeks:
    """The watches that have an hour with evidence."""
    at = weeks.has_evidence
    deviations = weeks.deviations
    return Weeks(
        deviations=Deviations(mean=deviations.mean[at], highest=deviations.highest[at], is_busy=deviations.is_busy[at]),
        stopped=weeks.stopped[at],
        first_hour=weeks.first_hour,
    )


def learn_thresholds(
    split: Split, rng: np.random.Generator, sizes: Iterable[int] = GROUP_SIZES, each: int = LEARNED_EACH
) -> Thresholds:
    """The thresholds of a split, with the rows of groups of some sizes."""
    learned, levels = (all_weeks(world_of(machines, rng, each)) for machines in (split.bets, split.levels))
    first = learned.first_hour
    slower = learn_side(learned.deviations, levels.deviations, first)
    faster = learn_side(negate(learned.deviations), negate(levels.deviations), first)
    slack = learn_slack(np.concatenate([learned.deviations.mean, levels.deviations.mean]))
    alone = Thresholds(slower=slower, faster=faster, slack=slack, groups=())
    return Thresholds(
        slower=slower,
        faster=faster,
        slack=slack * _needed_slack(levels, alone),
        groups=tuple(row for size in sizes for row in _learn_rows(split, size, slower, rng)),
    )


def _needed_slack(placebos: Weeks, thresholds: Thresholds) -> float:
    """The share of the slack with which 5 % of placebos that are made just 25 % slower are told no slower."""
    mean = np.array(placebos.deviations.mean)
    mean[:, WEEK_H:] += SLOWER_MARGIN
    highest = np.array(placebos.deviations.highest)
    highest[:, WEEK_H:] += SLOWER_MARGIN
    slower = Deviations(mean=mean, highest=highest, is_busy=placebos.deviations.is_busy)
    hourly = judge_hours(slower, placebos.stopped, placebos.budget, placebos.first_hour, thresholds)
    others = (
        np.logical_or.reduce([holds for name, holds in hourly.why.items() if name != "spread-too-wide"])
        | hourly.is_worse
    )
    slack = np.append(np.inf, thresholds.slack)[np.minimum(hourly.hours // 24, DAYS)] * own_spread(mean)
    share = np.where(others, -np.inf, (SLOWER_MARGIN - hourly.mean) / slack).max(axis=-1)
    return float(np.clip(conformal_level(share, NO_SLOWER_PROMISE), 0.2, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Groups of one size in their weeks: deviations and busy hours, [group, volume, hour]."""

    members: FloatArray
    controls: FloatArray
    is_busy: BoolArray


def group_world(machines: IntArray, size: int, zones: int, controls: int, rng: np.random.Generator) -> World:
    """A world whose zones have an application of a group and its controls, and volumes of others."""
    each = size + controls + OTHERS
    count = zones * each
    number = np.arange(count)
    zone, place = number // each, number % each
    is_control = (place >= size) & (place < size + controls)
    any_work, much_work = find_working(machines, SOME_WORK), find_working(machines, MUCH_WORK)
    variants = np.where(is_control, rng.choice(much_work, count), rng.choice(any_work, count))
    application = zone * (OTHERS // 2 + 1) + np.maximum(0, place - size - controls + 2) // 2
    return make_world(variants, rng.integers(0, WEEKS, count), zone, application, rng)


def groups_of(world: World, begin: int, size: int, controls: int, then: FloatArray | None = None) -> Groups:
    """The groups of a world in the week that begins at an hour; `then` are the latencies of the watch, if changed."""
    window = slice(begin - PAST_H, begin + WEEK_H)
    operations, latency = world.operations[:, window], np.array(world.mean[:, window])
    if then is not None:
        latency[:, PAST_H:] = then
    excess = excess_over_past(np.exp(latency), operations)
    zones = excess.reshape(world.zones.max() + 1, -1, excess.shape[-1])
    siblings = zones[:, size + controls :]
    less = np.stack([subtract_siblings(zone, others) for zone, others in zip(zones, siblings, strict=True)])
    deviations = center_on_week_before(less)
    return Groups(
        members=deviations[:, :size],
        controls=deviations[:, size : size + controls],
        is_busy=mark_busy_hours(operations).reshape(zones.shape)[:, :size],
    )


def join_groups(lots: Sequence[Groups]) -> Groups:
    """Groups of several weeks as one lot."""
    return Groups(
        members=np.concatenate([lot.members for lot in lots]),
        controls=np.concatenate([lot.controls for lot in lots]),
        is_busy=np.concatenate([lot.is_busy for lot in lots]),
    )


def _learn_rows(split: Split, size: int, slower: SideThresholds, rng: np.random.Generator) -> Iterable[GroupThresholds]:
    """The rows of a size, with the hold-back and without it."""
    lots = []
    for machines in (split.bets, split.levels):
        world = group_world(machines, size, ZONES[size], CONTROLS, rng)
        lots.append(join_groups([groups_of(world, begin, size, CONTROLS) for begin in starts()]))
    for has_controls in (True, False):
        learned, levels = (
            subtract_controls(lot.members, lot.controls) if has_controls else lot.members for lot in lots
        )
        table = learn_bets(mean_of_members(learned), GROUP_LINES)
        scale = scale_of_members(learned, slower.mean)
        together = mean_of_members(levels)
        by_members = play_bets(slower.mean, levels).mean(axis=-2) / scale
        highest = highest_of(np.maximum(play_bets(table, together), by_members))
        highest = highest[some_evidence(together)]
        yield GroupThresholds(
            size=size,
            has_controls=has_controls,
            mean=table,
            members_scale=scale,
            levels={level: conformal_level(highest, level) for level in (0.01, 0.05)},
            observed={},
            slack=learn_slack(np.concatenate([mean_of_members(learned), together])),
            placebo_weeks=len(highest),
            observed_weeks=0,
        )


def some_evidence(together: FloatArray) -> BoolArray:
    """The groups with an hour of evidence in the watch."""
    return np.asarray((~np.isnan(together[:, WEEK_H:])).any(axis=-1))
