"""Recommendations of every action, decided by the domain, and runs of them."""

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import date
from functools import cache

from plimsoll.decide.answer import Answer, Change, ChangeSteps, FrontierStep, Recommendation, Wait, command_step
from plimsoll.decide.choice import BUDGETS_MIN
from plimsoll.decide.decide import answer_by_state
from plimsoll.demand.epochs import Epoch, Unsettled
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.kinds import Reason
from plimsoll.model.units import HOUR_S
from plimsoll.model.volume import VolumeSpec
from plimsoll.reading.window import Window
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER, DemandProfileRecord, RecommendationRecord, RiskRecord
from tests.builders import US_EAST_1, a_basis, a_demand, a_market, a_policy, a_volume, decision

RAISED_LATELY = Reason(Unsettled.RAISED, "Its limit was raised after it was throttled.")
NO_PRICES = a_market(replace(US_EAST_1, types={}))


@cache
def every_action() -> dict[str, Recommendation]:
    """One recommendation of each action by its name."""
    found = [
        decision(a_volume("gp2", 500), a_demand(200, 10)),
        decision(a_volume("gp3", 500, iops=10_000, throughput_mib_s=500), a_demand(200, 10)),
        decision(a_volume("gp3", 500, iops=3_000), a_demand(3_000, 20)),
        decision(a_volume("gp3", 500), a_demand(200, 10)),
        answer_by_state(a_volume("gp2", on=[]), a_basis()),
        decision(a_volume("gp2", 500), a_demand(200, 10, buckets=60), a_policy(min_saving_usd_month=6)),
    ]
    actions = {one.action: one for one in found}
    return {**actions, "wait": waiting(actions["reprovision"])}


def waiting(change: Recommendation, until: date = date(2026, 11, 30)) -> Wait:
    """The same reduction while it cannot be judged: the volume was smaller, and throttled, until a day ago."""
    assert isinstance(change, Change)
    both = {field.name: getattr(change, field.name) for field in fields(Answer)}
    return Wait(
        **{
            **both,
            "epochs": RAISED,
            "blockers": (),
            "reasons": (RAISED_LATELY,),
            "comparison": replace(change.comparison, frontier=a_frontier()),
            "target": None,
            "losses": (),
        },
        until=until,
        code=Unsettled.RAISED,
        expected=change.target,
    )


_BEFORE, _SINCE = (VolumeSpec(type="gp3", size_gib=500, iops=iops, throughput_mib_s=500) for iops in (3_000, 10_000))
RAISED = (
    Epoch(
        window=Window(start_s=1_794_009_600, end_s=1_795_132_800),
        spec=_BEFORE,
        ceiling=Ceiling(iops=3_000, throughput_mib_s=500),
        throttled_minutes=412.0,
    ),
    Epoch(
        window=Window(start_s=1_795_132_800, end_s=1_795_219_200),
        spec=_SINCE,
        ceiling=Ceiling(iops=10_000, throughput_mib_s=500),
        throttled_minutes=0.0,
    ),
)
"""Two epochs: a volume was throttled, and its limit was raised."""


def a_frontier(*usd_month: float, at_most: bool = False) -> tuple[FrontierStep, ...]:
    """What each budget would cost, where they cost that; $60, $40 and $38 from 5 minutes on."""
    found = usd_month or (60.0, 40.0, 38.0, 38.0, 38.0)
    return tuple(
        FrontierStep(
            budget_min=budget_min,
            spec=VolumeSpec(type="gp3", size_gib=500, iops=round(usd * 100), throughput_mib_s=125),
            usd_month=usd,
            throttled_minutes=budget_min / 2,
            longest_wait_s=budget_min * 4,
            at_most=at_most and budget_min > 0,
        )
        for budget_min, usd in zip(BUDGETS_MIN, found, strict=False)
    )


def a_record(action: str = "migrate", change: str = "", **fields: object) -> RecommendationRecord:
    made = record_of(every_action()[action], ChangeSteps(forth=(command_step(change),)), provider=FIRST_PROVIDER)
    return made.model_copy(update=fields)


def a_risk(promised_pct: float | None, *, allowed_pct: float = 5.0) -> RiskRecord:
    """A risk of which so much is promised, where the policy allows so much."""
    return RiskRecord(
        promised_pct=promised_pct,
        allowed_pct=allowed_pct,
        minutes=15.0,
        days=30.0,
        history_days=455.0,
        headroom_pct=20.0,
        is_learned=False,
        learned_from=["bitbrains"],
        volumes=1_250,
        public=True,
        text="Some chance.",
    )


def a_profile(
    iops: Sequence[float | None] = (100.0, 300.0, 200.0),
    *,
    of: RecommendationRecord | None = None,
    moved: Sequence[float | None] | None = None,
    throttled: Sequence[float] = (),
    host_bound: Sequence[float] = (),
    length_s: int = HOUR_S,
    shortest_s: int = 60,
) -> DemandProfileRecord:
    """Spans whose busiest minute is twice their mean, three fifths of it reads, in operations of 16 KiB."""
    moved = _times(iops, 16 / 1024) if moved is None else moved
    spans = len(iops)
    return DemandProfileRecord(
        account=of.account if of else "111122223333",
        region=of.region if of else "us-east-1",
        volume_id=of.volume_id if of else "vol-1",
        start_s=1_794_009_600,
        length_s=[length_s] * spans,
        shortest_s=[shortest_s] * spans,
        iops=list(iops),
        read_iops=_times(iops, 0.6),
        throughput_mib_s=list(moved),
        read_throughput_mib_s=_times(moved, 0.6),
        peak_iops=_times(iops, 2),
        peak_throughput_mib_s=_times(moved, 2),
        most_ops_iops=_times(iops, 2),
        most_ops_throughput_mib_s=_times(moved, 2),
        most_moved_iops=_times(iops, 2),
        most_moved_throughput_mib_s=_times(moved, 2),
        sized=[True] * spans,
        throttled_minutes=[*throttled, *[0.0] * (spans - len(throttled))],
        host_bound_minutes=[*host_bound, *[0.0] * (spans - len(host_bound))],
    )


def _times(rates: Sequence[float | None], factor: float) -> list[float | None]:
    return [None if rate is None else rate * factor for rate in rates]
