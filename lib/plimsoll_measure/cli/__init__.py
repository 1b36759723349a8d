"""The commands of `plimsoll` that measure."""
