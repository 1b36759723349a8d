"""Concludes from a measurement, and decides again."""

import plimsoll_measure.validation.concluding  # it decides: a start has more of a processor than an event
import plimsoll_measure.validation.deciding  # noqa: F401  # as above
import plimsoll_service.bootstrap.aws_accounts  # noqa: F401  # as above
from functions.entry_point import count, entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.service import Service
from plimsoll_service.validating import conclude_job
from plimsoll_service.validation_messages import ConcludedJob, JobMessage


def conclude(service: Service, message: JobMessage) -> ConcludedJob:
    """The verdict, and whether there is more to measure for the same volume."""
    concluded = conclude_job(service, message)
    if concluded.passed is not None:
        count(validations=1, validations_passed=int(concluded.passed))
    return concluded


handler = entry(conclude, aws_places)
