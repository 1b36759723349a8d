"""Changes of the simulator: what a target that is too small stops is told while the cloud still moves data."""

from datetime import timedelta

from plimsoll_change.ledger import FactKind, Leg
from plimsoll_change.watch import VerdictCode
from tests.changes.simulated import NOW, begin_rollout, draw_changes, tell_outcome


def test_minutes_that_are_stopped_while_optimizing_are_told_then_and_taken_back_within_the_hour() -> None:
    """Large volumes, which the cloud optimizes for hours, with targets under what they ask for."""
    drawn = [each for each in draw_changes(60, 3, harmed=1.0, raised=0.0) if each.volume.spec.size_gib >= 400][:8]
    rollout, account = begin_rollout(drawn, 3)
    while rollout.context.now < NOW + timedelta(hours=26):
        rollout.take_pass()
        rollout.context.patience.pause(600)
    jobs = {job.line.volume_id: job for job in rollout.progress.jobs.values()}
    early = 0
    for change in drawn:
        job = jobs[change.volume.id]
        outcome = tell_outcome(change, job, account)
        assert outcome.late_h <= 1, outcome
        if outcome.waited_h > 0:
            early += 1
            (verdict,) = (fact for fact in job.facts if fact.kind is FactKind.VERDICT and fact.leg is Leg.FORTH)
            assert (verdict.code, verdict.verdict is not None and verdict.verdict.is_direct) == (
                VerdictCode.WORSE,
                True,
            )
            assert outcome.crossed_h is not None
            told_h = (verdict.at - NOW) / timedelta(hours=1)
            assert told_h <= min(outcome.crossed_h + 1, outcome.completed_h)
            assert job.find(FactKind.COMPLETED, Leg.FORTH) is None
    assert early >= 3
