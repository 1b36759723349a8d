"""Audits one batch, as far as the function's time goes."""

from typing import Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry import count, entry
from plimsoll.bootstrap.google_places import google_places
from plimsoll.service.auditing import audit_batch
from plimsoll.service.service import Service
from plimsoll.service.step_messages import BatchMessage

LEFT: Final = 0.2
"""The share of its time that is reserved to finish and keep what has begun. Nothing new begins in it."""


@entry(BatchMessage, google_places)
def handler(told: BatchMessage, service: Service, context: LambdaContext) -> None:
    """Keeps the answers in the store. A batch without all of its answers is pending again."""
    least_ms = LEFT * context.get_remaining_time_in_millis()
    attempt = audit_batch(service, told, stop=lambda: context.get_remaining_time_in_millis() < least_ms)
    count(volumes=attempt.volumes, datapoints=attempt.datapoints)
