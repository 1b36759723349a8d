"""The ports fulfilled: from a recording, and by each cloud."""
