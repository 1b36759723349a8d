"""What people say of a validation that they order: how a volume is measured, and what that may cost."""

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """How a volume is measured: on a new volume of the target's spec, on a copy of the volume, or where it is."""

    CANARY = "canary"
    COPY = "copy"
    IN_PLACE = "in-place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What may be spent: USD for scratch volumes, and runs; None: no such limit."""

    max_usd: float | None = None
    max_runs: int | None = None
