"""Audits a lot of batches, as far as the function's time goes."""

from typing import Final

from aws_lambda_powertools.utilities.typing import LambdaContext

import plimsoll_service.bootstrap.aws_accounts  # noqa: F401  # it decides: a start has more of a processor than an event
from functions.entry_point import count, entry
from plimsoll_service.auditing import audit_lot
from plimsoll_service.bootstrap.google_places import all_places
from plimsoll_service.service import Service
from plimsoll_service.step_messages import Audited, LotMessage

LEFT: Final = 0.2
"""The share of its time that is reserved to finish and keep what has begun. Nothing new begins in it."""


def audit_in_time(service: Service, message: LotMessage, context: LambdaContext) -> Audited:
    """Keeps the answers in the store. A lot with batches left is called for again."""
    least_ms = LEFT * context.get_remaining_time_in_millis()
    attempt = audit_lot(service, message, stop=lambda: context.get_remaining_time_in_millis() < least_ms)
    count(volumes=attempt.volumes, datapoints=attempt.datapoints)
    return Audited(left=attempt.left)


handler = entry(audit_in_time, all_places)
