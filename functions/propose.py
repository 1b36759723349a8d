"""Proposes what is measured next for a volume."""

from aws_lambda_powertools.utilities.typing import LambdaContext

import plimsoll.bootstrap.aws_accounts  # it decides: a start has more of a processor than an event
import plimsoll.validation.deciding  # as above
import plimsoll.validation.proposing  # noqa: F401  # as above
from functions.entry_point import entry
from plimsoll.bootstrap.aws_places import aws_places
from plimsoll.service.service import Service
from plimsoll.service.validating import propose_measurement
from plimsoll.service.validation_messages import Proposed, ProposeMessage


@entry(ProposeMessage, aws_places)
def handler(message: ProposeMessage, service: Service, _context: LambdaContext) -> Proposed:
    """The next step: create, send, wait, or none."""
    return propose_measurement(service, message.job)
