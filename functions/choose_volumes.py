"""Chooses what a validation measures."""

from functions.entry_point import entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.choosing import choose_volumes

handler = entry(choose_volumes, aws_places)
