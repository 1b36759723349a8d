"""Admissibility: every rule judges each measurement before anything is concluded from it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from plimsoll.decide.evidence import LOCAL
from plimsoll.envelopes.admissibility import arithmetic, device, load, over_time
from plimsoll.envelopes.admissibility.rule import Rule, SystemLimits
from plimsoll.model.envelope import SIMULATED_TOOL, Measurement, Ruling

RULES: Final[tuple[Rule, ...]] = (
    *load.LOAD_RULES,
    *device.DEVICE_RULES,
    *over_time.TIME_RULES,
    *arithmetic.ARITHMETIC_RULES,
)
"""Every rule that looks at one measurement. The rule of a sweep's edge looks at all (`sweep`)."""


def judge_measurements(measurements: Sequence[Measurement], limits: SystemLimits) -> tuple[Measurement, ...]:
    """The measurements, each with its rulings and its rates over time."""
    return tuple(
        replace(
            measurement,
            rulings=(*measurement.rulings, *rulings(measurement, limits)),
            lastings=over_time.lastings(measurement, limits),
        )
        for measurement in measurements
    )


def rulings(measurement: Measurement, limits: SystemLimits) -> Iterator[Ruling]:
    """The rulings of every rule that applies to a measurement."""
    of_a_volume = measurement.provenance.provider != LOCAL and measurement.provenance.tool != SIMULATED_TOOL
    for rule in RULES:
        if of_a_volume or not rule.of_a_volume:
            yield from rule.rulings(measurement, limits)
