"""Signals: how the volumes of which a change is recommended answered, read once they are decided."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plimsoll.auditing.ports import AuditPorts
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.errors import CloudError
from plimsoll.domain.metrics.knowledge import Ask, Found
from plimsoll.domain.metrics.signals import agreed, fill_gaps, has_gaps, look_at_signals, make_signals
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.reason import Reason
from plimsoll.domain.recommendation import Change, Recommendation, Wait
from plimsoll.domain.refine.member import Judged

NOT_READ = "How it answers its workload could not be read: {why}"


def with_signals(
    decisions: Mapping[str, Judged | CloudError], ports: AuditPorts, context: DecisionContext
) -> Mapping[str, Judged | CloudError]:
    """The same decisions by volume id, each change with its signals: the answers of its volume and host.

    Where these are not known, a sentence says why. What has no point of some day, or disagrees, is asked for once more.
    """
    window = Window.before(
        context.now, days=context.policy.lookback_days, visible_after_s=ports.metrics.visible_after_s
    )
    look = look_at_signals(window)
    changes = {
        volume_id: decision
        for volume_id, decision in decisions.items()
        if isinstance(decision, Judged) and isinstance(decision.recommendation, Change | Wait)
    }
    if look is None or not changes:
        return decisions
    answers = _read_twice(
        [Ask(volume=decision.recommendation.volume, look=look) for decision in changes.values()], ports
    )
    with_answers = {
        volume_id: replace(decision, recommendation=_with(decision.recommendation, answer, look.window))
        for (volume_id, decision), answer in zip(changes.items(), answers, strict=True)
    }
    return {**decisions, **with_answers}


def _read_twice(asks: Sequence[Ask], ports: AuditPorts) -> Sequence[Found | CloudError]:
    answers = [answer if isinstance(answer, CloudError) else agreed(answer) for answer in _read(asks, ports)]
    gaps = [number for number, answer in enumerate(answers) if not isinstance(answer, CloudError) and has_gaps(answer)]
    for number, again in zip(gaps, _read([asks[number] for number in gaps], ports) if gaps else (), strict=True):
        first = answers[number]
        if not isinstance(again, CloudError) and not isinstance(first, CloudError):
            answers[number] = agreed(fill_gaps(first, again))
    return answers


def _read(asks: Sequence[Ask], ports: AuditPorts) -> Sequence[Found | CloudError]:
    with ports.stages.stage("metrics"):
        try:
            return ports.metrics.read(asks)
        except CloudError as error:
            return [error] * len(asks)


def _with(recommendation: Recommendation, answer: Found | CloudError, window: Window) -> Recommendation:
    if isinstance(answer, CloudError):
        return replace(
            recommendation, reasons=(*recommendation.reasons, Reason("latency-not-read", NOT_READ.format(why=answer)))
        )
    return replace(recommendation, signals=make_signals(answer, window))
