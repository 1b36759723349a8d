"""What of an answer has to be the same whatever was left unread."""

import math
from dataclasses import replace

from plimsoll.decide.answer import Change, Keep, Wait


class WaitS(float):
    """Seconds of waiting, the same within a millisecond or a millionth: that is how the certificate takes them."""

    def __eq__(self, other):
        return math.isclose(self, other, rel_tol=1e-6, abs_tol=1e-3)

    __hash__ = float.__hash__


def decided_on(one):
    """Everything that has to be the same, to the digit."""
    found = one.recommendation
    summary = found.demand
    told = [
        type(found),
        summary.censored,
        summary.throttled_minutes,
        summary.host_bound_minutes,
        summary.host_bound_measured_minutes,
        summary.host_cleared_minutes,
        summary.hours_observed,
        summary.gap_hours,
        [blocker.code for blocker in found.blockers],
        [replace(epoch, hosts=None) for epoch in found.epochs],  # of the hosts a record tells the ceiling alone
        found.peer and (found.peer.volume.id, found.peer.takeover.told_by, found.peer.need, found.peer.unknown),
    ]
    if isinstance(found, Change | Keep | Wait):
        comparison = found.comparison
        best = comparison.offers[0]
        relief = comparison.relief
        told += [comparison.drop_in and comparison.drop_in.spec, comparison.flip]
        told += [relief and (relief.spec, relief.usd_month, relief.tried and relief.tried.throttled_minutes)]
        told += [best.feasible and (best.spec, best.usd_month, best.tried.throttled_minutes)]
        told += [comparison.now.throttled_minutes, WaitS(comparison.now.longest_wait_s), found.evidence]
    if isinstance(found, Change):
        told += [found.target.spec, found.usd_month_then, found.target.tried.throttled_minutes, promised(found.risk)]
    if isinstance(found, Change | Keep) and found.too_risky is not None:
        left_out = found.too_risky
        told += [left_out.offer.spec, left_out.offer.usd_month, promised(left_out.risk), left_out.saves_enough]
    if isinstance(found, Wait):
        told += [found.until, found.code, found.expected.spec]
    return told


def promised(risk):
    """What a promise says; how much is left free (`left_pct`) is the least that it can be."""
    if risk is None:
        return None
    safer = risk.safer and risk.safer.level
    return risk.promised_pct, risk.why_none, risk.history_days, risk.headroom.pct, risk.usual_share, safer
