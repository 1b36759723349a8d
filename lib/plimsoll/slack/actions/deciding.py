"""Deciding: what somebody said of a volume is kept, each request once, and told in the thread."""

from datetime import date, datetime, timedelta

from plimsoll.clouds.targets import named_target
from plimsoll.domain.decisions import Decision, DecisionKind, holding
from plimsoll.service.service import Service
from plimsoll.service.validating.places import placed
from plimsoll.slack.actions import words
from plimsoll.slack.actions.asked import Asked, Done, Exclude, Include, Snooze, Validate
from plimsoll.slack.blocks.message import Message


def decide(service: Service, asked: Asked, wish: Snooze | Done | Exclude | Include) -> Message:
    """Keeps what somebody said, and gives what to say of it; what the same request said before stays as it is.

    Nothing is kept of who takes a volume in that is not left out: any name can be typed, and nothing follows from it.
    """
    decision = decision_of(service, asked, wish)
    if isinstance(wish, Include):
        said = _said_of(service, decision)
        if holding(said).excluded is None and all(one.id != decision.id for one in said):
            return words.was_never_left_out(decision)
    if not service.history.decide(decision):
        return words.decided_before(kept(service, decision))
    return words.decided(asked.user, decision)


def decision_of(service: Service, asked: Asked, wish: Snooze | Done | Exclude | Include | Validate) -> Decision:
    """What somebody says of a volume, now; BadInput for a volume that there is not."""
    now = service.clock.now()
    target, volume_id = placed(wish.volume, now, service)
    return Decision(
        id=asked.id,
        account=target.account,
        region=target.region,
        volume_id=volume_id,
        kind=DecisionKind(wish.do),
        by=f"slack:{asked.team}/{asked.user}",
        at=now,
        reason=wish.reason if isinstance(wish, Snooze | Exclude) else "",
        until=_until(wish, now) if isinstance(wish, Snooze) else None,
    )


def kept(service: Service, decision: Decision) -> Decision:
    """The same request's decision as it is kept: somebody else may have been first."""
    return next((one for one in _said_of(service, decision) if one.id == decision.id), decision)


def _until(wish: Snooze, now: datetime) -> date:
    return now.date() + timedelta(days=wish.days)


def _said_of(service: Service, decision: Decision) -> list[Decision]:
    target = named_target(decision.account, decision.region)
    return [*service.history.decisions(target, [decision.volume_id]).get(decision.volume_id, ())]
