"""Begins to read the hosts of some volumes, once a second."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.bootstrap.aws_places import aws_places
from plimsoll.service.probing import BeginProbeMessage, ProbeState, begin_probe
from plimsoll.service.service import Service


@entry(BeginProbeMessage, aws_places)
def handler(message: BeginProbeMessage, service: Service, _context: LambdaContext) -> ProbeState:
    """The number of hosts that read, and volumes that cannot be probed."""
    return begin_probe(service, message)
