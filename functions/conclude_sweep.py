"""Ends a sweep: adds up what became of the scratch volumes."""

from functions.entry_point import count, entry, logger
from plimsoll_service.service import Service
from plimsoll_service.sweeping import conclude_sweep
from plimsoll_service.validation_messages import SweepEndMessage, SweptAll


def count_swept(service: Service, message: SweepEndMessage) -> SweptAll:
    """The counts of scratch volumes deleted, left and in use, and of places at which nobody could look."""
    swept = conclude_sweep(service, message)
    count(
        scratch_deleted=swept.deleted,
        scratch_left=swept.left,
        scratch_alive=swept.alive + swept.left,
        scratch_unswept=swept.unswept,
    )
    if swept.left_behind:
        logger.warning("left behind", places=swept.left_behind)
    return swept


handler = entry(count_swept)
