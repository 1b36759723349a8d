"""The actions that answers ask for, by name: policies, histories and reports need no more of a recommendation."""

from typing import Final

MIGRATE: Final = "migrate"
REPROVISION: Final = "reprovision"
UPGRADE: Final = "upgrade"
KEEP: Final = "keep"
WAIT: Final = "wait"
DETACHED: Final = "detached"
INSUFFICIENT_DATA: Final = "insufficient-data"

CHANGES: Final = (MIGRATE, REPROVISION, UPGRADE)
"""The actions that change a volume."""
