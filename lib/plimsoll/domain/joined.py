"""Joined cases: the members of a stripe set as one unit, each to carry what the busiest of them must.

The rule is that of docs/decision.md, section 7.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from plimsoll.domain.adding import together
from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import UNBOUNDED, Accounting
from plimsoll.domain.need import Need, need_of
from plimsoll.domain.saturation import HostLoad, saturation


def joined(cases: Sequence[Case], host: HostLoad | None, *, even: bool) -> list[Case]:
    """The members' cases with one need for all; their demands are on one grid.

    What throttles one throttles the unit. `host` is the traffic of the host they share; `even` says that the load is
    spread evenly, so that none can use more than its share of the host.
    """
    frequent = frozenset(resource for case in cases for resource in case.stood.frequent)
    censored = any(case.stood.censored for case in cases) or _host_bound_together(cases, host)
    unit = [replace(case, stood=replace(case.stood, censored=censored, frequent=frequent)) for case in cases]
    need_by = cache(partial(_need, unit, even=even))
    return [replace(case, need_by=need_by) for case in unit]


def _host_bound_together(cases: Sequence[Case], host: HostLoad | None) -> bool:
    """Whether the members' traffic together stood at what the host could carry."""
    demand = together([case.demand for case in cases])
    return any(saturation(demand, UNBOUNDED, host, case.policy).censored for case in cases)


@dataclass(frozen=True, slots=True)
class _Side:
    """One figure of the members' needs: the most that any needs, the most that was seen, and the host's share."""

    needed: float
    seen: float
    share: float

    @property
    def joined(self) -> float:
        """No more than the share, unless more than that was seen."""
        return max(self.seen, min(self.share, self.needed))


def _need(unit: Sequence[Case], accounting: Accounting, *, even: bool) -> Need:
    """The greatest need of any member on each resource, the host's share counted once."""
    needed = [_need_of(case, accounting) for case in unit]
    seen = [_need_of(_as_seen(case), accounting) for case in unit]
    members = len(unit) if even else 1
    iops, throughput_mib_s = (
        min(case.hosts.counted_as(accounting).iops for case in unit) / members,
        min(case.hosts.counted_as(accounting).throughput_mib_s for case in unit) / members,
    )
    return Need(
        iops=_Side(max(one.iops for one in needed), max(one.iops for one in seen), iops).joined,
        throughput_mib_s=_Side(
            max(one.throughput_mib_s for one in needed),
            max(one.throughput_mib_s for one in seen),
            throughput_mib_s,
        ).joined,
        sustained_iops=min(iops, max(one.sustained_iops for one in needed)),
        sustained_throughput_mib_s=min(throughput_mib_s, max(one.sustained_throughput_mib_s for one in needed)),
    )


def _need_of(case: Case, accounting: Accounting) -> Need:
    return need_of(
        case.demand, accounting, present=case.present, stood=case.stood, hosts=case.hosts, policy=case.policy
    )


def _as_seen(case: Case) -> Case:
    """The case with nothing allowed for: no headroom, and demand taken for the whole demand."""
    return replace(
        case,
        stood=replace(case.stood, censored=False, frequent=frozenset()),
        context=replace(case.context, policy=replace(case.policy, headroom_pct=0.0)),
    )
