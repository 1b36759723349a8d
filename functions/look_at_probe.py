"""Looks whether the hosts of a probe have ended, and keeps what they saw."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.bootstrap.aws_places import aws_places
from plimsoll.service.probing import ProbeMessage, ProbeState, look_at_probe
from plimsoll.service.service import Service


@entry(ProbeMessage, aws_places)
def handler(message: ProbeMessage, service: Service, _context: LambdaContext) -> ProbeState:
    """The number of hosts that still read, and the volumes seen."""
    return look_at_probe(service, message.probe)
