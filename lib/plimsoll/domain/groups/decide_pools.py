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
from plimsoll.domain.groups.pool import Pool, pool_ceiling, present_ceiling, size_of
from plimsoll.domain.groups.pool_loads import Demands, PoolView
from plimsoll.domain.headroom import Headrooms
from plimsoll.domain.host import Host
from plimsoll.domain.offers.offer import KeptLimits
from plimsoll.domain.reason import Reason
from plimsoll.domain.recommendation import Change, Recommendation, Reprovision, blockers_of_others
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import VolumeType

ALREADY: Final = Reason("pool-already", "it already is what the other volumes of its pool are to become.")
LACKING: Final = "too little is known of it (its metrics, or a price)"
UNREAD: Final = "it could not be read"

Decided = dict[str, tuple[Case, Recommendation]]
"""The case and the answer of each volume, by id."""


def decide_pools(
    pools: Sequence[Pool], demands: Demands, bases: Mapping[str, DecisionContext], host: HostLoad | None
) -> Decided:
    """The cases and answers of the volumes of one host's pools that have a context and could be read.

    `demands` are those of all volumes on the host that could be read, on one grid, and `host` is their traffic. Of
    several pools that would become one type those that save most do, as far as that carries what all need together,
    those included that are of it already.
    """
    decided = [_decided(pool, demands, bases, host) for pool in pools]
    taken: dict[str, list[Decided]] = {}
    for found in sorted(decided, key=_saved_usd_month, reverse=True):
        kind = _becoming(found)
        if kind is None:
            continue
        before = taken.setdefault(kind.name, [])
        if before and not _carried_together([*before, found], kind, pools, demands, host):
            found.update(_waiting(found, next(iter(before[0]))))
        else:
            before.append(found)
    return {name: of_one for found in decided for name, of_one in found.items()}


def _changes(found: Decided) -> Iterator[tuple[Case, Change]]:
    for case, answer in found.values():
        if isinstance(answer, Change):
            yield case, answer


def _becoming(found: Decided) -> VolumeType | None:
    """The type that a pool's volumes are to become; None where they stay what they are."""
    return next((case.market.types[answer.target.spec.type] for case, answer in _changes(found)), None)


def _carried_together(
    decided: Sequence[Decided], kind: VolumeType, pools: Sequence[Pool], demands: Demands, host: HostLoad | None
) -> bool:
    """Whether a type carries what all these pools need of it, beside what is of the type already. Where all are of it,
    and only ask for less, it does as now."""
    sizes = {case.volume.id: answer.target.spec.size_gib for found in decided for case, answer in _changes(found)}
    volumes = [
        volume
        for pool in pools
        for volume in pool.volumes
        if volume.id in sizes or (volume.spec.type == kind.name and volume.id in demands)
    ]
    cases = [case for found in decided for case, _ in _changes(found)]
    then = [replace(one, spec=replace(one.spec, size_gib=sizes.get(one.id, one.spec.size_gib))) for one in volumes]
    carried = pool_ceiling(kind, then) if kind.pooled else _cap(cases[0].volume.hosts[0], kind)
    less = all(isinstance(answer, Reprovision) for found in decided for _, answer in _changes(found))
    if carried is None or less:
        return True
    pool = next(pool for pool in pools if cases[0].volume.id in {volume.id for volume in pool.volumes})
    return all(_carries(carried, PoolView.of(pool, [], demands, host, case.context), volumes) for case in cases)


def _cap(host: Host, kind: VolumeType) -> Ceiling | None:
    """What a host lets volumes of a type carry together; None where it has no cap of it."""
    return None if host.caps is None else host.cap(kind.name)


def _carries(ceiling: Ceiling, view: PoolView, volumes: Sequence[Volume]) -> bool:
    policy = view.context.policy
    load = view.load(volumes).reducing
    budget_minutes = budget_of(policy.throttle_budget_min, load.work.window_s)
    return trial(load, ceiling).passes(budget_minutes=budget_minutes, max_wait_s=policy.max_wait_s)


def _saved_usd_month(found: Decided) -> float:
    return sum(answer.usd_month_saved for _, answer in _changes(found))


def _waiting(found: Decided, other: str) -> Decided:
    """The answers of a pool that waits for another one's change."""
    why = Reason(
        "another-pool-first", f"another pool of its host is to change first, that of {other}: look again after that."
    )
    return {
        case.volume.id: (case, replace(kept(case, answer.comparison, why), pool=answer.pool))
        for case, answer in _changes(found)
    }


def _decided(pool: Pool, demands: Demands, bases: Mapping[str, DecisionContext], host: HostLoad | None) -> Decided:
    """One pool's answers; what could not be read is left out of what it is asked for, and keeps it as it is.

    So does what was read and is disputed, of volumes that are not decided on here.
    """
    own = {volume.id for volume in pool.volumes if volume.id in bases}
    demands = {name: demand for name, demand in demands.items() if name in own or not demand.disputed}
    unread = [volume.id for volume in (*pool.volumes, *pool.neighbors) if volume.id not in demands]
    seen = replace(
        pool,
        volumes=tuple(volume for volume in pool.volumes if volume.id in demands),
        neighbors=tuple(volume for volume in pool.neighbors if volume.id in demands),
    )
    free = [volume for volume in seen.volumes if volume.id in bases]
    cases = list(_cases(seen, free, demands, bases, host, present=present_ceiling(pool)))
    lacking = [case for case in cases if is_insufficient(case)]
    found: dict[str, Recommendation] = dict(unmeasured(lacking)) if lacking and len(pool.volumes) == 1 else {}
    if not found:
        found = {case.volume.id: insufficient(case) for case in lacking}
    held = {**dict.fromkeys(unread, UNREAD), **{case.volume.id: LACKING for case in lacking}}
    rest = [case for case in cases if case.volume.id not in found]
    found |= answers(rest, why_held=_held(held), already=ALREADY)
    return {case.volume.id: (case, _told(found, case, pool, bases)) for case in cases}


def _held(held: Mapping[str, str]) -> Reason | None:
    if not held:
        return None
    found = "; ".join(f"{volume_id} ({reason})" for volume_id, reason in held.items())
    return Reason("pool-held-back", f"what its pool has to carry is not known, because of {found}.")


def _cases(
    pool: Pool,
    free: Sequence[Volume],
    demands: Demands,
    bases: Mapping[str, DecisionContext],
    host: HostLoad | None,
    *,
    present: Ceiling,
) -> Iterator[Case]:
    """The cases of the free volumes; what they share is worked out once for each policy that applies to any."""
    views: dict[tuple[int, Headrooms], tuple[PoolView, Mapping[str, Sequence[SharedLoad]]]] = {}
    for volume in free:
        context = bases[volume.id]
        key = id(context.policy), context.headrooms
        if key not in views:
            view = PoolView.of(pool, free, demands, host, context, present=present)
            views[key] = view, {name: view.shared(kind) for name, kind in context.market.types.items()}
        view, shared = views[key]
        in_pool = len(pool.volumes) > 1
        case = case_of(volume, view.demands[volume.id], host, context, in_pool=in_pool)
        case = replace(case, shared=shared, pool_gib=size_of(free))
        yield _in_pool(case, view) if in_pool else case


def _in_pool(case: Case, view: PoolView) -> Case:
    """A case of one of several volumes: what its pool carries, and is asked for, is known of all of it together."""
    demand = view.demand_of(case.volume)
    lifted = view.lifted.of(demand)
    return replace(
        case,
        demand=demand,
        present=view.present,
        kept=KeptLimits(ceiling=view.present),
        lifted=lifted,
        room=view.room,
        load=view.own(case.volume),
        held=view.held,
        summary=summary_of(demand, lifted, view.room, case.policy),
    )


def _told(
    answers: Mapping[str, Recommendation], case: Case, pool: Pool, bases: Mapping[str, DecisionContext]
) -> Recommendation:
    """An answer with what is to be said of its pool, and with what blocks any of the others."""
    own = answers[case.volume.id]
    others = [volume.id for volume in pool.volumes if volume.id != case.volume.id]
    if not others:
        return own
    free = tuple(volume_id for volume_id in others if volume_id in bases)
    staying = [volume_id for volume_id in others if volume_id not in bases]
    shared = f"it shares what {pool} carry with"
    told: list[Reason] = []
    if free:
        told.append(Reason("pool", f"{shared} {', '.join(free)}: all are judged together, and change together."))
    if staying:
        left_out = f"{shared} {', '.join(staying)} too, left out of the audit: what stays is judged too."
        told.append(Reason("pool-left-out", left_out))
    return replace(
        own,
        reasons=(*own.reasons, *told),
        pool=free,
        blockers=(*own.blockers, *blockers_of_others(answers, own, "pool"))
        if isinstance(own, Change)
        else own.blockers,
    )
