"""Proposes what is measured next for a volume."""

import plimsoll_measure.validation.deciding  # it decides: a start has more of a processor than an event
import plimsoll_measure.validation.proposing  # noqa: F401  # as above
import plimsoll_service.bootstrap.aws_accounts  # noqa: F401  # as above
from functions.entry_point import entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.validating import propose_measurement

handler = entry(propose_measurement, aws_places)
