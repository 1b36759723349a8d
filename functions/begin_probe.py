"""Begins to read the hosts of some volumes, once a second."""

from functions.entry_point import entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.probing import begin_probe

handler = entry(begin_probe, aws_places)
