"""The commands of `plimsoll` that carry changes out."""
