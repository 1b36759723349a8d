"""The known metrics of a volume, and what was lost on the way."""
