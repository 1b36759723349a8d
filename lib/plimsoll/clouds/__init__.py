"""The ports fulfilled: in memory, from a recording, and by each cloud."""
