"""Judging: changed lines and the volumes beside them, read as watches and given to the verdict's rule."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeVar

import numpy as np

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.registry import cloud_of_account
from plimsoll.model.errors import CloudError
from plimsoll.model.units import HOUR_S
from plimsoll.model.volume import Volume
from plimsoll.ports import Metrics, Target, UnreadVolume
from plimsoll.reading.window import Window
from plimsoll_change.evidence import LEAST_SIBLINGS, cut_placebos
from plimsoll_change.group_verdict import judge_wave
from plimsoll_change.ledger import CALIBRATION_ROW, ChangeLedger, Fact, FactKind, Leg, find_latest
from plimsoll_change.line import LineJob
from plimsoll_change.plan import ControlVolume, PlannedLine
from plimsoll_change.ports import VolumeChanger
from plimsoll_change.progress import Progress, has_begun
from plimsoll_change.thresholds import Thresholds, learn_own_levels, own_thresholds, shipped_thresholds
from plimsoll_change.verdict import judge_change
from plimsoll_change.watch import PAST_H, WEEK_H, ChangeVerdict, ChangeWatch, GroupVerdict, HourlySignal, OwnLevels
from plimsoll_change.watching import WatchedVolume, hour_of, last_hour_s, read_signals, read_watches

_MOST_SIBLINGS: Final = 14
_MOST_CONTROLS: Final = 30
"""Unchanged volumes beside a changed one, and beside a wave: more add little to a median."""


_CALIBRATED: Final = 100
"""The most volumes whose weeks are read as placebos, once for a plan: as much as judging as many lines once."""

_CALIBRATED_H: Final = PAST_H + 7 * WEEK_H
"""Seven placebos of each, so that 29 volumes with work are enough for 1 %."""


Unchanged = PlannedLine | ControlVolume
PlacedT = TypeVar("PlacedT")


@dataclass(slots=True, kw_only=True)
class MetricsJudge:
    """Verdicts by metrics, calibrated on the account's own weeks where those are enough."""

    ledger: ChangeLedger
    changer: VolumeChanger
    metrics: Callable[[str], Metrics]  # of a cloud by its name
    say: Callable[[str], None]
    _thresholds: Thresholds | None = None  # of the plan, once they are known

    def judge_lines(self, progress: Progress, jobs: Sequence[LineJob], now: datetime) -> Mapping[str, ChangeVerdict]:
        """The verdict on each line that was changed, by line; without those that cannot be read."""
        lines = {job.line.volume_id: job.line.id for job in jobs}
        asked = list(self._ask_lines(progress, jobs))
        thresholds = self._find_thresholds(now) if asked else shipped_thresholds()
        return {lines[watch.volume_id]: judge_change(watch, thresholds) for watch in self._read(asked, now)}

    def judge_group(
        self, progress: Progress, members: Sequence[LineJob], bake_h: float, now: datetime
    ) -> GroupVerdict | None:
        """The verdict on the lines of a wave, against volumes of the same applications that were not changed."""
        watches = list(self._read(list(self._ask_lines(progress, members)), now))
        if not watches:
            return None
        controls = find_controls(progress, [job.line for job in members])[:_MOST_CONTROLS]
        volumes = self._look([(control.target, control.volume_id) for control in controls])
        begun = min(fact.at for job in members if (fact := job.find(FactKind.REQUESTED)) is not None)
        beside = [self._ask_unchanged(volume, begun) for volume in volumes.values()]
        return judge_wave(watches, list(self._read(beside, now)), self._find_thresholds(now), bake_h=round(bake_h))

    def count_stopped(self, lines: Sequence[PlannedLine], since: datetime, now: datetime) -> Mapping[str, float]:
        """The minutes since a time in which volumes that are not changed yet were stopped, by line.

        Those that they were stopped for in as many hours before are not counted.
        """
        volumes = self._look((line.target, line.volume_id) for line in lines)
        names = {line.volume_id: line.id for line in lines}
        asked = [self._ask_unchanged(volume, now) for volume in volumes.values()]
        return {names[watch.volume_id]: _count_new_stops(watch, since) for watch in self._read(asked, now)}

    def _find_thresholds(self, now: datetime) -> Thresholds:
        """The thresholds of the plan: the levels of the account are learned once, and kept in the ledger."""
        if self._thresholds is None:
            shipped, fact = shipped_thresholds(), find_latest(self.ledger.facts(CALIBRATION_ROW), FactKind.CALIBRATED)
            levels = None if fact is None else fact.own_levels
            if levels is None:
                try:
                    levels = self._learn_levels(shipped, now)
                except CloudError as error:
                    self.say(f"the shipped calibration holds, as the account's own weeks cannot be read now: {error}")
                    return shipped
                text = f"{levels.weeks} weeks in which nobody changed the plan's volumes, or those beside them."
                fact = Fact(kind=FactKind.CALIBRATED, at=now, text=text, own_levels=levels)
                self.ledger.add_in_turn(CALIBRATION_ROW, fact)
            self._thresholds = own_thresholds(levels, shipped)
        return self._thresholds

    def _learn_levels(self, shipped: Thresholds, now: datetime) -> OwnLevels:
        """The levels that the plan's volumes with work, and those beside them, reached before it was made.

        A placebo's siblings are controls alone: more than its change will have would make the levels too low.
        """
        plan = self.ledger.plan
        working: list[Unchanged] = [line for line in plan.lines if line.has_work]
        beside = find_beside(working, plan.controls)
        controls: list[Unchanged] = sorted(plan.controls, key=lambda control: control not in beside)
        of_plan = max(_CALIBRATED // 2, _CALIBRATED - len(controls))
        pool = [*working[:of_plan], *controls][:_CALIBRATED]
        volumes = self._look((each.target, each.volume_id) for each in pool)
        clouds = _group_by_cloud(volumes.values(), lambda volume: volume)
        ends_s = (last_hour_s(self.metrics(cloud), now) for cloud in clouds)
        end_s = min([hour_of(plan.made) * HOUR_S, *ends_s])
        window = Window(start_s=end_s - _CALIBRATED_H * HOUR_S, end_s=end_s)
        read = [read_signals(part, window, self.metrics(cloud)) for cloud, part in clouds.items()]
        signals = {name: each for part in read for name, each in part.items() if not isinstance(each, CloudError)}
        pool = [each for each in pool if each.volume_id in signals]
        if not pool:
            return OwnLevels(weeks=0, slower={}, faster={})
        places = {each.volume_id: place for place, each in enumerate(pool)}
        kept = [each for each in controls if each.volume_id in places]
        beside_each = (find_beside([each], [other for other in kept if other is not each]) for each in pool)
        siblings = [[places[other.volume_id] for other in others[:_MOST_SIBLINGS]] for others in beside_each]
        unchanged = [_cut_changed(volumes[name], signals[name], window) for name in places]
        first_hour = window.start_s // HOUR_S + PAST_H - WEEK_H
        return learn_own_levels(cut_placebos(unchanged, siblings), first_hour, shipped)

    def _ask_unchanged(self, volume: Volume, requested: datetime) -> WatchedVolume:
        return WatchedVolume(volume=volume, requested=requested, now_spec=volume.spec, then_spec=volume.spec)

    def _ask_lines(self, progress: Progress, jobs: Sequence[LineJob]) -> Iterator[WatchedVolume]:
        controls = {job.line.id: find_controls(progress, [job.line])[:_MOST_SIBLINGS] for job in jobs}
        wanted = {(control.target, control.volume_id) for group in controls.values() for control in group}
        volumes = self._look([*((job.line.target, job.line.volume_id) for job in jobs), *sorted(wanted)])
        for job in jobs:
            volume, requested = volumes.get(job.line.volume_id), job.find(FactKind.REQUESTED)
            completed, siblings = job.find(FactKind.COMPLETED), controls[job.line.id]
            begun = completed if job.leg is Leg.BACK else requested  # until it is back, what stops it is the change
            if volume is None or requested is None or begun is None:
                continue
            yield WatchedVolume(
                volume=volume,
                requested=begun.at,
                completed=None if completed is None else completed.at,
                now_spec=job.line.then if job.leg is Leg.BACK else job.line.now,
                then_spec=job.target,
                budget_minutes=job.line.budget_minutes,
                siblings=tuple(volumes[each.volume_id] for each in siblings if each.volume_id in volumes),
            )

    def _read(self, asked: Sequence[WatchedVolume], now: datetime) -> Iterator[ChangeWatch]:
        for cloud, part in _group_by_cloud(asked, lambda watched: watched.volume).items():
            for watch in read_watches(part, self.metrics(cloud), now, volume_types(cloud)):
                if isinstance(watch, UnreadVolume):
                    self.say(f"{watch.id}: {watch.error}")
                else:
                    yield watch

    def _look(self, names: Iterable[tuple[Target, str]]) -> dict[str, Volume]:
        places: dict[Target, list[str]] = {}
        for target, name in names:
            places.setdefault(target, []).append(name)
        sights: dict[str, Volume | CloudError] = {}
        for target, ids in places.items():
            sights |= self.changer.look(target, ids)
        return {name: sight for name, sight in sights.items() if isinstance(sight, Volume)}


def _group_by_cloud(items: Iterable[PlacedT], volume_of: Callable[[PlacedT], Volume]) -> dict[str, list[PlacedT]]:
    groups: dict[str, list[PlacedT]] = {}
    for item in items:
        groups.setdefault(cloud_of_account(volume_of(item).account).name, []).append(item)
    return groups


def _count_new_stops(watch: ChangeWatch, since: datetime) -> float:
    place = max(0, hour_of(since) - (watch.requested_hour - PAST_H))
    later, earlier = watch.stopped_minutes[place:], watch.stopped_minutes[:place]
    usual = float(np.nansum(earlier)) / max(1, np.isfinite(earlier).sum()) * np.isfinite(later).sum()
    return max(0.0, float(np.nansum(later)) - float(usual))


def _cut_changed(volume: Volume, signal: HourlySignal, window: Window) -> HourlySignal:
    """The signal without what came after the volume's latest modification."""
    change = volume.modification
    if change is None:
        return signal
    hours = window.start_s // HOUR_S + np.arange(len(signal.operations))
    return replace(signal, operations=np.where(hours < hour_of(change.started), signal.operations, np.nan))


def find_controls(progress: Progress, lines: Sequence[PlannedLine]) -> list[Unchanged]:
    """The volumes with work that stay as they are beside these lines: held back ones of the plan, others of its run."""
    held = [job.line for job in progress.jobs.values() if job.line.has_work and not has_begun(job)]
    return find_beside(lines, [*held, *progress.plan.controls])


def find_beside(lines: Sequence[Unchanged], others: Sequence[Unchanged]) -> list[Unchanged]:
    """The other volumes of the same applications as some in their clouds, else of the same zones."""
    clouds = {line.target.provider for line in lines}
    others = [other for other in others if other.target.provider in clouds]
    applications = {line.application for line in lines} - {""}
    beside = [other for other in others if other.application in applications]
    if len(beside) >= LEAST_SIBLINGS:
        return beside
    zones = {(line.target, line.zone) for line in lines}
    return [other for other in others if (other.target, other.zone) in zones]
