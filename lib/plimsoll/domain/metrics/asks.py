"""Asks: what is to be read of volumes, and what was found."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.metrics.track import Look
from plimsoll.domain.volume import Volume


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A look at one volume."""

    volume: Volume
    look: Look


Found = Mapping[str, FloatArray]
"""What a look found: the buckets of each series that the cloud publishes, NaN where it has no point."""
