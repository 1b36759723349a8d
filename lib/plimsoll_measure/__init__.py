"""Measurements: of targets before anything is moved to them, of this machine, and of hosts by the second."""
