"""Takes one pass of a plan of changes: what is under way goes on, waves are judged and opened, what is due begins."""

from functions.entry_point import entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.changing import apply_changes

handler = entry(apply_changes, aws_places)
