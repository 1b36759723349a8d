"""Freezes what a run recommends into a plan, and marks its volumes."""

from functions.entry_point import entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.change_planning import make_change_plan

handler = entry(make_change_plan, aws_places)
