"""The learned table: what headroom keeps which promise, by memory; a small JSON file that people can read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from plimsoll.domain.errors import BadInput
from plimsoll.domain.risk.calibration import Calibrated
from plimsoll.domain.risk.scores import Shape

FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a table was learned from, and `on` which day (ISO 8601). `assumed` says what the data lacks."""

    on: str
    fleets: tuple[str, ...]
    volumes: int
    public: bool
    assumed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What was learned with so many days of memory: one factor for all, or one for each shape."""

    memory_days: float
    cuts: int
    one: Calibrated
    shaped: Calibrated


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedTable:
    """Headroom learned for a promise: at most `budget_min` throttled minutes in `days`, seen by `period_s`."""

    days: float
    budget_min: float
    period_s: int
    source: Source
    bands: tuple[Band, ...]

    def band(self, memory_days: float) -> Band | None:
        """The band for so many days of history: the longest that is not longer. None where all are longer.

        A longer memory has seen no less, so that what a shorter one needs is enough.
        """
        fitting = [band for band in self.bands if band.memory_days <= memory_days]
        return max(fitting, key=lambda band: band.memory_days, default=None)

    def as_json(self) -> str:
        """The table as people can read it."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n"


def parse_table(text: str) -> LearnedTable:
    """The table of a file; BadInput where it is none."""
    try:
        written = json.loads(text)
        if written["format"] != FORMAT:
            raise BadInput(f"the learned table is of format {written['format']}, this version reads {FORMAT}.")
        return LearnedTable(
            days=float(written["days"]),
            budget_min=float(written["budget_min"]),
            period_s=int(written["period_s"]),
            source=Source(**written["source"] | {"fleets": tuple(written["source"]["fleets"])}),
            bands=tuple(_band(one) for one in _list(written["bands"])),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(
            f"the learned table cannot be read ({type(error).__name__}: {error}). Make it again with `plimsoll learn`."
        ) from error


def _list(found: Any) -> Sequence[Any]:
    if not isinstance(found, list):
        raise TypeError("bands must be a list")
    return found


def _band(found: Mapping[str, Any]) -> Band:
    return Band(
        memory_days=float(found["memory_days"]),
        cuts=int(found["cuts"]),
        one=_calibrated(found["one"]),
        shaped=_calibrated(found["shaped"]),
    )


def _calibrated(found: Mapping[str, Any]) -> Calibrated:
    factors = {float(level): None if one is None else float(one) for level, one in found["factors"].items()}
    scales = {Shape(shape): float(scale) for shape, scale in found["scales"].items()}
    if set(scales) != set(Shape):
        raise ValueError("scales must name every shape")
    return Calibrated(factors=factors, volumes=int(found["volumes"]), scales=scales)
