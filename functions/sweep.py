"""Sweeps: deletes scratch volumes that are past their deadline."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry import count, entry, logger
from plimsoll.service.service import Service
from plimsoll.service.validating import sweep_all
from plimsoll.service.validation_messages import SweepMessage, SweptAll


@entry(SweepMessage)
def handler(_message: SweepMessage, service: Service, _context: LambdaContext) -> SweptAll:
    """How many were deleted, are left and are in use."""
    swept = sweep_all(service)
    count(scratch_deleted=swept.deleted, scratch_left=swept.left, scratch_alive=swept.alive + swept.left)
    if swept.left_behind:
        logger.warning("left behind", places=swept.left_behind)
    return swept
