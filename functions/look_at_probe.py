"""Looks whether the hosts of a probe have ended, and keeps what they saw."""

from functions.entry_point import entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.probing import look_at_probe

handler = entry(look_at_probe, aws_places)
