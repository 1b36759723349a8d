"""The commands of `plimsoll` that read bills and price lists."""
