"""Begins to attach a scratch volume to its bench host."""

from functions.entry_point import entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.validating import attach_scratch

handler = entry(attach_scratch, aws_places)
