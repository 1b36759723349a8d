"""The loop: a volume is audited weekly, does what is recommended, and is watched."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np

from plimsoll.decide.answer import Change, Recommendation
from plimsoll.decide.case import DecisionContext
from plimsoll.decide.case_maker import case_of
from plimsoll.decide.decide import answer
from plimsoll.demand.days import sums_of_demand
from plimsoll.demand.demand import Demand
from plimsoll.demand.host_room import HostLoad
from plimsoll.learned_table import load_table
from plimsoll.model.policy import ANY_RISK_PCT, Headrooms, Policy
from plimsoll.model.series import PAST_RATES
from plimsoll.model.volume import Seen, Volume, VolumeSpec
from plimsoll.past.memory import memory_segments
from plimsoll.reading.known import Look
from plimsoll.reading.window import Segment, Window
from plimsoll.refine.past import Recall
from tests.builders import LONG_AGO, TYPES, a_host, a_market, a_volume, load_of, rates_of
from tests.closed_loop.workload import BUCKET_S, DAY, KIB, WATCHED, WEEK, Numbers, Workload, of_kind

BEGUN: Final = (LONG_AGO + timedelta(days=30)).replace(hour=0, minute=0)
WINDOW: Final = 14 * DAY
POLICY: Final = Policy(resolution_s=BUCKET_S, target_types=("gp3",), risk_pct=ANY_RISK_PCT)
"""A reduction is followed whatever its risk: the loop shows what becomes of sizes."""
TABLE: Final = load_table()
KEPT_DAYS: Final = {300: 63, 3600: 455}
"""For how many days the cloud keeps five minutes and hours."""
WITHIN: Final = 3.4
"""How many times its first ceiling a true demand may be that is to settle within three steps."""
MOST_STEPS: Final = 3


@dataclass(frozen=True)
class Step:
    """A recommendation that was followed, at the end of a week."""

    week: int
    before: VolumeSpec
    after: VolumeSpec


@dataclass
class Life:
    """What became of a volume in so many weeks."""

    kind: str
    weeks: int
    ratio: float
    steps: list[Step] = field(default_factory=list)
    hurt: int = 0
    """Buckets that a reduction throttled and that the size before it would have carried."""
    saved_usd_month: list[float] = field(default_factory=list)
    """What it costs less than with the highest figures that it has had, in each week that was audited."""

    @property
    def settled(self) -> bool:
        """Whether it needed no more than three steps."""
        return len(self.steps) <= MOST_STEPS

    @property
    def reversals(self) -> int:
        """How often IOPS or throughput turned around, whichever did more often."""
        return max(self._turns("iops"), self._turns("throughput_mib_s"))

    def _turns(self, figure: str) -> int:
        signs = [np.sign(getattr(step.after, figure) - getattr(step.before, figure)) for step in self.steps]
        moves = [sign for sign in signs if sign]
        return sum(one != two for one, two in pairwise(moves))


def lived(workload: Workload, spec: VolumeSpec, weeks: int, policy: Policy = POLICY, *, watched: int = WATCHED) -> Life:
    """A volume's life of so many weeks; it is `watched` for the first of them, then audited at the end of each."""
    ceiling = TYPES[spec.type].ceiling(spec)
    iops, mib_s = (0.0, 0.0) if workload.job else workload.wants(0, weeks * WEEK)
    life = Life(workload.kind, weeks, max(iops / ceiling.iops, mib_s / ceiling.throughput_mib_s))
    served = np.zeros(weeks * WEEK)
    seen: list[Seen] = []
    book, highest = a_market().book, spec
    for week in range(weeks):
        now = slice(week * WEEK, (week + 1) * WEEK)
        ceiling = TYPES[spec.type].ceiling(spec)
        served[now] = workload.carried(now.start, now.stop, ceiling.iops, ceiling.throughput_mib_s)
        served[: workload.born] = np.nan
        _count_hurt(life, workload, now)
        if week + 1 < watched:
            continue
        highest = _highest(highest, spec)
        life.saved_usd_month.append((book.usd_month(highest) or 0.0) - (book.usd_month(spec) or 0.0))
        found = audited(spec, served, workload, now.stop, tuple(seen), policy)
        if isinstance(found, Change):
            after = found.target.spec
            life.steps.append(Step(week, spec, after))
            at_s = int(moment_of(now.stop).timestamp())
            seen += [Seen(at_s=at_s, spec=spec), Seen(at_s=at_s, spec=after)]
            spec = after
    return life


def _highest(one: VolumeSpec, other: VolumeSpec) -> VolumeSpec:
    iops = max(one.iops or 0, other.iops or 0)
    return replace(other, iops=iops, throughput_mib_s=max(one.throughput_mib_s or 0, other.throughput_mib_s or 0))


def moment_of(bucket: int) -> datetime:
    """When a bucket begins."""
    return BEGUN + timedelta(seconds=bucket * BUCKET_S)


def audited(
    spec: VolumeSpec, served: Numbers, workload: Workload, end: int, seen: tuple[Seen, ...], policy: Policy
) -> Recommendation:
    """What is recommended of the last two weeks, and of what was before them where that is a reduction."""
    volume = a_volume(
        spec.type,
        spec.size_gib,
        iops=spec.iops,
        throughput_mib_s=spec.throughput_mib_s,
        on=a_host("r5b.24xlarge"),
        seen=seen,
        created=moment_of(workload.born) if workload.born else LONG_AGO,
    )
    demand, context = demand_in(served, workload.io_kib, end), context_at(end, policy)
    recall = remembered(volume, context, served, workload.io_kib, end)
    return proved(volume, demand, context, recall, load_of(volume, demand))


def demand_in(served: Numbers, io_kib: Numbers, end: int) -> Demand:
    """What was done in the two weeks before a bucket."""
    here = slice(end - WINDOW, end)
    iops, mib_s = np.nan_to_num(served[here]), np.nan_to_num(served[here]) * io_kib[here] / KIB
    return Demand(
        start_s=int(moment_of(here.start).timestamp()),
        resolution_s=BUCKET_S,
        coarsest_s=BUCKET_S,
        rates=rates_of(iops, mib_s),
        observed=~np.isnan(served[here]),
    )


def context_at(end: int, policy: Policy) -> DecisionContext:
    """What decisions at the end of a week rest on."""
    return DecisionContext(
        market=a_market(),
        envelopes=(),
        policy=policy,
        headrooms=Headrooms.from_policy(policy),
        now=moment_of(end),
        learned=TABLE,
        draft=True,
    )


def remembered(volume: Volume, context: DecisionContext, served: Numbers, io_kib: Numbers, end: int) -> Recall | None:
    """All that the cloud still has from before the last two weeks."""
    here = slice(end - WINDOW, end)
    recall = Recall.of(volume, context, _memory(here.start, end, context.policy), _window(here))
    if recall is not None:
        for look in recall.everything():
            found = _sums(look, served, io_kib)
            recall.learn(look, found)
            if recall.is_doubtful(look):  # nothing is from before the loop began, asked again as well
                recall.learn(look, found)
    return recall


def proved(
    volume: Volume, demand: Demand, context: DecisionContext, recall: Recall | None, host: HostLoad | None
) -> Recommendation:
    """The answer once its past has told all that it can."""
    if recall is None:
        return answer(case_of(volume, demand, host, context.knowing(volume, context.looked_back(volume))))
    while True:
        grown = recall.size_context(context).growing(recall.growth)
        case = recall.remember(case_of(volume, demand, host, grown, recall.days, recall.earlier))
        found = answer(case)
        if not recall.tells_more(case, found, partial(sums_of_demand, demand)):
            return found


def _window(buckets: slice) -> Window:
    start_s, end_s = (int(moment_of(at).timestamp()) for at in (buckets.start, buckets.stop))
    return Window(start_s=start_s, end_s=end_s)


def _memory(start: int, end: int, policy: Policy) -> tuple[Segment, ...]:
    """All that the cloud still has from before the last two weeks."""
    return memory_segments(int(moment_of(start).timestamp()), policy.memory_days, KEPT_DAYS, moment_of(end).timestamp())


def _sums(look: Look, served: Numbers, io_kib: Numbers) -> dict[str, Numbers]:
    """What the cloud has of a look: nothing from before the loop began."""
    first, last = ((at_s - int(BEGUN.timestamp())) // BUCKET_S for at_s in (look.window.start_s, look.window.end_s))
    ops = np.full(last - first, np.nan)
    ops[max(0, -first) :] = served[max(0, first) : max(0, last)] * BUCKET_S
    moved = np.full(last - first, np.nan)
    moved[max(0, -first) :] = ops[max(0, -first) :] * io_kib[max(0, first) : max(0, last)] * KIB
    whole = {"read_ops": ops, "read_bytes": moved, "write_ops": 0 * ops, "write_bytes": 0 * moved}
    found = {name: _by_period(values, look).sum(axis=1) for name, values in whole.items()}
    if PAST_RATES not in look.groups:
        return found
    rates = {"highest_iops": ops / BUCKET_S, "highest_throughput_mib_s": moved / BUCKET_S / KIB**2}
    return found | {name: _by_period(values, look).max(axis=1) for name, values in rates.items()}


def _by_period(values: Numbers, look: Look) -> Numbers:
    return values.reshape(-1, look.period_s // BUCKET_S)


def _count_hurt(life: Life, workload: Workload, now: slice) -> None:
    """Counts what the last step, where it was a reduction, has throttled this week. A job only takes longer."""
    if not life.steps or workload.job:
        return
    old, new = (TYPES["gp3"].ceiling(spec) for spec in (life.steps[-1].before, life.steps[-1].after))
    iops, mib_s = workload.iops[now], workload.iops[now] * workload.io_kib[now] / KIB
    counted = np.maximum(iops, mib_s * 4)
    by_old = (counted <= old.iops) & (mib_s <= old.throughput_mib_s)
    by_new = (counted <= new.iops) & (mib_s <= new.throughput_mib_s)
    life.hurt += int((by_old & ~by_new).sum())


def a_life(kind: str, seed: int, weeks: int, policy: Policy = POLICY) -> Life:
    """A volume of a kind, with a first size by chance: watched for WATCHED weeks, then audited for so many."""
    weeks += WATCHED
    rng = np.random.default_rng((seed, *kind.encode()))
    workload = of_kind(kind, weeks, rng)
    iops, mib_s = int(rng.choice([3000, 4000, 6000, 10_000, 16_000])), int(rng.choice([125, 250, 500, 1000]))
    spec = VolumeSpec(type="gp3", size_gib=1000, iops=iops, throughput_mib_s=min(mib_s, iops // 4))
    return lived(workload, spec, weeks, policy)
