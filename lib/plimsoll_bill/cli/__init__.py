"""The commands of `plimsoll` that read bills."""
