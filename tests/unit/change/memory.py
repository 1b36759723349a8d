"""Changes in memory: volumes modified as EC2 documents it, a clock that pauses move, verdicts as they are told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.errors import CloudError, Unanswered, VolumeGone
from plimsoll.model.volume import Modification, Volume, VolumeSpec
from plimsoll.ports import Target
from plimsoll_change.apply import Rollout
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind
from plimsoll_change.line import LineContext
from plimsoll_change.plan import PLAN_FORMAT, ChangePlan, PlannedLine
from plimsoll_change.plan_files import freeze_plan
from plimsoll_change.ports import ModifyRefused
from plimsoll_change.rules import ChangeRules
from plimsoll_change.watch import ChangeVerdict, GroupVerdict, VerdictCode
from plimsoll_change.waves import draw_waves
from tests.builders import a_host, a_spec, a_volume
from tests.in_memory.service import MemoryClaims

NOW = datetime(2026, 11, 2, 8, tzinfo=UTC)
IO1 = a_spec("io1", 500, iops=5000)
GP3 = a_spec("gp3", 500, iops=4000, throughput_mib_s=250)


class MovedClock:
    """A clock that only pauses move."""

    def __init__(self, now: datetime = NOW) -> None:
        self.time = now

    def now(self) -> datetime:
        return self.time

    def pause(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass
class MemoryChanger:
    """Volumes that take a modification as EC2 does. `lose` answers are lost after the call took effect."""

    clock: MovedClock
    volumes: dict[str, Volume]
    refusals: list[CloudError] = field(default_factory=list)  # in the place of the next calls
    lose: int = 0
    fails: int = 0  # modifications that end as failed
    modifying: timedelta = timedelta(minutes=5)
    optimizing: timedelta = timedelta(hours=3)
    firing: tuple[str, ...] = ()
    logged: Mapping[str, Sequence[datetime]] | None = None
    asked: list[tuple[str, VolumeSpec, datetime]] = field(default_factory=list)  # those that took effect
    requests: list[str] = field(default_factory=list)
    _failing: set[str] = field(default_factory=set)

    def look(self, _target: Target, volume_ids: Sequence[str]) -> Mapping[str, Volume | CloudError]:
        return {name: self._seen(name) for name in volume_ids}

    def modify(self, _target: Target, volume_id: str, now: VolumeSpec, then: VolumeSpec, request_id: str) -> datetime:
        del now
        self.requests.append(request_id)
        if self.refusals:
            raise self.refusals.pop(0)
        volume = self._seen(volume_id)
        assert isinstance(volume, Volume)
        if volume.modification is not None and volume.modification.is_running:
            raise ModifyRefused("IncorrectModificationState: it is optimizing", "IncorrectModificationState")
        started = self.begin(volume_id, then)
        if self.lose:
            self.lose -= 1
            raise Unanswered("the connection broke")
        return started

    def begin(self, volume_id: str, then: VolumeSpec) -> datetime:
        """A modification that takes effect, by whomever."""
        volume, started = self.volumes[volume_id], self.clock.now()
        self.asked.append((volume_id, then, started))
        change = Modification(state="modifying", started=started, original=volume.spec, target=then)
        self.volumes[volume_id] = replace(volume, modification=change)
        if self.fails:
            self.fails -= 1
            self._failing.add(volume_id)
        return started

    def find_starts(self, _target: Target, volume_id: str, since: datetime) -> Sequence[datetime] | None:
        return None if self.logged is None else [at for at in self.logged.get(volume_id, ()) if at >= since]

    def find_firing(self, _target: Target, alarms: Sequence[str]) -> Sequence[str]:
        return [alarm for alarm in alarms if alarm in self.firing]

    def _seen(self, name: str) -> Volume | CloudError:
        volume = self.volumes.get(name)
        if volume is None:
            return VolumeGone(f"{name} does not exist any more.")
        change = volume.modification
        if change is None or not change.is_running:
            return volume
        passed = self.clock.now() - change.started
        if name in self._failing and passed >= self.modifying:
            self._failing.discard(name)
            change = replace(change, state="failed", message="internal", ended=self.clock.now())
        elif passed >= self.modifying + self.optimizing:
            change = replace(change, state="completed", ended=change.started + self.modifying + self.optimizing)
        elif passed >= self.modifying:
            change = replace(change, state="optimizing")
        spec = volume.spec if change.state in ("modifying", "failed") else change.target
        self.volumes[name] = replace(volume, spec=spec, modification=change)
        return self.volumes[name]


@dataclass
class MemoryFacts:
    """Facts by key."""

    kept: dict[str, bytes] = field(default_factory=dict)

    def put_new(self, key: str, content: bytes) -> bool:
        return self.kept.setdefault(key, content) is content

    def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def keys(self, prefix: str) -> list[str]:
        return sorted(key for key in self.kept if key.startswith(prefix))


@dataclass
class ToldJudge:
    """Verdicts as a test tells them, by volume; all others are no slower."""

    told: dict[str, ChangeVerdict | None] = field(default_factory=dict)
    stopped: dict[str, float] = field(default_factory=dict)  # minutes since the plan, by volume
    groups: dict[int, GroupVerdict | None] = field(default_factory=dict)  # by the number of members

    def judge_lines(self, _progress, jobs, _now):
        verdicts = {job.line.id: self.told.get(job.line.volume_id, a_verdict()) for job in jobs}
        return {name: verdict for name, verdict in verdicts.items() if verdict is not None}

    def judge_group(self, _progress, members, _bake_h, _now):
        return self.groups.get(len(members), GroupVerdict(verdict=a_verdict()))

    def count_stopped(self, lines, _since, _now):
        return {line.id: self.stopped.get(line.volume_id, 0.0) for line in lines}


def a_verdict(code: str = "no-slower", **fields: object) -> ChangeVerdict:
    return ChangeVerdict(code=VerdictCode(code), reason="test", text=f"it is {code}.", **fields)


def a_line(number: int = 1, **fields: object) -> PlannedLine:
    plain = {
        "id": f"line-{number:04}",
        "target": Target(account="111122223333", region="us-east-1"),
        "zone": "us-east-1a",
        "volume_id": f"vol-{number:04}",
        "name": "",
        "now": IO1,
        "then": GP3,
        "back": IO1,
        "owner": "hand",
        "hosts": (f"i-{number}",),
        "is_by_owner": False,
        "forth_text": "aws ec2 modify-volume ...",
        "back_text": "aws ec2 modify-volume ...",
        "change_class": "io1 to gp3, hand",
        "application": "shop",
        "unit": "",
        "fails_with": (f"host i-{number}",),
        "usd_month_now": 400.0,
        "usd_month_then": 50.0,
        "risk": "no limit is lowered",
        "usd_at_risk": 0.0,
        "budget_minutes": 15.0,
        "quiet_hours": (),
        "has_work": False,
        "is_critical": False,
    }
    return PlannedLine(**{**plain, **fields})


def a_plan(*lines: PlannedLine, rules: ChangeRules | None = None, made: datetime = NOW, **fields: object) -> ChangePlan:
    """A frozen plan, by default of one line."""
    lines = lines or (a_line(),)
    rules = rules or ChangeRules()
    plain = {
        "id": "run-1",
        "format": PLAN_FORMAT,
        "run": "run",
        "made": made,
        "expires": made + timedelta(days=rules.expires_days),
        "rules": rules,
        "lines": lines,
        "waves": draw_waves(lines, "seed"),
        "left_out": {},
        "controls": (),
        "scope": {},
    }
    return freeze_plan(ChangePlan(**{**plain, **fields}))[0]


def the_volume(line: PlannedLine, **fields: object) -> Volume:
    """The volume of a line as it was when the plan was made."""
    spec = line.now
    hosts = [a_host(id=name) for name in line.hosts]
    made = a_volume(spec.type, spec.size_gib, on=hosts, id=line.volume_id)
    return replace(made, spec=spec, **fields)


@dataclass
class World:
    """A plan, its volumes, and processes that carry it out one after another."""

    plan: ChangePlan
    clock: MovedClock
    changer: MemoryChanger
    judge: ToldJudge
    said: list[str] = field(default_factory=list)
    store: MemoryFacts = field(default_factory=MemoryFacts)
    held: MemoryClaims = field(default_factory=MemoryClaims)

    def process(self, wrap: Callable[[MemoryChanger], object] | None = None, name: str = "one") -> Rollout:
        """A new process, which knows what the ledger has and nothing else."""
        ledger = ChangeLedger(store=self.store, plan=self.plan)
        ledger.read()
        context = LineContext(
            ledger=ledger,
            changer=self.changer if wrap is None else wrap(self.changer),
            claims=self.held,
            patience=BenchPatience(now=self.clock.now, pause=self.clock.pause),
            holder=name,
            say=self.said.append,
        )
        return Rollout(context=context, judge=self.judge)

    def approve(self, by: str = "ada", **fields: object) -> "World":
        self.process().context.ledger.add(
            PLAN_ROW, Fact(kind=FactKind.APPROVED, at=self.clock.now(), by=by, digest=self.plan.digest, **fields)
        )
        return self

    def kinds(self, row: str = "line-0001") -> list[str]:
        """The kinds of a row's facts."""
        return [str(fact.kind) for fact in self.process().context.ledger.facts(row)]

    def facts(self, row: str = "line-0001") -> tuple[Fact, ...]:
        return self.process().context.ledger.facts(row)


def a_world(*lines: PlannedLine, **fields: object) -> World:
    """A world of these lines, approved."""
    clock = MovedClock()
    plan = a_plan(*lines, **fields)
    changer = MemoryChanger(clock=clock, volumes={line.volume_id: the_volume(line) for line in plan.lines})
    return World(plan=plan, clock=clock, changer=changer, judge=ToldJudge())
