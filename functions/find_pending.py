"""Finds the batches that are still to be audited."""

from functions.entry_point import entry
from plimsoll_service.planning import find_pending

handler = entry(find_pending)
