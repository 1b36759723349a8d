"""The decision on pools: the volumes of each become one type together, or none changes. See docs/decision.md, 8."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from plimsoll.domain.adding import together
from plimsoll.domain.case import Case, DecisionContext, summary_of
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.decide import insufficient, is_insufficient, kept, usd_month_now
from plimsoll.domain.demand import Demand
from plimsoll.domain.need import need_of, usable
from plimsoll.domain.offer import Share, too_small
from plimsoll.domain.pool import Pool, present_ceiling, size_of
from plimsoll.domain.pool_shares import PoolView
from plimsoll.domain.recommendation import Change, Recommendation
from plimsoll.domain.saturation import HostLoad
from plimsoll.domain.together import of_others, weighed
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import VolumeType

ALREADY: Final = "it already is what the other volumes of its pool are to become."
LACKING: Final = "too little is known of it (its metrics, or a price)"
POOLED: Final = "any pooled type"
UNREAD: Final = "it could not be read"

Shares = Mapping[str, Sequence[Share]]
"""What would be carried together, by type."""

Decided = dict[str, tuple[Case, Recommendation]]
"""The case and the answer of each volume, by id."""


def decide_pools(
    pools: Sequence[Pool], demands: Mapping[str, Demand], bases: Mapping[str, DecisionContext], load: HostLoad | None
) -> Decided:
    """The cases and answers of the volumes of one host's pools that have a context and could be read.

    `demands` are those of all volumes on the host that could be read, on one grid, and `load` is their traffic. Of
    several pools that would become a pooled type only the one that saves most does: what they would share then is not
    known before. Of several that would become a type that the host caps those that save most do, as far as the cap
    carries the needs of all.
    """
    decided = [_decided(pool, demands, bases, load) for pool in pools]
    taken: dict[str, list[Decided]] = {}
    for found in sorted(decided, key=_saved_usd_month, reverse=True):
        kind = _becoming(found)
        if kind is None:
            continue
        before = taken.setdefault(POOLED if kind.pooled else kind.name, [])
        if before and (kind.pooled or not _under_one_cap([*before, found], kind, pools, demands)):
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


def _under_one_cap(
    decided: Sequence[Decided], kind: VolumeType, pools: Sequence[Pool], demands: Mapping[str, Demand]
) -> bool:
    """Whether their host lets a type carry what all these pools need of it, beside what is of the type already."""
    cases = [next(_changes(found))[0] for found in decided]
    host = cases[0].volume.hosts[0]
    cap = None if host.caps is None else host.cap(kind.name)
    if cap is None:
        return True
    asked = together([demands[volume_id] for volume_id in of_one_type_then(kind.name, pools, decided)])
    return not any(_lacks(cap, asked, case) for case in cases)


def of_one_type_then(name: str, pools: Sequence[Pool], decided: Sequence[Decided]) -> tuple[str, ...]:
    """The volumes of a host that are of a type or are to become it, by id."""
    there = [volume.id for pool in pools for volume in pool.volumes if volume.spec.type == name]
    changing = [
        case.volume.id for found in decided for case, answer in _changes(found) if answer.target.spec.type == name
    ]
    return tuple(dict.fromkeys([*there, *changing]))


def _lacks(cap: Ceiling, asked: Demand, case: Case) -> bool:
    need = need_of(asked, cap.accounting, present=case.present, stood=case.stood, hosts=case.hosts, policy=case.policy)
    return any(too_small("its host", cap, need))


def _saved_usd_month(found: Decided) -> float:
    return sum(answer.usd_month_saved for _, answer in _changes(found))


def _waiting(found: Decided, other: str) -> Decided:
    """The answers of a pool that waits for another one's change."""
    why = f"another pool of its host is to change first, that of {other}: look again after that."
    return {
        case.volume.id: (case, replace(kept(case, answer.comparison, answer.usd_month_now, why), pool=answer.pool))
        for case, answer in _changes(found)
    }


def _decided(
    pool: Pool, demands: Mapping[str, Demand], bases: Mapping[str, DecisionContext], load: HostLoad | None
) -> Decided:
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
    cases = list(_cases(seen, free, demands, bases, load, present=present_ceiling(pool)))
    lacking = [case for case in cases if usd_month_now(case) is None or is_insufficient(case)]
    answers: dict[str, Recommendation] = {case.volume.id: insufficient(case, usd_month_now(case)) for case in lacking}
    held = {**dict.fromkeys(unread, UNREAD), **{case.volume.id: LACKING for case in lacking}}
    rest = [case for case in cases if case.volume.id not in answers]
    answers |= weighed(rest, why_held=_held(held), already=ALREADY)
    return {case.volume.id: (case, _told(answers, case, pool, bases)) for case in cases}


def _held(held: Mapping[str, str]) -> str | None:
    if not held:
        return None
    found = "; ".join(f"{volume_id} ({reason})" for volume_id, reason in held.items())
    return f"what its pool has to carry is not known, because of {found}."


def _cases(
    pool: Pool,
    free: Sequence[Volume],
    demands: Mapping[str, Demand],
    bases: Mapping[str, DecisionContext],
    load: HostLoad | None,
    *,
    present: Ceiling,
) -> Iterator[Case]:
    """The cases of the free volumes; what they share is worked out once for each policy that applies to any."""
    views: dict[int, tuple[PoolView, Shares]] = {}
    for volume in free:
        context = bases[volume.id]
        if id(context.policy) not in views:
            view = PoolView.of(pool, free, demands, load, context.policy, present=present)
            views[id(context.policy)] = view, {name: view.shares(kind) for name, kind in context.market.types.items()}
        yield _case(volume, *views[id(context.policy)], context)


def _case(volume: Volume, view: PoolView, shares: Shares, context: DecisionContext) -> Case:
    """One volume's case: its own demand, before what its pool carries and is asked for."""
    demand = view.demands[volume.id]
    return Case(
        volume=volume,
        context=context,
        demand=demand,
        present=view.present,
        hosts=usable(volume),
        stood=view.stood,
        summary=summary_of(demand, view.stood, context.policy),
        need_by=view.need_by(demand),
        shares=shares,
        pool_gib=size_of(view.free),
        replay_now=view.replay_now,
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
    told = [f"{shared} {', '.join(free)}: all are judged together, and change together."] if free else []
    if staying:
        told.append(f"{shared} {', '.join(staying)} too, left out of the audit: what stays is judged too.")
    return replace(
        own,
        reasons=(*own.reasons, *told),
        pool=free,
        blockers=(*own.blockers, *of_others(answers, own, "pool")) if isinstance(own, Change) else own.blockers,
    )
