"""Ends a sweep: adds up what became of the scratch volumes."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import count, entry, logger
from plimsoll.service.service import Service
from plimsoll.service.sweeping import conclude_sweep
from plimsoll.service.validation_messages import SweepEndMessage, SweptAll


@entry(SweepEndMessage)
def handler(told: SweepEndMessage, service: Service, _context: LambdaContext) -> SweptAll:
    """How many were deleted, are left and are in use, and at how many places nobody could look."""
    swept = conclude_sweep(service, told)
    count(
        scratch_deleted=swept.deleted,
        scratch_left=swept.left,
        scratch_alive=swept.alive + swept.left,
        scratch_unswept=swept.unswept,
    )
    if swept.left_behind:
        logger.warning("left behind", places=swept.left_behind)
    return swept
