"""Sweeps an account: deletes its scratch volumes that are past their deadline."""

from functions.entry_point import entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.sweeping import sweep_account

handler = entry(sweep_account, aws_places)
