"""Judging: changed lines and the volumes beside them, read as watches and given to the verdict's rule."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import numpy as np

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.registry import AWS
from plimsoll.model.errors import CloudError
from plimsoll.model.volume import Volume
from plimsoll.ports import Metrics, Target, UnreadVolume
from plimsoll_change.group_verdict import judge_wave
from plimsoll_change.ledger import FactKind, Leg
from plimsoll_change.line import LineJob
from plimsoll_change.plan import ControlVolume, PlannedLine
from plimsoll_change.ports import VolumeChanger
from plimsoll_change.progress import Progress, has_begun
from plimsoll_change.thresholds import Thresholds, shipped_thresholds
from plimsoll_change.verdict import judge_change
from plimsoll_change.watch import ChangeVerdict, ChangeWatch, GroupVerdict
from plimsoll_change.watching import WatchedVolume, hour_of, read_watches

_MOST_SIBLINGS: Final = 14
_MOST_CONTROLS: Final = 30
"""Unchanged volumes beside a changed one, and beside a wave: more add little to a median."""

_LEAST_CONTROLS: Final = 3


@dataclass(slots=True, kw_only=True)
class MetricsJudge:
    """Verdicts by metrics, calibrated on what ships with the program."""

    changer: VolumeChanger
    metrics: Metrics
    say: Callable[[str], None]
    thresholds: Thresholds = field(default_factory=shipped_thresholds)

    def judge_lines(self, progress: Progress, jobs: Sequence[LineJob], now: datetime) -> Mapping[str, ChangeVerdict]:
        """The verdict on each line that was changed, by line; without those that cannot be read."""
        lines = {job.line.volume_id: job.line.id for job in jobs}
        asked = list(self._ask_lines(progress, jobs))
        return {lines[watch.volume_id]: judge_change(watch, self.thresholds) for watch in self._read(asked, now)}

    def judge_group(
        self, progress: Progress, members: Sequence[LineJob], bake_h: float, now: datetime
    ) -> GroupVerdict | None:
        """The verdict on the lines of a wave, against volumes of the same applications that were not changed."""
        watches = list(self._read(list(self._ask_lines(progress, members)), now))
        if not watches:
            return None
        requested = [fact for job in members if (fact := job.find(FactKind.REQUESTED)) is not None]
        controls = find_controls(progress, [job.line for job in members])[:_MOST_CONTROLS]
        volumes = self._look([(control.target, control.volume_id) for control in controls])
        begun = min(fact.at for fact in requested)
        beside = [self._ask_unchanged(volume, begun) for volume in volumes.values()]
        return judge_wave(watches, list(self._read(beside, now)), self.thresholds, bake_h=round(bake_h))

    def count_stopped(self, lines: Sequence[PlannedLine], since: datetime, now: datetime) -> Mapping[str, float]:
        """The minutes since a time in which volumes that are not changed yet were stopped, by line.

        Those that they were stopped for in as many hours before are not counted.
        """
        volumes = self._look((line.target, line.volume_id) for line in lines)
        names = {line.volume_id: line.id for line in lines}
        asked = [self._ask_unchanged(volume, now) for volume in volumes.values()]
        return {names[watch.volume_id]: _count_new_stops(watch, since) for watch in self._read(asked, now)}

    def _ask_unchanged(self, volume: Volume, requested: datetime) -> WatchedVolume:
        return WatchedVolume(
            volume=volume,
            requested=requested,
            completed=None,
            now_spec=volume.spec,
            then_spec=volume.spec,
            budget_minutes=0.0,
        )

    def _ask_lines(self, progress: Progress, jobs: Sequence[LineJob]) -> Iterator[WatchedVolume]:
        controls = {job.line.id: find_controls(progress, [job.line])[:_MOST_SIBLINGS] for job in jobs}
        wanted = {(control.target, control.volume_id) for group in controls.values() for control in group}
        volumes = self._look([*((job.line.target, job.line.volume_id) for job in jobs), *sorted(wanted)])
        for job in jobs:
            volume, requested, completed = (
                volumes.get(job.line.volume_id),
                job.find(FactKind.REQUESTED),
                job.find(FactKind.COMPLETED),
            )
            if volume is None or requested is None:
                continue
            siblings = (volumes.get(control.volume_id) for control in controls[job.line.id])
            is_back = job.leg is Leg.BACK
            yield WatchedVolume(
                volume=volume,
                requested=requested.at,
                completed=None if completed is None else completed.at,
                now_spec=job.line.then if is_back else job.line.now,
                then_spec=job.target,
                budget_minutes=job.line.budget_minutes,
                siblings=tuple(sibling for sibling in siblings if sibling is not None),
            )

    def _read(self, asked: Sequence[WatchedVolume], now: datetime) -> Iterator[ChangeWatch]:
        for watch in read_watches(asked, self.metrics, now, volume_types(AWS)):
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


def _count_new_stops(watch: ChangeWatch, since: datetime) -> float:
    place = max(0, hour_of(since) - watch.start_hour)
    later, earlier = watch.stopped_minutes[place:], watch.stopped_minutes[:place]
    usual = float(np.nansum(earlier)) / max(1, np.isfinite(earlier).sum()) * np.isfinite(later).sum()
    return max(0.0, float(np.nansum(later)) - float(usual))


def find_controls(progress: Progress, lines: Sequence[PlannedLine]) -> list[ControlVolume]:
    """The volumes with work that stay as they are beside these lines: of their applications, else of their zones.

    Held back volumes of the plan and others of its run.
    """
    unchanged = [
        ControlVolume(
            target=job.line.target,
            zone=job.line.zone,
            volume_id=job.line.volume_id,
            application=job.line.application,
        )
        for job in progress.jobs.values()
        if job.line.has_work and not has_begun(job)
    ]
    controls = [*unchanged, *progress.plan.controls]
    applications = {line.application for line in lines} - {""}
    beside = [control for control in controls if control.application in applications]
    zones = {(line.target, line.zone) for line in lines}
    if len(beside) >= _LEAST_CONTROLS:
        return beside
    return [control for control in controls if (control.target, control.zone) in zones]
