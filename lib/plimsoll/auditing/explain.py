"""The explanation of one volume: its outcome from every minute of its host's metrics, with its demand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from plimsoll.auditing.batch import context_of, decide
from plimsoll.auditing.decide import VolumeOutcome, outcome_of, outcome_without_metrics
from plimsoll.auditing.list import VolumeListing, find_listed, listings, with_stripes_of
from plimsoll.auditing.ports import AuditPorts
from plimsoll.auditing.price import market_of
from plimsoll.auditing.read import with_signals
from plimsoll.decide.groups import find_takeovers, takeovers_by_volume
from plimsoll.demand.demand import Demand
from plimsoll.model.errors import CloudError, PlimsollError
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Volume
from plimsoll.outcomes import FailedVolume
from plimsoll.ports import FailedTarget
from plimsoll.refine.member import Judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One volume's outcome, with the demand it rests on (None where no metrics were needed or read)."""

    outcome: VolumeOutcome
    demand: Demand | None


def explain_anywhere(audits: Sequence[AuditPorts], word: str, policy: Policy, now: datetime) -> Explained:
    """Does as `explain_volume`, for a volume of any of several clouds, by what people call it. Raises its errors too.

    Raises BadInput where no volume, or several, are called so.
    """
    listed = find_listed([word], audits)[word]
    if isinstance(listed, PlimsollError):
        raise listed
    if listed.listing.error is not None:
        raise listed.listing.error
    return _explain_listed(listed, policy, now)


def explain_volume(ports: AuditPorts, volume_id: str, policy: Policy, now: datetime) -> Explained | None:
    """The outcome of one volume. Reads the metrics of its host's volumes only, and of those that it takes over
    from. None where no target has it.

    Raises the CloudError of a target that could not be searched when the volume was not found elsewhere.
    """
    unsearched: CloudError | None = None
    for listing in listings(ports):
        unsearched = listing.error or unsearched
        if isinstance(listing, FailedTarget) or listing.error is not None:
            continue  # a part of a list has a part of a host's volumes
        for volume in listing.all_volumes:
            if volume.id == volume_id:
                return _explain_listed(VolumeListing(ports=ports, listing=listing, volume=volume), policy, now)
    if unsearched is not None:
        raise unsearched
    return None


def _explain_listed(listed: VolumeListing, policy: Policy, now: datetime) -> Explained:
    volume, target, volumes = listed.volume, listed.listing.target, listed.listing.volumes
    if not isinstance(volume, Volume):
        return Explained(outcome=FailedVolume.from_error(target, str(volume.id), volume.error), demand=None)
    ports, _ = with_stripes_of(listed.listing, listed.ports)
    market, _ = market_of(target, ports, policy, now)
    context = context_of(market, ports, policy, now)
    takeovers = takeovers_by_volume(find_takeovers(volumes, policy.takeover_tags))
    early = outcome_without_metrics(target, volume, context, frozenset(), takeovers.get(volume.id))
    if early is not None:
        return Explained(outcome=early, demand=None)
    whole_ports = replace(ports, every_minute=True)
    decisions = decide([volume], volumes, whole_ports, context, takeovers, keep_demand=True)
    decision = with_signals(decisions, ports, context)[volume.id]
    demand = decision.demand if isinstance(decision, Judged) else None
    return Explained(outcome=outcome_of(target, volume, decision, ports, policy), demand=demand)
