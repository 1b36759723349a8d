"""Evidence: what stands behind an offer besides its published limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import IntEnum

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.envelope import Envelope
from plimsoll.domain.volume import VolumeSpec


class Grade(IntEnum):
    """How sure: C published limits alone, B measured elsewhere or longer ago, A measured here lately."""

    C = 1
    B = 2
    A = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What stands behind an offer, in one plain sentence with figures and source."""

    grade: Grade
    envelope: str | None
    text: str


def evidence_for(
    offer_spec: VolumeSpec,
    ceiling: Ceiling,
    need_iops: float,
    need_throughput_mib_s: float,
    envelopes: Sequence[Envelope],
    *,
    provider: str,
    account: str,
    region: str,
    today: date,
    max_age_days: int,
) -> Evidence:
    """Published limits alone."""
    return Evidence(grade=Grade.C, envelope=None, text="published limits alone.")
