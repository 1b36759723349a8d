"""Begins to make a scratch volume."""

from functions.entry_point import entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.validating import create_scratch

handler = entry(create_scratch, aws_places)
