"""Looks whether what a job waits for is there."""

from functions.entry_point import entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.validating import look_at_job

handler = entry(look_at_job, aws_places)
