"""Admissibility: what each measurement counts for, by every rule, before anything is concluded from it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from plimsoll.domain.evidence.envelope import SIMULATED_TOOL, Measurement, Ruling
from plimsoll.domain.evidence.evidence import LOCAL
from plimsoll.envelopes.admissibility import arithmetic, device, load, over_time
from plimsoll.envelopes.admissibility.rule import Limits, Rule

RULES: Final[tuple[Rule, ...]] = (*load.RULES, *device.RULES, *over_time.RULES, *arithmetic.RULES)
"""Every rule that looks at one measurement; that of a sweep's edge looks at all (`sweep`)."""


def judged(measurements: Sequence[Measurement], limits: Limits) -> tuple[Measurement, ...]:
    """The measurements with what each counts for."""
    return tuple(
        replace(one, rulings=(*one.rulings, *rulings(one, limits)), lastings=over_time.lastings(one, limits))
        for one in measurements
    )


def rulings(one: Measurement, limits: Limits) -> Iterator[Ruling]:
    """All that a measurement's figures, its job, its run and the published limits say against it, or about it."""
    of_a_volume = one.provenance.provider != LOCAL and one.provenance.tool != SIMULATED_TOOL
    for rule in RULES:
        if of_a_volume or not rule.of_a_volume:
            yield from rule.rulings(one, limits)
