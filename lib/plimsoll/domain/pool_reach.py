"""How far pools reach: where what several volumes did together could still change what is decided of them.

The argument is that of `unsettled`, held to sums. No bucket of the resolution had more of several volumes together than
the sum of the most that each can have had in it, and no second more than the sum of their busiest ones. So a bucket in
which that sum stays under every line that the decision rests on is harmless however the work of each was arranged in
it; and behind a limit waits no more than could, were all the work of a span known only as a sum. A decision on pools
rests on these sums:

- that of all in a pool, to what it carries: its throttled buckets and its replay;
- that of each share of the best offer's type, to what is to carry it: a need between the one known and that ceiling
  changes nothing, since what pooled types cost is a matter of size, and what is bought is sized volume by volume;
- of those beside that were there already, to what they carry today; and where they stood at it, of the others to what
  that leaves;
- of what becomes one type in several pools, to their host's cap of it;
- of each share whose type is no dearer than the best one and that only replays may speak against, its replays.

Other types stay refused or become dearer, as needs only grow; that asks of the policy that the peak is the maximum.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from plimsoll.domain.adding import together
from plimsoll.domain.busiest import at_most
from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.demand import Demand
from plimsoll.domain.knowledge import BYTES, OPERATIONS, Knowledge
from plimsoll.domain.lines import (
    Line,
    Reach,
    against,
    evidence_line,
    need_lines,
    offered_limits,
    seconds_against,
    throttled_line,
)
from plimsoll.domain.need import Need
from plimsoll.domain.offer import Offer, Share
from plimsoll.domain.period import FloatArray
from plimsoll.domain.policy import SizeOn
from plimsoll.domain.pool import Pool
from plimsoll.domain.pools import Decided, of_one_type_then
from plimsoll.domain.recommendation import Change, Keep
from plimsoll.domain.unsettled import Others
from plimsoll.domain.waiting import Limit, against_replays, limits

LEAST_ROOM = 1e-9
"""What is left beside others where they leave nothing: any work reaches it."""

Answered = tuple[Case, Change | Keep]


@dataclass(slots=True)
class _Sum:
    """What the demands of some volumes together are held to: ceilings that throttle, lines that size offers in the
    means of buckets and in their busiest seconds, and the limits of replays."""

    throttled: list[Line] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    sizing: list[Line] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)

    def size(self, case: Case, lines: Iterable[Line]) -> None:
        """Adds lines that a case's offer is sized by."""
        found = list(lines)
        self.lines += found
        self.sizing += () if case.policy.size_on is SizeOn.AVERAGE else found


class _Sums(dict[tuple[str, ...], _Sum]):
    """By the ids of the volumes."""

    def __missing__(self, volume_ids: tuple[str, ...]) -> _Sum:
        return self.setdefault(volume_ids, _Sum())


def pool_reaches(
    pools: Sequence[Pool],
    found: Decided,
    demands: Mapping[str, Demand],
    knowledges: Mapping[str, Knowledge],
) -> dict[str, Others]:
    """How far each bucket of the volumes of one host's pools reaches in the sums that their answers rest on.

    `demands` and `knowledges` are those of all volumes on the host that could be read, on one grid.
    """
    sums = _Sums()
    for pool in pools:
        _add_pool(sums, tuple(volume.id for volume in pool.volumes if volume.id in demands), found)
    _add_caps(sums, pools, found)
    reaches = {
        name: Others(work=np.zeros((2, len(demand.iops))), seconds=np.zeros(len(demand.iops)))
        for name, demand in demands.items()
    }
    for volume_ids, of_sum in sums.items():
        for name, more in _reaches(volume_ids, of_sum, demands, knowledges):
            reaches[name] = reaches[name].furthest(more)
    return reaches


def _add_pool(sums: _Sums, inside: tuple[str, ...], found: Decided) -> None:
    """The sums that the answers to a pool rest on; those under one policy share them."""
    cases = [found[name] for name in inside if name in found]
    for case, _ in cases:
        line = throttled_line(case.present, case.policy)
        if line not in sums[inside].throttled:
            sums[inside].throttled.append(line)
    answered = [(case, answer) for case, answer in cases if isinstance(answer, Change | Keep)]
    views = {id(case.shares): (case, answer) for case, answer in reversed(answered)}
    for case, answer in views.values():
        sums[inside].limits += limits(case.present)
        best = answer.comparison.offers[0]
        if best.feasible:
            for share in case.shares[best.spec.type]:
                _add_share(sums, case, share)
        _add_evidence(sums, case, answer)
        for name in _undecided(answered):
            for share in case.shares[name]:
                sums[share.volume_ids].limits += offered_limits(case, share.ceiling)


def _add_share(sums: _Sums, case: Case, share: Share) -> None:
    """What a share of the best offer's type has to carry."""
    beside = share.beside
    if beside is None:
        sums[share.volume_ids].size(case, need_lines(case, share.need, share.ceiling))
        return
    sums[share.volume_ids].size(case, need_lines(case, Need(), share.ceiling))
    if not beside.censored:
        sums[beside.volume_ids].throttled.append(throttled_line(beside.ceiling, case.policy))
        return
    joining = tuple(name for name in share.volume_ids if name not in beside.volume_ids)
    sums[joining].size(case, need_lines(case, Need(), _left(share.ceiling, beside.ceiling)))


def _left(carried: Ceiling, taken: Ceiling) -> Ceiling:
    """What a ceiling leaves beside another one."""
    taken = taken.counted_as(carried.accounting)
    return replace(
        carried,
        iops=max(carried.iops - taken.iops, LEAST_ROOM),
        throughput_mib_s=max(carried.throughput_mib_s - taken.throughput_mib_s, LEAST_ROOM),
    )


def _add_evidence(sums: _Sums, case: Case, answer: Change | Keep) -> None:
    name = answer.target.spec.type if isinstance(answer, Change) else case.volume.spec.type
    shares = case.shares[name]
    if case.market.types[name].pooled and shares:
        first = shares[0]
        line = evidence_line(case, first.need, first.ceiling.accounting, answer.evidence)
        sums[first.volume_ids].size(case, [line])


def _undecided(answered: Sequence[Answered]) -> Iterator[str]:
    """The types, no dearer for all than the best one, that nothing but replays may speak against."""
    offers = [{offer.spec.type: offer for offer in answer.comparison.offers} for _, answer in answered]
    best = answered[0][1].comparison.offers[0]
    most = _usd_month([of[best.spec.type] for of in offers]) if best.feasible else np.inf
    for name in offers[0]:
        of_all = [of[name] for of in offers]
        if all(offer.replay is not None for offer in of_all) and _usd_month(of_all) <= most:
            yield name


def _usd_month(offers: Sequence[Offer]) -> float:
    return sum(np.inf if offer.usd_month is None else offer.usd_month for offer in offers)


def _add_caps(sums: _Sums, pools: Sequence[Pool], found: Decided) -> None:
    """What several pools become together, to their host's cap of it."""
    changes = {name: (case, answer) for name, (case, answer) in found.items() if isinstance(answer, Change)}
    for name in dict.fromkeys(answer.target.spec.type for _, answer in changes.values()):
        cases = [case for case, answer in changes.values() if answer.target.spec.type == name]
        changing, host = {case.volume.id for case in cases}, cases[0].volume.hosts[0]
        several = sum(any(volume.id in changing for volume in pool.volumes) for pool in pools) > 1
        cap = None if cases[0].market.types[name].pooled or host.caps is None else host.cap(name)
        if several and cap is not None:
            for case in cases:
                sums[of_one_type_then(name, pools, [found])].size(case, need_lines(case, Need(), cap))


def _reaches(
    volume_ids: tuple[str, ...], of_sum: _Sum, demands: Mapping[str, Demand], knowledges: Mapping[str, Knowledge]
) -> Iterator[tuple[str, Others]]:
    """How far each volume of a sum reaches in it. Where it did nothing for sure there is nothing to read of it, unless
    it says between what times the work of the others came."""
    asked = [demands[name] for name in volume_ids]
    whole = together(asked)
    work = np.zeros((2, len(whole.iops)))
    for line in (*of_sum.throttled, *of_sum.lines):
        work = np.maximum(work, against(whole, line))
    waiting = _waiting([knowledges[name] for name in volume_ids], whole, of_sum.limits)
    most = at_most([demand.busiest for demand in asked if demand.busiest is not None])
    seconds = np.zeros(len(whole.iops)) if most is None else seconds_against(most, of_sum.throttled, of_sum.sizing)
    for name, demand in zip(volume_ids, asked, strict=True):
        own = np.stack([demand.most_iops, demand.most_throughput_mib_s]) > 0
        yield name, Others(work=np.maximum(work * own, waiting), seconds=seconds)


def _waiting(knowledges: Sequence[Knowledge], whole: Demand, behind: Sequence[Limit]) -> Reach:
    """How far each bucket of a sum can reach to leaving work waiting."""
    of_sum = Knowledge.of_several(knowledges)
    rows: list[FloatArray] = []
    for group, reach in zip((OPERATIONS, BYTES), against_replays(of_sum, whole.resolution_s, behind), strict=True):
        place = np.searchsorted(of_sum.tracks[group].starts_s, whole.starts_s, side="right") - 1
        rows.append(reach[place])
    return np.stack(rows)
