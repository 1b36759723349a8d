"""Plans a sweep: the accounts in which a scratch volume may be, or all."""

from functions.entry_point import entry
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.sweeping import plan_sweep

handler = entry(plan_sweep, aws_places)
