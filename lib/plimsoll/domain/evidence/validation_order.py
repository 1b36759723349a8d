"""The order of a validation: how a volume is measured, and what that may cost."""

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """The ways to measure a volume: on a new one of the target's spec, on a copy of it, or where it is."""

    CANARY = "canary"
    COPY = "copy"
    IN_PLACE = "in-place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that may be spent: USD for scratch volumes, and runs; None: no limit."""

    max_usd: float | None = None
    max_runs: int | None = None
