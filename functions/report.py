"""Writes a run's report and sends its events, once however often it is tried."""

from datetime import timedelta
from typing import Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import count, entry
from functions.idempotency import once
from plimsoll_service.reporting import keep_report, note_sent_news
from plimsoll_service.service import Service
from plimsoll_service.step_messages import Reported, RunMessage

REMEMBERED: Final = timedelta(days=30)
"""The time in which the same events are not sent again: as long as the parts of a run are kept."""


def report_run(service: Service, message: RunMessage, context: LambdaContext) -> Reported:
    """The place of the report, and its main figures."""
    kept = keep_report(service, message)
    failed = kept.run.failures.targets
    count(
        savings_usd=kept.answer.saved_usd_month,
        failures=kept.run.volumes.failed,
        failed_targets=len(failed),
        audit_usd=kept.run.usage.estimated_usd,
        expected_usd=kept.run.plan.estimated_usd,
        scope_covered_pct=kept.covered_pct,
    )
    if promises := kept.run.promises:
        count(
            throttled_since_changed=promises.throttled,
            expected_to_throttle=promises.expected,
            promises_broken=int(promises.broken),
        )
    for kind, events in {"audit-ended": [kept.ended], "audit-news": kept.news}.items():
        if events:
            once(service.events.send, events, kind=kind, remembered=REMEMBERED, context=context)
    note_sent_news(service, message, kept.news)
    return kept.answer


handler = entry(report_run)
