"""The decision on pools: the volumes of each become one type together, or none changes. See docs/decision.md, 9."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from plimsoll.domain.case import Case, SharedLoad
from plimsoll.domain.case_maker import case_of
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.decide import answers, insufficient, is_insufficient, kept, unmeasured
from plimsoll.domain.demand.demand_profile import summary_of
from plimsoll.domain.demand.host_room import HostLoad
from plimsoll.domain.demand.trial import budget_of, trial
from plimsoll.domain.groups.pool import Pool, pool_ceiling, present_ceiling, total_size_gib
from plimsoll.domain.groups.pool_loads import HostDemands, PoolView
from plimsoll.domain.headroom import Headrooms
from plimsoll.domain.host import Host
from plimsoll.domain.offers.offer import KeptLimits
from plimsoll.domain.reason import Reason
from plimsoll.domain.recommendation import Change, Recommendation, Reprovision, blockers_of_others
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import VolumeType

POOL_ALREADY: Final = Reason("pool-already", "it already is what the other volumes of its pool are to become.")
POOL_LACKING: Final = "too little is known of it (its metrics, or a price)"
POOL_UNREAD: Final = "it could not be read"

DecidedPool = dict[str, tuple[Case, Recommendation]]
"""The case and the answer of each volume, by id."""


def decide_pools(
    pools: Sequence[Pool], demands: HostDemands, bases: Mapping[str, DecisionContext], host: HostLoad | None
) -> DecidedPool:
    """Decides on the volumes of one host's pools: the case and the answer of each that has a context and a demand.

    `demands` are those of all volumes on the host that could be read, on one grid, and `host` is their traffic. If
    several pools would become one type, those that save most do, as far as that carries what all need together, those
    included that are of it already.
    """
    decided = [_decide_pool(pool, demands, bases, host) for pool in pools]
    taken: dict[str, list[DecidedPool]] = {}
    for pool_answers in sorted(decided, key=_saving_usd_month, reverse=True):
        kind = _find_target(pool_answers)
        if kind is None:
            continue
        before = taken.setdefault(kind.name, [])
        if before and not _is_carried_together([*before, pool_answers], kind, pools, demands, host):
            pool_answers.update(_make_waiting(pool_answers, next(iter(before[0]))))
        else:
            before.append(pool_answers)
    return {name: of_one for pool_answers in decided for name, of_one in pool_answers.items()}


def _changes(pool_answers: DecidedPool) -> Iterator[tuple[Case, Change]]:
    for case, answer in pool_answers.values():
        if isinstance(answer, Change):
            yield case, answer


def _find_target(pool_answers: DecidedPool) -> VolumeType | None:
    """The type that a pool's volumes are to become; None if they stay what they are."""
    return next((case.market.types[answer.target.spec.type] for case, answer in _changes(pool_answers)), None)


def _is_carried_together(
    decided: Sequence[DecidedPool], kind: VolumeType, pools: Sequence[Pool], demands: HostDemands, host: HostLoad | None
) -> bool:
    """A type carries what all these pools need of it, beside the volumes that are of it already.

    If all are of it, and only ask for less, it does as now.
    """
    sizes = {
        case.volume.id: answer.target.spec.size_gib
        for pool_answers in decided
        for case, answer in _changes(pool_answers)
    }
    volumes = [
        volume
        for pool in pools
        for volume in pool.volumes
        if volume.id in sizes or (volume.spec.type == kind.name and volume.id in demands)
    ]
    cases = [case for pool_answers in decided for case, _ in _changes(pool_answers)]
    then = [
        replace(changing, spec=replace(changing.spec, size_gib=sizes.get(changing.id, changing.spec.size_gib)))
        for changing in volumes
    ]
    carried = pool_ceiling(kind, then) if kind.pooled else _cap(cases[0].volume.hosts[0], kind)
    less = all(isinstance(answer, Reprovision) for pool_answers in decided for _, answer in _changes(pool_answers))
    if carried is None or less:
        return True
    pool = next(pool for pool in pools if cases[0].volume.id in {volume.id for volume in pool.volumes})
    return all(_is_carried(carried, PoolView.of(pool, [], demands, host, case.context), volumes) for case in cases)


def _cap(host: Host, kind: VolumeType) -> Ceiling | None:
    """The cap of a host on volumes of a type together; None if it has none."""
    return None if host.caps is None else host.cap(kind.name)


def _is_carried(ceiling: Ceiling, view: PoolView, volumes: Sequence[Volume]) -> bool:
    policy = view.context.policy
    load = view.load(volumes).reducing
    budget_minutes = budget_of(policy.throttle_budget_min, load.work.window_s)
    return trial(load, ceiling).passes(budget_minutes=budget_minutes, max_wait_s=policy.max_wait_s)


def _saving_usd_month(pool_answers: DecidedPool) -> float:
    return sum(answer.usd_month_saved for _, answer in _changes(pool_answers))


def _make_waiting(pool_answers: DecidedPool, other: str) -> DecidedPool:
    """The answers of a pool that waits for another one's change."""
    why = Reason(
        "another-pool-first", f"another pool of its host is to change first, that of {other}: look again after that."
    )
    return {
        case.volume.id: (case, replace(kept(case, answer.comparison, why), pool=answer.pool))
        for case, answer in _changes(pool_answers)
    }


def _decide_pool(
    pool: Pool, demands: HostDemands, bases: Mapping[str, DecisionContext], host: HostLoad | None
) -> DecidedPool:
    """Decides on one pool. Volumes that could not be read are left out of its demand, and keep it as it is.

    So do those that were read and are disputed, if they are not decided on here.
    """
    decided_on = {volume.id for volume in pool.volumes if volume.id in bases}
    demands = {name: demand for name, demand in demands.items() if name in decided_on or not demand.disputed}
    unread = [volume.id for volume in (*pool.volumes, *pool.neighbors) if volume.id not in demands]
    seen = replace(
        pool,
        volumes=tuple(volume for volume in pool.volumes if volume.id in demands),
        neighbors=tuple(volume for volume in pool.neighbors if volume.id in demands),
    )
    free = [volume for volume in seen.volumes if volume.id in bases]
    cases = list(_cases(seen, free, demands, bases, host, present=present_ceiling(pool)))
    lacking = [case for case in cases if is_insufficient(case)]
    by_id: dict[str, Recommendation] = dict(unmeasured(lacking)) if lacking and len(pool.volumes) == 1 else {}
    if not by_id:
        by_id = {case.volume.id: insufficient(case) for case in lacking}
    held = {**dict.fromkeys(unread, POOL_UNREAD), **{case.volume.id: POOL_LACKING for case in lacking}}
    undecided = [case for case in cases if case.volume.id not in by_id]
    by_id |= answers(undecided, why_held=_held_reason(held), already=POOL_ALREADY)
    return {case.volume.id: (case, _make_pooled_answer(by_id, case, pool, bases)) for case in cases}


def _held_reason(held: Mapping[str, str]) -> Reason | None:
    if not held:
        return None
    volumes = "; ".join(f"{volume_id} ({reason})" for volume_id, reason in held.items())
    return Reason("pool-held-back", f"what its pool has to carry is not known, because of {volumes}.")


def _cases(
    pool: Pool,
    free: Sequence[Volume],
    demands: HostDemands,
    bases: Mapping[str, DecisionContext],
    host: HostLoad | None,
    *,
    present: Ceiling,
) -> Iterator[Case]:
    """Makes the cases of the free volumes. Their shared loads are worked out once for each policy."""
    views: dict[tuple[int, Headrooms], tuple[PoolView, Mapping[str, Sequence[SharedLoad]]]] = {}
    for volume in free:
        context = bases[volume.id]
        key = id(context.policy), context.headrooms
        if key not in views:
            view = PoolView.of(pool, free, demands, host, context, present=present)
            views[key] = view, {name: view.shared_loads(kind) for name, kind in context.market.types.items()}
        view, shared = views[key]
        in_pool = len(pool.volumes) > 1
        case = case_of(volume, view.demands[volume.id], host, context, in_pool=in_pool)
        case = replace(case, shared=shared, pool_gib=total_size_gib(free))
        yield _make_pooled_case(case, view) if in_pool else case


def _make_pooled_case(case: Case, view: PoolView) -> Case:
    """The case of one of several volumes: ceiling and demand of its pool are known of all of it together."""
    demand = view.demand_of(case.volume)
    lifted = view.lifted.of(demand)
    return replace(
        case,
        demand=demand,
        present=view.present,
        kept=KeptLimits(ceiling=view.present),
        lifted=lifted,
        room=view.room,
        load=view.load_of_member(case.volume),
        held=view.held,
        summary=summary_of(demand, lifted, view.room, case.policy),
    )


def _make_pooled_answer(
    answers: Mapping[str, Recommendation], case: Case, pool: Pool, bases: Mapping[str, DecisionContext]
) -> Recommendation:
    """The answer for a volume, with the reasons about its pool and the blockers of the others."""
    answer = answers[case.volume.id]
    others = [volume.id for volume in pool.volumes if volume.id != case.volume.id]
    if not others:
        return answer
    free = tuple(volume_id for volume_id in others if volume_id in bases)
    staying = [volume_id for volume_id in others if volume_id not in bases]
    shared = f"it shares what {pool} carry with"
    reasons: list[Reason] = []
    if free:
        reasons.append(Reason("pool", f"{shared} {', '.join(free)}: all are judged together, and change together."))
    if staying:
        left_out = f"{shared} {', '.join(staying)} too, left out of the audit: what stays is judged too."
        reasons.append(Reason("pool-left-out", left_out))
    return replace(
        answer,
        reasons=(*answer.reasons, *reasons),
        pool=free,
        blockers=(*answer.blockers, *blockers_of_others(answers, answer, "pool"))
        if isinstance(answer, Change)
        else answer.blockers,
    )
