"""The decision on pools: the volumes of each become one type together, or none changes. See docs/decision.md, 8."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from plimsoll.domain.case import Basis, Case, summary_of
from plimsoll.domain.decide import insufficient, is_insufficient, kept, usd_month_now
from plimsoll.domain.demand import Demand
from plimsoll.domain.need import usable
from plimsoll.domain.offer import Share
from plimsoll.domain.pool import Pool, size_of
from plimsoll.domain.pool_shares import PoolView
from plimsoll.domain.recommendation import Change, Recommendation
from plimsoll.domain.saturation import HostLoad
from plimsoll.domain.together import of_others, weighed
from plimsoll.domain.volume import Volume

ALREADY: Final = "it already is what the other volumes of its pool are to become."
LACKING: Final = "too little is known of it (its metrics, or a price)"
UNREAD: Final = "it could not be read"

Shares = Mapping[str, Sequence[Share]]
"""What would be carried together, by type."""

Decided = dict[str, tuple[Case, Recommendation]]
"""The case and the answer of each volume, by id."""


def decide_pools(
    pools: Sequence[Pool], demands: Mapping[str, Demand], bases: Mapping[str, Basis], load: HostLoad | None
) -> Decided:
    """The cases and answers of the volumes of one host's pools that have a basis and could be read.

    `demands` are those of all volumes on the host that could be read, at full resolution on one grid, and `load` is
    their traffic. Of several pools that would become a pooled type only the one that saves most does: what they would
    share then is not known before.
    """
    decided = [_decided(pool, demands, bases, load) for pool in pools]
    joining = [found for found in decided if _joins_a_pool(found)]
    first = max(joining, key=_saved_usd_month, default=None)
    for found in joining:
        if found is not first and first is not None:
            found.update(_waiting(found, next(iter(first))))
    return {name: of_one for found in decided for name, of_one in found.items()}


def _changes(found: Decided) -> Iterator[tuple[Case, Change]]:
    for case, answer in found.values():
        if isinstance(answer, Change):
            yield case, answer


def _joins_a_pool(found: Decided) -> bool:
    return any(case.market.types[answer.target.spec.type].pooled for case, answer in _changes(found))


def _saved_usd_month(found: Decided) -> float:
    return sum(answer.usd_month_saved for _, answer in _changes(found))


def _waiting(found: Decided, other: str) -> Decided:
    """The answers of a pool that waits for another one's change."""
    why = f"another pool of its host is to change first, that of {other}: look again after that."
    return {
        case.volume.id: (case, replace(kept(case, answer.comparison, answer.usd_month_now, why), pool=answer.pool))
        for case, answer in _changes(found)
    }


def _decided(pool: Pool, demands: Mapping[str, Demand], bases: Mapping[str, Basis], load: HostLoad | None) -> Decided:
    """One pool's answers; what could not be read is left out of what it carries, and keeps it as it is."""
    unread = [volume.id for volume in (*pool.volumes, *pool.neighbours) if volume.id not in demands]
    seen = replace(
        pool,
        volumes=tuple(volume for volume in pool.volumes if volume.id in demands),
        neighbours=tuple(volume for volume in pool.neighbours if volume.id in demands),
    )
    free = [volume for volume in seen.volumes if volume.id in bases]
    cases = list(_cases(seen, free, demands, bases, load))
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
    bases: Mapping[str, Basis],
    load: HostLoad | None,
) -> Iterator[Case]:
    """The cases of the free volumes; what they share is worked out once for each policy that applies to any."""
    views: dict[int, tuple[PoolView, Shares]] = {}
    for volume in free:
        basis = bases[volume.id]
        if id(basis.policy) not in views:
            view = PoolView.of(pool, free, demands, load, basis.policy)
            views[id(basis.policy)] = view, {name: view.shares(kind) for name, kind in basis.market.types.items()}
        yield _case(volume, *views[id(basis.policy)], basis)


def _case(volume: Volume, view: PoolView, shares: Shares, basis: Basis) -> Case:
    """One volume's case: its own demand, before what its pool carries and is asked for."""
    demand = view.demands[volume.id]
    return Case(
        volume=volume,
        basis=basis,
        demand=demand,
        present=view.present,
        hosts=usable(volume),
        stood=view.stood,
        summary=summary_of(demand, view.stood, basis.policy),
        need_by=view.need_by(demand),
        shares=shares,
        pool_gib=size_of(view.free),
        replay_now=view.replay_now,
    )


def _told(answers: Mapping[str, Recommendation], case: Case, pool: Pool, bases: Mapping[str, Basis]) -> Recommendation:
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
