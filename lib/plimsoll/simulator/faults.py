"""Faults: what goes wrong in the simulated organisation, and who its callers are."""

from dataclasses import dataclass
from typing import Final

HOME_KEY: Final = "AKIAPLIMSOLLSIMULATED"
"""The access key of the organisation's first account; the others are reached by assuming a role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong where: an error code for an operation (None: every one), at most `times` (None: always)."""

    code: str
    operation: str | None = None
    account: str | None = None
    region: str | None = None
    times: int | None = None
    status: int = 400

    def strikes(self, operation: str, account: str, region: str) -> bool:
        """Whether a call meets it."""
        places = ((self.operation, operation), (self.account, account), (self.region, region))
        return all(wanted in (None, found) for wanted, found in places)
