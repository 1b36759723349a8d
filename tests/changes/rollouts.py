"""Whole rollouts of 300 volumes: the waves of `plimsoll_change.waves`, each judged by the rule, day by day.

A wave that is not told within two bakes is held for a person, and so is the rollout after two volumes of a wave were
called worse by comparison. The person looks for a day and decides rightly: harmless changes go on, harmful ones stop. A
volume that is called worse goes back alone. A wave that is called worse stops the rollout, in its week as well.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll_change.evidence import (
    LEAST_SIBLINGS,
    Deviations,
    center_on_week_before,
    excess_over_past,
    mark_busy_hours,
    subtract_siblings,
)
from plimsoll_change.group_verdict import CONFIRMED_BY, CONFIRMED_P, judge_group_hours, permutation_p, subtract_controls
from plimsoll_change.thresholds import Thresholds
from plimsoll_change.verdict import judge_hours
from plimsoll_change.watch import PAST_H, WEEK_H
from plimsoll_change.waves import Wave, WaveKind, WaveMember, draw_waves
from tests.changes.latency import HOURS, WEEKS, World, find_working, make_world
from tests.changes.learning import SOME_WORK, learn_thresholds, split_machines
from tests.changes.weeks import BUDGET_MINUTES

START_HOUR: Final = PAST_H + WEEK_H
VOLUMES: Final = 300
APPLICATIONS: Final = 12
ZONES: Final = 3
SIBLINGS: Final = 12
PERSON_H: Final = 24
CANARY_BAKE_H: Final = 24
SILENT: Final = 0.3
"""The share of volumes that are drawn from machines without regard to their work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """What is true of a rollout: how much slower each volume becomes when it is changed, and what disturbs others."""

    slower: FloatArray  # logarithms, by volume
    release: float = 0.0  # of the first application, at the third wave
    disturbance: float = 0.0  # of the first zone, for twenty hours from the third wave on

    @property
    def is_harmful(self) -> bool:
        return bool((self.slower > 0).any())


@dataclass(slots=True, kw_only=True)
class RolloutOutcome:
    """What became of a rollout."""

    plot: str
    has_hold_back: bool
    days: float = 0.0
    stopped: bool = False
    stopped_by_person: bool = False  # who was asked
    asked: int = 0
    changed: int = 0
    harmed_left: int = 0  # changed, harmed, and not called back alone
    harmless_back: int = 0
    changed_when_stopped: int = 0


@dataclass(slots=True, kw_only=True)
class _Rollout:
    world: World
    plot: Plot
    thresholds: Thresholds
    hold_back: IntArray
    outcome: RolloutOutcome
    back: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)
    stops_at: list[int] = field(default_factory=list)  # hours at which a wave turns out worse


def _tenth(rng: np.random.Generator, factor: float) -> FloatArray:
    slower = np.zeros(VOLUMES)
    slower[rng.choice(VOLUMES, VOLUMES // 10, replace=False)] = np.log(factor)
    return slower


PLOTS: Final[dict[str, Callable[[np.random.Generator], Plot]]] = {
    "harmless": lambda _rng: Plot(slower=np.zeros(VOLUMES)),
    "a tenth x2": lambda rng: Plot(slower=_tenth(rng, 2.0)),
    "all x1.25": lambda _rng: Plot(slower=np.full(VOLUMES, np.log(1.25))),
    "harmless, a release x1.3 in the middle": lambda _rng: Plot(slower=np.zeros(VOLUMES), release=np.log(1.3)),
    "harmless, a zone disturbed in the middle": lambda _rng: Plot(slower=np.zeros(VOLUMES), disturbance=np.log(1.8)),
}


def roll_out(
    seed: int, name: str, thresholds: Thresholds, machines: IntArray, *, hold_back: bool = True
) -> RolloutOutcome:
    """One rollout of 300 volumes of machines that were not learned from."""
    rng = np.random.default_rng([5, seed, list(PLOTS).index(name)])
    plot = PLOTS[name](rng)
    zones = np.arange(VOLUMES) % ZONES
    applications = np.arange(VOLUMES) % APPLICATIONS
    world = _draw_world(machines, zones, applications, rng)
    working = (world.operations[:, :PAST_H] >= 1000).mean(axis=1) >= 0.5
    members = [
        WaveMember(
            id=f"{volume:03}",
            change_class="gp3 to gp3, by hand",
            zone=f"zone-{zones[volume]}",
            application=f"application-{applications[volume]}",
            has_work=bool(working[volume]) and hold_back,
        )
        for volume in range(VOLUMES)
    ]
    waves = draw_waves(members, f"seed {seed}")
    held = np.array([int(each) for wave in waves if wave.kind is WaveKind.HELD_BACK for each in wave.members], np.int64)
    rollout = _Rollout(
        world=world,
        plot=plot,
        thresholds=thresholds,
        hold_back=held,
        outcome=RolloutOutcome(plot=name, has_hold_back=hold_back),
    )
    return _walk(rollout, waves)


def _draw_world(machines: IntArray, zones: IntArray, applications: IntArray, rng: np.random.Generator) -> World:
    working, all_variants = find_working(machines, SOME_WORK), find_working(machines, 0.0)
    silent = rng.random(VOLUMES) < SILENT
    variants = np.where(silent, rng.choice(all_variants, VOLUMES), rng.choice(working, VOLUMES))
    return make_world(variants, rng.integers(0, WEEKS, VOLUMES), zones, applications, rng)


def _walk(rollout: _Rollout, waves: tuple[Wave, ...]) -> RolloutOutcome:
    """Takes wave after wave until all are changed or one stops."""
    hour, outcome = START_HOUR, rollout.outcome
    drawn = [wave for wave in waves if wave.kind is not WaveKind.HELD_BACK]
    last = hour
    for number, wave in enumerate(drawn):
        if number == 2:
            _disturb(rollout, hour)
        members = np.array([int(each) for each in wave.members])
        took, goes_on = _take_wave(rollout, wave, members, hour)
        early = min((at for at in rollout.stops_at if at <= hour + took), default=None)
        last = hour + took if early is None else early
        if early is not None or not goes_on:
            outcome.stopped_by_person = early is None
            return _finish(rollout, last, is_stopped=True)
        hour += took
        if hour + 2 * WEEK_H > HOURS:
            break
    rest = {int(each) for each in rollout.hold_back}
    rollout.changed |= rest
    outcome.days = (last + WEEK_H - START_HOUR) / 24  # the last week is that of the hold-back, or of the last wave
    return _finish(rollout, None, is_stopped=False)


def _finish(rollout: _Rollout, at: int | None, *, is_stopped: bool) -> RolloutOutcome:
    outcome = rollout.outcome
    outcome.stopped, outcome.changed = is_stopped, len(rollout.changed)
    if at is not None:
        outcome.days = (at - START_HOUR) / 24
        outcome.changed_when_stopped = len(rollout.changed)
    left = rollout.changed - rollout.back
    outcome.harmed_left = sum(1 for volume in left if rollout.plot.slower[volume] > 0)
    outcome.harmless_back = sum(1 for volume in rollout.back if rollout.plot.slower[volume] == 0)
    return outcome


def _disturb(rollout: _Rollout, hour: int) -> None:
    world, plot = rollout.world, rollout.plot
    if plot.release:
        at = world.applications == 0
        world.mean[at, hour + 12 :] += plot.release
        world.highest[at, hour + 12 :] += plot.release
    if plot.disturbance:
        at = np.flatnonzero(world.zones == 0)
        felt = np.random.default_rng(9).uniform(0, 1, (len(at), 1)) * plot.disturbance
        world.mean[at, hour + 6 : hour + 26] += felt
        world.highest[at, hour + 6 : hour + 26] += felt


def _take_wave(rollout: _Rollout, wave: Wave, members: IntArray, hour: int) -> tuple[int, bool]:
    """Changes a wave at an hour: how many hours until the next may begin, and whether it may."""
    watched, controls = _deviations(rollout, members, hour), _controls(rollout, hour)
    rollout.changed |= {int(volume) for volume in members}
    stopped = np.zeros((len(members), WEEK_H))
    budget = np.full_like(stopped, BUDGET_MINUTES)
    hourly = judge_hours(watched, stopped, budget, hour - WEEK_H, rollout.thresholds)
    bake = int(wave.bake_h)
    for place in np.flatnonzero(hourly.is_worse.any(axis=1)):
        rollout.back.add(int(members[place]))
    alarms = np.sort(np.argmax(hourly.is_worse, axis=1)[hourly.is_worse.any(axis=1)])
    if len(members) == 1:
        return _take_canary(rollout, hourly.is_held[0] | hourly.is_worse[0], bake)
    relative = subtract_controls(watched.mean, controls)[np.newaxis]
    row = rollout.thresholds.group_of(len(members), has_controls=len(controls) >= LEAST_SIBLINGS)
    group = judge_group_hours(relative, watched.is_busy[np.newaxis], row, rollout.thresholds)
    suspect = _confirmed(group.is_suspect[0], relative[0], controls)
    if suspect is not None:
        rollout.stops_at.append(hour + suspect + 1)
    goes = (group.is_within & group.is_busy_seen)[0]
    goes[: bake - 1] = False
    first = int(np.argmax(goes)) + 1 if goes[: 2 * bake].any() else None
    paused = len(alarms) >= 2 and int(alarms[1]) < (first or 2 * bake)
    if first is not None and not paused:
        return first, True
    rollout.outcome.asked += 1
    return (first or 2 * bake) + PERSON_H, not rollout.plot.is_harmful


def _take_canary(rollout: _Rollout, is_held: BoolArray, bake: int) -> tuple[int, bool]:
    """A canary is only asked for alarms; one that is held waits for a person."""
    if not is_held[:bake].any():
        return bake, True
    rollout.outcome.asked += 1
    return bake + PERSON_H, not rollout.plot.is_harmful


def _confirmed(is_suspect: BoolArray, relative: FloatArray, controls: FloatArray) -> int | None:
    """The hour after which a wave is called worse, None if never; looked at each sixth hour after the first alarm."""
    if not is_suspect.any():
        return None
    if len(controls) < CONFIRMED_BY:
        return int(np.argmax(is_suspect))
    theirs = subtract_controls(controls, controls)
    for at in range(int(np.argmax(is_suspect)), WEEK_H, 6):
        until = slice(WEEK_H, WEEK_H + at + 1)
        if is_suspect[at] and permutation_p(relative[:, until], theirs[:, until]) <= CONFIRMED_P:
            return at
    return None


def _deviations(rollout: _Rollout, members: IntArray, hour: int) -> Deviations:
    world, window = rollout.world, slice(hour - PAST_H, hour + WEEK_H)
    slower = rollout.plot.slower[members, np.newaxis]
    excess = []
    for latency in (world.mean, world.highest):
        changed = np.array(latency[members, window])
        changed[:, PAST_H:] += slower
        own = excess_over_past(np.exp(changed), world.operations[members, window])
        excess.append(center_on_week_before(_less_siblings(rollout, own, members, latency, hour)))
    return Deviations(mean=excess[0], highest=excess[1], is_busy=mark_busy_hours(world.operations[members, window]))


def _less_siblings(rollout: _Rollout, own: FloatArray, members: IntArray, latency: FloatArray, hour: int) -> FloatArray:
    """The excess less that of volumes of the same zone that nobody has changed yet."""
    world, window = rollout.world, slice(hour - PAST_H, hour + WEEK_H)
    changed = rollout.changed | {int(volume) for volume in members}
    unchanged = np.array([volume for volume in range(VOLUMES) if volume not in changed], np.int64)
    less = np.array(own)
    for zone in range(ZONES):
        siblings = unchanged[world.zones[unchanged] == zone][:SIBLINGS]
        rows = world.zones[members] == zone
        if len(siblings) and rows.any():
            theirs = excess_over_past(np.exp(latency[siblings, window]), world.operations[siblings, window])
            less[rows] = subtract_siblings(own[rows], theirs)
    return less


def _controls(rollout: _Rollout, hour: int) -> FloatArray:
    """The deviations of the volumes that are held back, [volume, hour]; none without a hold-back."""
    world, window, held = rollout.world, slice(hour - PAST_H, hour + WEEK_H), rollout.hold_back
    excess = excess_over_past(np.exp(world.mean[held, window]), world.operations[held, window])
    return center_on_week_before(_less_siblings(rollout, excess, held, world.mean, hour)) if len(held) else excess


def roll_out_all(seeds: int) -> list[RolloutOutcome]:
    """Rollouts of every plot, as many of each, with a hold-back and without one.

    The thresholds are those of one split, the volumes those of the machines that it left out.
    """
    split = split_machines(0)
    thresholds = learn_thresholds(split, np.random.default_rng([5, 0]))
    return [
        roll_out(seed, name, thresholds, split.judged, hold_back=hold_back)
        for name in PLOTS
        for seed in range(seeds)
        for hold_back in (True, False)
    ]
