"""Proposes what is measured next for a volume."""

import plimsoll_measure.validation.deciding  # as above
import plimsoll_measure.validation.proposing  # noqa: F401  # as above
from functions.entry_point import entry
from plimsoll.bootstrap.aws_places import aws_places
from plimsoll.service.validating import propose_measurement

handler = entry(propose_measurement, aws_places)
