"""Signals: how the volumes of which a change is recommended answered, read once they are decided."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plimsoll.auditing.ports import AuditPorts
from plimsoll.domain.case import DecisionContext
from plimsoll.domain.errors import CloudError
from plimsoll.domain.metrics.asks import Ask, Found
from plimsoll.domain.metrics.signals import agreed, filled, has_gaps, look_at_signals, signals_of
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.reason import Reason
from plimsoll.domain.recommendation import Change, Recommendation, Wait
from plimsoll.domain.refine.members import Judged

NOT_READ = "How it answers its workload could not be read: {why}"


def with_signals(
    decisions: Mapping[str, Judged | CloudError], ports: AuditPorts, context: DecisionContext
) -> Mapping[str, Judged | CloudError]:
    """The same decisions by volume id, each change with how its volume and host answered, or with the sentence that
    says why that is not known. What has no point of some day, or disagrees, is asked for once more."""
    window = Window.before(
        context.now, days=context.policy.lookback_days, visible_after_s=ports.metrics.visible_after_s
    )
    look = look_at_signals(window)
    changes = {
        volume_id: one
        for volume_id, one in decisions.items()
        if isinstance(one, Judged) and isinstance(one.recommendation, Change | Wait)
    }
    if look is None or not changes:
        return decisions
    found = _read_twice([Ask(volume=one.recommendation.volume, look=look) for one in changes.values()], ports)
    told = {
        volume_id: replace(one, recommendation=_with(one.recommendation, answer, look.window))
        for (volume_id, one), answer in zip(changes.items(), found, strict=True)
    }
    return {**decisions, **told}


def _read_twice(asks: Sequence[Ask], ports: AuditPorts) -> Sequence[Found | CloudError]:
    found = [one if isinstance(one, CloudError) else agreed(one) for one in _read(asks, ports)]
    gaps = [number for number, one in enumerate(found) if not isinstance(one, CloudError) and has_gaps(one)]
    for number, again in zip(gaps, _read([asks[number] for number in gaps], ports) if gaps else (), strict=True):
        first = found[number]
        if not isinstance(again, CloudError) and not isinstance(first, CloudError):
            found[number] = agreed(filled(first, again))
    return found


def _read(asks: Sequence[Ask], ports: AuditPorts) -> Sequence[Found | CloudError]:
    with ports.stages.stage("metrics"):
        try:
            return ports.metrics.read(asks)
        except CloudError as error:
            return [error] * len(asks)


def _with(one: Recommendation, found: Found | CloudError, window: Window) -> Recommendation:
    if isinstance(found, CloudError):
        return replace(one, reasons=(*one.reasons, Reason("latency-not-read", NOT_READ.format(why=found))))
    return replace(one, signals=signals_of(found, window))
