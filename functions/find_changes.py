"""Names the open plans of changes whose next pass is due."""

from functions.entry_point import entry
from plimsoll_service.change_plans import find_changes

handler = entry(find_changes)
