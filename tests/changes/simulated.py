"""Changes of a simulated fleet that goes on living, each with the truth of what it stopped.

Volumes are the simulator's, by its own minutes, limits and unrest. Plimsoll's rollout and judge see them as EC2 and
CloudWatch show them, in one process: `python -m tests.changes.simulated --changes 1000` prints what came of 1,000.

    harmless   the target carries 1.35 to 1.8 times the busiest minute: queueing may still make busy hours slower
    harmed     the target carries 40 to 97 % of the busiest minute
    raised     the limit held the workload back before, and rises
"""

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

import numpy as np

from cloud_simulator.aws.cloudwatch import CloudWatch
from cloud_simulator.aws.fleet import Fleet, SimulatedVolume, served_minutes
from cloud_simulator.aws.living import LivingFleet
from cloud_simulator.aws.volume_maker import VolumeMaker, gp3
from cloud_simulator.clock import SimulatedClock
from cloud_simulator.faults import Refused
from cloud_simulator.metrics.live_minutes import Life, carry_minutes, latency_factors, stopped_minutes
from cloud_simulator.metrics.modifications import Modification as LivingModification
from cloud_simulator.metrics.unrest import Unrest
from cloud_simulator.metrics.workloads import Archetype
from plimsoll.clouds.aws.metrics import RETENTION_DAYS
from plimsoll.clouds.aws.queries import Query, queries_of
from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.errors import CloudError
from plimsoll.model.volume import Attachment, Host, Modification, Volume, VolumeSpec, VolumeState
from plimsoll.ports import Target
from plimsoll.reading.known import Ask, Found
from plimsoll.reading.window import Window
from plimsoll_change.apply import Rollout
from plimsoll_change.evidence import BUSY_HOURS
from plimsoll_change.judging import MetricsJudge
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind, Leg
from plimsoll_change.line import LineContext, LineJob
from plimsoll_change.plan import ChangePlan, ControlVolume, PlannedLine, hours_until_back
from plimsoll_change.ports import ModifyRefused
from plimsoll_change.rules import ChangeRules
from plimsoll_change.waves import Wave, WaveKind
from tests.in_memory.service import MemoryClaims
from tests.unit.change.memory import MemoryFacts, a_line, a_plan

NOW = datetime(2026, 11, 2, 8, tzinfo=UTC)
ACCOUNT, REGION = "111111111111", "us-east-1"
TARGET = Target(account=ACCOUNT, region=REGION)
BUDGET_MINUTES = 15.0
CONTROLS = 14
"""Volumes beside the changed ones that stay as they are."""

BEFORE = gp3(100, 12_000, 800)
_CLASS = "gp3 to gp3, hand"
_NAMED_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_WEEK_MINUTES = 7 * 1440
_SLOWER = (0.0, 1.05, 1.25)
_SLOWER_WORDS = ("under 5 %", "5 to 25 %", "25 % and more")
"""The bounds of the latency of busy hours after a change: nothing that counts, something, what the rule calls worse."""


class Fate(StrEnum):
    """What a change does to its volume."""

    HARMLESS = "harmless"
    HARMED = "harmed"
    RAISED = "raised"


@dataclass(frozen=True, kw_only=True)
class SimulatedChange:
    """A volume, and the target that it is given."""

    volume: SimulatedVolume
    fate: Fate
    target: VolumeSpec


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a change: hours since its request, None for what never was.

    `crossed_h` is when it had stopped more minutes than promised, `completed_h` when the cloud took another request,
    `asked_h` when its way back was asked for. `busy_latency` is what the change makes of the latency of the 17 busiest
    hours of a week, by the simulator's queueing: 1 is no effect.
    """

    name: str
    fate: Fate
    stopped_minutes: float
    busy_latency: float
    crossed_h: float | None
    completed_h: float
    asked_h: float | None
    planned_h: float
    code: str
    is_direct: bool

    @property
    def possible_h(self) -> float | None:
        """When the way back could first be asked for: the hour that went over is over, and the change is completed."""
        return None if self.crossed_h is None else max(self.crossed_h, self.completed_h)

    @property
    def late_h(self) -> float:
        """The hours between that and the request; infinite if there was none."""
        if self.possible_h is None:
            return 0.0
        return float("inf") if self.asked_h is None else self.asked_h - self.possible_h

    @property
    def waited_h(self) -> float:
        """The hours for which the cloud took nothing back although the minutes were stopped."""
        return 0.0 if self.crossed_h is None else max(0.0, self.completed_h - self.crossed_h)


def draw_changes(count: int, seed: int, *, harmed: float = 0.4, raised: float = 0.1) -> list[SimulatedChange]:
    """Volumes with their targets. The same seed gives the same ones."""
    rng, maker = np.random.default_rng(seed), VolumeMaker(NOW, ACCOUNT, REGION, seed)
    drawn = []
    for number in range(count):
        fate = Fate.HARMED if number < harmed * count else Fate.HARMLESS
        if number >= (1 - raised) * count:
            fate = Fate.RAISED
        drawn.append(_draw_change(maker, fate, rng, number))
    return drawn


def _draw_change(maker: VolumeMaker, fate: Fate, rng: np.random.Generator, number: int) -> SimulatedChange:
    size_gib = int(rng.choice([40, 100, 200, 400, 800]))
    tags = {"app": f"app-{number % 3}"}
    if fate is Fate.RAISED:
        spec = gp3(size_gib, 3500, 250)
        volume = maker.volume(spec, Archetype.THROTTLED_IOPS, f"raised-{number}", low=300, tags=tags)
        return SimulatedChange(volume=volume, fate=fate, target=replace(spec, iops=9000, throughput_mib_s=500))
    patterns = (Archetype.DIURNAL, Archetype.NIGHTLY, Archetype.STEADY, Archetype.BURSTS)
    high = float(rng.uniform(4500, 9000))
    volume = maker.volume(
        replace(BEFORE, size_gib=size_gib),
        patterns[number % len(patterns)],
        f"{fate}-{number}",
        low=high / 8,
        high=high,
        tags=tags,
    )
    share = rng.uniform(0.4, 0.97) if fate is Fate.HARMED else rng.uniform(1.35, 1.8)
    return SimulatedChange(volume=volume, fate=fate, target=_target(volume, share))


def _target(volume: SimulatedVolume, share: float) -> VolumeSpec:
    """The configuration with that share of the busiest minute of the past fortnight; gp3 has 3,000 IOPS at least."""
    minutes = served_minutes(volume, int(NOW.timestamp()) // 60 - 14 * 1440, 14 * 1440)
    busiest = np.nanmax(minutes["read_ops"] + minutes["write_ops"]) / 60
    iops = min(BEFORE.iops, max(3000, round(share * busiest)))
    return replace(volume.spec, iops=iops, throughput_mib_s=max(125, round(iops * 16 / 1024 * 1.5)))


@dataclass(kw_only=True)
class SimulatedAccount:
    """The fleet, its clock and its metrics, and the volumes as Plimsoll has them. It is what changes them, too."""

    fleet: LivingFleet
    cloudwatch: CloudWatch
    asked: list[tuple[str, VolumeSpec, datetime]] = field(default_factory=list)

    @classmethod
    def begin(cls, volumes: Sequence[SimulatedVolume], seed: int) -> "SimulatedAccount":
        fleet = Fleet(now=NOW, accounts=(ACCOUNT,), regions=(REGION,), volumes=tuple(volumes), unrest=Unrest(seed=seed))
        living = LivingFleet.begin(fleet, SimulatedClock(NOW, passing=False))
        cloudwatch = CloudWatch(living)
        cloudwatch.attend(living)
        return cls(fleet=living, cloudwatch=cloudwatch)

    def look(self, _target: Target, volume_ids: Sequence[str]) -> Mapping[str, Volume | CloudError]:
        volumes = ((name, self.fleet.volume(name)) for name in volume_ids)
        return {name: seen_volume(volume) for name, volume in volumes if volume is not None}

    def modify(self, _target: Target, volume_id: str, now: VolumeSpec, then: VolumeSpec, _request: str) -> datetime:
        del now
        volume = self.fleet.volume(volume_id)
        assert volume is not None
        try:
            modification = self.fleet.modify(volume, then, beside=())
        except Refused as refused:
            named = _NAMED_TIME.search(refused.message)
            until = None if named is None else datetime.fromisoformat(named[0])
            raise ModifyRefused(f"{refused.code}: {refused.message}", refused.code, until) from refused
        self.asked.append((volume_id, then, modification.started))
        return modification.started

    def find_starts(self, _target: Target, volume_id: str, since: datetime) -> Sequence[datetime]:
        return [each.started for each in self.fleet.modifications(volume_id) if each.started >= since]

    def find_firing(self, _target: Target, _alarms: Sequence[str]) -> Sequence[str]:
        return ()


def seen_volume(volume: SimulatedVolume) -> Volume:
    """A simulated volume as Plimsoll sees it."""
    change = volume.modification
    attachments = tuple(
        Attachment(host=Host(id=host.id, type=host.type), device=volume.device, since=volume.attached or volume.created)
        for host in volume.hosts
    )
    return Volume(
        id=volume.id,
        account=volume.account,
        region=volume.region,
        zone=volume.zone,
        spec=volume.spec,
        state=VolumeState(volume.state),
        created=volume.created,
        tags=dict(volume.tags),
        attachments=attachments,
        modification=None
        if change is None
        else Modification(
            state=change.state,
            started=change.started,
            progress_pct=change.progress,
            original=change.original,
            ended=change.ended,
            target=change.target,
        ),
    )


@dataclass(kw_only=True)
class SimulatedMetrics:
    """The simulated CloudWatch asked in its own process, by the queries that Plimsoll asks AWS."""

    cloudwatch: CloudWatch
    retention_days: Mapping[int, float] = field(default_factory=lambda: RETENTION_DAYS)
    memory_days: float = 0.0
    visible_after_s: int = 0

    _known: dict[tuple[str, str, str | None, int], tuple[int, np.ndarray]] = field(default_factory=dict)

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        return [self._read(ask) for ask in asks]

    def _read(self, ask: Ask) -> Found:
        """What is over never changes: of each series only the buckets since the last look are asked for."""
        queries = [query for query in queries_of(0, ask) if not query.metric.host]
        missing: dict[Window, list[Query]] = {}
        for query in queries:
            window = self._missing(query)
            if window is not None:
                missing.setdefault(window, []).append(query)
        for window, asked in missing.items():
            for query, values in zip(asked, self._ask(asked, window, ask.volume), strict=True):
                start_s, known = self._known.get(_key(query), (window.start_s, np.empty(0)))
                grown = (window.start_s, values) if window.start_s <= start_s else (start_s, np.append(known, values))
                self._known[_key(query)] = grown
        return {query.metric.series: self._cut(query) for query in queries}

    def _missing(self, query: Query) -> Window | None:
        """The part of a query's window that is not known yet. None if all is."""
        start_s, known = self._known.get(_key(query), (None, np.empty(0)))
        if start_s is None or query.window.start_s < start_s:
            return query.window
        end_s = start_s + len(known) * query.period_s
        return None if end_s >= query.window.end_s else Window(start_s=end_s, end_s=query.window.end_s)

    def _cut(self, query: Query) -> np.ndarray:
        start_s, known = self._known[_key(query)]
        first = (query.window.start_s - start_s) // query.period_s
        return known[first : first + query.window.buckets(query.period_s)]

    def _ask(self, queries: Sequence[Query], window: Window, volume: Volume) -> list[np.ndarray]:
        request = {
            "MetricDataQueries": [query.asked_as(f"q{number}") for number, query in enumerate(queries)],
            "StartTime": window.start_s,
            "EndTime": window.end_s,
            "ScanBy": "TimestampAscending",
        }
        series = [np.full(window.buckets(query.period_s), np.nan) for query in queries]
        token = None
        while True:
            page = request if token is None else {**request, "NextToken": token}
            answer = self.cloudwatch.get_metric_data(page, volume.account, volume.region)
            for result in answer["MetricDataResults"]:
                number = int(result["Id"][1:])
                places = ((result["Timestamps"] - window.start_s) // queries[number].period_s).astype(int)
                series[number][places] = result["Values"] * queries[number].metric.unit
            token = answer.get("NextToken")
            if token is None:
                return series


def _key(query: Query) -> tuple[str, str, str | None, int]:
    return query.volume_id, f"{query.metric.name} {query.metric.stat}", query.metric.instance_id, query.period_s


def plan_changes(changes: Sequence[SimulatedChange], controls: Sequence[SimulatedVolume]) -> ChangePlan:
    """A plan that changes all of them in one wave."""
    lines = [_line(number, change) for number, change in enumerate(changes, start=1)]
    wave = Wave(change_class=_CLASS, number=1, kind=WaveKind.DRAWN, members=tuple(line.id for line in lines), bake_h=24)
    rules = ChangeRules(most_volumes_an_hour=10_000, most_usd_at_risk=1e12, stopped_minutes=BUDGET_MINUTES)
    beside = [
        ControlVolume(target=TARGET, zone=volume.zone, volume_id=volume.id, application=dict(volume.tags)["app"])
        for volume in controls
    ]
    return a_plan(*lines, rules=rules, made=NOW, waves=(wave,), controls=tuple(beside))


def _line(number: int, change: SimulatedChange) -> PlannedLine:
    volume = change.volume
    return a_line(
        number,
        target=TARGET,
        zone=volume.zone,
        volume_id=volume.id,
        name=dict(volume.tags)["Name"],
        now=volume.spec,
        then=change.target,
        back=volume.spec,
        hosts=tuple(host.id for host in volume.hosts),
        fails_with=tuple(f"host {host.id}" for host in volume.hosts),
        change_class=_CLASS,
        application=dict(volume.tags)["app"],
        budget_minutes=BUDGET_MINUTES,
        has_work=True,
    )


def begin_rollout(changes: Sequence[SimulatedChange], seed: int) -> tuple[Rollout, SimulatedAccount]:
    """The approved plan of some changes, ready to be carried out in an account of its own."""
    maker = VolumeMaker(NOW, ACCOUNT, REGION, seed + 5000)
    rng = np.random.default_rng(seed + 5000)
    controls = [_draw_change(maker, Fate.HARMLESS, rng, number).volume for number in range(CONTROLS)]
    account = SimulatedAccount.begin([*(change.volume for change in changes), *controls], seed)
    plan, clock = plan_changes(changes, controls), account.fleet.clock
    ledger = ChangeLedger(store=MemoryFacts(), plan=plan)
    ledger.add(PLAN_ROW, Fact(kind=FactKind.APPROVED, at=NOW, by="ada", digest=plan.digest))
    context = LineContext(
        ledger=ledger,
        changer=account,
        claims=MemoryClaims(),
        patience=BenchPatience(now=clock.now, pause=clock.pause),
        holder="here",
        say=lambda _text: None,
    )
    metrics = SimulatedMetrics(cloudwatch=account.cloudwatch)
    judge = MetricsJudge(ledger=ledger, changer=account, metrics=lambda _: metrics, say=context.say)
    return Rollout(context=context, judge=judge), account


def carry_out(changes: Sequence[SimulatedChange], seed: int) -> tuple[list[Outcome], SimulatedAccount]:
    """Carries all changes out until every watch is over, and what came of each."""
    rollout, account = begin_rollout(changes, seed)
    jobs = {job.line.volume_id: job for job in rollout.run().jobs.values()}
    return [tell_outcome(change, jobs[change.volume.id], account) for change in changes], account


def tell_outcome(change: SimulatedChange, job: LineJob, account: SimulatedAccount) -> Outcome:
    """What came of a change, by the truth of the simulator and by its facts."""
    volume = account.fleet.volume(change.volume.id)
    forth = next(each for each in account.fleet.modifications(change.volume.id) if not each.is_failed)
    assert volume is not None
    assert volume.life is not None
    back = job.find(FactKind.REQUESTED, Leg.BACK)
    first = int(forth.started_s) // 60
    ends = account.fleet.clock.now_s() if back is None or back.started is None else back.started.timestamp()
    now, before = stopped_minutes(volume.life, first, max(1, int(ends) // 60 - first))
    extra = np.cumsum(now * (1 - before))
    over = np.flatnonzero(extra > BUDGET_MINUTES)
    verdicts = [fact.verdict for fact in job.facts if fact.verdict is not None and fact.leg is Leg.FORTH]

    def hours(at_s: float) -> float:
        return (at_s - forth.started_s) / 3600

    return Outcome(
        name=job.line.name,
        fate=change.fate,
        stopped_minutes=float(extra[-1]),
        busy_latency=_busy_latency(volume.life, forth),
        crossed_h=hours(-(-(first + int(over[0]) + 1) * 60 // 3600) * 3600) if len(over) else None,
        completed_h=hours(forth.ended_s),
        asked_h=None if back is None or back.started is None else hours(back.started.timestamp()),
        planned_h=hours_until_back(job.line, ChangeRules()),
        code=str(verdicts[-1].code) if verdicts else "",
        is_direct=bool(verdicts and verdicts[-1].is_direct),
    )


def _busy_latency(life: Life, change: LivingModification) -> float:
    """The latency of the busiest hours of the week after a change, over that without it, by the simulator."""
    alone = replace(life, modifications=[each for each in life.modifications if each.started_s <= change.started_s])
    first = int(change.ended_s) // 60 + 1
    carried, begins = carry_minutes(alone, first, _WEEK_MINUTES, alone.first_minute)
    ops, held = (values[first - begins :][:_WEEK_MINUTES] for values in (carried.ops, carried.held))
    slower = (ops * latency_factors(alone, ops, held, first)).reshape(-1, 60).sum(axis=-1)
    hourly = ops.reshape(-1, 60).sum(axis=-1)
    busiest = np.argsort(hourly)[-BUSY_HOURS:]
    return float(np.mean(slower[busiest] / np.maximum(1, hourly[busiest])))


def describe(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What came of changes, in lines."""
    over = [each for each in outcomes if each.crossed_h is not None]
    late = [each for each in over if each.late_h > 1]
    within = [each for each in outcomes if each.fate is Fate.HARMLESS and each.crossed_h is None]
    yield f"changes: {len(outcomes)}; more minutes stopped than promised: {len(over)}"
    asked = [each.late_h for each in over if each.asked_h is not None]
    if asked:
        yield (
            f"their way back asked for: {len(asked)}; hours after it was possible: median {np.median(asked):.2f}, "
            f"most {max(asked):.2f}; later than an hour, or never: {len(late)}"
        )
    for above, words in zip(_SLOWER, _SLOWER_WORDS, strict=True):
        lot = [each for each in within if max(least for least in _SLOWER if each.busy_latency >= least) == above]
        alarms = [each for each in lot if each.asked_h is not None]
        share = 100 * len(alarms) / max(1, len(lot))
        yield f"with room, busy hours slower by {words}: {len(lot)}; taken back: {len(alarms)} ({share:.1f} %)"
    raised = [each for each in outcomes if each.fate is Fate.RAISED]
    yield f"raised: {len(raised)}; taken back: {sum(each.asked_h is not None for each in raised)}"
    waiting = [each for each in over if each.waited_h > 0]
    yield f"had to wait for the cloud: {len(waiting)}"
    for each in sorted(waiting, key=lambda outcome: -outcome.waited_h):
        yield f"  {each.name}: {each.waited_h:.1f} h; its plan said up to {each.planned_h:.1f} h without a way back"
    for each in (*late, *(each for each in within if each.asked_h is not None)):
        yield f"  {each}"


def run_all(changes: int, each: int, seed: int) -> list[Outcome]:
    """Rollouts of `each` changes until there were so many."""
    outcomes: list[Outcome] = []
    for number in range(-(-changes // each)):
        drawn = draw_changes(min(each, changes - len(outcomes)), seed + number)
        outcomes += carry_out(drawn, seed + number)[0]
        sys.stderr.write("\n".join(describe(outcomes)) + "\n\n")
    return outcomes


def main() -> None:
    """Prints what came of so many changes."""
    parser = argparse.ArgumentParser(prog="python -m tests.changes.simulated")
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--each", type=int, default=100, help="changes of one rollout")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.stdout.write("\n".join(describe(run_all(options.changes, options.each, options.seed))) + "\n")


if __name__ == "__main__":
    main()
