"""The days of a volume before its window, as far as they speak against a reduction or for growth."""
