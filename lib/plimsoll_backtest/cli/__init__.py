"""The commands of `plimsoll` that look back at fleets."""
